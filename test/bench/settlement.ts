// From a payment's block to its webhook with 10,000 open invoices, and how long 5,000 payments in one block take.
import { sqlite } from '../../data/db/driver.ts';
import { atMost, median, say } from './measure.ts';
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
  atMost(`the slowest of ${PAYMENTS}, ms`, worst, POLL_SECONDS * 1000 + SENT_WITHIN_MS, 0);
  await made.home.remove();
  await chain.close();
  await receiver.close();
}

export async function benchBurst(): Promise<void> {
  const receiver = await openFastReceiver();
  const chain = await openModelChain();
  const made = await makeShops({ shops: SHOPS, invoices: BURST / SHOPS, webhook_url: () => receiver.url });
  const daemon = await startShops(made, chain);
  await sleep(2_000);
  const database = new (sqlite())(made.file, { readonly: true });
  const open = database.prepare(`select count(*) from invoices where status = 'created'`).pluck();
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const cpu_before = cpuSeconds(daemon);
  chain.pay(made.invoices);
  const reach = async (done: () => boolean) => {
    while (!done()) {
      if (performance.now() - began > LIMIT_MS) throw new Error('the burst is not settled');
      await sleep(COUNT_EVERY_MS);
    }
    return seconds();
  };
  const settled = await reach(() => open.get() === 0);
  const sent_by_then = receiver.count();
  const cpu = cpuSeconds(daemon) - cpu_before;
  const sent = await reach(() => receiver.count() >= BURST);
  database.close();
  atMost(`${BURST} payments in one block: confirmed and queued after, s`, [settled], BURST_SECONDS, 1);
  say(`processor time of the daemon until then ${cpu.toFixed(1)} s`);
  say(`webhooks sent by then: ${sent_by_then}; all sent after ${sent.toFixed(1)} s`);
  daemon.signal('SIGTERM');
  await daemon.ended;
  await made.home.remove();
  await chain.close();
  await receiver.close();
}
