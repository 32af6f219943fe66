// `npm run bench -- --against DIR`: gatewayd and a peer on one machine in turns, the same orders, the same model of a chain.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasBrowser } from '../helpers/software.ts';
import { type CountedChain, quietSolana, quietTon, startCountedProvider } from './counted-provider.ts';
import { type Loaded, load, loadInTurns, say, spread, type Target } from './measure.ts';
import { weighPage } from './page-weight.ts';
import {
  type Checkout,
  CREATE_ORDER,
  type Credential,
  findCheckout,
  makePeerHome,
  ORDERS_PER_CREDENTIAL,
  orderBody,
  setUp,
} from './peer.ts';
import { startFloor, startWorld } from './world.ts';

const STARTS = 5;
/** Credentials of the peer, so many that its limiter refuses none of a run's orders. */
const CREDENTIALS = 150;
const STORED_ORDERS = 10_000;
const OPEN_ORDERS = [10, 100];
/** First what is done once for each order and address, then what is done all the time. */
const FIRST_MS = 65_000;
const COUNTED_MS = 180_000;
const MINUTE_MS = 60_000;
const REFUSED_PAUSE_MS = 1_000;
/** Until memory that is free again has been given back. */
const REST_MS = 5_000;
const LEAST_CENTS = 100;

const JSON_TYPE = { 'content-type': 'application/json' };

/** By name, in the order they run. */
const parts: Record<string, (checkout: Checkout) => Promise<void>> = {
  start: compareStarts,
  orders: compareOrders,
  limiter: countLimited,
  page: comparePages,
  memory: compareMemory,
  ton: (checkout) => compareRequests(checkout, quietTon),
  solana: (checkout) => compareRequests(checkout, quietSolana),
};

/** Prints the figures of both, or those of some parts. Exits with 2 and a sentence where something is absent. */
export async function benchAgainst(dir: string, names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !(name in parts));
  const checkout =
    unknown.length > 0
      ? `no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`
      : findCheckout(dir);
  if (typeof checkout === 'string') {
    console.error(checkout);
    process.exitCode = 2;
    return;
  }
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  say(`gatewayd ${version} on Node.js ${process.versions.node}`);
  say(`gmpay-edge ${checkout.version} on Bun ${checkout.bun_version}`);
  for (const [name, part] of Object.entries(parts))
    if (names.length === 0 || names.includes(name)) await part(checkout);
}

/** No two orders of a run have the same amount: the peer tells payments of one address apart by it. */
function amounts(): () => string {
  let cents = LEAST_CENTS;
  return () => (cents++ / 100).toFixed(2);
}

/** Creating an invoice of the daemon, on a blockchain's USDT. */
function invoices(url: string, key: string, blockchain: string): Target {
  const next = amounts();
  return {
    name: 'gatewayd',
    url,
    method: 'POST',
    path: '/v1/invoices',
    headers: { ...JSON_TYPE, 'x-api-key': key },
    body: () => JSON.stringify({ chain: `${blockchain}-usdt`, amount: next() }),
  };
}

/** The same of the peer; each credential takes its turn before the limiter would refuse it. */
function orders(url: string, credentials: readonly Credential[], blockchain?: string): Target {
  const next = amounts();
  let made = 0;
  const body = () => {
    const turn = Math.floor(made++ / ORDERS_PER_CREDENTIAL) % credentials.length;
    return orderBody(credentials[turn] as Credential, next(), blockchain);
  };
  return { ...CREATE_ORDER, name: 'gmpay-edge', url, body };
}

/** One of the two: sells for USDT on one chain, and asks a provider of its own about it. */
interface Gateway {
  /** Requests to its provider until now. */
  asked(): number;
  pid(): number;
  orders(): Target;
  /** Ends it and starts it again on the same data; in milliseconds from the start of the process. */
  restart(): Promise<{ ready_ms: number; first_order_ms: number }>;
}

interface Both {
  gatewayd: Gateway;
  peer: Gateway & { open_orders: Target };
  stop(): Promise<void>;
}

/** Both, set up and started; the peer with so many credentials for each kind of order. */
async function startBoth(checkout: Checkout, chain: CountedChain, credentials: number): Promise<Both> {
  const [gatewayd, peer] = [await startGatewayd(chain), await startPeer(checkout, chain, credentials)];
  return {
    gatewayd,
    peer,
    async stop() {
      await gatewayd.stop();
      await peer.stop();
    },
  };
}

async function startGatewayd(chain: CountedChain): Promise<Gateway & { stop(): Promise<void> }> {
  const { blockchain } = chain;
  const provider = await startCountedProvider(chain);
  const env = { [`GATEWAYD_BLOCKCHAINS_${blockchain.toUpperCase()}_URL`]: provider.url };
  const { home, key, daemon: first } = await startWorld(env);
  let daemon = first;
  let orders = invoices(daemon.url, key, blockchain);
  return {
    asked: provider.asked,
    pid: () => daemon.pid,
    orders: () => orders,
    async restart() {
      daemon.signal('SIGTERM');
      await daemon.ended;
      const started = performance.now();
      daemon = await home.start({ env, log_file: join(home.dir, 'gatewayd.log') });
      await fetch(`${daemon.url}/health`);
      const ready_ms = performance.now() - started;
      orders = invoices(daemon.url, key, blockchain);
      await create(orders);
      return { ready_ms, first_order_ms: performance.now() - started };
    },
    async stop() {
      await home.remove();
      await provider.stop();
    },
  };
}

async function startPeer(checkout: Checkout, chain: CountedChain, credentials: number) {
  const { blockchain } = chain;
  const provider = await startCountedProvider(chain);
  const home = await makePeerHome(checkout);
  let peer = await home.start(provider.proxied);
  const made = await setUp(checkout, peer, blockchain, 2 * credentials);
  const target = orders(peer.url, made.slice(credentials), blockchain);
  return {
    asked: provider.asked,
    pid: () => peer.pid,
    orders: () => target,
    open_orders: orders(peer.url, made.slice(0, credentials)),
    async restart() {
      await peer.stop();
      const started = performance.now();
      peer = await home.start(provider.proxied);
      const ready_ms = performance.now() - started;
      await create(target);
      return { ready_ms, first_order_ms: performance.now() - started };
    },
    async stop() {
      await home.remove();
      await provider.stop();
    },
  };
}

/** On data that were used before: until the health check answers, and until a first order is created. */
async function compareStarts(checkout: Checkout): Promise<void> {
  const { gatewayd, peer, stop } = await startBoth(checkout, quietTon(), 1);
  const [ours, theirs]: Awaited<ReturnType<Gateway['restart']>>[][] = [[], []];
  for (let run = 0; run < STARTS; run++) {
    ours?.push(await gatewayd.restart());
    theirs?.push(await peer.restart());
  }
  await stop();
  for (const [name, figure] of [
    ['start to ready, ms', 'ready_ms'],
    ['start to the first order created, ms', 'first_order_ms'],
  ] as const) {
    const [our = '', their = ''] = [ours, theirs].map((runs) =>
      spread(runs?.map((run) => run[figure]) ?? []),
    );
    row(name, our, their);
  }
}

async function compareOrders(checkout: Checkout): Promise<void> {
  const floor = await startFloor();
  const both = await startBoth(checkout, quietTon(), CREDENTIALS);
  const rounds = await loadInTurns({
    floor: {
      name: 'floor',
      url: floor.url,
      method: 'POST',
      path: '/insert',
      headers: JSON_TYPE,
      body: JSON.stringify({ text: 'x'.repeat(1200) }),
    },
    gatewayd: both.gatewayd.orders(),
    peer: both.peer.orders(),
    open: both.peer.open_orders,
  });
  const of = (name: 'floor' | 'gatewayd' | 'peer' | 'open', value: (loaded: Loaded) => number, digits = 0) =>
    spread(
      rounds.map((round) => value(round[name])),
      digits,
    );
  const ratio = (name: 'gatewayd' | 'peer' | 'open', value: (loaded: Loaded) => number, digits = 2) =>
    spread(
      rounds.map((round) => value(round[name]) / value(round.floor)),
      digits,
    );
  const rate = ({ rate }: Loaded) => rate;
  const slowest = ({ p99_ms }: Loaded) => p99_ms;
  say(`floor: ${of('floor', rate)} durable inserts per second, p99 ${of('floor', slowest, 1)} ms`);
  row('orders per second', of('gatewayd', rate), of('peer', rate));
  row('of the floor', ratio('gatewayd', rate), ratio('peer', rate));
  row('p99, ms', of('gatewayd', slowest, 1), of('peer', slowest, 1));
  row('p99, times that of the floor', ratio('gatewayd', slowest, 1), ratio('peer', slowest, 1));
  row('orders per second whose chain the payer chooses', '-', of('open', rate));
  row('… of the floor', '-', ratio('open', rate));
  await both.stop();
  await floor.stop();
}

async function create(target: Target): Promise<unknown> {
  const { url, path, method, headers, body } = target;
  const given = body instanceof Function ? body(0) : body;
  const response = await fetch(`${url}${path}`, { method, headers, body: given });
  if (!response.ok) throw new Error(`${target.name}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function comparePages(checkout: Checkout): Promise<void> {
  if (!hasBrowser) return say('pages are not weighed: there is no Chromium');
  const { gatewayd, peer, stop } = await startBoth(checkout, quietTon(), 1);
  const { id } = (await create(gatewayd.orders())) as { id: string };
  const { data } = (await create(peer.orders())) as { data: { payment_url: string } };
  const ours = await weighPage(`${gatewayd.orders().url}/pay/${id}`);
  const theirs = await weighPage(data.payment_url);
  row('requests of the pay page', String(ours.requests), String(theirs.requests));
  row('kB of the pay page, as sent', kilobytes(ours.bytes), kilobytes(theirs.bytes));
  row(
    'kB of its bodies behind a proxy that compresses',
    kilobytes(ours.compressed_bytes),
    kilobytes(theirs.compressed_bytes),
  );
  await stop();
}

async function compareMemory(checkout: Checkout): Promise<void> {
  const { gatewayd, peer, stop } = await startBoth(checkout, quietTon(), CREDENTIALS);
  const both = [gatewayd, peer];
  // What setting up took is not theirs in operation.
  for (const gateway of both) await gateway.restart();
  const measure = (name: string, field: 'VmRSS' | 'VmHWM') => {
    const [ours = '', theirs = ''] = both.map(({ pid }) => megabytes(memoryOf(pid(), field)));
    row(name, ours, theirs);
  };
  await sleep(REST_MS);
  measure('MB after the start and one order', 'VmRSS');
  for (const { orders } of both) await load(orders(), { requests: STORED_ORDERS });
  await sleep(REST_MS);
  measure(`MB after ${STORED_ORDERS} orders`, 'VmRSS');
  measure('MB at the most meanwhile', 'VmHWM');
  await stop();
}

/** All pairs at once, since nothing here depends on how fast the machine is. */
async function compareRequests(checkout: Checkout, open: () => CountedChain): Promise<void> {
  const counted = OPEN_ORDERS.map(async (count) => {
    const chain = open();
    const { gatewayd, peer, stop } = await startBoth(checkout, chain, 1);
    for (const { orders } of [gatewayd, peer]) await load(orders(), { requests: count });
    await sleep(FIRST_MS);
    const before = [gatewayd.asked(), peer.asked()];
    await sleep(COUNTED_MS);
    const [ours = '', theirs = ''] = [gatewayd, peer].map(({ asked }, at) =>
      (((asked() - (before[at] ?? 0)) * MINUTE_MS) / COUNTED_MS).toFixed(1),
    );
    await stop();
    return { name: `requests per minute on ${chain.blockchain}, ${count} open orders`, ours, theirs };
  });
  for (const { name, ours, theirs } of await Promise.all(counted)) row(name, ours, theirs);
}

async function countLimited(checkout: Checkout): Promise<void> {
  const { peer, stop } = await startBoth(checkout, quietTon(), 1);
  const made = await ordersOfAMinute(peer);
  row('orders per second of one credential', 'no limit', ((made * 1_000) / MINUTE_MS).toFixed(1));
  await stop();
}

/** How many orders one credential may create from the beginning of a minute to its end. */
async function ordersOfAMinute({ orders }: Gateway): Promise<number> {
  await sleep(MINUTE_MS - (Date.now() % MINUTE_MS));
  const minute = Math.floor(Date.now() / MINUTE_MS);
  let made = 0;
  while (Math.floor(Date.now() / MINUTE_MS) === minute) {
    const refused = await create(orders()).then(
      () => made++ && false,
      () => true,
    );
    if (refused) await sleep(REFUSED_PAUSE_MS);
  }
  return made;
}

/** Resident memory of a process in bytes (Linux): now, or at the most since its start. */
function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(0);
const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(0);

const row = (name: string, ours: string, theirs: string): void =>
  say(`${name}: gatewayd ${ours}; gmpay-edge ${theirs}`);
