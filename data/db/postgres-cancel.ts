// Ends a statement from outside of its connection, as PostgreSQL's protocol has it.
import type { Socket } from 'node:net';
import pg, { type PoolClient } from 'pg';

/** A server that does not take the request by then is not there. */
const CANCEL_TIMEOUT_MS = 1_000;

/** What the driver has besides its documented part. */
interface Session {
  host: string;
  port: number;
  connection: NodeJS.EventEmitter & { stream: Socket };
  /** Connects, and asks for the end of `query`, if that is the one that `client` runs. */
  cancel(client: object, query: object): void;
}

const sessionOf = (client: pg.Client | PoolClient): Session => client as unknown as Session;

/** Asks the server to cancel what this connection runs now; resolves when it was asked, or cannot be. Never rejects. */
export function cancelStatement(client: PoolClient): Promise<void> {
  const { host, port } = sessionOf(client);
  // The server compares no certificate for this, and takes it without TLS.
  const canceller = sessionOf(new pg.Client({ host, port, ssl: false }));
  const query = {};
  const { connection } = canceller;
  return new Promise((resolve) => {
    const timer = setTimeout(() => connection.stream.destroy(), CANCEL_TIMEOUT_MS);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    connection.on('error', done);
    // The server closes without a word.
    connection.on('end', done);
    canceller.cancel(Object.create(client, { activeQuery: { value: query } }), query);
  });
}

/** Cuts a connection: its statement fails at once, whatever the server does. */
export function dropConnection(client: PoolClient): void {
  sessionOf(client).connection.stream.destroy();
}
