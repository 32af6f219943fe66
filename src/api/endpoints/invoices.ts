// Invoices, for the holder of a merchant key or the platform key.

import { sampleIds } from '../../chains/samples.ts';
import { MAX_REFERENCE, wantedKinds } from '../../explain.ts';
import { endpoint } from '../describe/endpoint.ts';
import { bool, choice, counted, decimal, int, list, orNull, text } from '../describe/fields.ts';
import { email, uuid } from '../describe/identifiers.ts';
import { shape } from '../describe/shape.ts';
import {
  AUTOMATICALLY,
  BEYOND,
  CANCEL_URL,
  PICTURE,
  pictureUrl,
  RECEIPT_EMAIL,
  returnAutomatically,
  SUCCESS_URL,
  shopDescription,
  shopTitle,
  webUrl,
} from '../describe/shop-fields.ts';
import { ClaimList } from '../schemas/claim.ts';
import { Explanation, Inbox, PaymentRemark } from '../schemas/explain.ts';
import { InvoiceList, InvoicePublic } from '../schemas/resources.ts';

/** Longest gateway id or ticker. */
export const MAX_CHAIN = 64;
/** Longest order reference. */
export const MAX_EXTERNAL_REF = 500;
export const MAX_URL = 2048;
export const MAX_NOTE = 255;

export const chainField = () =>
  text({ min: 1, max: MAX_CHAIN, named: true }).describe(
    `Gateway id, from \`GET /v1/gateways\`: ${sampleIds.map((id) => `\`${id}\``).join(', ')}, …`,
  );
export const amountUnit = () =>
  choice(['usd', 'native'])
    .default('usd')
    .describe('Whether `amount` is in USD or in the currency of the chain');
export const externalRef = () =>
  orNull(text({ max: MAX_EXTERNAL_REF, named: true })).describe(
    'Your own order reference, given back as it is, without characters that no one sees',
  );
export const customerEmail = () => email().nullish().describe(RECEIPT_EMAIL);
export const invoiceId = { invoice_id: uuid().describe('Invoice id') };

/** What can stand in the way of making an invoice. */
export const creationRefusals = [
  'unknown_chain',
  'no_wallet',
  'amount_too_small',
  'amount_too_large',
  'account_inactive',
  'no_free_amount',
  'too_many_unpaid',
  'no_rate',
  'provider_unavailable',
  'asset_unreadable',
] as const;

/** Of sales: only where the deployment refuses those above the limit. */
export const saleRefusals = [...creationRefusals, 'limit_exhausted'] as const;

export const createInvoice = endpoint({
  id: 'createInvoice',
  method: 'POST',
  path: '/v1/invoices',
  auth: 'key',
  tag: 'invoices',
  summary: 'Create an invoice',
  gw: 'invoice create',
  effect: 'write',
  keywords: 'charge a buyer, request a payment, payment address for an order',
  description: `Freezes the exchange rate and returns where, how much and with which memo the buyer pays: show \`amount\`, \`address\` and \`memo\` exactly as they are, or send the buyer to \`pay_url\`.

A merchant key uses the merchant's wallet, limit and webhook; the platform key uses the wallets of the deployment. \`callback_url\` replaces the account's webhook address for this invoice.

\`success_url\` and \`cancel_url\` are where the buyer returns to, with \`invoice_id\`, \`invoice_status\` and a \`signature\` in the query (see the guide “Bring buyers back to the shop”); their hosts must be among the \`return_hosts\` of the account, for the platform key among those of the settings. They are shown to their owner only, and to a buyer when the payment has ended.

Refusals: \`unknown_chain\` – take an id from \`GET /v1/gateways\`; \`no_wallet\` – set one with \`PUT /api/v1/merchant/wallets\`; \`no_free_amount\` – wait until open invoices at this price end, or change it by a cent; \`too_many_unpaid\` – the account has reached its maximum of unpaid invoices that are identified by their amount; \`provider_unavailable\` – the blockchain cannot be read at the moment: choose a chain that \`GET /v1/gateways\` calls \`available\`, or try again after \`Retry-After\` seconds; \`asset_unreadable\` – choose another chain; \`no_rate\` – try again after \`Retry-After\` seconds.`,
  body: shape('InvoiceCreate', {
    chain: chainField(),
    amount: decimal({ gt: 0 }).describe(
      'A number or a plain decimal string, at most 9 digits before the point',
    ),
    amount_unit: amountUnit(),
    external_ref: externalRef(),
    callback_url: orNull(text({ max: MAX_URL, url: true })).describe('Where to post `invoice.confirmed`'),
    title: shopTitle().nullish().describe(`What is paid for, as the page shows it. ${BEYOND}`),
    description: shopDescription().nullish().describe(`Shown below the title. ${BEYOND}`),
    image_url: pictureUrl().nullish().describe(PICTURE),
    success_url: webUrl().nullish().describe(SUCCESS_URL),
    cancel_url: webUrl().nullish().describe(CANCEL_URL),
    return_automatically: returnAutomatically().nullish().describe(AUTOMATICALLY),
    customer_email: customerEmail(),
    payable_with: list(text({ min: 1, max: MAX_CHAIN, named: true }))
      .nullish()
      .describe(
        `Other coins that its buyer may choose on the page or with \`POST /v1/invoices/{invoice_id}/switch\`, as ids or tickers; absent or null: none. What the invoice asks for changes then: read it again, or follow \`invoice.switched\`. ${BEYOND}`,
      ),
  }),
  response: InvoicePublic,
  errors: [...saleRefusals, 'url_not_allowed', 'picture_not_allowed'],
  idempotent: true,
  example: { body: { chain: 'ton', amount: '12.50', external_ref: 'order-1001' } },
});

export const listInvoices = endpoint({
  id: 'listInvoices',
  method: 'GET',
  path: '/v1/invoices',
  auth: 'key',
  tag: 'invoices',
  summary: 'List your invoices',
  gw: 'invoice list',
  effect: 'read',
  keywords: 'all invoices, filter by status, open invoices, find by order reference',
  description:
    'Newest first, refill invoices included. Continue with `after` set to `next` of the previous page. `settled` means `confirmed`.',
  query: {
    status: choice(['created', 'confirmed', 'settled', 'expired', 'cancelled', 'failed']).optional(),
    external_ref: text({ max: MAX_EXTERNAL_REF, named: true })
      .optional()
      .describe('Only invoices with exactly this order reference'),
    limit: int({ gte: 1, lte: 200 }).default(20),
    after: uuid().optional().describe('The last invoice of the previous page'),
    count: counted(),
  },
  response: InvoiceList,
  errors: ['invoice_not_found'],
  extension: true,
  example: { query: { status: 'created', limit: '5' } },
});

export const getInvoice = endpoint({
  id: 'getInvoice',
  method: 'GET',
  path: '/v1/invoices/{invoice_id}',
  auth: 'key',
  tag: 'invoices',
  summary: 'Get one of your invoices',
  gw: 'invoice get',
  effect: 'read',
  keywords:
    'has it been paid, invoice status, invoice details, is it paid, has the customer paid yet, read one',
  description:
    'Returns what is already known, without asking the chain. An invoice of another owner is a 404.',
  params: invoiceId,
  response: InvoicePublic,
  errors: ['invoice_not_found'],
  example: { params: { invoice_id: '{invoice_id}' } },
});

export const checkInvoice = endpoint({
  id: 'checkInvoice',
  method: 'POST',
  path: '/v1/invoices/{invoice_id}/check',
  auth: 'key',
  tag: 'invoices',
  summary: 'Check for the payment now',
  gw: 'invoice check',
  effect: 'write',
  repeatable: true,
  keywords: 'check payment, force a poll of the blockchain, did the payment arrive, money arrived',
  description: `Polls the chain once and returns the updated invoice. The observer does the same every few seconds; call this when a buyer says they have paid. An invoice that has ended is returned unchanged.

\`limit_exhausted\` (402): the payment is held, not lost. Refill with \`POST /api/v1/merchant/refill\`; held payments are then booked automatically, oldest first.`,
  params: invoiceId,
  response: InvoicePublic,
  errors: ['invoice_not_found', 'limit_exhausted', 'provider_unavailable'],
  example: { params: { invoice_id: '{invoice_id}' } },
});

export const simulateInvoice = endpoint({
  id: 'simulateInvoice',
  method: 'POST',
  path: '/v1/invoices/{invoice_id}/simulate',
  auth: 'key',
  tag: 'invoices',
  summary: 'Settle an invoice without a payment',
  gw: 'invoice simulate',
  effect: 'write',
  repeatable: true,
  keywords: 'simulate a payment, settle on testnet',
  description:
    'Runs the real settlement: status, fee, income and webhook. Only on testnet with demo mode on; see `GET /v1/config/public`. If the prepaid balance does not cover the fee, the difference is credited first. A confirmed invoice is returned unchanged.',
  params: invoiceId,
  response: InvoicePublic,
  errors: ['invoice_not_found', 'demo_off', 'invoice_ended'],
  example: { params: { invoice_id: '{invoice_id}' } },
});

/** A page of claims. */
export const claimQuery = {
  limit: int({ gte: 1, lte: 200 }).default(20),
  after: uuid().optional().describe('The last claim of the previous page'),
  count: counted(),
};

export const listClaims = endpoint({
  id: 'listClaims',
  method: 'GET',
  path: '/v1/claims',
  auth: 'key',
  tag: 'invoices',
  summary: 'List what payers claim to have paid',
  gw: 'claim list',
  effect: 'read',
  keywords: 'buyer says he has paid, customer forgot the memo, paid too late, support',
  description:
    'Newest first, each with its latest result. Anyone can name a transaction: a claim is a hint and proves nothing. The operator books what is yours.',
  query: claimQuery,
  response: ClaimList,
  extension: true,
  example: { query: { limit: '5' } },
});

export const explain = endpoint({
  id: 'explain',
  method: 'GET',
  path: '/v1/explain',
  auth: 'any',
  tag: 'invoices',
  summary: 'Explain what became of anything',
  gw: 'explain {q}',
  flags: { q: 'reference' },
  effect: 'read',
  keywords:
    'payment not seen, money undelivered, txid, still unpaid, where is my money, why is it not paid, what happened, history, timeline, find by memo, find by transaction, find by order, trace a payment, support, resolve a short id',
  description: `Takes whatever there is: an id or eight characters of it as screens show them, an order, a memo, a transaction, an address, the address of a mail account, or a link that holds one. One match is answered with its story in time and with what may be done now; several are listed.

Everyone finds what is theirs: a merchant his own, a superuser all. What is another's is answered like what does not exist. With \`as\` and \`brief\` it finds the id that another call needs.`,
  query: {
    q: text({ min: 1, max: MAX_REFERENCE, named: true }).describe(
      'An id, a part of one, an order, memo, transaction, address or mail address',
    ),
    as: choice(wantedKinds).optional().describe('Only what names one of this kind, as its id'),
    own: bool().default(false).describe('Only what is yours, for superusers too'),
    brief: bool().default(false).describe('Matches only, no story'),
  },
  response: Explanation,
  extension: true,
  limit: 'explain',
  example: { query: { q: '{invoice_id}' } },
});

export const listInbox = endpoint({
  id: 'listInbox',
  method: 'GET',
  path: '/v1/inbox',
  auth: 'any',
  tag: 'invoices',
  summary: 'List all of yours that waits for a person',
  gw: 'inbox',
  effect: 'read',
  keywords: 'held late unmatched payments, failed webhooks, todo, money that waits, queue',
  description:
    'Money that is held, came late or names no invoice, with what it may mean; events that no receiver accepted in the last 30 days; blockchains that cannot be read. What has waited longest first, each with what may be done now. At most 50 of each kind: `has_more` says that there are others. What is below a cent and names no invoice is counted as `dust`, and waits for no one.',
  response: Inbox,
  extension: true,
  example: {},
});

/** What `dismissed` does, of both who may say it. */
export const DISMISSING =
  '`dismissed: true` closes a late or unmatched payment that was dealt with elsewhere, sent back by hand for example: it leaves the inbox and what is counted as waiting, and is still listed, explained, and bookable. `dismissed: false` has it wait again. Where it stands so already, nothing is written. It waits again too once its transaction has left the chain and come back.';

export const remarkBody = shape('RemarkCreate', {
  note: text({ min: 1, max: MAX_NOTE }).describe('Why'),
  dismissed: bool().optional().describe('Whether it waits no longer; without it only the note is written'),
});

export const remarkOwnPayment = endpoint({
  id: 'remarkOwnPayment',
  method: 'POST',
  path: '/v1/payments/{payment_id}/note',
  auth: 'any',
  tag: 'invoices',
  summary: 'Note something of a payment of yours, or close it without booking it',
  gw: 'payment note {payment_id} {note}',
  effect: 'write',
  keywords:
    'dismiss a payment, sent back by hand, private top-up, close without booking, reopen, clear the inbox',
  description: `Writes the note into the log of the payment; buyers do not read it. Books and balances stay as they are.

${DISMISSING} What is paid at an address that another account uses too, and what an operator has dismissed, the operator decides (\`operator_decides\`).`,
  params: {
    payment_id: uuid().describe('A payment, or the invoice that shows it, as the inbox lists it'),
  },
  body: remarkBody,
  response: PaymentRemark,
  errors: ['payment_not_found', 'payment_not_waiting', 'operator_decides', 'bad_request'],
  extension: true,
  example: {
    params: { payment_id: '{paid_invoice_id}' },
    body: { note: 'the buyer asked by mail' },
  },
});

export const invoices = [
  createInvoice,
  listInvoices,
  getInvoice,
  checkInvoice,
  simulateInvoice,
  listClaims,
  explain,
  listInbox,
  remarkOwnPayment,
] as const;
