// Making and changing a unit.
import { newId } from '../../data/db/ids.ts';
import type { MerchantRow, UnitRow } from '../../data/schema/tables.ts';
import * as data from '../../data/units.ts';
import { Refusal } from '../../src/errors.ts';
import { clampWait, MAX_UNITS } from '../../src/limits.ts';
import { parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import { MAX_USD_MICROS } from '../../src/quote.ts';
import { NO_UNIT_SHOP, type UnitShop } from '../../src/shop.ts';
import { slugify } from '../../src/slug.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { checkEntries } from '../invoices/gateways.ts';
import { checkReturn } from '../shop/links.ts';
import { storePicture } from '../shop/pictures.ts';

const FALLBACK_SLUG = 'offer';

interface NewUnit {
  title: string;
  description: string | null;
  /** A plain decimal. */
  amount_usd: string;
  currencies: string[];
  wait_seconds: number | null;
  language: string | null;
  image_url?: string | null | undefined;
  success_url?: string | null | undefined;
  cancel_url?: string | null | undefined;
  return_automatically?: boolean | null | undefined;
  listed?: boolean | null | undefined;
}

/**
 * Under `id` where a repeated request names one. Refuses with `unknown_chain`, `amount_too_large`, `url_not_allowed`,
 * `picture_not_allowed` or `unit_limit`.
 */
export async function createUnit(
  app: App,
  merchant: MerchantRow,
  id: string | null,
  body: NewUnit,
): Promise<UnitRow> {
  const currencies = checkEntries(app.gateways, body.currencies);
  const now = seconds(app.clock);
  const unit = {
    id: id ?? newId(),
    merchant_id: merchant.id,
    title: body.title,
    description: body.description,
    amount_usd_micros: priceOf(body.amount_usd),
    currencies,
    wait_seconds: clampWait(body.wait_seconds),
    language: body.language,
    active: 1 as const,
    shop: await shopAfter(app, merchant, NO_UNIT_SHOP, body),
    listed: body.listed ? (1 as const) : (0 as const),
    created_at: now,
    updated_at: now,
  };
  const slug = slugify(body.title, FALLBACK_SLUG);
  const row = await app.db.transaction((tx) => data.insertUnit(app.db, tx, unit, slug, MAX_UNITS));
  if (row) return row;
  throw new Refusal('unit_limit', { detail: `At most ${MAX_UNITS} units are allowed; delete or change one` });
}

/** What is left out stays; null stays too, but for texts and addresses that may be missing, which it removes. */
interface UnitUpdate {
  title?: string | null | undefined;
  description?: string | null | undefined;
  amount_usd?: string | null | undefined;
  currencies?: string[] | null | undefined;
  wait_seconds?: number | null | undefined;
  language?: string | null | undefined;
  active?: boolean | null | undefined;
  image_url?: string | null | undefined;
  success_url?: string | null | undefined;
  cancel_url?: string | null | undefined;
  return_automatically?: boolean | null | undefined;
  listed?: boolean | null | undefined;
}

/** What of an update is in the column `shop`. */
const isOfShop = (body: UnitUpdate): boolean =>
  [body.image_url, body.success_url, body.cancel_url, body.return_automatically].some(
    (value) => value !== undefined,
  );

/** Null where nothing is set. Refuses with `url_not_allowed` or `picture_not_allowed`. */
async function shopAfter(
  app: App,
  merchant: MerchantRow,
  before: UnitShop,
  { image_url, success_url, cancel_url, return_automatically }: UnitUpdate,
): Promise<UnitShop | null> {
  const hosts = merchant.profile?.return_hosts ?? [];
  // What stays was checked when it was written, and is checked once more on the page.
  const change = (url: string | null | undefined, stays: string | null) =>
    url === undefined ? stays : url && checkReturn(app, hosts, url);
  const shop: UnitShop = {
    success_url: change(success_url, before.success_url),
    cancel_url: change(cancel_url, before.cancel_url),
    return_automatically: return_automatically ?? before.return_automatically,
    picture:
      image_url === undefined
        ? before.picture
        : image_url && (await storePicture(app, merchant.id, image_url)),
  };
  return Object.values(shop).some(Boolean) ? shop : null;
}

/** Refuses with `unknown_chain`, `amount_too_large`, `url_not_allowed`, `picture_not_allowed` or `unit_not_found`. */
export async function updateUnit(
  app: App,
  merchant: MerchantRow,
  id: string,
  body: UnitUpdate,
): Promise<UnitRow> {
  const values: data.UnitChange = { updated_at: seconds(app.clock) };
  if (body.title != null) values.title = body.title;
  if (body.description !== undefined) values.description = body.description;
  if (body.amount_usd != null) values.amount_usd_micros = priceOf(body.amount_usd);
  if (body.currencies != null) values.currencies = checkEntries(app.gateways, body.currencies);
  if (body.wait_seconds != null) values.wait_seconds = clampWait(body.wait_seconds);
  if (body.language !== undefined) values.language = body.language;
  if (body.active != null) values.active = body.active ? 1 : 0;
  if (body.listed != null) values.listed = body.listed ? 1 : 0;
  if (isOfShop(body)) {
    const unit = await data.getUnit(app.db.query, id);
    if (unit?.merchant_id !== merchant.id) throw new Refusal('unit_not_found');
    values.shop = await shopAfter(app, merchant, unit.shop ?? NO_UNIT_SHOP, body);
  }
  const row = await data.updateUnit(app.db.query, { id, merchant_id: merchant.id }, values);
  if (!row) throw new Refusal('unit_not_found');
  return row;
}

/** USD micros. Refuses `amount_too_large` what no invoice can ask for. */
function priceOf(amount_usd: string): bigint {
  const price = parseDecimal(amount_usd, USD_DECIMALS) ?? 0n;
  if (price > MAX_USD_MICROS) throw new Refusal('amount_too_large');
  return price;
}
