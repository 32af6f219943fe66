// Reading a Solana node that is slow, behind, forgetful or broken: nothing is lost and nothing is read for nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AddressError } from '../../src/chains/family.ts';
import { INDEX_MARGIN_SECONDS } from '../../src/chains/solana/listing.ts';
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
      // Of the first one nothing older is known: only an empty page says that there is nothing.
      for (const lists of [2, 1, 1]) {
        await chain.sendSol(owner, 1n, { memo: 'ONE' });
        const cost = await reader.cost();
        expect([count(cost, 'getSignaturesForAddress'), count(cost, 'getTransaction')]).toEqual([lists, 1]);
        expect(new Set(await reader.cost())).toEqual(new Set(['getMultipleAccounts']));
      }
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
      const txid = await chain.sendSol(owner, 1n, { memo: 'LAG' });
      chain.intercept({ method: 'getTransaction', times: 1, answer: failures.lagging });
      const proved = reader.proof(owner)?.read_through ?? null;
      expect(await reader.tick()).toBe(true);
      expect(memos(reader)).toEqual([]);
      expect(reader.proof(owner)).toMatchObject({
        account: owner,
        read_through: proved,
        trouble: `transaction ${txid} is listed, but not delivered`,
        failed: true,
      });
      expect(await reader.tick()).toBe(true);
      expect(memos(reader)).toEqual(['LAG']);
      expect(reader.proof(owner)).toMatchObject({ trouble: null, failed: false });
    });

    it('the index of a node is behind its balances', async () => {
      verifies('read-again');
      const { owner, reader } = await merchant();
      await chain.sendSol(owner, 1n, { memo: 'INDEX' });
      chain.intercept({ method: 'getSignaturesForAddress', times: 2, answer: () => ({ result: [] }) });
      const before = reader.pages.length;
      await reader.tick();
      await reader.tick();
      expect(memos(reader)).toEqual([]);
      expect(reader.pages.slice(before).flatMap(({ proofs }) => proofs ?? [])).toEqual([]);
      await reader.tick();
      expect(memos(reader)).toEqual(['INDEX']);
      expect(reader.proof(owner)?.read_through).toBe((reader.tip()?.time ?? 0) - INDEX_MARGIN_SECONDS);
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
      for (const owner of owners) await chain.sendSol(owner, 1n, { memo: 'FIRST' });
      for (let tick = 0; tick < 6; tick++) await reader.tick();
      for (const wallet of wallets) {
        await chain.sendSol(wallet.address, 50_000n, { memo: wallet.address });
        await chain.sendSol(chain.payer.address, 45_000n, { from: wallet });
      }
      const lists: number[] = [];
      for (let tick = 0; tick < 4; tick++) {
        lists.push(count(await reader.cost(), 'getSignaturesForAddress'));
      }
      expect(
        memos(reader)
          .filter((memo) => memo !== 'FIRST')
          .sort(),
      ).toEqual([...owners].sort());
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
      const tips = reader.pages.filter((page) => page.tip).length;
      expect(await reader.tick()).toBe(true);
      stop();
      expect(memos(reader)).toEqual(['GOOD']);
      expect(reader.pages.filter((page) => page.tip)).toHaveLength(tips + 1);
      expect([reader.proof(bad)?.failed, reader.proof(good)?.failed]).toEqual([true, false]);
      await reader.tick();
      expect(memos(reader)).toEqual(['GOOD', 'POISON']);
      expect(reader.proof(bad)).toMatchObject({ trouble: null, failed: false });
    });

    it.each([
      ['does not know the newest version', 0, [1, 0], [0]],
      ['needs the one that it names', 2, [1, 2], [1, 2]],
    ])('a node %s of transactions', async (_, known, first, second) => {
      const { owner, reader } = await merchant();
      const versions: unknown[] = [];
      const stop = chain.intercept({
        method: 'getTransaction',
        answer: (ask, forward) => {
          const { maxSupportedTransactionVersion: version } = ask.params[1] as Record<string, unknown>;
          versions.push(version);
          if (version === known) return forward(ask);
          return known === 0
            ? { error: { code: -32602, message: 'Invalid params: unknown version' } }
            : {
                error: {
                  code: -32015,
                  message: `Transaction version (${known}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${known}`,
                },
              };
        },
      });
      for (const expected of [first, second]) {
        versions.length = 0;
        await chain.sendSol(owner, 1n, { memo: 'VERSION' });
        await reader.tick();
        expect(versions).toEqual(expected);
      }
      stop();
      expect(memos(reader)).toEqual(['VERSION', 'VERSION']);
    });

    it('a node takes fewer accounts at once than the protocol allows', async () => {
      const owners = Array.from({ length: 12 }, () => chain.wallet().address);
      const reader = createReader(chain, owners);
      await chain.sendSol(owners[7] as string, 1n, { memo: 'FEW' });
      const sizes: number[] = [];
      const stop = chain.intercept({
        method: 'getMultipleAccounts',
        answer: (ask, forward) => {
          const { length } = ask.params[0] as string[];
          sizes.push(length);
          return length > 5
            ? { error: { code: -32602, message: 'Too many inputs provided; max 5' } }
            : forward(ask);
        },
      });
      await reader.tick();
      expect(sizes).toEqual([1, 12, 5, 5, 2]);
      sizes.length = 0;
      await reader.tick();
      stop();
      expect(sizes).toEqual([1, 5, 5, 2]);
      expect(reader.errors).toEqual([]);
      expect(memos(reader)).toEqual(['FEW']);
    });
  });

  it('explains a wallet that paid the fees of transactions that failed', async () => {
    const { wallet, owner, reader } = await merchant();
    await chain.sendSol(owner, 1n, { memo: 'BEFORE' });
    const fail = () =>
      chain.sendSol(chain.payer.address, 10n ** 15n, { memo: 'NO', from: wallet, may_fail: true });
    await fail();
    await chain.sendSol(owner, 2n, { memo: 'BETWEEN' });
    await fail();
    await fail();
    await reader.tick();
    expect(memos(reader)).toEqual(['BEFORE', 'BETWEEN']);
    expect(reader.cursors.get(owner)).toMatchObject({ gap_at: null, behind: false });
    const cost = await reader.cost();
    expect(cost).toEqual(['getMultipleAccounts', 'getMultipleAccounts']);
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
    const since = Math.floor(Date.now() / 1000) - 45;
    const reader = createReader(chain, [owner], { limits: { sweep_ticks: 1, sweeps_per_tick: 5 }, since });
    await reader.tick();
    await chain.sendSol(owner, 1n, { memo: 'RANGE' });
    for (let tick = 0; tick < 4; tick++) await reader.tick();
    const ranges = reader.pages.flatMap((page) => page.ranges ?? []).filter((range) => range.scope === owner);
    expect(ranges[0]?.from).toBe(since);
    ranges.slice(1).forEach((range, index) => {
      expect(range.from).toBe(ranges[index]?.to);
    });
    expect(ranges.at(-1)?.to).toBe((reader.tip()?.time ?? 0) - INDEX_MARGIN_SECONDS);
  });

  it('says of a mint that it does not exist, is none or has other decimals, and reads the rest', async () => {
    verifies('asset-unreadable');
    const wallet = chain.wallet();
    const reasons = async (mint: Mint) => {
      const reader = createReader(chain, [wallet.address], { mints: { 'solana-usdc': mint } });
      await reader.tick();
      expect(reader.errors).toEqual([]);
      expect(memos(reader)).toEqual(['SOL']);
      return reader.pages.find(({ unreadable }) => unreadable)?.unreadable;
    };
    await chain.sendSol(wallet.address, 1n, { memo: 'SOL' });
    const absent = { ...usdc, address: newKeypair().address };
    expect(await reasons(absent)).toEqual([
      { chain: 'solana-usdc', reason: `the mint ${absent.address} does not exist` },
    ]);
    expect(await reasons({ ...usdc, address: wallet.address })).toEqual([
      { chain: 'solana-usdc', reason: `${wallet.address} is not a mint` },
    ]);
    const odd = chain.createMint({ decimals: 9 });
    expect(await reasons(odd)).toEqual([
      { chain: 'solana-usdc', reason: `the mint ${odd.address} has 9 decimals, the gateway 6` },
    ]);
    expect(await reasons(usdc)).toEqual([]);
  });

  it('asks again for a mint that did not exist', async () => {
    const { address, ...mint } = chain.createMint();
    const later = newKeypair().address;
    const wallet = chain.wallet();
    const reader = createReader(chain, [wallet.address], {
      mints: { 'solana-usdc': { ...mint, address: later } },
    });
    await reader.tick();
    expect(reader.pages[0]?.unreadable).toHaveLength(1);
    chain.createMint({ address: later });
    await chain.mint({ ...mint, address: later }, chain.payer.address, 10n);
    await chain.sendToken({ ...mint, address: later }, wallet.address, 5n, { memo: 'LATER' });
    expect((await reader.until(1)).map((each) => each.memo)).toEqual(['LATER']);
    expect(reader.pages.findLast(({ unreadable }) => unreadable)?.unreadable).toEqual([]);
    expect(address).not.toBe(later);
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
