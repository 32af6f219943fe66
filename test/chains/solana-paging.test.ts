// Many payments to one Solana account: pages, stops in the middle, lists in another order.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/chains/family.ts';
import type { Known } from '../../src/chains/solana/cursor.ts';
import { hasSurfpool, type SolanaChain, startSolanaChain } from './solana-chain.ts';
import { failures } from './solana-front.ts';
import { createReader, type Reader, type ReaderOptions } from './solana-reader.ts';

describe.runIf(hasSurfpool)('many payments on Solana', () => {
  let chain: SolanaChain;

  beforeAll(async () => {
    chain = await startSolanaChain();
  });
  afterAll(() => chain?.stop());

  async function merchant(options: ReaderOptions = {}) {
    const owner = chain.wallet().address;
    const reader = createReader(chain, [owner], options);
    await reader.settle();
    return { owner, reader };
  }

  const memos = (reader: Reader) => reader.transfers().map((transfer) => transfer.memo);
  const count = (methods: readonly string[], method: string) =>
    methods.filter((each) => each === method).length;

  const limits = { signatures_per_page: 3, transactions_per_page: 2, transactions_at_once: 2 };
  const names = Array.from({ length: 8 }, (_, index) => `N${index}`);
  const payAll = async (owner: string) => {
    for (const memo of names) await chain.sendSol(owner, 1n, { memo });
  };

  it('are read oldest first over several pages of the list', async () => {
    const { owner, reader } = await merchant({ limits });
    await payAll(owner);
    const cost = await reader.cost();
    expect(memos(reader)).toEqual(names);
    // Three with payments, and an empty one: that a page is short says nothing.
    expect(count(cost, 'getSignaturesForAddress')).toBe(4);
    const stored = reader.pages.filter((page) => page.transfers.length > 0);
    expect(stored.map((page) => page.transfers.length)).toEqual([2, 2, 2, 2]);
  });

  it('are not read twice after a stop in the middle', async () => {
    const { owner, reader } = await merchant({ limits });
    await payAll(owner);
    const times = 3;
    let given = 0;
    const stop = chain.intercept({
      method: 'getTransaction',
      answer: (ask, forward) => (++given > times ? failures.rate_limited() : forward(ask)),
    });
    expect(await reader.tick()).toBe(false);
    expect(memos(reader)).toEqual(names.slice(0, 2));
    stop();
    const cost = await reader.cost();
    expect(memos(reader)).toEqual(names);
    expect(count(cost, 'getTransaction')).toBe(6);
  });

  it('are read in slices where they are more than one reading may cost, the newest ahead of their turn', async () => {
    const spare_requests = 4;
    const { owner, reader } = await merchant({
      limits: { ...limits, signatures_per_page: 20 },
      spare_requests,
    });
    await payAll(owner);
    await chain.sendSol(owner, 1n, { memo: 'LAST' });
    const first = await reader.cost();
    expect(memos(reader)).toContain('LAST');
    expect(reader.transfers().length).toBeLessThan(9);
    expect(reader.proof(owner)).toMatchObject({ failed: false });
    expect(reader.proof(owner)?.trouble).toContain('are still to be read');
    const costs = [first.length];
    for (let tick = 0; tick < 10; tick++) costs.push((await reader.cost()).length);
    // For the tip and the balances two, and two to list it: a page that is short is not the last one.
    expect(Math.max(...costs)).toBeLessThanOrEqual(4 + spare_requests);
    expect(memos(reader).sort()).toEqual(['LAST', ...names]);
    expect(reader.proof(owner)).toMatchObject({ trouble: null, failed: false });
    expect(reader.proof(owner)?.read_through).toBeGreaterThan(0);
    expect(reader.errors).toEqual([]);
  });

  it('are not read again by a node that does not know where to stop', async () => {
    const { owner, reader } = await merchant();
    await payAll(owner);
    await reader.settle();
    // As after a long time: everything but the newest is behind the anchor.
    for (const [key, cursor] of reader.cursors) {
      const { recent, ...rest } = cursor as { recent: Known[]; [name: string]: Json };
      const newest = recent.at(-1);
      const anchor = recent.at(-2)?.[0] ?? null;
      const held = newest?.[2] ?? null;
      if (newest) reader.cursors.set(key, { ...rest, held, anchor, floor: newest[1], recent: [newest] });
    }
    const stop = chain.intercept({ method: 'getSignaturesForAddress', answer: failures.forgetful });
    await chain.sendSol(owner, 1n, { memo: 'NEW' });
    const cost = await reader.cost();
    stop();
    expect(memos(reader)).toEqual([...names, 'NEW']);
    expect(count(cost, 'getTransaction')).toBe(1);
  });

  it('of one slot are all read, in whatever order the node lists them', async () => {
    const { owner, reader } = await merchant();
    const sent = await Promise.all(names.map((memo) => chain.sendSol(owner, 1n, { memo, wait: 'none' })));
    for (const txid of sent) await chain.waitFor(txid, 'confirmed');
    let turn = 0;
    const stop = chain.intercept({
      method: 'getSignaturesForAddress',
      answer: async (ask, forward) => {
        const reply = await forward(ask);
        // A late list: at first only its first half in reverse, later all.
        const listed = 'result' in reply ? (reply.result as unknown[]) : [];
        return { result: turn++ === 0 ? listed.slice(0, 4).reverse() : listed };
      },
    });
    for (let tick = 0; tick < 5; tick++) await reader.tick();
    stop();
    expect(memos(reader).sort()).toEqual(names);
  });
});
