// Payments as an observer would read them, put through the same door.

import { wakeHeld } from '../../daemon/settle/held.ts';
import { apply, recordPage, recordUpdates, reevaluateInvoices } from '../../daemon/settle/settle.ts';
import { ensureCursor, getCursor } from '../../data/cursors.ts';
import { getInvoice } from '../../data/invoices.ts';
import { noteReading } from '../../data/proofs.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { pendingTransfers } from '../../data/transfers.ts';
import type { Page, PendingTransfer, Transfer, TransferUpdate } from '../../src/chains/family.ts';
import type { TestApp, TestMerchant } from './app.ts';

let serial = 0;
export const newTxid = (): string => (++serial).toString(16).padStart(64, '0');

/** A final transfer of exactly what the invoice asks, made at `time` or now; any part may be another. */
export function transferTo(
  test: TestApp,
  invoice: InvoiceRow,
  { time = test.clock.now(), ...parts }: Partial<Transfer> & { time?: number } = {},
): Transfer {
  return {
    chain: invoice.chain,
    address_key: invoice.address_key,
    txid: newTxid(),
    index: '0',
    amount_atomic: BigInt(invoice.amount_atomic),
    memo: invoice.memo,
    references: [],
    sender: 'payer',
    height: 100,
    block_hash: 'block-100',
    ...at(time),
    inputs: [],
    confirmations: 64,
    depth_seconds: parts.confirmations === undefined ? AGES : depthOf(test, invoice, parts.confirmations),
    final: false,
    ...parts,
  };
}

/** Longer than any gateway asks for. */
const AGES = 100_000;

/** How old a block is on which so many stand, itself included, where they come at the usual pace. */
const depthOf = ({ app }: TestApp, { blockchain }: InvoiceRow, confirmations: number): number =>
  confirmations * (app.config.chains.find(blockchain)?.block_seconds ?? 1);

/** Made at exactly this moment, Unix seconds. */
export const at = (time: number) => ({ earliest_at: time, latest_at: time });

/** The same, seen but in no block yet. */
export const unconfirmed = {
  height: null,
  block_hash: null,
  confirmations: 0,
  depth_seconds: null,
} as const;

/** Stores a page and evaluates what it touched, as the observer does. */
export async function observe(
  { app, clock }: TestApp,
  blockchain: string,
  transfers: Transfer[],
  page: Partial<Page> = {},
): Promise<string[]> {
  await ensureCursor(app.db.query, blockchain);
  const cursor = await getCursor(app.db.query, blockchain);
  const gateways = app.gateways.filter((gateway) => gateway.blockchain === blockchain);
  const scope = { blockchain, gateways, now: clock.now() };
  const { touched } = await recordPage(app, scope, cursor?.version ?? 0, { transfers, ...page });
  await reevaluateInvoices(app, touched);
  return touched;
}

/** The pending transfers of a blockchain, as a reader asks about them. */
export async function pendingAt({ app }: TestApp, blockchain: string): Promise<PendingTransfer[]> {
  const rows = await pendingTransfers(app.db.query, blockchain, '', 1000);
  return rows.map(({ idx, ...row }) => ({ ...row, index: idx }));
}

/** What became of pending transfers; `asked` as they were when they were asked about, now by default. */
export async function follow(
  test: TestApp,
  blockchain: string,
  updates: TransferUpdate[],
  asked?: PendingTransfer[],
): Promise<void> {
  const { app, clock } = test;
  const gateways = app.gateways.filter((gateway) => gateway.blockchain === blockchain);
  const scope = { blockchain, gateways, now: clock.now() };
  const touched = await recordUpdates(app, scope, updates, asked ?? (await pendingAt(test, blockchain)));
  await reevaluateInvoices(app, touched);
}

/** Says that everything up to now was read, and lets the clock evaluate. */
export async function readThrough({ app, clock }: TestApp, blockchain: string): Promise<void> {
  await ensureCursor(app.db.query, blockchain);
  await noteReading(app.db.query, blockchain, { started_at: clock.now(), read_through: clock.now() });
  await app.observer.tick();
}

/** An invoice of the merchant, as its row. Throws where it is refused; `body` adds to the request or replaces parts of it. */
export async function create(
  test: TestApp,
  { key }: Pick<TestMerchant, 'key'>,
  chain: string,
  body: Record<string, unknown> = {},
): Promise<InvoiceRow> {
  const reply = await test.fetch('POST', '/v1/invoices', { key, body: { chain, amount: '10', ...body } });
  if (reply.status !== 200) throw new Error(`the invoice was refused: ${reply.status} ${reply.text}`);
  return invoiceRow(test, reply.json.id);
}

/** Raises a merchant's prepaid balance, in millionths of a USD; `wake` lets what waits for it be evaluated by the clock. */
export async function credit(
  { app, clock }: TestApp,
  merchant_id: string,
  amount_micros: bigint,
  { wake = false } = {},
): Promise<void> {
  await app.db.transaction(async (tx) => {
    await app.ledger.post(tx, {
      merchant_id,
      kind: 'credit',
      amount_micros,
      invoice_id: null,
      note: null,
      actor: 'test',
      now: clock.now(),
    });
    if (wake) await wakeHeld(app.db, tx, merchant_id);
  });
  if (wake) await app.observer.tick();
}

/** What `fundedMerchant` has prepaid, in millionths of a USD: no test uses it up. */
const PREPAID_MICROS = 1_000_000_000n;

/** A merchant whose prepaid balance covers all that a test sells. */
export async function fundedMerchant(test: TestApp, email?: string): Promise<TestMerchant> {
  const merchant = await test.merchant(email);
  await credit(test, merchant.id, PREPAID_MICROS);
  return merchant;
}

/** An operator books an invoice: by what it has, by a transaction, or with `force` by one that the chain does not have. */
export const confirmByOperator = (
  { app }: TestApp,
  invoice_id: string,
  { txid = null, force = false }: { txid?: string | null; force?: boolean } = {},
) =>
  apply(app, invoice_id, {
    fact: { kind: 'resolve', action: 'confirm' },
    actor: 'operator:1',
    txid,
    force,
  });

/** The payments of an invoice, oldest first. */
export const paymentsOf = ({ app }: TestApp, invoice_id: string) =>
  app.db.query
    .selectFrom('payments')
    .selectAll()
    .where('invoice_id', '=', invoice_id)
    .orderBy('created_at')
    .execute();

/** What is stored of a transfer; throws where nothing is. */
export const transferRow = ({ app }: TestApp, { txid, index }: Transfer) =>
  app.db.query
    .selectFrom('transfers')
    .selectAll()
    .where('txid', '=', txid)
    .where('idx', '=', index)
    .executeTakeFirstOrThrow();

export async function invoiceRow({ app }: TestApp, id: string): Promise<InvoiceRow> {
  const row = await getInvoice(app.db.query, id);
  if (!row) throw new Error(`no invoice ${id}`);
  return row;
}
