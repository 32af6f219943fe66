// The whole schema of the first version. One text for both databases; the few words that differ are substituted.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const words: Record<Dialect, Record<string, string>> = {
  sqlite: { INT8: 'integer', SEQUENCE: 'integer primary key autoincrement', OPTIONS: 'strict' },
  postgres: { INT8: 'bigint', SEQUENCE: 'bigint generated always as identity primary key', OPTIONS: '' },
};

const tables = [
  `create table meta (name text primary key, value text not null) OPTIONS`,
  `create table users (
    id text primary key,
    email text not null,
    source text not null check (source in ('email', 'google', 'telegram')),
    subject text not null,
    password_hash text,
    full_name text,
    is_active integer not null check (is_active in (0, 1)),
    is_superuser integer not null check (is_superuser in (0, 1)),
    token_version integer not null,
    created_at INT8 not null,
    deleted_at INT8,
    unique (source, subject)
  ) OPTIONS`,
  `create index users_by_time on users (created_at, id)`,
  `create index users_by_email on users (email)`,
  `create table merchants (
    id text primary key references users (id),
    slug text not null unique,
    api_key_hash text not null unique,
    api_key_sealed text not null,
    webhook_url text,
    webhook_secret_sealed text,
    enabled_currencies text,
    prepaid_micros INT8 not null check (prepaid_micros >= 0),
    ledger_seq INT8 not null,
    ledger_hash text not null,
    created_at INT8 not null
  ) OPTIONS`,
  `create table wallets (
    merchant_id text not null references merchants (id),
    blockchain text not null,
    address text not null,
    address_key text not null,
    updated_at INT8 not null,
    primary key (merchant_id, blockchain)
  ) OPTIONS`,
  `create index wallets_by_address on wallets (blockchain, address_key)`,
  `create table deployment_wallets (
    blockchain text primary key,
    address text not null,
    address_key text not null,
    note text,
    updated_at INT8 not null
  ) OPTIONS`,
  `create table units (
    id text primary key,
    merchant_id text not null references merchants (id),
    slug text not null,
    title text not null,
    description text,
    amount_usd_micros INT8 not null check (amount_usd_micros > 0),
    currencies text not null,
    wait_seconds integer not null,
    language text,
    active integer not null check (active in (0, 1)),
    created_at INT8 not null,
    updated_at INT8 not null,
    unique (merchant_id, slug)
  ) OPTIONS`,
  `create table invoices (
    id text primary key,
    owner_id text references merchants (id),
    kind text not null check (kind in ('sale', 'refill')),
    unit_id text,
    chain text not null,
    blockchain text not null,
    currency text not null,
    network text not null,
    decimals integer not null,
    min_confirmations integer not null,
    amount_usd_micros INT8 not null check (amount_usd_micros > 0),
    amount_usd_fee_micros INT8 not null check (amount_usd_fee_micros >= 0),
    rate_usd_nanos text not null,
    amount_merchant_atomic text not null,
    amount_fee_atomic text not null,
    amount_atomic text not null,
    address text not null,
    address_key text not null,
    memo text,
    reference text,
    qr_payload text not null,
    exits text not null,
    status text not null check (status in ('created', 'confirmed', 'expired', 'cancelled', 'failed')),
    payment_id text,
    amount_match text not null check (amount_match in ('none', 'exact', 'over', 'under')),
    received_atomic text,
    txid text,
    confirmations integer not null,
    external_ref text,
    callback_url text,
    created_at INT8 not null,
    expires_at INT8 not null,
    paid_at INT8,
    ended_at INT8,
    due_at INT8,
    reserved integer check (reserved = 1),
    watch_until INT8 not null,
    check ((status = 'confirmed') = (paid_at is not null)),
    check ((status = 'created') = (due_at is not null))
  ) OPTIONS`,
  `create unique index invoices_memo on invoices (blockchain, address_key, memo) where memo is not null`,
  `create unique index invoices_reference on invoices (reference) where reference is not null`,
  `create unique index invoices_reserved on invoices (blockchain, address_key, chain, amount_atomic) where reserved = 1`,
  `create index invoices_due on invoices (blockchain, due_at) where due_at is not null`,
  `create index invoices_overdue on invoices (expires_at) where due_at is not null`,
  `create index invoices_release on invoices (watch_until) where reserved = 1`,
  `create index invoices_by_time on invoices (created_at, id)`,
  `create index invoices_by_owner on invoices (owner_id, created_at, id)`,
  `create index invoices_by_ref on invoices (owner_id, external_ref, created_at, id) where external_ref is not null`,
  `create table watches (
    blockchain text not null,
    address_key text not null,
    address text not null,
    since INT8 not null,
    open_until INT8 not null,
    watch_until INT8 not null,
    primary key (blockchain, address_key)
  ) OPTIONS`,
  `create index watches_live on watches (blockchain, watch_until)`,
  // What `listed_as` may be is checked from 0026 on: rows of older backups, which have other values, are put back before.
  `create table payments (
    id text primary key,
    invoice_id text references invoices (id),
    main integer check (main = 1),
    owner_id text,
    chain text not null,
    blockchain text not null,
    currency text not null,
    decimals integer not null,
    status text not null check (status in
      ('detected', 'confirming', 'held', 'confirmed', 'orphaned', 'late', 'unmatched')),
    txid text,
    received_atomic text not null,
    amount_match text not null check (amount_match in ('none', 'exact', 'over', 'under')),
    confirmations integer not null,
    listed_as text not null,
    listed_at INT8 not null,
    created_at INT8 not null,
    updated_at INT8 not null
  ) OPTIONS`,
  `create unique index payments_main on payments (invoice_id) where main = 1`,
  `create index payments_by_invoice on payments (invoice_id)`,
  `create index payments_held on payments (owner_id, created_at) where status = 'held'`,
  `create table transfers (
    id text primary key,
    blockchain text not null,
    txid text not null,
    idx text not null,
    chain text not null,
    address_key text not null,
    amount_atomic text not null,
    memo text,
    reference_keys text not null,
    sender text,
    ambiguous text,
    height INT8,
    block_hash text,
    chain_time INT8 not null,
    confirmations integer not null,
    state text not null check (state in ('pending', 'final', 'gone')),
    disposition text not null check (disposition in ('matched', 'late', 'unmatched')),
    invoice_id text references invoices (id),
    payment_id text references payments (id),
    booked_invoice_id text references invoices (id),
    first_seen_at INT8 not null,
    updated_at INT8 not null,
    unique (blockchain, txid, idx)
  ) OPTIONS`,
  `create index transfers_pending on transfers (blockchain, id) where state = 'pending'`,
  `create index transfers_by_invoice on transfers (invoice_id) where invoice_id is not null`,
  `create index transfers_by_payment on transfers (payment_id) where payment_id is not null`,
  `create index transfers_by_block on transfers (blockchain, block_hash) where block_hash is not null`,
  `create index transfers_by_address on transfers (blockchain, address_key, chain)`,
  `create index transfers_unmatched on transfers (blockchain, first_seen_at, id) where disposition <> 'matched'`,
  `create table payment_logs (
    seq SEQUENCE,
    id text not null unique,
    payment_id text references payments (id),
    invoice_id text references invoices (id),
    from_status text,
    to_status text not null,
    txid text,
    confirmations integer not null,
    note text,
    actor text not null,
    created_at INT8 not null
  ) OPTIONS`,
  `create index payment_logs_by_payment on payment_logs (payment_id, seq)`,
  `create index payment_logs_by_invoice on payment_logs (invoice_id, seq)`,
  `create table ledger (
    id text primary key,
    merchant_id text not null references merchants (id),
    seq INT8 not null check (seq > 0),
    kind text not null check (kind in ('refill', 'fee', 'credit', 'demo_credit')),
    debit_account text not null,
    credit_account text not null check (credit_account <> debit_account),
    amount_micros INT8 not null check (amount_micros > 0),
    balance_micros INT8 not null check (balance_micros >= 0),
    invoice_id text references invoices (id),
    note text,
    actor text not null,
    created_at INT8 not null,
    previous_hash text not null,
    hash text not null,
    unique (merchant_id, seq)
  ) OPTIONS`,
  `create unique index ledger_once on ledger (invoice_id, kind) where invoice_id is not null`,
  `create table income (
    seq SEQUENCE,
    id text not null unique,
    merchant_id text not null references merchants (id),
    invoice_id text not null unique references invoices (id),
    chain text not null,
    currency text not null,
    amount_atomic text not null,
    decimals integer not null,
    amount_usd_micros INT8 not null,
    fee_charged_micros INT8 not null check (fee_charged_micros >= 0),
    txid text,
    webhook_status text not null check (webhook_status in ('none', 'pending', 'delivered', 'failed', 'unknown')),
    created_at INT8 not null
  ) OPTIONS`,
  `create index income_by_merchant on income (merchant_id, created_at, seq)`,
  `create table income_totals (
    merchant_id text not null references merchants (id),
    day text not null,
    currency text not null,
    decimals integer not null,
    count integer not null,
    amount_atomic text not null,
    amount_usd_micros INT8 not null,
    fee_charged_micros INT8 not null,
    primary key (merchant_id, day, currency)
  ) OPTIONS`,
  `create table balances (
    merchant_id text not null references merchants (id),
    currency text not null,
    decimals integer not null,
    amount_atomic text not null,
    primary key (merchant_id, currency)
  ) OPTIONS`,
  `create table events (
    seq SEQUENCE,
    id text not null unique,
    xid text not null,
    merchant_id text references merchants (id),
    type text not null,
    invoice_id text references invoices (id),
    payment_id text,
    body text not null,
    created_at INT8 not null
  ) OPTIONS`,
  `create index events_by_merchant on events (merchant_id, seq)`,
  `create unique index events_confirmed_once on events (invoice_id) where type = 'invoice.confirmed'`,
  `create table deliveries (
    id text primary key,
    event_id text not null references events (id),
    merchant_id text references merchants (id),
    url text not null,
    host text not null,
    kind text not null check (kind in ('automatic', 'manual')),
    status text not null check (status in ('pending', 'sending', 'delivered', 'failed', 'unknown')),
    instance_id text,
    claimed_at INT8,
    finished_at INT8,
    http_status integer,
    error text,
    duration_ms integer,
    created_at INT8 not null
  ) OPTIONS`,
  `create unique index deliveries_once on deliveries (event_id) where kind = 'automatic'`,
  `create index deliveries_open on deliveries (status, created_at) where status in ('pending', 'sending')`,
  `create index deliveries_by_event on deliveries (event_id, created_at)`,
  `create index deliveries_failed on deliveries (merchant_id, created_at) where status in ('failed', 'unknown')`,
  `create table cursors (
    blockchain text primary key,
    cursor text,
    version INT8 not null,
    tip_height INT8,
    tip_hash text,
    tip_time INT8,
    last_ok_at INT8,
    last_error text,
    last_error_at INT8
  ) OPTIONS`,
  `create table account_cursors (
    blockchain text not null,
    account text not null,
    cursor text not null,
    updated_at INT8 not null,
    primary key (blockchain, account)
  ) OPTIONS`,
  `create table read_ranges (
    blockchain text not null,
    scope text not null,
    from_position INT8 not null,
    to_position INT8 not null,
    updated_at INT8 not null,
    primary key (blockchain, scope, from_position)
  ) OPTIONS`,
  `create table idempotency (
    caller text not null,
    key text not null,
    request_hash text not null,
    resource_id text not null,
    status integer,
    body text,
    created_at INT8 not null,
    primary key (caller, key)
  ) OPTIONS`,
  `create index idempotency_by_time on idempotency (created_at)`,
  `create table leases (name text primary key, holder text not null, until_ms INT8 not null) OPTIONS`,
];

/** What is written stays: an UPDATE or DELETE of these is refused by the database itself. */
const appendOnly = ['ledger', 'payment_logs', 'events'];

const guards: Record<Dialect, (table: string) => string[]> = {
  sqlite: (table) =>
    ['update', 'delete'].map(
      (verb) =>
        `create trigger ${table}_no_${verb} before ${verb} on ${table}
         begin select raise(abort, '${table} is append-only'); end`,
    ),
  postgres: (table) => [
    `create trigger ${table}_append_only before update or delete on ${table}
     for each row execute function refuse_change()`,
  ],
};

const refuseChange = `create function refuse_change() returns trigger language plpgsql as
  $$ begin raise exception '% is append-only', tg_table_name; end $$`;

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const translate = (text: string): string =>
    text.replace(/\b(INT8|SEQUENCE|OPTIONS)\b/g, (word) => words[dialect][word] ?? word);
  const statements = [
    ...tables.map(translate),
    ...(dialect === 'postgres' ? [refuseChange] : []),
    ...appendOnly.flatMap(guards[dialect]),
  ];
  for (const statement of statements) await sql.raw(statement).execute(query);
}
