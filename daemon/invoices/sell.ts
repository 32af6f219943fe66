// An invoice that the holder of a key asks for: which gateway, which wallet, and what its webhook may be.
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { Gateway } from '../../src/chains/family.ts';
import type { InvoiceShop } from '../../src/shop.ts';
import type { App } from '../context.ts';
import type { Owner } from '../http/exchange.ts';
import { checkReturns, hostsOf, type SentReturn } from '../shop/links.ts';
import { storePicture } from '../shop/pictures.ts';
import { checkWebhookUrl } from '../webhooks/egress.ts';
import { createInvoice, type InvoiceRequest } from './create.ts';
import { ownerId } from './find.ts';
import { checkEntries, enabledGateways, findGateway } from './gateways.ts';
import { walletFor } from './wallet.ts';

/** Longest label that wallets are handed. */
const MAX_LABEL = 64;

export interface Sale extends Pick<InvoiceRequest, 'amount' | 'amount_unit'>, SentReturn {
  chain: string;
  callback_url?: string | null | undefined;
  external_ref?: string | null | undefined;
  title?: string | null | undefined;
  description?: string | null | undefined;
  image_url?: string | null | undefined;
  customer_email?: string | null | undefined;
  /** Ids or tickers. */
  payable_with?: readonly string[] | null | undefined;
}

/** Refuses as `createInvoice` does, and with `url_not_allowed`, `picture_not_allowed`, `unknown_chain` or `no_wallet`. */
export async function sell(
  app: App,
  owner: Owner,
  sale: Sale,
  { id, request_id }: Pick<InvoiceRequest, 'id' | 'request_id'>,
): Promise<InvoiceRow> {
  const { chain, amount, amount_unit, callback_url, external_ref } = sale;
  if (callback_url) checkWebhookUrl(callback_url, { allow_private: app.config.webhook_allow_private });
  const gateway = findGateway(offeredBy(app, owner), chain);
  const label = sale.title || (owner.kind === 'merchant' ? owner.merchant.slug : 'gatewayd');
  return createInvoice(app, {
    id,
    owner_id: ownerId(owner),
    kind: 'sale',
    seller: owner.kind === 'merchant' ? { merchant: owner.merchant, for_buyer: false } : null,
    gateway,
    amount,
    amount_unit,
    wallet: await walletFor(app, ownerId(owner), gateway),
    ttl_seconds: gateway.payment_ttl_seconds,
    external_ref: external_ref ?? null,
    callback_url: callback_url ?? null,
    unit_id: null,
    caller: null,
    request_id,
    label: label.slice(0, MAX_LABEL),
    shop: await shopOf(app, owner, sale),
    customer_email: sale.customer_email ?? null,
    payable_with: sale.payable_with ? checkEntries(offeredBy(app, owner), sale.payable_with) : null,
  });
}

/** Null where the request says nothing of it, as most do. */
async function shopOf(app: App, owner: Owner, sale: Sale): Promise<InvoiceShop | null> {
  const { title, description, image_url } = sale;
  const returns = checkReturns(app, hostsOf(app, owner), sale);
  const given = [title, description, image_url, returns.success_url, returns.cancel_url];
  if (!given.some(Boolean)) return null;
  return {
    ...returns,
    title: title || null,
    description: description || null,
    picture: image_url ? await storePicture(app, ownerId(owner), image_url) : null,
  };
}

const offeredBy = (app: App, owner: Owner): readonly Gateway[] =>
  owner.kind === 'platform' ? app.gateways : enabledGateways(app.gateways, owner.merchant.enabled_currencies);
