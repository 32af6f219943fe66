// Many payments to one Solana account: pages, stops in the middle, lists in another order.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/chains/chain.ts';
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
    expect(count(cost, 'getSignaturesForAddress')).toBe(3);
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

  it('are refused aloud beyond what can be listed at once', async () => {
    const { owner, reader } = await merchant({ limits: { ...limits, signature_pages: 2 } });
    await payAll(owner);
    expect(await reader.tick()).toBe(false);
    expect(reader.errors.at(-1)?.message).toContain('more new transactions than can be listed');
  });

  it('are not read again by a node that does not know where to stop', async () => {
    const { owner, reader } = await merchant();
    await payAll(owner);
    await reader.settle();
    // As after a long time: everything but the newest is behind the anchor.
    for (const [key, cursor] of reader.cursors) {
      const { recent, ...rest } = cursor as { recent: [string, number][]; [name: string]: Json };
      const newest = recent.at(-1);
      const anchor = recent.at(-2)?.[0] ?? null;
      if (newest) reader.cursors.set(key, { ...rest, anchor, floor: newest[1], recent: [newest] });
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
