// The tables and the TypeScript shape of their rows. Columns ending `_micros` are bigint, all other integers are
// number; coin amounts are TEXT holding an integer of atomic units, because 18 decimals pass 64 bits.
import type { ColumnType, Generated, InsertType, Selectable } from 'kysely';
import type { contradictionKinds } from '../../src/api/schemas/admin.ts';
import type { deliveryStatuses } from '../../src/api/schemas/event.ts';
import type { userSources, webhookStatuses } from '../../src/api/schemas/resources.ts';
import type { Json, Network } from '../../src/chains/family.ts';
import type { ClaimFinding, ClaimReason } from '../../src/claim.ts';
import type { EventType } from '../../src/event-types.ts';
import type { AmountMatch, InvoiceStatus, PaymentStatus } from '../../src/invoice.ts';
import type { LedgerKind } from '../../src/ledger.ts';
import type { PictureType } from '../../src/picture.ts';
import type { InvoiceShop, MerchantProfile, UnitShop } from '../../src/shop.ts';
import type { JsonColumn, JsonOnce, JsonText } from './json.ts';

/**
 * `transfer_amount`: one transaction was read with two amounts. `booked_gone`: a transaction left the chain after it was
 * booked. `booked_left`: its block did, and it may be mined again. `booking_differs`: what was booked by hand is not what
 * the chain has. `provider_differs`: a second provider does not have what the first one showed. `account_changed`: the
 * account of an asset has changed. `final_left`: blocks that the chain had called final left it.
 */
export type ContradictionKind = (typeof contradictionKinds)[number];
export type UserSource = (typeof userSources)[number];
type InvoiceKind = 'sale' | 'refill';
/** Under which name the database lists money that no invoice shows; before the kind of an invoice, alongside that one. */
export const UNAPPLIED = 'unapplied';
type Disposition = 'matched' | 'late' | 'unmatched';
/** Of an invoice, of its payment, or of a part that an operator gave to another invoice. */
export type LoggedStatus = InvoiceStatus | PaymentStatus | Disposition;
/** How the webhook of an income record went: that of its delivery, or `none` where there is no address to post to. */
export type WebhookStatus = (typeof webhookStatuses)[number];

/** 0 or 1: both databases keep it as an integer. */
type Flag = 0 | 1;

/** Written once, never updated. */
type Once<T> = ColumnType<T, T, never>;

interface MetaTable {
  name: string;
  value: string;
}

interface UsersTable {
  id: Once<string>;
  email: string;
  source: Once<UserSource>;
  /** Identity within its source: the lower-cased address, Google's `sub`, Telegram's numeric id. */
  subject: string;
  password_hash: string | null;
  full_name: string | null;
  is_active: Flag;
  is_superuser: Flag;
  /** Part of every token; raised to end them all. */
  token_version: number;
  created_at: Once<number>;
  /** Set when the account is deleted: identity is blanked, the books stay. */
  deleted_at: number | null;
  /** Unix seconds; null: no one has shown yet that mail to this address reaches the user. */
  email_proved_at: number | null;
  /** The address that the user has asked for, until mail to it was answered. */
  pending_email: string | null;
}

interface MerchantsTable {
  /** Equals the user's id. */
  id: Once<string>;
  slug: string;
  api_key_hash: string;
  api_key_sealed: string;
  webhook_url: string | null;
  webhook_secret_sealed: string | null;
  /** The key of before, which works until its end (Unix seconds); null where there is none. */
  previous_api_key_hash: Generated<string | null>;
  previous_api_key_ends_at: Generated<number | null>;
  /** The webhook secret of before, which signs too until its end (Unix seconds). */
  previous_webhook_secret_sealed: Generated<string | null>;
  previous_webhook_secret_ends_at: Generated<number | null>;
  /** Whether events of refills are posted to `webhook_url` too. */
  webhook_refills: Generated<Flag>;
  /** As sent, or null for all. */
  enabled_currencies: JsonColumn<string[]> | null;
  /** Head of the merchant's ledger chain; see LedgerTable. */
  prepaid_micros: bigint;
  ledger_seq: number;
  ledger_hash: string;
  /** Since when it is the operator's own, without limit and fee; null for every other. */
  house_since: Generated<number | null>;
  /** When it was last notified that its limit is used up. */
  limit_noted_at: Generated<number | null>;
  /** What buyers see of it, and where they may be led to; null where nothing is set. */
  profile: ColumnType<
    MerchantProfile | null,
    JsonText<MerchantProfile> | null | undefined,
    JsonText<MerchantProfile> | null
  >;
  created_at: Once<number>;
}

interface WalletsTable {
  merchant_id: string;
  blockchain: string;
  address: string;
  address_key: string;
  updated_at: number;
}

interface DeploymentWalletsTable {
  blockchain: string;
  address: string;
  address_key: string;
  note: string | null;
  updated_at: number;
}

interface UnitsTable {
  id: Once<string>;
  merchant_id: Once<string>;
  slug: string;
  title: string;
  description: string | null;
  amount_usd_micros: bigint;
  /** As sent. */
  currencies: JsonColumn<string[]>;
  wait_seconds: number;
  language: string | null;
  active: Flag;
  /** Its picture, and where its buyers return to; null where nothing is set. */
  shop: JsonColumn<UnitShop> | null;
  /** Whether search engines may list its page. */
  listed: Flag;
  created_at: Once<number>;
  updated_at: number;
}

/** What is asked for in one coin. */
interface TermsColumns {
  chain: string;
  blockchain: string;
  currency: string;
  network: Network;
  decimals: number;
  /** Decides where there are no seconds; elsewhere it is shown. */
  min_confirmations: number;
  /** Seconds of the chain's own time that its payment's block must be old; null where blocks decide. */
  confirm_seconds: number | null;
  /** 1: nothing but the chain's own word counts, which usually takes `confirm_seconds`. */
  until_final: Flag;
  amount_usd_fee_micros: bigint;
  /** USD × 10^9 per whole coin, frozen. */
  rate_usd_nanos: string;
  amount_merchant_atomic: string;
  amount_fee_atomic: string;
  amount_atomic: string;
  address: string;
  address_key: string;
  memo: string | null;
  reference: string | null;
  qr_payload: string;
  exits: JsonColumn<Record<string, string>>;
}

interface InvoicesTable extends TermsColumns {
  id: Once<string>;
  /** Null for invoices of the platform key. */
  owner_id: Once<string | null>;
  kind: Once<InvoiceKind>;
  unit_id: Once<string | null>;
  amount_usd_micros: Once<bigint>;
  status: InvoiceStatus;
  payment_id: string | null;
  amount_match: AmountMatch;
  received_atomic: string | null;
  txid: string | null;
  confirmations: number;
  external_ref: Once<string | null>;
  callback_url: Once<string | null>;
  created_at: Once<number>;
  expires_at: number;
  paid_at: number | null;
  ended_at: number | null;
  /** When this `created` invoice must next be evaluated by the clock; null once it has ended. */
  due_at: number | null;
  /** Amount reservation: 1 while the owner may not give (address, asset, amount) out again, null otherwise. */
  reserved: 1 | null;
  /** When an ended invoice gives its amount back, Unix seconds; null while it is open, and where none was reserved. */
  reserved_until: number | null;
  /** Who asked without credentials, as a keyed hash of his network address; null for holders of a key, and once it is forgotten. */
  caller: ColumnType<string | null, string | null, null>;
  /** Who buys what, as a keyed hash that no other has. Null where its buyer is not known, has changed its coin, or began another. */
  buyer: ColumnType<string | null, string | null | undefined, null>;
  /** Of the request that made it; null for what a version before 0015 made. */
  request_id: Once<string | null>;
  /** Until when late transfers are searched, Unix seconds. */
  watch_until: number;
  /** What its page shows besides, and where its buyer returns to; null where nothing is set. */
  shop: JsonOnce<InvoiceShop> | null;
  /** Where its receipt goes; null once that was sent, and where none is wanted. */
  customer_email: ColumnType<string | null, string | null, null>;
  /** Not before then is sending the receipt tried again, Unix seconds. */
  receipt_due_at: number | null;
  /** Since when its present coin is asked for, Unix seconds; null: since it was made. */
  offered_at: number | null;
  /** When it was to expire at first, Unix seconds; null while that is when it expires. */
  first_expires_at: number | null;
  /** When a part that was paid in time has prolonged it, Unix seconds; null where none has. */
  prolonged_at: number | null;
  /** How often its coin was changed. */
  switches: ColumnType<number, number | undefined, number>;
  /** The coins among which its buyer may choose; null: those of its unit, or none but its own. */
  payable_with: JsonOnce<string[]> | null;
}

/** What an invoice asked for before its buyer chose another coin: one row for each of its other coins. */
interface FormerTermsTable extends TermsColumns {
  invoice_id: Once<string>;
  owner_id: Once<string | null>;
  /** Since when it was asked for, Unix seconds. */
  offered_at: number;
  /** As of an invoice. */
  reserved: 1 | null;
  reserved_until: number | null;
  watch_until: number;
}

interface PicturesTable {
  id: Once<string>;
  /** The merchant, or the empty text for the platform. */
  owner_id: Once<string>;
  type: Once<PictureType>;
  /** In base64. */
  data: Once<string>;
  /** When it was last named, Unix seconds. */
  used_at: number;
}

interface TransfersTable {
  id: Once<string>;
  blockchain: Once<string>;
  txid: Once<string>;
  /** Changes only where what a provider had stated makes room for what is read. */
  idx: string;
  chain: Once<string>;
  address_key: Once<string>;
  amount_atomic: Once<string>;
  memo: Once<string | null>;
  reference_keys: JsonOnce<string[]>;
  sender: Once<string | null>;
  ambiguous: Once<string | null>;
  height: number | null;
  block_hash: string | null;
  /** When it was made, as far as is known: not before and not after, Unix seconds of our clock. */
  earliest_at: number;
  latest_at: number;
  /** The outputs that it spends (`txid:vout`), where the chain has such. */
  inputs: JsonOnce<string[]>;
  /** The blockhash that bounds its life, where the chain has such. */
  blockhash: Once<string | null>;
  /** The second provider that has it too, where its invoice asks for one. */
  witness: string | null;
  confirmations: number;
  /** Seconds of the chain's own time since its block; null in none, and where that is not known. */
  depth_seconds: number | null;
  /** `pending`: may still be dropped; `final`: counts; `gone`: dropped or reorged. */
  state: 'pending' | 'final' | 'gone';
  /** 1 while only a look-up has shown it: it stands in no block that was read, and confirms nothing. */
  unread: 1 | null;
  /** What it was found to be. */
  disposition: Disposition;
  invoice_id: string | null;
  payment_id: string | null;
  /** Set once when it is counted in a confirmed invoice: an output books once, ever. */
  booked_invoice_id: string | null;
  /** The day since 1970 that it is counted in as dust; null where it is none. */
  dust_day: number | null;
  /** At which version of the cursor it was placed in its block; null where no cursor stands behind it. */
  placed_version: number | null;
  first_seen_at: Once<number>;
  updated_at: number;
}

interface PaymentsTable {
  id: Once<string>;
  invoice_id: string | null;
  /** 1 for the payment an invoice shows; null for late and unmatched ones. */
  main: 1 | null;
  owner_id: string | null;
  chain: string;
  blockchain: string;
  currency: string;
  decimals: number;
  status: PaymentStatus;
  txid: string | null;
  received_atomic: string;
  amount_match: AmountMatch;
  confirmations: number;
  /**
   * What it is in the operator's list: shown by its invoice (its kind), or unapplied, alongside its invoice (with its kind)
   * or without one.
   */
  listed_as: InvoiceKind | `${typeof UNAPPLIED}_${InvoiceKind}` | typeof UNAPPLIED;
  /** Its place in the operator's list, Unix seconds: the invoice's creation where the invoice shows it. */
  listed_at: number;
  /** 1: late or unmatched, and a person has dealt with it elsewhere; by whom, when (Unix seconds) and why. */
  dismissed: Flag;
  dismissed_at: number | null;
  dismissed_by: string | null;
  dismissed_note: string | null;
  created_at: Once<number>;
  updated_at: number;
}

interface PaymentLogsTable {
  id: Once<string>;
  seq: Generated<number>;
  payment_id: Once<string | null>;
  invoice_id: Once<string | null>;
  from_status: Once<LoggedStatus | null>;
  to_status: Once<LoggedStatus>;
  txid: Once<string | null>;
  confirmations: Once<number>;
  note: Once<string | null>;
  actor: Once<string>;
  created_at: Once<number>;
}

/** What a payer says that he has paid for an invoice, and what was found of it last. */
interface ClaimsTable {
  id: Once<string>;
  invoice_id: Once<string>;
  /** The invoice's; null for the platform key. */
  owner_id: Once<string | null>;
  /** The empty text stands for a claim that names no transaction. */
  txid: Once<string>;
  found: ClaimFinding;
  reason: ClaimReason | null;
  /** Of what was found; null where nothing was. */
  chain: string | null;
  currency: string | null;
  decimals: number | null;
  amount_atomic: string | null;
  seen_at: number | null;
  /** The late or unmatched payment that it names. */
  payment_id: string | null;
  times: number;
  created_at: Once<number>;
  updated_at: number;
}

interface LedgerTable {
  id: Once<string>;
  merchant_id: Once<string>;
  /** 1, 2, 3 … per merchant, without gap. */
  seq: Once<number>;
  kind: Once<LedgerKind>;
  debit_account: Once<string>;
  credit_account: Once<string>;
  amount_micros: Once<bigint>;
  /** The merchant's prepaid balance after this entry. */
  balance_micros: Once<bigint>;
  invoice_id: Once<string | null>;
  note: Once<string | null>;
  actor: Once<string>;
  created_at: Once<number>;
  previous_hash: Once<string>;
  hash: Once<string>;
  /** 1: SHA-256; 2: HMAC-SHA-256 under the key of the ledger, since there is one. */
  hash_version: Once<1 | 2>;
}

/** The entry up to which a merchant's chain has hashes that anybody can compute, sealed with the key of the ledger. */
interface LedgerSealsTable {
  merchant_id: Once<string>;
  seq: Once<number>;
  hash: Once<string>;
  seal: Once<string>;
}

interface IncomeTable {
  id: Once<string>;
  seq: Generated<number>;
  merchant_id: Once<string>;
  invoice_id: Once<string>;
  chain: Once<string>;
  currency: Once<string>;
  amount_atomic: Once<string>;
  decimals: Once<number>;
  amount_usd_micros: Once<bigint>;
  fee_charged_micros: Once<bigint>;
  /** 1 where its merchant was the operator's own, and sold without fee. */
  house: Once<Flag>;
  txid: Once<string | null>;
  webhook_status: WebhookStatus;
  created_at: Once<number>;
}

/** Running sums, so that no answer needs to add up a merchant's whole history. */
interface IncomeTotalsTable {
  merchant_id: string;
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  currency: string;
  decimals: number;
  count: number;
  amount_atomic: string;
  amount_usd_micros: bigint;
  fee_charged_micros: bigint;
}

interface BalancesTable {
  merchant_id: string;
  currency: string;
  /** Decimals of `amount_atomic`: the most any gateway of the currency has. */
  decimals: number;
  amount_atomic: string;
}

interface EventsTable {
  id: Once<string>;
  seq: Generated<number>;
  merchant_id: Once<string | null>;
  type: Once<EventType>;
  invoice_id: Once<string | null>;
  payment_id: Once<string | null>;
  /** The exact text that is signed and sent. */
  body: Once<string>;
  created_at: Once<number>;
}

/** PostgreSQL only: committed events that have no position in their merchant's feed yet. */
interface UnplacedEventsTable {
  merchant_id: Once<string>;
  event_seq: Once<number>;
}

/** PostgreSQL only: the order of each merchant's feed, 1, 2, 3 … without gap, given when it is read. */
interface EventPositionsTable {
  merchant_id: Once<string>;
  position: Once<number>;
  event_seq: Once<number>;
}

/** What retention has removed. */
interface RemovalsTable {
  name: Once<'events' | 'logs'>;
  /** Whose events; the empty text stands for those of no merchant, and for all logs. */
  merchant_id: Once<string>;
  /** Nothing that was removed is newer, Unix seconds. */
  through_at: number;
  /** The last position that was removed from the merchant's feed; 0 for logs. */
  through_position: number;
  count: number;
}

interface DeliveriesTable {
  id: Once<string>;
  event_id: Once<string>;
  merchant_id: Once<string | null>;
  url: Once<string>;
  /** Host and port of `url`: deliveries to one host are limited together. */
  host: Once<string>;
  kind: Once<'automatic' | 'manual'>;
  status: (typeof deliveryStatuses)[number];
  instance_id: string | null;
  claimed_at: number | null;
  finished_at: number | null;
  http_status: number | null;
  error: string | null;
  duration_ms: number | null;
  created_at: Once<number>;
}

interface WatchesTable {
  blockchain: string;
  address_key: string;
  address: string;
  since: number;
  /** Until when an invoice may still be open. */
  open_until: number;
  watch_until: number;
}

interface CursorsTable {
  blockchain: string;
  /** The family's own. */
  cursor: JsonColumn<Json> | null;
  /** Raised at every move; a move is a compare-and-set on it. */
  version: number;
  /** Pages are stored to their end up to this version. */
  whole_version: Generated<number>;
  tip_height: number | null;
  tip_hash: string | null;
  tip_time: number | null;
  /** When the last complete reading began, Unix seconds of our clock. */
  last_ok_at: number | null;
  last_error: string | null;
  last_error_at: number | null;
  /** Everything made before is stored, of every account without a proof of its own; Unix seconds of our clock. */
  read_through: number | null;
  /** When a provider answered last, as far as daemons say it to each other; Unix seconds. */
  answered_at: number | null;
  /** Since when it has not been read, Unix seconds; null while it is, or where that is not known yet. */
  blind_since: number | null;
  /** Millionths of a second for one block: the median over some minutes, and over an hour; null where nothing was measured. */
  pace_recent_micros: bigint | null;
  pace_hour_micros: bigint | null;
}

/** How far single accounts were read, where that is not as far as the rest of their blockchain. */
interface AccountProofsTable {
  blockchain: string;
  address_key: string;
  chain: string;
  /** The account on the chain that holds the asset for the address. */
  account: string;
  /** Everything made before is stored, Unix seconds of our clock; null: nothing is proved. */
  read_through: number | null;
  /** Why it is not read further. */
  trouble: string | null;
  /** Failures in a row. */
  failures: number;
  failed_since: number | null;
  /** It is left alone until then. */
  retry_at: number | null;
  updated_at: number;
}

/** Assets whose contract, mint or master cannot be read. */
interface UnreadableAssetsTable {
  blockchain: string;
  chain: string;
  reason: string;
  since: number;
}

/** What a provider was found to take at once, in its own unit. */
interface ProviderLimitsTable {
  blockchain: string;
  /** As messages name it: its kind and its host. */
  provider: string;
  name: string;
  value: number;
  learnt_at: number;
}
export type ProviderLimitRow = Selectable<ProviderLimitsTable>;

/** Who has asked for payments to an address. */
interface AddressAccountsTable {
  blockchain: string;
  address_key: string;
  /** The merchant; the empty text stands for the deployment itself. */
  owner_id: Once<string>;
  since: Once<number>;
  /** When a payment read from the chain was first booked for him there. */
  first_sale_at: number | null;
  /** Volume of what was booked for him there, in USD: who has sold more goes before the others. */
  sold_micros: Generated<bigint>;
  /** 1 where another uses the address too. */
  shared: 1 | null;
}

/** What two sources say differently of one thing, until a person closes it. */
interface ContradictionsTable {
  id: Once<string>;
  blockchain: Once<string>;
  kind: Once<ContradictionKind>;
  /** What it is about; at most one of a kind is open for it. */
  subject: Once<string>;
  txid: Once<string | null>;
  invoice_id: Once<string | null>;
  /** What each side says. */
  details: JsonColumn<Record<string, string | number | null>>;
  /** How often it was met. */
  count: number;
  created_at: Once<number>;
  updated_at: number;
  closed_at: number | null;
  closed_by: string | null;
  note: string | null;
}

interface AccountCursorsTable {
  blockchain: string;
  account: string;
  cursor: JsonColumn<Json>;
  updated_at: number;
}

/** What is below any price worth asking and pays nothing, for each address, asset and day. */
interface DustTable {
  blockchain: Once<string>;
  chain: Once<string>;
  address_key: Once<string>;
  /** Days since 1970, UTC. */
  day: Once<number>;
  count: number;
  amount_atomic: string;
  updated_at: number;
}

interface ReadRangesTable {
  blockchain: string;
  scope: string;
  from_position: number;
  to_position: number;
  updated_at: number;
}

interface IdempotencyTable {
  caller: string;
  key: string;
  request_hash: string;
  /** Id of what the request makes: the same again where its process died midway. */
  resource_id: string;
  /** Null while the first request is in progress. */
  status: number | null;
  body: string | null;
  created_at: number;
  /** The daemon that works on it, or did. */
  holder: string | null;
}

interface LeasesTable {
  name: string;
  holder: string;
  until_ms: number;
}

/** The daemons of a database, as each describes itself. Times are Unix seconds. */
interface DaemonsTable {
  id: string;
  host: string;
  pid: number;
  version: string;
  started_at: number;
  last_seen_at: number;
  /** Blockchains, separated by spaces. */
  reads: string;
  delivering: number;
  draining_at: number | null;
  /** Proofs of the secrets that it can open values of, separated by spaces; it seals with the first. */
  secrets: Generated<string>;
}

/** What operators are notified of. Times are Unix seconds. */
interface NoticesTable {
  seq: Generated<number>;
  cause: Once<string>;
  subject: Once<string>;
  text: Once<string>;
  found_at: Once<number>;
  /** When it was found to hold no more; null for what only happened. */
  ended_at: ColumnType<number | null, number | null | undefined, number | null>;
}

/** How far each address of an operator was notified of each cause. */
interface NoticeTargetsTable {
  target: string;
  cause: string;
  sent_through: number;
  next_at: number;
  failures: number;
}

/** One row, which is written to know that the database takes writes. */
interface WriteProbesTable {
  id: number;
  written_at: number;
}

/** Rollups: running sums that triggers maintain; see migrations/0002-operator.ts. A sum is that of all its shards. */
interface TalliesTable {
  name: string;
  key: string;
  /** Days since 1970, UTC; 0 where the sum has no days. */
  day: number;
  shard: number;
  count: number;
  amount_micros: bigint;
  fee_micros: bigint;
}

export interface Tables {
  meta: MetaTable;
  users: UsersTable;
  merchants: MerchantsTable;
  wallets: WalletsTable;
  deployment_wallets: DeploymentWalletsTable;
  units: UnitsTable;
  invoices: InvoicesTable;
  former_terms: FormerTermsTable;
  watches: WatchesTable;
  transfers: TransfersTable;
  payments: PaymentsTable;
  payment_logs: PaymentLogsTable;
  ledger: LedgerTable;
  ledger_seals: LedgerSealsTable;
  income: IncomeTable;
  income_totals: IncomeTotalsTable;
  balances: BalancesTable;
  events: EventsTable;
  unplaced_events: UnplacedEventsTable;
  event_positions: EventPositionsTable;
  removals: RemovalsTable;
  claims: ClaimsTable;
  deliveries: DeliveriesTable;
  cursors: CursorsTable;
  account_cursors: AccountCursorsTable;
  account_proofs: AccountProofsTable;
  address_accounts: AddressAccountsTable;
  unreadable_assets: UnreadableAssetsTable;
  provider_limits: ProviderLimitsTable;
  contradictions: ContradictionsTable;
  dust: DustTable;
  read_ranges: ReadRangesTable;
  idempotency: IdempotencyTable;
  leases: LeasesTable;
  daemons: DaemonsTable;
  notices: NoticesTable;
  notice_targets: NoticeTargetsTable;
  write_probes: WriteProbesTable;
  tallies: TalliesTable;
  pictures: PicturesTable;
}

/** Names of columns whose values are written as JSON. */
type JsonColumnOf<Table> = {
  [Name in keyof Table]: Extract<InsertType<Table[Name]>, JsonText<unknown>> extends never ? never : Name;
}[keyof Table];

/** All of them: no other column has such a name. */
export const jsonColumns: Record<{ [Name in keyof Tables]: JsonColumnOf<Tables[Name]> }[keyof Tables], true> =
  {
    currencies: true,
    cursor: true,
    details: true,
    enabled_currencies: true,
    exits: true,
    inputs: true,
    payable_with: true,
    profile: true,
    reference_keys: true,
    shop: true,
  };

export type UserRow = Selectable<UsersTable>;
export type MerchantRow = Selectable<MerchantsTable>;
export type WalletRow = Selectable<WalletsTable>;
export type DeploymentWalletRow = Selectable<DeploymentWalletsTable>;
export type UnitRow = Selectable<UnitsTable>;
export type InvoiceRow = Selectable<InvoicesTable>;
export type FormerTermsRow = Selectable<FormerTermsTable>;
export type TransferRow = Selectable<TransfersTable>;
export type PaymentRow = Selectable<PaymentsTable>;
export type PaymentLogRow = Selectable<PaymentLogsTable>;
export type LedgerRow = Selectable<LedgerTable>;
export type IncomeRow = Selectable<IncomeTable>;
export type DustRow = Selectable<DustTable>;
export type EventRow = Selectable<EventsTable>;
export type DeliveryRow = Selectable<DeliveriesTable>;
export type AddressAccountRow = Selectable<AddressAccountsTable>;
export type AccountProofRow = Selectable<AccountProofsTable>;
export type ClaimRow = Selectable<ClaimsTable>;
export type ContradictionRow = Selectable<ContradictionsTable>;
export type CursorRow = Selectable<CursorsTable>;
export type DaemonRow = Selectable<DaemonsTable>;
export type NoticeRow = Selectable<NoticesTable>;
export type WatchRow = Selectable<WatchesTable>;
