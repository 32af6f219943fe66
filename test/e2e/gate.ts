// A gate between a daemon and a provider: counts what passes, tells when an answer has left, and has bad days.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Dispatcher, request as undici } from 'undici';

/** `down` breaks each connection; `html` and `rate_limited` are what proxies say; `truncated` is half an answer. */
export type Weather = 'fair' | 'down' | 'html' | 'rate_limited' | 'truncated';

export interface Gate {
  url: string;
  /** Path and query of every request, in order. */
  requests: string[];
  weather: Weather;
  /** How long an answer takes. */
  delay_ms: number;
  /** Called with path and body when an answer has been handed to the daemon in full. */
  answered: (path: string, body: string) => void;
  stop(): Promise<void>;
}

/** `target` is the provider's URL; what follows it is passed on as it is. */
export async function openGate(target: string): Promise<Gate> {
  const server = createServer((request, response) => {
    pass(request, response).catch((error) => response.writeHead(502).end(String(error)));
  });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    gate.requests.push(path);
    if (gate.delay_ms > 0) await delay(gate.delay_ms);
    if (gate.weather === 'down') return void response.destroy();
    if (gate.weather === 'html')
      return void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html>Just a moment');
    if (gate.weather === 'rate_limited') return void response.writeHead(429).end('Too Many Requests');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET' } = request;
    const answer = await undici(`${target}${path}`, {
      method: method as Dispatcher.HttpMethod,
      headers: { 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
    });
    const body = await answer.body.text();
    if (gate.weather === 'truncated') {
      response.writeHead(200, { 'content-length': Buffer.byteLength(body) });
      response.write(body.slice(0, body.length / 2), () => response.destroy());
      return;
    }
    response.on('finish', () => gate.answered(path, body));
    response
      .writeHead(answer.statusCode, { 'content-type': String(answer.headers['content-type'] ?? '') })
      .end(body);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const gate: Gate = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    weather: 'fair',
    delay_ms: 0,
    answered: () => {},
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return gate;
}
