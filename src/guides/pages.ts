// Pages that people see, and ways to embed checkout.
import type { Article } from './article.ts';

export const pages: readonly Article[] = [
  {
    id: 'page.docs',
    kind: 'page',
    title: 'Swagger UI',
    summary: 'Read the API and try calls in the browser',
    keywords: 'swagger docs',
    auth: 'none',
    path: '/docs',
    docs: 'The OpenAPI document as an interactive page on which calls can be tried. “Authorize” signs in by password or takes a merchant key.',
  },
  {
    id: 'page.redoc',
    kind: 'page',
    title: 'ReDoc',
    summary: 'The API reference to read',
    keywords: 'api reference to read',
    auth: 'none',
    path: '/redoc',
    docs: 'The OpenAPI document as one long page to read, with search.',
  },
  {
    id: 'page.checkout',
    kind: 'page',
    title: 'Checkout page of an invoice',
    summary: 'Where a buyer pays: QR code, amount, address, memo, time left, status',
    keywords: 'checkout page',
    auth: 'none',
    path: '/pay/{invoice_id}',
    docs: 'The `pay_url` of an invoice. `/v1/pay/{invoice_id}/page?size=…` is the same page in a chosen layout: `sm`, `md`, `lg`, `mobile`, `desktop`, `site`. It follows the payment automatically and works without scripts.',
  },
  {
    id: 'page.unit',
    kind: 'page',
    title: 'Page of a unit',
    summary: 'The public sales page to share: title, price, choice of currency',
    keywords: 'product page',
    auth: 'none',
    path: '/u/{merchant_slug}/{unit_slug}',
    docs: 'The `page_url` of a unit. Choosing a currency makes an invoice and leads to its checkout.',
  },
];

export const embeds: readonly Article[] = [
  {
    id: 'embed.unit-script',
    kind: 'embed',
    title: 'Script tag for a unit',
    summary: 'A buy widget: mounts the checkout of a unit and creates invoices on demand',
    keywords: 'buy button script tag',
    auth: 'none',
    path: '/embed.js',
    docs: `\`\`\`html
<div id="checkout"></div>
<script async src="{base_url}/embed.js" data-unit="{unit_id}" data-size="desktop" data-target="#checkout"></script>
\`\`\`

\`data-size\` is \`mobile\` or \`desktop\`; \`data-target\` a CSS selector.

Extensions: \`data-theme\` (\`auto\`, \`light\`, \`dark\`), \`data-accent\` (a colour, \`1552c8\`) and \`data-radius\` (pixels) change its looks.
\`data-closable\` adds a button that closes it, \`data-closed\` begins closed. Your page opens and closes it, and hears of it, by messages
to its own window:

\`\`\`html
<script>
  addEventListener('message', ({ source, data }) => {
    if (source === window && data.type === 'gatewayd:status' && data.status === 'confirmed') location.href = '/thanks';
  });
  postMessage({ type: 'gatewayd:open', for: '{unit_id}' }, location.origin);
</script>
\`\`\`

Kinds: \`gatewayd:ready\`, \`gatewayd:opened\`, \`gatewayd:closed\`, and \`gatewayd:status\` with what \`payEvents\` sends. A page in an
\`<iframe>\` posts \`gatewayd:ready\`, \`gatewayd:status\` and \`gatewayd:size\` (its height) to the origin that shows it: check that \`origin\` is
ours. Deliver goods on the webhook or the API, never on a message.`,
  },
  {
    id: 'embed.invoice-script',
    kind: 'embed',
    title: 'Script tag for an invoice',
    summary: 'Mounts the checkout of one invoice that your server created',
    auth: 'none',
    path: '/embed.js',
    docs: `\`\`\`html
<div id="checkout"></div>
<script async src="{base_url}/embed.js" data-invoice="{invoice_id}" data-size="mobile" data-target="#checkout"></script>
\`\`\``,
  },
  {
    id: 'embed.unit-fragment',
    kind: 'embed',
    title: 'Markup of a unit without a script',
    summary: 'A fragment to put into another page, readable from any origin',
    auth: 'none',
    path: '/v1/units/{unit_id}/div',
    docs: 'Fetch it from your own script or server and insert it. It holds no script, and the header `Access-Control-Allow-Origin: *` lets any page read it.',
  },
  {
    id: 'embed.invoice-fragment',
    kind: 'embed',
    title: 'Markup of an invoice without a script',
    summary: 'Checkout of one invoice as a fragment, readable from any origin',
    auth: 'none',
    path: '/v1/pay/{invoice_id}/div',
    docs: 'The `div_url` of an invoice. `size` and `width` (180 to 1200) set its layout.',
  },
];
