// Has a blockchain read again: forgets how far it was read, and lets what stands in its blocks be asked for once more.
import { sql } from 'kysely';
import type { Executor, Tx } from './db/database.ts';

export interface Reread {
  blockchain: string;
  /** Read from here on, Unix seconds; null: from the oldest address that is watched. */
  since: number | null;
  /** Unix seconds. */
  now: number;
}

/** What reading again begins with. Times are Unix seconds. */
export interface RereadPlan {
  /** Null where it was never read. */
  cursor: { height: number | null; read_through: number | null } | null;
  watched: number;
  /** Where reading begins; null where nothing is watched. */
  from: number | null;
  ranges: number;
  accounts: number;
  /** Transfers in blocks from then on. */
  transfers: number;
}

/** What `rereadBlockchain` would do; changes nothing. */
export async function planReread(query: Executor, asked: Reread): Promise<RereadPlan> {
  const { blockchain } = asked;
  const cursor = await query
    .selectFrom('cursors')
    .select(['tip_height', 'read_through'])
    .where('blockchain', '=', blockchain)
    .executeTakeFirst();
  const watches = await query
    .selectFrom('watches')
    .select((of) => [of.fn.countAll().as('count'), of.fn.min('since').as('since')])
    .where('blockchain', '=', blockchain)
    .where('watch_until', '>=', asked.now)
    .executeTakeFirstOrThrow();
  const watched = Number(watches.count);
  const from = watched === 0 ? null : Math.min(Number(watches.since), asked.since ?? Number(watches.since));
  const count = async (table: 'read_ranges' | 'account_cursors' | 'account_proofs') => {
    const select = query.selectFrom(table).select((of) => of.fn.countAll().as('count'));
    return Number((await select.where('blockchain', '=', blockchain).executeTakeFirstOrThrow()).count);
  };
  const transfers = await query
    .selectFrom('transfers')
    .select((of) => of.fn.countAll().as('count'))
    .where('blockchain', '=', blockchain)
    .where('block_hash', 'is not', null)
    .where('state', 'in', ['pending', 'final'])
    .where('latest_at', '>=', from ?? asked.now)
    .executeTakeFirstOrThrow();
  return {
    cursor: cursor ? { height: cursor.tip_height, read_through: cursor.read_through } : null,
    watched,
    from,
    ranges: await count('read_ranges'),
    accounts: (await count('account_cursors')) + (await count('account_proofs')),
    transfers: Number(transfers.count),
  };
}

/**
 * Forgets cursors, proofs and ranges of a blockchain, so that its next reading begins below every watched address (or
 * at `since`), and makes transfers that stand in blocks from then on pending: each is asked for, and loses a block that
 * is no longer on the chain. A daemon that is reading meanwhile notices that its cursor was moved. Returns what it did.
 */
export async function rereadBlockchain(tx: Tx, asked: Reread): Promise<RereadPlan> {
  const { blockchain, since, now } = asked;
  const plan = await planReread(tx, asked);
  if (since !== null)
    await tx
      .updateTable('watches')
      .set({ since })
      .where('blockchain', '=', blockchain)
      .where('watch_until', '>=', now)
      .where('since', '>', since)
      .execute();
  await tx
    .updateTable('cursors')
    .set({
      cursor: null,
      version: sql<number>`version + 1`,
      tip_height: null,
      tip_hash: null,
      tip_time: null,
      last_ok_at: null,
      read_through: null,
    })
    .where('blockchain', '=', blockchain)
    .execute();
  for (const table of ['read_ranges', 'account_cursors', 'account_proofs'] as const)
    await tx.deleteFrom(table).where('blockchain', '=', blockchain).execute();
  await tx
    .updateTable('transfers')
    .set({ state: 'pending', updated_at: now })
    .where('blockchain', '=', blockchain)
    .where('block_hash', 'is not', null)
    .where('state', '=', 'final')
    .where('latest_at', '>=', plan.from ?? now)
    .execute();
  return plan;
}
