// Rows as the operator sees them.
import type { z } from 'zod';
import type { LedgerRow, PaymentRow, TransferRow } from '../../data/schema/tables.ts';
import type { AdminEntry } from '../../data/views/admin-list.ts';
import type { MerchantFigures } from '../../data/views/merchants.ts';
import type {
  AdminMerchant,
  AdminPayment,
  LedgerEntryPublic,
  TransferPublic,
} from '../../src/api/schemas/admin.ts';
import { limitOf } from '../../src/ledger.ts';
import { PLAN } from '../../src/limits.ts';
import { formatDecimal, formatUsd } from '../../src/money.ts';
import { presentDismissal } from '../invoices/present.ts';

/** AdminPayment. */
export function presentEntry(entry: AdminEntry): z.output<typeof AdminPayment> {
  const { invoice, payment } = entry;
  if (!entry.unapplied && invoice) return presentShown(entry, invoice);
  if (!payment) throw new Error('an entry of the list has neither invoice nor payment');
  return {
    ...common(entry, payment),
    id: payment.id,
    status: payment.status,
    amount: null,
    amount_usd: null,
    received_amount: formatDecimal(BigInt(payment.received_atomic), payment.decimals),
    amount_match: payment.amount_match,
    txid: payment.txid,
    confirmations: payment.confirmations,
    external_ref: invoice?.external_ref ?? null,
    memo: invoice?.memo ?? null,
    candidates: entry.candidates,
    claimed_invoice_id: entry.claimed_invoice_id,
    created_at: payment.listed_at,
    expires_at: null,
    paid_at: null,
  };
}

const common = (
  { invoice, payment, owner_slug }: AdminEntry,
  of: { owner_id: string | null; chain: string; currency: string },
) => ({
  invoice_id: invoice?.id ?? null,
  payment_id: payment?.id ?? null,
  kind: invoice?.kind ?? null,
  owner_id: of.owner_id,
  owner_slug,
  chain: of.chain,
  currency: of.currency,
  payment_status: payment?.status ?? null,
  dismissed: payment ? presentDismissal(payment, 'operator') : null,
});

function presentShown(
  entry: AdminEntry,
  invoice: NonNullable<AdminEntry['invoice']>,
): z.output<typeof AdminPayment> {
  const { payment } = entry;
  const coin = (atomic: string): string => formatDecimal(BigInt(atomic), invoice.decimals);
  // Of a payment that came after the end only the payment itself knows.
  const received = invoice.received_atomic ?? payment?.received_atomic ?? null;
  return {
    ...common(entry, invoice),
    id: invoice.id,
    status: invoice.status,
    amount: coin(invoice.amount_atomic),
    amount_usd: formatUsd(invoice.amount_usd_micros),
    received_amount: received === null ? null : coin(received),
    amount_match: invoice.amount_match,
    txid: invoice.txid ?? payment?.txid ?? null,
    confirmations: payment?.confirmations ?? invoice.confirmations,
    external_ref: invoice.external_ref,
    memo: invoice.memo,
    candidates: 0,
    claimed_invoice_id: null,
    created_at: invoice.created_at,
    expires_at: invoice.expires_at,
    paid_at: invoice.paid_at,
  };
}

/** AdminMerchant. */
export const presentMerchant = (row: MerchantFigures): z.output<typeof AdminMerchant> => ({
  user_id: row.id,
  email: row.email,
  full_name: row.full_name,
  is_active: row.is_active === 1,
  slug: row.slug,
  plan: PLAN,
  house: row.house_since !== null,
  prepaid_usd: formatUsd(row.prepaid_micros),
  limit_of_payments: formatUsd(limitOf(row.prepaid_micros)),
  units: row.units,
  invoices: row.invoices,
  confirmed_invoices: row.income.count,
  confirmed_usd: formatUsd(row.income.amount_micros),
  fees_usd: formatUsd(row.income.fee_micros),
  wallets: row.wallets,
  created_at: row.created_at,
  last_invoice_at: row.last_invoice_at,
});

/** LedgerEntryPublic. */
export const presentLedgerEntry = (row: LedgerRow): z.output<typeof LedgerEntryPublic> => ({
  id: row.id,
  seq: row.seq,
  kind: row.kind,
  amount_usd: formatUsd(row.kind === 'fee' ? -row.amount_micros : row.amount_micros),
  balance_usd: formatUsd(row.balance_micros),
  invoice_id: row.invoice_id,
  note: row.note,
  actor: row.actor,
  created_at: row.created_at,
  hash: row.hash,
});

/** TransferPublic. A transfer has the asset of the invoice or payment it belongs to. */
export const presentTransfer = (
  row: TransferRow,
  asset: Pick<PaymentRow, 'currency' | 'decimals'>,
): z.output<typeof TransferPublic> => ({
  id: row.id,
  chain: row.chain,
  currency: asset.currency,
  txid: row.txid,
  index: row.idx,
  amount: formatDecimal(BigInt(row.amount_atomic), asset.decimals),
  memo: row.memo,
  sender: row.sender,
  height: row.height,
  confirmations: row.confirmations,
  state: row.state,
  disposition: row.disposition,
  ambiguous: row.ambiguous,
  booked_invoice_id: row.booked_invoice_id,
  chain_time: row.earliest_at,
  first_seen_at: row.first_seen_at,
});
