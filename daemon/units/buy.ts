// Buying a unit: an invoice at its price, paid to its merchant.
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { getUser } from '../../data/users.ts';
import { Refusal } from '../../src/errors.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';
import type { RequestInfo } from '../http/exchange.ts';
import { callerOf } from '../http/limits.ts';
import { createInvoice } from '../invoices/create.ts';
import { enabledGateways, findGateway, selectGateways } from '../invoices/gateways.ts';
import { walletFor } from '../invoices/wallet.ts';
import { requireUnit, type UnitName } from './find.ts';

interface Purchase {
  /** Gateway id. */
  chain: string;
  external_ref: string | null;
  customer_email?: string | null | undefined;
  /** Who buys, where that is known: what he has open of the same is shown again. */
  buyer: string | null;
  /** Who asks without credentials, and the id that its invoice gets when the request is repeated. */
  request: Pick<RequestInfo, 'id' | 'ip' | 'resource_id'>;
}

/**
 * Refuses as `createInvoice` does, and with `unit_not_found`, `account_inactive`, `unit_inactive`, `unknown_chain`,
 * `chain_not_accepted` or `no_wallet`.
 */
export async function buyUnit(
  app: App,
  name: UnitName,
  { chain, external_ref, customer_email, buyer, request }: Purchase,
): Promise<InvoiceRow> {
  const { unit, merchant } = await requireUnit(app, name);
  const user = await getUser(app.db.query, merchant.id);
  if (!user?.is_active) throw new Refusal('account_inactive');
  if (!unit.active) throw new Refusal('unit_inactive');
  const gateway = findGateway(app.gateways, chain);
  const accepted = selectGateways(
    enabledGateways(app.gateways, merchant.enabled_currencies),
    unit.currencies,
  );
  if (!accepted.includes(gateway)) {
    const names = accepted.map((one) => one.chain).join(', ') || 'none';
    throw new Refusal('chain_not_accepted', {
      detail: `This unit does not accept ${gateway.chain}; accepted: ${names}`,
    });
  }
  const amount = formatUsd(unit.amount_usd_micros);
  return createInvoice(app, {
    id: request.resource_id,
    owner_id: merchant.id,
    kind: 'sale',
    seller: { merchant, for_buyer: true },
    gateway,
    amount,
    amount_unit: 'usd',
    wallet: await walletFor(app, merchant.id, gateway, 'buyer'),
    ttl_seconds: unit.wait_seconds,
    external_ref,
    callback_url: null,
    unit_id: unit.id,
    caller: callerOf(app, request.ip),
    buyer: buyer && purchaseOf(app, [buyer, unit.id, gateway.chain, amount, external_ref, customer_email]),
    request_id: request.id,
    label: unit.title,
    // Its words are those of the unit, which may still change.
    shop: unit.shop && { ...unit.shop, title: null, description: null },
    customer_email: customer_email ?? null,
  });
}

/** What one buyer buys, as a keyed hash: the same again is the same purchase. */
const purchaseOf = ({ secrets }: Pick<App, 'secrets'>, of: readonly unknown[]): string =>
  secrets.digest(JSON.stringify(of), 'invoices.buyer');
