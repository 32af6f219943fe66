// A forward proxy as companies run them: tunnels (CONNECT), plain requests with whole addresses, credentials, and names of its own.
import { once } from 'node:events';
import { createServer, request as forward } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ForwardProxy {
  url: string;
  port: number;
  /** What was asked of it, as `CONNECT host:port` or `POST http://…`. */
  asked: string[];
}

interface Options {
  /** Ports of this machine by the `host:port` that only the proxy knows. */
  hosts: Readonly<Record<string, number>>;
  /** `user:password` that it wants. */
  credentials?: string;
}

export async function openForwardProxy({ hosts, credentials }: Options): Promise<ForwardProxy> {
  const asked: string[] = [];
  const wanted = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (wanted && request.headers['proxy-authorization'] !== wanted) {
      response.writeHead(407).end();
      return;
    }
    const url = new URL(request.url ?? '');
    const port = hosts[`${url.hostname}:${url.port || 80}`];
    if (port === undefined) {
      response.writeHead(502).end('unknown host');
      return;
    }
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const options = { port, host: '127.0.0.1', method: request.method ?? 'GET', headers };
    const onward = forward({ ...options, path: url.pathname + url.search }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request, socket, head) => {
    asked.push(`CONNECT ${request.url}`);
    const port = hosts[request.url ?? ''];
    const isLetIn = !wanted || request.headers['proxy-authorization'] === wanted;
    if (!isLetIn || port === undefined) {
      socket.end(`HTTP/1.1 ${isLetIn ? '502 Bad Gateway' : '407 Proxy Authentication Required'}\r\n\r\n`);
      return;
    }
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    for (const each of [socket, onward]) each.on('error', () => [socket, onward].map((one) => one.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const at = credentials ? `${credentials.replace(/[^:\w]/g, encodeURIComponent)}@` : '';
  return { url: `http://${at}127.0.0.1:${port}`, port, asked };
}
