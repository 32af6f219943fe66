// When a payment counts as made: not before the lists that lacked it, and not after it was seen.
import { expect, test } from 'vitest';
import type { Json, PendingTransfer, Rpc, Transfer } from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { createMemory, type UtxoContext } from '../../../src/chains/utxo/memory.ts';
import { coins } from '../../../src/chains/utxo/networks.ts';
import { readChain } from '../../../src/chains/utxo/read.ts';
import type { Sighting } from '../../../src/chains/utxo/source.ts';
import { makeChain } from '../../chains/utxo-blocks.ts';
import { rightClock, unasked } from '../../helpers/reading.ts';
import { verifies } from '../../requirements.ts';

const SCRIPT = '0014aa';
const SINCE = 1_800_000_700;
const START = 1_800_001_000;

function watcher() {
  const chain = makeChain(SINCE - 100_000);
  const state = {
    now: START,
    listed: [] as { txid: string; inputs: string[] }[],
    stored: [] as PendingTransfer[],
    read_through: null as number | null,
    cursor: null as Json | null,
    memory: createMemory(),
  };
  const transaction = ({ txid, inputs }: { txid: string; inputs: string[] }) => ({
    txid,
    inputs,
    coinbase: false,
    outputs: [{ script: SCRIPT, amount: 5n }],
  });
  const source = {
    ...chain.source,
    list: async function* () {
      const at = state.now;
      const found: Sighting[] = state.listed.map((each) => ({ transaction: transaction(each), seen_at: at }));
      if (found.length > 0) yield found;
      const txids = new Set(state.listed.map(({ txid }) => txid));
      return [{ script: null, at, txids, complete: true, trouble: null, failed: false }];
    },
  };
  const read = async () => {
    const context: UtxoContext = {
      rpc: { provider: 'made' } as Rpc,
      network: 'testnet',
      blockchain: 'bitcoin',
      memory: state.memory,
      now: () => state.now,
      ...rightClock,
      gateways: gatewaysOf('testnet').filter((gateway) => gateway.chain === 'bitcoin'),
    };
    const request = {
      ...unasked,
      addresses: async () => [{ key: SCRIPT, address: '', since: SINCE, open: true }],
      cursor: state.cursor,
      accounts: async () => new Map(),
      pending: async () => state.stored,
      read_through: state.read_through,
    };
    const found: Transfer[] = [];
    let stated: number | undefined;
    for await (const page of readChain(coins.bitcoin, source, context, request)) {
      found.push(...page.transfers);
      state.cursor = page.cursor ?? state.cursor;
      stated = page.read_through ?? stated;
    }
    state.read_through = stated ?? state.read_through;
    return found.map(({ earliest_at, latest_at }) => [earliest_at, latest_at]);
  };
  return { state, read, mine: (time: number) => chain.mine(time, state.listed.map(transaction)) };
}

const payment = { txid: 'a', inputs: [] };

test('between two lists, with half a minute to get there, also when it is listed again', async () => {
  verifies('time-propagation');
  const { state, read } = watcher();
  await read();
  state.listed = [payment];
  state.now = START + 15;
  expect(await read()).toEqual([[START - 30, START + 15]]);
  state.now = START + 30;
  expect((await read())[0]?.[1]).toBe(START + 15);
});

test('at any time since the watch where nothing was listed before', async () => {
  const { state, read } = watcher();
  state.listed = [payment];
  expect(await read()).toEqual([[SINCE, START]]);
});

test('after a restart no earlier than what was proved before it, and no later than it was seen', async () => {
  const { state, read } = watcher();
  await read();
  state.memory = createMemory();
  state.now = START + 3600;
  state.listed = [payment];
  expect(await read()).toEqual([[START - 30, START + 3600]]);
});

test('at any time since the watch where what was proved before a restart is of a time to come', async () => {
  verifies('clock-offset');
  const { state, read } = watcher();
  await read();
  state.memory = createMemory();
  // The clock was ten hours ahead until it was set right.
  state.read_through = START + 36_000;
  state.now = START + 60;
  state.listed = [payment];
  expect(await read()).toEqual([[SINCE, START + 60]]);
});

test('since the last list where it is first seen in a block after an outage, though the block is of later', async () => {
  const { state, read, mine } = watcher();
  await read();
  state.listed = [payment];
  mine(START + 2000);
  state.listed = [];
  state.now = START + 2400;
  expect(await read()).toEqual([[START - 30, START + 2400]]);
});

test('not long after the block that it stands in, where that is old when it is read', async () => {
  const { state, read, mine } = watcher();
  await read();
  state.listed = [payment];
  mine(START + 100);
  state.listed = [];
  state.now = START + 7000;
  expect(await read()).toEqual([[START - 30, START + 700]]);
});

test('not later than it was stored, though only its block is seen after a restart', async () => {
  const { state, read, mine } = watcher();
  await read();
  state.listed = [payment];
  mine(START + 900);
  state.listed = [];
  state.memory = createMemory();
  const { txid, inputs } = payment;
  const place = { height: null, block_hash: null, blockhash: null };
  state.stored = [
    { chain: 'bitcoin', address_key: SCRIPT, txid, index: '0', first_seen_at: START + 10, inputs, ...place },
  ];
  state.now = START + 1000;
  expect((await read())[0]?.[1]).toBe(START + 10);
});

test('a list taken while blocks are missing dates nothing', async () => {
  const { state, read, mine } = watcher();
  await read();
  for (let at = 1; at <= 250; at++) mine(START + at);
  state.now = START + 600;
  await read();
  state.listed = [payment];
  state.now = START + 615;
  expect(await read()).toEqual([[START - 30, START + 615]]);
});

test.each([
  ['hours, by the age of the tip', 100_000, 0],
  ['less than the hours for which there may be no block, by a block that came just now', 3000, 1],
])('by our clock where that is ahead of the blocks: by %s', async (_, ahead, blocks_before) => {
  verifies('clock-offset');
  const { state, read, mine } = watcher();
  for (let at = 0; at < blocks_before; at++) mine(START - ahead + at);
  await read();
  state.listed = [payment];
  state.now = START + 60;
  mine(START + 60 - ahead);
  state.listed = [];
  expect(await read()).toEqual([[START - 30, START + 60]]);
});

test('and is not taken for older than the watch on its address where the clock is ahead', async () => {
  verifies('clock-offset');
  const { state, read, mine } = watcher();
  await read();
  state.listed = [payment];
  state.now = START + 60;
  mine(SINCE - 50_000);
  state.listed = [];
  expect(await read()).toHaveLength(1);
});
