// Memory of a daemon at rest, with nothing and with a million open invoices; its start on such a file; the list of tools.
import { readFileSync } from 'node:fs';
import type { Daemon } from '../daemon/helpers/process.ts';
import { atMost, median, say, spread } from './measure.ts';
import { cpuSeconds, makeShops, openModelChain, startShops } from './shops.ts';
import { startFloor } from './world.ts';

const SHOPS = 20;
const MILLION = 1_000_000;
const STARTS = 5;
const READY_MS = 600;
/** After its start, so that its readers have read. */
const REST_MS = 6_000;
/** A daemon at rest reads as often as it does by default. */
const USUAL_POLL_SECONDS = 4;
/** Daemons that rest at the same time, each on a file of its own. */
const IDLE = 3;
/** How often each is measured, in all for four minutes: what it loads some time after its start, and garbage, count. */
const LOOKS = 40;
const IDLE_MB = 110;
const MILLION_MB = 250;
/** In each round. */
const LISTS = 50;
const ROUNDS = 4;
const WARM_UP_LISTS = 20;
const LIST_MS = 5;

export async function benchMemory(): Promise<void> {
  const chain = await openModelChain();
  const idle = await Promise.all(
    Array.from({ length: IDLE }, async () => {
      const made = await makeShops({ shops: 1, invoices: 0, webhook_url: () => null });
      return { made, daemon: await startShops(made, chain, USUAL_POLL_SECONDS), seen_mb: [] as number[] };
    }),
  );
  for (let look = 0; look < LOOKS; look++) {
    await rest();
    for (const { daemon, seen_mb } of idle) seen_mb.push(residentMb(daemon));
  }
  const seen = (of: (seen_mb: number[]) => number) =>
    spread(
      idle.map(({ seen_mb }) => of(seen_mb)),
      0,
    );
  say(
    `at rest, MB: soon after the start ${seen(([first = 0]) => first)}, half of the time below ${seen(median)}`,
  );
  const most_mb = idle.map(({ seen_mb }) => Math.max(...seen_mb));
  await Promise.all(idle.map(({ made }) => made.home.remove()));
  atMost('the most in four minutes at rest, MB', most_mb, IDLE_MB, 0);
  const full = await makeShops({ shops: SHOPS, invoices: MILLION / SHOPS, webhook_url: () => null });
  const { daemon, ready_ms } = await startOften(() => startShops(full, chain));
  await rest();
  atMost(`start to ready with ${MILLION} open invoices, ms`, ready_ms, READY_MS, 0);
  atMost(`memory with ${MILLION} open invoices, MB`, [residentMb(daemon)], MILLION_MB, 0);
  await full.home.remove();
  await chain.close();
}

async function startOften(start: () => Promise<Daemon>) {
  const ready_ms: number[] = [];
  for (let run = 1; ; run++) {
    const began = performance.now();
    const daemon = await start();
    ready_ms.push(performance.now() - began);
    if (run === STARTS) return { daemon, ready_ms };
    daemon.signal('SIGTERM');
    await daemon.ended;
  }
}

/** How long the list of tools takes over HTTP, against a bare route that answers as long a text. */
export async function benchTools(): Promise<void> {
  const chain = await openModelChain();
  const made = await makeShops({ shops: 1, invoices: 0, webhook_url: () => null });
  const daemon = await startShops(made, chain);
  const floor = await startFloor();
  await rest();
  const ask = (url: string, body: object) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify(body),
    }).then((reply) => reply.text());
  const list = (id: number) =>
    ask(`${daemon.url}/mcp`, { jsonrpc: '2.0', id, method: 'tools/list', params: {} });
  const text = await list(0);
  if (!text.includes('createInvoice')) throw new Error(`tools/list: ${text}`);
  const bare = () => ask(`${floor.url}/text`, { bytes: text.length });
  for (let call = 0; call < WARM_UP_LISTS; call++) await Promise.all([list(call), bare()]);
  const lists: number[] = [];
  const floors: number[] = [];
  let cpu = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const cpu_before = cpuSeconds(daemon);
    lists.push(await timed(list));
    cpu += cpuSeconds(daemon) - cpu_before;
    floors.push(await timed(bare));
  }
  say(`processor time of the daemon for each: ${((cpu * 1000) / (ROUNDS * LISTS)).toFixed(1)} ms`);
  say(`a bare route with as long a text, ms: ${spread(floors, 2)}`);
  atMost('MCP tools/list, ms', lists, LIST_MS);
  say(
    `of that floor: ${spread(
      lists.map((ms, round) => ms / (floors[round] ?? Number.NaN)),
      2,
    )}`,
  );
  await floor.stop();
  await made.home.remove();
  await chain.close();
}

/** The median of a round, ms. */
async function timed(call: (id: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let number = 0; number < LISTS; number++) {
    const began = performance.now();
    await call(number);
    times.push(performance.now() - began);
  }
  return median(times);
}

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));

/** Memory that a process has in RAM. */
export function residentMb({ pid }: Daemon): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
