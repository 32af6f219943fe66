// Merchant accounts and the wallets that buyers pay into.
import { type Insertable, sql } from 'kysely';
import type { Db, Executor, Tx } from './db/database.ts';
import { isUniqueViolation } from './db/failures.ts';
import { cached, lookup, question } from './db/prepared.ts';
import { toJson } from './schema/json.ts';
import type { DeploymentWalletRow, MerchantRow, Tables, WalletRow } from './schema/tables.ts';

/** False when slug or key is taken. */
export async function insertMerchant(tx: Tx, merchant: Insertable<Tables['merchants']>): Promise<boolean> {
  const result = await tx
    .insertInto('merchants')
    .values(merchant)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

const read = question(['id'], (query, { id }: { id: string }) =>
  query.selectFrom('merchants').selectAll().where('id', '=', id),
);

export async function getMerchant(query: Executor, id: string): Promise<MerchantRow | undefined> {
  return (await read(query, { id }))[0];
}

/** Where a merchant's webhooks go; undefined where there is no such merchant. */
export const webhookAddress = async (query: Executor, id: string) => (await addressOf(query, { id }))[0];

const addressOf = question(['id'], (query, { id }: { id: string }) =>
  query.selectFrom('merchants').select(['webhook_url', 'webhook_refills']).where('id', '=', id),
);

/** Accounts whose users may still act, with whether they are active. */
const accounts = (query: Executor) =>
  query
    .selectFrom('merchants')
    .innerJoin('users', 'users.id', 'merchants.id')
    .selectAll('merchants')
    .select('users.is_active')
    .where('users.deleted_at', 'is', null);

/** The merchant whose key has this SHA-256 (hex), if its user may still act. */
export const merchantByKeyHash = cached(
  lookup((query, hash: string) => accounts(query).where('merchants.api_key_hash', '=', hash)),
);

/** The merchant whose key of before has this SHA-256 (hex) and works at that time (Unix seconds), if its user may still act. */
export const merchantByPreviousKeyHash = lookup((query, hash: string, now: number) =>
  accounts(query)
    .where('merchants.previous_api_key_hash', '=', hash)
    .where('merchants.previous_api_key_ends_at', '>', now),
);

/** What several are known by, in no order. */
export async function slugsOf(
  query: Executor,
  ids: readonly string[],
): Promise<Pick<MerchantRow, 'id' | 'slug' | 'created_at'>[]> {
  if (ids.length === 0) return [];
  return query.selectFrom('merchants').select(['id', 'slug', 'created_at']).where('id', 'in', ids).execute();
}

export function merchantBySlug(query: Executor, slug: string): Promise<MerchantRow | undefined> {
  return query.selectFrom('merchants').selectAll().where('slug', '=', slug).executeTakeFirst();
}

/** What its owner may change of a merchant; the prepaid balance moves through the ledger only. */
export type MerchantChange = Partial<
  Omit<
    MerchantRow,
    'id' | 'created_at' | 'prepaid_micros' | 'ledger_seq' | 'ledger_hash' | 'house_since' | 'limit_noted_at'
  >
>;

/** False when the slug is taken. */
export async function updateMerchant(
  query: Executor,
  id: string,
  { enabled_currencies: entries, profile, ...change }: MerchantChange,
): Promise<boolean> {
  const values = {
    ...change,
    ...(entries === undefined ? {} : { enabled_currencies: entries === null ? null : toJson(entries) }),
    ...(profile === undefined ? {} : { profile: profile && toJson(profile) }),
  };
  try {
    await query.updateTable('merchants').set(values).where('id', '=', id).execute();
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

/**
 * Takes units and wallets of a merchant away, and blanks what is its own; the books stay. `key` replaces its key. The webhook
 * secret stays, sealed: open invoices may have callbacks.
 */
export async function eraseMerchant(
  tx: Tx,
  id: string,
  key: Pick<MerchantRow, 'api_key_hash' | 'api_key_sealed'>,
): Promise<void> {
  await tx.deleteFrom('units').where('merchant_id', '=', id).execute();
  await tx.deleteFrom('wallets').where('merchant_id', '=', id).execute();
  await tx.deleteFrom('pictures').where('owner_id', '=', id).execute();
  const blank = { webhook_url: null, webhook_refills: 0, enabled_currencies: null, profile: null } as const;
  await updateMerchant(tx, id, { ...key, ...blank, slug: `deleted-${id}` });
}

/**
 * Marks a merchant as the operator's own since a moment (Unix seconds), or, with null, as one like any other. False where
 * it is so already, which keeps the moment.
 */
export async function markHouse(tx: Tx, id: string, since: number | null): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('merchants')
    .set({ house_since: since })
    .where('id', '=', id)
    .where('house_since', since === null ? 'is not' : 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Takes the turn to notify a merchant of its limit; false where another had it since `before`. Unix seconds. */
export async function takeLimitNote(
  tx: Tx,
  id: string,
  { now, before }: { now: number; before: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('merchants')
    .set({ limit_noted_at: now })
    .where('id', '=', id)
    .where((where) => where.or([where('limit_noted_at', 'is', null), where('limit_noted_at', '<', before)]))
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

export function walletsOf(query: Executor, merchant_id: string): Promise<WalletRow[]> {
  return query
    .selectFrom('wallets')
    .selectAll()
    .where('merchant_id', '=', merchant_id)
    .orderBy('blockchain')
    .execute();
}

/** A wallet that an invoice is to be paid to. */
export interface WalletInUse {
  blockchain: string;
  address: string;
  address_key: string;
  /** 1 where reading it fails and nothing was ever proved read of one of its assets. */
  unread: number;
}

/** An expression over the wallet of the statement. */
const unreadOf = (table: 'wallets' | 'deployment_wallets') =>
  sql<number>`case when exists (select 1 from account_proofs as proof
    where proof.blockchain = ${sql.table(table)}.blockchain and proof.address_key = ${sql.table(table)}.address_key
      and proof.trouble is not null and proof.read_through is null and proof.failures > 0) then 1 else 0 end`;

export const getWallet: (
  db: Db,
  merchant_id: string,
  blockchain: string,
) => Promise<WalletInUse | undefined> = cached(
  lookup((query, merchant_id: string, blockchain: string) =>
    query
      .selectFrom('wallets')
      .selectAll()
      .select(unreadOf('wallets').as('unread'))
      .where('merchant_id', '=', merchant_id)
      .where('blockchain', '=', blockchain),
  ),
);

export async function putWallet(query: Executor, wallet: WalletRow): Promise<void> {
  const { address, address_key, updated_at } = wallet;
  await query
    .insertInto('wallets')
    .values(wallet)
    .onConflict((conflict) =>
      conflict.columns(['merchant_id', 'blockchain']).doUpdateSet({ address, address_key, updated_at }),
    )
    .execute();
}

export function deploymentWallets(query: Executor): Promise<DeploymentWalletRow[]> {
  return query.selectFrom('deployment_wallets').selectAll().orderBy('blockchain').execute();
}

export function deploymentWallet(
  query: Executor,
  blockchain: string,
): Promise<(DeploymentWalletRow & WalletInUse) | undefined> {
  return query
    .selectFrom('deployment_wallets')
    .selectAll()
    .select(unreadOf('deployment_wallets').as('unread'))
    .where('blockchain', '=', blockchain)
    .executeTakeFirst();
}

export async function putDeploymentWallet(query: Executor, wallet: DeploymentWalletRow): Promise<void> {
  const { blockchain: _, ...values } = wallet;
  await query
    .insertInto('deployment_wallets')
    .values(wallet)
    .onConflict((conflict) => conflict.column('blockchain').doUpdateSet(values))
    .execute();
}

export async function deleteDeploymentWallet(query: Executor, blockchain: string): Promise<void> {
  await query.deleteFrom('deployment_wallets').where('blockchain', '=', blockchain).execute();
}
