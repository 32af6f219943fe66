// The tables of people: users, merchants, their wallets and offers, and what belongs to the database as a whole.
import type { Generated } from 'kysely';
import type { Flag, Once } from './columns.ts';

export interface MetaTable {
  name: string;
  value: string;
}

export interface UsersTable {
  id: Once<string>;
  email: string;
  source: Once<string>;
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
}

export interface MerchantsTable {
  /** Equals the user's id. */
  id: Once<string>;
  slug: string;
  api_key_hash: string;
  api_key_sealed: string;
  webhook_url: string | null;
  webhook_secret_sealed: string | null;
  /** Whether events of refills are posted to `webhook_url` too. */
  webhook_refills: Generated<Flag>;
  /** JSON array as sent, or null for all. */
  enabled_currencies: string | null;
  /** Head of the merchant's ledger chain; see LedgerTable. */
  prepaid_micros: bigint;
  ledger_seq: number;
  ledger_hash: string;
  created_at: Once<number>;
}

export interface WalletsTable {
  merchant_id: string;
  blockchain: string;
  address: string;
  address_key: string;
  updated_at: number;
}

export interface DeploymentWalletsTable {
  blockchain: string;
  address: string;
  address_key: string;
  note: string | null;
  updated_at: number;
}

export interface UnitsTable {
  id: Once<string>;
  merchant_id: Once<string>;
  slug: string;
  title: string;
  description: string | null;
  amount_usd_micros: bigint;
  /** JSON array as sent. */
  currencies: string;
  wait_seconds: number;
  language: string | null;
  active: Flag;
  created_at: Once<number>;
  updated_at: number;
}
