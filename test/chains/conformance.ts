// What every family must pass, whatever its chain: read once and only once, and never proved further than it was read.
import { describe, expect, it } from 'vitest';
import {
  type AccountProof,
  type AccountRef,
  AddressError,
  type Family,
  type Gateway,
  type Json,
  type Pace,
  type Page,
  type PendingTransfer,
  ProviderError,
  type ReadContext,
  type Tip,
  type Transfer,
  type TransferUpdate,
  type UnreadableAsset,
  type WatchedAddress,
} from '../../src/chains/family.ts';
import { verifies } from '../requirements.ts';
import type { FrontRpc } from './front-rpc.ts';
import { PACES } from './paces.ts';

/** A chain in memory behind the provider's own wire format: what happened on it is known exactly. */
export interface World {
  family: Family;
  blockchain: string;
  /** Those that are read; the first one is the coin's. */
  gateways: readonly [Gateway, ...Gateway[]];
  rpc: FrontRpc;
  /** Unix seconds, true time. */
  now(): number;
  /** Time passes, and the chain grows as it does by the way. */
  advance(seconds: number): void;
  /** A receive address that was never used. */
  address(): string;
  pay(payment: { gateway: Gateway; to: string; amount: bigint; memo: string | null }): string;
  /** What was paid so far stands as deep in the chain as invoices may ask. */
  bury(): void;
  /** The block height that a transaction stands at now; null where it stands in none. */
  heightOf(txid: string): number | null;
  /** The provider answers as it did a while ago. */
  lag(is_behind: boolean): void;
  /**
   * The last block leaves the chain with the transaction in it, which comes again later or never. Absent where nothing
   * that is shown ever leaves the chain.
   */
  reorganise?(txid: string, then: 'again' | 'never'): void;
  /** Whether nothing proves that a transaction is gone for good. */
  never_gone?: boolean;
  /** Payments that do not fit into one page. */
  crowd: number;
  /** What is no address on the test network, and how it is wrong. */
  bad_addresses: Record<string, string>;
  /** A transaction id that the chain does not have. */
  unknown_txid: string;
  /** Between two blocks of the model, seconds; absent where blocks come only as the suite says. */
  block_seconds?: number;
  /** The most requests that a minute costs in which nothing happens; absent where that is measured elsewhere. */
  idle_requests?: number;
}

/** Calls that a provider takes in one request: as many as it is asked, few, and one at a time. */
export const BATCHES = [Number.POSITIVE_INFINITY, 3, 0] as const;

/**
 * Runs the suite at each of these; `open` makes a world whose blocks come so many times as fast as usual. `batches`: what is
 * to be tried besides where a family asks several calls at once.
 */
export function atEveryPace(
  name: string,
  open: (pace: number, most_calls: number) => World,
  batches: readonly number[] = BATCHES.slice(0, 1),
): void {
  for (const most_calls of batches)
    for (const pace of PACES) {
      const called = pace === 1 ? name : `${name} at ${pace} times its pace`;
      const limited = Number.isFinite(most_calls) ? `, with batches of ${most_calls}` : '';
      conformance(`${called}${limited}`, () => open(pace, most_calls));
    }
}

/** Between two readings. */
const STEP_SECONDS = 15;
/** What a reading left follows it so soon. */
const UNFINISHED_SECONDS = 1;
/** Readings until all must be proved; more where they left something, in no longer time. */
const MOST_READINGS = 60;
/** Until a transaction that left the chain must be called gone. */
const GONE_READINGS = 60;
const SKEW_SECONDS = 310;
const REQUESTS_FAILED = 12;
/** For so long hosts of the models say that they answer no one. */
const SUSPENDED_SECONDS = 30;
/** An observer's pause, and what of a measured pace may be off. */
const POLL_SECONDS = 6;
const PACE_SHARE = 0.2;

interface Paid {
  txid: string;
  key: string;
  chain: string;
  amount: bigint;
  memo: string | null;
  /** Unix seconds, by our clock of that moment. */
  at: number;
  /** Whether it is on the chain, or on its way there. */
  is_real: boolean;
}

/** What the observer does with a family, in memory: pages and cursors are stored together, pending transfers asked about. */
export function openBooks(world: World) {
  const { family, gateways } = world;
  const watched: WatchedAddress[] = [];
  const paid: Paid[] = [];
  const accounts = new Map<string, Json>();
  const proofs = new Map<string, AccountProof>();
  const transfers = new Map<string, Transfer>();
  const first_seen = new Map<string, number>();
  const gone = new Set<string>();
  let cursor: Json | null = null;
  let read_through: number | null = null;
  let tip: Tip | null = null;
  let reader = family.open();
  let failure: ProviderError | null = null;
  let pace: Pace | null = null;
  let unreadable: readonly UnreadableAsset[] = [];
  let is_unfinished = false;

  const now = () => world.now() + books.skew;
  const contextOf = (): ReadContext => ({
    rpc: world.rpc,
    network: 'testnet',
    blockchain: world.blockchain,
    gateways,
    now,
    local: (time) => ({ earliest_at: time + books.skew, latest_at: time + books.skew }),
    askOther: (work) => work(world.rpc),
    spare_requests: 50,
  });
  const refKey = ({ address_key, chain }: AccountRef) => `${address_key} ${chain}`;
  const idOf = ({ txid, index }: { txid: string; index: string }) => `${txid} ${index}`;
  const pending = (): PendingTransfer[] =>
    [...transfers.entries()].flatMap(([id, transfer]) =>
      gone.has(id) || transfer.final
        ? []
        : { ...transfer, blockhash: transfer.blockhash ?? null, first_seen_at: first_seen.get(id) ?? 0 },
    );

  function follow(updates: readonly TransferUpdate[]): void {
    for (const { state, txid, index, confirmations, depth_seconds = null, height, block_hash } of updates) {
      const id = idOf({ txid, index });
      const known = transfers.get(id);
      if (!known) throw new Error(`${id} is not stored, and became ${state}`);
      if (state === 'gone') gone.add(id);
      const final = state === 'final';
      transfers.set(id, { ...known, confirmations, depth_seconds, height, block_hash, final });
    }
  }

  function store(page: Page): void {
    for (const [id, transfer] of transfers)
      if (transfer.block_hash !== null && page.orphaned_blocks?.includes(transfer.block_hash))
        transfers.set(id, { ...transfer, height: null, block_hash: null, confirmations: 0 });
    for (const transfer of page.transfers) {
      const id = idOf(transfer);
      const known = transfers.get(id);
      if (known)
        expect(transfer.amount_atomic, `${id} was read with another amount`).toBe(known.amount_atomic);
      transfers.set(id, transfer);
      first_seen.set(id, first_seen.get(id) ?? now());
      gone.delete(id);
    }
    follow(page.updates ?? []);
    // As the database has them: what does not survive JSON is no cursor.
    if (page.cursor !== undefined) cursor = JSON.parse(JSON.stringify(page.cursor)) as Json;
    for (const [key, each] of page.accounts ?? [])
      accounts.set(key, JSON.parse(JSON.stringify(each)) as Json);
    for (const proof of page.proofs ?? []) {
      const before = proofs.get(refKey(proof))?.read_through ?? 0;
      proofs.set(refKey(proof), {
        ...proof,
        read_through: Math.max(before, proof.read_through ?? 0) || null,
      });
    }
    for (const ref of page.caught_up ?? []) proofs.delete(refKey(ref));
    tip = page.tip ?? tip;
    pace = page.pace ?? pace;
    unreadable = page.unreadable ?? unreadable;
    is_unfinished = page.is_unfinished ?? false;
  }

  const books = {
    /** How far our clock is ahead of the true time. */
    skew: 0,
    transfers,
    paid,
    cursor: () => cursor,
    /** As it was measured last; null where nothing was. */
    pace: () => pace,
    /** Watches a new address from now on. */
    watch(address = world.address()): WatchedAddress {
      const { key, address: shown } = family.normalizeAddress(address, 'testnet');
      const watch = { key, address: shown, since: now(), open: true };
      watched.push(watch);
      return watch;
    },
    pay(to: WatchedAddress, amount: bigint, memo: string | null = null, gateway = gateways[0]): string {
      const text = gateway.supports_memo ? memo : null;
      const txid = world.pay({ gateway, to: to.address, amount, memo: text });
      const { chain } = gateway;
      paid.push({ txid, key: to.key, chain, amount, memo: text, at: now(), is_real: true });
      return txid;
    },
    /** The stored transfers of one transaction that are not gone. */
    of: (txid: string) =>
      [...transfers.entries()].flatMap(([id, each]) => (each.txid === txid && !gone.has(id) ? each : [])),
    isGone: (txid: string) => [...gone].some((id) => id.startsWith(`${txid} `)),
    provedThrough(ref: AccountRef): number {
      // As invoices in it are: none ends by what was read of the others.
      if (unreadable.some(({ chain }) => chain === ref.chain)) return 0;
      const own = proofs.get(refKey(ref));
      return (own ? own.read_through : read_through) ?? 0;
    },
    /** A new process, with what is stored. */
    restart(): void {
      reader = family.open();
    },
    /** Everything is read once more from the beginning, into what is stored. */
    forgetCursors(): void {
      cursor = null;
      accounts.clear();
    },
    /** One reading, which dies after so many pages. False where the provider failed. */
    async read({ pages = Infinity }: { pages?: number } = {}): Promise<boolean> {
      const context = contextOf();
      let stated: number | null = null;
      let left = pages;
      try {
        const request = {
          addresses: async () => watched,
          cursor,
          accounts: async (keys: readonly string[]) =>
            new Map(keys.flatMap((key) => (accounts.has(key) ? [[key, accounts.get(key) as Json]] : []))),
          urgent: async () =>
            watched.flatMap(({ key }) => gateways.map(({ chain }) => ({ address_key: key, chain }))),
          behind: async () =>
            [...proofs.values()]
              .filter(({ trouble }) => trouble !== null)
              .map((proof) => ({ ...proof, paused: false })),
          pending: async () => pending(),
          read_through,
        };
        for await (const page of reader.read(context, request)) {
          store(page);
          stated = page.read_through ?? stated;
          books.check();
          if (--left === 0) return false;
        }
        if (stated !== null) read_through = Math.max(stated, read_through ?? 0);
        follow(await reader.recheck(context, pending(), tip));
        return true;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        failure = error;
        return false;
      } finally {
        books.check();
      }
    },
    /** Nothing is stored that was not paid, and nothing is proved that is not stored. */
    check(): void {
      for (const { txid, amount_atomic, address_key, chain } of transfers.values())
        expect(paid).toContainEqual(
          expect.objectContaining({ txid, key: address_key, chain, amount: amount_atomic }),
        );
      const missing = paid.filter(
        ({ txid, key, chain, at, is_real }) =>
          is_real &&
          at < books.provedThrough({ address_key: key, chain }) &&
          !books.of(txid).some((each) => each.address_key === key && each.chain === chain),
      );
      expect(missing, 'proved, but not stored').toEqual([]);
    },
    /** Reads until everything that was paid by now is proved. */
    async settle(): Promise<void> {
      const until = now() + 1;
      const isProved = () =>
        watched.every(({ key }) =>
          gateways.every(({ chain }) => books.provedThrough({ address_key: key, chain }) >= until),
        );
      for (let seconds = 0; seconds < MOST_READINGS * STEP_SECONDS && !isProved(); ) {
        const step = is_unfinished ? UNFINISHED_SECONDS : STEP_SECONDS;
        world.advance(step);
        await books.read();
        seconds += step;
      }
      const why = [
        failure?.message ?? [],
        unreadable.map(({ reason }) => reason),
        [...proofs.values()].map(({ trouble }) => trouble ?? []),
      ].flat(2);
      expect(isProved(), `not proved after ${MOST_READINGS * STEP_SECONDS} seconds: ${why}`).toBe(true);
    },
    /** Each payment is stored exactly once, as it was made. */
    expectAll(): void {
      for (const { txid, key, chain, amount, memo, is_real } of paid) {
        const found = books.of(txid).filter((each) => each.address_key === key);
        const expected = { chain, amount_atomic: amount, memo: memo?.trim() || null };
        expect(found, txid).toMatchObject(is_real ? [expected] : []);
      }
    },
    /** Asked once more where the provider is asked too often, as another one would be. */
    async lookUp(txid: string, address_key: string, gateway = gateways[0]) {
      const named = { txid, address_key, gateway };
      return reader.lookUp(contextOf(), named).catch((error: unknown) => {
        if (!(error instanceof ProviderError) || error.kind !== 'rate_limited') throw error;
        return reader.lookUp(contextOf(), named);
      });
    },
  };
  return books;
}

/** Runs the suite; `open` makes a new world, which moves only as the suite says. */
export function conformance(name: string, open: () => World): void {
  const start = () => {
    const world = open();
    return { world, books: openBooks(world) };
  };

  describe(`${name}, as every family`, () => {
    it('says which network a provider serves, and what it is read from', async () => {
      const { family, rpc, gateways } = open();
      expect(await family.identify(rpc)).toBe('testnet');
      expect(family.providers.map(({ kind }) => kind)).toContain(rpc.provider);
      for (const gateway of gateways) expect(gateway.family.uri_schemes).toEqual(family.uri_schemes);
    });

    it('makes payment links of its own schemes, and names the wallet of every other one', () => {
      const world = open();
      for (const gateway of world.gateways) {
        const order = { gateway, amount_atomic: 12_345n, memo: gateway.supports_memo ? 'INV-A' : null };
        const { address } = world.family.normalizeAddress(world.address(), 'testnet');
        const asked = { ...order, address, reference: null, label: 'A shop', expires_at: world.now() + 300 };
        const { uri, exits } = world.family.paymentLinks(asked);
        const links = world.family.walletLinks({
          ...asked,
          page_url: 'https://pay.example/pay/1',
          transaction_url: null,
        });
        expect(Object.keys(exits).filter((kind) => !gateway.exits.includes(kind))).toEqual([]);
        // A code that holds the address alone is of no scheme.
        if (uri !== address) expect(world.family.uri_schemes).toContain(uri.split(':')[0]);
        const all = [...Object.values(exits).map((href) => ({ href, wallet: undefined })), ...links];
        for (const { href, wallet } of all) {
          const { protocol } = new URL(href);
          if (protocol === 'https:') expect(wallet).not.toBeNull();
          else expect(world.family.uri_schemes).toContain(protocol.slice(0, -1));
        }
        for (const { opens_on } of links) expect(opens_on.length).toBeGreaterThan(0);
      }
    });

    it('knows an address by one key, and refuses what is none', () => {
      verifies('wallet-validated');
      const { family, bad_addresses, address } = open();
      const { address: shown, key } = family.normalizeAddress(address(), 'testnet');
      expect(family.normalizeAddress(shown, 'testnet')).toEqual({ address: shown, key });
      expect(Object.keys(bad_addresses).length).toBeGreaterThan(2);
      for (const [what, text] of [
        ...Object.entries(bad_addresses),
        ['empty', ''],
        ['words', 'send it here'],
      ] as const) {
        const refused = (() => {
          try {
            return family.normalizeAddress(text, 'testnet');
          } catch (error) {
            return error;
          }
        })();
        expect(refused, `${what}: ${text}`).toBeInstanceOf(AddressError);
        expect((refused as Error).message).toMatch(/[^.]$/);
      }
    });

    it('stores nothing twice, however often it is read and by however many processes', async () => {
      const { world, books } = start();
      const [one, two] = [books.watch(), books.watch()];
      await books.read();
      world.advance(5);
      for (const gateway of world.gateways) books.pay(one, 1_000_000n, 'INV-A', gateway);
      books.pay(one, 1_000_000n, 'INV-A');
      books.pay(two, 2_000_000n, 'INV-B');
      world.bury();
      await books.settle();
      books.expectAll();
      for (let time = 0; time < 3; time++) {
        books.restart();
        await books.read();
        await books.read();
        books.expectAll();
      }
      books.forgetCursors();
      books.restart();
      await books.settle();
      books.expectAll();
    });

    it('reads more than a page holds, also where the process dies after each page', async () => {
      const { world, books } = start();
      const [one, two] = [books.watch(), books.watch()];
      await books.read();
      // Many of one moment stand on either side of a page's border.
      for (let each = 0; each < world.crowd; each++) {
        books.pay(each % 5 === 0 ? two : one, 1_000n + BigInt(each), `INV-${each}`);
        if (each % 20 === 0) world.advance(1);
      }
      world.bury();
      for (let pages = 1; pages <= 8; pages++) {
        await books.read({ pages });
        books.restart();
        world.advance(1);
      }
      await books.settle();
      books.expectAll();
    });

    it('reads the least amount and a very large one to the last digit', async () => {
      const { world, books } = start();
      const to = books.watch();
      await books.read();
      for (const amount of [1n, 2n, 2_100_000_000_000_001n])
        for (const gateway of world.gateways) books.pay(to, amount, 'INV-A', gateway);
      world.bury();
      await books.settle();
      books.expectAll();
    });

    it('reads payments with a wrong memo, or none, as they are', async () => {
      const { world, books } = start();
      const to = books.watch();
      await books.read();
      for (const memo of [null, '', '  INV-A  ', 'inv-a', 'Order № 7 – спасибо', 'x'.repeat(300)])
        books.pay(to, 5_000n, memo);
      world.bury();
      await books.settle();
      books.expectAll();
    });

    it.each([SKEW_SECONDS, -SKEW_SECONDS])(
      'dates payments by our clock, which is %d seconds ahead',
      async (skew) => {
        verifies('clock-offset');
        const { world, books } = start();
        books.skew = skew;
        const to = books.watch();
        await books.settle();
        world.advance(40);
        const txid = books.pay(to, 5_000n, 'INV-A');
        const at = world.now() + skew;
        world.bury();
        await books.settle();
        books.expectAll();
        const [found] = books.of(txid);
        // To the second in which it was made, or the block after it.
        expect(found?.earliest_at).toBeLessThanOrEqual(at + Math.max(5, world.block_seconds ?? 0));
        expect(found?.latest_at).toBeGreaterThanOrEqual(at - 1);
      },
    );

    it('refuses a tip that is hours ahead of our clock, and moves nothing by it', async () => {
      verifies('clock-offset');
      const { world, books } = start();
      const to = books.watch();
      await books.settle();
      world.bury();
      await books.settle();
      const before = books.cursor();
      books.pay(to, 5_000n, 'INV-A');
      world.bury();
      books.skew = -3 * 3600;
      expect(await books.read()).toBe(false);
      expect(books.cursor()).toEqual(before);
      books.skew = 0;
      await books.settle();
      books.expectAll();
    });

    it('loses nothing by a provider that is behind, and proves nothing by it', async () => {
      const { world, books } = start();
      const to = books.watch();
      await books.settle();
      world.advance(600);
      books.pay(to, 5_000n, 'INV-A');
      world.bury();
      await books.settle();
      world.lag(true);
      books.pay(to, 6_000n, 'INV-B');
      for (let reading = 0; reading < 4; reading++) {
        world.advance(STEP_SECONDS);
        await books.read();
        if (reading === 1) books.restart();
      }
      world.lag(false);
      books.pay(to, 7_000n, 'INV-C');
      world.bury();
      await books.settle();
      books.expectAll();
    });

    it('loses nothing by requests that fail, whichever they are', async () => {
      const { world, books } = start();
      const to = books.watch();
      await books.read();
      for (let request = 1; request <= REQUESTS_FAILED; request++) {
        for (const gateway of world.gateways)
          books.pay(to, 1_000n + BigInt(request), `INV-${request}`, gateway);
        if (request % 3 === 0) world.bury();
        world.advance(STEP_SECONDS);
        world.rpc.failAt(request);
        await books.read();
        world.rpc.failAt(null);
        if (request % 4 === 0) books.restart();
      }
      world.bury();
      await books.settle();
      books.expectAll();
    });

    it('follows a transaction through a reorganisation, or shows none before it is final', async () => {
      const { world, books } = start();
      const to = books.watch();
      await books.settle();
      const txid = books.pay(to, 5_000n, 'INV-A');
      world.advance(5);
      if (!world.reorganise) {
        for (let reading = 0; reading < MOST_READINGS && books.of(txid).length === 0; reading++) {
          world.advance(STEP_SECONDS);
          await books.read();
        }
        expect(books.of(txid)).toMatchObject([{ final: true, height: world.heightOf(txid) }]);
        return;
      }
      await books.read();
      world.reorganise(txid, 'again');
      await books.read();
      world.bury();
      await books.settle();
      await books.read();
      books.expectAll();
      expect(world.heightOf(txid)).not.toBeNull();
      expect(books.of(txid)).toMatchObject([{ height: world.heightOf(txid) }]);
    });

    it('calls a transaction gone that has left the chain for good', async () => {
      const { world, books } = start();
      if (!world.reorganise || world.never_gone) return;
      const to = books.watch();
      await books.settle();
      const txid = books.pay(to, 5_000n, 'INV-A');
      const other = books.pay(to, 6_000n, 'INV-B');
      world.advance(Math.max(5, world.block_seconds ?? 0));
      await books.read();
      world.reorganise(txid, 'never');
      for (const each of books.paid) if (each.txid === txid) each.is_real = false;
      for (let reading = 0; reading < GONE_READINGS && !books.isGone(txid); reading++) {
        world.advance(STEP_SECONDS);
        await books.read();
      }
      world.bury();
      await books.settle();
      books.expectAll();
      expect([books.isGone(txid), books.isGone(other)]).toEqual([true, false]);
    });

    it('gives a transaction that somebody names as reading does, and no other', async () => {
      const { world, books } = start();
      const [to, other] = [books.watch(), books.watch()];
      await books.settle();
      const paid = world.gateways.map((gateway) => books.pay(to, 5_000n, 'INV-A', gateway));
      world.bury();
      await books.settle();
      for (const [at, gateway] of world.gateways.entries()) {
        const txid = paid[at] as string;
        const [stored] = books.of(txid);
        expect(world.family.normalizeTxid(txid)).toBe(txid);
        expect(world.family.normalizeTxid(` ${txid}\n`)).toBe(txid);
        const { index, amount_atomic, memo, sender, chain, address_key, height, block_hash } =
          stored as Transfer;
        const same = { txid, index, amount_atomic, memo, sender, chain, address_key, height, block_hash };
        const lookUp = (of: string, key: string) =>
          books.lookUp(of, key, gateway).catch((error: unknown) => {
            // A host that is suspended is asked again once it is not.
            if (!(error instanceof ProviderError) || error.kind !== 'rate_limited') throw error;
            world.advance(SUSPENDED_SECONDS);
            return books.lookUp(of, key, gateway);
          });
        expect(await lookUp(txid, to.key)).toMatchObject([same]);
        expect(await lookUp(txid, other.key)).toEqual([]);
        expect(await lookUp(world.unknown_txid, to.key)).toEqual([]);
      }
    });

    it('counts the age of a block in seconds of the chain, however fast blocks come', async () => {
      verifies('seconds-decide');
      const { world, books } = start();
      const { block_seconds } = world;
      if (block_seconds === undefined) return;
      const to = books.watch();
      await books.settle();
      const txid = books.pay(to, 5_000n, 'INV-A');
      const at = world.now();
      for (let reading = 0; reading < 20; reading++) {
        world.advance(POLL_SECONDS);
        await books.read();
        const age = world.now() - at;
        for (const { height, depth_seconds, final } of books.of(txid)) {
          if (height === null || depth_seconds == null) continue;
          expect(depth_seconds).toBeLessThanOrEqual(age + 1);
          // What is final is asked about no more.
          if (final) continue;
          // Between two of its blocks a chain gets no older.
          expect(depth_seconds).toBeGreaterThanOrEqual(Math.floor(age - 2 * block_seconds - POLL_SECONDS));
        }
      }
    });

    it('measures how fast blocks come, or says nothing of it', async () => {
      verifies('pace-warning');
      const { world, books } = start();
      books.watch();
      for (let reading = 0; reading < 100; reading++) {
        world.advance(POLL_SECONDS);
        await books.read();
      }
      const measured = books.pace()?.recent_seconds;
      if (measured === undefined || world.block_seconds === undefined) return;
      expect(Math.abs(measured / world.block_seconds - 1)).toBeLessThan(PACE_SHARE);
    });

    it('asks no more in a minute without payments, however fast blocks come', async () => {
      const { world, books } = start();
      if (world.idle_requests === undefined) return;
      for (let each = 0; each < 3; each++) books.watch();
      await books.settle();
      const before = world.rpc.asked;
      const minutes = 5;
      for (let passed = 0; passed < minutes * 60; passed += POLL_SECONDS) {
        world.advance(POLL_SECONDS);
        expect(await books.read()).toBe(true);
      }
      expect((world.rpc.asked - before) / minutes).toBeLessThanOrEqual(world.idle_requests);
    });

    it('knows the height of its cursor, where it has one', async () => {
      const { world, books } = start();
      expect(world.family.cursorHeight(null)).toBeNull();
      books.watch();
      await books.settle();
      const height = world.family.cursorHeight(books.cursor());
      if (height !== null) expect(Number.isInteger(height) && height > 0).toBe(true);
    });
  });
}
