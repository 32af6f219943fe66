// Makes an invoice: quote at the frozen rate, a memo, a reference or a free amount, and the watch on its address.
import { noteAddress } from '../../data/addresses.ts';
import { newId } from '../../data/db/ids.ts';
import type { Tx } from '../../data/db/open.ts';
import { forgetBuyer, getInvoice, invoiceOfBuyer, lockBuyer, watchAddress } from '../../data/invoices.ts';
import { holderOf } from '../../data/reservations.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { Terms } from '../../data/terms.ts';
import { waitFor } from '../../src/chains/catalogue.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import { GRACE_SECONDS } from '../../src/invoice.ts';
import { makeMemo } from '../../src/memo.ts';
import { type Quote, quote } from '../../src/quote.ts';
import type { InvoiceShop } from '../../src/shop.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { openInvoice, openInvoiceAlone } from '../settle/settle.ts';
import { keepWatchQuota, reserveAmount } from './amounts.ts';
import { refuseBlind } from './availability.ts';
import { isCovered, noteHeld, type Seller } from './limit.ts';
import { watchFor } from './watches.ts';

/** What the log says of each, with the ids of its request and of the invoice that all later lines of it carry. */
export const INVOICE_CREATED = 'invoice created';

/** When a first request that is just ending has ended. */
const ENDING_RETRY_SECONDS = 1;

/** When an asset that cannot be read is worth another try. */
const UNREADABLE_RETRY_SECONDS = 60;
/** With less time left an invoice is not shown again: its buyer gets a new one. */
const TIME_TO_PAY_SECONDS = 120;
/** Draws of a memo: the second is one in many billions. */
const DRAWS = 8;
const MEMO_BYTES = 32;

export interface InvoiceRequest {
  /** Of the invoice to make: a request repeated under it finds what it made before. Null draws one. */
  id: string | null;
  /** Null for the platform key. */
  owner_id: string | null;
  kind: 'sale' | 'refill';
  /** Whose limit must cover it; null for refills and the platform key, which have none. */
  seller: Seller | null;
  gateway: Gateway;
  /** A plain decimal above zero. */
  amount: string;
  amount_unit: 'usd' | 'native';
  /** Where the buyer pays to. */
  wallet: { address: string; address_key: string };
  /** How long the buyer has, in seconds. */
  ttl_seconds: number;
  external_ref: string | null;
  callback_url: string | null;
  unit_id: string | null;
  /** Who asks without credentials, as a keyed hash of his network address; null for holders of a key. */
  caller: string | null;
  /** Who buys what, as a keyed hash: what he has open already is shown again. Null where that is not known. */
  buyer?: string | null;
  /** Of the request that makes it; what the log says of the invoice later carries it. */
  request_id: string;
  /** Shown by wallets next to the payment. */
  label: string;
  /** What its page shows besides, and where its buyer returns to. */
  shop?: InvoiceShop | null;
  /** Where its receipt goes. */
  customer_email?: string | null;
  /** The coins among which its buyer may choose another; null: those of its unit, or none but its own. */
  payable_with?: string[] | null;
}

/**
 * Creates an invoice. Refuses with `no_rate`, `amount_too_small`, `amount_too_large`, `no_free_amount`,
 * `too_many_unpaid`, `provider_unavailable`, `asset_unreadable` or `limit_exhausted`. The row is durable when the promise
 * resolves.
 */
export async function createInvoice(app: App, request: InvoiceRequest): Promise<InvoiceRow> {
  const begun = await begunBefore(app, request);
  if (begun) return begun;
  const { quoted, usd_nanos } = quoteNow(app, request);
  const { seller } = request;
  const covered = seller === null || (await isCovered(app, seller, quoted.amount_usd_micros));
  const created =
    (await openAlone(app, request, quoted, usd_nanos)) ??
    (await openWithWatch(app, request, quoted, usd_nanos));
  app.watches.note(created);
  if (seller !== null && !covered) await noteHeld(app, seller, created);
  return created;
}

/** What is asked for in this coin now. Refuses as `createInvoice` does before it writes anything. */
export function quoteNow(
  app: App,
  { gateway, amount, amount_unit, kind }: Pick<InvoiceRequest, 'gateway' | 'amount' | 'amount_unit' | 'kind'>,
): { quoted: Quote; usd_nanos: bigint } {
  refuseBlind(app, gateway);
  refuseUnreadable(app, gateway);
  const { usd_nanos } = app.rates.rate(gateway.currency);
  const quoted = quote({
    gateway,
    amount,
    amount_unit,
    rate_usd_nanos: usd_nanos,
    service_fee_percent: kind === 'sale' ? app.config.service_fee_percent : '0',
  });
  if (quoted === 'too_small') throw new Refusal('amount_too_small');
  if (quoted === 'too_large') throw new Refusal('amount_too_large');
  return { quoted, usd_nanos };
}

/** What this buyer has open of the same purchase, where nothing of it was seen and there is time to pay it. */
async function begunBefore(app: App, { buyer }: InvoiceRequest): Promise<InvoiceRow | undefined> {
  const begun = buyer ? await invoiceOfBuyer(app.db.query, buyer) : undefined;
  if (!begun) return undefined;
  const { status, payment_id, expires_at } = begun;
  const left_seconds = expires_at - seconds(app.clock);
  if (status === 'created' && payment_id === null && left_seconds >= TIME_TO_PAY_SECONDS) return begun;
  await forgetBuyer(app.db.query, begun);
  return undefined;
}

/** Most invoices need no more than their own rows; null where one needs more, or its memo was taken. */
async function openAlone(
  app: App,
  request: InvoiceRequest,
  quoted: Quote,
  rate: bigint,
): Promise<InvoiceRow | null> {
  if (request.id !== null || request.buyer || request.gateway.unique_amount) return null;
  const row = invoiceValues(app, request, quoted, rate);
  if (!app.watches.covers(row)) return null;
  return (await openInvoiceAlone(app, row)) ? row : null;
}

function openWithWatch(app: App, request: InvoiceRequest, quoted: Quote, rate: bigint): Promise<InvoiceRow> {
  return app.db.transaction(async (tx) => {
    const made = request.id === null ? undefined : await getInvoice(tx, request.id);
    if (made) return made;
    if (request.buyer) {
      await lockBuyer(app.db, tx, request.buyer);
      const begun = await invoiceOfBuyer(tx, request.buyer);
      if (begun) return begun;
    }
    const reserved = request.gateway.unique_amount ? await reserveAmount(app, tx, request, quoted) : quoted;
    return openDrawn(app, tx, request, reserved, rate);
  });
}

/** An asset that cannot be read cannot be sold for: its buyer would pay in vain. */
function refuseUnreadable(app: App, { blockchain, chain, name }: Gateway): void {
  const asset = app.observer.unreadable(blockchain).find((one) => one.chain === chain);
  if (!asset) return;
  throw new Refusal('asset_unreadable', {
    detail: `${name} cannot be read from its blockchain at the moment: ${asset.reason}`,
    retry_after: UNREADABLE_RETRY_SECONDS,
  });
}

/** The watch on the address, who asks for it, and whether that account may have one more. */
async function watch(
  app: App,
  tx: Tx,
  { gateway, owner_id, kind }: InvoiceRequest,
  row: InvoiceRow,
): Promise<void> {
  if (owner_id !== null && kind === 'sale') await keepWatchQuota(app, tx, { owner_id, gateway, wallet: row });
  await watchAddress(tx, watchFor(row));
  await noteAddress(app.db, tx, { ...row, owner_id: holderOf(row), now: row.created_at });
}

/** Draws a memo and a reference until they are free. The watch comes first: all who write events hold theirs by then. */
async function openDrawn(
  app: App,
  tx: Tx,
  request: InvoiceRequest,
  quoted: Quote,
  rate: bigint,
): Promise<InvoiceRow> {
  for (let draw = 0; draw < DRAWS; draw++) {
    const row = invoiceValues(app, request, quoted, rate);
    if (!app.watches.covers(row)) await watch(app, tx, request, row);
    if (await openInvoice(app, tx, row)) return row;
    // Not its memo, but its id: the first request of this key was ending at this very moment.
    if (request.id !== null && (await getInvoice(tx, request.id)))
      throw new Refusal('idempotency_in_progress', { retry_after: ENDING_RETRY_SECONDS });
  }
  throw new Error(`no free memo at ${request.wallet.address} after ${DRAWS} draws`);
}

function invoiceValues(app: App, request: InvoiceRequest, quoted: Quote, rate: bigint): InvoiceRow {
  const { shop = null, customer_email = null, payable_with = null } = request;
  const created_at = seconds(app.clock);
  const expires_at = created_at + request.ttl_seconds;
  const terms = termsOf(app, request, { quoted, rate, expires_at });
  // Named one by one: an object of so many members takes several times as long to be made where others are spread into it.
  return {
    id: request.id ?? newId(),
    owner_id: request.owner_id,
    kind: request.kind,
    unit_id: request.unit_id,
    amount_usd_micros: quoted.amount_usd_micros,
    chain: terms.chain,
    blockchain: terms.blockchain,
    currency: terms.currency,
    network: terms.network,
    decimals: terms.decimals,
    min_confirmations: terms.min_confirmations,
    confirm_seconds: terms.confirm_seconds,
    until_final: terms.until_final,
    amount_usd_fee_micros: terms.amount_usd_fee_micros,
    rate_usd_nanos: terms.rate_usd_nanos,
    amount_merchant_atomic: terms.amount_merchant_atomic,
    amount_fee_atomic: terms.amount_fee_atomic,
    amount_atomic: terms.amount_atomic,
    address: terms.address,
    address_key: terms.address_key,
    memo: terms.memo,
    reference: terms.reference,
    qr_payload: terms.qr_payload,
    exits: terms.exits,
    reserved: terms.reserved,
    reserved_until: terms.reserved_until,
    offered_at: terms.offered_at,
    status: 'created',
    payment_id: null,
    amount_match: 'none',
    received_atomic: null,
    txid: null,
    confirmations: 0,
    external_ref: request.external_ref,
    callback_url: request.callback_url,
    created_at,
    expires_at,
    paid_at: null,
    ended_at: null,
    due_at: expires_at,
    caller: request.caller,
    buyer: request.buyer ?? null,
    request_id: request.request_id,
    watch_until: expires_at + 2 * GRACE_SECONDS,
    shop,
    customer_email,
    receipt_due_at: customer_email === null ? null : created_at,
    first_expires_at: null,
    prolonged_at: null,
    switches: 0,
    payable_with,
  };
}

interface Asked {
  quoted: Quote;
  rate: bigint;
  expires_at: number;
}

/** What is asked for in one coin: where, how much, by which memo or reference, and the links that say so. */
export function termsOf(
  app: App,
  { gateway, wallet, label }: Pick<InvoiceRequest, 'gateway' | 'wallet' | 'label'>,
  { quoted, rate, expires_at }: Asked,
): Terms {
  const { family } = gateway;
  const memo = gateway.supports_memo ? drawMemo(app) : null;
  const reference = family.makeReference?.(app.runtime.randomBytes(32)) ?? null;
  const { uri, exits } = family.paymentLinks({
    gateway,
    address: wallet.address,
    amount_atomic: quoted.amount_atomic,
    memo,
    reference,
    label,
    expires_at,
  });
  return {
    chain: gateway.chain,
    blockchain: gateway.blockchain,
    currency: gateway.currency,
    network: gateway.network,
    decimals: gateway.decimals,
    ...waitFor(gateway, quoted.amount_usd_micros, app.pace.of(gateway.blockchain)),
    amount_usd_fee_micros: quoted.amount_usd_fee_micros,
    rate_usd_nanos: rate.toString(),
    amount_merchant_atomic: quoted.amount_merchant_atomic.toString(),
    amount_fee_atomic: quoted.amount_fee_atomic.toString(),
    amount_atomic: quoted.amount_atomic.toString(),
    address: wallet.address,
    address_key: wallet.address_key,
    memo,
    reference,
    qr_payload: uri,
    exits,
    reserved: gateway.unique_amount ? 1 : null,
    reserved_until: null,
    offered_at: null,
  };
}

function drawMemo({ runtime }: App): string {
  for (;;) {
    const memo = makeMemo(runtime.randomBytes(MEMO_BYTES));
    if (memo !== null) return memo;
  }
}
