// Amounts that are reserved at an address: by whom, since when they may be given back, and how many one owner holds.
import { sql } from 'kysely';
import type { Db, Executor, Tx } from './open.ts';

/** Most values that one question asks for. */
const AMOUNTS_PER_QUERY = 500;
/** Amounts given back at once because a quota is used up. */
const RELEASED_AT_ONCE = 100;

/** Where amounts are told apart. */
export interface Slot {
  blockchain: string;
  address_key: string;
  chain: string;
}

export interface Reservation {
  id: string;
  amount_atomic: string;
  owner_id: string | null;
  /** Null while its invoice is open. */
  ended_at: number | null;
}

/** Keeps others from looking for an amount there until the transaction ends; SQLite's writer is alone anyway. */
export async function lockSlot(db: Db, tx: Tx, { blockchain, address_key, chain }: Slot): Promise<void> {
  if (db.dialect !== 'postgres') return;
  const name = `amounts ${blockchain} ${address_key} ${chain}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}

/** Who has reserved these amounts there. */
export async function reservationsOf(
  query: Executor,
  slot: Slot,
  amounts: readonly string[],
): Promise<Reservation[]> {
  const found: Reservation[] = [];
  for (let start = 0; start < amounts.length; start += AMOUNTS_PER_QUERY)
    found.push(
      ...(await query
        .selectFrom('invoices')
        .select(['id', 'amount_atomic', 'owner_id', 'ended_at'])
        .where('blockchain', '=', slot.blockchain)
        .where('address_key', '=', slot.address_key)
        .where('chain', '=', slot.chain)
        .where('reserved', '=', 1)
        .where('amount_atomic', 'in', amounts.slice(start, start + AMOUNTS_PER_QUERY))
        .execute()),
    );
  return found;
}

export interface Holder {
  owner_id: string;
  /** With both, only what this caller has asked for at this unit counts. */
  unit_id?: string | undefined;
  caller?: string | undefined;
}

/** How many amounts a holder has reserved, counted up to `most`. */
export async function countReserved(
  query: Executor,
  { owner_id, unit_id, caller }: Holder,
  most: number,
): Promise<number> {
  let select = query
    .selectFrom('invoices')
    .select('id')
    .where('owner_id', '=', owner_id)
    .where('reserved', '=', 1);
  if (unit_id !== undefined && caller !== undefined)
    select = select.where('unit_id', '=', unit_id).where('caller', '=', caller);
  return (await select.limit(most).execute()).length;
}

/** Gives back amounts of a holder whose invoices ended at or before this moment (Unix seconds), the oldest first. */
export async function releaseEnded(
  tx: Tx,
  { owner_id, unit_id, caller }: Holder,
  ended_before: number,
): Promise<number> {
  let select = tx
    .selectFrom('invoices')
    .select('id')
    .where('owner_id', '=', owner_id)
    .where('reserved', '=', 1)
    .where('ended_at', '<=', ended_before);
  if (unit_id !== undefined && caller !== undefined)
    select = select.where('unit_id', '=', unit_id).where('caller', '=', caller);
  const rows = await select.orderBy('ended_at').limit(RELEASED_AT_ONCE).execute();
  await release(
    tx,
    rows.map(({ id }) => id),
  );
  return rows.length;
}

/** Gives the amounts of these invoices back at once. */
export async function release(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable('invoices')
    .set({ reserved: null, reserved_until: null })
    .where('id', 'in', ids)
    .where('status', '<>', 'created')
    .execute();
}
