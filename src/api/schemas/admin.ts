// The operator's replies.
import { z } from 'zod';
import { sightStatuses } from '../../sight.ts';
import { count, decimalString, paged, shape, totals, unixSeconds } from '../describe/shape.ts';
import { BEYOND } from '../describe/shop-fields.ts';
import { AdminClaim } from './claim.ts';
import { EventPublic } from './event.ts';
import {
  amountMatches,
  BalancePublic,
  Dismissal,
  DustSum,
  IncomePublic,
  InvoicePublic,
  invoiceStatuses,
  networks,
  PaymentLogPublic,
  PaymentPublic,
  paymentStatuses,
  UnitPublic,
  WalletPublic,
  walletWarning,
} from './resources.ts';
import { SIGHT } from './system.ts';

export const LedgerEntryPublic = shape(
  'LedgerEntryPublic',
  {
    id: z.uuid(),
    seq: count().describe('1, 2, 3 … without gap'),
    kind: z.enum(['refill', 'credit', 'demo_credit', 'fee']),
    amount_usd: decimalString().describe('Negative for a debit'),
    balance_usd: decimalString().describe('Prepaid balance after it'),
    invoice_id: z.uuid().nullable(),
    note: z.string().nullable(),
    actor: z.string(),
    created_at: unixSeconds(),
    hash: z.string().describe('Chains every entry to the one before'),
  },
  "One booking on a merchant's prepaid balance.",
);

export const AdminMerchant = shape('AdminMerchant', {
  user_id: z.uuid(),
  email: z.string(),
  full_name: z.string().nullable(),
  is_active: z.boolean(),
  slug: z.string(),
  plan: z.string(),
  house: z.boolean().describe("The operator's own shop: neither limit nor fee"),
  prepaid_usd: decimalString(),
  limit_of_payments: decimalString(),
  units: count(),
  invoices: count(),
  confirmed_invoices: count(),
  confirmed_usd: decimalString().describe('Volume confirmed so far'),
  fees_usd: decimalString(),
  wallets: z.array(z.string()).describe('Blockchains that have a receive address'),
  created_at: unixSeconds(),
  last_invoice_at: unixSeconds().nullable(),
});

export const AdminMerchants = shape('AdminMerchants', paged(AdminMerchant));

export const AdminPayment = shape(
  'AdminPayment',
  {
    id: z.uuid().describe('The invoice, or a payment that no invoice shows'),
    invoice_id: z.uuid().nullable(),
    payment_id: z.uuid().nullable(),
    kind: z.enum(['sale', 'refill']).nullable(),
    owner_id: z.uuid().nullable().describe('Null for the platform key'),
    owner_slug: z.string().nullable(),
    chain: z.string(),
    currency: z.string(),
    status: z
      .enum([...invoiceStatuses, ...paymentStatuses.filter((status) => status !== 'confirmed')])
      .describe("The invoice's status; the payment's where no invoice shows it"),
    payment_status: z.enum(paymentStatuses).nullable(),
    amount: decimalString().nullable(),
    amount_usd: decimalString().nullable(),
    received_amount: decimalString().nullable(),
    amount_match: z.enum(amountMatches),
    txid: z.string().nullable(),
    confirmations: count(),
    external_ref: z.string().nullable(),
    memo: z.string().nullable().describe('Of the invoice'),
    candidates: count().describe('Open invoices that an unmatched transfer could mean, at most 20'),
    claimed_invoice_id: z
      .uuid()
      .nullable()
      .describe(
        'The invoice that a payer claimed it for first, which proves nothing. Beyond the specification',
      ),
    dismissed: Dismissal.nullable().describe(
      'Of a late or unmatched payment that waits no longer; null where none was dismissed. Beyond the specification',
    ),
    created_at: unixSeconds(),
    expires_at: unixSeconds().nullable(),
    paid_at: unixSeconds().nullable(),
  },
  'An invoice with its payment, or a payment that belongs to no open invoice.',
);

export const AdminPayments = shape('AdminPayments', {
  data: z.array(AdminPayment).describe('Newest first'),
  has_more: z.boolean(),
  skip: count(),
  limit: count(),
  ...totals(),
});

export const TransferPublic = shape(
  'TransferPublic',
  {
    id: z.uuid(),
    chain: z.string(),
    currency: z.string(),
    txid: z.string(),
    index: z.string().describe('Tells outputs of one transaction apart'),
    amount: decimalString(),
    memo: z.string().nullable(),
    sender: z.string().nullable(),
    height: z.int().nullable(),
    confirmations: count(),
    state: z.enum(['pending', 'final', 'gone']),
    disposition: z.enum(['matched', 'late', 'unmatched']),
    ambiguous: z.string().nullable().describe('Why it is not matched automatically'),
    booked_invoice_id: z.uuid().nullable(),
    chain_time: unixSeconds(),
    first_seen_at: unixSeconds(),
  },
  'One credit to a watched address, as it was read from the chain.',
);

export const TransactionLookup = shape(
  'TransactionLookup',
  {
    txid: z.string().describe('As it is stored, regardless of the spelling in the request'),
    source: z
      .enum(['chain', 'stored'])
      .describe('`stored`: the chain cannot be asked now, this is what was read before'),
    found: z.boolean().describe("Whether it paid the invoice's address in its asset"),
    currency: z.string(),
    amount: decimalString().describe('What the invoice asks for'),
    received_amount: decimalString().describe('What the transaction paid to its address'),
    amount_match: z.enum(amountMatches),
    booked_invoice_ids: z.array(z.uuid()).describe('Invoices that are booked with it already'),
    transfers: z.array(
      z.object({
        index: z.string(),
        amount: decimalString(),
        memo: z.string().nullable(),
        sender: z.string().nullable(),
        height: z.int().nullable(),
        confirmations: count(),
      }),
    ),
  },
  "What a transaction paid to an invoice's address.",
);

export const AdminPaymentDetail = shape('AdminPaymentDetail', {
  payment: AdminPayment,
  invoice: InvoicePublic.nullable(),
  payments: z.array(PaymentPublic).describe('The main payment first, then late ones'),
  logs: z.array(PaymentLogPublic).describe('Oldest first'),
  transfers: z.array(TransferPublic),
  candidates: z
    .array(InvoicePublic)
    .describe(
      'Invoices that an unmatched transfer could mean: those that a payer claims it for, then open ones, nearest amount first, at most 20 of each',
    ),
  claims: z
    .array(AdminClaim)
    .describe('What payers claim of it, oldest first. They prove nothing. Beyond the specification'),
  ledger: z.array(LedgerEntryPublic),
  income: IncomePublic.nullable(),
  events: z.array(EventPublic),
});

export const AdminMerchantDetail = shape('AdminMerchantDetail', {
  merchant: AdminMerchant,
  webhook_url: z.string().nullable(),
  webhook_refills: z.boolean(),
  enabled_currencies: z.array(z.string()).nullable(),
  balances: z.array(BalancePublic),
  wallets: z.array(WalletPublic),
  units: z.array(UnitPublic),
  ledger: z.array(LedgerEntryPublic).describe('The latest entries, newest first'),
  payments: z.array(AdminPayment).describe('The latest invoices, newest first'),
});

export const AdminCredit = shape('AdminCredit', {
  merchant: AdminMerchant,
  prepaid_usd: decimalString().describe('Balance after the credit'),
  limit_of_payments: decimalString().describe('Limit after the credit'),
  entry: LedgerEntryPublic,
});

export const AdminWebhookSecret = shape('AdminWebhookSecret', {
  webhook_secret: z.string().describe('`whsec_` and base64, or the text of the setting'),
});

export const AdminRefillWallet = WalletPublic.extend({ note: z.string().nullable() }).meta({
  id: 'AdminRefillWallet',
});

export const AdminRefillWallets = shape('AdminRefillWallets', {
  wallets: z.array(AdminRefillWallet),
  missing: z.array(z.string()).describe('Blockchains of enabled gateways that have no address'),
});

export const AdminRefillWalletsSet = AdminRefillWallets.extend({ warning: walletWarning() }).meta({
  id: 'AdminRefillWalletsSet',
});

const period = () =>
  z.object({
    day: decimalString().describe('Today, UTC'),
    week: decimalString().describe('The last 7 days, today included'),
    month: decimalString().describe('The last 30 days, today included'),
    total: decimalString(),
  });

const observerStatus = () => z.enum(sightStatuses).describe(SIGHT);

export const ProviderPublic = shape('ProviderPublic', {
  provider: z.string().describe('Kind and host, without keys'),
  state: z.enum(['unknown', 'ok', 'down', 'wrong_network']),
  requests: count().describe('Since the start, retries included'),
  failures: count(),
  last_ok_at: unixSeconds().nullable(),
  last_error: z.string().nullable(),
  last_error_at: unixSeconds().nullable(),
  backoff_until: unixSeconds().nullable().describe('Not asked before this moment'),
});

export const HintsPublic = shape('HintsPublic', {
  source: z.string().describe('Host, without keys'),
  connected_since: unixSeconds().nullable(),
  last_hint_at: unixSeconds().nullable().describe('Since the start'),
});

export const AccountBehind = shape('AccountBehind', {
  chain: z.string(),
  address_key: z.string().describe('The watched address as the chain names it'),
  account: z.string().describe('The account that holds the asset for it'),
  read_through: unixSeconds().nullable().describe('Everything made before is stored'),
  trouble: z.string(),
  failures: count().describe('In a row'),
  failed_since: unixSeconds().nullable(),
  retry_at: unixSeconds().nullable().describe('Not read again before this moment'),
});

export const contradictionKinds = [
  'transfer_amount',
  'booked_gone',
  'booked_left',
  'booking_differs',
  'provider_differs',
  'account_changed',
  'final_left',
] as const;

export const ContradictionPublic = shape('ContradictionPublic', {
  id: z.uuid(),
  blockchain: z.string(),
  kind: z
    .enum(contradictionKinds)
    .describe(
      '`transfer_amount`: one transaction was read with two amounts. `booked_gone`: a booked transaction left the chain. `booked_left`: the block of one did; closed automatically when it is in a block again, or gone. `booking_differs`: what was booked by hand is not what the chain has, or is not on the chain (`read_atomic` null). `provider_differs`: a second provider does not have what the first one reported. `account_changed`: the account of an asset has changed. `final_left`: blocks that the chain had called final left it',
    ),
  txid: z.string().nullable(),
  invoice_id: z.uuid().nullable(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).describe('What each side says'),
  count: count().describe('How often it occurred'),
  created_at: unixSeconds(),
  updated_at: unixSeconds(),
  closed_at: unixSeconds().nullable(),
  closed_by: z.string().nullable(),
  note: z.string().nullable(),
});

export const AdminContradictions = shape('AdminContradictions', {
  data: z.array(ContradictionPublic).describe('Newest first'),
  open: count().describe('How many are still open'),
  has_more: z.boolean(),
  ...totals(),
  skip: z.int(),
  limit: z.int(),
});

export const ObserverPublic = shape('ObserverPublic', {
  blockchain: z.string(),
  name: z.string(),
  provider: z.string().nullable().describe('The provider in use, without keys'),
  status: observerStatus(),
  providers: z.array(ProviderPublic).describe('In the order of preference'),
  hints: HintsPublic.nullable().describe(
    'A provider that says when something happens, as this daemon is connected to it; null where none is known',
  ),
  tip_height: z.int().nullable(),
  tip_time: unixSeconds().nullable(),
  cursor_height: z.int().nullable(),
  positions: z
    .array(
      z.object({
        chain: z.string(),
        height: z.int(),
        behind_seconds: z.int().describe('Behind `cursor_height`, by the measured pace'),
      }),
    )
    .describe(`How far assets were read that are not read with the rest. ${BEYOND}`),
  lag_seconds: z
    .int()
    .nullable()
    .describe('Age of the last complete reading; null where no address is watched'),
  watched_addresses: count(),
  pending: count().describe('Transfers that are seen but not final'),
  last_ok_at: unixSeconds().nullable(),
  unavailable_since: unixSeconds().nullable().describe('Since when it cannot be read, at any daemon'),
  last_error: z.string().nullable(),
  last_error_at: unixSeconds().nullable(),
  ranges: z
    .array(z.object({ scope: z.string(), from: z.int(), to: z.int() }))
    .describe('What was read completely: a gap would show between two of one scope'),
  unmatched: z.array(AdminPayment).describe('The latest transfers that pay no invoice'),
  unmatched_count: count(),
  late: z.array(AdminPayment).describe('The latest transfers for invoices that had ended'),
  late_count: count(),
  dust: z.array(DustSum).describe('The latest days on which dust came; at most 50'),
  requests: count().describe('Requests to providers since the start'),
  failures: count(),
  read_through: unixSeconds()
    .nullable()
    .describe(
      'Everything made before is stored, of every account that is not behind; null where each account has its own proof',
    ),
  accounts_behind: z
    .array(AccountBehind)
    .describe('Accounts that cannot be read, the longest-standing first; their invoices stay open'),
  unreadable_assets: z
    .array(z.object({ chain: z.string(), reason: z.string(), since: unixSeconds() }))
    .describe('Their invoices stay open, new ones are refused'),
  shared_addresses: z
    .array(z.object({ address_key: z.string(), owner_ids: z.array(z.uuid().nullable()) }))
    .describe(
      'Addresses that several accounts use, those first that go before the others; null is the deployment',
    ),
  contradictions: count().describe('Contradictions that are still open'),
  pace: z
    .object({
      seconds: z.number().describe('For one block, the median over some minutes'),
      hour_seconds: z.number().nullable().describe('The median over an hour; null until so much was read'),
      usual_seconds: z.number(),
      warning: z
        .string()
        .nullable()
        .describe(
          'Where it is over 30 % off the usual pace, or the settings count blocks that take less time than is usual; it stops nothing',
        ),
    })
    .nullable()
    .describe('How fast the chain makes blocks, as measured; null where nothing was'),
});

const clock = () =>
  z
    .object({
      trusted: z.boolean().describe('While it is not, no invoice ends'),
      offset_seconds: z.int().nullable().describe('How far ahead of the chains; null where nothing tells'),
      message: z.string().nullable(),
    })
    .describe('The clock of the daemon that answers, held against the tips of the chains');

export const AdminObservers = shape('AdminObservers', {
  clock: clock(),
  observers: z.array(ObserverPublic),
});

export const daemonStatuses = ['running', 'draining', 'silent'] as const;

export const DaemonPublic = shape(
  'DaemonPublic',
  {
    id: z.uuid(),
    host: z.string(),
    pid: count().describe('Its process on that host'),
    version: z.string(),
    status: z
      .enum(daemonStatuses)
      .describe('`draining`: takes no more work. `silent`: not seen for 9 seconds, its work is taken over'),
    is_this: z.boolean().describe('Whether it is the one that answers'),
    started_at: unixSeconds(),
    last_seen_at: unixSeconds(),
    draining_at: unixSeconds().nullable(),
    reads: z
      .array(
        z.object({
          blockchain: z.string(),
          lag_seconds: z.int().nullable().describe('Age of the last complete reading; null before the first'),
        }),
      )
      .describe('Blockchains that it reads'),
    delivering: count().describe('Webhooks that it is sending'),
  },
  'One of the daemons that share the database.',
);

export const AdminDaemons = shape('AdminDaemons', { daemons: z.array(DaemonPublic) });

export const AdminDashboard = shape('AdminDashboard', {
  version: z.string(),
  network: z.enum(networks),
  demo_mode: z.boolean(),
  generated_at: unixSeconds(),
  users: count(),
  merchants: count(),
  units: count(),
  invoices: z.record(z.enum(invoiceStatuses), count()).describe('Invoices by status'),
  volume_usd: period().describe('Confirmed sales'),
  fees_usd: period(),
  refills_usd: period(),
  prepaid_usd: decimalString().describe('Sum of all prepaid balances'),
  income: z
    .array(z.object({ currency: z.string(), count: count(), volume_usd: decimalString() }))
    .describe('Confirmed sales per currency'),
  attention: z
    .object({
      held: count(),
      late: count(),
      unmatched: count(),
      orphaned: count(),
      webhooks_failed: count().describe(
        'Confirmations that no receiver accepted, and that were not sent again',
      ),
      webhooks_unknown: count(),
      contradictions: count().describe('What two sources state differently and no person has closed'),
      accounts_behind: count().describe(
        'Accounts that cannot be read, at most 1000; their invoices stay open',
      ),
      unreadable_assets: count(),
    })
    .describe('What waits for a person'),
  near_limit: z
    .object({
      below_usd: decimalString().describe('Remaining limit that counts as near'),
      count: count().describe('At most 1000'),
      merchants: z
        .array(
          z.object({
            user_id: z.uuid(),
            slug: z.string(),
            prepaid_usd: decimalString(),
            limit_of_payments: decimalString(),
          }),
        )
        .describe('Lowest first, at most 20'),
    })
    .describe('Merchants with a history whose limit is nearly used up'),
  rates: z.object({
    source: z.enum(['live', 'fixed', 'demo']),
    updated_at: unixSeconds().nullable(),
    stale: z.boolean().describe('Whether any currency has no rate'),
    currencies: z.array(
      z.object({
        currency: z.string(),
        usd: decimalString().nullable(),
        updated_at: unixSeconds().nullable(),
        stale: z.boolean(),
      }),
    ),
  }),
  clock: clock(),
  shared_addresses: count().describe('Addresses that several accounts use; the observers list them'),
  observers: z.array(
    z.object({
      blockchain: z.string(),
      status: observerStatus(),
      lag_seconds: z.int().nullable(),
      unavailable_since: unixSeconds().nullable(),
    }),
  ),
});
