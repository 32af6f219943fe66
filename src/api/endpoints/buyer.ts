// What a buyer may do without any credentials.
import { endpoint } from '../describe/endpoint.ts';
import { orNull, text } from '../describe/fields.ts';
import { shape } from '../describe/shape.ts';
import { ClaimFound } from '../schemas/claim.ts';
import { ComposedPayment, TransactionRequest } from '../schemas/compose.ts';
import { GatewaysResponse, PublicConfig } from '../schemas/gateway.ts';
import { ExitPayload, InvoicePayment, InvoicePublic, UnitPublic } from '../schemas/resources.ts';
import {
  chainField,
  creationRefusals,
  customerEmail,
  externalRef,
  invoiceId,
  saleRefusals,
} from './invoices.ts';
import { unitId } from './units.ts';

const invoiceExample = { params: { invoice_id: '{invoice_id}' } };

export const listGateways = endpoint({
  id: 'listGateways',
  method: 'GET',
  path: '/v1/gateways',
  auth: 'none',
  tag: 'buyer',
  summary: 'List what buyers can pay with',
  gw: 'gateways',
  effect: 'read',
  keywords:
    'supported coins, coins that customers can pay with, accepted coins, currencies, chains, tokens, blockchains; list gateways',
  description:
    'Every payable asset of this deployment: its gateway id (`chain`), ticker, decimals, confirmations and times; `groups` has the same by blockchain.',
  response: GatewaysResponse,
  cors: true,
  example: {},
});

export const getPublicConfig = endpoint({
  id: 'getPublicConfig',
  method: 'GET',
  path: '/v1/config/public',
  auth: 'none',
  tag: 'buyer',
  summary: 'Get the public configuration of the service',
  gw: 'config server',
  effect: 'read',
  keywords: 'config, network, testnet or mainnet, demo mode, public settings',
  description:
    'Network, demo mode, fees, limits, where rates come from and which sign-in methods are enabled. One flat object.',
  response: PublicConfig,
  cors: true,
  example: {},
});

export const getPublicInvoice = endpoint({
  id: 'getPublicInvoice',
  method: 'GET',
  path: '/v1/public/invoices/{invoice_id}',
  auth: 'none',
  tag: 'buyer',
  summary: 'Get an invoice as its buyer sees it',
  gw: 'invoice public',
  effect: 'read',
  keywords: 'invoice status for its buyer',
  secondary: true,
  description:
    'Anyone who knows the id may read it. Poll it to follow the payment: it does not ask the chain and costs little.',
  params: invoiceId,
  response: InvoicePublic,
  errors: ['invoice_not_found', 'invoice_withheld'],
  cors: true,
  example: invoiceExample,
});

export const cancelInvoice = endpoint({
  id: 'cancelInvoice',
  method: 'POST',
  path: '/v1/invoices/{invoice_id}/cancel',
  auth: 'none',
  tag: 'buyer',
  summary: 'Cancel an invoice',
  gw: 'invoice cancel',
  effect: 'destroy',
  repeatable: true,
  keywords: 'cancel invoice, cancel checkout',
  description:
    'Ends the invoice; a payment that arrives later is listed for the operator. A cancelled invoice is returned unchanged. Refused once a payment has been detected (`payment_detected`) or the invoice has ended in another way (`invoice_ended`).',
  params: invoiceId,
  response: InvoicePublic,
  errors: ['invoice_not_found', 'invoice_withheld', 'payment_detected', 'invoice_ended'],
  cors: true,
  example: invoiceExample,
});

export const switchInvoice = endpoint({
  id: 'switchInvoice',
  method: 'POST',
  path: '/v1/invoices/{invoice_id}/switch',
  auth: 'none',
  tag: 'buyer',
  summary: 'Pay an invoice another way',
  gw: 'invoice switch',
  effect: 'write',
  repeatable: true,
  keywords: 'change the coin of an invoice, other chain, other network',
  description: `Asks for the same price in another coin at its rate of now: \`chain\`, \`amount\`, \`address\`, \`memo\` and the links change, the id, the price and the order stay. For invoices of a unit among the coins of the unit; for others among those that \`payable_with\` named when they were made. An invoice that asks for this coin already is returned unchanged.

It gets its usual time again, at most that time longer than it had at first. What is paid in time as it was asked for before counts for the sale, and the invoice then asks for that coin again; where another payment has come by then, it is listed for the shop. Refused once a payment has been detected (\`payment_detected\`), after 5 coins or 10 changes, and where the unpaid amounts that buyers may have reserved are used up (\`too_many_unpaid\`).`,
  params: invoiceId,
  body: shape('InvoiceSwitch', { chain: chainField() }),
  response: InvoicePublic,
  errors: [
    'invoice_not_found',
    'invoice_withheld',
    'chain_not_accepted',
    'invoice_ended',
    'payment_detected',
    ...creationRefusals,
  ],
  extension: true,
  cors: true,
  limit: 'checkout',
  example: { params: { invoice_id: '{switchable_invoice_id}' }, body: { chain: 'ton' } },
});

export const getInvoicePayment = endpoint({
  id: 'getInvoicePayment',
  method: 'GET',
  path: '/v1/invoices/{invoice_id}/payment',
  auth: 'none',
  tag: 'buyer',
  summary: 'Get the payment of an invoice and its log',
  gw: 'payment get',
  effect: 'read',
  keywords: 'payment log, payment history, transaction id txid, confirmations',
  description:
    'What was seen on the chain: status, transaction, confirmations, received amount, and every change.',
  params: invoiceId,
  response: InvoicePayment,
  errors: ['invoice_not_found', 'invoice_withheld'],
  cors: true,
  example: invoiceExample,
});

/** Longest text that a payer pastes: an id, or a link to an explorer. */
export const MAX_CLAIM = 512;

export const claimPayment = endpoint({
  id: 'claimPayment',
  method: 'POST',
  path: '/v1/invoices/{invoice_id}/claim',
  auth: 'none',
  tag: 'buyer',
  summary: 'Claim to have paid an invoice',
  gw: 'invoice claim',
  effect: 'write',
  repeatable: true,
  keywords:
    'I have paid, paid but the page does not see it, forgot the memo, wrong network, paid too late, find my transaction',
  description: `For a payer whose payment does not show up: the chain is read at once, and the reply says what was found. With \`txid\` that transaction is searched, also in other assets and on other networks where the address is the same; without it, whatever arrived for the invoice.

A claim books nothing. Money that counts for another invoice, or was sent before this one was made, is \`not_found\`. Shop and operator see the claim in their lists. At most 5 a minute for one invoice.`,
  params: invoiceId,
  body: shape('ClaimCreate', {
    txid: orNull(text({ max: MAX_CLAIM, named: true })).describe(
      'The transaction, as the wallet or a link to an explorer has it; null for “I have paid”',
    ),
  }),
  response: ClaimFound,
  errors: ['invoice_not_found', 'invoice_withheld'],
  extension: true,
  cors: true,
  limit: 'claim',
  example: { ...invoiceExample, body: { txid: '{txid}' } },
});

export const getTransactionRequest = endpoint({
  id: 'getTransactionRequest',
  method: 'GET',
  path: '/v1/invoices/{invoice_id}/transaction',
  auth: 'none',
  tag: 'buyer',
  summary: 'Get who asks for a payment',
  gw: 'invoice transaction-request',
  effect: 'read',
  keywords: 'Solana Pay transaction request, label, icon',
  secondary: true,
  description:
    'What a wallet shows that was given this address as a Solana Pay transaction request, before it asks for the payment with POST.',
  params: invoiceId,
  response: TransactionRequest,
  errors: ['invoice_not_found', 'invoice_withheld'],
  extension: true,
  cors: true,
  example: invoiceExample,
});

/** Longest account that a wallet names. */
const MAX_ACCOUNT = 128;

export const composePayment = endpoint({
  id: 'composePayment',
  method: 'POST',
  path: '/v1/invoices/{invoice_id}/transaction',
  auth: 'none',
  tag: 'buyer',
  summary: "Get the payment for the payer's wallet to sign",
  gw: 'invoice compose',
  effect: 'read',
  keywords:
    'Solana Pay transaction request, TON Connect, unsigned transaction, wallet adapter, pay with a wallet in the browser, pay from a program',
  description: `Makes the payment from the account that is named: what is missing now, with memo and reference, unsigned. The payer pays the fee, and nothing else is in it: where the shop's account for a token does not exist yet, it is made with the payment.

\`kind\` says what the wallet gets: one whole \`transaction\`, or the \`messages\` of which it makes its own. A transaction lasts for \`valid_seconds\`: where the wallet took longer, ask for it again; what was paid meanwhile is refused with \`payment_detected\`. Wallets of blockchains that have neither make the payment themselves from \`qr_payload\`.

Refusals: \`invoice_ended\` and \`payment_detected\` – nothing is to be paid; \`invalid_address\` – not an account; \`payer_cannot_pay\` – it has too little, or is no wallet.`,
  params: invoiceId,
  body: shape('PaymentCompose', {
    account: text({ min: 1, max: MAX_ACCOUNT, named: true }).describe(
      'The account that pays, as its wallet names it',
    ),
  }),
  response: ComposedPayment,
  errors: [
    'invoice_not_found',
    'invoice_withheld',
    'invoice_ended',
    'payment_detected',
    'bad_request',
    'invalid_address',
    'payer_cannot_pay',
    'provider_unavailable',
  ],
  extension: true,
  cors: true,
  limit: 'compose',
  example: { ...invoiceExample, body: { account: '{payer}' } },
});

export const getWebExit = endpoint({
  id: 'getWebExit',
  method: 'GET',
  path: '/v1/exits/{invoice_id}/web',
  auth: 'none',
  tag: 'buyer',
  summary: 'Get the web wallet link of an invoice',
  gw: 'exit web',
  effect: 'read',
  keywords: 'open a web wallet',
  description:
    'A link that opens a web wallet with the payment filled in. `url` is null where no such wallet documents one.',
  params: invoiceId,
  response: ExitPayload,
  errors: ['invoice_not_found', 'invoice_withheld'],
  cors: true,
  example: invoiceExample,
});

export const getTgExit = endpoint({
  id: 'getTgExit',
  method: 'GET',
  path: '/v1/exits/{invoice_id}/tg',
  auth: 'none',
  tag: 'buyer',
  summary: 'Get the messenger wallet link of an invoice',
  gw: 'exit tg',
  effect: 'read',
  keywords: 'telegram wallet, pay with telegram',
  description:
    'A link that opens the wallet of the messenger with the payment filled in. `url` is null where no such wallet documents one.',
  params: invoiceId,
  response: ExitPayload,
  errors: ['invoice_not_found', 'invoice_withheld'],
  cors: true,
  example: invoiceExample,
});

export const getUnit = endpoint({
  id: 'getUnit',
  method: 'GET',
  path: '/v1/units/{unit_id}',
  auth: 'none',
  tag: 'buyer',
  summary: 'Get a unit as its buyer sees it',
  gw: 'unit get',
  effect: 'read',
  keywords: 'unit details, show a product to a buyer',
  description: 'Title, price and how it can be paid: `chains` are the gateway ids that checkout accepts now.',
  params: unitId,
  response: UnitPublic,
  errors: ['unit_not_found'],
  cors: true,
  example: { params: { unit_id: '{unit_id}' } },
});

export const checkoutUnit = endpoint({
  id: 'checkoutUnit',
  method: 'POST',
  path: '/v1/units/{unit_id}/checkout',
  auth: 'none',
  tag: 'buyer',
  summary: 'Buy a unit: create its invoice',
  gw: 'unit checkout',
  effect: 'write',
  keywords: 'buy a unit, start checkout of a product',
  description: `Creates an invoice with the unit's price, owner, wait time and webhook. Choose \`chain\` from the unit's \`chains\`. The same \`customer_email\` and \`external_ref\` from the same address are the same purchase: its open invoice, of which nothing was seen, is answered again; an \`Idempotency-Key\` makes another.

Refusals: \`chain_not_accepted\` – choose another chain; \`no_wallet\` – the merchant has not set a wallet for it; \`unit_inactive\` – not for sale now; \`no_rate\` – try again after \`Retry-After\` seconds; \`limit_exhausted\` – the shop cannot take it now, only where the deployment refuses such sales.`,
  params: unitId,
  body: shape('CheckoutCreate', {
    chain: chainField(),
    external_ref: externalRef(),
    customer_email: customerEmail(),
  }),
  response: InvoicePublic,
  errors: ['unit_not_found', 'unit_inactive', 'chain_not_accepted', ...saleRefusals],
  idempotent: true,
  cors: true,
  limit: 'checkout',
  example: { params: { unit_id: '{unit_id}' }, body: { chain: 'ton' } },
});

export const buyer = [
  listGateways,
  getPublicConfig,
  getUnit,
  checkoutUnit,
  getPublicInvoice,
  getInvoicePayment,
  cancelInvoice,
  switchInvoice,
  claimPayment,
  getTransactionRequest,
  composePayment,
  getWebExit,
  getTgExit,
] as const;
