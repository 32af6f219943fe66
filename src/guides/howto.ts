// Guides: how to do one thing right.
import type { Article } from './article.ts';

export const howto: readonly Article[] = [
  {
    id: 'guide.agents',
    kind: 'guide',
    title: 'For agents: start here',
    summary: 'Find the call for an intent, fill in its braces, act on refusals',
    keywords: 'agent quick start, no kyc, no captcha',
    auth: 'none',
    call: 'searchCatalog',
    docs: `1. \`GET {base_url}/v1/search?q=…\` with plain words: each result has a \`call\` to make.
2. \`GET {base_url}/v1/catalog?kind=flow\` has whole tasks: \`steps\` are ids of endpoint entries, in order.
3. Fill in the values in braces in a \`call\`. \`placeholders\` of the catalog says where each comes from: \`{operation, member}\` of an earlier reply, or your own.
4. A refusal has a stable \`code\`, a \`hint\`, and where a call helps, \`next\`.
5. Send \`Idempotency-Key\` with calls that create: they can then be repeated safely.

No CAPTCHA, no browser, no identity checks. The same calls are tools over MCP at \`{base_url}/mcp\`, and commands of \`gw\`.`,
  },
  {
    id: 'guide.authentication',
    kind: 'guide',
    title: 'Authentication: which credential for what',
    summary: 'Bearer token for the account, merchant key for invoices, nothing for buyers',
    keywords: 'credentials, api key, bearer token, authentication',
    auth: 'none',
    call: 'loginAccessToken',
    docs: `- \`none\`: buyers and discovery.
- \`jwt\`: \`Authorization: Bearer <access_token>\`, from a sign-in; lasts 8 days. For \`/api/v1/merchant\` and \`/api/v1/users\`. Your own email address signs in with a password at \`POST /api/v1/login/access-token\` (a form); provider mail at \`/api/v1/login/google\`, numeric ids at \`/api/v1/login/telegram\`. \`GET /api/v1/login/identity-source?q=…\` tells which.
- \`key\`: \`X-API-Key: gw_…\`, the \`api_key\` of \`GET /api/v1/merchant/account\`. For \`/v1/invoices\`. \`rotateApiKey\` replaces it.
- \`admin\`: the bearer token of a superuser.`,
  },
  {
    id: 'guide.errors',
    kind: 'guide',
    title: 'Errors and their codes',
    summary: 'Refusals are {detail, code, request_id, hint, next}; invalid input is a 422',
    keywords: 'error codes, refusals',
    auth: 'none',
    docs: `Switch on \`code\`, not on \`detail\`. \`hint\` says what to do, \`next\` names the call: \`{operation, method, path}\`. 422 is \`{detail: [{loc, msg, type, input, ctx}]}\` with all errors at once. 429 and 503 carry \`Retry-After\`. Every answer has \`X-Request-Id\`; quote it when you ask for help. Unknown members of a query or body are ignored, and \`X-Ignored-Fields\` names them (\`amout, inner.other\`; at most 20): if a call does less than you expect, look there for a mistyped name.

{error_table}`,
  },
  {
    id: 'guide.webhooks',
    kind: 'guide',
    title: 'Verify webhooks',
    summary: 'Check the signature of Standard Webhooks 1.0 and act once per webhook-id',
    keywords: 'verify webhook signature, hmac, webhook undelivered',
    auth: 'jwt',
    call: 'updateMerchantAccount',
    docs: `Headers \`webhook-id\`, \`webhook-timestamp\`, \`webhook-signature\`; body \`{type, timestamp, api_version, data: {invoice, payment}}\`. \`data.invoice.kind\` is \`sale\` or \`refill\`; refills are posted only where \`webhook_refills\` is set.

\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto';

function verify(secret, headers, rawBody) {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  const signed = \`\${headers['webhook-id']}.\${headers['webhook-timestamp']}.\${rawBody}\`;
  const expected = Buffer.from(\`v1,\${createHmac('sha256', key).update(signed).digest('base64')}\`);
  const fresh = Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) < 300;
  // For 24 hours after the secret was changed there are two signatures, separated by a space: one must match.
  const given = (headers['webhook-signature'] ?? '').split(' ').map((each) => Buffer.from(each));
  return fresh && given.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
}
\`\`\`

Verify the raw body, before parsing it. Answer 2xx within 15 seconds and process the event afterwards. One attempt is made; redirects are not followed. A second delivery of the same \`webhook-id\` happens only if a person asks for it.`,
  },
  {
    id: 'guide.return',
    kind: 'guide',
    title: 'Bring buyers back to the shop',
    summary: 'success_url, cancel_url, and the signature that says how the payment ended',
    keywords: 'return url, redirect after payment, success url, thank you page, verify return signature',
    auth: 'jwt',
    call: 'updateMerchantAccount',
    docs: `1. List your hosts once: \`PATCH /api/v1/merchant/account\` with \`{"return_hosts": ["shop.example"], "display_name": "Kaffee Rösterei"}\`. The merchant key alone cannot send buyers anywhere else. On testnet \`localhost:3000\` may be listed and used over http; everything else must be https.
2. Create invoices or units with \`success_url\` and \`cancel_url\`. However a payment ends, the page has a button, “Return to Kaffee Rösterei”; \`return_automatically\` leads there after 5 seconds. Buyers are no longer sent to a host that you remove from the list; then, and where no URL is set, the button leads to \`site_url\`.
3. The query gets \`invoice_id\`, \`invoice_status\` (\`confirmed\`, \`expired\`, \`cancelled\`, \`failed\`) and \`signature\`: base64url HMAC-SHA256 of \`return.v1.{invoice_id}.{invoice_status}\` under the key of your webhook secret. For 24 hours after the secret changes there are two signatures, separated by a dot.

\`\`\`js
import { createHmac, timingSafeEqual } from 'node:crypto';

function verifyReturn(secret, url) {
  const query = new URL(url).searchParams;
  const invoice_id = query.get('invoice_id');
  const status = query.get('invoice_status');
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  const expected = createHmac('sha256', key).update(\`return.v1.\${invoice_id}.\${status}\`).digest();
  const given = (query.get('signature') ?? '').split('.').map((each) => Buffer.from(each, 'base64url'));
  const ok = given.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  return ok ? { invoice_id, status } : null;
}
\`\`\`

To check your code: secret \`whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\`, invoice \`0190f7a0-0000-7000-8000-000000000001\`, status \`confirmed\` give \`MFyC5Us1o86VXILlAxNgUAUms7-826Ylbu82QlSGv3E\`.

The signature proves how this invoice ended, not who came back: anyone can open the address again. Check that the invoice belongs to this order, and deliver once, on the webhook or after \`GET /v1/invoices/{invoice_id}\`. The return only decides which page you show: a buyer may close the page and never come back.`,
  },
  {
    id: 'guide.follow-payments',
    kind: 'guide',
    title: 'Follow payments without webhooks',
    summary: 'Poll the invoice, or read the stream of events from where you left off',
    keywords: 'poll instead of webhooks, stream events',
    auth: 'jwt',
    call: 'listEvents',
    docs: `- Poll \`GET /v1/invoices/{invoice_id}\` (key) or \`GET /v1/public/invoices/{invoice_id}\` every few seconds until the status is final.
- \`GET /api/v1/merchant/events?after={event_id}\` returns every event since then; none is skipped.
- With \`Accept: text/event-stream\` the same address stays open and sends each event as it happens.
- \`POST /v1/invoices/{invoice_id}/check\` makes the service ask the chain at once.
- In a terminal: \`gw invoice wait {invoice_id}\`, \`gw listen --forward-to URL\`; \`gw dev URL\` is a sandbox whose buyer pays rightly and wrongly.`,
  },
  {
    id: 'guide.idempotency',
    kind: 'guide',
    title: 'Repeat a request safely',
    summary: 'Idempotency-Key: the same key and body get the first answer again, for 24 hours',
    keywords: 'idempotency key, retry twice',
    auth: 'none',
    docs: `Send \`Idempotency-Key: <any unique text>\` with every POST that creates: invoices, checkout, refills, credits, units. The same key with another body is refused with 422 \`idempotency_mismatch\`; while the first is in progress, 409 \`idempotency_in_progress\`.`,
  },
  {
    id: 'guide.amounts',
    kind: 'guide',
    title: 'Amounts and times on the wire',
    summary: 'Decimal strings without exponent, Unix seconds in UTC',
    auth: 'none',
    docs: `Amounts in replies are decimal strings; never read them into binary floats. Input takes JSON numbers or plain decimal strings with at most 9 digits before the point; exponents are refused. A USD amount is rounded to the nearest millionth as it is read, so that the \`19.990000000000002\` of a binary float is \`19.99\`. The buyer's amount rounds up to what the chain can pay. \`amount_unit\` is \`usd\` (default) or \`native\`. \`created_at\`, \`expires_at\`, \`paid_at\` are Unix seconds, UTC; \`from_date\` and \`to_date\` are UTC days, both included.`,
  },
  {
    id: 'guide.mcp',
    kind: 'guide',
    title: 'Connect an MCP client',
    summary: 'Every endpoint as a tool, over HTTP at /mcp or over stdio with gw mcp',
    keywords: 'mcp server, connect a client, model context protocol',
    auth: 'none',
    docs: `Streamable HTTP, stateless: \`{base_url}/mcp\`, with your own credential as a header:

\`\`\`json
{ "mcpServers": { "gatewayd": { "type": "http", "url": "{base_url}/mcp", "headers": { "X-API-Key": "{api_key}", "Authorization": "Bearer {access_token}" } } } }
\`\`\`

Over stdio: \`gw mcp\`, with the credentials of the profile. Tools are named by operationId (\`createInvoice\`), take path, query and body members side by side, and carry annotations: read-only, destructive, idempotent. Operator tools are listed with \`/mcp?include_hidden=true\` or \`gw mcp --include-hidden\`.`,
  },
  {
    id: 'guide.gw',
    kind: 'guide',
    title: 'Use the command line',
    summary: 'gw: the same calls as commands, with JSON output and exit codes',
    keywords: 'cli, terminal',
    auth: 'none',
    docs: `\`\`\`sh
export GW_URL={base_url}
gw login
gw wallet set --blockchain ton --address {ton_address}
gw invoice create --chain ton --amount 12.50 --json
gw invoice wait {invoice_id}
\`\`\`

\`--json\` puts exactly the API's object on stdout. \`GW_API_KEY\` and \`GW_TOKEN\` replace the profile. \`gw api METHOD PATH\` makes any call. Exit codes: 0 ok, 2 usage, 3 not found, 4 conflict, 5 prepaid limit, 6 ended unpaid, 69 unreachable, 75 try later, 77 sign-in.`,
  },
  {
    id: 'guide.limits',
    kind: 'guide',
    title: 'Limits and rate limiting',
    summary: 'Sizes, pages and calls per minute; 429 says when to try again',
    keywords: 'rate limits, 429',
    auth: 'none',
    call: 'getPublicConfig',
    docs: `3 units per merchant; bodies up to 256 kB; pages up to 200 entries. Sign-in, sign-up and recovery are limited per address and identity, checkout per address, each per minute: 429 \`rate_limited\` with \`Retry-After\`. Pages and pictures that have to be made, and open live streams, are limited per address too. There is never a CAPTCHA.`,
  },
  {
    id: 'guide.wrong-payment',
    kind: 'guide',
    title: 'When a payment goes wrong',
    summary:
      'Too little, too late, without memo, twice, or with another coin: where the money is and what to do',
    keywords: 'underpaid, overpaid, late, forgot the memo, wrong payment, refund',
    auth: 'none',
    call: 'getInvoicePayment',
    docs: `The money is always in the merchant's own wallet.

- Too little: \`amount_match: under\`; let the buyer send the rest with the same memo before \`expires_at\`.
- Too much: confirmed with \`over\`; refund the difference from your wallet if you like.
- Too late, or for a cancelled invoice: a \`late\` payment.
- Without a memo, or with a wrong one: \`unmatched\`.
- Less than a cent that names no invoice: counted as dust, and not listed.
- Another token: only genuine assets of the gateway count.

For late and unmatched payments, give the operator the transaction ID: they book it with \`resolve\`, once.`,
  },
];
