// TON read from the real executor through a real HTTP front: every trap of the chain, one by one.
import { beginCell } from '@ton/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Gateway, Json, Page, ReadContext, Transfer, WatchedAddress } from '../../src/chains/chain.ts';
import { ton } from '../../src/chains/ton.ts';
import { createTestRpc, type TestRpc } from './rpc.ts';
import {
  commentInReference,
  internalTransferBody,
  notificationBody,
  startTonChain,
  type TestJetton,
  type TonChain,
  type TonWallet,
  textComment,
} from './ton-chain.ts';

const USDT_MASTER = 'kQD0GKBM8ZbryVk2aESmzfU6b9b_8era_IkvBSELujFZPsyy';
const ONE_TON = 1_000_000_000n;
const ONE_USDT = 1_000_000n;

const coin: Gateway = {
  chain: 'ton',
  currency: 'TON',
  name: 'TON',
  network: 'testnet',
  blockchain: 'ton',
  blockchain_name: 'TON',
  decimals: 9,
  payable_decimals: 6,
  min_confirmations: 1,
  payment_ttl_seconds: 300,
  poll_interval_seconds: 4,
  supports_memo: true,
  unique_amount: false,
  is_token: false,
  token_contract: null,
  exits: ['wallet', 'web', 'tg'],
};
const usdt: Gateway = {
  ...coin,
  chain: 'ton-usdt',
  currency: 'USDT',
  decimals: 6,
  is_token: true,
  token_contract: USDT_MASTER,
};

let chain: TonChain;
let rpc: TestRpc;
let jetton: TestJetton;
let merchant: TonWallet;
let buyer: TonWallet;

beforeEach(async () => {
  chain = await startTonChain({ clock: 'manual' });
  rpc = createTestRpc({ provider: 'toncenter', url: chain.url });
  jetton = await chain.deployJetton({ address: USDT_MASTER });
  merchant = await chain.createWallet();
  buyer = await chain.createWallet({ version: 'v5' });
  await chain.mintTo({ jetton, to: buyer, amount: 1000n * ONE_USDT });
  chain.advanceTime(600);
});
afterEach(() => chain.stop());

/** What the observer keeps between readings: cursors and everything stored. */
interface Store {
  cursor: Json | null;
  accounts: Map<string, Json>;
  transfers: Map<string, Transfer>;
  pages: Page[];
}
const emptyStore = (): Store => ({ cursor: null, accounts: new Map(), transfers: new Map(), pages: [] });

const watch = (wallet: TonWallet, since = chain.now()): WatchedAddress => {
  const { address, key } = ton.normalizeAddress(wallet.address, 'testnet');
  return { address, key, since, open: true };
};

interface ReadOptions {
  gateways?: Gateway[];
  context?: Partial<ReadContext>;
}

/** One reading, stored page by page as the observer does. */
async function readInto(
  store: Store,
  watched: WatchedAddress[],
  options: ReadOptions = {},
): Promise<Transfer[]> {
  const { gateways = [coin, usdt] } = options;
  const now = () => chain.now();
  const context = {
    rpc,
    network: 'testnet',
    blockchain: 'ton',
    gateways,
    cache: new Map(),
    now,
    ...options.context,
  };
  const accounts = async (keys: readonly string[]) => {
    const known = keys.flatMap((key): [string, Json][] => {
      const marker = store.accounts.get(key);
      return marker === undefined ? [] : [[key, marker]];
    });
    return new Map(known);
  };
  const request = { addresses: async () => watched, cursor: store.cursor, accounts };
  const seen: Transfer[] = [];
  for await (const page of ton.read(context as ReadContext, request)) {
    store.pages.push(page);
    for (const transfer of page.transfers) {
      store.transfers.set(`${transfer.txid} ${transfer.index}`, transfer);
      seen.push(transfer);
    }
    if (page.cursor !== undefined) store.cursor = page.cursor;
    for (const [account, cursor] of page.accounts ?? []) store.accounts.set(account, cursor);
  }
  return seen;
}

const readAll = (watched = [watch(merchant, chain.now() - 60)]) => readInto(emptyStore(), watched);

const memosOf = (transfers: Transfer[]) => transfers.map(({ memo }) => memo);
const requestsTo = (path: string) => rpc.requests.filter((request) => request.startsWith(path)).length;

describe('credits', () => {
  it('reads coin and jetton payments of one merchant with one query', async () => {
    const paid = await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: ' INV-A ' });
    const sent = await chain.sendJetton({
      jetton,
      from: buyer,
      to: merchant,
      amount: 12_340_001n,
      comment: 'INV-B',
    });
    const common = {
      address_key: merchant.key,
      index: '0',
      references: [],
      sender: buyer.address,
      block_hash: null,
    };
    expect(await readAll()).toEqual([
      {
        ...common,
        chain: 'ton',
        txid: paid.txid,
        amount_atomic: ONE_TON,
        memo: 'INV-A',
        height: chain.tip().seqno - 1,
        time: chain.now(),
        confirmations: 2,
        final: true,
      },
      {
        ...common,
        chain: 'ton-usdt',
        txid: sent.txid,
        amount_atomic: 12_340_001n,
        memo: 'INV-B',
        height: chain.tip().seqno,
        time: chain.now(),
        confirmations: 1,
        final: true,
      },
    ]);
    expect(requestsTo('/transactions')).toBe(1);
  });

  it('gives the same keys at every reading', async () => {
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'INV-B' });
    const first = await readAll();
    expect(first).toHaveLength(2);
    expect(await readAll()).toEqual(first);
  });

  it('tells apart many transfers of one external message', async () => {
    const parts = [1n, 2n, 3n, 4n].map((part) => ({
      to: merchant,
      amount: part * ONE_TON,
      comment: `INV-${part}`,
    }));
    await chain.sendMany(buyer, parts);
    const found = await readAll();
    expect(memosOf(found)).toEqual(['INV-1', 'INV-2', 'INV-3', 'INV-4']);
    expect(new Set(found.map(({ txid }) => txid)).size).toBe(4);
  });

  it('credits a payment to a wallet that was never deployed, though its transaction is aborted', async () => {
    const fresh = await chain.createWallet({ deployed: false });
    const { records, txid } = await chain.sendTon({
      from: buyer,
      to: fresh,
      amount: ONE_TON,
      comment: 'INV-A',
    });
    const description = records.find((record) => record.txid === txid)?.transaction.description;
    expect(description).toMatchObject({ type: 'generic', aborted: true });
    const sent = await chain.sendJetton({
      jetton,
      from: buyer,
      to: fresh,
      amount: ONE_USDT,
      comment: 'INV-B',
    });
    const found = await readAll([watch(fresh)]);
    expect(found.map((each) => [each.chain, each.txid])).toEqual([
      ['ton', txid],
      ['ton-usdt', sent.txid],
    ]);
  });

  it('credits a jetton transfer that forwards nothing and so sends no notification', async () => {
    const sent = await chain.sendJetton({
      jetton,
      from: buyer,
      to: merchant,
      amount: 5n * ONE_USDT,
      forward_amount: 0n,
      comment: 'INV-A',
    });
    expect(sent.records.some(({ account }) => account === merchant.key)).toBe(false);
    expect(await readAll()).toMatchObject([{ txid: sent.txid, amount_atomic: 5n * ONE_USDT, memo: 'INV-A' }]);
  });

  it('reads the forward payload inline, in a reference, empty and absent', async () => {
    const transfer = { jetton, from: buyer, to: merchant, amount: ONE_USDT };
    await chain.sendJetton({ ...transfer, comment: 'INV-INLINE', form: 'inline' });
    await chain.sendJetton({ ...transfer, comment: 'INV-REF', form: 'reference' });
    await chain.sendJetton(transfer);
    await chain.sendJetton({ ...transfer, form: 'absent' });
    await chain.sendJetton({ ...transfer, form: 'inline', payload: commentInReference('INV-DEEP') });
    expect(memosOf(await readAll())).toEqual(['INV-INLINE', 'INV-REF', null, null, 'INV-DEEP']);
  });

  it('credits freshly minted jettons without sender and memo', async () => {
    const { txid } = await chain.mintTo({ jetton, to: merchant, amount: ONE_USDT });
    expect(await readAll()).toMatchObject([{ txid, amount_atomic: ONE_USDT, memo: null, sender: null }]);
  });
});

describe('comments', () => {
  const text32 = (op: number) => beginCell().storeUint(op, 32);

  it.each([
    ['written inline', textComment('INV-A'), 'INV-A'],
    ['wholly in a reference', commentInReference('INV-A'), 'INV-A'],
    ['continued over cells', textComment(`INV ${'x'.repeat(300)}`), `INV ${'x'.repeat(300)}`],
    ['of other letters', textComment('счёт №5 ✓'), 'счёт №5 ✓'],
    ['of blanks', textComment('   '), null],
    ['empty', textComment(''), null],
    ['encrypted', text32(0x2167da4b).storeBuffer(Buffer.alloc(64, 7)).endCell(), null],
    [
      'of broken UTF-8',
      text32(0)
        .storeBuffer(Buffer.from([0x49, 0xff, 0xfe]))
        .endCell(),
      null,
    ],
    ['of odd bits', text32(0).storeUint(1, 5).endCell(), null],
    ['longer than any invoice', textComment('x'.repeat(5000)), null],
    ['of an unknown operation', text32(0x12345678).storeStringTail('INV-A').endCell(), null],
    ['too short for an operation', beginCell().storeUint(5, 8).endCell(), null],
    [
      'that only looks bounced',
      text32(0xffffffff).storeUint(0, 32).storeStringTail('INV-A').endCell(),
      undefined,
    ],
  ])('reads a comment %s', async (_name, body, memo) => {
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, body });
    const found = await readAll();
    expect(memosOf(found)).toEqual(memo === undefined ? [] : [memo]);
  });

  it('credits a payment without any body', async () => {
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON });
    expect(await readAll()).toMatchObject([{ amount_atomic: ONE_TON, memo: null }]);
  });
});

describe('what is not a payment', () => {
  it('ignores a forged transfer notification', async () => {
    const body = notificationBody(1000n * ONE_USDT, buyer.at, textComment('INV-A'));
    await chain.sendTon({ from: buyer, to: merchant, amount: 10_000_000n, body });
    expect(await readAll()).toEqual([]);
  });

  it('ignores a forged internal transfer, which the jetton wallet aborts with exit code 707', async () => {
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'REAL' });
    const wallet = await chain.jettonWallet(jetton, merchant);
    const body = internalTransferBody(1000n * ONE_USDT, buyer.at, textComment('FORGED'));
    const records = await chain.sendMessages(buyer, [
      { to: wallet, value: 100_000_000n, body, bounce: true },
    ]);
    const exits = records.map(({ transaction: { description } }) =>
      description.type === 'generic' && description.computePhase.type === 'vm'
        ? description.computePhase.exitCode
        : 0,
    );
    expect(exits).toContain(707);
    expect(memosOf(await readAll())).toEqual(['REAL']);
  });

  it('ignores another jetton of the same code and name', async () => {
    const fake = await chain.deployJetton({ admin: buyer });
    await chain.mintTo({ jetton: fake, to: buyer, amount: 1000n * ONE_USDT });
    await chain.sendJetton({
      jetton: fake,
      from: buyer,
      to: merchant,
      amount: 1000n * ONE_USDT,
      comment: 'INV-A',
    });
    expect(await readAll()).toEqual([]);
  });

  it('ignores a jetton transfer of more than the sender has', async () => {
    const amount = 1_000_000n * ONE_USDT;
    const send = chain.sendJetton({ jetton, from: buyer, to: merchant, amount, comment: 'INV-A' });
    await expect(send).rejects.toThrow('no transaction');
    expect(await readAll()).toEqual([]);
  });

  it("ignores the merchant's own money coming back with a body that looks like a memo", async () => {
    const nobody = await chain.createWallet({ deployed: false });
    const transfer = { to: nobody.at, value: ONE_TON, body: textComment('INV-A'), bounce: true };
    const records = await chain.sendMessages(merchant, [transfer]);
    const returned = records.filter(({ account, transaction: { inMessage } }) => {
      return account === merchant.key && inMessage?.info.type === 'internal' && inMessage.info.bounced;
    });
    expect(returned).toHaveLength(1);
    expect(await readAll()).toEqual([]);
  });

  it('ignores a bounceable payment that the never-deployed wallet sent back', async () => {
    const fresh = await chain.createWallet({ deployed: false });
    await chain.sendTon({ from: buyer, to: fresh, amount: ONE_TON, comment: 'INV-A', bounce: true });
    expect(await readAll([watch(fresh)])).toEqual([]);
  });

  it("ignores the merchant's own transfers and the excess that returns from them", async () => {
    await chain.mintTo({ jetton, to: merchant, amount: 10n * ONE_USDT });
    const since = chain.now() + 600;
    chain.advanceTime(600);
    const { records } = await chain.sendJetton({
      jetton,
      from: merchant,
      to: buyer,
      amount: ONE_USDT,
      comment: 'OUT',
    });
    expect(records.filter(({ account }) => account === merchant.key)).toHaveLength(2);
    await chain.sendTon({ from: merchant, to: buyer, amount: ONE_TON, comment: 'OUT' });
    expect(await readAll([watch(merchant, since)])).toEqual([]);
  });
});

describe('reading on', () => {
  it('costs two requests once the jetton wallets are known, whatever happened', async () => {
    const store = emptyStore();
    await readInto(store, [watch(merchant)]);
    rpc.requests.length = 0;
    chain.advanceTime(4);
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    expect(await readInto(store, [watch(merchant)])).toHaveLength(1);
    expect(rpc.requests).toHaveLength(2);
    expect(requestsTo('/masterchainInfo')).toBe(1);
    expect(requestsTo('/transactions')).toBe(1);
  });

  it('asks for a hundred accounts at a time', async () => {
    const many = Array.from({ length: 150 }, (_, at): WatchedAddress => {
      const raw = `0:${(at + 1).toString(16).padStart(64, '0')}`;
      return { ...ton.normalizeAddress(raw, 'testnet'), since: chain.now(), open: true };
    });
    await readInto(emptyStore(), [...many, watch(merchant)], { gateways: [coin] });
    expect(rpc.requests).toHaveLength(3);
    const accounts = rpc.requests.map((request) => request.split('account=').length - 1);
    expect(accounts).toEqual([0, 100, 51]);
    expect(Math.max(...rpc.requests.map(({ length }) => length))).toBeLessThan(8000);
  });

  it('reads beyond the page limit, also where the provider caps pages lower than asked', async () => {
    const payments = Array.from({ length: 250 }, (_, at) => ({
      to: merchant,
      amount: ONE_TON,
      comment: `INV-${at}`,
    }));
    chain.capPages(100);
    await chain.sendMany(buyer, payments);
    const found = await readAll();
    expect(new Set(memosOf(found)).size).toBe(250);
    expect(found).toHaveLength(250);
    expect(requestsTo('/transactions')).toBe(3);
  });

  it('waits for an indexer that is behind and finds the payment when it has caught up', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    chain.mineBlocks(1);
    chain.advanceTime(300);
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    chain.lag({ masterchainInfo: 2, transactions: 2 });
    expect(await readInto(store, watched)).toEqual([]);
    expect(store.cursor).toMatchObject({ utime: chain.now() - 300 });
    chain.lag({});
    expect(memosOf(await readInto(store, watched))).toEqual(['INV-A']);
    expect(store.cursor).toMatchObject({ utime: chain.now() });
  });

  it('finds a payment that one replica did not know yet when another already gave the tip', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    chain.lag({ transactions: 1 });
    expect(await readInto(store, watched)).toEqual([]);
    expect(store.cursor).toMatchObject({ utime: chain.now() });
    chain.advanceTime(60);
    expect(memosOf(await readInto(store, watched))).toEqual(['INV-A']);
  });

  it('never moves the cursor back when a replica gives an older tip', async () => {
    const store = emptyStore();
    chain.advanceTime(100);
    await readInto(store, [watch(merchant)]);
    const { cursor } = store;
    chain.lag({ masterchainInfo: 1 });
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    const found = await readInto(store, [watch(merchant)]);
    expect(store.cursor).toEqual(cursor);
    expect(found).toMatchObject([{ memo: 'INV-A', confirmations: 1 }]);
  });

  it('finds a payment whose shard was late, though newer ones were read before', async () => {
    const store = emptyStore();
    const other = await chain.createWallet();
    const watched = [watch(merchant), watch(other)];
    chain.holdShard(merchant.key);
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'LATE' });
    chain.advanceTime(30);
    await chain.sendTon({ from: buyer, to: other, amount: ONE_TON, comment: 'NEWER' });
    const first = memosOf(await readInto(store, watched));
    expect(first).toContain('NEWER');
    expect(first).not.toContain('LATE');
    chain.advanceTime(30);
    chain.releaseShard(merchant.key);
    expect(memosOf(await readInto(store, watched))).toContain('LATE');
  });

  it('reads an address from its own beginning when it is watched later than the cursor', async () => {
    const store = emptyStore();
    const other = await chain.createWallet();
    const since = chain.now();
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'INV-B' });
    chain.advanceTime(3600);
    await readInto(store, [watch(other)]);
    const watched = [watch(other), watch(merchant, since)];
    expect(memosOf(await readInto(store, watched))).toEqual(['INV-A', 'INV-B']);
    rpc.requests.length = 0;
    expect(await readInto(store, watched)).toEqual([]);
    expect(rpc.requests).toHaveLength(2);
  });

  it('catches up on a gateway that is switched on after the payment', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    await readInto(store, watched);
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'INV-A' });
    chain.advanceTime(3600);
    expect(await readInto(store, watched, { gateways: [coin] })).toEqual([]);
    chain.advanceTime(3600);
    expect(memosOf(await readInto(store, watched))).toEqual(['INV-A']);
    chain.advanceTime(3600);
    expect(await readInto(store, watched)).toEqual([]);
  });

  it('reads a long backlog in stretches that touch, moving the cursor after each', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    await readInto(store, watched);
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'DAY-1' });
    chain.advanceTime(86_400);
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'DAY-2' });
    store.pages.length = 0;
    expect(memosOf(await readInto(store, watched))).toEqual(['DAY-1', 'DAY-2']);
    const ranges = store.pages.flatMap((page) => page.ranges ?? []);
    expect(ranges.length).toBeGreaterThan(3);
    for (const [at, range] of ranges.entries()) if (at > 0) expect(range.from).toBe(ranges[at - 1]?.to);
    expect(ranges.at(-1)?.to).toBe(chain.now());
  });

  it('loses nothing when the provider fails between two pages', async () => {
    const store = emptyStore();
    const payments = Array.from({ length: 150 }, (_, at) => ({
      to: merchant,
      amount: ONE_TON,
      comment: `INV-${at}`,
    }));
    chain.capPages(100);
    await chain.sendMany(buyer, payments);
    chain.fail('server_error', { path: '/transactions', after: 1 });
    await expect(readInto(store, [watch(merchant)])).rejects.toMatchObject({ kind: 'unreachable' });
    expect(store.transfers.size).toBe(100);
    expect(store.cursor).toBeNull();
    await readInto(store, [watch(merchant)]);
    expect(store.transfers.size).toBe(150);
  });

  it('asks for few jetton wallets at a time and reads the rest from their beginning later', async () => {
    const store = emptyStore();
    const fresh = await Promise.all(
      Array.from({ length: 25 }, () => chain.createWallet({ deployed: false })),
    );
    const last = fresh[24] as TonWallet;
    const watched = fresh.map((wallet) => watch(wallet));
    await chain.sendTon({ from: buyer, to: last, amount: ONE_TON, comment: 'COIN' });
    await chain.sendJetton({ jetton, from: buyer, to: last, amount: ONE_USDT, comment: 'JETTON' });
    expect(memosOf(await readInto(store, watched))).toEqual(['COIN']);
    expect(requestsTo('/runGetMethod')).toBe(20);
    chain.advanceTime(1000);
    expect(memosOf(await readInto(store, watched))).toContain('JETTON');
    expect(requestsTo('/runGetMethod')).toBe(25);
  });

  it('goes on reading the coin where the jetton master does not exist, and says so', async () => {
    const store = emptyStore();
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    const token_contract = ton.normalizeAddress(`0:${'1'.repeat(64)}`, 'testnet').address;
    const reading = readInto(store, [watch(merchant)], { gateways: [coin, { ...usdt, token_contract }] });
    await expect(reading).rejects.toThrow(/is not a jetton master on this network/);
    expect([...store.transfers.values()]).toMatchObject([{ memo: 'INV-A' }]);
    expect(store.cursor).toMatchObject({ utime: chain.now() });
  });
});

describe('confirmations', () => {
  it('is final in the first masterchain block, or after as many as the gateway asks', async () => {
    const slow = { ...coin, min_confirmations: 3 };
    const { txid } = await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    const [found] = await readInto(emptyStore(), [watch(merchant)], { gateways: [slow] });
    expect(found).toMatchObject({ txid, confirmations: 1, final: false });
    const context = {
      rpc,
      network: 'testnet',
      blockchain: 'ton',
      gateways: [slow],
      cache: new Map(),
      now: chain.now,
    };
    const pending = [{ ...(found as Transfer), first_seen_at: chain.now() }];
    chain.mineBlocks(1);
    expect(await ton.recheck(context as ReadContext, pending, null)).toMatchObject([
      { txid, index: '0', state: 'pending', confirmations: 2 },
    ]);
    chain.mineBlocks(1);
    const tip = { height: chain.tip().seqno, hash: null, time: chain.now() };
    expect(await ton.recheck(context as ReadContext, pending, tip)).toMatchObject([
      { txid, state: 'final', confirmations: 3, height: found?.height },
    ]);
  });
});

describe('a provider on a bad day', () => {
  it.each([
    ['rate_limited', 'rate_limited'],
    ['server_error', 'unreachable'],
    ['html', 'bad_answer'],
    ['half_json', 'bad_answer'],
    ['broken_body', 'unreachable'],
  ] as const)('stores nothing and moves no cursor on %s', async (failure, kind) => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    for (const path of ['/masterchainInfo', '/transactions']) {
      chain.fail(failure, { path });
      await expect(readInto(store, watched)).rejects.toMatchObject({ name: 'ProviderError', kind });
    }
    expect(store).toMatchObject({ cursor: null, pages: [] });
    expect(memosOf(await readInto(store, watched))).toEqual(['INV-A']);
  });

  it('gives up on a provider that does not answer', async () => {
    const impatient = createTestRpc({ provider: 'toncenter', url: chain.url, timeout_ms: 100 });
    chain.fail('hang');
    await expect(ton.identify(impatient)).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('the test chain', () => {
  it('goes on by itself with the real clock, asks for its key and names its network', async () => {
    const live = await startTonChain({ api_key: 'secret' });
    const open = createTestRpc({ provider: 'toncenter', url: live.url });
    const keyed = createTestRpc({ provider: 'toncenter', url: live.url, api_key: 'secret' });
    try {
      await expect(ton.identify(open)).rejects.toMatchObject({ kind: 'rpc', code: 401 });
      expect(await ton.identify(keyed)).toBe('testnet');
      live.pretendNetwork(-239);
      expect(await ton.identify(keyed)).toBe('testnet');
      live.advanceTime(10);
      expect(live.tip().gen_utime).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1000) + 9);
    } finally {
      await live.stop();
    }
  });
});
