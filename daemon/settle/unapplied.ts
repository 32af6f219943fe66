// Unapplied payments: late ones and those that match no invoice, listed to the operator, never dropped.

import { accountsAt, standingsOf } from '../../data/addresses.ts';
import type { Tx } from '../../data/db/open.ts';
import { invoicesByAmount, lockInvoice, setInvoicePayment } from '../../data/invoices.ts';
import {
  dismissPayment,
  getPayment,
  insertLog,
  insertPayment,
  mainPayment,
  UNDISMISSED,
  updatePayment,
} from '../../data/payments.ts';
import { type InvoiceRow, type PaymentRow, type TransferRow, UNAPPLIED } from '../../data/schema/tables.ts';
import { formerByAmount, offeredIn } from '../../data/terms.ts';
import { placeTransfers, transfersOfPayment } from '../../data/transfers.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { placeAt } from '../../src/match.ts';
import { tenTo } from '../../src/money.ts';
import { writeEvent } from './event.ts';
import type { SettleDeps, Step } from './step.ts';

/** Invoices on other blockchains that the log of a payment names. */
const EXPECTING_NAMED = 5;

export interface UnappliedContext {
  deps: SettleDeps;
  tx: Tx;
  now: number;
}

/** Books a transfer as a late payment of the step's invoice, which has ended; closed where the payment was that listed it before. */
export async function placeLate(step: Step, transfer: TransferRow, before: PaymentRow | null): Promise<void> {
  const payment = await insertLatePayment(
    step,
    step.invoice,
    transfer,
    'the invoice was confirmed without it',
    before,
  );
  await placeTransfers(
    step.tx,
    [transfer.id],
    { disposition: 'late', payment_id: payment.id, invoice_id: step.invoice.id },
    step.now,
  );
}

/**
 * The payment row of a late transfer; it becomes the invoice's own where that has ended without one. While the
 * invoice is open its own payment is the one that may still come in time.
 */
async function insertLatePayment(
  context: UnappliedContext,
  invoice: InvoiceRow,
  transfer: TransferRow,
  note: string,
  before: PaymentRow | null = null,
): Promise<PaymentRow> {
  const { deps, tx, now } = context;
  const is_other_coin = transfer.chain !== invoice.chain;
  const is_secondary =
    is_other_coin || invoice.status === 'created' || (await mainPayment(tx, invoice.id)) !== undefined;
  const coin = is_other_coin ? await offeredIn(tx, invoice, transfer.chain) : invoice;
  const { currency, decimals } = coin ?? invoice;
  const payment = await insertPayment(tx, {
    ...unappliedValues(transfer, now),
    status: 'late',
    invoice_id: invoice.id,
    main: is_secondary ? null : 1,
    listed_as: is_secondary ? `${UNAPPLIED}_${invoice.kind}` : invoice.kind,
    listed_at: is_secondary ? now : invoice.created_at,
    owner_id: invoice.owner_id,
    currency,
    decimals,
  });
  if (!is_secondary) await setInvoicePayment(tx, invoice.id, payment.id);
  await logUnapplied(tx, payment, asFarAsKnown(note, transfer), now);
  // Who closed it knows of it.
  if (await dismissAgain(tx, payment, before)) return payment;
  const shown = is_secondary ? invoice : { ...invoice, payment_id: payment.id };
  await writeEvent(deps, tx, 'payment.late', { merchant_id: invoice.owner_id, invoice: shown, payment, now });
  return payment;
}

/** Whether it was closed by a person under another payment, and is so now. */
async function dismissAgain(tx: Tx, { id }: PaymentRow, before: PaymentRow | null): Promise<boolean> {
  if (before?.dismissed !== 1) return false;
  const { dismissed_by: by, dismissed_note, dismissed_at } = before;
  await dismissPayment(tx, id, { by: by ?? '', note: dismissed_note ?? '', now: dismissed_at ?? 0 });
  return true;
}

/** Records a transfer that was found late at reading, with why. */
export async function recordLate(
  context: UnappliedContext,
  invoice: InvoiceRow,
  transfer: TransferRow,
  note = lateness(invoice, transfer),
): Promise<void> {
  const payment = await insertLatePayment(context, invoice, transfer, note);
  await placeTransfers(context.tx, [transfer.id], { payment_id: payment.id }, context.now);
}

/** Records a transfer that matches nothing, with why. */
export async function recordUnmatched(
  context: UnappliedContext,
  gateway: Gateway,
  transfer: TransferRow,
  reason: string,
): Promise<void> {
  const { deps, tx, now } = context;
  const meant = transfer.ambiguous === null ? await meantElsewhere(context, transfer, gateway) : [];
  const [asking, ...others] = new Set(meant.map((invoice) => invoice.owner_id));
  // Of several accounts that ask for just as much none is notified of what may be another's.
  const owner_id =
    asking === undefined ? await soleAccount(context, transfer) : others.length === 0 ? asking : null;
  const payment = await insertPayment(tx, {
    ...unappliedValues(transfer, now),
    status: 'unmatched',
    invoice_id: null,
    main: null,
    listed_as: UNAPPLIED,
    listed_at: now,
    owner_id,
    currency: gateway.currency,
    decimals: gateway.decimals,
  });
  await placeTransfers(tx, [transfer.id], { payment_id: payment.id }, now);
  const expecting = meant
    .slice(0, EXPECTING_NAMED)
    .map(({ id, chain }) => `invoice ${id} expects it on ${chain}`);
  const note = meant.length > 0 ? `sent on ${gateway.chain}; ${expecting.join(', ')}` : reason;
  await logUnapplied(tx, payment, asFarAsKnown(note, transfer), now);
  await writeEvent(deps, tx, 'payment.unmatched', { merchant_id: owner_id, invoice: null, payment, now });
}

/** Who alone has an address, on all blockchains where it is one; null is the deployment, and where several have it the operator alone is notified. */
async function soleAccount(
  { deps, tx }: Pick<UnappliedContext, 'deps' | 'tx'>,
  { blockchain, address_key }: TransferRow,
): Promise<string | null> {
  const blockchains = [blockchain, ...deps.config.chains.sharingAddresses(blockchain)];
  const [first, ...others] = standingsOf(await accountsAt(tx, { blockchains, address_key }));
  return first && others.length === 0 ? first.owner_id : null;
}

/**
 * Invoices that asked for exactly this before it was sent, at the same address, in the same asset on another blockchain; those
 * alone that it is in time for, where there are such.
 */
async function meantElsewhere(
  { deps, tx }: Pick<UnappliedContext, 'deps' | 'tx'>,
  transfer: TransferRow,
  gateway: Gateway,
): Promise<InvoiceRow[]> {
  const found: InvoiceRow[] = [];
  for (const { blockchain, chain, decimals } of deps.config.chains.sameAssetElsewhere(gateway.chain)) {
    const scaled = BigInt(transfer.amount_atomic) * tenTo(decimals);
    if (scaled % tenTo(gateway.decimals) !== 0n) continue;
    const amount_atomic = (scaled / tenTo(gateway.decimals)).toString();
    const slot = { blockchain, address_key: transfer.address_key, chain, amount_atomic };
    found.push(...(await invoicesByAmount(tx, slot)), ...(await formerByAmount(tx, slot)));
  }
  const at = (place: ReturnType<typeof placeAt>) => found.filter((each) => placeAt(transfer, each) === place);
  const in_time = at('matched');
  return in_time.length > 0 ? in_time : at('late');
}

/** A payment made in time may be read when its invoice was cancelled, or confirmed by another, already. */
const lateness = (invoice: InvoiceRow, transfer: TransferRow): string => {
  if (transfer.earliest_at > invoice.expires_at) return 'made after the time of the invoice';
  const other = transfer.chain === invoice.chain ? '' : `sent in ${transfer.chain}, as asked for before; `;
  const paid = invoice.status === 'created' ? `a payment in ${invoice.chain} had come` : '';
  return `${other}${paid || `found when the invoice was ${invoice.status}`}`;
};

/** What was only looked up is listed as that: one provider's word. */
const asFarAsKnown = (note: string, { unread }: TransferRow): string =>
  unread === 1 ? `${note}; a provider has it, no reading of the chain has shown it yet` : note;

export const sayBack = ({ unread }: TransferRow): string =>
  unread === 1 ? 'a provider has it again' : 'back on the chain';

const unappliedValues = (transfer: TransferRow, now: number) => ({
  chain: transfer.chain,
  blockchain: transfer.blockchain,
  txid: transfer.txid,
  received_atomic: transfer.amount_atomic,
  amount_match: 'none' as const,
  confirmations: transfer.confirmations,
  created_at: now,
  updated_at: now,
});

const logUnapplied = (tx: Tx, payment: PaymentRow, note: string, now: number): Promise<void> =>
  insertLog(tx, {
    payment_id: payment.id,
    invoice_id: payment.invoice_id,
    from_status: null,
    to_status: payment.status,
    txid: payment.txid,
    confirmations: payment.confirmations,
    note,
    actor: 'observer',
    created_at: now,
  });

/** What an unapplied payment shows of the transfers that are left of it. */
export const unappliedParts = (left: readonly TransferRow[]) => ({
  txid: left.at(-1)?.txid ?? null,
  received_atomic: left.reduce((sum, row) => sum + BigInt(row.amount_atomic), 0n).toString(),
  confirmations: Math.min(...left.map((row) => row.confirmations)),
});

/** Whether what is left of it is not what a person judged. */
const isOther = (payment: PaymentRow, left: readonly TransferRow[]): boolean =>
  unappliedParts(left).received_atomic !== payment.received_atomic;

/** A transfer that its payment was booked without, because it had left the chain, is listed on its own when it is back. */
async function listAgain(context: UnappliedContext, transfer: TransferRow): Promise<void> {
  if (transfer.state === 'gone' || transfer.invoice_id === null) return;
  const invoice = await lockInvoice(context.deps.db, context.tx, transfer.invoice_id);
  if (invoice) await recordLate(context, invoice, transfer, `${sayBack(transfer)}; it was booked without it`);
}

/** An unapplied payment of which a transfer left the chain, or came back, says so; it is orphaned when nothing is left of it. */
export async function followUnapplied(
  context: UnappliedContext,
  transfer: TransferRow,
  reason?: string,
): Promise<void> {
  const { tx, now } = context;
  if (transfer.payment_id === null || transfer.disposition === 'matched') return;
  const payment = await getPayment(tx, transfer.payment_id);
  if (!payment) return;
  if (payment.status === 'confirmed') return listAgain(context, transfer);
  const left = (await transfersOfPayment(tx, payment.id)).filter((row) => row.state !== 'gone');
  const status = left.length === 0 ? 'orphaned' : transfer.disposition;
  const values =
    left.length === 0
      ? { confirmations: 0 }
      : { ...unappliedParts(left), ...(isOther(payment, left) ? UNDISMISSED : {}) };
  await updatePayment(tx, payment.id, { status, ...values, updated_at: now });
  if (status !== payment.status)
    await insertLog(tx, {
      payment_id: payment.id,
      invoice_id: payment.invoice_id,
      from_status: payment.status,
      to_status: status,
      txid: payment.txid,
      confirmations: transfer.confirmations,
      note:
        status === 'orphaned'
          ? (reason ?? 'the transaction left the chain')
          : asFarAsKnown(`of the transaction: ${sayBack(transfer)}`, transfer),
      actor: 'observer',
      created_at: now,
    });
}
