// Amounts that tell invoices apart where there is no memo: the nearest free one, or one that no one foresees; and how many one holder may reserve.
import { accountsAt, hasSold, type Standing, standingsOf, watchedOf } from '../../data/addresses.ts';
import type { Tx } from '../../data/db/open.ts';
import { getMerchant } from '../../data/merchants.ts';
import {
  type EarlyRelease,
  type Holding,
  hasReserved,
  holderOf,
  lockSlot,
  nextGivenBack,
  type Reservation,
  release,
  releaseEnded,
  reservationsOf,
  reservedBy,
  type Slot,
} from '../../data/reservations.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { shuffled } from '../../src/draw.ts';
import { Refusal } from '../../src/errors.ts';
import { limitOf } from '../../src/ledger.ts';
import { tenTo, USD_DECIMALS } from '../../src/money.ts';
import { drawnSlots, type Quote, uniqueSlots, uniqueStep } from '../../src/quote.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { isHouse } from './limit.ts';

/** Amounts that a merchant may have reserved at a time without a confirmed sale, or at an address without one there … */
const RESERVED_BEFORE_SALE = 20;
/** … of which buyers without credentials may take so many, so that they never keep the merchant from asking. */
const RESERVED_ANONYMOUSLY = 15;
/** After a confirmed sale so many, and one more for each USD of the limit … */
const RESERVED_AFTER_SALE = 100;
/** … up to this many, of which buyers without credentials may take the same share as before. */
const RESERVED_MOST = 10_000;
/** Amounts that one anonymous caller may have reserved at one unit, without what was cancelled before anything was seen … */
const RESERVED_BY_CALLER = 5;
/** … and with that at all units of a merchant: fewer than what all callers may have together. */
const RESERVED_BY_CALLER_IN_ALL = 10;
/** Refills that one merchant may have open: their amounts are distinguished among those of all merchants. */
const RESERVED_FOR_REFILLS = 5;
/** Where another account has sold more at an address, one takes at most this part of the amounts at a price. */
const SHARE_AT_SHARED_ADDRESS = 4n;
/** Addresses of one blockchain watched for one merchant: without a confirmed sale, and after it. */
const WATCHED_BEFORE_SALE = 5;
const WATCHED_AFTER_SALE = 50;
/** How soon after its end an amount is given back where a quota or all amounts are used up: buyers are seldom later. */
const EARLY_RELEASE_SECONDS = 900;
/** Amounts asked for in the first question, which is nearly always enough, and in each further one. */
const FIRST_SLOTS = 16;
const FURTHER_SLOTS = 500;
/** How many amounts of other accounts are stepped over before one of an account that has less standing is shared. */
const AVOIDED_AMOUNTS = 50;
/** Amounts that are tried until a free one is found. */
const TRIED_AT_MOST = 10_000;
/** An end is written, and an amount given back, once the chain is read so far. */
const READ_SECONDS = 60;

type AmountApp = Pick<App, 'db' | 'clock' | 'clock_check'>;
type DrawingApp = AmountApp & Pick<App, 'config' | 'runtime'>;

export interface AmountRequest {
  owner_id: string | null;
  kind: 'sale' | 'refill';
  gateway: Gateway;
  wallet: { address_key: string };
  unit_id: string | null;
  /** Who asks without credentials; null for holders of a key. */
  caller: string | null;
}

/** Who is paid at the address, and whether the amount may be the nearest one. */
interface Place {
  /** Accounts there, on this blockchain, those first that go before the others. */
  order: readonly Standing[];
  is_drawn: boolean;
}

/**
 * The quote with an amount at or above the price that is free for this owner at the address: the nearest where an account
 * itself asks for what it alone is paid. Who else names an amount, or an address that is also another's, may have seen a
 * payment on its way there and ask for just as much: his is drawn. Refuses with `no_free_amount` where all amounts are
 * reserved, `too_many_unpaid` where a quota is used up.
 */
export async function reserveAmount(
  app: DrawingApp,
  tx: Tx,
  request: AmountRequest,
  quoted: Quote,
): Promise<Quote> {
  const { gateway, owner_id, wallet } = request;
  const slot = { blockchain: gateway.blockchain, address_key: wallet.address_key, chain: gateway.chain };
  await lockSlot(app.db, tx, owner_id, slot);
  const { order, is_drawn } = await placeOf(app, tx, request);
  if (owner_id !== null) await keepQuotas(app, tx, { ...request, owner_id }, order);
  const found = await freeAmount(tx, slot, {
    request,
    quoted,
    order,
    ...slotsOf(app, request, quoted, is_drawn),
  });
  if ('tail' in found) return withTail(quoted, found.tail);
  // All are reserved: the amount that no one needs any more is given to this one, of unpaid ones the oldest first, or any.
  const early = earlyRelease(app);
  const age = ({ ended_at }: Reservation) => (is_drawn ? 0 : (ended_at ?? 0));
  const oldest = found.mine
    .filter(({ ended_at }) => ended_at !== null)
    .sort((a, b) => Number(a.is_paid) - Number(b.is_paid) || age(a) - age(b));
  for (const one of early ? oldest : [])
    if ((await release(app.db, tx, [one], early as EarlyRelease)) > 0)
      return withTail(quoted, BigInt(one.amount_atomic) - quoted.amount_atomic);
  if (found.is_share && owner_id !== null)
    throw await tooMany(app, tx, {
      // Of these at least one is given back then.
      holding: { owner_id, kind: 'sale', address: slot },
      most: 1,
      detail: `Another account has sold more at this address: this one may have at most a quarter of the ${found.slots} distinguishable amounts at a price unpaid. Wait until one is paid or has ended`,
    });
  throw new Refusal('no_free_amount', {
    detail: `All ${found.slots} distinguishable amounts at this price are reserved for ${gateway.chain}; use another price, or wait until one becomes free`,
  });
}

async function placeOf({ config }: DrawingApp, tx: Tx, request: AmountRequest): Promise<Place> {
  const { gateway, wallet, kind, unit_id, caller } = request;
  const { blockchain } = gateway;
  const blockchains = [blockchain, ...config.chains.sharingAddresses(blockchain)];
  const accounts = await accountsAt(tx, { blockchains, address_key: wallet.address_key });
  const [first, ...others] = standingsOf(accounts);
  const holder = holderOf(request);
  const goes_first =
    first === undefined || (first.owner_id === holder && (first.has_sold || others.length === 0));
  return {
    order: standingsOf(accounts.filter((account) => account.blockchain === blockchain)),
    is_drawn: kind === 'refill' || unit_id !== null || caller !== null || !goes_first,
  };
}

/** How many amounts there are, and the order in which they are tried. */
function slotsOf(
  { runtime }: DrawingApp,
  { gateway, kind }: AmountRequest,
  { amount_atomic }: Quote,
  is_drawn: boolean,
) {
  const slots = is_drawn ? drawnSlots(gateway, amount_atomic, kind) : uniqueSlots(gateway, amount_atomic);
  const count = Number(slots);
  return { slots, indexes: is_drawn ? shuffled(count, runtime.randomBytes) : Array(count).keys() };
}

/** Refuses `too_many_unpaid` where this would make one address more watched for the merchant than he may have. */
export async function keepWatchQuota(
  app: AmountApp,
  tx: Tx,
  { owner_id, gateway, wallet }: Pick<AmountRequest, 'gateway' | 'wallet'> & { owner_id: string },
): Promise<void> {
  const { blockchain, blockchain_name } = gateway;
  const now = seconds(app.clock);
  const watched = await watchedOf(tx, { owner_id, blockchain, now });
  const is_watched = watched.some(({ address_key }) => address_key === wallet.address_key);
  if (watched.length < WATCHED_BEFORE_SALE || is_watched) return;
  const most = (await hasSold(tx, owner_id)) ? WATCHED_AFTER_SALE : WATCHED_BEFORE_SALE;
  const next = watched[watched.length - most];
  if (!next) return;
  throw new Refusal('too_many_unpaid', {
    detail: `Payments to ${watched.length} addresses on ${blockchain_name} are still watched for this account; use one of them, or wait until a day after their invoices have ended`,
    retry_after: next.watch_until + 1 - now,
  });
}

const withTail = (quoted: Quote, tail: bigint): Quote => ({
  ...quoted,
  amount_merchant_atomic: quoted.amount_merchant_atomic + tail,
  amount_atomic: quoted.amount_atomic + tail,
});

/** Nothing is given back early by a clock that is not believed. */
const earlyRelease = ({ clock, clock_check }: AmountApp): EarlyRelease | undefined =>
  clock_check.trouble() === null ? { now: seconds(clock), hold_seconds: EARLY_RELEASE_SECONDS } : undefined;

interface Search {
  request: AmountRequest;
  quoted: Quote;
  order: readonly Standing[];
  slots: bigint;
  /** How many steps above the price to try, one after the other. */
  indexes: Iterator<number>;
}

/** What was found in place of a free amount. */
interface NoneFree {
  /** Of this owner, among those that were gone through. */
  mine: Reservation[];
  slots: bigint;
  /** Whether not all are reserved, but as many as one account may have where several use the address. */
  is_share: boolean;
}

/**
 * An amount that another account has reserved is left to it, but for accounts of less standing: where many of theirs had
 * to be stepped over, the first of those is shared, and a payment of it is this owner's. So an account that only names the
 * same address takes no amount from those who sell there.
 */
async function freeAmount(
  tx: Tx,
  slot: Slot,
  { request, quoted, order, slots, indexes }: Search,
): Promise<{ tail: bigint } | NoneFree> {
  const step = uniqueStep(request.gateway);
  const holder = holderOf(request);
  const used_up = await shareUsed(tx, slot, { holder, quoted, order, slots, step });
  if (used_up) return { mine: used_up, slots, is_share: true };
  const yields = yieldsTo(holder, order);
  const mine: Reservation[] = [];
  let shared: bigint | undefined;
  let avoided = 0;
  for (let tried = 0; tried < TRIED_AT_MOST; ) {
    const tails = take(indexes, tried === 0 ? FIRST_SLOTS : FURTHER_SLOTS).map((at) => BigInt(at) * step);
    if (tails.length === 0) break;
    tried += tails.length;
    const amountOf = (tail: bigint) => (quoted.amount_atomic + tail).toString();
    const reserved = await reservationsOf(tx, slot, tails.map(amountOf));
    for (const tail of tails) {
      const holders = reserved.get(amountOf(tail)) ?? [];
      if (holders.length === 0) return { tail };
      const own = holders.filter((each) => each.holder === holder);
      mine.push(...own);
      if (own.length > 0) continue;
      avoided++;
      if (holders.every((each) => yields(each.holder))) shared ??= tail;
      if (shared !== undefined && avoided > AVOIDED_AMOUNTS) return { tail: shared };
    }
  }
  return shared === undefined ? { mine, slots, is_share: false } : { tail: shared };
}

function take(indexes: Iterator<number>, most: number): number[] {
  const taken: number[] = [];
  while (taken.length < most) {
    const { done, value } = indexes.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

/** What an account has reserved at the price, where that is all it may have because another has sold more there. */
async function shareUsed(
  tx: Tx,
  slot: Slot,
  {
    holder,
    quoted,
    order,
    slots,
    step,
  }: Pick<Search, 'quoted' | 'order' | 'slots'> & { holder: string | null; step: bigint },
): Promise<Reservation[] | undefined> {
  const [first] = order;
  if (holder === null || !first?.has_sold || first.owner_id === holder) return undefined;
  const end = quoted.amount_atomic + slots * step;
  const mine = (await reservedBy(tx, holder, slot)).filter(
    (each) => BigInt(each.amount_atomic) >= quoted.amount_atomic && BigInt(each.amount_atomic) < end,
  );
  const unpaid = mine.filter(({ is_paid }) => !is_paid);
  return BigInt(unpaid.length) < shareOf(slots) ? undefined : mine;
}

const shareOf = (slots: bigint): bigint =>
  slots < SHARE_AT_SHARED_ADDRESS ? 1n : slots / SHARE_AT_SHARED_ADDRESS;

/** Whether another account has less standing: this one has sold at the address, and goes before it. */
function yieldsTo(holder: string | null, order: readonly Standing[]): (other: string | null) => boolean {
  const own = order.findIndex(({ owner_id }) => owner_id === holder);
  const has_sold = order[own]?.has_sold ?? false;
  return (other) => has_sold && order.findIndex(({ owner_id }) => owner_id === other) > own;
}

interface Quota {
  holding: Holding;
  most: number;
  detail: string;
}

async function keepQuotas(
  app: AmountApp,
  tx: Tx,
  request: AmountRequest & { owner_id: string },
  order: readonly Standing[],
): Promise<void> {
  const quotas = request.kind === 'refill' ? refillQuotas(request) : await saleQuotas(tx, request, order);
  for (const quota of quotas) await keepQuota(app, tx, quota);
}

/** Refills have a quota of their own: without one, a newcomer with many unpaid sales could never have any of them booked. */
const refillQuotas = ({ owner_id }: { owner_id: string }): Quota[] => [
  {
    holding: { owner_id, kind: 'refill' },
    most: RESERVED_FOR_REFILLS,
    detail: `${RESERVED_FOR_REFILLS} refills are unpaid; pay one of them, or wait until one has ended`,
  },
];

async function saleQuotas(
  tx: Tx,
  { owner_id, unit_id, caller, gateway, wallet }: AmountRequest & { owner_id: string },
  order: readonly Standing[],
): Promise<Quota[]> {
  const UNPAID = 'invoices that differ only by their amount are unpaid';
  const address = { blockchain: gateway.blockchain, address_key: wallet.address_key };
  const has_sold_here = order.some((each) => each.owner_id === owner_id && each.has_sold);
  const all =
    has_sold_here || (await hasSold(tx, owner_id)) ? await quotaOf(tx, owner_id) : RESERVED_BEFORE_SALE;
  const sales = { owner_id, kind: 'sale' } as const;
  const quotas: Quota[] = [
    {
      holding: sales,
      most: all,
      detail: `${all} ${UNPAID}; wait until one is paid or has ended. A first confirmed sale, and then the limit, raise this number`,
    },
  ];
  if (!has_sold_here && all > RESERVED_BEFORE_SALE)
    quotas.push({
      holding: { ...sales, address },
      most: RESERVED_BEFORE_SALE,
      detail: `${RESERVED_BEFORE_SALE} ${UNPAID} at an address without a confirmed sale; wait until one is paid or has ended. A confirmed sale there raises this number`,
    });
  if (caller === null) return quotas;
  const most = Math.floor((all * RESERVED_ANONYMOUSLY) / RESERVED_BEFORE_SALE);
  quotas.push({
    holding: { ...sales, anonymous: true },
    most,
    detail: `${most} ${UNPAID}; wait until one is paid or has ended`,
  });
  if (unit_id !== null)
    quotas.push(
      {
        holding: { ...sales, caller, unit_id },
        most: RESERVED_BY_CALLER,
        detail: `${RESERVED_BY_CALLER} payments for this offer were started from here and not paid; pay or cancel one of them, or wait until they have ended`,
      },
      {
        holding: { ...sales, caller },
        most: RESERVED_BY_CALLER_IN_ALL,
        detail: `${RESERVED_BY_CALLER_IN_ALL} payments to this shop were started from here and not paid; pay one of them, or wait until they have ended`,
      },
    );
  return quotas;
}

/** For one who has sold: so many, and one more for each USD of the limit; the operator's own shop has none. */
async function quotaOf(tx: Tx, owner_id: string): Promise<number> {
  const merchant = await getMerchant(tx, owner_id);
  if (merchant && isHouse(merchant)) return RESERVED_MOST;
  const limit_micros = limitOf(merchant?.prepaid_micros ?? 0n);
  const more = limit_micros / tenTo(USD_DECIMALS);
  return Math.min(RESERVED_MOST, RESERVED_AFTER_SALE + (more < RESERVED_MOST ? Number(more) : RESERVED_MOST));
}

/** What has ended is given back early before anyone is refused. */
async function keepQuota(app: AmountApp, tx: Tx, quota: Quota): Promise<void> {
  const { holding, most } = quota;
  if (!(await hasReserved(tx, holding, most))) return;
  const early = earlyRelease(app);
  if (early && (await releaseEnded(app.db, tx, holding, early)) > 0) return;
  throw await tooMany(app, tx, quota);
}

/** The refusal, with when the quota has room again where no one pays. */
async function tooMany({ clock }: AmountApp, tx: Tx, { holding, most, detail }: Quota): Promise<Refusal> {
  const at = await nextGivenBack(tx, holding, { most, hold_seconds: EARLY_RELEASE_SECONDS });
  const wait_seconds = Math.max(0, (at ?? 0) - seconds(clock)) + READ_SECONDS;
  return new Refusal('too_many_unpaid', { detail, retry_after: wait_seconds });
}
