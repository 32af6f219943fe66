// The sandbox's server on loopback: the chain for the daemon, the receiver of its webhooks, and triggers for `gw trigger`.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** No request is larger. */
const MAX_BYTES = 1_000_000;
const NOT_FOUND = 404;
const BROKEN = 500;

export interface Reply {
  status: number;
  body?: unknown;
}

/** What answers, by path. */
export type Routes = Record<
  string,
  (body: string, headers: Record<string, string>) => Promise<Reply> | Reply
>;

export interface Server {
  url: string;
  close(): void;
}

/** Listens on a free port; `routes` are asked by path. */
export async function listenLocally(routes: Routes): Promise<Server> {
  const server = createServer((request, response) => {
    void answer(routes, request).then(
      (reply) => send(response, reply),
      (error: Error) => send(response, { status: BROKEN, body: { message: error.message } }),
    );
  });
  // A trigger waits as long as what it makes happen.
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(routes: Routes, request: IncomingMessage): Promise<Reply> {
  const path = request.url ?? '';
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  // What a page in a browser could ask for without being asked first is not answered.
  if (!route || request.method !== 'POST' || request.headers.origin !== undefined)
    return { status: NOT_FOUND };
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) return { status: NOT_FOUND };
    chunks.push(chunk as Buffer);
  }
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return route(Buffer.concat(chunks).toString('utf8'), Object.fromEntries(headers));
}

function send(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? '' : JSON.stringify(body));
}
