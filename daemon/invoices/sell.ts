// An invoice that the holder of a key asks for: which gateway, which wallet, and what its webhook may be.
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { Gateway } from '../../src/chains/family.ts';
import type { App } from '../context.ts';
import type { Owner } from '../http/exchange.ts';
import { checkWebhookUrl } from '../webhooks/egress.ts';
import { createInvoice, type InvoiceRequest } from './create.ts';
import { ownerId } from './find.ts';
import { enabledGateways, findGateway } from './gateways.ts';
import { walletFor } from './wallet.ts';

/** Longest label that wallets are handed. */
const MAX_LABEL = 64;

export interface Sale extends Pick<InvoiceRequest, 'id' | 'amount' | 'amount_unit' | 'request_id'> {
  chain: string;
  callback_url?: string | null | undefined;
  external_ref?: string | null | undefined;
}

/** Refuses as `createInvoice` does, and with `url_not_allowed`, `unknown_chain` or `no_wallet`. */
export async function sell(
  app: App,
  owner: Owner,
  { id, chain, amount, amount_unit, callback_url, external_ref, request_id }: Sale,
): Promise<InvoiceRow> {
  if (callback_url) checkWebhookUrl(callback_url, { allow_private: app.config.webhook_allow_private });
  const gateway = gatewayFor(app, owner, chain);
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
    label: (owner.kind === 'merchant' ? owner.merchant.slug : 'gatewayd').slice(0, MAX_LABEL),
  });
}

function gatewayFor(app: App, owner: Owner, chain: string): Gateway {
  if (owner.kind === 'platform') return findGateway(app.gateways, chain);
  return findGateway(enabledGateways(app.gateways, owner.merchant.enabled_currencies), chain);
}
