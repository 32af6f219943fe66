// How TON proves that nothing was missed, on the real executor: replicas that are behind, answers with gaps, restarts.
import { describe, expect, it } from 'vitest';
import type { Rpc, Transfer } from '../../src/chains/family.ts';
import { ton } from '../../src/chains/ton/family.ts';
import { verifies } from '../requirements.ts';
import {
  buyer,
  chain,
  coin,
  emptyStore,
  jetton,
  memosOf,
  merchant,
  ONE_TON,
  ONE_USDT,
  proofOf,
  readInto,
  refsOf,
  requestsTo,
  rpc,
  type Store,
  usdt,
  useTonChain,
  watch,
} from './ton/harness.ts';
import type { TonWallet } from './ton-chain.ts';

useTonChain();

const stored = (store: Store) => memosOf([...store.transfers.values()]).sort();
const provedThrough = (store: Store, wallet: TonWallet, gateway = coin) =>
  proofOf(store, wallet, gateway)?.read_through ?? 0;
const pay = (comment: string, to = merchant) => chain.sendTon({ from: buyer, to, amount: ONE_TON, comment });

/** A row of an answer, as far as tests change it. */
interface Row {
  account: string;
  hash: string;
  [field: string]: unknown;
}
const hashOf = (txid: string) => Buffer.from(txid, 'hex').toString('base64');
const isOf = (txid: string) => (row: unknown) => (row as Row).hash === hashOf(txid);

describe('a replica that is behind', () => {
  /** A store that has read the merchant's accounts, with both of them proved. */
  async function settled() {
    const store = emptyStore();
    const watched = [watch(merchant)];
    for (const _ of [1, 2]) {
      await readInto(store, watched, { urgent: refsOf(merchant) });
      chain.advanceTime(10);
    }
    return { store, watched, urgent: refsOf(merchant) };
  }

  it('by 300 s with its rows proves nothing past the payment that it lacks, which is found when it has caught up', async () => {
    verifies('end-proved');
    const { store, watched, urgent } = await settled();
    await pay('INV-A');
    const paid_at = chain.now();
    chain.lag({ transactions: () => chain.blocksWithin(300) });
    for (let reading = 0; reading < 40; reading++) {
      chain.advanceTime(7);
      expect(await readInto(store, watched, { urgent })).toEqual([]);
      expect(provedThrough(store, merchant)).toBeLessThan(paid_at);
      expect(provedThrough(store, merchant, usdt)).toBe(chain.now() - 5);
    }
    expect(proofOf(store, merchant)).toMatchObject({
      failed: false,
      trouble: expect.stringMatching(/not have all/),
    });
    // Later than what is read again each time.
    chain.lag({});
    expect(memosOf(await readInto(store, watched, { urgent }))).toEqual(['INV-A']);
    expect(proofOf(store, merchant)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
  });

  it('by 300 s with its states proves as far as they reach', async () => {
    const { store, watched, urgent } = await settled();
    for (let reading = 0; reading < 50; reading++) {
      chain.advanceTime(7);
      await readInto(store, watched);
    }
    chain.lag({ accountStates: () => chain.blocksWithin(300) });
    await readInto(store, watched, { urgent });
    expect(provedThrough(store, merchant)).toBeLessThanOrEqual(chain.now() - 305);
    expect(provedThrough(store, merchant)).toBeGreaterThanOrEqual(chain.now() - 315);
    expect(proofOf(store, merchant)?.trouble).toBeNull();
  });

  it('by 300 s with its tip moves no proof beyond that tip', async () => {
    const { store, watched, urgent } = await settled();
    chain.advanceTime(400);
    chain.lag({ masterchainInfo: () => chain.blocksWithin(300) });
    await pay('INV-A');
    expect(memosOf(await readInto(store, watched, { urgent }))).toEqual(['INV-A']);
    expect(provedThrough(store, merchant)).toBeLessThanOrEqual(chain.now() - 305);
  });

  it('is found out in turns where no invoice is about to end, and what it lacked is read', async () => {
    const { store, watched } = await settled();
    chain.lag({ transactions: () => chain.blocksWithin(300) });
    await pay('INV-A');
    await readInto(store, watched);
    chain.advanceTime(250);
    await readInto(store, watched);
    chain.lag({});
    chain.advanceTime(70);
    expect(memosOf(await readInto(store, watched))).toEqual(['INV-A']);
    chain.advanceTime(4);
    await readInto(store, watched);
    expect(proofOf(store, merchant)?.trouble).toBeNull();
  });

  it('is healed for a hundred accounts by one request', async () => {
    const store = emptyStore();
    const wallets = await Promise.all(
      Array.from({ length: 30 }, () => chain.createWallet({ deployed: false })),
    );
    const watched = wallets.map((wallet) => watch(wallet));
    const gateways = [coin];
    const urgent = wallets.map(({ key }) => ({ address_key: key, chain: coin.chain }));
    for (const _ of [1, 2]) await readInto(store, watched, { gateways, urgent });
    chain.lag({ transactions: () => chain.blocksWithin(300) });
    await chain.sendMany(
      buyer,
      wallets.map((to, at) => ({ to, amount: ONE_TON, comment: `INV-${at}` })),
    );
    chain.advanceTime(200);
    await readInto(store, watched, { gateways, urgent });
    expect(store.transfers.size).toBe(0);
    chain.lag({});
    rpc.requests.length = 0;
    await readInto(store, watched, { gateways, urgent });
    expect(store.transfers.size).toBe(30);
    expect(rpc.requests.length).toBeLessThanOrEqual(5);
    expect(wallets.map((wallet) => provedThrough(store, wallet))).toEqual(wallets.map(() => chain.now() - 5));
  });
});

describe('an answer that cannot be dated', () => {
  it('proves nothing: the elector is missing', async () => {
    const store = emptyStore();
    chain.distort((rows, path) =>
      path === 'accountStates' ? rows.filter((row) => !String((row as Row).address).startsWith('-1:')) : rows,
    );
    for (const _ of [1, 2]) await readInto(store, [watch(merchant)], { urgent: refsOf(merchant) });
    expect(proofOf(store, merchant)).toMatchObject({
      read_through: null,
      failed: false,
      trouble: expect.stringMatching(/as of when/),
    });
  });

  it('proves nothing: it is older than every block that is known', async () => {
    const store = emptyStore();
    chain.advanceTime(60);
    chain.lag({ accountStates: 3 });
    for (const _ of [1, 2]) await readInto(store, [watch(merchant)], { urgent: refsOf(merchant) });
    expect(provedThrough(store, merchant)).toBe(0);
  });

  it('proves through the overlap where the indexer has no such request at all', async () => {
    const store = emptyStore();
    chain.withoutStates();
    await pay('INV-A');
    const watched = [watch(merchant)];
    expect(memosOf(await readInto(store, watched, { urgent: refsOf(merchant) }))).toEqual(['INV-A']);
    expect(proofOf(store, merchant)).toMatchObject({ read_through: chain.now() - 120, trouble: null });
  });

  it('proves nothing where an indexer that had the request has it no more', async () => {
    const store = emptyStore();
    await readInto(store, [watch(merchant)], { urgent: refsOf(merchant) });
    const before = provedThrough(store, merchant);
    chain.withoutStates();
    chain.advanceTime(600);
    await readInto(store, [watch(merchant)], { urgent: refsOf(merchant) });
    expect(provedThrough(store, merchant)).toBe(before);
  });

  it('keeps nothing from being read where it is odd, and is the provider’s failure', async () => {
    const store = emptyStore();
    await pay('INV-A');
    chain.fail('html', { path: '/accountStates' });
    const reading = readInto(store, [watch(merchant)], { urgent: refsOf(merchant) });
    await expect(reading).rejects.toMatchObject({ kind: 'bad_answer' });
    expect(stored(store)).toEqual(['INV-A']);
    expect(provedThrough(store, merchant)).toBe(0);
  });
});

describe('a gap', () => {
  it('of one row left out of the shared answer is read again for that account in the same reading', async () => {
    const store = emptyStore();
    const other = await chain.createWallet({ deployed: false });
    const watched = [watch(merchant), watch(other)];
    await pay('INV-1');
    await readInto(store, watched);
    const left_out = await pay('INV-2');
    await pay('INV-3');
    await pay('INV-4', other);
    chain.distort((rows, path, query) =>
      path === 'transactions' && query.getAll('account').length > 1
        ? rows.filter((row) => !isOf(left_out.txid)(row))
        : rows,
    );
    rpc.requests.length = 0;
    await readInto(store, watched);
    expect(stored(store)).toEqual(['INV-1', 'INV-2', 'INV-3', 'INV-4']);
    expect(requestsTo('/transactions')).toBe(2);
    expect(rpc.requests.at(-1)).toContain('start_lt=');
    expect(store.proofs.size).toBe(0);
  });

  it('that stays is the trouble of its account alone, until the row is there', async () => {
    verifies('account-own-trouble');
    const store = emptyStore();
    const other = await chain.createWallet({ deployed: false });
    const watched = [watch(merchant), watch(other)];
    const urgent = [...refsOf(merchant), ...refsOf(other)];
    await pay('INV-1');
    await readInto(store, watched, { urgent });
    const left_out = await pay('INV-2');
    await pay('INV-3');
    chain.distort((rows) => rows.filter((row) => !isOf(left_out.txid)(row)));
    chain.advanceTime(10);
    await readInto(store, watched, { urgent });
    expect(stored(store)).toEqual(['INV-1', 'INV-3']);
    expect(proofOf(store, merchant)).toMatchObject({
      failed: true,
      trouble: expect.stringMatching(/missing/),
    });
    expect(provedThrough(store, other)).toBe(chain.now() - 5);
    // Left alone for a while, it costs no request of its own.
    rpc.requests.length = 0;
    await readInto(store, watched, { urgent, paused: true });
    expect(rpc.requests).toHaveLength(3);
    chain.advanceTime(600);
    chain.distort((rows) => rows);
    await readInto(store, watched, { urgent });
    expect(stored(store)).toEqual(['INV-1', 'INV-2', 'INV-3']);
    expect(proofOf(store, merchant)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
  });

  it('before the first row of a newcomer is found', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    const left_out = await Promise.all([pay('INV-1'), pay('INV-2'), pay('INV-3')]);
    await pay('INV-4');
    chain.distort((rows, path, query) =>
      path === 'transactions' && query.has('start_utime')
        ? rows.filter((row) => !left_out.some(({ txid }) => isOf(txid)(row)))
        : rows,
    );
    chain.advanceTime(30);
    await readInto(store, watched, { urgent: refsOf(merchant) });
    expect(stored(store)).toEqual(['INV-1', 'INV-2', 'INV-3', 'INV-4']);
    expect(provedThrough(store, merchant)).toBe(chain.now() - 5);
  });

  it('where the provider has another history is read again from the beginning, and nothing is proved meanwhile', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    const urgent = refsOf(merchant);
    await pay('INV-1');
    const lie = hashOf('ab'.repeat(32));
    const last = await pay('INV-2');
    // One answer names the last transaction by another hash: the next ones do not know that.
    chain.distort((rows, path) =>
      path === 'transactions'
        ? rows.map((row) => (isOf(last.txid)(row) ? { ...(row as Row), hash: lie } : row))
        : rows,
    );
    await readInto(store, watched);
    chain.distort((rows) => rows);
    await pay('INV-3');
    chain.advanceTime(10);
    const through: number[] = [];
    for (let reading = 0; reading < 6; reading++) {
      await readInto(store, watched, { urgent });
      through.push(provedThrough(store, merchant));
    }
    expect(through[0]).toBe(0);
    expect(through.at(-1)).toBe(chain.now() - 5);
    expect(proofOf(store, merchant)?.trouble).toBeNull();
    expect(new Set(stored(store))).toEqual(new Set(['INV-1', 'INV-2', 'INV-3']));
  });
});

describe('what was stored before', () => {
  it('is taken over from markers that had no history', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    await pay('INV-1');
    await readInto(store, watched);
    const wallet = await chain.jettonWallet(jetton, merchant);
    const master = ton.normalizeAddress(jetton.master, 'testnet').key;
    const { since } = watched[0] as (typeof watched)[0];
    store.accounts.set(merchant.key, {
      coin: { account: merchant.key, since },
      [master]: { account: ton.normalizeAddress(wallet.toRawString(), 'testnet').key, since },
    });
    store.cursor = { utime: chain.now(), assets: ['coin', master] };
    chain.advanceTime(3600);
    await pay('INV-2');
    rpc.requests.length = 0;
    expect(memosOf(await readInto(store, watched))).toContain('INV-2');
    expect(rpc.requests).toHaveLength(2);
    await readInto(store, watched, { urgent: refsOf(merchant) });
    expect(provedThrough(store, merchant)).toBe(chain.now() - 5);
  });

  it('survives a restart after every page, whatever the page', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    const urgent = refsOf(merchant);
    chain.capPages(100);
    await readInto(store, watched, { urgent });
    for (let day = 0; day < 2; day++) {
      await chain.sendMany(
        buyer,
        Array.from({ length: 120 }, (_, at) => ({
          to: merchant,
          amount: ONE_TON,
          comment: `DAY-${day}-${at}`,
        })),
      );
      await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: `USDT-${day}` });
      chain.advanceTime(40_000);
    }
    for (let readings = 0; store.transfers.size < 242 || provedThrough(store, merchant) < chain.now() - 5; ) {
      // Each process stores one page more than the one before, and dies.
      expect(++readings).toBeLessThan(60);
      await readInto(store, watched, { urgent, pages: readings });
      store.reader = ton.open();
    }
    expect(new Set(stored(store)).size).toBe(242);
    expect(provedThrough(store, merchant, usdt)).toBe(chain.now() - 5);
  });
});

describe('limits of time', () => {
  it('a tip of the future moves no proof beyond our clock', async () => {
    const store = emptyStore();
    const ahead: Rpc = {
      ...rpc,
      async json(path, options) {
        const answer = (await rpc.json(path, options)) as { last: { gen_utime: string } };
        if (path !== '/masterchainInfo') return answer;
        return { last: { ...answer.last, gen_utime: String(Number(answer.last.gen_utime) + 3600) } };
      },
    };
    await readInto(store, [watch(merchant)], { urgent: refsOf(merchant), context: { rpc: ahead } });
    expect(provedThrough(store, merchant)).toBe(0);
    expect(store.cursor).toMatchObject({ utime: chain.now() });
  });

  it('is dated by our clock: proofs and transfers alike', async () => {
    const store = emptyStore();
    const behind = 40;
    const local = (time: number) => ({ earliest_at: time - behind, latest_at: time });
    await pay('INV-A');
    const [found] = await readInto(store, [watch(merchant)], {
      urgent: refsOf(merchant),
      context: { local, now: () => chain.now() - behind },
    });
    expect(found).toMatchObject({
      earliest_at: chain.now() - behind,
      latest_at: chain.now(),
    } as Partial<Transfer>);
    expect(provedThrough(store, merchant)).toBe(chain.now() - behind - 5);
  });
});
