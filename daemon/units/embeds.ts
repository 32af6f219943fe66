// What a merchant is shown of its own pages: the state of its payment page, and snippets to paste.
import type { z } from 'zod';
import type { MerchantRow, UnitRow, WalletRow } from '../../data/schema/tables.ts';
import type { EmbedPreview, PaymentPagePreview } from '../../src/api/schemas/merchant.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { limitOf } from '../../src/ledger.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';
import { enabledGateways, selectGateways } from '../invoices/gateways.ts';
import { isHouse } from '../invoices/limit.ts';
import { blockchainsOf, embedHtml, presentOwnUnit } from './present.ts';

interface Known {
  units: readonly UnitRow[];
  wallets: readonly WalletRow[];
  /** As from `payableGateways`. */
  payable: readonly Gateway[];
}

/** PaymentPagePreview. */
export function paymentPagePreview(
  app: App,
  merchant: MerchantRow,
  { units, wallets, payable }: Known,
): z.input<typeof PaymentPagePreview> {
  const { network, demo } = app.config;
  const enabled = enabledGateways(app.gateways, merchant.enabled_currencies);
  const missing = blockchainsOf(enabled).filter((id) => !wallets.some((each) => each.blockchain === id));
  const limit = limitOf(merchant.prepaid_micros);
  const house = isHouse(merchant);
  const open = units.filter((unit) => unit.active === 1);
  const sold = open.filter((unit) => selectGateways(payable, unit.currencies).length > 0);
  const problems = [
    ...(enabled.length === 0
      ? ['No currency is enabled: set enabled_currencies with PATCH /api/v1/merchant/account.']
      : []),
    ...(units.length === 0 ? ['There is no unit to sell: create one with POST /api/v1/merchant/units.'] : []),
    ...(units.length > 0 && open.length === 0
      ? ['No unit is active: set active with PATCH /api/v1/merchant/units/{unit_id}.']
      : []),
    ...open
      .filter((unit) => !sold.includes(unit))
      .map(
        (unit) =>
          `“${unit.title}” cannot be paid: none of its currencies is enabled and has a wallet. Set one with PUT /api/v1/merchant/wallets.`,
      ),
    // Simulated payments credit what is missing, so a demo needs no refill.
    ...(demo || house ? [] : shortLimits(sold, limit)),
  ];
  return {
    slug: merchant.slug,
    network,
    demo_mode: demo,
    ready: sold.some((unit) => demo || house || unit.amount_usd_micros <= limit),
    problems,
    missing_wallets: missing,
    limit_of_payments: formatUsd(limit),
    units: units.map((unit) => presentOwnUnit(app, unit, merchant, payable)),
  };
}

const shortLimits = (units: readonly UnitRow[], limit: bigint): string[] =>
  units
    .filter((unit) => unit.amount_usd_micros > limit)
    .map(
      (unit) =>
        `The remaining limit of ${formatUsd(limit)} USD is below the price of “${unit.title}”: refill with POST /api/v1/merchant/refill.`,
    );

const EXPLANATION = `Paste a snippet where the checkout is to appear. The script loads without blocking the page, mounts the checkout into the element that \`data-target\` selects, and creates an invoice when a buyer chooses a currency.

- **Mobile** is narrow, for a column or a phone.
- **Desktop** is wide, with the QR code next to the fields.
- **Site** needs no script: link to the page.

With \`data-invoice\` in place of \`data-unit\` it shows an invoice that your server has created with \`POST /v1/invoices\`. Prices and wait times are those of the unit; nothing in the page can change them.`;

const attributes = [
  {
    name: 'data-unit',
    values: 'a unit id',
    description: 'Which offer is sold; invoices are created on demand',
  },
  {
    name: 'data-invoice',
    values: 'an invoice id',
    description: 'Shows this invoice; in place of data-unit',
  },
  { name: 'data-size', values: 'mobile | desktop', description: 'Which form of the checkout' },
  { name: 'data-target', values: 'a CSS selector', description: 'Where it is mounted' },
];

/** EmbedPreview: three snippets for each unit, or the patterns to fill in where there is none yet. */
export function embedPreview(base: string, units: readonly UnitRow[]): z.input<typeof EmbedPreview> {
  const snippetsOf = (unit_id: string | null) => {
    const id = unit_id ?? 'UNIT_ID';
    const page = (size: string) => `${base}/v1/units/${id}/page?size=${size}`;
    const preview = (size: string) => (unit_id === null ? null : page(size));
    return [
      { id: 'mobile', name: 'Mobile embed', html: embedHtml(base, id, 'mobile') },
      { id: 'desktop', name: 'Desktop embed', html: embedHtml(base, id, 'desktop') },
      { id: 'site', name: 'Site page', html: `<a href="${page('site')}">Pay with crypto</a>` },
    ].map((each) => ({
      ...each,
      id: each.id as 'mobile' | 'desktop' | 'site',
      unit_id,
      preview_url: preview(each.id),
    }));
  };
  const ids = units.length > 0 ? units.map((unit) => unit.id) : [null];
  return {
    explanation: EXPLANATION,
    script_url: `${base}/embed.js`,
    attributes,
    snippets: ids.flatMap(snippetsOf),
  };
}
