// Units: a merchant's offers.
import { newId } from '../../data/db/ids.ts';
import * as data from '../../data/units.ts';
import type { units as list } from '../../src/api/endpoints/units.ts';
import { Refusal } from '../../src/errors.ts';
import { clampWait, MAX_UNITS, MAX_WAIT_SECONDS, MIN_WAIT_SECONDS } from '../../src/limits.ts';
import { parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import { MAX_USD_MICROS } from '../../src/quote.ts';
import { slugify } from '../../src/slug.ts';
import { merchantOf } from '../accounts/create.ts';
import { seconds } from '../clock.ts';
import type { Handlers } from '../http/handler.ts';
import { checkEntries, enabledGateways } from '../invoices/gateways.ts';
import { payableGateways, presentUnit } from '../units/present.ts';

const FALLBACK_SLUG = 'offer';

export const units: Handlers<typeof list> = {
  async listUnits(_, { app, user }) {
    const merchant = await merchantOf(app, user);
    const [rows, payable] = await Promise.all([
      data.unitsOf(app.db.query, merchant.id),
      payableGateways(app, merchant),
    ]);
    const enabled = enabledGateways(app.gateways, merchant.enabled_currencies);
    return {
      units: rows.map((row) => presentUnit(app, row, merchant, payable)),
      max_payment_units: MAX_UNITS,
      available_currencies: enabled.map((gateway) => gateway.chain),
      wait_seconds_min: MIN_WAIT_SECONDS,
      wait_seconds_max: MAX_WAIT_SECONDS,
    };
  },

  async createUnit({ body }, { app, user, request }) {
    const merchant = await merchantOf(app, user);
    const currencies = checkEntries(app.gateways, body.currencies);
    const now = seconds(app.clock);
    const unit = {
      id: request.resource_id ?? newId(),
      merchant_id: merchant.id,
      title: body.title,
      description: body.description,
      amount_usd_micros: priceOf(body.amount_usd),
      currencies,
      wait_seconds: clampWait(body.wait_seconds),
      language: body.language,
      active: 1 as const,
      created_at: now,
      updated_at: now,
    };
    const slug = slugify(body.title, FALLBACK_SLUG);
    const row = await app.db.transaction((tx) => data.insertUnit(app.db, tx, unit, slug, MAX_UNITS));
    if (!row)
      throw new Refusal('unit_limit', {
        detail: `At most ${MAX_UNITS} units are allowed; delete or change one`,
      });
    return presentUnit(app, row, merchant, await payableGateways(app, merchant));
  },

  async updateUnit({ params, body }, { app, user }) {
    const values: data.UnitChange = { updated_at: seconds(app.clock) };
    if (body.title != null) values.title = body.title;
    if (body.description !== undefined) values.description = body.description;
    if (body.amount_usd != null) values.amount_usd_micros = priceOf(body.amount_usd);
    if (body.currencies != null) values.currencies = checkEntries(app.gateways, body.currencies);
    if (body.wait_seconds != null) values.wait_seconds = clampWait(body.wait_seconds);
    if (body.language !== undefined) values.language = body.language;
    if (body.active != null) values.active = body.active ? 1 : 0;
    const merchant = await merchantOf(app, user);
    const key = { id: params.unit_id, merchant_id: merchant.id };
    const row = await data.updateUnit(app.db.query, key, values);
    if (!row) throw new Refusal('unit_not_found');
    return presentUnit(app, row, merchant, await payableGateways(app, merchant));
  },

  async deleteUnit({ params }, { app, user }) {
    const key = { id: params.unit_id, merchant_id: user.id };
    if (!(await data.deleteUnit(app.db.query, key))) throw new Refusal('unit_not_found');
    return { id: key.id, deleted: true as const, message: 'Unit deleted successfully' };
  },
};

/** USD micros; digits beyond them round up. Refuses `amount_too_large` what no invoice can ask for. */
function priceOf(amount_usd: string): bigint {
  const price = parseDecimal(amount_usd, USD_DECIMALS) ?? 0n;
  if (price > MAX_USD_MICROS) throw new Refusal('amount_too_large');
  return price;
}
