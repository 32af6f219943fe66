// Amounts that are reserved at an address: by whom, since when they may be given back, and how many one owner holds.
import { sql } from 'kysely';
import type { Db, Executor, Tx } from './db/database.ts';
import { provedThrough } from './proofs.ts';
import type { InvoiceRow } from './schema/tables.ts';

/** Most values that one question asks for. */
const AMOUNTS_PER_QUERY = 500;
/** Amounts given back at once because a quota is used up. */
const RELEASED_AT_ONCE = 100;
/** Amounts given back in one statement because their time has come. */
const AMOUNTS_PER_UPDATE = 1_000;

/** Where amounts are distinguished. */
export interface Slot {
  blockchain: string;
  address_key: string;
  chain: string;
}

export interface Reservation extends Slot {
  id: string;
  amount_atomic: string;
  /** Whose payments these are; null is the deployment. */
  holder: string | null;
  /** Null while its invoice is open. */
  ended_at: number | null;
  /** Whether money came to it. */
  is_paid: boolean;
  /** Whether its invoice asked for it before, and asks for another coin now. */
  is_former: boolean;
}

/** Whose the payments of an invoice are: refills are the deployment's, though a merchant asks for them. */
export const holderOf = ({ kind, owner_id }: Pick<InvoiceRow, 'kind' | 'owner_id'>): string | null =>
  kind === 'refill' ? null : owner_id;

const columns = [
  'id',
  'blockchain',
  'address_key',
  'chain',
  'amount_atomic',
  'owner_id',
  'kind',
  'ended_at',
  'status',
  'payment_id',
  sql<number>`0`.as('is_former'),
] as const;

/** The same of what an invoice asked for before. */
const formerColumns = [
  'invoices.id',
  'former_terms.blockchain',
  'former_terms.address_key',
  'former_terms.chain',
  'former_terms.amount_atomic',
  'invoices.owner_id',
  'invoices.kind',
  'invoices.ended_at',
  'invoices.status',
  'invoices.payment_id',
  sql<number>`1`.as('is_former'),
] as const;

type ReservedRow = Pick<InvoiceRow, Extract<(typeof columns)[number], string>> & { is_former: number };

const reservationOf = (row: ReservedRow): Reservation => ({
  id: row.id,
  blockchain: row.blockchain,
  address_key: row.address_key,
  chain: row.chain,
  amount_atomic: row.amount_atomic,
  ended_at: row.ended_at,
  holder: holderOf(row),
  is_paid: row.status === 'confirmed' || row.payment_id !== null,
  is_former: row.is_former === 1,
});

/**
 * Keeps others from counting an owner's amounts and from taking one there until the transaction ends, in this order;
 * SQLite's writer is alone anyway.
 */
export async function lockSlot(
  db: Db,
  tx: Tx,
  owner_id: string | null,
  { blockchain, address_key, chain }: Slot,
): Promise<void> {
  if (db.dialect !== 'postgres') return;
  const lock = (name: string) => sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
  if (owner_id !== null) await lock(`amounts of ${owner_id}`);
  await lock(`amounts at ${blockchain} ${address_key} ${chain}`);
}

/** Who has reserved these amounts there, by amount. */
export async function reservationsOf(
  query: Executor,
  slot: Slot,
  amounts: readonly string[],
): Promise<Map<string, Reservation[]>> {
  const found = new Map<string, Reservation[]>();
  for (let start = 0; start < amounts.length; start += AMOUNTS_PER_QUERY) {
    const some = amounts.slice(start, start + AMOUNTS_PER_QUERY);
    // In one statement: an amount that moves from one table to the other at this moment is seen in one of them.
    const rows = await query
      .selectFrom('invoices')
      .select(columns)
      .where('blockchain', '=', slot.blockchain)
      .where('address_key', '=', slot.address_key)
      .where('chain', '=', slot.chain)
      .where('reserved', '=', sql.lit(1))
      .where('amount_atomic', 'in', some)
      .unionAll(
        query
          .selectFrom('former_terms')
          .innerJoin('invoices', 'invoices.id', 'former_terms.invoice_id')
          .select(formerColumns)
          .where('former_terms.blockchain', '=', slot.blockchain)
          .where('former_terms.address_key', '=', slot.address_key)
          .where('former_terms.chain', '=', slot.chain)
          .where('former_terms.reserved', '=', sql.lit(1))
          .where('former_terms.amount_atomic', 'in', some),
      )
      .execute();
    for (const row of rows)
      found.set(row.amount_atomic, [...(found.get(row.amount_atomic) ?? []), reservationOf(row)]);
  }
  return found;
}

/** Part of what an owner has reserved: of sales or of refills, all or what fits each that is given. */
export interface Holding {
  owner_id: string;
  kind: InvoiceRow['kind'];
  /** What one anonymous caller has asked for. */
  caller?: string;
  /** At one unit, without what was cancelled before anything of it was seen. */
  unit_id?: string;
  /** What callers without credentials have asked for: also all of an invoice whose buyer has changed its coin. */
  anonymous?: true;
  address?: Pick<Slot, 'blockchain' | 'address_key'>;
}

/** Whether it was cancelled before anything of it was seen. */
const DROPPED = sql<boolean>`invoices.status = 'cancelled' and invoices.payment_id is null`;

function held(query: Executor, { owner_id, kind, caller, unit_id, anonymous, address }: Holding) {
  let select = query
    .selectFrom('invoices')
    .where('owner_id', '=', owner_id)
    .where('kind', '=', kind)
    .where('reserved', '=', sql.lit(1))
    // What is paid for is no abuse.
    .where('status', '<>', 'confirmed');
  if (caller !== undefined) select = select.where('caller', '=', caller);
  if (unit_id !== undefined)
    select = select.where('unit_id', '=', unit_id).where(sql<boolean>`not (${DROPPED})`);
  if (anonymous)
    select = select.where((where) => where.or([where('caller', 'is not', null), where('switches', '>', 0)]));
  if (address)
    select = select
      .where('blockchain', '=', address.blockchain)
      .where('address_key', '=', address.address_key);
  return select;
}

/** The same of what invoices asked for before, until a buyer changed it: what is paid in another coin is no abuse either. */
function heldFormerly(query: Executor, { owner_id, kind, caller, unit_id, address }: Holding) {
  let select = query
    .selectFrom('former_terms')
    .innerJoin('invoices', 'invoices.id', 'former_terms.invoice_id')
    .where('former_terms.owner_id', '=', owner_id)
    .where('invoices.kind', '=', kind)
    .where('former_terms.reserved', '=', sql.lit(1))
    .where('invoices.status', '<>', 'confirmed');
  if (caller !== undefined) select = select.where('invoices.caller', '=', caller);
  if (unit_id !== undefined)
    select = select.where('invoices.unit_id', '=', unit_id).where(sql<boolean>`not (${DROPPED})`);
  if (address)
    select = select
      .where('former_terms.blockchain', '=', address.blockchain)
      .where('former_terms.address_key', '=', address.address_key);
  return select;
}

/** What a merchant has reserved at an address in one asset without its being paid for. */
export async function reservedBy(
  query: Executor,
  owner_id: string,
  { blockchain, address_key, chain }: Slot,
): Promise<Reservation[]> {
  const holding: Holding = { owner_id, kind: 'sale', address: { blockchain, address_key } };
  const rows = await held(query, holding)
    .select(columns)
    .where('chain', '=', chain)
    .unionAll(heldFormerly(query, holding).select(formerColumns).where('former_terms.chain', '=', chain))
    .execute();
  return rows.map(reservationOf);
}

/** Whether so many amounts or more are reserved without being paid; `count` is at least 1. */
export const hasReserved = async (query: Executor, holding: Holding, count: number): Promise<boolean> =>
  (await held(query, holding)
    .select('id')
    .unionAll(heldFormerly(query, holding).select('invoices.id'))
    .limit(1)
    .offset(count - 1)
    .executeTakeFirst()) !== undefined;

/**
 * When the next of these amounts is given back that makes them fewer than `most`, Unix seconds: so long after its invoice ended,
 * or will end where no one pays. Undefined where they are fewer.
 */
export async function nextGivenBack(
  query: Executor,
  holding: Holding,
  { most, hold_seconds }: { most: number; hold_seconds: number },
): Promise<number | undefined> {
  const ends = sql<number>`coalesce(invoices.ended_at, invoices.expires_at)`.as('ends_at');
  const all = held(query, holding).select(ends).unionAll(heldFormerly(query, holding).select(ends));
  const { count } = await query
    .selectFrom(all.as('held'))
    .select((of) => of.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  const over = Number(count) - most;
  if (over < 0) return undefined;
  const next = await all.orderBy('ends_at').limit(1).offset(over).executeTakeFirst();
  return next && Number(next.ends_at) + hold_seconds;
}

/** When an amount that no one paid may be given back before its time. */
export interface EarlyRelease {
  /** Unix seconds. */
  now: number;
  /** How long after the end of its invoice; so far its account must be proved read, too. */
  hold_seconds: number;
}

/** Gives back amounts of unpaid invoices, those that ended first before the others; how many. */
export async function releaseEnded(db: Db, tx: Tx, holding: Holding, early: EarlyRelease): Promise<number> {
  const ended = early.now - early.hold_seconds;
  const rows = await held(tx, holding)
    .select(columns)
    .where('ended_at', '<=', ended)
    .unionAll(heldFormerly(tx, holding).select(formerColumns).where('invoices.ended_at', '<=', ended))
    .orderBy('ended_at')
    .limit(RELEASED_AT_ONCE)
    .execute();
  return release(db, tx, rows.map(reservationOf), early);
}

/**
 * Gives back those of these amounts that may be by now; how many. Those that others have locked are left: nothing waits
 * for an invoice here while it holds others.
 */
export async function release(
  { dialect }: Db,
  tx: Tx,
  reservations: readonly Reservation[],
  { now, hold_seconds }: EarlyRelease,
): Promise<number> {
  const proved = new Map<string, number>();
  const due = new Map<string, Reservation[]>();
  for (const reservation of reservations) {
    const { blockchain, address_key, chain, ended_at, is_former } = reservation;
    const account = `${blockchain} ${address_key} ${chain}`;
    const read_through = proved.get(account) ?? (await provedThrough(tx, reservation));
    proved.set(account, read_through);
    if (ended_at === null || ended_at + hold_seconds > Math.min(now, read_through)) continue;
    const kind = `${is_former} ${chain}`;
    due.set(kind, [...(due.get(kind) ?? []), reservation]);
  }
  let released = 0;
  for (const alike of due.values()) released += await releaseAlike(dialect, tx, alike);
  return released;
}

/** Of one coin, all of them present or all of them former: one whose invoice has changed that since stays. */
async function releaseAlike(
  dialect: Db['dialect'],
  tx: Tx,
  reservations: readonly Reservation[],
): Promise<number> {
  const [first] = reservations;
  if (!first) return 0;
  const ids = reservations.map(({ id }) => id);
  const ended = tx
    .selectFrom('invoices')
    .select('id')
    .where('id', 'in', ids)
    .where('status', '<>', 'created');
  const free = dialect === 'postgres' ? ended.forNoKeyUpdate().skipLocked() : ended;
  const given = { reserved: null, reserved_until: null };
  const { chain } = first;
  const update = first.is_former
    ? tx.updateTable('former_terms').set(given).where('invoice_id', 'in', free).where('chain', '=', chain)
    : tx.updateTable('invoices').set(given).where('id', 'in', free).where('chain', '=', chain);
  const result = await update.executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** How far the account of a row of the table is proved read; null where it is not, or its asset cannot be read. */
const provedOf = (table: 'invoices' | 'former_terms') => sql<number | null>`(
  select case
    when unreadable.chain is not null then null
    when own.account is null then cursors.read_through
    else own.read_through end
  from cursors
  left join account_proofs as own on own.blockchain = cursors.blockchain
    and own.address_key = ${sql.ref(table)}.address_key and own.chain = ${sql.ref(table)}.chain
  left join unreadable_assets as unreadable on unreadable.blockchain = cursors.blockchain
    and unreadable.chain = ${sql.ref(table)}.chain
  where cursors.blockchain = ${sql.ref(table)}.blockchain)`;

/**
 * Gives back the amounts of ended invoices whose time for that has come, as far as it is proved read, so that a buyer
 * who paid a little late has not paid for another; or when they are watched no more. Returns how many. `now`: Unix
 * seconds.
 */
export async function releaseAmounts(db: Db, now: number): Promise<number> {
  const { dialect, query } = db;
  let released = 0;
  for (;;) {
    const result = await query
      .updateTable('invoices')
      .set({ reserved: null, reserved_until: null })
      .where('id', 'in', (of) => {
        const due = of
          .selectFrom('invoices')
          .select('id')
          .where('reserved', '=', sql.lit(1))
          .where('reserved_until', '<=', now)
          .where((where) =>
            where.or([
              where(provedOf('invoices'), '>=', where.ref('reserved_until')),
              where('watch_until', '<', now),
            ]),
          )
          .limit(AMOUNTS_PER_UPDATE);
        return dialect === 'postgres' ? due.forNoKeyUpdate().skipLocked() : due;
      })
      .executeTakeFirst();
    const count = Number(result.numUpdatedRows);
    released += count;
    if (count < AMOUNTS_PER_UPDATE) return released + (await releaseFormer(db, now));
  }
}

/** The same of what ended invoices asked for before; few have any, and what is left is given back the next time. */
async function releaseFormer({ dialect, query }: Db, now: number): Promise<number> {
  const result = await query
    .updateTable('former_terms')
    .set({ reserved: null, reserved_until: null })
    .where((of) => {
      const due = of
        .selectFrom('former_terms')
        .select(['invoice_id', 'chain'])
        .where('reserved', '=', sql.lit(1))
        .where('reserved_until', '<=', now)
        .where((where) =>
          where.or([
            where(provedOf('former_terms'), '>=', where.ref('reserved_until')),
            where('watch_until', '<', now),
          ]),
        )
        .limit(AMOUNTS_PER_UPDATE);
      const free = dialect === 'postgres' ? due.forNoKeyUpdate().skipLocked() : due;
      return of(of.refTuple('invoice_id', 'chain'), 'in', free.$asTuple('invoice_id', 'chain'));
    })
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}
