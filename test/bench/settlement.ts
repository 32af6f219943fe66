// From a payment's block to its webhook with 10,000 open invoices, and how long 5,000 payments in one block take.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlite } from '../../data/db/driver.ts';
import { atMost, median, say, spread } from './measure.ts';
import {
  cpuSeconds,
  makeShops,
  openFastReceiver,
  openModelChain,
  POLL_SECONDS,
  type ShopInvoice,
  startShops,
} from './shops.ts';

const SHOPS = 50;
const OPEN_INVOICES = 10_000;
/** Payments of a round, one after the other. */
const PAYMENTS = 20;
const ROUNDS = 5;
/** Between two payments: no multiple of the pause. */
const EVERY_MS = 371;
/** What is allowed on top of one pause of the reader. */
const SENT_WITHIN_MS = 100;
const BURST = 5_000;
const BURST_SECONDS = 10;
/** One block after the other: the spread of the run. */
const BURSTS = 3;
/**
 * What the floor writes for each payment, in a transaction of its own: transfer, payment, log, ledger entry, income, event and
 * delivery are inserted; invoice, sums of the day and of the currency, head of the ledger and account of the address updated.
 */
const FLOOR_ROWS = { inserted: 7, updated: 5 };
/** Of each row of the floor, in bytes: what a settlement writes, over its rows. */
const FLOOR_ROW_BYTES = 250;
/** Far beyond any target: the daemon is stuck. */
const LIMIT_MS = 300_000;
const COUNT_EVERY_MS = 100;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Webhooks are awaited by the invoice that they are about. */
function openWaits() {
  const heard = new Map<string, number>();
  return {
    hear: (id: string) => void heard.set(id, performance.now()),
    async heardAt({ id }: ShopInvoice): Promise<number> {
      const began = performance.now();
      for (;;) {
        const at = heard.get(id);
        if (at !== undefined) return at;
        if (performance.now() - began > LIMIT_MS) throw new Error(`no webhook of invoice ${id}`);
        await sleep(5);
      }
    },
  };
}

export async function benchSettlement(): Promise<void> {
  const waits = openWaits();
  const receiver = await openFastReceiver(waits.hear);
  const chain = await openModelChain();
  const made = await makeShops({
    shops: SHOPS,
    invoices: OPEN_INVOICES / SHOPS,
    webhook_url: () => receiver.url,
  });
  await startShops(made, chain);
  await sleep(2_000);
  // Spread over the shops, none paid twice.
  const step = OPEN_INVOICES / (ROUNDS * PAYMENTS);
  const worst: number[] = [];
  const typical: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const took: Promise<number>[] = [];
    for (let payment = 0; payment < PAYMENTS; payment++) {
      const invoice = made.invoices[(round * PAYMENTS + payment) * step] as ShopInvoice;
      const paid_at = performance.now();
      chain.pay([invoice]);
      took.push(waits.heardAt(invoice).then((at) => at - paid_at));
      await sleep(EVERY_MS);
    }
    const times = await Promise.all(took);
    worst.push(Math.max(...times));
    typical.push(median(times));
  }
  say(`from block to webhook with ${OPEN_INVOICES} open invoices: median ${median(typical).toFixed(0)} ms`);
  const poll_ms = POLL_SECONDS * 1000;
  atMost(`the slowest of ${PAYMENTS}, ms`, worst, poll_ms + SENT_WITHIN_MS, 0);
  say(
    `of one pause of the reader, which is the floor: ${spread(
      worst.map((ms) => ms / poll_ms),
      2,
    )}`,
  );
  await made.home.remove();
  await chain.close();
  await receiver.close();
}

export async function benchBurst(): Promise<void> {
  const receiver = await openFastReceiver();
  const chain = await openModelChain();
  const made = await makeShops({
    shops: SHOPS,
    invoices: (BURSTS * BURST) / SHOPS,
    webhook_url: () => receiver.url,
  });
  const daemon = await startShops(made, chain);
  await sleep(2_000);
  const database = new (sqlite())(made.file, { readonly: true });
  const open = database.prepare(`select count(*) from invoices where status = 'created'`).pluck();
  const settled: number[] = [];
  const cpu: number[] = [];
  const floor: Floor[] = [];
  for (let burst = 0; burst < BURSTS; burst++) {
    floor.push(bareTransactions());
    const paid = made.invoices.slice(burst * BURST, (burst + 1) * BURST);
    const left = made.invoices.length - (burst + 1) * BURST;
    const began = performance.now();
    const cpu_before = cpuSeconds(daemon);
    const reach = async (done: () => boolean) => {
      while (!done()) {
        if (performance.now() - began > LIMIT_MS) throw new Error('the burst is not settled');
        await sleep(COUNT_EVERY_MS);
      }
      return (performance.now() - began) / 1000;
    };
    chain.pay(paid);
    settled.push(await reach(() => open.get() === left));
    cpu.push(cpuSeconds(daemon) - cpu_before);
    const sent_by_then = receiver.count() - burst * BURST;
    const sent = await reach(() => receiver.count() >= (burst + 1) * BURST);
    say(`webhooks sent by then: ${sent_by_then}; all sent after ${sent.toFixed(1)} s`);
  }
  database.close();
  atMost(`${BURST} payments in one block: confirmed and queued after, s`, settled, BURST_SECONDS, 1);
  say(`processor time of the daemon until then, s: ${spread(cpu, 1)}`);
  say(
    `as many bare durable transactions, s: ${spread(
      floor.map(({ seconds }) => seconds),
      1,
    )}`,
  );
  const ratios = (of: readonly number[], by: keyof Floor) =>
    of.map((value, at) => value / (floor[at]?.[by] ?? Number.NaN));
  say(
    `of that floor: time ${spread(ratios(settled, 'seconds'), 2)}, processor time ${spread(ratios(cpu, 'cpu_seconds'), 2)}`,
  );
  daemon.signal('SIGTERM');
  await daemon.ended;
  await made.home.remove();
  await chain.close();
  await receiver.close();
}

interface Floor {
  seconds: number;
  cpu_seconds: number;
}

/** As many durable transactions as there are payments in a burst, each with as many rows as a settlement writes. */
function bareTransactions(): Floor {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-floor-'));
  const database = new (sqlite())(join(directory, 'floor.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('create table inserted (id text primary key, body text not null)');
  database.exec('create table updated (id integer primary key, body text not null)');
  const insert = database.prepare('insert into inserted values (?, ?)');
  const update = database.prepare('replace into updated values (?, ?)');
  const body = 'x'.repeat(FLOOR_ROW_BYTES);
  const settle = database.transaction((payment: number) => {
    for (let row = 0; row < FLOOR_ROWS.inserted; row++) insert.run(randomUUID(), body);
    for (let row = 0; row < FLOOR_ROWS.updated; row++)
      update.run((payment % SHOPS) * FLOOR_ROWS.updated + row, body);
  });
  const began = performance.now();
  const cpu_before = process.cpuUsage();
  for (let payment = 0; payment < BURST; payment++) settle.immediate(payment);
  const { user, system } = process.cpuUsage(cpu_before);
  const seconds = (performance.now() - began) / 1000;
  database.close();
  rmSync(directory, { recursive: true, force: true });
  return { seconds, cpu_seconds: (user + system) / 1e6 };
}
