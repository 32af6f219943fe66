// Everything at once for minutes: reads, creations, checks, streams and settlement; whether memory grows and p99 is steady, with a picture.
import { setMaxListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Pool } from 'undici';
import type { Daemon } from '../daemon/helpers/process.ts';
import { atMost, median, p99, say } from './measure.ts';
import { residentMb } from './memory.ts';
import { drawLines } from './picture.ts';
import {
  type ModelChain,
  makeShops,
  openFastReceiver,
  openModelChain,
  type ShopInvoice,
  startShops,
} from './shops.ts';

const SHOPS = 20;
const INVOICES_PER_SHOP = 2_000;
const MINUTES = 10;
const SAMPLES = 60;
/** Between two requests of one client: work that a daemon can do, not all that it can. */
const PAUSE_MS = 20;
const READERS = 4;
const CREATORS = 2;
const CHECKERS = 1;
const STREAMS = 50;
/** After a stream that was refused. */
const STREAM_PAUSE_MS = 1_000;
const CONNECTIONS = 16;
const PAY_EVERY_MS = 1_000;
/** Invoices paid in one block. */
const PAID_AT_ONCE = 10;
/** Of what the middle third of the run had. */
const MEMORY_RATIO = 1.15;
const P99_RATIO = 2;

export interface MixedOptions {
  minutes?: number;
  /** A file for the picture. */
  svg?: string | undefined;
}

interface Sample {
  memory_mb: number;
  read_ms: number;
  create_ms: number;
  webhook_ms: number;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Times of one kind of work, given out at each sample. */
class Times {
  #times: number[] = [];
  add(ms: number): void {
    this.#times.push(ms);
  }
  take(): number {
    const value = this.#times.length > 0 ? p99(this.#times) : Number.NaN;
    this.#times = [];
    return value;
  }
}

export async function benchMixed({ minutes = MINUTES, svg }: MixedOptions = {}): Promise<void> {
  const paid_at = new Map<string, number>();
  const times = { read: new Times(), create: new Times(), webhook: new Times() };
  const receiver = await openFastReceiver((id) => {
    const at = paid_at.get(id);
    if (at !== undefined) times.webhook.add(performance.now() - at);
    paid_at.delete(id);
  });
  const chain = await openModelChain();
  const made = await makeShops({
    shops: SHOPS,
    invoices: INVOICES_PER_SHOP,
    webhook_url: () => receiver.url,
  });
  const daemon = await startShops(made, chain);
  const ending = new AbortController();
  const counts = { requests: 0, failed: 0 };
  const work = startWork({ daemon, invoices: made.invoices, chain, paid_at, times, ending, counts });
  const samples: Sample[] = [];
  for (let taken = 0; taken < SAMPLES; taken++) {
    await sleep((minutes * 60_000) / SAMPLES);
    samples.push({
      memory_mb: residentMb(daemon),
      read_ms: times.read.take(),
      create_ms: times.create.take(),
      webhook_ms: times.webhook.take(),
    });
  }
  ending.abort();
  await work;
  report(samples, minutes, svg);
  say(`${counts.requests} requests, ${counts.failed} refused or failed; ${receiver.count()} webhooks`);
  await made.home.remove();
  await chain.close();
  await receiver.close();
}

interface Work {
  daemon: Daemon;
  invoices: readonly ShopInvoice[];
  chain: ModelChain;
  paid_at: Map<string, number>;
  times: Record<'read' | 'create' | 'webhook', Times>;
  ending: AbortController;
  counts: { requests: number; failed: number };
}

/** Runs until `ending`; the first half of the invoices is read and followed, the second half is paid. */
async function startWork({ daemon, invoices, chain, paid_at, times, ending, counts }: Work): Promise<void> {
  const pool = new Pool(daemon.url, { connections: CONNECTIONS });
  const streams = new Pool(daemon.url, { connections: STREAMS, bodyTimeout: 0 });
  const { signal } = ending;
  setMaxListeners(0, signal);
  const half = invoices.length / 2;
  const chosen = () => invoices[Math.floor(Math.random() * half)] as ShopInvoice;
  const request = async (method: 'GET' | 'POST', path: string, key?: string, body?: object) => {
    const began = performance.now();
    const headers = { 'content-type': 'application/json', ...(key ? { 'x-api-key': key } : {}) };
    const reply = await pool.request({ method, path, headers, body: body ? JSON.stringify(body) : null });
    await reply.body.dump();
    counts.requests++;
    if (reply.statusCode >= 400) counts.failed++;
    return performance.now() - began;
  };
  const until_end = async (step: () => Promise<void>, pause_ms = PAUSE_MS) => {
    while (!signal.aborted) {
      await step();
      await sleep(pause_ms);
    }
  };
  const clients = (count: number, step: () => Promise<void>) =>
    Array.from({ length: count }, () => until_end(step));
  let paid = half;
  const pay = async () => {
    const next = invoices.slice(paid, paid + PAID_AT_ONCE);
    paid += next.length;
    for (const { id } of next) paid_at.set(id, performance.now());
    chain.pay(next);
  };
  const follow = async () => {
    const path = `/v1/pay/${chosen().id}/events`;
    await streams
      .request({ method: 'GET', path, signal })
      .then(({ body }) => body.dump({ limit: Number.POSITIVE_INFINITY, signal }))
      .catch(() => undefined);
  };
  const body = { chain: 'ton', amount: '12.50' };
  await Promise.all([
    ...clients(READERS, async () =>
      times.read.add(await request('GET', `/v1/public/invoices/${chosen().id}`)),
    ),
    ...clients(CREATORS, async () =>
      times.create.add(await request('POST', '/v1/invoices', chosen().shop.key, body)),
    ),
    ...clients(CHECKERS, async () => {
      const { id, shop } = chosen();
      await request('POST', `/v1/invoices/${id}/check`, shop.key);
    }),
    ...Array.from({ length: STREAMS }, () => until_end(follow, STREAM_PAUSE_MS)),
    until_end(pay, PAY_EVERY_MS),
  ]);
  await Promise.all([pool.close(), streams.destroy()]);
}

/** The last third against the one before it; the first is for caches to fill. */
function report(samples: readonly Sample[], minutes: number, svg: string | undefined): void {
  const third = Math.floor(samples.length / 3);
  const ratioOf = (name: keyof Sample) => {
    const values = samples.map((sample) => sample[name]).filter((value) => !Number.isNaN(value));
    return median(values.slice(-third)) / median(values.slice(-2 * third, -third));
  };
  for (const name of ['memory_mb', 'read_ms', 'create_ms', 'webhook_ms'] as const)
    say(`${name}: ${samples.map((sample) => sample[name].toFixed(0)).join(' ')}`);
  atMost('memory at the end, of the middle', [ratioOf('memory_mb')], MEMORY_RATIO);
  for (const name of ['read_ms', 'create_ms', 'webhook_ms'] as const)
    atMost(`p99 of ${name} at the end, of the middle`, [ratioOf(name)], P99_RATIO);
  if (svg === undefined) return;
  const line = (name: keyof Sample) => ({ name, values: samples.map((sample) => sample[name]) });
  const panels = [[line('memory_mb')], [line('read_ms'), line('create_ms')], [line('webhook_ms')]];
  writeFileSync(svg, drawLines(`mixed load for ${minutes} minutes`, panels));
  say(`picture: ${svg}`);
}
