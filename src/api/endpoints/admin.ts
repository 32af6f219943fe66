// The operator's view: merchants, observers, payments, and putting things right.

import { endpoint } from '../describe/endpoint.ts';
import { bool, choice, counted, int, orNull, text, usd, word } from '../describe/fields.ts';
import { uuid } from '../describe/identifiers.ts';
import { shape } from '../describe/shape.ts';
import {
  AdminContradictions,
  AdminCredit,
  AdminDaemons,
  AdminDashboard,
  AdminMerchant,
  AdminMerchantDetail,
  AdminMerchants,
  AdminObservers,
  AdminPaymentDetail,
  AdminPayments,
  AdminRefillWallets,
  AdminRefillWalletsSet,
  AdminWebhookSecret,
  ContradictionPublic,
  DaemonPublic,
  TransactionLookup,
} from '../schemas/admin.ts';
import { AdminClaims } from '../schemas/claim.ts';
import { AdminEvents, AdminUnits } from '../schemas/figures.ts';
import { invoiceStatuses, paymentStatuses } from '../schemas/resources.ts';
import { claimQuery, DISMISSING, invoiceId, MAX_CHAIN, MAX_NOTE, remarkBody } from './invoices.ts';

const MAX_TXID = 128;
const MAX_FILTER = 64;

const filter = () => text({ max: MAX_FILTER, named: true }).optional();
const note = () => orNull(text({ max: MAX_NOTE })).describe('Stored with the entry');
const userId = { user_id: uuid().describe("The merchant's user id") };

export const getAdminDashboard = endpoint({
  id: 'getAdminDashboard',
  method: 'GET',
  path: '/api/v1/admin/dashboard',
  auth: 'admin',
  tag: 'admin',
  summary: 'Get the figures of the deployment',
  gw: 'admin dashboard',
  effect: 'read',
  keywords: 'operator dashboard',
  description:
    'Users, invoices by status, volume, fees, prepaid balances, merchants near their limit, rates, the state of the observers, and what waits for a person.',
  response: AdminDashboard,
  hidden: true,
  example: {},
});

export const listAdminMerchants = endpoint({
  id: 'listAdminMerchants',
  method: 'GET',
  path: '/api/v1/admin/merchants',
  auth: 'admin',
  tag: 'admin',
  summary: 'List merchants',
  gw: 'admin merchants',
  effect: 'read',
  keywords: 'list merchants',
  description:
    'Newest first, with balance, limit and figures. `q` finds a part of slug or email address, or a user id.',
  query: {
    q: filter(),
    skip: int({ gte: 0 }).default(0),
    limit: int({ gte: 1, lte: 200 }).default(50),
  },
  response: AdminMerchants,
  hidden: true,
  example: {},
});

export const getAdminMerchant = endpoint({
  id: 'getAdminMerchant',
  method: 'GET',
  path: '/api/v1/admin/merchants/{user_id}',
  auth: 'admin',
  tag: 'admin',
  summary: 'Get a merchant',
  gw: 'admin merchant',
  effect: 'read',
  description:
    'Its balances, wallets, units, latest ledger entries and latest invoices. Neither key nor webhook secret.',
  params: userId,
  response: AdminMerchantDetail,
  errors: ['merchant_not_found'],
  hidden: true,
  example: { params: { user_id: '{user_id}' } },
});

export const creditMerchant = endpoint({
  id: 'creditMerchant',
  method: 'POST',
  path: '/api/v1/admin/merchants/{user_id}/credit',
  auth: 'admin',
  tag: 'admin',
  summary: 'Credit prepaid balance by hand',
  gw: 'admin credit {user_id} {prepaid_usd}',
  effect: 'write',
  confirm: { question: 'Credit {prepaid_usd} USD to {user_id}? A ledger entry cannot be removed.' },
  keywords: 'credit a merchant by hand',
  description:
    'No crypto moves. The limit rises by `prepaid_usd` × 100, as with a refill, and held payments are booked, oldest first. Logged at warning level.',
  params: userId,
  body: shape('CreditCreate', {
    prepaid_usd: usd({ gt: 0, lte: 1000 }),
    note: note(),
  }),
  response: AdminCredit,
  errors: ['merchant_not_found'],
  idempotent: true,
  hidden: true,
  example: { params: { user_id: '{user_id}' }, body: { prepaid_usd: '25.00', note: 'welcome credit' } },
});

export const setHouse = endpoint({
  id: 'setHouse',
  method: 'PUT',
  path: '/api/v1/admin/merchants/{user_id}/house',
  auth: 'admin',
  tag: 'admin',
  summary: "Make a merchant the operator's own shop",
  gw: 'admin house {user_id}',
  effect: 'write',
  confirm: {
    question: 'Let {user_id} sell without prepaid limit and fee?',
    when: { house: true },
  },
  keywords: 'merchant of the house, my own shop, sell without fee and limit',
  description:
    'A house merchant sells without prepaid limit and without fee. Setting this books what the limit held, oldest first; with `house: false` the merchant is like any other again. What is open is judged by the mark that stands when its payment is final; what is booked stays as it is. No merchant can mark itself. Logged at warning level.',
  extension: true,
  params: userId,
  body: shape('HouseUpdate', {
    house: bool().default(true).describe('Whether it is'),
    note: note(),
  }),
  response: AdminMerchant,
  errors: ['merchant_not_found'],
  hidden: true,
  example: { params: { user_id: '{user_id}' }, body: { house: true, note: 'our own shop' } },
});

export const getAdminRefillWallets = endpoint({
  id: 'getAdminRefillWallets',
  method: 'GET',
  path: '/api/v1/admin/refill-wallets',
  auth: 'admin',
  tag: 'admin',
  summary: 'List the wallets of the deployment',
  gw: 'admin refill-wallets',
  effect: 'read',
  description: 'Refills and invoices of the platform key are paid to these, one per blockchain.',
  response: AdminRefillWallets,
  hidden: true,
  example: {},
});

export const setAdminRefillWallet = endpoint({
  id: 'setAdminRefillWallet',
  method: 'PUT',
  path: '/api/v1/admin/refill-wallets',
  auth: 'admin',
  tag: 'admin',
  summary: 'Set a wallet of the deployment',
  gw: 'admin refill-wallet set {chain} {address}',
  effect: 'write',
  confirm: { question: 'Remove the wallet of {chain}?', when: { address: '' } },
  keywords: 'set platform refill wallet',
  description:
    'Checks the checksum of the address for this network, and asks the chain whether it is a jetton wallet, token account or mint, which are refused; an empty address removes the wallet. Open invoices keep the address they show. Returns all wallets, and in `warning` what to know of an address that runs code.',
  body: shape('RefillWalletUpdate', {
    chain: text({ min: 1, max: MAX_CHAIN, named: true }).describe('The blockchain, or any gateway of it'),
    address: text({ max: 256, named: true }),
    note: note(),
  }),
  response: AdminRefillWalletsSet,
  errors: ['unknown_chain', 'invalid_address'],
  hidden: true,
  example: { body: { chain: 'ton', address: '{ton_address}', note: 'cold wallet' } },
});

export const getWebhookSecret = endpoint({
  id: 'getWebhookSecret',
  method: 'GET',
  path: '/api/v1/admin/webhook-secret',
  auth: 'admin',
  tag: 'admin',
  summary: 'Get the webhook secret of the deployment',
  gw: 'admin webhook-secret',
  effect: 'read',
  keywords: 'check signatures of platform callbacks',
  description:
    'Callbacks of invoices that the platform key made are signed with it, as those of merchants are with theirs. It is the setting `webhook_secret`, or derived from `secret`; `gatewayd config --show-webhook-secret` shows it too.',
  extension: true,
  response: AdminWebhookSecret,
  hidden: true,
  example: {},
});

export const listObservers = endpoint({
  id: 'listObservers',
  method: 'GET',
  path: '/api/v1/admin/observers',
  auth: 'admin',
  tag: 'admin',
  summary: 'Show what each observer has read',
  gw: 'admin observers',
  effect: 'read',
  keywords: 'observer state behind',
  description:
    'Per blockchain: provider, tip, cursor, the ranges that were read completely, failures, and the transfers that were late or match nothing. What is below a cent and names no invoice is counted as `dust`, and not listed.',
  response: AdminObservers,
  hidden: true,
  example: {},
});

export const listAdminPayments = endpoint({
  id: 'listAdminPayments',
  method: 'GET',
  path: '/api/v1/admin/payments',
  auth: 'admin',
  tag: 'admin',
  summary: 'List invoices and payments',
  gw: 'admin payments',
  effect: 'read',
  keywords: 'late and unmatched payments',
  description:
    'Newest first. `status` takes a status of an invoice (`settled` means `confirmed`) or of a payment: `held`, `late` and `unmatched` are what waits for a person; `dismissed` are late and unmatched payments that wait no longer. `kind` is `sale` or `refill`. An unknown word matches nothing.',
  query: {
    status: word([...invoiceStatuses, 'settled', ...paymentStatuses, 'dismissed'], {
      max: MAX_FILTER,
    }).optional(),
    kind: word(['sale', 'refill'], { max: MAX_FILTER }).optional(),
    chain: filter().describe('Gateway id'),
    owner_id: uuid().optional().describe("The merchant's user id"),
    skip: int({ gte: 0 }).default(0),
    limit: int({ gte: 1, lte: 200 }).default(50),
    count: counted(),
  },
  response: AdminPayments,
  hidden: true,
  example: { query: { status: 'created' } },
});

export const getAdminPayment = endpoint({
  id: 'getAdminPayment',
  method: 'GET',
  path: '/api/v1/admin/payments/{invoice_id}',
  auth: 'admin',
  tag: 'admin',
  summary: 'Get everything about an invoice or a payment',
  gw: 'admin payment',
  effect: 'read',
  description:
    'Takes the `id` of anything listed: an invoice, or a payment that no invoice shows. Returns payments, log, transfers, ledger, income and events.',
  params: invoiceId,
  response: AdminPaymentDetail,
  errors: ['payment_not_found'],
  hidden: true,
  example: { params: { invoice_id: '{invoice_id}' } },
});

export const resolvePayment = endpoint({
  id: 'resolvePayment',
  method: 'POST',
  path: '/api/v1/admin/payments/{invoice_id}/resolve',
  auth: 'admin',
  tag: 'admin',
  summary: 'Resolve an invoice by hand',
  gw: 'admin resolve {invoice_id} {action}',
  effect: 'destroy',
  confirm: {
    question: '{action} {invoice_id} by hand?',
    type: '{invoice_id}',
    unless: { action: 'recheck' },
  },
  keywords: 'resolve a stuck payment',
  description: `- \`recheck\` polls the chain now; it also takes a payment without an invoice.
- \`expire\`, \`fail\` end an invoice that is created, failed or expired.
- \`confirm\` books it from any state with the usual fee; a confirmed one is returned unchanged. \`txid\` is looked up on the chain first and must have paid the invoice's address (\`transaction_unknown\`); without it, what the invoice has received is booked, but for what was closed without booking. One transaction output books once, ever (\`transfer_booked\`).
- \`force: true\` with a \`note\` books it although the chain does not have the transaction, or cannot be asked now; a difference that is found later is listed as a contradiction.

Every action that changes something, and every \`recheck\`, is logged with who did it.`,
  params: invoiceId,
  body: shape('ResolveAction', {
    action: choice(['recheck', 'expire', 'fail', 'confirm']),
    txid: orNull(text({ max: MAX_TXID, named: true })).describe(
      'With `confirm`: the transaction that pays it',
    ),
    force: bool()
      .default(false)
      .describe('With `confirm`: book although the chain does not have the transaction'),
    note: orNull(text({ max: MAX_NOTE })).describe('Why; needed with `force`, recorded in the log'),
  }),
  response: AdminPaymentDetail,
  errors: [
    'payment_not_found',
    'invoice_ended',
    'transfer_booked',
    'transaction_unknown',
    'bad_request',
    'limit_exhausted',
    'provider_unavailable',
  ],
  hidden: true,
  example: { params: { invoice_id: '{invoice_id}' }, body: { action: 'recheck' } },
});

export const remarkPayment = endpoint({
  id: 'remarkPayment',
  method: 'POST',
  path: '/api/v1/admin/payments/{invoice_id}/note',
  auth: 'admin',
  tag: 'admin',
  summary: 'Note something of a payment, or close it without booking it',
  gw: 'admin note {invoice_id} {note}',
  effect: 'write',
  keywords: 'dismiss a payment, sent back by hand, test transfer, close without booking, reopen',
  description: `Writes the note into the log of the payment, with who wrote it. Books and balances stay as they are.

${DISMISSING} An operator may dismiss and reopen whatever is late or unmatched.`,
  extension: true,
  params: invoiceId,
  body: remarkBody,
  response: AdminPaymentDetail,
  errors: ['payment_not_found', 'payment_not_waiting', 'bad_request'],
  hidden: true,
  example: {
    params: { invoice_id: '{paid_invoice_id}' },
    body: { note: 'the buyer asked by mail' },
  },
});

export const lookUpTransaction = endpoint({
  id: 'lookUpTransaction',
  method: 'GET',
  path: '/api/v1/admin/payments/{invoice_id}/transactions/{txid}',
  auth: 'admin',
  tag: 'admin',
  summary: 'Show what a transaction paid to an invoice',
  gw: 'admin transaction',
  effect: 'read',
  description:
    "Asks the chain now for what the transaction paid to the invoice's address in its asset, as `confirm` does before it books. Stores and books nothing.",
  extension: true,
  params: {
    ...invoiceId,
    txid: text({ min: 1, max: MAX_TXID, named: true }).describe(
      'Transaction id, in any spelling of the chain',
    ),
  },
  response: TransactionLookup,
  errors: ['payment_not_found', 'provider_unavailable'],
  hidden: true,
  example: { params: { invoice_id: '{invoice_id}', txid: '{txid}' } },
});

export const listContradictions = endpoint({
  id: 'listContradictions',
  method: 'GET',
  path: '/api/v1/admin/contradictions',
  auth: 'admin',
  tag: 'admin',
  summary: 'List what two sources report differently',
  gw: 'admin contradictions',
  effect: 'read',
  description:
    'A person decides: nothing is reversed automatically. Close it once it is resolved; if it is found again, it is listed again.',
  extension: true,
  query: {
    open: bool().default(true).describe('Only those that are still open'),
    skip: int({ gte: 0 }).default(0),
    limit: int({ gte: 1, lte: 200 }).default(50),
    count: counted(),
  },
  response: AdminContradictions,
  hidden: true,
  example: { query: { limit: '5' } },
});

export const closeContradiction = endpoint({
  id: 'closeContradiction',
  method: 'POST',
  path: '/api/v1/admin/contradictions/{contradiction_id}/close',
  auth: 'admin',
  tag: 'admin',
  summary: 'Close a contradiction',
  gw: 'admin close-contradiction',
  effect: 'write',
  description: 'Who closed it, and why, stays on record. If it is found again, it is listed as a new one.',
  extension: true,
  params: { contradiction_id: uuid().describe('As listed') },
  body: shape('ContradictionClose', { note: note() }),
  response: ContradictionPublic,
  errors: ['contradiction_not_found'],
  hidden: true,
  example: {
    params: { contradiction_id: '{contradiction_id}' },
    body: { note: 'the second provider was behind' },
  },
});

export const listAdminClaims = endpoint({
  id: 'listAdminClaims',
  method: 'GET',
  path: '/api/v1/admin/claims',
  auth: 'admin',
  tag: 'admin',
  summary: 'List what payers claim to have paid',
  gw: 'admin claims',
  effect: 'read',
  keywords: 'buyer says he has paid, whose payment is this',
  description:
    'Newest first, of all accounts. `payment_id` is the late or unmatched payment that a claim names; its detail lists its claims. A claim proves nothing: compare amount, time and sender before you book it.',
  extension: true,
  query: claimQuery,
  response: AdminClaims,
  hidden: true,
  example: { query: { limit: '5' } },
});

export const listDaemons = endpoint({
  id: 'listDaemons',
  method: 'GET',
  path: '/api/v1/admin/daemons',
  auth: 'admin',
  tag: 'admin',
  summary: 'List the daemons of this deployment',
  gw: 'admin daemons',
  effect: 'read',
  keywords: 'running daemons',
  description:
    'The daemons that share the database: host, version, start, last heartbeat, the blockchains that each reads and how far behind it is, and the webhooks that it is sending.',
  extension: true,
  response: AdminDaemons,
  hidden: true,
  example: {},
});

export const drainDaemon = endpoint({
  id: 'drainDaemon',
  method: 'POST',
  path: '/api/v1/admin/daemons/{daemon_id}/drain',
  auth: 'admin',
  tag: 'admin',
  summary: 'Drain a daemon',
  gw: 'admin daemon drain {daemon_id}',
  effect: 'write',
  description:
    'It hands over the blockchains that it reads and takes no more webhooks; other daemons do. It still answers requests, and its `/health` answers 503 `draining`, so that a load balancer sends it none. Only a restart ends the draining. Draining the only daemon stops reading and webhooks.',
  extension: true,
  params: { daemon_id: uuid().describe('As listed') },
  response: DaemonPublic,
  errors: ['daemon_not_found'],
  hidden: true,
  example: { params: { daemon_id: '{daemon_id}' } },
});

export const listAdminEvents = endpoint({
  id: 'listAdminEvents',
  method: 'GET',
  path: '/api/v1/admin/events',
  auth: 'admin',
  tag: 'admin',
  summary: 'List the events of all accounts',
  gw: 'admin events',
  effect: 'read',
  keywords: 'latest events of the deployment',
  secondary: true,
  description:
    'Newest first, with the attempts to deliver each. With `undelivered`, those whose latest attempt was not accepted, at most `limit`, the latest attempts first; neither `after` nor `count` applies then.',
  extension: true,
  query: {
    owner_id: uuid().optional().describe("The merchant's user id"),
    undelivered: bool().default(false).describe('Only events that no receiver accepted'),
    after: text({ min: 1, max: MAX_FILTER }).optional().describe('The last event of the page before'),
    limit: int({ gte: 1, lte: 200 }).default(50),
    count: counted(),
  },
  response: AdminEvents,
  errors: ['event_not_found'],
  hidden: true,
  example: { query: { limit: '5' } },
});

export const listAdminUnits = endpoint({
  id: 'listAdminUnits',
  method: 'GET',
  path: '/api/v1/admin/units',
  auth: 'admin',
  tag: 'admin',
  summary: 'List the units of all merchants',
  gw: 'admin units',
  effect: 'read',
  secondary: true,
  description: 'Newest first, with the page of each.',
  extension: true,
  query: {
    owner_id: uuid().optional().describe("The merchant's user id"),
    after: uuid().optional().describe('The last unit of the page before'),
    limit: int({ gte: 1, lte: 200 }).default(50),
    count: counted(),
  },
  response: AdminUnits,
  hidden: true,
  example: { query: { limit: '5' } },
});

export const admin = [
  getAdminDashboard,
  listAdminMerchants,
  getAdminMerchant,
  creditMerchant,
  setHouse,
  getAdminRefillWallets,
  setAdminRefillWallet,
  getWebhookSecret,
  listObservers,
  listAdminPayments,
  getAdminPayment,
  resolvePayment,
  remarkPayment,
  lookUpTransaction,
  listContradictions,
  closeContradiction,
  listAdminClaims,
  listDaemons,
  drainDaemon,
  listAdminEvents,
  listAdminUnits,
] as const;
