// When an unconfirmed payment counts as made: since the listing before it, never after both.
import { expect, test } from 'vitest';
import type { ReadContext, ReadRequest, Transfer } from '../../src/chains/chain.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { readChain } from '../../src/chains/utxo/read.ts';
import type { Source } from '../../src/chains/utxo/source.ts';
import { rightClock, unasked } from '../helpers/reading.ts';

const SCRIPT = '0014aa';

function watcher() {
  const state = { now: 1000, listed_at: 0, listed: [] as unknown[] };
  const source = {
    hashAt: async () => 'h',
    tip: async () => ({ height: 5, hash: 'h', time: 900 }),
    listedThrough: () => state.listed_at,
    mempool: async () =>
      async function* () {
        if (state.listed.length > 0) yield state.listed;
        state.listed_at = state.now;
      },
  } as unknown as Source;
  const context = {
    network: 'testnet',
    blockchain: 'bitcoin',
    cache: new Map(),
    now: () => state.now,
    ...rightClock,
    gateways: gatewaysOf('testnet').filter((gateway) => gateway.chain === 'bitcoin'),
  } as unknown as ReadContext;
  const request = {
    ...unasked,
    addresses: async () => [{ key: SCRIPT, address: '', since: 700, open: true }],
    cursor: { height: 5, hashes: ['h'] },
    accounts: async () => new Map(),
  } as ReadRequest;
  const read = async () => {
    const found: Transfer[] = [];
    for await (const page of readChain(source, context, request)) found.push(...page.transfers);
    return found;
  };
  return { state, read };
}

const payment = { txid: 'a', coinbase: false, inputs: [], outputs: [{ script: SCRIPT, amount: 5n }] };

test('a payment made between two reads is dated at the first of them, also when it is listed again', async () => {
  const { state, read } = watcher();
  await read();
  state.listed = [payment];
  for (const now of [1015, 1030]) {
    state.now = now;
    expect((await read()).map(({ earliest_at }) => earliest_at)).toEqual([1000]);
  }
});

test('after a restart a payment may be as old as the watch on its address', async () => {
  const { state, read } = watcher();
  state.listed = [payment];
  expect((await read()).map(({ earliest_at }) => earliest_at)).toEqual([700]);
});
