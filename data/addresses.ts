// Who has asked for payments to which address: one may serve several accounts, and none gets power over another by it.
import type { Executor, Tx } from './open.ts';

/** The deployment itself, which has no row among the merchants. */
const DEPLOYMENT = '';
/** Addresses that the operator is shown as shared. */
const SHARED_SHOWN = 100;

interface AddressRef {
  blockchain: string;
  address_key: string;
}

const ownerKey = (owner_id: string | null): string => owner_id ?? DEPLOYMENT;

/** Notes that this owner asks for payments to the address; he is noted once. */
export async function noteAddress(
  tx: Executor,
  { blockchain, address_key, owner_id, now }: AddressRef & { owner_id: string | null; now: number },
): Promise<void> {
  await tx
    .insertInto('address_accounts')
    .values({ blockchain, address_key, owner_id: ownerKey(owner_id), since: now, first_sale_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Notes that a payment read from the chain was booked for this owner at the address; the first one counts. */
export async function noteSale(
  tx: Tx,
  { blockchain, address_key, owner_id, now }: AddressRef & { owner_id: string | null; now: number },
): Promise<void> {
  await tx
    .updateTable('address_accounts')
    .set({ first_sale_at: now })
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .where('owner_id', '=', ownerKey(owner_id))
    .where('first_sale_at', 'is', null)
    .execute();
}

/**
 * The owners who use an address, those first who go before the others: whoever sold there first, then whoever asked
 * there first. Null stands for the deployment.
 */
export async function ownersAt(
  query: Executor,
  { blockchain, address_key }: AddressRef,
): Promise<(string | null)[]> {
  const rows = await query
    .selectFrom('address_accounts')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .where('address_key', '=', address_key)
    .execute();
  const never = Number.MAX_SAFE_INTEGER;
  rows.sort(
    (a, b) =>
      (a.first_sale_at ?? never) - (b.first_sale_at ?? never) ||
      a.since - b.since ||
      (a.owner_id < b.owner_id ? -1 : 1),
  );
  return rows.map(({ owner_id }) => (owner_id === DEPLOYMENT ? null : owner_id));
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

/** How many addresses of a blockchain are watched at `now` (Unix seconds) because of this owner. */
export async function watchedOf(
  query: Executor,
  { owner_id, blockchain, now }: { owner_id: string; blockchain: string; now: number },
): Promise<string[]> {
  const rows = await query
    .selectFrom('address_accounts')
    .innerJoin('watches', (join) =>
      join
        .onRef('watches.blockchain', '=', 'address_accounts.blockchain')
        .onRef('watches.address_key', '=', 'address_accounts.address_key'),
    )
    .select('address_accounts.address_key')
    .where('address_accounts.owner_id', '=', owner_id)
    .where('address_accounts.blockchain', '=', blockchain)
    .where('watches.watch_until', '>=', now)
    .execute();
  return rows.map(({ address_key }) => address_key);
}

/** Addresses that several accounts use, newest first, with the accounts; for the operator. */
export async function sharedAddresses(query: Executor, blockchain: string) {
  const shared = await query
    .selectFrom('address_accounts')
    .select(['address_key'])
    .where('blockchain', '=', blockchain)
    .groupBy('address_key')
    .having((of) => of.fn.countAll(), '>', 1)
    .orderBy((of) => of.fn.max('since'), 'desc')
    .limit(SHARED_SHOWN)
    .execute();
  return Promise.all(
    shared.map(async ({ address_key }) => ({
      address_key,
      owners: await ownersAt(query, { blockchain, address_key }),
    })),
  );
}
