// Reads a whole database after the storm and says what is wrong in it: each function returns sentences, none where all is well.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ledgerKey } from '../../daemon/process/ledger-key.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import type { Db } from '../../data/db/open.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { GENESIS_HASH, hashEntry } from '../../src/ledger.ts';
import { until } from '../helpers/until.ts';
import type { Paid } from './payer.ts';
import type { Hook } from './receiver.ts';
import type { Stand } from './stand.ts';

/** PostgreSQL's claims are given up after 25 s, those of a SQLite file at the next start. */
const QUIET_MS = 35_000;

/** Waits until every webhook has been tried, then reads all of it. */
export async function wrongBooks({ home, inspect, payer, receiver }: Stand): Promise<string[]> {
  const isTried = async ({ query }: Pick<Db, 'query'>) => {
    const open = query.selectFrom('deliveries').select('id').where('status', 'in', ['pending', 'sending']);
    return (await open.executeTakeFirst()) ? undefined : true;
  };
  // What is paid for an invoice that had ended is awaited by no one else.
  const isRead = ({ query }: Pick<Db, 'query'>) =>
    query
      .selectFrom('transfers')
      .select(({ fn }) => fn.countAll().as('count'))
      .where('address_key', '=', payer.shop_key)
      .executeTakeFirstOrThrow()
      .then(({ count }) => Number(count) >= payer.paid.length || undefined);
  // One connection for all the asking: opening one costs more than the question, and a daemon is running.
  await inspect(async (db) => {
    await until('every webhook has been tried', () => isTried(db), QUIET_MS);
    await until('every payment has been read', () => isRead(db), QUIET_MS);
  });
  const secrets = createSecrets(readFileSync(join(home.dir, 'gatewayd', 'secret'), 'utf8').trim());
  return inspect(async (db) => [
    ...(await wrongBookings(db)),
    ...(await wrongLedger(db, await ledgerKey(db.query, secrets))),
    ...(await wrongTransfers(db, payer.shop_key, payer.paid)),
    ...(await wrongWebhooks(db, receiver.hooks)),
  ]);
}

/** An invoice is booked once or not at all, with everything that belongs to it. */
async function wrongBookings({ query }: Db): Promise<string[]> {
  const wrong: string[] = [];
  const invoices = await query.selectFrom('invoices').selectAll().execute();
  const income = tally(await query.selectFrom('income').select('invoice_id').execute());
  const fees = tally(
    await query.selectFrom('ledger').select('invoice_id').where('kind', '=', 'fee').execute(),
  );
  const events = await query.selectFrom('events').select(['id', 'invoice_id', 'type']).execute();
  const confirmations = tally(events.filter(({ type }) => type === 'invoice.confirmed'));
  const creations = tally(events.filter(({ type }) => type === 'invoice.created'));
  const deliveries = await query.selectFrom('deliveries').innerJoin('events', 'events.id', 'event_id');
  const sent = tally(await deliveries.select('events.invoice_id').where('kind', '=', 'automatic').execute());
  const main = new Map(
    (await query.selectFrom('payments').selectAll().where('main', '=', 1).execute()).map((row) => [
      row.invoice_id,
      row,
    ]),
  );
  for (const { id, status } of invoices) {
    const once = status === 'confirmed' ? 1 : 0;
    const found = [income, fees, confirmations, sent].map((counts) => counts.get(id) ?? 0);
    if (found.some((count) => count !== once) || creations.get(id) !== 1)
      wrong.push(`${status} invoice ${id} has income, fees, events, webhooks: ${found}`);
    if (status === 'confirmed' && main.get(id)?.status !== 'confirmed')
      wrong.push(`confirmed invoice ${id} has a payment that is ${main.get(id)?.status}`);
  }
  return [...wrong, ...(await wrongSums({ query }, invoices))];
}

/** What an invoice says that it received is what was booked for it. */
async function wrongSums({ query }: Pick<Db, 'query'>, invoices: InvoiceRow[]): Promise<string[]> {
  const booked = new Map<string, bigint>();
  const transfers = await query.selectFrom('transfers').selectAll().execute();
  for (const { booked_invoice_id: id, amount_atomic } of transfers)
    if (id !== null) booked.set(id, (booked.get(id) ?? 0n) + BigInt(amount_atomic));
  return invoices.flatMap(({ id, status, txid, received_atomic }) => {
    if (txid?.startsWith('simulated-')) return booked.has(id) ? [`simulated ${id} has transfers`] : [];
    const received = status === 'confirmed' ? BigInt(received_atomic ?? 0) : undefined;
    return booked.get(id) === received
      ? []
      : [`${status} ${id}: ${received} received, ${booked.get(id)} booked`];
  });
}

/** Every chain of entries is whole: numbers, hashes, both accounts, and the fold is the balance. */
async function wrongLedger({ query }: Db, key: Uint8Array | undefined): Promise<string[]> {
  if (!key) return ['the ledger has no key'];
  const wrong: string[] = [];
  for (const merchant of await query.selectFrom('merchants').selectAll().execute()) {
    const entries = query
      .selectFrom('ledger')
      .selectAll()
      .where('merchant_id', '=', merchant.id)
      .orderBy('seq');
    let [seq, hash, balance] = [0, GENESIS_HASH, 0n];
    for (const { hash: written, ...entry } of await entries.execute()) {
      const prepaid = `merchant:${merchant.id}:prepaid`;
      if (entry.credit_account === prepaid) balance += entry.amount_micros;
      if (entry.debit_account === prepaid) balance -= entry.amount_micros;
      if (entry.seq !== ++seq || entry.previous_hash !== hash || hashEntry(entry, key) !== written)
        wrong.push(`entry ${entry.seq} of ${merchant.slug} breaks the chain`);
      if (entry.balance_micros !== balance || balance < 0n) wrong.push(`entry ${entry.seq}: wrong balance`);
      hash = written;
    }
    const head = [merchant.ledger_seq, merchant.prepaid_micros, merchant.ledger_hash];
    if (head[0] !== seq || head[1] !== balance || (seq > 0 && head[2] !== hash))
      wrong.push(`the head of ${merchant.slug} is ${head}, its entries end with ${[seq, balance, hash]}`);
  }
  return wrong;
}

/** What the chain says arrived at an address is what was stored, each transaction once and final. */
async function wrongTransfers({ query }: Db, address_key: string, paid: readonly Paid[]): Promise<string[]> {
  const rows = await query
    .selectFrom('transfers')
    .selectAll()
    .where('address_key', '=', address_key)
    .execute();
  const sums = { matched: 0n, late: 0n, unmatched: 0n };
  for (const { disposition, amount_atomic } of rows) sums[disposition] += BigInt(amount_atomic);
  const stored = sums.matched + sums.late + sums.unmatched;
  const arrived = paid.reduce((sum, { amount }) => sum + amount, 0n);
  const wrong = rows.filter(({ state }) => state !== 'final').map(({ txid, state }) => `${txid} is ${state}`);
  if (stored !== arrived) wrong.push(`${arrived} arrived on the chain, but ${stored} is stored`);
  const counts = tally(rows.map(({ txid }) => ({ invoice_id: txid })));
  for (const { txid } of paid)
    if (counts.get(txid) !== 1) wrong.push(`${txid} stored ${counts.get(txid)} times`);
  const payments = await query.selectFrom('payments').selectAll().execute();
  const listed = new Set(
    payments.filter(({ status }) => ['late', 'unmatched'].includes(status)).map(({ id }) => id),
  );
  for (const row of rows)
    if (row.disposition !== 'matched' && !listed.has(row.payment_id ?? ''))
      wrong.push(`${row.disposition} transfer ${row.txid} is not listed`);
  return wrong;
}

/** How often a webhook may have arrived; one that is still to be sent, or under way for ever, is wrong in itself. */
const TIMES_RECEIVED = { delivered: [1], unknown: [0, 1], failed: [0], pending: [], sending: [] };

/** At most one webhook per event was received, exactly one where its delivery says so, and none is left to send. */
async function wrongWebhooks({ query }: Db, hooks: readonly Hook[]): Promise<string[]> {
  const received = tally(hooks.map(({ event_id }) => ({ invoice_id: event_id })));
  const deliveries = await query.selectFrom('deliveries').selectAll().execute();
  const known = new Set(deliveries.map(({ event_id }) => event_id));
  const wrong = [...received.keys()]
    .filter((id) => !known.has(id ?? ''))
    .map((id) => `${id} came unrecorded`);
  for (const { event_id, status } of deliveries) {
    const times = received.get(event_id) ?? 0;
    const allowed: readonly number[] = TIMES_RECEIVED[status];
    if (!allowed.includes(times)) wrong.push(`the ${status} webhook ${event_id} was received ${times} times`);
  }
  const income = await query.selectFrom('income').select(['invoice_id', 'webhook_status']).execute();
  const announced = await query
    .selectFrom('deliveries')
    .innerJoin('events', 'events.id', 'event_id')
    .select(['events.invoice_id', 'deliveries.status'])
    .execute();
  const status = new Map(announced.map((row) => [row.invoice_id, row.status]));
  for (const row of income)
    if (row.webhook_status !== (status.get(row.invoice_id) ?? 'none'))
      wrong.push(
        `income of ${row.invoice_id} says ${row.webhook_status}, its webhook ${status.get(row.invoice_id)}`,
      );
  return wrong;
}

function tally(rows: readonly { invoice_id: string | null }[]): Map<string | null, number> {
  const counts = new Map<string | null, number>();
  for (const { invoice_id } of rows) counts.set(invoice_id, (counts.get(invoice_id) ?? 0) + 1);
  return counts;
}
