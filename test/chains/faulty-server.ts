// A local HTTP server whose answers can be made to fail the way public providers do.
import { createServer, type IncomingMessage } from 'node:http';

type Fault = 'rate_limited' | 'html' | 'truncated' | 'hang_up' | 'unavailable';

export interface Reply {
  status?: number;
  type?: string;
  body: string | Uint8Array;
}

export interface FaultyServer {
  url: string;
  /** What was asked so far: method and path, or whatever `name` made of a request. */
  requests: string[];
  /** The next `times` requests whose name matches fail in this way. */
  fail(how: Fault, on: RegExp, times?: number): void;
  /** Nothing fails any more. */
  heal(): void;
  stop(): Promise<void>;
}

interface Asked {
  method: string;
  path: string;
  body: string;
}

/** `answer` makes the true reply; `name` is what a request is called in `requests` and in `fail`. */
export async function startFaultyServer(
  answer: (asked: Asked) => Promise<Reply>,
  name: (asked: Asked) => string,
): Promise<FaultyServer> {
  const faults: { how: Fault; on: RegExp; left: number }[] = [];
  const requests: string[] = [];
  const server = createServer((request, response) => {
    respond(request).then(
      (reply) => {
        if (reply === null) return response.destroy();
        response.writeHead(reply.status ?? 200, { 'content-type': reply.type ?? 'application/json' });
        return response.end(reply.body);
      },
      (error) => response.writeHead(500).end(String(error)),
    );
  });

  async function respond(request: IncomingMessage): Promise<Reply | null> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const asked = { method: request.method ?? 'GET', path: request.url ?? '/', body };
    const called = name(asked);
    requests.push(called);
    const fault = faults.find((each) => each.left > 0 && each.on.test(called));
    if (!fault) return answer(asked);
    fault.left--;
    switch (fault.how) {
      case 'rate_limited':
        return { status: 429, type: 'text/plain', body: 'Too Many Requests' };
      case 'unavailable':
        return { status: 503, type: 'text/html', body: '<html>Service Unavailable</html>' };
      case 'html':
        return { type: 'text/html', body: '<!doctype html><title>Checking your browser</title>' };
      case 'truncated': {
        const reply = await answer(asked);
        return { ...reply, body: reply.body.slice(0, Math.floor(reply.body.length / 2)) };
      }
      case 'hang_up':
        return null;
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    fail: (how, on, times = 1) => void faults.push({ how, on, left: times }),
    heal: () => void faults.splice(0),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
