// The replies of the specification, each under the name that OpenAPI gives it.
import { z } from 'zod';
import type { AmountMatch, InvoiceStatus, PaymentStatus } from '../../invoice.ts';
import { orNull } from '../describe/fields.ts';
import { count, decimalString, paged, shape, totals, unixSeconds } from '../describe/shape.ts';
import { BEYOND } from '../describe/shop-fields.ts';

export const invoiceStatuses = [
  'created',
  'confirmed',
  'expired',
  'cancelled',
  'failed',
] as const satisfies readonly InvoiceStatus[];
export const amountMatches = ['none', 'exact', 'over', 'under'] as const satisfies readonly AmountMatch[];
export const paymentStatuses = [
  'detected',
  'confirming',
  'held',
  'confirmed',
  'orphaned',
  'late',
  'unmatched',
] as const satisfies readonly PaymentStatus[];
export const webhookStatuses = ['none', 'pending', 'delivered', 'failed', 'unknown'] as const;
export const networks = ['mainnet', 'testnet'] as const;
export const userSources = ['email', 'google', 'telegram'] as const;

export const Message = shape('Message', { message: z.string() });

export const Token = shape('Token', {
  access_token: z.string().describe('Send it as `Authorization: Bearer …`; it lasts 8 days'),
  token_type: z.string().default('bearer'),
});

export const IdentityDetectResponse = shape('IdentityDetectResponse', {
  identity: z.string().describe('The identity as it is compared: email addresses in lower case'),
  source: z.enum(userSources).describe('How this identity signs in'),
});

export const UserPublic = shape('UserPublic', {
  id: z.uuid(),
  email: z.string().max(255).describe('An email address, or the numeric id of a messaging account'),
  is_active: z.boolean().default(true),
  is_superuser: z.boolean().default(false),
  full_name: orNull(z.string().max(255)),
  created_at: orNull(z.iso.datetime({ offset: true })),
  source: z.enum(userSources).describe('The identity source; read-only').meta({ readOnly: true }),
  pending_email: z
    .string()
    .max(255)
    .optional()
    .describe(
      'The address that is not proved yet: a link was sent to it. After signing up `email` itself, later the new one. Absent where none waits. Beyond the specification',
    ),
});

export const UsersPublic = shape('UsersPublic', { data: z.array(UserPublic), count: count() });

/** Where buyers return to, which no one should know before the payment has ended. */
const returns = () => ({
  success_url: z
    .string()
    .optional()
    .describe(`Where a buyer who has paid returns to; only in answers to its owner. ${BEYOND}`),
  cancel_url: z.string().optional().describe(`The same for one who has not paid. ${BEYOND}`),
  return_automatically: z.boolean().optional().describe(`The same. ${BEYOND}`),
});

const AskedBefore = z.object({
  chain: z.string(),
  currency: z.string(),
  amount: decimalString(),
  address: z.string(),
  memo: z.string().nullable(),
  from: unixSeconds().describe('Since when it asked for this'),
  until: unixSeconds().describe('What is sent so until then counts: the end of the invoice'),
  reserved: z.boolean().describe('Whether no other invoice is given this amount yet'),
});

export const InvoicePublic = shape(
  'InvoicePublic',
  {
    id: z.uuid(),
    chain: z.string().describe('Gateway id'),
    currency: z.string().describe('Ticker'),
    network: z.enum(networks),
    fiat: z.string(),
    amount_usd: decimalString().describe('Volume in USD, without the surcharge'),
    amount_usd_fee: decimalString().describe("Surcharge on the payer's total, in USD"),
    amount_merchant: decimalString().describe('Price in the currency of the chain'),
    amount_fee: decimalString().describe('Surcharge in the currency of the chain'),
    amount: decimalString().describe('What the buyer sends: `amount_merchant` + `amount_fee`, exactly'),
    address: z.string().describe("The merchant's own receive address"),
    memo: z.string().nullable().describe('Must be sent along where it is not null'),
    status: z.enum(invoiceStatuses),
    payment_id: orNull(z.uuid()),
    amount_match: z.enum(amountMatches).default('none').describe('How the received amount compares'),
    received_amount: orNull(decimalString()),
    external_ref: z.string().nullable().describe("The caller's own order reference"),
    txid: z.string().nullable(),
    confirmations: count(),
    created_at: unixSeconds(),
    expires_at: unixSeconds(),
    paid_at: orNull(unixSeconds()),
    ask_donation: z.boolean().default(false),
    exits: z
      .record(z.string(), z.string())
      .describe('Payment links by kind: `wallet`, `web`, `tg`, or the name of a wallet'),
    pay_url: z.string().describe('The checkout page to send a buyer to'),
    embed_url: z.string(),
    page_url: z.string(),
    div_url: z.string(),
    qr_url: z.string().describe('SVG'),
    qr_png_url: z.string().describe('PNG, 392 × 392'),
    qr_payload: z
      .string()
      .describe('What the QR code encodes: the payment, or `address` alone where wallets could misread more'),
    title: z.string().optional().describe(`What is paid for; absent where its creator gave none. ${BEYOND}`),
    description: z.string().optional().describe(`The same. ${BEYOND}`),
    image_url: z.string().optional().describe(`A picture, served here; the same. ${BEYOND}`),
    ...returns(),
    asked_before: z
      .array(AskedBefore)
      .optional()
      .describe(
        `What it asked for in other coins before its buyer chose this one, the first first; only where one invoice is read by its owner. ${BEYOND}`,
      ),
  },
  'What a buyer sees: address, memo, amount, expiry.',
);

export const InvoiceList = shape('InvoiceList', {
  data: z.array(InvoicePublic).describe('Newest first'),
  has_more: z.boolean(),
  next: z.uuid().nullable().describe('Pass it as `after` for the next page'),
  ...totals(),
});

export const PaymentPublic = shape(
  'PaymentPublic',
  {
    id: z.uuid(),
    invoice_id: z.uuid().nullable(),
    status: z.enum(paymentStatuses),
    chain: z.string(),
    currency: z.string(),
    amount: decimalString().nullable().describe('What the invoice asks; null without an invoice'),
    received_amount: decimalString().nullable(),
    amount_match: z.enum(amountMatches),
    txid: z.string().nullable(),
    confirmations: count(),
    min_confirmations: count(),
    created_at: unixSeconds(),
    updated_at: unixSeconds(),
  },
  'What was seen on the chain for an invoice.',
);

export const Dismissal = shape(
  'Dismissal',
  {
    at: unixSeconds(),
    by: z.string().describe('`operator` or `merchant`; an operator reads the id behind it too'),
    note: z.string().nullable().describe('Null for merchants where an operator wrote it'),
  },
  'Who has dealt with a payment elsewhere, so that it waits no longer.',
);

export const DustSum = shape(
  'DustSum',
  {
    chain: z.string().describe('Gateway id'),
    currency: z.string(),
    address_key: z.string(),
    day: z.string().describe('YYYY-MM-DD, UTC'),
    count: count().describe('Transfers'),
    amount: decimalString().describe('Their sum'),
  },
  'Transfers of one day to one address that are below a cent and name no invoice: counted, and not listed one by one.',
);

export const PaymentLogPublic = shape('PaymentLogPublic', {
  id: z.uuid(),
  from_status: z.string().nullable(),
  to_status: z.string(),
  txid: z.string().nullable(),
  confirmations: count(),
  note: z.string().nullable(),
  actor: z
    .string()
    .describe(
      'Who moved it: `observer`, `clock`, `buyer`, `merchant` or `operator`; only operators read which of them',
    ),
  created_at: unixSeconds(),
});

export const InvoicePayment = shape('InvoicePayment', {
  payment: PaymentPublic.nullable().describe('Null until a transfer is seen'),
  logs: z.array(PaymentLogPublic).describe('Every change, oldest first'),
});

export const BalancePublic = shape('BalancePublic', { currency: z.string(), amount: decimalString() });

export const IncomePublic = shape('IncomePublic', {
  id: z.uuid(),
  chain: z.string(),
  currency: z.string(),
  amount: decimalString(),
  fee_charged: decimalString().describe('Platform fee in USD, debited from the prepaid balance'),
  txid: z.string().nullable(),
  webhook_status: z.enum(webhookStatuses),
  created_at: unixSeconds(),
  invoice_id: z.uuid().nullable(),
});

export const IncomeHistoryPublic = shape('IncomeHistoryPublic', paged(IncomePublic));

export const MerchantAccountPublic = shape('MerchantAccountPublic', {
  slug: z.string(),
  api_key: z.string().describe('The merchant key, for `X-API-Key`'),
  webhook_url: orNull(z.string()),
  webhook_secret: orNull(z.string()),
  previous_api_key_ends_at: orNull(z.int()).describe(
    'Until when the key before works too, Unix seconds; null where none does',
  ),
  previous_webhook_secret_ends_at: orNull(z.int()).describe(
    'Until when webhooks are signed by the secret before, too, Unix seconds; null where they are not',
  ),
  house: z.boolean().describe("The operator's own shop: it has neither limit nor fee"),
  webhook_refills: z.boolean().describe('Whether confirmed refills are posted to `webhook_url` as well'),
  enabled_currencies: z.array(z.string()).describe('Gateway ids and tickers, as they were sent'),
  limit_of_payments: decimalString().describe('USD volume that can still be confirmed'),
  refill_credit_multiplier: decimalString(),
  platform_fee_rate: decimalString(),
  platform_fee_percent: decimalString(),
  max_payment_units: count(),
  plan: z.string(),
  network: z.enum(networks),
  fee_description: z.string(),
  display_name: orNull(z.string()).describe(`How buyers know the shop. ${BEYOND}`),
  logo_url: orNull(z.string()).describe(`Served here. ${BEYOND}`),
  support_email: orNull(z.string()).describe(BEYOND),
  support_url: orNull(z.string()).describe(BEYOND),
  site_url: orNull(z.string()).describe(BEYOND),
  legal_line: orNull(z.string()).describe(`Printed on receipts. ${BEYOND}`),
  return_hosts: z.array(z.string()).describe(`Hosts that buyers may be led back to. ${BEYOND}`),
});

export const WalletPublic = shape('WalletPublic', {
  blockchain: z.string(),
  blockchain_name: z.string(),
  address: z.string(),
  network: z.enum(networks),
  currencies: z.array(z.string()).describe('Tickers that can be received there'),
  updated_at: unixSeconds(),
});

/** What the chain showed of an address as it was set. */
export const walletWarning = () =>
  orNull(z.string()).describe(
    `What to know of the address, which is set all the same: it is a contract, or runs the code of one, and may pass on what it gets. Null where nothing is known. ${BEYOND}`,
  );

export const WalletSet = shape('WalletSet', {
  ...WalletPublic.shape,
  also: z.array(z.string()).describe('Blockchains that it was set on as well'),
  warning: walletWarning(),
});

export const WalletsResponse = shape('WalletsResponse', {
  wallets: z.array(WalletPublic),
  missing: z.array(z.string()).describe('Blockchains that enabled currencies need and that have no wallet'),
});

export const RefillWalletsResponse = shape('RefillWalletsResponse', { wallets: z.array(WalletPublic) });

export const UnitSurface = shape('UnitSurface', {
  id: z.enum(['mobile', 'desktop', 'site']),
  name: z.string(),
  url: z.string(),
  html: z.string().nullable().describe('Markup to paste into a page; null where a link is enough'),
});

export const UnitPublic = shape(
  'UnitPublic',
  {
    id: z.uuid(),
    slug: z.string(),
    merchant_slug: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    amount_usd: decimalString(),
    currencies: z.array(z.string()).describe('Gateway ids and tickers, as they were sent'),
    chains: z.array(z.string()).describe('Gateway ids that checkout accepts now'),
    wait_seconds: count().describe('How long its invoices wait, 300 to 86400'),
    language: z.string().nullable(),
    active: z.boolean(),
    network: z.enum(networks),
    page_url: z.string(),
    embed_small_url: z.string(),
    embed_big_url: z.string(),
    surfaces: z.array(UnitSurface),
    created_at: unixSeconds(),
    updated_at: unixSeconds(),
    listed: z.boolean().describe(`Whether search engines may list its page. ${BEYOND}`),
    image_url: z.string().optional().describe(`A picture, served here; absent without one. ${BEYOND}`),
    ...returns(),
  },
  'One offer: a title, a USD price, accepted currencies, a wait time.',
);

export const UnitList = shape('UnitList', {
  units: z.array(UnitPublic).describe('Oldest first'),
  max_payment_units: count(),
  available_currencies: z.array(z.string()).describe('Gateway ids that the account enables'),
  wait_seconds_min: count(),
  wait_seconds_max: count(),
});

export const UnitDeleted = shape('UnitDeleted', {
  id: z.uuid(),
  deleted: z.literal(true),
  message: z.string(),
});

export const ExitPayload = shape(
  'ExitPayload',
  {
    url: z.string().nullable().describe('The link to open; null where no wallet of that kind documents one'),
    links: z.record(z.string(), z.string()).describe('All links of the invoice, by kind'),
    address: z.string(),
    amount: decimalString(),
    memo: z.string().nullable(),
    chain: z.string(),
    currency: z.string(),
  },
  'What a wallet needs to pay an invoice.',
);
