// The merchant's account: key, webhook, wallets, prepaid limit, income and events.
import { z } from 'zod';
import { sampleBlockchains, sampleIds, sampleTicker } from '../../chains/samples.ts';
import { eventTypes } from '../../event-types.ts';
import { MAX_SLUG, MIN_SLUG, SLUG } from '../../slug.ts';
import { endpoint } from '../describe/endpoint.ts';
import {
  bool,
  choice,
  counted,
  date,
  decimal,
  duration,
  int,
  list,
  text,
  usd,
  word,
} from '../describe/fields.ts';
import { email, uuid } from '../describe/identifiers.ts';
import { shape } from '../describe/shape.ts';
import {
  BEYOND,
  displayName,
  legalLine,
  PICTURE,
  pictureUrl,
  returnHosts,
  webUrl,
} from '../describe/shop-fields.ts';
import { EventList, EventPublic } from '../schemas/event.ts';
import { Figures, LedgerList } from '../schemas/figures.ts';
import { EmbedPreview, ExportPage, exportTables, PaymentPagePreview } from '../schemas/merchant.ts';
import {
  BalancePublic,
  IncomeHistoryPublic,
  InvoicePublic,
  MerchantAccountPublic,
  RefillWalletsResponse,
  WalletSet,
  WalletsResponse,
} from '../schemas/resources.ts';
import { amountUnit, chainField, creationRefusals, MAX_CHAIN, MAX_URL } from './invoices.ts';

const MAX_WEBHOOK_SECRET = 256;
const MAX_EVENT_ID = 64;
/** Long enough for any roll-out; a key that is given up should end. */
const MAX_GRACE_SECONDS = 30 * 24 * 3600;
const MAX_EXPORT_PLACE = 64;

/** `amount_usd` is another name for an amount in USD; one of the two must be there. */
const refillBody = z.object({
  chain: chainField(),
  amount: decimal({ gt: 0, wording: 'float' }).optional(),
  amount_unit: amountUnit(),
  amount_usd: usd({ gt: 0, wording: 'float' })
    .optional()
    .describe('The same as `amount` in USD; ignored where `amount` is given'),
});
const RefillCreate = refillBody
  .refine((body) => body.amount !== undefined || body.amount_usd !== undefined, {
    path: ['amount'],
    // Together with the errors of other members: all are reported at once.
    when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
  })
  // Zod would list neither amount as required.
  .meta({ id: 'RefillCreate', required: ['chain', 'amount'] });

export const getMerchantAccount = endpoint({
  id: 'getMerchantAccount',
  method: 'GET',
  path: '/api/v1/merchant/account',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Get your merchant account',
  gw: 'account get',
  effect: 'read',
  keywords: 'api key, merchant key, account settings, remaining limit',
  description:
    'Holds the merchant key (`api_key`), the webhook, the enabled currencies and the prepaid limit.',
  response: MerchantAccountPublic,
  example: {},
});

export const updateMerchantAccount = endpoint({
  id: 'updateMerchantAccount',
  method: 'PATCH',
  path: '/api/v1/merchant/account',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Change webhook, currencies, slug or what buyers see of the shop',
  gw: 'account update',
  effect: 'write',
  keywords: 'set webhook url, webhook secret, enable or accept only some currencies, change slug',
  description: `Members that are left out stay as they are.

- \`webhook_url\`: where \`invoice.confirmed\` is posted once; null removes it. Only public addresses are called.
- \`webhook_secret\`: signs webhooks according to Standard Webhooks. \`whsec_\` and base64, or any other text; null removes it. For 24 hours after a change webhooks carry two signatures, by the new and the previous secret.
- \`end_previous_webhook_secret\`: true ends the previous secret at once, with a change as without: for one that has leaked.
- \`end_previous_api_key\`: true ends a key that \`rotateApiKey\` left valid for a while.
- \`webhook_refills\`: whether confirmed refills are posted to \`webhook_url\` as well; their \`data.invoice.kind\` is \`refill\`. Without it only sales are; the events of refills are listed in any case.
- \`enabled_currencies\`: gateway ids (\`${sampleIds[1]}\`) or tickers (\`${sampleTicker}\`, every gateway with it); null enables all.
- \`slug\`: part of the addresses of your unit pages, 3 to 64 of a–z, 0–9 and single hyphens. Old addresses stop working.
- \`display_name\`, \`logo_url\`, \`support_email\`, \`support_url\`, \`site_url\`, \`legal_line\`: what buyers see of the shop on pages and receipts; null removes each.
- \`return_hosts\`: the hosts that buyers may be led back to, all of them; null allows none. A host that is taken away is no longer led to, from invoices that exist as well.`,
  body: shape('MerchantAccountUpdate', {
    webhook_url: text({ max: MAX_URL, url: true }).nullish(),
    webhook_secret: text({ max: MAX_WEBHOOK_SECRET, secret: true }).nullish(),
    end_previous_webhook_secret: bool().nullish(),
    end_previous_api_key: bool().nullish(),
    webhook_refills: bool().nullish(),
    enabled_currencies: list(text({ min: 1, max: MAX_CHAIN, named: true })).nullish(),
    slug: text({ min: MIN_SLUG, max: MAX_SLUG, pattern: SLUG }).nullish(),
    display_name: displayName().nullish().describe(`How buyers know the shop. ${BEYOND}`),
    logo_url: pictureUrl().nullish().describe(PICTURE),
    support_email: email().nullish().describe(`Where buyers write to. ${BEYOND}`),
    support_url: webUrl().nullish().describe(`Where buyers find help; https. ${BEYOND}`),
    site_url: webUrl().nullish().describe(`The site of the shop; https. ${BEYOND}`),
    legal_line: legalLine()
      .nullish()
      .describe(`Printed on receipts: company, address, tax number. ${BEYOND}`),
    return_hosts: returnHosts()
      .nullish()
      .describe(
        `Hosts that \`success_url\` and \`cancel_url\` may have, such as \`shop.example\` or \`shop.example:8443\`. ${BEYOND}`,
      ),
  }),
  response: MerchantAccountPublic,
  errors: ['unknown_chain', 'url_not_allowed', 'picture_not_allowed', 'bad_request', 'slug_taken'],
  // Nothing but the webhook: making this call as it stands must not cost any currencies.
  example: { body: { webhook_url: '{webhook_url}' } },
});

export const rotateApiKey = endpoint({
  id: 'rotateApiKey',
  method: 'POST',
  path: '/api/v1/merchant/account/rotate-key',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Replace the merchant key',
  gw: 'account rotate-key',
  effect: 'destroy',
  confirm: {
    question:
      'Replace the merchant key? Anything that uses the old one stops working, at once unless a grace is given.',
  },
  keywords: 'leaked key',
  description:
    'Makes a new key; the old one stops working at once, or after `grace`. Any older key that still worked stops at once. `end_previous_api_key` of `updateMerchantAccount` ends the grace period early. A mail tells the user.',
  query: {
    grace: duration({ max_seconds: MAX_GRACE_SECONDS })
      .optional()
      .describe('How long the old key works: seconds, or such as 1h or 7d; at most 30 days'),
  },
  response: MerchantAccountPublic,
  // Each sends a mail.
  limit: 'recovery',
  extension: true,
  example: {},
});

export const getBalances = endpoint({
  id: 'getBalances',
  method: 'GET',
  path: '/api/v1/merchant/balances',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Get your prepaid balance and income per currency',
  gw: 'balance',
  effect: 'read',
  keywords: 'balance, prepaid balance, earned',
  description:
    'The prepaid service balance in `USD`, then the confirmed income per currency. Income is in your own wallets; the service holds none of it.',
  response: z.array(BalancePublic),
  example: {},
});

export const getMerchantWallets = endpoint({
  id: 'getMerchantWallets',
  method: 'GET',
  path: '/api/v1/merchant/wallets',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'List your receive wallets',
  gw: 'wallet list',
  effect: 'read',
  keywords: 'my wallets, missing wallets',
  description:
    'One address per blockchain. `missing` names the blockchains that enabled currencies still need.',
  response: WalletsResponse,
  example: {},
});

export const setMerchantWallet = endpoint({
  id: 'setMerchantWallet',
  method: 'PUT',
  path: '/api/v1/merchant/wallets',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Set the receive wallet of a blockchain',
  gw: 'wallet set {blockchain} {address}',
  effect: 'write',
  keywords: 'set wallet, add wallet, receive address, change payout address',
  description:
    'Checks the checksum of the address for this network, refuses jetton wallets, token accounts and mints, and replaces the previous address. If the chain cannot be reached now, it is asked again when an invoice is created. Open invoices keep the address they show. The reply has the address in the form that wallets show, and in `warning` what to know of one that runs code: it may pass on what it gets.',
  body: shape('WalletUpdate', {
    blockchain: text({ min: 1, max: MAX_CHAIN, named: true }).describe(
      `${sampleBlockchains.map((id) => `\`${id}\``).join(', ')}, …`,
    ),
    address: text({ min: 8, max: 256, named: true }),
    everywhere: bool()
      .optional()
      .describe(
        'Whether to set it on every enabled blockchain that has the same addresses, or on none where one of them refuses it. Only for an address whose key is yours on all: the address of a contract wallet may be another’s elsewhere',
      ),
  }),
  response: WalletSet,
  errors: ['unknown_chain', 'invalid_address'],
  example: { body: { blockchain: 'ton', address: '{ton_address}' } },
});

export const getRefillWallets = endpoint({
  id: 'getRefillWallets',
  method: 'GET',
  path: '/api/v1/merchant/refill-wallets',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'List the addresses for refills',
  gw: 'refill wallets',
  effect: 'read',
  keywords: 'refill wallets, platform refill addresses',
  secondary: true,
  description:
    'One per blockchain. Pay only with a refill invoice: a transfer without one cannot be credited automatically.',
  response: RefillWalletsResponse,
  example: {},
});

export const createRefill = endpoint({
  id: 'createRefill',
  method: 'POST',
  path: '/api/v1/merchant/refill',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Create a refill invoice',
  gw: 'refill create',
  effect: 'write',
  keywords: 'refill balance, refill account, prepaid limit',
  description:
    'Paying S USD raises `limit_of_payments` by S × 100 and books held payments, oldest first. A refill stays open for the `payment_ttl_seconds` of its gateway. No fee. Follow it like any invoice, with your merchant key.',
  body: RefillCreate,
  response: InvoicePublic,
  errors: creationRefusals,
  idempotent: true,
  example: { body: { chain: 'ton', amount: 10 } },
});

export const listIncome = endpoint({
  id: 'listIncome',
  method: 'GET',
  path: '/api/v1/merchant/income',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'List your income',
  gw: 'income list',
  effect: 'read',
  keywords: 'income, sales history, earnings report by date, fees',
  description:
    'One record for each confirmed sale, newest first, with the fee in USD and the outcome of the webhook. Dates are UTC days, both included.',
  query: {
    skip: int({ gte: 0 }).default(0),
    limit: int({ gte: 1, lte: 200 }).default(20),
    from_date: date().optional().describe('First day'),
    to_date: date().optional().describe('Last day'),
  },
  response: IncomeHistoryPublic,
  example: { query: { limit: '5', from_date: '2026-01-01' } },
});

export const getPaymentPage = endpoint({
  id: 'getPaymentPage',
  method: 'GET',
  path: '/api/v1/merchant/payment-page',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Get your payment pages and their problems',
  gw: 'account pages',
  effect: 'read',
  keywords: 'preview of my payment page, problems why buyers cannot pay',
  description: 'The public page of each unit, and what still prevents buyers from paying there.',
  response: PaymentPagePreview,
  example: {},
});

export const getEmbedPreview = endpoint({
  id: 'getEmbedPreview',
  method: 'GET',
  path: '/api/v1/merchant/embed-preview',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Get embed snippets',
  gw: 'account embeds',
  effect: 'read',
  keywords: 'embed code, html snippet, buy button',
  description: 'Markup that mounts checkout in your own pages, for each unit and size, with an explanation.',
  response: EmbedPreview,
  example: {},
});

export const listEvents = endpoint({
  id: 'listEvents',
  method: 'GET',
  path: '/api/v1/merchant/events',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'List or follow your events',
  gw: 'event list',
  effect: 'read',
  keywords: 'events, stream of events, since the last event',
  description:
    'Oldest first, from the beginning or after `after`: nothing is ever left out, and what the operator has removed by age is refused with 410 rather than skipped, so this backs up the webhook, which is sent only once. `order=newest` reads backwards, for a person who wants the latest. With `Accept: text/event-stream` the connection stays open and sends each event as it happens; `after` or `Last-Event-ID` say where to continue, otherwise it begins with the next event.',
  query: {
    after: text({ min: 1, max: MAX_EVENT_ID }).optional().describe('The last event that you have'),
    type: word(eventTypes, { min: 1, max: MAX_EVENT_ID })
      .optional()
      .describe('Only this kind, e.g. `invoice.confirmed`'),
    order: choice(['oldest', 'newest'])
      .default('oldest')
      .describe('Which come first; a stream is always `oldest`'),
    limit: int({ gte: 1, lte: 200 }).default(50),
    count: counted(),
  },
  response: EventList,
  also: ['text/event-stream'],
  errors: ['event_not_found', 'event_removed', 'too_many_streams'],
  extension: true,
  example: { query: { limit: '5' } },
});

export const resendEvent = endpoint({
  id: 'resendEvent',
  method: 'POST',
  path: '/api/v1/merchant/events/{event_id}/resend',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Send an event again',
  gw: 'event resend',
  effect: 'write',
  keywords: 'resend webhook, resend notification that was not delivered, missed',
  description:
    'Posts the same body under the same `webhook-id` to the current webhook address, once, and returns the outcome in `deliveries`. Any kind of event can be sent; an operator sends those of any account.',
  params: { event_id: text({ min: 1, max: MAX_EVENT_ID }) },
  response: EventPublic,
  errors: ['event_not_found', 'event_removed', 'bad_request', 'url_not_allowed'],
  extension: true,
  example: { params: { event_id: '{event_id}' } },
});

export const exportAccount = endpoint({
  id: 'exportAccount',
  method: 'GET',
  path: '/api/v1/merchant/export',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'Export everything of your account, page by page',
  effect: 'read',
  keywords: 'download all my data, takeout, data portability, accounting export',
  description: `One table a call, oldest first, in pages; \`gw account export\` calls it for all of them and writes JSON or CSV files.

Pages of \`payments\`, \`transfers\`, \`logs\` and \`income\` hold what belongs to \`limit\` invoices, and may be empty before the last; those of \`deliveries\` what belongs to \`limit\` events. A row that stays as it is comes in exactly one page; what happens meanwhile may be in a later page. Keys and secrets are never part of it.`,
  query: {
    table: choice(exportTables).describe('What to read'),
    after: text({ min: 1, max: MAX_EXPORT_PLACE }).optional().describe('`next` of the page before'),
    limit: int({ gte: 1, lte: 500 }).default(200),
  },
  response: ExportPage,
  extension: true,
  secondary: true,
  example: { query: { table: 'invoices' } },
});

const ofAccount = {
  own: bool().default(false).describe('Only of your account, for superusers too'),
};

export const getFigures = endpoint({
  id: 'getFigures',
  method: 'GET',
  path: '/v1/figures',
  auth: 'any',
  tag: 'merchant',
  summary: 'Get sales by day and invoices by status',
  gw: 'dashboard',
  effect: 'read',
  keywords: 'dashboard, sales per day, trend, statistics',
  secondary: true,
  description:
    'Confirmed sales and their volume for each of the last 30 days, invoices by status, and the limit that remains. Of your account; for a superuser of the deployment, unless `own` asks for his.',
  query: ofAccount,
  response: Figures,
  extension: true,
  example: {},
});

export const listLedger = endpoint({
  id: 'listLedger',
  method: 'GET',
  path: '/v1/ledger',
  auth: 'any',
  tag: 'merchant',
  summary: 'List the bookings on the prepaid balance',
  gw: 'ledger list',
  effect: 'read',
  keywords: 'ledger entries, statement of account',
  secondary: true,
  description:
    'Refills, credits and fees with the balance after each, newest first. Of your account; a superuser reads all, or those of `owner_id`.',
  query: {
    ...ofAccount,
    owner_id: uuid().optional().describe("A merchant's user id, for superusers"),
    after: uuid().optional().describe('The last entry of the page before'),
    limit: int({ gte: 1, lte: 200 }).default(50),
    count: counted(),
  },
  response: LedgerList,
  extension: true,
  example: { query: { limit: '5' } },
});

export const merchant = [
  getMerchantAccount,
  updateMerchantAccount,
  rotateApiKey,
  getMerchantWallets,
  setMerchantWallet,
  getBalances,
  listIncome,
  getRefillWallets,
  createRefill,
  getPaymentPage,
  getEmbedPreview,
  listEvents,
  resendEvent,
  exportAccount,
  getFigures,
  listLedger,
] as const;
