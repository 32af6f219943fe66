// A unit as its buyer sees it, and buying it.
import { getMerchant } from '../../data/merchants.ts';
import type { MerchantRow, UnitRow } from '../../data/schema/tables.ts';
import * as data from '../../data/units.ts';
import { getUser } from '../../data/users.ts';
import type { checkoutUnit, getUnit } from '../../src/api/endpoints/buyer.ts';
import { Refusal } from '../../src/errors.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';
import type { Handlers } from '../http/handler.ts';
import { callerOf } from '../http/limits.ts';
import { createInvoice } from '../invoices/create.ts';
import { enabledGateways, findGateway, selectGateways } from '../invoices/gateways.ts';
import { presentInvoice } from '../invoices/present.ts';
import { payableGateways, presentUnit } from '../units/present.ts';
import { walletFor } from './invoices.ts';

export const unitCheckout: Handlers<readonly [typeof getUnit, typeof checkoutUnit]> = {
  async getUnit({ params }, { app }) {
    const { unit, merchant } = await findUnit(app, params.unit_id);
    return presentUnit(app, unit, merchant, await payableGateways(app, merchant));
  },

  async checkoutUnit({ params, body }, { app, request }) {
    const { unit, merchant } = await findUnit(app, params.unit_id);
    const user = await getUser(app.db.query, merchant.id);
    if (!user?.is_active) throw new Refusal('account_inactive');
    if (!unit.active) throw new Refusal('unit_inactive');
    const gateway = findGateway(app.gateways, body.chain);
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
    const row = await createInvoice(app, {
      id: request.resource_id,
      owner_id: merchant.id,
      kind: 'sale',
      gateway,
      amount: formatUsd(unit.amount_usd_micros),
      amount_unit: 'usd',
      wallet: await walletFor(app, merchant.id, gateway, 'buyer'),
      ttl_seconds: unit.wait_seconds,
      external_ref: body.external_ref,
      callback_url: null,
      unit_id: unit.id,
      caller: callerOf(app, request.ip),
      label: unit.title,
    });
    return presentInvoice(row, app.config.public_url);
  },
};

async function findUnit(app: App, id: string): Promise<{ unit: UnitRow; merchant: MerchantRow }> {
  const unit = await data.getUnit(app.db.query, id);
  const merchant = unit && (await getMerchant(app.db.query, unit.merchant_id));
  if (!unit || !merchant) throw new Refusal('unit_not_found');
  return { unit, merchant };
}
