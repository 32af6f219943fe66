// `npm run bench -- --against DIR`: gatewayd and a peer on one machine in turns, the same orders, the same model of a chain.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeHome } from '../daemon/helpers/process.ts';
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
/** Credentials of the peer in use at once, so that its limiter refuses none of a run's orders. */
const CREDENTIALS = 300;
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
function invoices({ daemon, key }: { daemon: { url: string }; key: string }, blockchain: string): Target {
  const next = amounts();
  return {
    name: 'gatewayd',
    url: daemon.url,
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

/** Both, started with a provider of their own and set up to sell for USDT on its chain. */
async function startBoth(checkout: Checkout, chain: CountedChain, credentials: number) {
  const { blockchain } = chain;
  const [asked_by_gatewayd, asked_by_peer] = [
    await startCountedProvider(chain),
    await startCountedProvider(chain),
  ];
  const world = await startWorld({
    [`GATEWAYD_BLOCKCHAINS_${blockchain.toUpperCase()}_URL`]: asked_by_gatewayd.url,
  });
  const home = await makePeerHome(checkout);
  const peer = await home.start(asked_by_peer.proxied);
  const fresh = { gatewayd: memoryOf(world.daemon.pid), peer: memoryOf(peer.pid) };
  const made = await setUp(checkout, peer, blockchain, credentials);
  return {
    gatewayd: { asked: asked_by_gatewayd.asked, pid: world.daemon.pid, orders: invoices(world, blockchain) },
    peer: {
      asked: asked_by_peer.asked,
      pid: peer.pid,
      orders: orders(peer.url, made, blockchain),
      open_orders: orders(peer.url, made),
    },
    /** Memory right after the start. */
    fresh,
    async stop() {
      await world.home.remove();
      await home.remove();
      for (const provider of [asked_by_gatewayd, asked_by_peer]) await provider.stop();
    },
  };
}

/** From the start of the process to the first answer of the health check, in a directory that was used before. */
async function compareStarts(checkout: Checkout): Promise<void> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  const home = makeHome();
  const peer_home = await makePeerHome(checkout);
  for (let run = 0; run <= STARTS; run++) {
    const started = performance.now();
    const daemon = await home.start();
    await fetch(`${daemon.url}/health`);
    const ready_ms = performance.now() - started;
    daemon.signal('SIGTERM');
    await daemon.ended;
    const peer = await peer_home.start();
    await peer.stop();
    // The first makes the database.
    if (run === 0) continue;
    ours.push(ready_ms);
    theirs.push(peer.ready_ms);
  }
  await home.remove();
  await peer_home.remove();
  row('start to ready, ms', spread(ours), spread(theirs));
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
    gatewayd: both.gatewayd.orders,
    peer: both.peer.orders,
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

type Both = Awaited<ReturnType<typeof startBoth>>;

async function created(target: Target): Promise<unknown> {
  const { url, path, method, headers, body } = target;
  const given = body instanceof Function ? body(0) : body;
  const response = await fetch(`${url}${path}`, { method, headers, body: given });
  if (!response.ok) throw new Error(`${target.name}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function comparePages(checkout: Checkout): Promise<void> {
  if (!hasBrowser) return say('pages are not weighed: there is no Chromium');
  const { gatewayd, peer, stop } = await startBoth(checkout, quietTon(), 1);
  const { id } = (await created(gatewayd.orders)) as { id: string };
  const { data } = (await created(peer.orders)) as { data: { payment_url: string } };
  const ours = await weighPage(`${gatewayd.orders.url}/pay/${id}`);
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
  const both = await startBoth(checkout, quietTon(), CREDENTIALS);
  const { gatewayd, peer, fresh } = both;
  for (const { orders } of [gatewayd, peer]) await load(orders, { requests: STORED_ORDERS });
  await sleep(REST_MS);
  row('MB after the start', megabytes(fresh.gatewayd), megabytes(fresh.peer));
  row(`MB after ${STORED_ORDERS} orders`, megabytes(memoryOf(gatewayd.pid)), megabytes(memoryOf(peer.pid)));
  await both.stop();
}

/** All pairs at once, since nothing here depends on how fast the machine is. */
async function compareRequests(checkout: Checkout, open: () => CountedChain): Promise<void> {
  const counted = OPEN_ORDERS.map(async (count) => {
    const chain = open();
    const { gatewayd, peer, stop } = await startBoth(checkout, chain, 1);
    for (const { orders } of [gatewayd, peer]) await load(orders, { requests: count });
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
async function ordersOfAMinute({ orders }: Both['peer']): Promise<number> {
  await sleep(MINUTE_MS - (Date.now() % MINUTE_MS));
  const minute = Math.floor(Date.now() / MINUTE_MS);
  let made = 0;
  while (Math.floor(Date.now() / MINUTE_MS) === minute) {
    const refused = await created(orders).then(
      () => made++ && false,
      () => true,
    );
    if (refused) await sleep(REFUSED_PAUSE_MS);
  }
  return made;
}

/** Resident memory of a process in bytes (Linux). */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(0);
const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(0);

const row = (name: string, ours: string, theirs: string): void =>
  say(`${name}: gatewayd ${ours}; gmpay-edge ${theirs}`);
