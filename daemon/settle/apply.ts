// Applies a fact to an invoice: what is decided of it becomes rows, in one transaction.

import type { Executor, Tx } from '../../data/db/open.ts';
import { accountOfInvoice, getInvoice, lockInvoices, ownersOf } from '../../data/invoices.ts';
import { lockHead } from '../../data/ledger.ts';
import { provedThrough } from '../../data/proofs.ts';
import type { FormerTermsRow, InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import { everyOffer, formerTerms } from '../../data/terms.ts';
import { invoicesOfTransaction, transfersOfInvoice, transfersOfTransactions } from '../../data/transfers.ts';
import { isDeep, shownConfirmations } from '../../src/confirmations.ts';
import { decide, type InvoiceStatus, type Knowledge, type Verdict } from '../../src/invoice.ts';
import { seconds } from '../clock.ts';
import { writeMoved } from './moved.ts';
import { manualTransfers } from './operator.ts';
import type { Outcome, Request, SettleDeps, Step } from './step.ts';
import { prolongForPart, takeBack } from './terms.ts';
import { writeWaiting } from './waiting.ts';

/** The clocks of daemons that share a database are not further apart. */
const CLOCKS_APART_SECONDS = 60;

/** SQLite runs transactions one after the other, as they come; so many share a commit, and requests wait for so many at most. */
const COMMITTED_TOGETHER = 32;
/** PostgreSQL would settle them in any order: the invoices of one merchant one after the other, those of so many at once. */
const MERCHANTS_AT_ONCE = 4;

type RefusedCode = Extract<Verdict, { verdict: 'refused' }>['code'];

/**
 * Applies a fact to an invoice. Undefined when there is no such invoice. A refusal changes nothing. When the promise
 * resolves, what it says is durable and its webhook is on its way.
 */
export async function apply(
  deps: SettleDeps,
  invoice_id: string,
  request: Request,
): Promise<Outcome | undefined> {
  const outcome = await deps.db
    .transaction((tx) => applyIn(deps, tx, invoice_id, request))
    .catch((error: unknown) => {
      if (error instanceof Refused) return error.outcome;
      throw error;
    });
  if (outcome?.verdict.verdict === 'moved') {
    const { status, txid, request_id } = outcome.invoice;
    deps.log.info({ request_id, invoice_id, status, actor: request.actor, txid }, 'invoice moved');
    deps.webhooks.kick();
  }
  return outcome;
}

/** Carries a refusal out of the transaction, which is rolled back. */
class Refused extends Error {
  readonly outcome: Outcome;
  constructor(invoice: InvoiceRow, code: RefusedCode) {
    super(code);
    this.outcome = { invoice, verdict: { verdict: 'refused', code } };
  }
}

async function applyIn(
  deps: SettleDeps,
  tx: Tx,
  invoice_id: string,
  request: Request,
): Promise<Outcome | undefined> {
  // One order for all writers: merchant, then invoice, then transfers.
  const unlocked = await accountOfInvoice(tx, invoice_id);
  if (!unlocked) return undefined;
  const head = unlocked.owner_id === null ? undefined : await lockHead(deps.db, tx, unlocked.owner_id);
  const named = isWord(request) ? await namedCoin(tx, invoice_id, request.txid ?? null) : undefined;
  const { blockchain, address_key } = named ?? unlocked;
  // What the operator names may be listed for other invoices, from which it is taken.
  const listed_for = request.txid
    ? await invoicesOfTransaction(tx, { blockchain, address_key, txid: request.txid })
    : [];
  const locked = await lockInvoices(deps.db, tx, [invoice_id, ...listed_for]);
  const as_shown = locked.get(invoice_id);
  if (!as_shown) return undefined;
  const now = seconds(deps.clock);
  const asked = named && { chain: named.chain, brings: 'named' as const, now, actor: request.actor };
  const invoice = (asked && (await takeBack(deps, tx, as_shown, asked))) ?? as_shown;
  const found: Step = {
    deps,
    tx,
    invoice,
    head,
    own: await transfersOfInvoice(tx, invoice.id),
    locked,
    now,
    actor: request.actor,
    note: request.note ?? null,
    house: head !== undefined && head.house_since !== null && invoice.kind === 'sale',
    counts: countsFor(deps, invoice),
  };
  const transfers = await transfersFor(found, request);
  if (transfers === 'booked') throw new Refused(invoice, 'transfer_booked');
  if (transfers === 'unknown') throw new Refused(invoice, 'transaction_unknown');
  const is_word = request.fact.kind === 'resolve';
  const step = is_word ? found : await prolongForPart(found, transfers);
  const verdict = decide(stateOf(step.invoice), request.fact, await knowledge(step, transfers));
  switch (verdict.verdict) {
    case 'moved':
      return { invoice: await writeMoved(step, verdict, transfers, request), verdict };
    case 'waiting':
      return { invoice: await writeWaiting(step, verdict, transfers), verdict };
    case 'refused':
      throw new Refused(invoice, verdict.code);
    case 'unchanged':
      return { invoice: step.invoice, verdict };
  }
}

const isWord = ({ fact }: Request): boolean => fact.kind === 'resolve' && fact.action === 'confirm';

/** The coin that an invoice was asked for in before, where the transaction that an operator names paid that and no other. */
async function namedCoin(
  tx: Tx,
  invoice_id: string,
  txid: string | null,
): Promise<FormerTermsRow | undefined> {
  const invoice = txid === null ? undefined : await getInvoice(tx, invoice_id);
  if (txid === null || !invoice || invoice.switches === 0) return undefined;
  const isPaidBy = async ({ blockchain, chain, address_key }: InvoiceRow | FormerTermsRow) =>
    (await transfersOfTransactions(tx, blockchain, [txid])).some(
      (row) => row.chain === chain && row.address_key === address_key,
    );
  if (await isPaidBy(invoice)) return undefined;
  for (const terms of await formerTerms(tx, invoice_id)) if (await isPaidBy(terms)) return terms;
  return undefined;
}

const stateOf = (row: InvoiceRow) => ({
  status: row.status as InvoiceStatus,
  amount_atomic: BigInt(row.amount_atomic),
  expires_at: row.expires_at,
  min_confirmations: row.min_confirmations,
});

/** The transfers that speak for the invoice: matched ones; for an operator's confirmation also late ones and those of the transaction it names. */
async function transfersFor(step: Step, request: Request): Promise<TransferRow[] | 'booked' | 'unknown'> {
  const { fact } = request;
  if (fact.kind === 'resolve' && fact.action === 'confirm')
    return manualTransfers(step, { txid: request.txid ?? null, force: request.force ?? false });
  return step.own.filter(
    (row) =>
      row.state !== 'gone' &&
      row.booked_invoice_id === null &&
      row.disposition === 'matched' &&
      // Two coins are never added up.
      row.chain === step.invoice.chain,
  );
}

/** Final on the chain or as deep as the invoice asks; a large one waits for a second provider to have it too. */
function countsFor(deps: SettleDeps, invoice: InvoiceRow): Step['counts'] {
  const needs_witness = deps.quorum.needed(invoice.blockchain, invoice.amount_usd_micros);
  return (row) => (row.state === 'final' || isDeep(invoice, row)) && (!needs_witness || row.witness !== null);
}

async function knowledge(
  { deps, tx, invoice, head, now, house, counts }: Step,
  transfers: readonly TransferRow[],
): Promise<Knowledge> {
  const limited = head !== undefined && invoice.kind === 'sale' && !house;
  const read_through = await readThrough(tx, invoice);
  // A proof of a time to come was stated by a clock that was ahead: it shows nothing of this invoice.
  return {
    now,
    read_through: read_through > now + CLOCKS_APART_SECONDS ? 0 : read_through,
    clock_trusted: deps.clock_check.trouble() === null,
    may_end_unread: deps.clock_check.hasRun(),
    transfers: transfers.map((row) => ({
      amount_atomic: BigInt(row.amount_atomic),
      confirmations: shownConfirmations(invoice, row, row.state === 'final'),
      final: counts(row),
      txid: row.txid,
    })),
    has_payment: invoice.payment_id !== null,
    prepaid: limited
      ? { balance_micros: head.prepaid_micros, volume_micros: invoice.amount_usd_micros }
      : null,
  };
}

/** How far all accounts are read that the invoice may be paid at: what is asked for now, and what was before. */
async function readThrough(tx: Tx, invoice: InvoiceRow): Promise<number> {
  const proofs: number[] = [];
  for (const account of await everyOffer(tx, invoice)) proofs.push(await provedThrough(tx, account));
  return Math.min(...proofs);
}

/**
 * Evaluates each of these, in this order: what waited for a limit is booked oldest first. One invoice's trouble is its own:
 * it stays due, and the clock tries it again; so does all that is left when the daemon is asked to stop.
 */
export async function reevaluateInvoices(
  deps: SettleDeps,
  invoice_ids: readonly string[],
  actor = 'observer',
): Promise<void> {
  const evaluate = async (invoice_id: string) => {
    try {
      await apply(deps, invoice_id, { fact: { kind: 'evaluate' }, actor });
    } catch (error) {
      deps.log.error({ invoice_id, err: error }, 'an invoice could not be settled; trying again');
    }
  };
  const isStopping = () => deps.stopping?.aborted === true;
  if (deps.db.dialect === 'sqlite') {
    for (let from = 0; from < invoice_ids.length && !isStopping(); from += COMMITTED_TOGETHER)
      await Promise.all(invoice_ids.slice(from, from + COMMITTED_TOGETHER).map(evaluate));
    return;
  }
  const queues = (await byOwner(deps.db.query, invoice_ids)).values();
  const settleQueues = async () => {
    for (const queue of queues) for (const id of queue) if (!isStopping()) await evaluate(id);
  };
  await Promise.all(Array.from({ length: MERCHANTS_AT_ONCE }, settleQueues));
}

/** The same ids in the same order, apart for each merchant. */
async function byOwner(query: Executor, ids: readonly string[]): Promise<Map<string | null, string[]>> {
  const owners = ids.length > 1 ? await ownersOf(query, ids) : new Map<string, string | null>();
  const queues = new Map<string | null, string[]>();
  for (const id of ids) {
    const owner = owners.get(id) ?? null;
    const queue = queues.get(owner);
    if (queue) queue.push(id);
    else queues.set(owner, [id]);
  }
  return queues;
}
