// Who has asked for payments to which address: one may serve several accounts, and none gets power over another by it.
import { sql } from 'kysely';
import type { Db, Executor, Tx } from './db/database.ts';
import { writer } from './db/prepared.ts';
import type { AddressAccountRow } from './schema/tables.ts';

/** The deployment itself, which has no row among the merchants. */
const DEPLOYMENT = '';
/** Accounts at shared addresses that the operator is shown. */
const SHARED_READ = 500;

interface AddressRef {
  blockchain: string;
  address_key: string;
}

const ownerKey = (owner_id: string | null): string => owner_id ?? DEPLOYMENT;

/** Notes that this owner asks for payments to the address, once; where another does so too, all of them are marked. */
export async function noteAddress(
  db: Db,
  tx: Tx,
  { blockchain, address_key, owner_id, now }: AddressRef & { owner_id: string | null; now: number },
): Promise<void> {
  const noted = await tx
    .insertInto('address_accounts')
    .values({
      blockchain,
      address_key,
      owner_id: ownerKey(owner_id),
      since: now,
      first_sale_at: null,
      shared: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('owner_id')
    .executeTakeFirst();
  if (!noted) return;
  // Of two who ask at the same moment one waits here, and sees the other.
  if (db.dialect === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtextextended(${`address ${blockchain} ${address_key}`}, 0))`.execute(
      tx,
    );
  if ((await ownersAt(tx, { blockchain, address_key })).length < 2) return;
  await tx
    .updateTable('address_accounts')
    .set({ shared: 1 })
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .execute();
}

type Sale = AddressRef & { owner_id: string; amount_usd_micros: bigint; now: number };

const sell = writer(
  ['blockchain', 'address_key', 'owner_id', 'amount_usd_micros', 'now'],
  (query, { blockchain, address_key, owner_id, amount_usd_micros, now }: Sale) =>
    query
      .updateTable('address_accounts')
      .set((update) => ({
        first_sale_at: update.fn.coalesce('first_sale_at', update.val(now)),
        sold_micros: update('sold_micros', '+', amount_usd_micros),
      }))
      .where('blockchain', '=', blockchain)
      .where('address_key', '=', address_key)
      .where('owner_id', '=', owner_id),
);

/** Notes that a payment read from the chain was booked for this merchant at the address; `now` in Unix seconds. */
export async function noteSale(
  tx: Tx,
  { blockchain, address_key, owner_id, amount_usd_micros, now }: Sale,
): Promise<void> {
  await sell(tx, { blockchain, address_key, owner_id, amount_usd_micros, now });
}

/** An account that uses an address. */
export interface Standing {
  /** Null is the deployment. */
  owner_id: string | null;
  /** Whether a payment read from the chain was booked for it there; the deployment needs none. */
  has_sold: boolean;
}

/**
 * The accounts that use an address, those first that go before the others: the deployment, then those that have sold
 * more there, then those that asked there first. Another account that would go before the address's owner has to pay
 * more to it than all its buyers do.
 */
export async function ownersAt(
  query: Executor,
  { blockchain, address_key }: AddressRef,
): Promise<Standing[]> {
  const rows = await query
    .selectFrom('address_accounts')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .execute();
  return inOrder(rows);
}

/** What an account has at an address on one blockchain: invoices that asked there, or, of the deployment, its wallet. */
export type Account = Pick<
  AddressAccountRow,
  'blockchain' | 'owner_id' | 'since' | 'first_sale_at' | 'sold_micros'
>;

/**
 * Every account that has an address on any of these blockchains: those that ever asked for payments there, and the
 * deployment where it is its wallet. What one is paid on a blockchain where another has the same address may be the other's.
 */
export const accountsAt = (
  query: Executor,
  { blockchains, address_key }: { blockchains: readonly string[]; address_key: string },
): Promise<Account[]> =>
  query
    .selectFrom('address_accounts')
    .select(['blockchain', 'owner_id', 'since', 'first_sale_at', 'sold_micros'])
    .where('address_key', '=', address_key)
    .where('blockchain', 'in', blockchains)
    .unionAll(
      query
        .selectFrom('deployment_wallets')
        .select([
          'blockchain',
          sql.lit(DEPLOYMENT).as('owner_id'),
          'updated_at as since',
          sql<number | null>`null`.as('first_sale_at'),
          sql<bigint>`0`.as('sold_micros'),
        ])
        .where('address_key', '=', address_key)
        .where('blockchain', 'in', blockchains),
    )
    .execute();

/** These accounts, each once with all that it has sold, those first that go before the others. */
export function standingsOf(accounts: readonly Account[]): Standing[] {
  const owners = new Map<string, Account>();
  for (const account of accounts) {
    const { owner_id, since, first_sale_at, sold_micros } = account;
    const known = owners.get(owner_id);
    owners.set(owner_id, {
      ...account,
      since: Math.min(since, known?.since ?? since),
      first_sale_at: known?.first_sale_at ?? first_sale_at,
      sold_micros: BigInt(sold_micros) + (known?.sold_micros ?? 0n),
    });
  }
  return inOrder([...owners.values()]);
}

/** Whether a payment read from the chain was ever booked for this owner, on any blockchain. */
export async function hasSold(query: Executor, owner_id: string): Promise<boolean> {
  const row = await query
    .selectFrom('address_accounts')
    .select('owner_id')
    .where('owner_id', '=', owner_id)
    .where('first_sale_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The addresses of a blockchain that are watched at `now` (Unix seconds) because of this owner, those first whose watch ends first. */
export async function watchedOf(
  query: Executor,
  { owner_id, blockchain, now }: { owner_id: string; blockchain: string; now: number },
): Promise<{ address_key: string; watch_until: number }[]> {
  return query
    .selectFrom('address_accounts')
    .innerJoin('watches', (join) =>
      join
        .onRef('watches.blockchain', '=', 'address_accounts.blockchain')
        .onRef('watches.address_key', '=', 'address_accounts.address_key'),
    )
    .select(['address_accounts.address_key', 'watches.watch_until'])
    .where('address_accounts.owner_id', '=', owner_id)
    .where('address_accounts.blockchain', '=', blockchain)
    .where('watches.watch_until', '>=', now)
    .orderBy('watches.watch_until')
    .execute();
}

export interface SharedAddress extends AddressRef {
  /** Those first who go before the others; null stands for the deployment. */
  owners: (string | null)[];
}

/** Addresses that several accounts use, with the accounts; for the operator. */
export async function sharedAddresses(query: Executor): Promise<SharedAddress[]> {
  const rows = await query
    .selectFrom('address_accounts')
    .selectAll()
    .where('shared', '=', 1)
    .orderBy('blockchain')
    .orderBy('address_key')
    .limit(SHARED_READ)
    .execute();
  const addresses = new Map<string, AddressAccountRow[]>();
  for (const row of rows) {
    const key = `${row.blockchain} ${row.address_key}`;
    addresses.set(key, [...(addresses.get(key) ?? []), row]);
  }
  return [...addresses.values()].flatMap((of) => {
    const [first] = of;
    return first
      ? [
          {
            blockchain: first.blockchain,
            address_key: first.address_key,
            owners: inOrder(of).map(({ owner_id }) => owner_id),
          },
        ]
      : [];
  });
}

const isDeployment = ({ owner_id }: Account): boolean => owner_id === DEPLOYMENT;

const inOrder = (rows: readonly Account[]): Standing[] =>
  [...rows]
    .sort(
      (a, b) =>
        Number(isDeployment(b)) - Number(isDeployment(a)) ||
        (a.sold_micros > b.sold_micros ? -1 : a.sold_micros < b.sold_micros ? 1 : 0) ||
        a.since - b.since ||
        (a.owner_id < b.owner_id ? -1 : 1),
    )
    .map((row) => ({
      owner_id: isDeployment(row) ? null : row.owner_id,
      has_sold: isDeployment(row) || row.first_sale_at !== null,
    }));
