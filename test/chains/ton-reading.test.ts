// How TON is read, on the real executor: cursors, late shards, lagging replicas, newcomers, bad days.
import { describe, expect, it } from 'vitest';
import type { ReadContext, Rpc, Transfer, WatchedAddress } from '../../src/chains/family.ts';
import { ton } from '../../src/chains/ton/family.ts';
import { rightClock } from '../helpers/reading.ts';
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
  readAll,
  readInto,
  refsOf,
  requestsTo,
  rpc,
  usdt,
  useTonChain,
  watch,
} from './ton/harness.ts';
import type { TonWallet } from './ton-chain.ts';

useTonChain();

describe('reading on', () => {
  it('costs two requests once the jetton wallets are known, whatever happened', async () => {
    verifies('read-per-batch');
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
    chain.lag({ masterchainInfo: 2, transactions: 2, accountStates: 2 });
    const urgent = refsOf(merchant);
    expect(await readInto(store, watched, { urgent })).toEqual([]);
    expect(store.cursor).toMatchObject({ utime: chain.now() - 300 });
    expect(proofOf(store, merchant)).toMatchObject({ read_through: chain.now() - 305, trouble: null });
    chain.lag({});
    expect(memosOf(await readInto(store, watched, { urgent }))).toEqual(['INV-A']);
    expect(store.cursor).toMatchObject({ utime: chain.now() });
    expect(proofOf(store, merchant)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
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
    chain.lag({ masterchainInfo: 2 });
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

  it('reads an address again whose watch was begun by a clock that was ahead', async () => {
    const store = emptyStore();
    await readInto(store, [watch(merchant, chain.now() + 310)]);
    chain.advanceTime(30);
    const watched = [watch(merchant)];
    await readInto(store, watched);
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'INV-B' });
    chain.advanceTime(10);
    expect(memosOf(await readInto(store, watched))).toEqual(['INV-A', 'INV-B']);
  });

  it('catches up on a gateway that is switched on after the payment, even if the first attempt fails', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    await readInto(store, watched);
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'INV-A' });
    chain.advanceTime(3600);
    expect(await readInto(store, watched, { gateways: [coin] })).toEqual([]);
    chain.advanceTime(3600);
    chain.fail('bad_gateway', { path: '/transactions', after: 1 });
    await expect(readInto(store, watched)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(store.cursor).toMatchObject({ utime: chain.now() });
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
    verifies('read-again');
    const store = emptyStore();
    const payments = Array.from({ length: 150 }, (_, at) => ({
      to: merchant,
      amount: ONE_TON,
      comment: `INV-${at}`,
    }));
    chain.capPages(100);
    await chain.sendMany(buyer, payments);
    chain.fail('bad_gateway', { path: '/transactions', after: 1 });
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
    const watched = fresh.map((wallet) => watch(wallet, chain.now() - 60));
    await chain.sendTon({ from: buyer, to: last, amount: ONE_TON, comment: 'COIN' });
    await chain.sendJetton({ jetton, from: buyer, to: last, amount: ONE_USDT, comment: 'JETTON' });
    // One that is about to end is asked for first.
    const urgent = refsOf(last);
    expect(memosOf(await readInto(store, watched))).toEqual(['COIN']);
    expect(requestsTo('/runGetMethod')).toBe(20);
    expect(store.proofs.size).toBe(0);
    chain.advanceTime(30);
    expect(memosOf(await readInto(store, watched, { urgent }))).toEqual(['JETTON']);
    expect(requestsTo('/runGetMethod')).toBe(25);
    expect(proofOf(store, last, usdt)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
  });

  it('reads the coin where the jetton master does not exist, and says that the jetton cannot be read', async () => {
    verifies('asset-unreadable');
    const store = emptyStore();
    const watched = [watch(merchant)];
    const urgent = refsOf(merchant);
    const token_contract = ton.normalizeAddress(`0:${'1'.repeat(64)}`, 'testnet').address;
    const options = { gateways: [coin, { ...usdt, token_contract }], urgent };
    const missing = {
      chain: usdt.chain,
      reason: expect.stringMatching(/is not a jetton master on this network/),
    };
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    expect(memosOf(await readInto(store, watched, options))).toEqual(['INV-A']);
    expect(store.cursor).toMatchObject({ utime: chain.now() });
    expect(store.unreadable).toEqual([missing]);

    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-B' });
    chain.advanceTime(10);
    expect(memosOf(await readInto(store, watched, options))).toEqual(['INV-B']);
    expect(proofOf(store, merchant)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
    expect(proofOf(store, merchant, usdt)).toBeUndefined();
    expect(store.unreadable).toEqual([missing]);
    expect(requestsTo('/runGetMethod')).toBe(1);

    chain.advanceTime(300);
    await readInto(store, watched, options);
    expect(requestsTo('/runGetMethod')).toBeGreaterThan(1);
    expect(store.unreadable).toEqual([missing]);
  });

  it('keeps invoices of a jetton open whose master was not found twice, and reads it when it is there', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    const urgent = refsOf(merchant);
    const token_contract = (await chain.deployJetton({ admin: buyer })).master;
    const gateways = [coin, { ...usdt, token_contract }];
    const absent: Rpc = {
      ...rpc,
      json: async (path, options) =>
        path === '/runGetMethod' ? { exit_code: -13, stack: [] } : await rpc.json(path, options),
    };
    for (const _ of [1, 2, 3]) {
      await readInto(store, watched, { gateways, urgent, context: { rpc: absent } });
      expect(store.unreadable).toMatchObject([{ chain: usdt.chain }]);
      expect(proofOf(store, merchant, usdt)?.read_through ?? 0).toBe(0);
      chain.advanceTime(61);
    }
    await readInto(store, watched, { gateways, urgent });
    expect(store.unreadable).toEqual([]);
    await readInto(store, watched, { gateways, urgent });
    expect(proofOf(store, merchant, usdt)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
  });

  it('reads on in a jetton whose master is gone for a while, and proves nothing of a wallet that it did not name', async () => {
    const store = emptyStore();
    const newcomer = await chain.createWallet();
    await readInto(store, [watch(merchant)]);
    const gone: Rpc = {
      ...rpc,
      json: async (path, options) =>
        path === '/runGetMethod' ? { exit_code: -13, stack: [] } : await rpc.json(path, options),
    };
    const watched = [watch(merchant), watch(newcomer)];
    const urgent = [...refsOf(merchant), ...refsOf(newcomer)];
    const paid = () =>
      [...store.transfers.values()].flatMap((each) => (each.chain === usdt.chain ? each.memo : []));
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'INV-A' });
    for (const _ of [1, 2]) {
      chain.advanceTime(20);
      await readInto(store, watched, { urgent, context: { rpc: gone } });
      expect(proofOf(store, newcomer, usdt)).toMatchObject({
        read_through: null,
        trouble: expect.stringContaining('does not name the wallet of'),
        failed: true,
      });
      expect(proofOf(store, merchant, usdt)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
      expect(store.unreadable).toEqual([]);
    }
    expect(paid()).toEqual(['INV-A']);
    await chain.sendJetton({ jetton, from: buyer, to: newcomer, amount: ONE_USDT, comment: 'INV-B' });
    chain.advanceTime(200);
    await readInto(store, watched, { urgent });
    expect(paid()).toEqual(['INV-A', 'INV-B']);
    expect(proofOf(store, newcomer, usdt)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
  });

  it('finds what was paid in a jetton while its wallet could not be asked for', async () => {
    const store = emptyStore();
    const watched = [watch(merchant)];
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'INV-A' });
    chain.fail('bad_gateway', { path: '/runGetMethod' });
    await expect(readInto(store, watched)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(store.cursor).toMatchObject({ utime: chain.now() });
    chain.advanceTime(3600);
    expect(memosOf(await readInto(store, watched))).toEqual(['INV-A']);
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
      now: chain.now,
      ...rightClock,
    };
    const pending = [{ ...(found as Transfer), first_seen_at: chain.now(), blockhash: null }];
    chain.mineBlocks(1);
    expect(await ton.open().recheck(context as unknown as ReadContext, pending, null)).toMatchObject([
      { txid, index: `ton:${merchant.key}`, state: 'pending', confirmations: 2 },
    ]);
    chain.mineBlocks(1);
    const tip = { height: chain.tip().seqno, hash: null, time: chain.now() };
    expect(await ton.open().recheck(context as unknown as ReadContext, pending, tip)).toMatchObject([
      { txid, state: 'final', confirmations: 3, height: found?.height },
    ]);
  });
});
