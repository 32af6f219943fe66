// The pages, fragments and images that buyers see.
import { endpoint, media } from '../describe/endpoint.ts';
import { choice, int, text } from '../describe/fields.ts';
import { shape } from '../describe/shape.ts';
import { WalletManifest } from '../schemas/compose.ts';
import { MAX_CLAIM } from './buyer.ts';
import { chainField, creationRefusals, invoiceId, saleRefusals } from './invoices.ts';
import { unitId } from './units.ts';

export const sizes = ['sm', 'md', 'lg', 'mobile', 'desktop', 'site', 'phone', 'page', 'url'] as const;
/** Longest merchant or unit slug. */
const MAX_SLUG = 64;
/** Longest language tag that is read. */
const MAX_LANGUAGE_TAG = 35;
/** Longest file name of a logo: a ticker and `.svg`. */
const MAX_LOGO = 32;

const size = (preset: (typeof sizes)[number]) =>
  choice(sizes, 'enum').default(preset).describe('Layout of the page');
const width = () => int({ gte: 180, lte: 1200 }).optional().describe('Width in pixels');
const lang = () =>
  text({ max: MAX_LANGUAGE_TAG })
    .optional()
    .describe("Language of the page, e.g. `de`; without it the unit's, then what `Accept-Language` prefers");
const themes = ['auto', 'light', 'dark'] as const;
/** Corners of more than this are half circles already. */
const MAX_RADIUS = 24;
/** How an embed looks: extensions. */
const look = () => ({
  theme: choice(themes, 'enum')
    .default('auto')
    .describe('Extension: light or dark; `auto` follows the screen of the buyer'),
  accent: text({ pattern: /^[0-9a-fA-F]{6}$/ })
    .optional()
    .describe('Extension: colour of the main button, six hexadecimal digits; its text is black or white'),
  radius: int({ gte: 0, lte: MAX_RADIUS }).optional().describe('Extension: how round corners are, in pixels'),
});
/** What a form in a frame sends along, so that its answer may stand in the frame. */
const frame = () => ({
  size: choice(sizes, 'enum').optional().describe('Layout of the page that follows, in a frame'),
  lang: lang(),
  ...look(),
  theme: choice(themes, 'enum').optional().describe('Light or dark, in a frame'),
});
const slugs = {
  merchant_slug: text({ min: 1, max: MAX_SLUG }),
  unit_slug: text({ min: 1, max: MAX_SLUG }),
};
const invoiceExample = { params: { invoice_id: '{invoice_id}' } };
const unitExample = { params: { unit_id: '{unit_id}' } };

export const payPage = endpoint({
  id: 'payPage',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/page',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the checkout page of an invoice',
  gw: 'page checkout',
  effect: 'read',
  keywords: 'checkout page of an invoice',
  description:
    'The full page: QR code, copyable amount, address and memo, time left, status. Works without scripts.',
  params: invoiceId,
  query: { size: size('desktop'), width: width(), lang: lang(), ...look() },
  response: media('text/html'),
  errors: ['invoice_not_found', 'invoice_withheld'],
  example: { ...invoiceExample, query: { size: 'mobile' } },
});

export const payDiv = endpoint({
  id: 'payDiv',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/div',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the checkout of an invoice as a fragment',
  gw: 'page div',
  effect: 'read',
  keywords: 'html fragment of checkout',
  description: 'Markup to put into another page, from any origin; it holds no script.',
  params: invoiceId,
  query: { size: size('desktop'), width: width(), lang: lang(), ...look() },
  response: media('text/html'),
  errors: ['invoice_not_found', 'invoice_withheld'],
  cors: true,
  example: { ...invoiceExample, query: { width: '360' } },
});

export const payQrSvg = endpoint({
  id: 'payQrSvg',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/qr.svg',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the QR code of an invoice as SVG',
  gw: 'page qr-svg',
  effect: 'read',
  keywords: 'qr code of an invoice, svg',
  description: 'Encodes `qr_payload`.',
  params: invoiceId,
  response: media('image/svg+xml'),
  errors: ['invoice_not_found', 'invoice_withheld'],
  cors: true,
  example: invoiceExample,
});

export const payQrPng = endpoint({
  id: 'payQrPng',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/qr.png',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the QR code of an invoice as PNG',
  gw: 'page qr-png',
  effect: 'read',
  keywords: 'qr code png image',
  description: 'Encodes the same `qr_payload` as the SVG, 392 × 392 pixels.',
  params: invoiceId,
  response: media('image/png'),
  errors: ['invoice_not_found', 'invoice_withheld'],
  cors: true,
  example: invoiceExample,
});

export const payShort = endpoint({
  id: 'payShort',
  method: 'GET',
  path: '/pay/{invoice_id}',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the checkout page at its short address',
  gw: 'page pay',
  effect: 'read',
  keywords: 'hosted checkout page of an invoice, payment page',
  description: 'The `pay_url` of an invoice: rendered on the server, for the device that asks.',
  params: invoiceId,
  query: { lang: lang() },
  response: media('text/html'),
  errors: ['invoice_not_found', 'invoice_withheld'],
  example: invoiceExample,
});

export const cancelOnPage = endpoint({
  id: 'cancelOnPage',
  method: 'POST',
  path: '/pay/{invoice_id}',
  auth: 'none',
  tag: 'checkout',
  summary: 'Cancel an invoice from its page',
  gw: 'page cancel',
  effect: 'destroy',
  repeatable: true,
  keywords: 'form without scripts',
  secondary: true,
  description:
    'What the cancel button of the page sends where scripts are off: cancels as `cancelInvoice` does and returns to the page, which shows the result.',
  params: invoiceId,
  query: frame(),
  response: media('text/html'),
  status: 303,
  errors: ['invoice_not_found'],
  extension: true,
  hidden: true,
  example: invoiceExample,
});

export const coinsOnPage = endpoint({
  id: 'coinsOnPage',
  method: 'GET',
  path: '/pay/{invoice_id}/coins',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the page with the other coins of an invoice',
  gw: 'page coins',
  effect: 'read',
  keywords: 'pay another way, choose another currency',
  secondary: true,
  description:
    'What “Pay another way” leads to: each other coin that the invoice can be paid in, with its amount, fee and time. Where there is none now, it is the page of the invoice.',
  params: invoiceId,
  query: frame(),
  response: media('text/html'),
  errors: ['invoice_not_found', 'invoice_withheld'],
  extension: true,
  hidden: true,
  example: { params: { invoice_id: '{switchable_invoice_id}' } },
});

export const switchOnPage = endpoint({
  id: 'switchOnPage',
  method: 'POST',
  path: '/pay/{invoice_id}/coins',
  auth: 'none',
  tag: 'checkout',
  summary: 'Choose another coin on the page of an invoice',
  gw: 'page switch {invoice_id} {chain}',
  effect: 'write',
  repeatable: true,
  keywords: 'form without scripts',
  secondary: true,
  description:
    'What the coins of that page send: changes the coin as `switchInvoice` does and leads to the page of the invoice; if that is refused, the page says why.',
  params: invoiceId,
  query: frame(),
  body: shape('SwitchForm', { chain: chainField() }),
  encoding: 'form',
  response: media('text/html'),
  status: 303,
  errors: ['invoice_not_found', 'invoice_withheld', 'chain_not_accepted', ...creationRefusals],
  extension: true,
  hidden: true,
  limit: 'checkout',
  example: { params: { invoice_id: '{switchable_invoice_id}' }, body: { chain: 'ton' } },
});

export const claimOnPage = endpoint({
  id: 'claimOnPage',
  method: 'POST',
  path: '/pay/{invoice_id}/claim',
  auth: 'none',
  tag: 'checkout',
  summary: 'Claim a payment from its page',
  gw: 'page claim',
  effect: 'write',
  repeatable: true,
  keywords: 'form without scripts',
  secondary: true,
  description:
    'What the form “I have paid” of the page sends: does what `claimPayment` does and returns the page, which shows what was found.',
  params: invoiceId,
  query: { lang: lang() },
  body: shape('ClaimForm', {
    txid: text({ max: MAX_CLAIM, named: true })
      .default('')
      .describe('The transaction, or a link to an explorer; may be empty'),
  }),
  encoding: 'form',
  response: media('text/html'),
  errors: ['invoice_not_found', 'invoice_withheld'],
  extension: true,
  hidden: true,
  cors: true,
  limit: 'claim',
  example: { ...invoiceExample, body: { txid: '{txid}' } },
});

export const payEvents = endpoint({
  id: 'payEvents',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/events',
  auth: 'none',
  tag: 'checkout',
  summary: 'Follow the status of an invoice',
  gw: 'page events',
  effect: 'read',
  keywords: 'live status of the checkout page',
  secondary: true,
  description:
    'Server-sent events. `status` comes at once and at every change: `{invoice_id, status, payment_status, amount_match, received_amount, confirmations, min_confirmations, txid, expires_at, version, now}`. `time` comes at least every 15 seconds: `{now}`, the time of the server in Unix seconds. After a break, connect again: the current status is always sent first.',
  params: invoiceId,
  response: media('text/event-stream'),
  errors: ['invoice_not_found', 'invoice_withheld', 'too_many_streams'],
  extension: true,
  cors: true,
  example: invoiceExample,
});

export const unitPage = endpoint({
  id: 'unitPage',
  method: 'GET',
  path: '/v1/units/{unit_id}/page',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the page of a unit',
  gw: 'page unit-page',
  effect: 'read',
  description: 'Title, price and a choice of currencies; choosing one creates the invoice.',
  params: unitId,
  query: { size: size('site'), lang: lang(), ...look() },
  response: media('text/html'),
  errors: ['unit_not_found'],
  example: unitExample,
});

export const unitDiv = endpoint({
  id: 'unitDiv',
  method: 'GET',
  path: '/v1/units/{unit_id}/div',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the chooser of a unit as a fragment',
  gw: 'page unit-div',
  effect: 'read',
  description: 'Markup to put into another page, from any origin; it holds no script.',
  params: unitId,
  query: { size: size('mobile'), lang: lang(), ...look() },
  response: media('text/html'),
  errors: ['unit_not_found'],
  cors: true,
  example: unitExample,
});

export const unitShort = endpoint({
  id: 'unitShort',
  method: 'GET',
  path: '/u/{merchant_slug}/{unit_slug}',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the page of a unit at its readable address',
  gw: 'page unit',
  effect: 'read',
  keywords: 'product page to share',
  description: 'The `page_url` of a unit, made of the slugs of merchant and unit.',
  params: slugs,
  query: { lang: lang() },
  response: media('text/html'),
  errors: ['unit_not_found'],
  example: { params: { merchant_slug: '{merchant_slug}', unit_slug: '{unit_slug}' } },
});

export const buyOnPage = endpoint({
  id: 'buyOnPage',
  method: 'POST',
  path: '/u/{merchant_slug}/{unit_slug}',
  auth: 'none',
  tag: 'checkout',
  summary: 'Buy a unit from its page',
  gw: 'page buy {merchant_slug} {unit_slug} {chain}',
  effect: 'write',
  keywords: 'form without scripts',
  secondary: true,
  description:
    'What the currency buttons of the page send: creates the invoice as `checkoutUnit` does and leads to its page; if that is refused, the page says why.',
  params: slugs,
  query: frame(),
  body: shape('BuyForm', { chain: chainField() }),
  encoding: 'form',
  response: media('text/html'),
  status: 303,
  errors: ['unit_not_found', 'unit_inactive', 'chain_not_accepted', ...saleRefusals],
  extension: true,
  hidden: true,
  limit: 'checkout',
  example: {
    params: { merchant_slug: '{merchant_slug}', unit_slug: '{unit_slug}' },
    body: { chain: 'ton' },
  },
});

export const embedScript = endpoint({
  id: 'embedScript',
  method: 'GET',
  path: '/embed.js',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the script that mounts checkout in a page',
  gw: 'page embed-script',
  effect: 'read',
  keywords: 'javascript tag of checkout',
  description:
    'Load it with `async` and `data-unit` or `data-invoice`, `data-size` (`mobile` or `desktop`) and `data-target` (CSS selector of the element to mount into). With `data-unit`, invoices are created on demand. Extensions: `data-theme`, `data-accent` and `data-radius` as the pages have them, `data-closable` for a button that closes it, `data-closed` to begin closed. It posts `gatewayd:ready`, `gatewayd:opened`, `gatewayd:closed` and `gatewayd:status` to its own page, and takes `gatewayd:open` and `gatewayd:close`.',
  response: media('text/javascript'),
  cors: true,
  example: {},
});

export const logoImage = endpoint({
  id: 'logoImage',
  method: 'GET',
  path: '/logo.png',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the logo',
  gw: 'page logo',
  effect: 'read',
  keywords: 'logo',
  secondary: true,
  description: 'A PNG image.',
  response: media('image/png'),
  cors: true,
  example: {},
});

export const faviconImage = endpoint({
  id: 'faviconImage',
  method: 'GET',
  path: '/favicon-32.png',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the favicon',
  gw: 'page favicon',
  effect: 'read',
  secondary: true,
  description: 'A PNG image of 32 × 32 pixels.',
  response: media('image/png'),
  cors: true,
  example: {},
});

export const getWalletManifest = endpoint({
  id: 'getWalletManifest',
  method: 'GET',
  path: '/wallet-manifest.json',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get what wallets show of this service',
  gw: 'page wallet-manifest',
  effect: 'read',
  keywords: 'TON Connect manifest',
  secondary: true,
  description:
    'Name, address and icon of the operator, for wallets in the browser that a pay page asks for a payment. The same for all invoices.',
  response: WalletManifest,
  extension: true,
  cors: true,
  example: {},
});

export const currencyLogo = endpoint({
  id: 'currencyLogo',
  method: 'GET',
  path: '/logos/{file}',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the logo of a currency',
  gw: 'page currency-logo',
  flags: { file: 'file-name' },
  effect: 'read',
  keywords: 'coin logo',
  secondary: true,
  description: 'The ticker in lower case with `.svg`: the `logo_url` of a gateway.',
  params: { file: text({ max: MAX_LOGO, pattern: /^[a-z0-9]+\.svg$/ }) },
  response: media('image/svg+xml'),
  errors: ['not_found'],
  extension: true,
  cors: true,
  example: { params: { file: 'ton.svg' } },
});

export const payReceipt = endpoint({
  id: 'payReceipt',
  method: 'GET',
  path: '/pay/{invoice_id}/receipt',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the receipt of a paid invoice',
  gw: 'page receipt',
  effect: 'read',
  keywords: 'proof of payment, print, pdf, invoice for accounting',
  description:
    'A page to save or print: what was paid and when, in USD and in the currency of the chain, rate, surcharge, transaction, and the `legal_line` of the merchant. Only a paid invoice has one.',
  params: invoiceId,
  query: { lang: lang() },
  response: media('text/html'),
  errors: ['invoice_not_found', 'invoice_withheld'],
  extension: true,
  example: { params: { invoice_id: '{paid_invoice_id}' } },
});

export const checkout = [
  payShort,
  cancelOnPage,
  payReceipt,
  coinsOnPage,
  switchOnPage,
  claimOnPage,
  payPage,
  payDiv,
  payQrSvg,
  payQrPng,
  payEvents,
  unitShort,
  buyOnPage,
  unitPage,
  unitDiv,
  embedScript,
  getWalletManifest,
  currencyLogo,
  logoImage,
  faviconImage,
] as const;
