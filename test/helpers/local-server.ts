// A real HTTP server on loopback that answers as a test says, closed with the test.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';

export interface LocalServer {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  url: string;
  /** Every request so far, its body included. */
  requests: { path: string; headers: IncomingMessage['headers']; body: string; at: number }[];
  close(): Promise<void>;
}

/** The body has been read when `answer` runs; `index` counts requests from 0. */
export type AnswerRequest = (
  request: { path: string; body: string; index: number; headers: IncomingMessage['headers'] },
  response: ServerResponse,
) => void;

export async function serve(answer: AnswerRequest, port = 0): Promise<LocalServer> {
  const requests: LocalServer['requests'] = [];
  const server = createServer(async (request, response) => {
    const at = performance.now();
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url ?? '';
    const index = requests.push({ path, headers: request.headers, body, at }) - 1;
    answer({ path, body, index, headers: request.headers }, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  const close = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${address.port}`, requests, close };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
