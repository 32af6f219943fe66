// The sandbox's daemon: `gatewayd` of this package as a process of its own, which reads the sandbox's chain and no other.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sandbox } from '../../src/chains/sandbox.ts';
import { GwError } from '../engine/errors.ts';

/** A slow machine under load still starts within it. */
const READY_MS = 60_000;
/** The least that a testnet takes. The end comes later: only what is proved read ends an invoice. */
const BRIEF_SECONDS = 5;
/** Lines of its log that say why it did not start. */
const LAST_LINES = 3;

export interface DaemonOptions {
  dir: string;
  port: number;
  chain_url: string;
  operator: { email: string; password: string };
  env: NodeJS.ProcessEnv;
}

export interface Daemon {
  url: string;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<number | null>;
}

const variable = (id: string): string => id.toUpperCase().replaceAll('-', '_');

/** Its whole environment: nothing of the developer's own settings reaches it. */
function environmentOf({ dir, chain_url, operator, env }: DaemonOptions): Record<string, string> {
  const { gateways, others, blockchain, brief, rates, refill_wallet } = sandbox;
  return {
    PATH: env.PATH ?? '',
    HOME: env.HOME ?? '',
    // Its daemon ends with it.
    GW_SANDBOX: '1',
    GATEWAYD_NETWORK: 'testnet',
    GATEWAYD_DEMO: 'true',
    GATEWAYD_DATA_DIR: join(dir, 'gatewayd'),
    GATEWAYD_ADMIN_EMAIL: operator.email,
    GATEWAYD_ADMIN_PASSWORD: operator.password,
    [`GATEWAYD_BLOCKCHAINS_${variable(blockchain)}_URL`]: chain_url,
    [`GATEWAYD_WALLETS_${variable(blockchain)}`]: refill_wallet,
    GATEWAYD_RATES_SOURCE: 'fixed',
    ...Object.fromEntries(
      Object.entries(rates).map(([ticker, usd]) => [`GATEWAYD_RATES_USD_${ticker}`, usd]),
    ),
    ...Object.fromEntries(
      gateways.map(({ chain }) => [`GATEWAYD_GATEWAYS_${variable(chain)}_POLL_INTERVAL_SECONDS`, '1']),
    ),
    ...Object.fromEntries(
      others.map(({ chain }) => [`GATEWAYD_GATEWAYS_${variable(chain)}_ENABLED`, 'false']),
    ),
    [`GATEWAYD_GATEWAYS_${variable(brief)}_PAYMENT_TTL_SECONDS`]: String(BRIEF_SECONDS),
  };
}

/** Starts it and waits until it is ready. Throws GwError with the end of its log where it does not start. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { dir, port } = options;
  const home = dirname(createRequire(import.meta.url).resolve('gatewayd/package.json'));
  const log_file = join(dir, 'gatewayd.log');
  const log = openSync(log_file, 'a', 0o600);
  const child = spawn(process.execPath, [join(home, 'bin', 'gatewayd.js'), 'start', '--port', String(port)], {
    cwd: dir,
    // The channel closes with this process, however it ends, and the daemon ends with it.
    stdio: ['ignore', 'pipe', log, 'ipc'],
    env: environmentOf(options),
  });
  closeSync(log);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  try {
    return { url: await readyUrl(child, ended), kill, ended };
  } catch (error) {
    kill('SIGKILL');
    const last = readFileSync(log_file, 'utf8').trim().split('\n').slice(-LAST_LINES).join(' ');
    throw new GwError('config', `gatewayd did not start: ${last || (error as Error).message}`, {
      hint: '--port 0 takes a free port',
    });
  }
}

function readyUrl({ stdout }: ChildProcess, ended: Promise<number | null>): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const timer = setTimeout(() => reject(new Error('it was not ready in time')), READY_MS);
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const ready = /^gatewayd ready on (\S+)/m.exec(printed)?.[1];
      if (!ready) return;
      clearTimeout(timer);
      resolve(ready);
    });
    void ended.then((code) => {
      clearTimeout(timer);
      reject(new Error(`it ended with ${code}`));
    });
  });
}
