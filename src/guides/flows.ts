// Flows: what people come to do, as calls in order.
import type { Article } from './article.ts';

export const flows: readonly Article[] = [
  {
    id: 'flow.sell-with-invoice',
    kind: 'flow',
    title: 'Sell with an invoice',
    summary: 'Create an invoice for an order, send the buyer to it, and learn when it is paid',
    keywords: 'accept crypto payments for an order, shop integration',
    auth: 'key',
    steps: [
      'signup',
      'loginAccessToken',
      'getMerchantAccount',
      'setMerchantWallet',
      'createInvoice',
      'simulateInvoice',
      'getInvoice',
    ],
    call: 'createInvoice',
    docs: `For shops, bots and agents that know the price of each order.

1. \`signup\`, then \`loginAccessToken\`: its \`access_token\` is the bearer token. If you already have an account, start by signing in. Where \`signup\` of \`getPublicConfig\` is \`invite\` or \`closed\`, the operator gives you an invite or an account.
2. \`getMerchantAccount\`: its \`api_key\` is the merchant key for \`X-API-Key\`.
3. \`setMerchantWallet\`: your own receive address, once for each blockchain. You are never asked for a private key or seed.
4. \`createInvoice\` with \`chain\` and \`amount\`. Send the buyer to \`pay_url\`, or show \`amount\`, \`address\` and \`memo\` exactly as they are.
5. Wait for the webhook \`invoice.confirmed\`, or read \`getInvoice\` until \`status\` is \`confirmed\`, \`expired\`, \`cancelled\` or \`failed\`. \`checkInvoice\` asks the chain at once.

On testnet in demo mode \`simulateInvoice\` stands in for the buyer: it settles the invoice without a payment. Leave it out everywhere else.`,
  },
  {
    id: 'flow.sell-with-link',
    kind: 'flow',
    title: 'Sell with a link',
    summary: 'Create a unit once and share its page: buyers choose a currency and pay',
    keywords: 'share a link, payment link for a fixed price product, sell without code',
    auth: 'jwt',
    steps: ['signup', 'loginAccessToken', 'setMerchantWallet', 'createUnit', 'getPaymentPage'],
    call: 'createUnit',
    docs: `For fixed offers without any code: a title, a USD price, the currencies you take.

1. \`signup\`, \`loginAccessToken\`, \`setMerchantWallet\` as in “Sell with an invoice”.
2. \`createUnit\`: share its \`page_url\`. Each visit that chooses a currency creates its own invoice.
3. \`getPaymentPage\` lists what still prevents buyers from paying, and how to fix it.

At most 3 units. \`updateUnit\` with \`active: false\` takes one off sale for a while.`,
  },
  {
    id: 'flow.try-on-testnet',
    kind: 'flow',
    title: 'Try everything on testnet without money',
    summary: 'From nothing to a confirmed invoice in five calls after signing up, with no real coins',
    keywords: 'demo, sandbox, quick start, testing without real money',
    auth: 'none',
    steps: [
      'signup',
      'loginAccessToken',
      'getMerchantAccount',
      'setMerchantWallet',
      'createInvoice',
      'simulateInvoice',
    ],
    call: 'simulateInvoice',
    docs: `Needs \`network: testnet\` and \`demo_mode: true\` in \`GET {base_url}/v1/config/public\`.

Make the calls of \`steps\` in order. Values in braces come from earlier replies, as \`placeholders\` of the catalog explains; those with a \`sample\` can be used as they are. The last reply has \`status: confirmed\`: the real settlement ran, with fee, income record and webhook. If the prepaid balance is too low, the difference is credited first.`,
  },
  {
    id: 'flow.top-up',
    kind: 'flow',
    title: 'Top up the prepaid limit',
    summary: 'Refill the prepaid balance so that payments continue to be confirmed',
    keywords: 'refill, 402 limit exhausted, prepaid limit',
    auth: 'jwt',
    steps: ['getBalances', 'getRefillWallets', 'createRefill', 'checkInvoice', 'getMerchantAccount'],
    call: 'createRefill',
    docs: `Each confirmed sale debits its fee of 1 % from a prepaid balance. A refill of S USD raises \`limit_of_payments\` by S × 100.

1. \`getBalances\` and \`getMerchantAccount\` show balance and limit.
2. \`createRefill\` with \`chain\` and \`amount\` creates an invoice that you pay like a buyer. It stays open for the \`payment_ttl_seconds\` of its gateway.
3. Once it is confirmed, the limit is raised, and payments that were held for it are booked automatically, oldest first.

When a check is refused with 402 \`limit_exhausted\`, the reply names the amount and the call to make.`,
  },
  {
    id: 'flow.embed',
    kind: 'flow',
    title: 'Embed checkout in a website',
    summary: 'Put a unit or an invoice into your own pages with one script tag',
    keywords: 'embed a widget in a website',
    auth: 'jwt',
    steps: [
      'signup',
      'loginAccessToken',
      'setMerchantWallet',
      'createUnit',
      'getEmbedPreview',
      'embedScript',
    ],
    call: 'getEmbedPreview',
    docs: `\`\`\`html
<div id="checkout"></div>
<script async src="{base_url}/embed.js" data-unit="{unit_id}" data-size="mobile" data-target="#checkout"></script>
\`\`\`

1. \`signup\`, \`loginAccessToken\`, \`setMerchantWallet\` as in “Sell with an invoice”.
2. \`createUnit\` and take its \`id\`, or create an invoice on your server and use \`data-invoice\`.
3. \`getEmbedPreview\` gives ready snippets for each of your units and sizes.
4. Paste one. The script mounts checkout into \`data-target\`; with \`data-unit\` it creates invoices on demand.

Without scripts: link to \`page_url\`, or fetch the fragment \`GET {base_url}/v1/units/{unit_id}/div\`, readable from any origin.`,
  },
  {
    id: 'flow.receive-webhooks',
    kind: 'flow',
    title: 'Receive webhooks',
    summary:
      'Be notified at your own URL when an invoice is confirmed, verify it, and catch up on what was missed',
    keywords: 'receive a webhook, payment notification, be notified when an invoice is paid',
    auth: 'jwt',
    steps: ['updateMerchantAccount', 'createInvoice', 'simulateInvoice', 'listEvents', 'resendEvent'],
    call: 'updateMerchantAccount',
    docs: `1. \`updateMerchantAccount\` sets \`webhook_url\` and \`webhook_secret\`; \`callback_url\` of an invoice replaces the URL for that invoice.
2. On confirmation the service posts \`invoice.confirmed\` once, without retry; for refills only if \`webhook_refills\` is set, with \`data.invoice.kind: refill\`. Answer 2xx within 15 seconds.
3. Verify the signature (guide “Verify webhooks”), and act once per \`webhook-id\`.
4. \`listEvents\` with \`after\` gives everything that happened since the last event you have; \`resendEvent\` posts one again.

\`webhook_status\` of an income record shows how the delivery ended.`,
  },
  {
    id: 'flow.buy',
    kind: 'flow',
    title: 'Buy a unit as a program',
    summary: 'Choose a chain, create the invoice, pay it from your own wallet and follow it',
    keywords: 'purchase as an agent',
    auth: 'none',
    steps: ['getUnit', 'checkoutUnit', 'getPublicInvoice', 'getInvoicePayment'],
    call: 'checkoutUnit',
    docs: `No account is needed.

1. \`getUnit\`: price and \`chains\`.
2. \`checkoutUnit\` with one of them: the reply has \`address\`, \`amount\`, \`memo\` and payment links in \`exits\`.
3. Send exactly \`amount\`, with \`memo\` where it is not null, before \`expires_at\`.
4. Read \`getPublicInvoice\` until \`status\` is \`confirmed\`; \`getInvoicePayment\` shows transaction and confirmations.`,
  },
  {
    id: 'flow.operate',
    kind: 'flow',
    title: 'Operate the deployment',
    summary: 'Watch observers and figures, credit merchants, and resolve what waits for a person',
    keywords: 'operator tasks',
    auth: 'admin',
    hidden: true,
    steps: [
      'loginAccessToken',
      'getAdminDashboard',
      'listObservers',
      'listAdminPayments',
      'getAdminPayment',
      'resolvePayment',
      'creditMerchant',
      'setAdminRefillWallet',
    ],
    call: 'getAdminDashboard',
    docs: `Needs the token of a superuser.

1. \`getAdminDashboard\`: figures, and what waits for a person.
2. \`listObservers\`: what each blockchain has read, without gaps, and how far it is behind.
3. \`listAdminPayments\` with \`status=held\`, \`late\` or \`unmatched\`; \`getAdminPayment\` shows everything about one.
4. \`resolvePayment\`: \`recheck\`, \`expire\`, \`fail\` or \`confirm\`. One transaction output books once, ever.
5. \`creditMerchant\` raises a limit without a payment; \`setAdminRefillWallet\` sets where refills are paid to.`,
  },
];
