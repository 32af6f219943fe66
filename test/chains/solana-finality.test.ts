// When a Solana payment is final, and when it is gone.
import { base58 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PendingTransfer } from '../../src/chains/family.ts';
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

  it('is what is asked for, and nothing is stored before', async () => {
    verifies('assets-solana');
    const { owner, reader } = await merchant();
    const asked: unknown[] = [];
    const stops = [
      'getMultipleAccounts',
      'getSignaturesForAddress',
      'getTransaction',
      'getLatestBlockhash',
    ].map((method) =>
      chain.intercept({
        method,
        answer: (ask, forward) => {
          asked.push(ask.params.find((each) => typeof each === 'object' && each && 'commitment' in each));
          return forward(ask);
        },
      }),
    );
    await chain.sendSol(owner, 1n, { memo: 'FINAL' });
    expect(await reader.until(1)).toMatchObject([{ final: true, confirmations: 32 }]);
    for (const stop of stops) stop();
    expect(asked.length).toBeGreaterThan(3);
    for (const each of asked) expect(each).toMatchObject({ commitment: 'finalized' });
  });

  it('is not claimed of what a node lists before it is, and is reported when asked again', async () => {
    const { owner, reader } = await merchant();
    const stop = chain.intercept({
      method: 'getSignaturesForAddress',
      answer: async (ask, forward) => {
        const reply = await forward(ask);
        const listed = 'result' in reply ? (reply.result as object[]) : [];
        return { result: listed.map((entry) => ({ ...entry, confirmationStatus: 'confirmed' })) };
      },
    });
    const txid = await chain.sendSol(owner, 1n, { memo: 'FINAL' });
    const [transfer] = await reader.until(1);
    stop();
    expect(transfer?.final).toBe(false);
    expect(transfer?.confirmations).toBeLessThan(32);
    const pending = [pendingOf(txid, transfer?.index ?? '', transfer?.height ?? 0)];
    chain.intercept({
      method: 'getSignatureStatuses',
      times: 1,
      answer: () => ({
        result: {
          context: { slot: 1 },
          value: [{ slot: 1, confirmations: 1, err: null, confirmationStatus: 'confirmed' }],
        },
      }),
    });
    const [early] = await reader.recheck(pending);
    expect(early).toMatchObject({ state: 'pending', txid, index: transfer?.index });
    const later = await reader.recheck(pending);
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

  describe('is lost', () => {
    const first_valid = { context: { slot: 0 }, value: true };
    /** A node that knows nothing of one transaction; parts of its answers can be changed. */
    async function unknown({ height }: { height: number }) {
      const { reader } = await merchant();
      const txid = signature(1);
      const answers = {
        status: null as unknown,
        valid: { context: { slot: height + 1_000 }, value: false },
        first_slot: 0,
        known_slot: height + 1_000,
      };
      const stops = [
        chain.intercept({
          method: 'getSignatureStatuses',
          answer: () => ({ result: { context: { slot: answers.known_slot }, value: [answers.status] } }),
        }),
        chain.intercept({ method: 'isBlockhashValid', answer: () => ({ result: answers.valid }) }),
        chain.intercept({ method: 'getFirstAvailableBlock', answer: () => ({ result: answers.first_slot }) }),
      ];
      // It stands still: a second that passes between two readings is no part of what is tested.
      const begun = reader.context.now();
      const ask = (seconds: number, blockhash: string | null = BLOCKHASH) => {
        const pending = [{ ...pendingOf(txid, 'i', height), blockhash }];
        return reader.recheck(pending, { now: () => begun + seconds });
      };
      return { txid, answers, ask, stop: () => stops.forEach((each) => void each()) };
    }

    it('where two readings a minute apart find its blockhash expired and no block with it', async () => {
      verifies('gone-needs-proof');
      const { txid, answers, ask, stop } = await unknown({ height: 500 });
      expect(await ask(0)).toEqual([]);
      expect(await ask(59)).toEqual([]);
      // A node that knows it in between makes the count begin again.
      answers.status = { slot: 500, confirmations: 1, err: null, confirmationStatus: 'confirmed' };
      expect(await ask(61)).toMatchObject([{ state: 'pending' }]);
      answers.status = null;
      expect(await ask(120)).toEqual([]);
      expect(await ask(179)).toEqual([]);
      const [update] = await ask(180);
      expect(update).toMatchObject({ txid, index: 'i', state: 'gone', confirmations: 0, height: null });
      expect(update?.reason).toContain('its blockhash had expired in slot 1500');
      stop();
    });

    it('never while its blockhash is valid, nor by a node that is not past it or has dropped its blocks', async () => {
      verifies('gone-needs-proof');
      const { answers, ask, stop } = await unknown({ height: 500 });
      const never = async () => {
        for (const hours of [0, 1, 2]) expect(await ask(hours * 3600)).toEqual([]);
      };
      answers.valid = { ...first_valid, context: { slot: 1_500 } };
      await never();
      answers.valid = { context: { slot: 800 }, value: false };
      await never();
      answers.valid = { context: { slot: 1_500 }, value: false };
      answers.first_slot = 501;
      await never();
      answers.first_slot = 0;
      // The replica that does not know it is behind, though another one has the expiry.
      answers.known_slot = 800;
      await never();
      stop();
    });

    it('never by absence where a nonce stands for its blockhash', async () => {
      verifies('gone-needs-proof');
      const { ask, stop } = await unknown({ height: 500 });
      for (const hours of [0, 1, 2]) expect(await ask(hours * 3600, null)).toEqual([]);
      stop();
    });
  });

  it('has the blockhash that bounds its life, by which the chain itself answers', async () => {
    const { owner, reader } = await merchant();
    await chain.sendSol(owner, 1n, { memo: 'BOUND' });
    const [transfer] = await reader.until(1);
    expect(transfer?.blockhash).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
    const { value } = (await reader.rpc.call('isBlockhashValid', [transfer?.blockhash ?? ''])) as {
      value: boolean;
    };
    expect(value).toBe(true);
  });

  it.each([
    ['names how many it takes', 'getSignatureStatuses is limited to 5 signatures on this plan', 5],
    ['only says that they are too many', 'Too many inputs provided', 8],
  ])('asks a provider for fewer that %s, and asks for no more after that', async (_, message, most) => {
    const { reader } = await merchant();
    const pending = Array.from({ length: 16 }, (_, index) => pendingOf(signature(index), `${index}`, 0));
    const sizes: number[] = [];
    const stop = chain.intercept({
      method: 'getSignatureStatuses',
      answer: (ask) => {
        const { length } = ask.params[0] as string[];
        sizes.push(length);
        if (length > most) return { error: { code: -32602, message } };
        const status = { slot: 1, confirmations: null, err: null, confirmationStatus: 'finalized' };
        return { result: { context: { slot: 1 }, value: Array(length).fill(status) } };
      },
    });
    expect(await reader.recheck(pending)).toHaveLength(16);
    const pieces = Array.from({ length: Math.ceil(16 / most) }, (_, at) => Math.min(most, 16 - at * most));
    expect(sizes).toEqual([16, ...pieces]);
    sizes.length = 0;
    expect(await reader.recheck(pending)).toHaveLength(16);
    stop();
    expect(sizes).toEqual(pieces);
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
      return reader.recheck(pending, { now: () => now() + seconds });
    };
    await chain.waitFor(failed, 'finalized');
    expect(await recheck(0)).toEqual([]);
    expect(reader.rpc.requests.slice(from)).toEqual(['getSignatureStatuses', 'getSignatureStatuses']);
    const updates = await recheck(60);
    expect(updates).toMatchObject([{ txid: failed, index: '299', state: 'gone' }]);
    expect(updates[0]?.reason).toContain('the transaction failed');
  });
});

const BLOCKHASH = base58.encode(new Uint8Array(32).fill(8));

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
