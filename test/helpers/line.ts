// A line to a database server that can be cut, swallow what comes, or break at the moment of a commit.
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';

export interface Line {
  /** The server's URL by way of this line. */
  url: string;
  /** Breaks every connection; new ones are taken, unless `refusing`. */
  cut(): void;
  /** New connections are broken at once. */
  refusing: boolean;
  /** What the server says no longer arrives; connections stay open. */
  silent: boolean;
  /** Called with each piece that goes to the server, before it goes. `lose answer` lets it through and breaks before the server's word comes. */
  sending: (text: string) => 'pass' | 'lose answer';
  close(): Promise<void>;
}

/** Opens a line; the server has done what it was sent before an answer is lost. */
export async function openLine(server_url: string): Promise<Line> {
  const target = new URL(server_url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (line.refusing) return void near.destroy();
    const far = createConnection(Number(target.port), target.hostname);
    let losing = false;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    near.on('data', (piece) => {
      losing ||= line.sending(piece.toString('latin1')) === 'lose answer';
      far.write(piece);
    });
    far.on('data', (piece) => {
      if (losing) near.destroy();
      else if (!line.silent) near.write(piece);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(server_url);
  url.port = String((server.address() as { port: number }).port);
  const line: Line = {
    url: url.href,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    refusing: false,
    silent: false,
    sending: () => 'pass',
    async close() {
      server.close();
      line.cut();
      await once(server, 'close');
    },
  };
  return line;
}
