// A peer to compare with, gmpay-edge on Bun: its built server as a process of its own, set up and used over HTTP alone.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const BUILT = '.output/server/index.mjs';
/** Where the build lists the functions that its own pages call, each with the id that is its path. */
const FUNCTIONS = /^__23tanstack-start-server-fn-resolver-.*\.mjs$/;
const READY_MS = 60_000;
const POLL_MS = 5;
const ADMIN = { name: 'Bench', email: 'bench@example.com', password: 'correct horse battery' };
/** Orders that it lets one credential create in a minute; no setting changes it. */
export const ORDERS_PER_CREDENTIAL = 120;
const BROWSER_HEADERS = { 'content-type': 'application/json', 'x-tsr-serverfn': 'true' };

/** What it is paid on: the ids of its built-in connection and asset, and an address that it takes. */
const METHODS: Record<string, { connection: string; asset: string; address: string }> = {
  ton: {
    connection: 'connection-ton-default',
    asset: 'ton-usdt',
    address: 'UQAREREREREREREREREREREREREREREREREREREREREREbvW',
  },
  solana: {
    connection: 'connection-solana-default',
    asset: 'solana-usdt',
    address: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  },
};

/** A built checkout of it. */
export interface Checkout {
  dir: string;
  version: string;
  bun_version: string;
}

/** The checkout in a directory, or a sentence that says what is missing and what to do. */
export function findCheckout(dir: string): Checkout | string {
  if (!existsSync(join(dir, BUILT)))
    return `${dir} holds no built gmpay-edge (${BUILT}): run \`bun install && bun run build:bun\` in a checkout of it.`;
  const bun = spawnSync('bun', ['--version'], { encoding: 'utf8' });
  if (bun.status !== 0)
    return 'gmpay-edge runs on Bun, and there is no `bun` on the PATH: `npm install bun` in any directory and add its node_modules/.bin.';
  const { version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { version: string };
  return { dir, version, bun_version: bun.stdout.trim() };
}

export interface Credential {
  pid: string;
  secret: string;
}

export interface Peer {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Its data directory, and the processes that ran on it. */
export interface PeerHome {
  /** Starts it and waits for the first answer of its health check. */
  start(env?: Record<string, string>): Promise<Peer>;
  /** Kills what still runs and removes the directory. */
  remove(): Promise<void>;
}

/** A fresh data directory with a port of its own: the peer stores the origin at which it was set up. */
export async function makePeerHome({ dir }: Checkout): Promise<PeerHome> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-peer-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running = new Set<ChildProcess>();
  const end = async (child: ChildProcess, signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  return {
    async start(env = {}) {
      const log = openSync(join(directory, 'log'), 'a');
      const child = spawn('bun', [BUILT], {
        cwd: dir,
        stdio: ['ignore', log, log],
        env: {
          PATH: process.env.PATH,
          HOST: '127.0.0.1',
          PORT: String(port),
          GMPAY_DATA_DIR: join(directory, 'data'),
          NODE_ENV: 'production',
          ...env,
        },
      });
      running.add(child);
      closeSync(log);
      await untilHealthy(url, child);
      return { url, pid: child.pid ?? 0, stop: () => end(child, 'SIGTERM') };
    },
    async remove() {
      for (const child of running) await end(child, 'SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function untilHealthy(url: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + READY_MS;
  for (;;) {
    const answered = await fetch(`${url}/healthz`).catch(() => undefined);
    if (answered?.ok) return;
    if (child.exitCode !== null || performance.now() > until) throw new Error('gmpay-edge does not start');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Sets it up as its operator does in the browser: installed, paid on one chain, with credentials of its API. */
export async function setUp(
  { dir }: Checkout,
  { url }: Peer,
  blockchain: string,
  credentials: number,
): Promise<Credential[]> {
  const method = METHODS[blockchain];
  if (!method) throw new Error(`no method on ${blockchain}`);
  const call = await openAdmin(dir, url);
  const tested = await call('testPaymentConnectionFn', { id: method.connection, kind: 'chain' });
  if (tested.healthy !== true) throw new Error(`its provider of ${blockchain} is not healthy`);
  await call('createReceivingMethodFn', {
    name: 'Shop',
    paymentMethodIds: [method.asset],
    configuration: { address: method.address },
  });
  const made: Credential[] = [];
  while (made.length < credentials) {
    const { pid, secret } = await call('createApiKeyFn', { name: 'Shop', scopes: ['orders:create'] });
    made.push({ pid: String(pid), secret: String(secret) });
  }
  return made;
}

type Call = (name: string, data: WireValue) => Promise<Record<string, unknown>>;

/** Installs it and signs in; the functions of its pages are found by name in the build. */
async function openAdmin(dir: string, url: string): Promise<Call> {
  const server = join(dir, dirname(BUILT));
  const list = readdirSync(server).find((name) => FUNCTIONS.test(name)) ?? '';
  const source = readFileSync(join(server, list), 'utf8');
  const headers: Record<string, string> = { ...BROWSER_HEADERS, origin: url };
  const call: Call = async (name, data) => {
    const id = new RegExp(`"([0-9a-f]{64})": \\{\\s*functionName: "${name}_`).exec(source)?.[1];
    const body = JSON.stringify({ t: encode({ data }), f: 63, m: [] });
    const response = await fetch(`${url}/_serverFn/${id}`, { method: 'POST', headers, body });
    const text = await response.text();
    const { result } = decode(response.ok ? JSON.parse(text) : {}) as { result?: Record<string, unknown> };
    if (!result) throw new Error(`gmpay-edge ${name}: ${response.status} ${text}`);
    return result;
  };
  await call('installSystemFn', ADMIN);
  const body = JSON.stringify(ADMIN);
  const signed_in = await fetch(`${url}/api/auth/sign-in/email`, { method: 'POST', headers, body });
  if (!signed_in.ok) throw new Error(`gmpay-edge sign-in: ${signed_in.status}`);
  headers.cookie = signed_in.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ');
  return call;
}

type WireValue = string | boolean | WireValue[] | { [key: string]: WireValue };

/** A value in the format of seroval, which its pages send. */
function encode(value: WireValue, serial = { next: 0 }): unknown {
  if (typeof value === 'string') return { t: 1, s: value };
  if (typeof value === 'boolean') return { t: 2, s: value ? 2 : 3 };
  const i = serial.next++;
  if (Array.isArray(value)) return { t: 9, i, a: value.map((each) => encode(each, serial)), o: 0 };
  const v = Object.values(value).map((each) => encode(each, serial));
  return { t: 10, i, p: { k: Object.keys(value), v }, o: 0 };
}

interface WireNode {
  t?: number;
  s?: unknown;
  p?: { k: string[]; v: WireNode[] };
}

/** An answer in that format: objects, texts, numbers, true and false; anything else is undefined. */
function decode({ t, s, p }: WireNode): unknown {
  if (p) return Object.fromEntries(p.k.map((key, at) => [key, decode(p.v[at] ?? {})]));
  if (t === 2) return s === 2 ? true : s === 3 ? false : undefined;
  return t === 0 || t === 1 ? s : undefined;
}

/** Paths, headers and signed bodies of its merchants' API. */
export const CREATE_ORDER = {
  method: 'POST',
  path: '/payments/gmpay/v1/order/create-transaction',
  headers: { 'content-type': 'application/json' },
} as const;

let serial = 0;

/** A signed order with a number of its own; without a chain its payer chooses one on the page. */
export function orderBody({ pid, secret }: Credential, amount: string, blockchain?: string): string {
  const fields: Record<string, string> = {
    pid,
    order_id: `order-${++serial}`,
    currency: 'USD',
    amount,
    notify_url: 'https://shop.example/notify',
    ...(blockchain ? { token: 'USDT', network: blockchain } : {}),
  };
  const signed = Object.keys(fields)
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&');
  return JSON.stringify({ ...fields, signature: createHmac('sha256', secret).update(signed).digest('hex') });
}
