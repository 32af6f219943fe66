// The built daemon as a process of its own, in a directory that goes with it; needs `npm run build`.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../../bin/gatewayd.js', import.meta.url));
const DIST = fileURLToPath(new URL('../../../dist/gatewayd/main.cjs', import.meta.url));
/** Compiled code, which one start keeps for the next; of all homes, as one user's. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache', import.meta.url));
/** A slow machine under load still starts within it. */
const READY_MS = 60_000;

export interface Ended {
  /** Exit code, or the name of the signal that ended it. */
  code: number | string;
  stdout: string;
  stderr: string;
}

export interface Daemon {
  url: string;
  pid: number;
  /** What it printed until now. */
  stdout(): string;
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export interface Home {
  dir: string;
  /** Runs a command to its end. */
  run(args: string[], options?: RunOptions): Promise<Ended>;
  /** Begins one, which may be sent a signal. */
  launch(args: string[], options?: RunOptions): Pick<Daemon, 'signal' | 'ended'>;
  /** Starts a daemon on a free port and waits for its ready line. */
  start(options?: RunOptions): Promise<Daemon>;
  /** Kills what still runs and removes the directory. */
  remove(): Promise<void>;
}

export interface RunOptions {
  args?: string[];
  env?: Record<string, string>;
  stdin?: string;
  /** Another program than the built one. */
  bin?: string;
  /** A file that takes what it writes on stderr, in place of `stderr()`. */
  log_file?: string;
  /** Options for node itself. */
  node?: string[];
  /** Kills it with SIGKILL that soon after it was launched. */
  kill_after_ms?: number;
  /** Runs it as another user, which takes root. */
  uid?: number;
  gid?: number;
}

/** What a first start has put into the data directory of that home. */
export function firstPassword({ dir }: Home): { email: string; password: string } {
  const text = readFileSync(join(dir, 'gatewayd', 'first-password'), 'utf8');
  const [, email, password] = /^superuser (\S+)\npassword {2}(\S+)\n$/.exec(text) ?? [];
  if (email === undefined || password === undefined) throw new Error(`no first password: ${text}`);
  return { email, password };
}

/** A fresh state directory; commands run in it never reach a market or a public provider. */
export function makeHome(): Home {
  if (!existsSync(DIST)) throw new Error('dist/ is missing: run `npm run build` first');
  const dir = mkdtempSync(join(tmpdir(), 'gatewayd-'));
  const running = new Set<ChildProcess>();
  const offline = Object.fromEntries(
    ['TON', 'SOLANA', 'BITCOIN', 'LITECOIN'].map((name) => [
      `GATEWAYD_BLOCKCHAINS_${name}_URL`,
      'http://127.0.0.1:9',
    ]),
  );
  const launch = (
    args: string[],
    { env = {}, stdin, node = [], bin = BIN, log_file, kill_after_ms, uid, gid }: RunOptions = {},
  ) => {
    const log = log_file === undefined ? 'pipe' : openSync(log_file, 'a');
    const child = spawn(process.execPath, [...node, bin, ...args], {
      cwd: dir,
      uid,
      gid,
      stdio: ['pipe', 'pipe', log],
      env: {
        PATH: process.env.PATH,
        XDG_STATE_HOME: dir,
        XDG_CACHE_HOME: CACHE,
        GATEWAYD_RATES_SOURCE: 'fixed',
        GATEWAYD_RATES_USD_TON: '2',
        ...offline,
        ...env,
      },
    }) as ChildProcessByStdio<Writable, Readable, Readable | null>;
    running.add(child);
    if (kill_after_ms !== undefined) setTimeout(() => child.kill('SIGKILL'), kill_after_ms);
    const output = { stdout: '', stderr: '' };
    if (typeof log === 'number') closeSync(log);
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code, signal) => {
        running.delete(child);
        resolve({ code: code ?? signal ?? 'unknown', ...output });
      });
    });
    return { child, output, ended };
  };
  return {
    dir,
    run: (args, options) => launch(args, options).ended,
    launch(args, options) {
      const { child, ended } = launch(args, options);
      return { ended, signal: (name) => child.kill(name) };
    },
    async start(options = {}) {
      const { child, output, ended } = launch(['start', '--port', '0', ...(options.args ?? [])], options);
      const url = await new Promise<string>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`not ready: ${output.stderr}`)), READY_MS);
        child.stdout.on('data', () => {
          const ready = /^gatewayd ready on (\S+)/.exec(output.stdout)?.[1];
          if (ready) resolve(ready);
        });
        void ended.then((end) => reject(new Error(`ended with ${end.code}: ${end.stderr}`)));
        void ended.finally(() => clearTimeout(timer));
      });
      return {
        url,
        pid: child.pid ?? 0,
        ended,
        stdout: () => output.stdout,
        stderr: () => output.stderr,
        signal: (name) => child.kill(name),
      };
    },
    async remove() {
      const left = [...running];
      const closed = left.map((child) => new Promise((resolve) => child.once('close', resolve)));
      for (const child of left) child.kill('SIGKILL');
      await Promise.all(closed);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
