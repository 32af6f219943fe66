// The pages, fragments and images that buyers see.
import { endpoint, media } from './endpoint.ts';
import { choice, int, text } from './fields.ts';
import { invoiceId } from './invoices.ts';
import { unitId } from './units.ts';

export const sizes = ['sm', 'md', 'lg', 'mobile', 'desktop', 'site', 'phone', 'page', 'url'] as const;
/** Longest merchant or unit slug. */
const MAX_SLUG = 64;

const size = (preset: (typeof sizes)[number]) =>
  choice(sizes, 'enum').default(preset).describe('Layout of the page');
const width = () => int({ gte: 180, lte: 1200 }).optional().describe('Width in pixels');
const invoiceExample = { params: { invoice_id: '{invoice_id}' } };
const unitExample = { params: { unit_id: '{unit_id}' } };

export const payPage = endpoint({
  id: 'payPage',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/page',
  auth: 'none',
  tag: 'checkout',
  summary: 'Show the checkout page of an invoice',
  description:
    'The full page: QR code, copyable amount, address and memo, time left, status. Works without scripts.',
  params: invoiceId,
  query: { size: size('desktop'), width: width() },
  response: media('text/html'),
  errors: ['invoice_not_found'],
  example: { ...invoiceExample, query: { size: 'mobile' } },
});

export const payDiv = endpoint({
  id: 'payDiv',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/div',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the checkout of an invoice as a fragment',
  description: 'Markup to put into another page, from any origin; it holds no script.',
  params: invoiceId,
  query: { size: size('desktop'), width: width() },
  response: media('text/html'),
  errors: ['invoice_not_found'],
  cors: true,
  example: { ...invoiceExample, query: { width: '360' } },
});

export const payQrSvg = endpoint({
  id: 'payQrSvg',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/qr.svg',
  auth: 'none',
  tag: 'checkout',
  summary: 'Draw the QR code of an invoice as SVG',
  description: 'Encodes `qr_payload`.',
  params: invoiceId,
  response: media('image/svg+xml'),
  errors: ['invoice_not_found'],
  cors: true,
  example: invoiceExample,
});

export const payQrPng = endpoint({
  id: 'payQrPng',
  method: 'GET',
  path: '/v1/pay/{invoice_id}/qr.png',
  auth: 'none',
  tag: 'checkout',
  summary: 'Draw the QR code of an invoice as PNG',
  description: 'Encodes the same `qr_payload` as the SVG, 392 × 392 pixels.',
  params: invoiceId,
  response: media('image/png'),
  errors: ['invoice_not_found'],
  cors: true,
  example: invoiceExample,
});

export const payShort = endpoint({
  id: 'payShort',
  method: 'GET',
  path: '/pay/{invoice_id}',
  auth: 'none',
  tag: 'checkout',
  summary: 'Show checkout at its short address',
  description: 'The `pay_url` of an invoice: rendered on the server, for the device that asks.',
  params: invoiceId,
  response: media('text/html'),
  errors: ['invoice_not_found'],
  example: invoiceExample,
});

export const unitPage = endpoint({
  id: 'unitPage',
  method: 'GET',
  path: '/v1/units/{unit_id}/page',
  auth: 'none',
  tag: 'checkout',
  summary: 'Show the page of a unit',
  description: 'Title, price and a choice of currencies; choosing one makes the invoice.',
  params: unitId,
  query: { size: size('site') },
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
  description: 'Markup to put into another page, from any origin; it holds no script.',
  params: unitId,
  query: { size: size('mobile') },
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
  summary: 'Show the page of a unit at its pretty address',
  description: 'The `page_url` of a unit, made of the slugs of merchant and unit.',
  params: { merchant_slug: text({ min: 1, max: MAX_SLUG }), unit_slug: text({ min: 1, max: MAX_SLUG }) },
  response: media('text/html'),
  errors: ['unit_not_found'],
  example: { params: { merchant_slug: '{merchant_slug}', unit_slug: '{unit_slug}' } },
});

export const embedScript = endpoint({
  id: 'embedScript',
  method: 'GET',
  path: '/embed.js',
  auth: 'none',
  tag: 'checkout',
  summary: 'Get the script that mounts checkout in a page',
  description:
    'Load it with `async` and `data-unit` or `data-invoice`, `data-size` (`mobile` or `desktop`) and `data-target` (CSS selector of the element to mount into). With `data-unit` invoices are made on demand.',
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
  description: 'A PNG image of 32 × 32 pixels.',
  response: media('image/png'),
  cors: true,
  example: {},
});

export const checkout = [
  payShort,
  payPage,
  payDiv,
  payQrSvg,
  payQrPng,
  unitShort,
  unitPage,
  unitDiv,
  embedScript,
  logoImage,
  faviconImage,
] as const;
