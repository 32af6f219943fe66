// TON read through replicas that are each behind by another stretch, request by request: nothing is proved that is not stored.
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/chains/family.ts';
import { ton } from '../../src/chains/ton/family.ts';
import {
  buyer,
  chain,
  coin,
  emptyStore,
  jetton,
  merchant,
  ONE_TON,
  ONE_USDT,
  readInto,
  refsOf,
  type Store,
  usdt,
  useTonChain,
  watch,
} from './ton/harness.ts';

useTonChain();

const STEPS = 70;
/** Readings with a sane provider after which everything is stored and proved. */
const SANE_READINGS = 40;
const MOST_LAG_SECONDS = 400;
/** One seed to be tried alone, or so many: `SEED=7` or `SEEDS=100 npx vitest run test/chains/ton-random.test.ts`. */
const { SEED, SEEDS = 3 } = process.env;
const seeds = SEED ? [Number(SEED)] : Array.from({ length: Number(SEEDS) }, (_, each) => each + 1);

/** Numbers from 0 to 1, the same ones for a seed. */
function randomFrom(seed: number): () => number {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Paid {
  key: string;
  chain: string;
  txid: string;
  time: number;
}

/** What a proof claims and the store does not have. */
function brokenClaims(store: Store, paid: readonly Paid[]): Paid[] {
  const known = new Set([...store.transfers.values()].map(({ txid }) => txid));
  return paid.filter(({ key, chain, txid, time }) => {
    const proof = store.proofs.get(`${key} ${chain}`);
    return time <= (proof?.read_through ?? 0) && !known.has(txid);
  });
}

describe('random lag, gaps and failures', () => {
  it.each(seeds)('leave no claim that is not true, and nothing unread in the end: seed %i', async (seed) => {
    const random = randomFrom(seed);
    const upTo = (most: number) => Math.floor(random() * (most + 1));
    const chance = (of: number) => random() < of;
    const shops = [merchant, await chain.createWallet({ deployed: false }), await chain.createWallet()];
    chain.advanceTime(200);
    const watched = shops.map((shop) => watch(shop));
    const paid: Paid[] = [];
    const pay = async () => {
      const to = shops[upTo(2)] as (typeof shops)[0];
      const gateway = chance(0.5) ? coin : usdt;
      const { txid } =
        gateway === coin
          ? await chain.sendTon({ from: buyer, to, amount: ONE_TON })
          : await chain.sendJetton({ jetton, from: buyer, to, amount: ONE_USDT });
      paid.push({ key: to.key, chain: gateway.chain, txid, time: chain.now() });
    };
    const lag = () => (chance(0.4) ? 0 : chain.blocksWithin(upTo(MOST_LAG_SECONDS)));
    chain.lag({ masterchainInfo: lag, transactions: lag, accountStates: lag });
    chain.distort((rows, path) => {
      if (path === 'accountStates') return chance(0.1) ? [...rows, ...rows] : rows;
      if (chance(0.15)) return rows.filter((_, at) => at !== upTo(rows.length - 1));
      if (chance(0.1)) return rows.slice(0, upTo(rows.length));
      return chance(0.1) ? [...rows, ...rows] : rows;
    });
    const store = emptyStore();
    const read = async () => {
      const urgent = shops.flatMap(refsOf).filter(() => chance(0.5));
      await readInto(store, watched, { urgent, paused: chance(0.3) }).catch((error: unknown) => {
        if (!(error instanceof ProviderError)) throw error;
      });
      expect(brokenClaims(store, paid)).toEqual([]);
    };
    for (let step = 0; step < STEPS; step++) {
      chain.advanceTime(upTo(20));
      if (chance(0.3)) await pay();
      if (chance(0.05)) chain.fail('server_error', { after: upTo(3) });
      if (chance(0.05)) store.reader = ton.open();
      await read();
    }
    chain.lag({});
    chain.distort((rows) => rows);
    const urgent = shops.flatMap(refsOf);
    const isDone = () =>
      [...store.proofs.values()].every(({ trouble, read_through }) => {
        return trouble === null && read_through === chain.now() - 5;
      });
    for (let reading = 0; reading < SANE_READINGS && !(store.proofs.size === 6 && isDone()); reading++) {
      chain.advanceTime(20);
      await readInto(store, watched, { urgent }).catch(() => undefined);
    }
    expect([...store.proofs.values()].map(({ trouble }) => trouble)).toEqual(urgent.map(() => null));
    expect(isDone()).toBe(true);
    const known = [...store.transfers.values()].map(({ txid }) => txid);
    expect(paid.filter(({ txid }) => !known.includes(txid))).toEqual([]);
    expect(known.length).toBe(new Set(known).size);
  });
});
