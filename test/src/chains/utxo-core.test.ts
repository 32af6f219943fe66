// The mempool of a node behind which several stand: what one of them lists, another may not have yet.
import { expect, it } from 'vitest';
import { ProviderError, type Rpc } from '../../../src/chains/family.ts';
import { createMemory } from '../../../src/chains/utxo/memory.ts';
import { coreSource } from '../../../src/chains/utxo/providers/core.ts';
import { makeTransaction } from '../../simulator/chains/utxo-bytes.ts';

const NOW = 1_800_000_000;
const SCRIPT = `0014${'ab'.repeat(20)}`;

it('reads a listed transaction again where the node that was asked for it did not have it', async () => {
  const { txid, bytes } = makeTransaction([`${'11'.repeat(32)}:0`], [{ script: SCRIPT, amount: 5_000n }]);
  let has = false;
  const refuse = async (): Promise<never> => {
    throw new Error('not asked for in this test');
  };
  const rpc: Rpc = {
    provider: 'core',
    json: refuse,
    text: refuse,
    bytes: refuse,
    call: refuse,
    batch: async (calls) =>
      calls.map(({ method }) => {
        if (method !== 'getrawtransaction')
          return { getrawmempool: [txid], uptime: 1_000_000 }[method] ?? null;
        if (has) return Buffer.from(bytes).toString('hex');
        return new ProviderError('rpc', 'No such mempool or blockchain transaction', -5);
      }),
  };
  const memory = createMemory();
  const list = async () => {
    const found: string[] = [];
    const lists = coreSource(rpc, memory).list({
      watched: new Map([[SCRIPT, { key: SCRIPT, address: SCRIPT, since: NOW, open: true }]]),
      urgent: [],
      followed: [],
      paused: new Set(),
      again: false,
      listed_at: 0,
      now: () => NOW,
      spare_requests: 8,
    });
    for await (const sightings of { [Symbol.asyncIterator]: () => lists })
      found.push(...sightings.map(({ transaction }) => transaction.txid));
    return found;
  };
  expect(await list()).toEqual([]);
  has = true;
  expect(await list()).toEqual([txid]);
  expect(await list()).toEqual([]);
});
