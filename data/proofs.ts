// How far reading is proved: of a whole blockchain, of single accounts that are behind it, and of assets that cannot be read.
import { sql } from 'kysely';
import type { AccountProof, AccountRef, StoredProof, UnreadableAsset } from '../src/chains/family.ts';
import type { Executor, Tx } from './db/database.ts';
import { inOrder } from './db/lock-order.ts';
import { question } from './db/prepared.ts';
import type { AccountProofRow } from './schema/tables.ts';

/** An account that failed is left alone for this long, and for twice as long after each further failure … */
const PAUSE_SECONDS = 4;
/** … up to this. */
const MAX_PAUSE_SECONDS = 600;
/** The clocks of two daemons that read in turn are not further apart. */
const READINGS_APART_SECONDS = 60;
/** Accounts in trouble that one reading is given; the longest in trouble first. */
const BEHIND_LIMIT = 10_000;

const keyOf = ({ address_key, chain }: AccountRef): string => `${address_key} ${chain}`;

const pauseAfter = (failures: number): number =>
  Math.min(MAX_PAUSE_SECONDS, PAUSE_SECONDS * 2 ** Math.min(failures - 1, 10));

/** Stores proofs of single accounts; each replaces the one before. `now`: Unix seconds. */
export async function putProofs(
  tx: Tx,
  blockchain: string,
  proofs: readonly AccountProof[],
  now: number,
): Promise<void> {
  for (const proof of inOrder(proofs, keyOf)) {
    const { address_key, chain, account, read_through, trouble, failed } = proof;
    const before = failed ? await findProof(tx, blockchain, proof) : undefined;
    const failures = failed ? (before?.failures ?? 0) + 1 : 0;
    const values = {
      account,
      // What was proved once stays so; what lies further ahead was stated by a clock that was wrong then.
      read_through: sql<number | null>`case
        when (account_proofs.read_through > excluded.read_through or excluded.read_through is null)
          and account_proofs.read_through <= ${now + READINGS_APART_SECONDS}
        then account_proofs.read_through else excluded.read_through end`,
      trouble,
      failures,
      failed_since: failed ? (before?.failed_since ?? now) : null,
      retry_at: failed ? now + pauseAfter(failures) : null,
      updated_at: now,
    };
    await tx
      .insertInto('account_proofs')
      .values({ blockchain, address_key, chain, ...values, read_through })
      .onConflict((conflict) => conflict.columns(['blockchain', 'address_key', 'chain']).doUpdateSet(values))
      .execute();
  }
}

/** These accounts are read as far as the rest again. */
export async function dropProofs(tx: Tx, blockchain: string, accounts: readonly AccountRef[]): Promise<void> {
  for (const { address_key, chain } of inOrder(accounts, keyOf))
    await tx
      .deleteFrom('account_proofs')
      .where('blockchain', '=', blockchain)
      .where('address_key', '=', address_key)
      .where('chain', '=', chain)
      .execute();
}

export function findProof(
  query: Executor,
  blockchain: string,
  { address_key, chain }: AccountRef,
): Promise<AccountProofRow | undefined> {
  return query
    .selectFrom('account_proofs')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .where('chain', '=', chain)
    .executeTakeFirst();
}

/** The accounts of a blockchain that are in trouble, with whether each is left alone at `now` (Unix seconds). */
export async function accountsBehind(
  query: Executor,
  blockchain: string,
  now: number,
): Promise<StoredProof[]> {
  const rows = await troubledProofs(query, blockchain, BEHIND_LIMIT);
  return rows.map((row) => ({
    address_key: row.address_key,
    chain: row.chain,
    account: row.account,
    read_through: row.read_through,
    trouble: row.trouble,
    failed: row.failures > 0,
    paused: row.retry_at !== null && row.retry_at > now,
  }));
}

/** The same as rows, the longest in trouble first, for the operator. */
export function troubledProofs(
  query: Executor,
  blockchain: string,
  limit: number,
): Promise<AccountProofRow[]> {
  return query
    .selectFrom('account_proofs')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('trouble', 'is not', null)
    .orderBy('failed_since')
    .limit(limit)
    .execute();
}

/** How many accounts of these blockchains are in trouble, counted up to `most`. */
export async function countTroubled(
  query: Executor,
  blockchains: readonly string[],
  most: number,
): Promise<number> {
  const rows = await query
    .selectFrom('account_proofs')
    .select('account')
    .where('blockchain', 'in', blockchains)
    .where('trouble', 'is not', null)
    .limit(most)
    .execute();
  return rows.length;
}

/** Replaces what is known of unreadable assets; one that stays unreadable keeps its `since`. */
export async function putUnreadable(
  tx: Tx,
  blockchain: string,
  assets: readonly UnreadableAsset[],
  now: number,
): Promise<void> {
  let gone = tx.deleteFrom('unreadable_assets').where('blockchain', '=', blockchain);
  const chains = assets.map(({ chain }) => chain);
  if (chains.length > 0) gone = gone.where('chain', 'not in', chains);
  await gone.execute();
  for (const { chain, reason } of assets)
    await tx
      .insertInto('unreadable_assets')
      .values({ blockchain, chain, reason, since: now })
      .onConflict((conflict) => conflict.columns(['blockchain', 'chain']).doUpdateSet({ reason }))
      .execute();
}

export function unreadableAssets(query: Executor, blockchain?: string) {
  const select = query.selectFrom('unreadable_assets').selectAll().orderBy('chain');
  return (blockchain === undefined ? select : select.where('blockchain', '=', blockchain)).execute();
}

/** Moves the proof of a whole blockchain forward, and notes when a complete reading began; Unix seconds, both. */
export async function noteReading(
  query: Executor,
  blockchain: string,
  { started_at, read_through }: { started_at: number; read_through: number | null },
): Promise<void> {
  // What is further ahead was noted by a clock that was wrong then.
  const most = started_at + READINGS_APART_SECONDS;
  const later = (column: 'last_ok_at' | 'read_through', value: number) =>
    sql<number>`case when ${sql.ref(column)} > ${value} and ${sql.ref(column)} <= ${most}
      then ${sql.ref(column)} else ${value} end`;
  await query
    .updateTable('cursors')
    .set({
      last_ok_at: later('last_ok_at', started_at),
      ...(read_through === null ? {} : { read_through: later('read_through', read_through) }),
    })
    .where('blockchain', '=', blockchain)
    .execute();
}

type ProvedAccount = AccountRef & { blockchain: string };

const proofOf = question(
  ['blockchain', 'address_key', 'chain'],
  (query, { blockchain, address_key, chain }: ProvedAccount) =>
    query
      .selectFrom('cursors')
      .leftJoin('account_proofs', (join) =>
        join
          .onRef('account_proofs.blockchain', '=', 'cursors.blockchain')
          .on('account_proofs.address_key', '=', address_key)
          .on('account_proofs.chain', '=', chain),
      )
      .leftJoin('unreadable_assets', (join) =>
        join
          .onRef('unreadable_assets.blockchain', '=', 'cursors.blockchain')
          .on('unreadable_assets.chain', '=', chain),
      )
      .select([
        'cursors.read_through',
        'account_proofs.account',
        'account_proofs.read_through as own',
        'unreadable_assets.reason',
      ])
      .where('cursors.blockchain', '=', blockchain),
);

/** Everything that was paid to the account before this moment is stored, Unix seconds; 0 where nothing is proved. */
export async function provedThrough(
  query: Executor,
  { blockchain, address_key, chain }: ProvedAccount,
): Promise<number> {
  const [row] = await proofOf(query, { blockchain, address_key, chain });
  if (!row || row.reason !== null) return 0;
  return (row.account === null ? row.read_through : row.own) ?? 0;
}
