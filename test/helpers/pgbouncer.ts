// Starts PgBouncer in transaction mode in front of a PostgreSQL server, and makes sure that nothing of it outlives the run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, unprivileged } from './postgres-server.ts';
import { PGBOUNCER } from './software.ts';
import { until } from './until.ts';

const STOP_TIMEOUT_MS = 10_000;

export interface Pgbouncer {
  /** The URL of a database by way of it. */
  urlOf(database_url: string): string;
  stop(): Promise<void>;
}

// As with the server: the shell ends with the pipe on its standard input, and takes PgBouncer and its files along.
const KEEPER = '"$@" & pooler=$!; cat >/dev/null; kill -KILL $pooler; wait $pooler; rm -rf -- "$0"';

/** For every database of the server; `connections` is how many it opens to each. */
export async function startPgbouncer(
  server_url: string,
  { connections = 20 }: { connections?: number } = {},
): Promise<Pgbouncer> {
  const server = new URL(server_url);
  const user = unprivileged();
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-pgbouncer-'));
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(directory, 'users'),
    pool_mode: 'transaction',
    default_pool_size: connections,
    max_client_conn: 500,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const target = `* = host=${server.hostname} port=${server.port}`;
  const file = join(directory, 'pgbouncer.ini');
  writeFileSync(file, ['[databases]', target, '[pgbouncer]', ...lines, ''].join('\n'));
  writeFileSync(join(directory, 'users'), '"postgres" ""\n');
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid as number);
  const keeper = spawn('sh', ['-c', KEEPER, directory, PGBOUNCER, file], {
    ...user,
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let log = '';
  keeper.stderr.on('data', (piece: Buffer) => {
    log += piece.toString();
  });
  await until('PgBouncer is up', async () => log.includes('process up') || undefined);
  return {
    urlOf(database_url) {
      const url = new URL(database_url);
      url.port = String(port);
      return url.href;
    },
    async stop() {
      const exit = once(keeper, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
      keeper.stdin.end();
      await exit;
    },
  };
}
