// Memory of a daemon at rest, with nothing and with a million open invoices; its start on such a file; the list of tools.
import { readFileSync } from 'node:fs';
import type { Daemon } from '../daemon/helpers/process.ts';
import { atMost, median, say } from './measure.ts';
import { cpuSeconds, makeShops, openModelChain, startShops } from './shops.ts';

const SHOPS = 20;
const MILLION = 1_000_000;
const STARTS = 5;
const READY_MS = 600;
/** After its start, so that its readers have read. */
const REST_MS = 6_000;
const IDLE_MB = 110;
const MILLION_MB = 250;
const LISTS = 200;
const LIST_MS = 5;

export async function benchMemory(): Promise<void> {
  const chain = await openModelChain();
  const empty = await makeShops({ shops: 1, invoices: 0, webhook_url: () => null });
  const idle = await startShops(empty, chain);
  await rest();
  atMost('memory at rest, MB', [residentMb(idle)], IDLE_MB, 0);
  const full = await makeShops({ shops: SHOPS, invoices: MILLION / SHOPS, webhook_url: () => null });
  const { daemon, ready_ms } = await startOften(() => startShops(full, chain));
  await rest();
  atMost(`start to ready with ${MILLION} open invoices, ms`, ready_ms, READY_MS, 0);
  atMost(`memory with ${MILLION} open invoices, MB`, [residentMb(daemon)], MILLION_MB, 0);
  await Promise.all([empty.home.remove(), full.home.remove()]);
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

/** How long the list of tools takes over HTTP. */
export async function benchTools(): Promise<void> {
  const chain = await openModelChain();
  const made = await makeShops({ shops: 1, invoices: 0, webhook_url: () => null });
  const daemon = await startShops(made, chain);
  await rest();
  const cpu_before = cpuSeconds(daemon);
  const times: number[] = [];
  for (let call = 0; call < LISTS; call++) {
    const began = performance.now();
    const reply = await fetch(`${daemon.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    const text = await reply.text();
    if (!text.includes('createInvoice')) throw new Error(`tools/list: ${reply.status} ${text}`);
    times.push(performance.now() - began);
  }
  const cpu_ms = ((cpuSeconds(daemon) - cpu_before) * 1000) / LISTS;
  say(`processor time of the daemon for each: ${cpu_ms.toFixed(1)} ms`);
  const rounds = Array.from({ length: 4 }, (_, round) =>
    median(times.slice((round * LISTS) / 4, ((round + 1) * LISTS) / 4)),
  );
  atMost('MCP tools/list, ms', rounds, LIST_MS);
  await made.home.remove();
  await chain.close();
}

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));

/** Memory that a process has in RAM. */
export function residentMb({ pid }: Daemon): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}
