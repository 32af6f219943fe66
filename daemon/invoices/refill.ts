// A refill of a merchant's prepaid balance: an invoice that is paid to the operator.
import type { InvoiceRow, MerchantRow } from '../../data/schema/tables.ts';
import type { App } from '../context.ts';
import { createInvoice, type InvoiceRequest } from './create.ts';
import { findGateway } from './gateways.ts';
import { readBefore } from './read-before.ts';
import { refillWalletFor } from './wallet.ts';

/** Refuses as `createInvoice` does, and with `unknown_chain`, `no_wallet` or `provider_unavailable`. */
export async function refill(
  app: App,
  account: MerchantRow,
  {
    chain,
    ...request
  }: Pick<InvoiceRequest, 'id' | 'amount' | 'amount_unit' | 'request_id'> & { chain: string },
): Promise<InvoiceRow> {
  const gateway = findGateway(app.gateways, chain);
  const wallet = await refillWalletFor(app, gateway);
  const ttl_seconds = gateway.payment_ttl_seconds;
  // Only money that comes for the refill may pay it, not what is on its way to the operator already.
  await readBefore(app, { gateway, wallet, ttl_seconds });
  return createInvoice(app, {
    ...request,
    owner_id: account.id,
    kind: 'refill',
    seller: null,
    gateway,
    wallet,
    ttl_seconds,
    external_ref: null,
    callback_url: null,
    unit_id: null,
    caller: null,
    label: 'Refill',
  });
}
