// Units as the wire shows them, and what keeps buyers from paying.
import type { z } from 'zod';
import { walletsOf } from '../../data/merchants.ts';
import type { MerchantRow, UnitRow } from '../../data/schema/tables.ts';
import type { UnitPublic } from '../../src/api/schemas/resources.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { formatUsd } from '../../src/money.ts';
import { pictureAddress } from '../../src/picture.ts';
import type { App } from '../context.ts';
import { enabledGateways, selectGateways } from '../invoices/gateways.ts';
import { presentReturns } from '../invoices/present.ts';

/** Blockchains that gateways need, each once. */
export const blockchainsOf = (gateways: readonly Gateway[]): string[] => [
  ...new Set(gateways.map((gateway) => gateway.blockchain)),
];

/** The gateways a merchant can be paid with now: enabled, and with a wallet. */
export async function payableGateways(app: App, merchant: MerchantRow): Promise<readonly Gateway[]> {
  const wallets = await walletsOf(app.db.query, merchant.id);
  const blockchains = new Set(wallets.map((wallet) => wallet.blockchain));
  return enabledGateways(app.gateways, merchant.enabled_currencies).filter((gateway) =>
    blockchains.has(gateway.blockchain),
  );
}

/** The markup that mounts a unit's checkout in a page. */
export const embedHtml = (base: string, unit_id: string, size: 'mobile' | 'desktop'): string =>
  `<div id="gateway-checkout"></div>
<script async src="${base}/embed.js" data-unit="${unit_id}" data-size="${size}" data-target="#gateway-checkout"></script>`;

/** UnitPublic as its merchant reads it: where buyers return to is part of it. */
export const presentOwnUnit = (...[app, unit, merchant, payable]: Parameters<typeof presentUnit>) => ({
  ...presentUnit(app, unit, merchant, payable),
  ...presentReturns(unit.shop),
});

/** UnitPublic. `payable` as from `payableGateways`. */
export function presentUnit(
  { config }: Pick<App, 'config'>,
  unit: UnitRow,
  merchant: MerchantRow,
  payable: readonly Gateway[],
): z.input<typeof UnitPublic> {
  const base = config.public_url;
  const page_url = `${base}/u/${merchant.slug}/${unit.slug}`;
  const embed_small_url = `${base}/v1/units/${unit.id}/page?size=mobile`;
  const embed_big_url = `${base}/v1/units/${unit.id}/page?size=desktop`;
  const currencies = unit.currencies;
  return {
    id: unit.id,
    slug: unit.slug,
    merchant_slug: merchant.slug,
    title: unit.title,
    description: unit.description,
    amount_usd: formatUsd(unit.amount_usd_micros),
    currencies,
    chains: selectGateways(payable, currencies).map((gateway) => gateway.chain),
    wait_seconds: unit.wait_seconds,
    language: unit.language,
    active: unit.active === 1,
    network: config.network,
    page_url,
    embed_small_url,
    embed_big_url,
    surfaces: [
      { id: 'mobile', name: 'Mobile embed', url: embed_small_url, html: embedHtml(base, unit.id, 'mobile') },
      { id: 'desktop', name: 'Desktop embed', url: embed_big_url, html: embedHtml(base, unit.id, 'desktop') },
      { id: 'site', name: 'Site page', url: page_url, html: null },
    ],
    created_at: unit.created_at,
    updated_at: unit.updated_at,
    listed: unit.listed === 1,
    ...(unit.shop?.picture ? { image_url: pictureAddress(base, unit.shop.picture) } : {}),
  };
}
