// Rows as the wire shows them: decimal strings, Unix seconds, absolute URLs.

import type { z } from 'zod';
import type { Executor } from '../../data/db/open.ts';
import type { IncomeRow, InvoiceRow, PaymentLogRow, PaymentRow } from '../../data/schema/tables.ts';
import { everyOffer } from '../../data/terms.ts';
import type {
  Dismissal,
  IncomePublic,
  InvoicePublic,
  PaymentPublic,
} from '../../src/api/schemas/resources.ts';
import { formatDecimal, USD_DECIMALS } from '../../src/money.ts';
import { pictureAddress } from '../../src/picture.ts';
import type { InvoiceShop, ReturnSettings } from '../../src/shop.ts';

const usd = (micros: bigint): string => formatDecimal(micros, USD_DECIMALS);

/** Where buyers return to, for the owner alone. */
export const presentReturns = (shop: ReturnSettings | null) =>
  shop === null
    ? {}
    : {
        ...(shop.success_url === null ? {} : { success_url: shop.success_url }),
        ...(shop.cancel_url === null ? {} : { cancel_url: shop.cancel_url }),
        return_automatically: shop.return_automatically,
      };

/** InvoicePublic as the holder of its key reads it. */
export const presentOwnInvoice = (row: InvoiceRow, base: string) =>
  Object.assign(presentInvoice(row, base), presentReturns(row.shop));

/**
 * What the invoice asked for in other coins than its present one, for its owner; nothing where its coin was never changed.
 * `offers` as `everyOffer` returns them.
 */
export function presentBefore(
  offers: readonly InvoiceRow[],
): Pick<z.output<typeof InvoicePublic>, 'asked_before'> {
  if (offers.length < 2) return {};
  const before = offers.slice(1).toSorted((one, other) => (one.offered_at ?? 0) - (other.offered_at ?? 0));
  return {
    asked_before: before.map((offer) => ({
      chain: offer.chain,
      currency: offer.currency,
      amount: formatDecimal(BigInt(offer.amount_atomic), offer.decimals),
      address: offer.address,
      memo: offer.memo,
      from: offer.offered_at ?? offer.created_at,
      until: offer.ended_at ?? offer.expires_at,
      reserved: offer.reserved === 1,
    })),
  };
}

/** The same of one invoice, with what it asked for before. */
export const presentWhole = async (query: Executor, row: InvoiceRow, base: string) => ({
  ...presentOwnInvoice(row, base),
  ...presentBefore(await everyOffer(query, row)),
});

/** InvoicePublic. `base` is the public base URL without a trailing slash. */
export function presentInvoice(row: InvoiceRow, base: string): z.output<typeof InvoicePublic> {
  const coin = (atomic: string): string => formatDecimal(BigInt(atomic), row.decimals);
  const shown = {
    id: row.id,
    chain: row.chain,
    currency: row.currency,
    network: row.network,
    fiat: 'USD',
    amount_usd: usd(row.amount_usd_micros),
    amount_usd_fee: usd(row.amount_usd_fee_micros),
    amount_merchant: coin(row.amount_merchant_atomic),
    amount_fee: coin(row.amount_fee_atomic),
    amount: coin(row.amount_atomic),
    address: row.address,
    memo: row.memo,
    status: row.status,
    payment_id: row.payment_id,
    amount_match: row.amount_match,
    received_amount: row.received_atomic === null ? null : coin(row.received_atomic),
    external_ref: row.external_ref,
    txid: row.txid,
    confirmations: row.confirmations,
    created_at: row.created_at,
    expires_at: row.expires_at,
    paid_at: row.paid_at,
    ask_donation: false,
    exits: row.exits,
    pay_url: `${base}/pay/${row.id}`,
    embed_url: `${base}/v1/pay/${row.id}/page?size=mobile`,
    page_url: `${base}/v1/pay/${row.id}/page`,
    div_url: `${base}/v1/pay/${row.id}/div`,
    qr_url: `${base}/v1/pay/${row.id}/qr.svg`,
    qr_png_url: `${base}/v1/pay/${row.id}/qr.png`,
    qr_payload: row.qr_payload,
  };
  return row.shop === null ? shown : Object.assign(shown, presentWords(row.shop, base));
}

/** Only what its creator gave: the answer is otherwise what the specification says. */
function presentWords({ title, description, picture }: InvoiceShop, base: string) {
  return {
    ...(title === null ? {} : { title }),
    ...(description === null ? {} : { description }),
    ...(picture === null ? {} : { image_url: pictureAddress(base, picture) }),
  };
}

/** PaymentPublic; what the invoice asks for in another coin says nothing of this payment. */
export function presentPayment(row: PaymentRow, shown: InvoiceRow | null): z.output<typeof PaymentPublic> {
  const invoice = shown?.chain === row.chain ? shown : null;
  return {
    id: row.id,
    invoice_id: row.invoice_id,
    status: row.status,
    chain: row.chain,
    currency: row.currency,
    amount: invoice ? formatDecimal(BigInt(invoice.amount_atomic), invoice.decimals) : null,
    received_amount: formatDecimal(BigInt(row.received_atomic), row.decimals),
    amount_match: row.amount_match,
    txid: row.txid,
    confirmations: row.confirmations,
    min_confirmations: invoice?.min_confirmations ?? 0,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** People, named with an id behind it. */
const person = /^(operator|merchant):/;

/**
 * PaymentLogPublic as anyone may read it: of operators and merchants it names neither who it was nor what that person wrote
 * behind the action.
 */
export function presentPublicLog(row: PaymentLogRow) {
  const [, role] = person.exec(row.actor) ?? [];
  if (role === undefined) return presentLog(row);
  return presentLog({ ...row, actor: role, note: row.note?.replace(/:.*$/s, '') ?? null });
}

/** Dismissal of a payment; merchants read neither who of the operators it was, nor what that person wrote. */
export function presentDismissal(
  { dismissed_at, dismissed_by, dismissed_note }: PaymentRow,
  reader: 'merchant' | 'operator',
): z.output<typeof Dismissal> | null {
  if (dismissed_at === null || dismissed_by === null) return null;
  const isPrivate = reader === 'merchant' && dismissed_by.startsWith('operator:');
  return {
    at: dismissed_at,
    by: reader === 'merchant' ? dismissed_by.replace(/:.*$/s, '') : dismissed_by,
    note: isPrivate ? null : dismissed_note,
  };
}

/** PaymentLogPublic as the operator reads it. */
export const presentLog = ({
  id,
  from_status,
  to_status,
  txid,
  confirmations,
  note,
  actor,
  created_at,
}: PaymentLogRow) => ({
  id,
  from_status,
  to_status,
  txid,
  confirmations,
  note,
  actor,
  created_at,
});

/** IncomePublic. */
export const presentIncome = (row: IncomeRow): z.output<typeof IncomePublic> => ({
  id: row.id,
  chain: row.chain,
  currency: row.currency,
  amount: formatDecimal(BigInt(row.amount_atomic), row.decimals),
  fee_charged: usd(row.fee_charged_micros),
  txid: row.txid,
  webhook_status: row.webhook_status,
  created_at: row.created_at,
  invoice_id: row.invoice_id,
});

/** ExitPublic: the link that opens a wallet on the web or in Telegram, and what to pay by hand. */
export function presentExit(row: InvoiceRow, kind: 'web' | 'tg') {
  const links = row.exits;
  return {
    url: links[kind] ?? null,
    links,
    address: row.address,
    amount: formatDecimal(BigInt(row.amount_atomic), row.decimals),
    memo: row.memo,
    chain: row.chain,
    currency: row.currency,
  };
}
