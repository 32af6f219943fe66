// When a Solana payment is final, and when it is gone.
import { base58 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PendingTransfer } from '../../src/chains/chain.ts';
import { verifies } from '../requirements.ts';
import { hasSurfpool, type SolanaChain, startSolanaChain } from './solana-chain.ts';
import { createReader, type Reader } from './solana-reader.ts';

describe.runIf(hasSurfpool)('finality on Solana', () => {
  let chain: SolanaChain;

  beforeAll(async () => {
    chain = await startSolanaChain();
  });
  afterAll(() => chain?.stop());

  async function merchant() {
    const owner = chain.wallet().address;
    const reader = createReader(chain, [owner]);
    await reader.settle();
    return { owner, reader };
  }

  const memos = (reader: Reader) => reader.transfers().map((transfer) => transfer.memo);

  it('is not claimed before the chain has it, and is told when asked again', async () => {
    verifies('assets-solana');
    const { owner, reader } = await merchant();
    const txid = await chain.sendSol(owner, 1n, { memo: 'FINAL' });
    const [transfer] = await reader.until(1);
    expect(transfer?.final).toBe(false);
    expect(transfer?.confirmations).toBeLessThan(32);
    const pending = [pendingOf(txid, transfer?.index ?? '', transfer?.height ?? 0)];
    const [early] = await reader.family.recheck(reader.context, pending, reader.tip());
    expect(early).toMatchObject({ state: 'pending', txid, index: transfer?.index });
    await chain.waitFor(txid, 'finalized');
    const later = await reader.family.recheck(reader.context, pending, reader.tip());
    expect(later).toEqual([
      {
        txid,
        index: transfer?.index,
        state: 'final',
        confirmations: 32,
        height: transfer?.height,
        block_hash: null,
      },
    ]);
  });

  it('is there at once for what is read late', async () => {
    const wallet = chain.wallet();
    await chain.sendSol(wallet.address, 1n, { memo: 'OLD', wait: 'finalized' });
    const reader = createReader(chain, [wallet.address]);
    expect((await reader.until(1))[0]).toMatchObject({ final: true, confirmations: 32 });
  });

  it('waits with a transaction that is only processed, and finds it when it is confirmed', async () => {
    const { owner, reader } = await merchant();
    const stop = chain.intercept({
      method: 'getSignaturesForAddress',
      times: 1,
      answer: async (ask, forward) => {
        const reply = await forward(ask);
        const listed = 'result' in reply ? (reply.result as object[]) : [];
        return { result: listed.map((entry) => ({ ...entry, confirmationStatus: 'processed' })) };
      },
    });
    await chain.sendSol(owner, 1n, { memo: 'PROCESSED' });
    await reader.tick();
    expect(reader.transfers()).toEqual([]);
    await reader.tick();
    expect(memos(reader)).toEqual(['PROCESSED']);
    stop();
  });

  it('is lost only for what no node with the history knows after minutes, whenever it is asked', async () => {
    const { reader } = await merchant();
    const unknown = signature(1);
    const slot = await chain.slot();
    let value: unknown = null;
    const ask = (minutes: number, height = slot) => {
      const now = reader.context.now;
      const context = { ...reader.context, now: () => now() + minutes * 60 };
      return reader.family.recheck(context, [pendingOf(unknown, 'i', height)], null);
    };
    const stop = chain.intercept({
      method: 'getSignatureStatuses',
      answer: () => ({ result: { context: { slot: slot + 1_000 }, value: [value] } }),
    });
    expect(await ask(0)).toEqual([]);
    expect(await ask(5, slot + 990)).toEqual([]);
    // One node may be without its history: a look in between that knows it begins the count anew.
    expect(await ask(5)).toEqual([]);
    value = { slot, confirmations: 1, err: null, confirmationStatus: 'confirmed' };
    expect(await ask(6)).toMatchObject([{ state: 'pending' }]);
    value = null;
    expect(await ask(7)).toEqual([]);
    expect(await ask(7.5)).toEqual([]);
    expect(await ask(8)).toEqual([
      { txid: unknown, index: 'i', state: 'gone', confirmations: 0, height: null, block_hash: null },
    ]);
    const prune = chain.intercept({
      method: 'getFirstAvailableBlock',
      answer: () => ({ result: slot + 500 }),
    });
    for (const minutes of [9, 10, 11]) expect(await ask(minutes)).toEqual([]);
    prune();
    stop();
  });

  it('asks about hundreds in requests of 256, and calls one gone that stays a failure', async () => {
    const { owner, reader } = await merchant();
    const failed = await chain.sendFailing(owner, 'NO');
    const pending = Array.from({ length: 300 }, (_, index) =>
      pendingOf(index === 299 ? failed : signature(index), `${index}`, 0),
    );
    const from = reader.rpc.requests.length;
    const recheck = (seconds: number) => {
      const now = reader.context.now;
      return reader.family.recheck({ ...reader.context, now: () => now() + seconds }, pending, null);
    };
    await chain.waitFor(failed, 'finalized');
    expect(await recheck(0)).toEqual([]);
    expect(reader.rpc.requests.slice(from)).toEqual(['getSignatureStatuses', 'getSignatureStatuses']);
    const updates = await recheck(60);
    expect(updates).toMatchObject([{ txid: failed, index: '299', state: 'gone' }]);
  });
});

const pendingOf = (txid: string, index: string, height: number): PendingTransfer => ({
  chain: 'solana',
  address_key: 'owner',
  txid,
  index,
  height,
  block_hash: null,
  first_seen_at: Math.floor(Date.now() / 1000),
  inputs: [],
  blockhash: null,
});

/** One that no transaction has. */
const signature = (seed: number) =>
  base58.encode(
    new Uint8Array(64)
      .fill(1)
      .with(0, seed % 256)
      .with(1, seed >> 8),
  );
