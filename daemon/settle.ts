// The one door for money: every fact about an invoice becomes rows here, in one transaction.

import { getCursor } from '../data/cursors.ts';
import { lockInvoice } from '../data/invoices.ts';
import { lockHead } from '../data/ledger.ts';
import type { Tx } from '../data/open.ts';
import type { InvoiceRow, TransferRow } from '../data/tables.ts';
import { transfersOfInvoice } from '../data/transfers.ts';
import { decide, type Fact, type InvoiceStatus, type Knowledge, type Verdict } from '../src/invoice.ts';
import type { App } from './context.ts';
import { seconds } from './context.ts';
import { manualTransfers } from './settle/manual.ts';
import { writeMoved } from './settle/moved.ts';
import { writeWaiting } from './settle/waiting.ts';

export type SettleApp = Pick<App, 'db' | 'clock' | 'log' | 'config' | 'webhooks'>;

type Refusal = Extract<Verdict, { verdict: 'refused' }>['code'];

/** What is written, with who caused it. */
export interface Step {
  app: SettleApp;
  tx: Tx;
  invoice: InvoiceRow;
  /** Unix seconds. */
  now: number;
  /** `observer`, `clock`, `buyer`, `merchant`, `operator:<user id>`. */
  actor: string;
  note: string | null;
}

export interface Request {
  fact: Fact;
  actor: string;
  note?: string | null;
  /** With `resolve confirm`: the transaction the operator names. */
  txid?: string | null;
}

export interface Outcome {
  invoice: InvoiceRow;
  verdict: Verdict;
}

/**
 * Applies a fact to an invoice. Undefined when there is no such invoice. A refusal changes nothing. When the promise
 * resolves, what it says is durable and its webhook is on its way.
 */
export async function apply(
  app: SettleApp,
  invoice_id: string,
  request: Request,
): Promise<Outcome | undefined> {
  const outcome = await app.db
    .transaction((tx) => applyIn(app, tx, invoice_id, request))
    .catch((error: unknown) => {
      if (error instanceof Refused) return error.outcome;
      throw error;
    });
  if (outcome?.verdict.verdict === 'moved') {
    const { status, txid } = outcome.invoice;
    app.log.info({ invoice_id, status, actor: request.actor, txid }, 'invoice moved');
    app.webhooks.kick();
  }
  return outcome;
}

/** Carries a refusal out of the transaction, which is rolled back. */
class Refused extends Error {
  readonly outcome: Outcome;
  constructor(invoice: InvoiceRow, code: Refusal) {
    super(code);
    this.outcome = { invoice, verdict: { verdict: 'refused', code } };
  }
}

async function applyIn(
  app: SettleApp,
  tx: Tx,
  invoice_id: string,
  request: Request,
): Promise<Outcome | undefined> {
  const invoice = await lockInvoice(app.db, tx, invoice_id);
  if (!invoice) return undefined;
  const step: Step = {
    app,
    tx,
    invoice,
    now: seconds(app.clock),
    actor: request.actor,
    note: request.note ?? null,
  };
  const transfers = await transfersFor(step, request);
  if (transfers === 'booked') throw new Refused(invoice, 'transfer_booked');
  const verdict = decide(stateOf(invoice), request.fact, await knowledge(step, request.fact, transfers));
  switch (verdict.verdict) {
    case 'moved':
      return { invoice: await writeMoved(step, verdict, transfers, request), verdict };
    case 'waiting':
      return { invoice: await writeWaiting(step, verdict, transfers), verdict };
    case 'refused':
      throw new Refused(invoice, verdict.code);
    case 'unchanged':
      return { invoice, verdict };
  }
}

const stateOf = (row: InvoiceRow) => ({
  status: row.status as InvoiceStatus,
  amount_atomic: BigInt(row.amount_atomic),
  expires_at: row.expires_at,
  min_confirmations: row.min_confirmations,
});

/** The transfers that speak for the invoice: matched ones; for an operator's confirmation also late ones and those he names. */
async function transfersFor(step: Step, request: Request): Promise<TransferRow[] | 'booked'> {
  const { fact } = request;
  if (fact.kind === 'resolve' && fact.action === 'confirm')
    return manualTransfers(step, request.txid ?? null);
  return liveMatched(step);
}

async function liveMatched({ tx, invoice }: Step): Promise<TransferRow[]> {
  const rows = await transfersOfInvoice(tx, invoice.id);
  return rows.filter(
    (row) => row.state !== 'gone' && row.booked_invoice_id === null && row.disposition === 'matched',
  );
}

async function knowledge(step: Step, fact: Fact, transfers: readonly TransferRow[]): Promise<Knowledge> {
  const { app, tx, invoice, now } = step;
  const cursor = await getCursor(tx, invoice.blockchain);
  const money = transfers.length > 0 || fact.kind !== 'look';
  const limited = invoice.kind === 'sale' && invoice.owner_id !== null && money;
  const head = limited && invoice.owner_id ? await lockHead(app.db, tx, invoice.owner_id) : undefined;
  return {
    now,
    read_through: cursor?.last_ok_at ?? 0,
    transfers: transfers.map((row) => ({
      amount_atomic: BigInt(row.amount_atomic),
      confirmations: row.confirmations,
      final: row.state === 'final',
      txid: row.txid,
    })),
    prepaid: head ? { balance_micros: head.prepaid_micros, volume_micros: invoice.amount_usd_micros } : null,
  };
}
