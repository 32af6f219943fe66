// A TON provider on a bad day, and the test chain's own face.
import { describe, expect, it } from 'vitest';
import type { Rpc } from '../../src/chains/family.ts';
import { ton } from '../../src/chains/ton/family.ts';
import { createTestRpc } from './rpc.ts';
import {
  buyer,
  chain,
  emptyStore,
  memosOf,
  merchant,
  ONE_TON,
  readInto,
  rpc,
  useTonChain,
  watch,
} from './ton/harness.ts';
import { startTonChain } from './ton-chain.ts';

useTonChain();

describe('a provider on a bad day', () => {
  it.each([
    ['rate_limited', 'rate_limited'],
    ['bad_gateway', 'unreachable'],
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

  it('gives up on a provider that gives the same page again and again', async () => {
    await chain.sendMany(
      buyer,
      Array.from({ length: 120 }, () => ({ to: merchant, amount: ONE_TON })),
    );
    let asked = 0;
    const stuck: Rpc = {
      ...rpc,
      json: async (path, options) => {
        if (path !== '/transactions') return rpc.json(path, options);
        asked++;
        return rpc.json(path, { query: { ...options?.query, offset: 0 } });
      },
    };
    const reading = readInto(emptyStore(), [watch(merchant, chain.now() - 60)], { context: { rpc: stuck } });
    await expect(reading).rejects.toThrow(/gives the same page again/);
    expect(asked).toBe(2);
  });

  it('gives up on a provider that does not answer', async () => {
    const impatient = createTestRpc({ provider: 'toncenter', url: chain.url, timeout_ms: 100 });
    chain.fail('hang');
    await expect(ton.identify(impatient)).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('the test chain', () => {
  it('makes blocks on its own with the real clock, asks for its key and names its network', async () => {
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
