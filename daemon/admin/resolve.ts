// What an operator decides of an invoice: each decision passes through the one door and leaves a log row with who made it.

import type { z } from 'zod';
import type { InvoiceRow, UserRow } from '../../data/schema/tables.ts';
import { everyOffer } from '../../data/terms.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import type { AdminPaymentDetail } from '../../src/api/schemas/admin.ts';
import { cleanText } from '../../src/clean.ts';
import { Refusal } from '../../src/errors.ts';
import type { Fact } from '../../src/invoice.ts';
import type { App } from '../context.ts';
import type { UserContext } from '../http/handler.ts';
import { refuseLimit } from '../invoices/limit.ts';
import { hasEnded, invoiceOf } from '../invoices/outcome.ts';
import { apply, noteAction, type Outcome, type Remark, remark } from '../settle/settle.ts';
import { findListed, paymentDetail } from './payments.ts';
import { inCoinOf, normalizeTxid, readNamed } from './transaction.ts';

export type Action = 'recheck' | 'expire' | 'fail' | 'confirm';

/** How an operator is named in logs and books. */
export const operatorName = (user: Pick<UserRow, 'id'>): string => `operator:${user.id}`;

const notes: Record<Action, string> = {
  recheck: 'checked again by the operator',
  expire: 'expired by the operator',
  fail: 'failed by the operator',
  confirm: 'confirmed by the operator',
};

interface Resolution {
  action: Action;
  txid: string | null;
  /** Book also where the chain has no such transaction, or cannot be asked. */
  force: boolean;
  note: string | null;
}

/**
 * Does what the operator says and answers AdminPaymentDetail. Refuses with `payment_not_found`, `invoice_ended`,
 * `transfer_booked`, `transaction_unknown`, `bad_request` or `limit_exhausted`; throws ProviderError where the chain
 * cannot be read.
 */
export async function resolvePayment(
  { app, user, log }: UserContext,
  id: string,
  { action, txid, force, note }: Resolution,
): Promise<z.input<typeof AdminPaymentDetail>> {
  const actor = operatorName(user);
  if (force && !note?.trim())
    throw new Refusal('bad_request', { detail: 'To book by `force`, say why in `note`' });
  const named = cleanText(txid ?? '') || null;
  const details = { actor, action, id, txid: named, force, note };
  try {
    const status = await (action === 'recheck'
      ? recheck(app, id, actor)
      : move(app, id, actor, { action, txid: named, force, note }));
    log.warn({ ...details, status }, 'the operator resolved a payment');
  } catch (error) {
    log.warn({ ...details, refused: (error as Error).message }, "the operator's resolution was refused");
    throw error;
  }
  return paymentDetail(app, id);
}

/**
 * Notes something of a payment, dismisses it or has it wait again, and answers AdminPaymentDetail. Refuses with
 * `payment_not_found`, `payment_not_waiting` or `bad_request`.
 */
export async function remarkPayment(
  { app, user, log }: UserContext,
  id: string,
  request: Remark,
): Promise<z.input<typeof AdminPaymentDetail>> {
  const actor = operatorName(user);
  const listed = await findListed(app, id);
  const payment_id = 'invoice' in listed ? listed.invoice.payment_id : listed.payment.id;
  if (payment_id === null)
    throw new Refusal('payment_not_waiting', { detail: 'No payment has come for this invoice' });
  const changed = await remark(app, payment_id, request, { actor, owner_id: null });
  if (changed) log.warn({ actor, payment_id, ...request }, 'the operator noted something of a payment');
  return paymentDetail(app, id);
}

/** Reads the chain now, then evaluates. Also for a payment without invoice: its transfer may have left the chain. */
async function recheck(app: App, id: string, actor: string): Promise<string> {
  const listed = await findListed(app, id);
  if ('invoice' in listed) await readAll(app, listed.invoice);
  else await app.observer.poll(listed.payment.blockchain, []);
  if (!('invoice' in listed)) {
    const { payment } = listed;
    const keys = { payment_id: payment.id, invoice_id: null };
    await noteAction(app, { ...keys, at: payment, note: notes.recheck, actor });
    return listed.payment.status;
  }
  const fact: Fact = { kind: 'evaluate' };
  const outcome = await apply(app, listed.invoice.id, { fact, actor, note: notes.recheck });
  if (!outcome) throw new Refusal('payment_not_found');
  await noteAction(app, { ...keysOf(outcome.invoice), at: outcome.invoice, note: notes.recheck, actor });
  return outcome.invoice.status;
}

/** Also what it was asked for in before: it may be paid there. */
async function readAll(app: App, invoice: InvoiceRow): Promise<void> {
  for (const { blockchain, address_key, chain } of await everyOffer(app.db.query, invoice))
    await app.observer.poll(blockchain, [{ address_key, chain }]);
}

async function move(
  app: App,
  id: string,
  actor: string,
  { action, txid, force, note }: Resolution & { action: Exclude<Action, 'recheck'> },
): Promise<string> {
  const listed = await findListed(app, id);
  if (!('invoice' in listed)) {
    const { invoice_id } = listed.payment;
    throw new Refusal('payment_not_found', {
      detail: `This is a payment, not an invoice: resolve the invoice that it pays${invoice_id ? ` (${invoice_id})` : ''} with \`confirm\` and its txid`,
    });
  }
  const paid = txid === null ? listed.invoice : await inCoinOf(app, listed.invoice, txid);
  const spelled = txid === null ? null : normalizeTxid(app, paid, txid);
  const named =
    action === 'confirm' && spelled !== null ? await readNamed(app, paid, { txid: spelled, force }) : spelled;
  const fact: Fact = { kind: 'resolve', action };
  const logged_note = note?.trim() ? `${notes[action]}: ${note.trim()}` : notes[action];
  const outcome = await apply(app, listed.invoice.id, { fact, actor, note: logged_note, txid: named, force });
  if (!outcome) throw new Refusal('payment_not_found');
  await refuseShort(app, outcome);
  if (outcome.verdict.verdict === 'refused' && outcome.verdict.code === 'invoice_ended')
    throw hasEnded(outcome.invoice, {
      hint: 'A confirmed invoice stays as it is; a cancelled one takes `confirm` only',
      next: nextCall('getAdminPayment'),
    });
  return invoiceOf(outcome).status;
}

const keysOf = (invoice: InvoiceRow) => ({ payment_id: invoice.payment_id, invoice_id: invoice.id });

/** 402 with what is missing and how to refill. */
async function refuseShort(app: App, { invoice, verdict }: Outcome): Promise<void> {
  if (verdict.verdict !== 'refused' || verdict.code !== 'limit_exhausted' || invoice.owner_id === null)
    return;
  await refuseLimit(app, invoice.owner_id, invoice.amount_usd_micros);
}
