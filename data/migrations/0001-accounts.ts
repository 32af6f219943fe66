// The accounts' part of the first schema: users, merchants, wallets and units.

/** Statements with the words that 0001-foundation substitutes. */
export const accountTables = [
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
];
