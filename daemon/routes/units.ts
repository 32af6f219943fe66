// Units: a merchant's offers.
import { deleteUnit, unitsOf } from '../../data/units.ts';
import type { units as list } from '../../src/api/endpoints/units.ts';
import { Refusal } from '../../src/errors.ts';
import { MAX_UNITS, MAX_WAIT_SECONDS, MIN_WAIT_SECONDS } from '../../src/limits.ts';
import { merchantOf } from '../accounts/create.ts';
import type { Handlers } from '../http/handler.ts';
import { enabledGateways } from '../invoices/gateways.ts';
import { createUnit, updateUnit } from '../units/edit.ts';
import { payableGateways, presentOwnUnit } from '../units/present.ts';

export const units: Handlers<typeof list> = {
  async listUnits(_, { app, user }) {
    const merchant = await merchantOf(app, user);
    const [rows, payable] = await Promise.all([
      unitsOf(app.db.query, merchant.id),
      payableGateways(app, merchant),
    ]);
    const enabled = enabledGateways(app.gateways, merchant.enabled_currencies);
    return {
      units: rows.map((row) => presentOwnUnit(app, row, merchant, payable)),
      max_payment_units: MAX_UNITS,
      available_currencies: enabled.map((gateway) => gateway.chain),
      wait_seconds_min: MIN_WAIT_SECONDS,
      wait_seconds_max: MAX_WAIT_SECONDS,
    };
  },

  async createUnit({ body }, { app, user, request }) {
    const merchant = await merchantOf(app, user);
    const row = await createUnit(app, merchant, request.resource_id, body);
    return presentOwnUnit(app, row, merchant, await payableGateways(app, merchant));
  },

  async updateUnit({ params, body }, { app, user }) {
    const merchant = await merchantOf(app, user);
    const row = await updateUnit(app, merchant, params.unit_id, body);
    return presentOwnUnit(app, row, merchant, await payableGateways(app, merchant));
  },

  async deleteUnit({ params }, { app, user }) {
    const key = { id: params.unit_id, merchant_id: user.id };
    if (!(await deleteUnit(app.db.query, key))) throw new Refusal('unit_not_found');
    return { id: key.id, deleted: true as const, message: 'Unit deleted successfully' };
  },
};
