// Reading a Solana node that is slow, behind, forgetful or broken: nothing is lost and nothing is read for nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AddressError } from '../../src/chains/chain.ts';
import { verifies } from '../requirements.ts';
import { hasSurfpool, type Mint, type SolanaChain, startSolanaChain } from './solana-chain.ts';
import { failures, type RpcAsk } from './solana-front.ts';
import { newKeypair, systemTransfer } from './solana-message.ts';
import { createReader, type Reader } from './solana-reader.ts';

describe.runIf(hasSurfpool)('reading Solana', () => {
  let chain: SolanaChain;
  let usdc: Mint;

  beforeAll(async () => {
    chain = await startSolanaChain();
    usdc = chain.createMint();
    await chain.mint(usdc, chain.payer.address, 1_000_000_000n);
  });
  afterAll(() => chain?.stop());

  async function merchant(limits: Parameters<typeof createReader>[2] = {}) {
    const wallet = chain.wallet();
    const reader = createReader(chain, [wallet.address], { mints: { 'solana-usdc': usdc }, ...limits });
    await reader.settle();
    return { wallet, owner: wallet.address, reader };
  }

  const memos = (reader: Reader) => reader.transfers().map((transfer) => transfer.memo);
  const count = (methods: readonly string[], method: string) =>
    methods.filter((each) => each === method).length;

  describe('costs', () => {
    it('one request for the tip and one per hundred accounts while nothing changes', async () => {
      verifies('read-per-batch');
      const owners = Array.from({ length: 120 }, () => newKeypair().address);
      const reader = createReader(chain, owners, { mints: { 'solana-usdc': usdc } });
      await reader.settle();
      expect(await reader.cost()).toEqual(Array(1 + Math.ceil(240 / 100)).fill('getMultipleAccounts'));
    });

    it('one list and one transaction for a payment, then nothing', async () => {
      const { owner, reader } = await merchant();
      await chain.sendSol(owner, 1n, { memo: 'ONE' });
      const cost = await reader.cost();
      expect([count(cost, 'getSignaturesForAddress'), count(cost, 'getTransaction')]).toEqual([1, 1]);
      expect(new Set(await reader.cost())).toEqual(new Set(['getMultipleAccounts']));
    });

    it('one transaction where a payment touches the wallet and its new token account', async () => {
      const { owner, reader } = await merchant();
      await chain.send([
        ...chain.tokenPayment(usdc, owner, 1n, {}),
        systemTransfer(chain.payer.address, owner, 1n),
      ]);
      const cost = await reader.cost();
      expect(reader.transfers()).toHaveLength(2);
      expect(count(cost, 'getTransaction')).toBe(1);
    });
  });

  describe('loses nothing when', () => {
    it('a node lists a transaction that it cannot give yet', async () => {
      const { owner, reader } = await merchant();
      await chain.sendSol(owner, 1n, { memo: 'LAG' });
      const before = new Map(reader.cursors);
      chain.intercept({ method: 'getTransaction', times: 1, answer: failures.lagging });
      const tips = reader.pages.filter((page) => page.tip).length;
      expect(await reader.tick()).toBe(false);
      expect(reader.errors.at(-1)?.kind).toBe('bad_answer');
      expect(reader.cursors).toEqual(before);
      expect(reader.pages.filter((page) => page.tip)).toHaveLength(tips);
      expect(await reader.tick()).toBe(true);
      expect(memos(reader)).toEqual(['LAG']);
    });

    it('the index of a node is behind its balances', async () => {
      verifies('read-again');
      const { owner, reader } = await merchant();
      await chain.sendSol(owner, 1n, { memo: 'INDEX' });
      chain.intercept({ method: 'getSignaturesForAddress', times: 2, answer: () => ({ result: [] }) });
      const known = (reader.cursors.get(owner) as { time: number }).time;
      await reader.tick();
      await reader.tick();
      expect(memos(reader)).toEqual([]);
      expect(reader.pages.at(-1)?.read_through).toBe(known);
      await reader.tick();
      expect(memos(reader)).toEqual(['INDEX']);
      expect(reader.pages.at(-1)?.read_through).toBe(reader.tip()?.time);
    });

    it('a node behind the tip is asked', async () => {
      const { owner, reader } = await merchant();
      await chain.sendSol(owner, 1n, { memo: 'BEHIND' });
      let asked = 0;
      const stop = chain.intercept({
        method: 'getMultipleAccounts',
        answer: async (ask, forward) => {
          const reply = await forward(ask);
          if (asked++ > 0 || !('result' in reply)) return forward(withMinSlot(ask, 1_000_000_000));
          return reply;
        },
      });
      expect(await reader.tick()).toBe(false);
      expect(reader.errors.at(-1)?.code).toBe(-32016);
      stop();
      expect(await reader.tick()).toBe(true);
      expect(memos(reader)).toEqual(['BEHIND']);
    });

    it.each([
      ['says it is asked too often', failures.rate_limited, 'rate_limited'],
      ['answers a web page', failures.html, 'bad_answer'],
      ['breaks off', failures.truncated, 'bad_answer'],
    ] as const)('the provider %s, at any point', async (_, answer, kind) => {
      for (const method of ['getMultipleAccounts', 'getSignaturesForAddress', 'getTransaction']) {
        const { owner, reader } = await merchant();
        await chain.sendSol(owner, 1n, { memo: 'BROKEN' });
        const before = new Map(reader.cursors);
        const stop = chain.intercept({ method, answer });
        expect(await reader.tick()).toBe(false);
        expect(reader.errors.at(-1)?.kind).toBe(kind);
        expect(reader.cursors).toEqual(before);
        stop();
        expect(await reader.tick()).toBe(true);
        expect(memos(reader)).toEqual(['BROKEN']);
      }
    });

    it('money comes and goes between two readings', async () => {
      const { wallet, owner, reader } = await merchant({ limits: { sweep_ticks: 4, sweeps_per_tick: 1 } });
      await chain.sendSol(owner, 50_000n, { memo: 'GONE' });
      await chain.sendSol(chain.payer.address, 45_000n, { from: wallet });
      for (let tick = 0; tick < 10; tick++) await reader.tick();
      expect(memos(reader)).toEqual(['GONE']);
    });

    it('the sweep has more accounts than one tick may list', async () => {
      const wallets = Array.from({ length: 5 }, () => chain.wallet());
      const owners = wallets.map((wallet) => wallet.address);
      const reader = createReader(chain, owners, { limits: { sweep_ticks: 2, sweeps_per_tick: 2 } });
      for (let tick = 0; tick < 6; tick++) await reader.tick();
      for (const wallet of wallets) {
        await chain.sendSol(wallet.address, 50_000n, { memo: wallet.address });
        await chain.sendSol(chain.payer.address, 45_000n, { from: wallet });
      }
      const lists: number[] = [];
      for (let tick = 0; tick < 4; tick++) {
        lists.push(count(await reader.cost(), 'getSignaturesForAddress'));
      }
      expect(memos(reader).sort()).toEqual([...owners].sort());
      expect(Math.max(...lists)).toBe(2);
    });

    it('one account cannot be read, for the other accounts', async () => {
      const [bad, good] = [chain.wallet().address, chain.wallet().address];
      const reader = createReader(chain, [bad, good]);
      await reader.settle();
      const poison = await chain.sendSol(bad, 1n, { memo: 'POISON' });
      await chain.sendSol(good, 1n, { memo: 'GOOD' });
      const stop = chain.intercept({
        method: 'getTransaction',
        answer: (ask, forward) => (ask.params[0] === poison ? { result: { odd: true } } : forward(ask)),
      });
      expect(await reader.tick()).toBe(false);
      expect(memos(reader)).toEqual(['GOOD']);
      stop();
      await reader.tick();
      expect(memos(reader)).toEqual(['GOOD', 'POISON']);
    });

    it('transactions are of a version that the node names', async () => {
      const { owner, reader } = await merchant();
      await chain.sendSol(owner, 1n, { memo: 'VERSION' });
      const versions: unknown[] = [];
      const stop = chain.intercept({
        method: 'getTransaction',
        answer: (ask, forward) => {
          const { maxSupportedTransactionVersion: version } = ask.params[1] as Record<string, unknown>;
          versions.push(version);
          if (version === 0)
            return { error: { code: -32015, message: 'Transaction version (1) is not supported' } };
          return forward(ask);
        },
      });
      await reader.tick();
      stop();
      expect([versions, memos(reader)]).toEqual([[0, 1], ['VERSION']]);
    });
  });

  it('leaves out what is older than the watch', async () => {
    const wallet = chain.wallet();
    await chain.sendSol(wallet.address, 1n, { memo: 'BEFORE' });
    const since = Math.floor(Date.now() / 1000) + 3600;
    const reader = createReader(chain, [wallet.address], { since });
    await reader.settle();
    expect(reader.transfers()).toEqual([]);
  });

  it('tells what was read without a gap, account by account', async () => {
    verifies('read-ranges');
    const owner = chain.wallet().address;
    const reader = createReader(chain, [owner], { limits: { sweep_ticks: 1, sweeps_per_tick: 5 }, since: 5 });
    await reader.tick();
    await chain.sendSol(owner, 1n, { memo: 'RANGE' });
    for (let tick = 0; tick < 4; tick++) await reader.tick();
    const ranges = reader.pages.flatMap((page) => page.ranges ?? []).filter((range) => range.scope === owner);
    expect(ranges[0]?.from).toBe(5);
    ranges.slice(1).forEach((range, index) => {
      expect(range.from).toBe(ranges[index]?.to);
    });
    expect(ranges.at(-1)?.to).toBe(reader.tip()?.time);
  });

  it('knows no payment in a mint that does not exist, and refuses one with other decimals', async () => {
    const wallet = chain.wallet();
    const absent = { ...usdc, address: newKeypair().address };
    const reader = createReader(chain, [wallet.address], { mints: { 'solana-usdc': absent } });
    await chain.sendSol(wallet.address, 1n, { memo: 'SOL' });
    expect((await reader.until(1)).map((each) => each.memo)).toEqual(['SOL']);
    const odd = createReader(chain, [wallet.address], {
      mints: { 'solana-usdc': chain.createMint({ decimals: 9 }) },
    });
    expect(await odd.tick()).toBe(false);
    expect(odd.errors[0]?.message).toBe('solana-usdc: the mint has 9 decimals, the gateway 6');
  });

  it('takes a node that is not of the main network for a test network, and only that of the main one for it', async () => {
    const { reader } = await merchant();
    expect(await reader.family.identify(reader.rpc)).toBe('testnet');
    const result = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
    chain.intercept({ method: 'getGenesisHash', times: 1, answer: () => ({ result }) });
    expect(await reader.family.identify(reader.rpc)).toBe('mainnet');
    chain.intercept({ method: 'getGenesisHash', times: 1, answer: failures.html });
    await expect(reader.family.identify(reader.rpc)).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  it('refuses the addresses of real token accounts', () => {
    const account = chain.tokenAccount(chain.payer.address, usdc);
    expect(() => createReader(chain, []).family.normalizeAddress(account, 'testnet')).toThrow(AddressError);
  });
});

const withMinSlot = ({ method, params: [keys, options] }: RpcAsk, minContextSlot: number): RpcAsk => ({
  method,
  params: [keys, { ...(options as object), minContextSlot }],
});
