// Amounts that tell invoices apart where there is no memo: the nearest free one, and how many one holder may reserve.
import { hasSold, ownersAt, watchedOf } from '../data/addresses.ts';
import { getMerchant } from '../data/merchants.ts';
import type { Tx } from '../data/open.ts';
import {
  countReserved,
  type Holder,
  lockSlot,
  type Reservation,
  release,
  releaseEnded,
  reservationsOf,
} from '../data/reservations.ts';
import type { Gateway } from '../src/chains/chain.ts';
import { Refusal } from '../src/errors.ts';
import { limitOf } from '../src/ledger.ts';
import { tenTo, USD_DECIMALS } from '../src/money.ts';
import { type Quote, uniqueSlots, uniqueStep } from '../src/quote.ts';
import { type App, seconds } from './context.ts';

/** Amounts that a merchant without a confirmed sale may have reserved at a time. */
const RESERVED_BEFORE_SALE = 20;
/** … and after it: so many, and one more for each USD of his limit. */
const RESERVED_AFTER_SALE = 100;
/** No limit buys more: this many stand at one price at most. */
const MOST_RESERVED = 10_000;
/** Amounts that one anonymous caller may have reserved at one unit. */
const RESERVED_BY_CALLER = 5;
/** Addresses of one blockchain watched for one merchant: without a confirmed sale, and after it. */
const WATCHED_BEFORE_SALE = 5;
const WATCHED_AFTER_SALE = 50;
/** How soon after its end an amount is given back where a quota or all amounts are used up: what was paid in time is read by then. */
const RELEASE_SECONDS = 900;
/** Amounts looked at in one question. */
const SLOTS_PER_QUERY = 500;
/** How many steps further an amount is taken that no other account at the address has reserved. */
const AVOIDED_STEPS = 50;
const RETRY_AFTER_SECONDS = 60;

export interface AmountRequest {
  owner_id: string | null;
  gateway: Gateway;
  wallet: { address_key: string };
  unit_id: string | null;
  /** Who asks without credentials; null for holders of a key. */
  caller: string | null;
}

/**
 * The quote with the nearest amount at or above the price that this owner has not reserved at the address. Refuses with
 * `no_free_amount` where the whole 1 % above the price is reserved, `too_many_unpaid` where the holder's quota is used up.
 */
export async function reserveAmount(app: App, tx: Tx, request: AmountRequest, quoted: Quote): Promise<Quote> {
  const { gateway, owner_id, wallet } = request;
  const slot = { blockchain: gateway.blockchain, address_key: wallet.address_key, chain: gateway.chain };
  await lockSlot(app.db, tx, slot);
  if (owner_id !== null) await keepQuotas(app, tx, { ...request, owner_id });
  const slots = uniqueSlots(gateway, quoted.amount_atomic);
  const step = uniqueStep(gateway);
  const at = (index: bigint): string => (quoted.amount_atomic + index * step).toString();
  let before_me: readonly (string | null)[] | undefined;
  let shared: bigint | undefined;
  const mine: Reservation[] = [];
  for (let start = 0n; start < slots; start += BigInt(SLOTS_PER_QUERY)) {
    const length = slots - start < SLOTS_PER_QUERY ? Number(slots - start) : SLOTS_PER_QUERY;
    const indexes = Array.from({ length }, (_, index) => start + BigInt(index));
    const reserved = new Map<string, Reservation[]>();
    for (const each of await reservationsOf(tx, slot, indexes.map(at)))
      reserved.set(each.amount_atomic, [...(reserved.get(each.amount_atomic) ?? []), each]);
    for (const index of indexes) {
      const holders = reserved.get(at(index)) ?? [];
      if (holders.length === 0) return withTail(quoted, index * step);
      mine.push(...holders.filter((each) => each.owner_id === owner_id));
      if (holders.some((each) => each.owner_id === owner_id)) continue;
      before_me ??= ownersBefore(await ownersAt(tx, slot), owner_id);
      // Another account at the address keeps its amount from those who come after it, and from nobody else.
      if (holders.some((each) => before_me?.includes(each.owner_id))) continue;
      shared ??= index;
      if (index - shared >= AVOIDED_STEPS) return withTail(quoted, shared * step);
    }
  }
  if (shared !== undefined) return withTail(quoted, shared * step);
  const oldest = oldestEnded(mine, seconds(app.clock) - RELEASE_SECONDS);
  if (!oldest)
    throw new Refusal('no_free_amount', {
      detail: `All ${slots} distinguishable amounts at this price are reserved for ${gateway.chain}; ask for another price or wait until one is given back`,
    });
  await release(tx, [oldest.id]);
  return withTail(quoted, BigInt(oldest.amount_atomic) - quoted.amount_atomic);
}

/** Refuses `too_many_unpaid` where this would make one address more watched for the merchant than he may have. */
export async function keepWatchQuota(
  app: App,
  tx: Tx,
  { owner_id, gateway, wallet }: Pick<AmountRequest, 'gateway' | 'wallet'> & { owner_id: string },
): Promise<void> {
  const { blockchain, blockchain_name } = gateway;
  const watched = await watchedOf(tx, { owner_id, blockchain, now: seconds(app.clock) });
  if (watched.length < WATCHED_BEFORE_SALE || watched.includes(wallet.address_key)) return;
  const most = (await hasSold(tx, owner_id)) ? WATCHED_AFTER_SALE : WATCHED_BEFORE_SALE;
  if (watched.length < most) return;
  throw new Refusal('too_many_unpaid', {
    detail: `Payments to ${watched.length} addresses on ${blockchain_name} are still watched for this account; use one of them, or wait until their invoices are over for a day`,
    retry_after: RETRY_AFTER_SECONDS,
  });
}

const withTail = (quoted: Quote, tail: bigint): Quote => ({
  ...quoted,
  amount_merchant_atomic: quoted.amount_merchant_atomic + tail,
  amount_atomic: quoted.amount_atomic + tail,
});

/** Those who go before this owner at an address; all of them for one who is new there. */
function ownersBefore(order: readonly (string | null)[], owner_id: string | null) {
  const at = order.indexOf(owner_id);
  return at < 0 ? order : order.slice(0, at);
}

function oldestEnded(mine: readonly Reservation[], ended_before: number): Reservation | undefined {
  return mine
    .filter((each) => each.ended_at !== null && each.ended_at <= ended_before)
    .sort((a, b) => (a.ended_at ?? 0) - (b.ended_at ?? 0))[0];
}

async function keepQuotas(
  app: App,
  tx: Tx,
  { owner_id, unit_id, caller }: AmountRequest & { owner_id: string },
): Promise<void> {
  if (unit_id !== null && caller !== null)
    await keepQuota(app, tx, { owner_id, unit_id, caller }, async () => RESERVED_BY_CALLER);
  await keepQuota(app, tx, { owner_id }, async () => {
    if (!(await hasSold(tx, owner_id))) return RESERVED_BEFORE_SALE;
    const limit_micros = limitOf((await getMerchant(tx, owner_id))?.prepaid_micros ?? 0n);
    const more = limit_micros / tenTo(USD_DECIMALS);
    return RESERVED_AFTER_SALE + (more < MOST_RESERVED ? Number(more) : MOST_RESERVED);
  });
}

/** What has ended is given back early before anybody is refused. */
async function keepQuota(app: App, tx: Tx, holder: Holder, quota: () => Promise<number>): Promise<void> {
  const least = holder.caller === undefined ? RESERVED_BEFORE_SALE : RESERVED_BY_CALLER;
  if ((await countReserved(tx, holder, least)) < least) return;
  const most = await quota();
  if (most > least && (await countReserved(tx, holder, most)) < most) return;
  if ((await releaseEnded(tx, holder, seconds(app.clock) - RELEASE_SECONDS)) > 0) return;
  throw new Refusal('too_many_unpaid', {
    detail:
      holder.caller === undefined
        ? `${most} invoices that are told apart by their amount are unpaid; wait until one is paid or over. A first confirmed sale raises this number`
        : `${most} payments of this offer were begun from here and not paid; pay one of them, or wait until they are over`,
    retry_after: RETRY_AFTER_SECONDS,
  });
}
