// What became of payments in blocks that the cursor does not hold: none waits for what cannot be known of another.
import { expect, test } from 'vitest';
import { createMemory, type EvmContext } from '../../src/chains/evm/memory.ts';
import { networks } from '../../src/chains/evm/networks.ts';
import { recheckEvm } from '../../src/chains/evm/recheck.ts';
import type { PendingTransfer } from '../../src/chains/family.ts';
import { createFront, refused } from './evm-front.ts';
import { gatewayOf } from './evm-observer.ts';

const { bsc } = networks;
const HEAD = 10_000;
const BEGAN = 1_700_000_000;
const hashOf = (height: number) => `0x${height.toString(16).padStart(64, 'a')}`;
const headerAt = (height: number) => ({
  number: `0x${height.toString(16)}`,
  hash: hashOf(height),
  parentHash: hashOf(height - 1),
  timestamp: `0x${(BEGAN + height).toString(16)}`,
});
const heightOf = (params: unknown) => Number((params as unknown[])[0]);

/** A chain of which the head and every thousandth block below it are held. */
function world() {
  const clock = { now: BEGAN + HEAD };
  const asked: number[] = [];
  const front = createFront(async (_method, height) => {
    asked.push(Number(height));
    return headerAt(Number(height));
  });
  const memory = createMemory();
  const held = Array.from({ length: 10 }, (_, at): [number, string, number] => {
    const height = (at + 1) * 1_000;
    return [height, hashOf(height), BEGAN + height];
  });
  memory.cursor = { held, paid: [], proved: HEAD, final: 0 };
  const context = {
    rpc: front.rpc,
    network: 'testnet',
    blockchain: 'evm-test',
    gateways: [gatewayOf(bsc, { chain: 'a-usdc', token_contract: `0x${'1'.repeat(40)}` })],
    now: () => clock.now,
    local: (time: number) => ({ earliest_at: time, latest_at: time }),
    askOther: undefined,
    spare_requests: 8,
    memory,
  } as unknown as EvmContext;
  const pendingAt = (height: number): PendingTransfer => ({
    chain: 'a-usdc',
    address_key: 'to',
    txid: `0x${height.toString(16).padStart(64, '1')}`,
    index: 'usdc:to:0',
    height,
    block_hash: hashOf(height),
    first_seen_at: BEGAN + height,
    inputs: [],
    blockhash: null,
  });
  const recheck = async (heights: readonly number[]) => {
    const updates = await recheckEvm(bsc, context, heights.map(pendingAt));
    return updates.map(({ height }) => height);
  };
  return { clock, front, asked, recheck };
}

test('one block that is refused keeps no payment in another one from its confirmations', async () => {
  const { front, recheck } = world();
  front.add(async (call, next) => {
    if (heightOf(call.params) === 5_990) throw refused('header not found');
    return next(call);
  });
  expect(await recheck([5_989, 5_995, 8_990])).toEqual([5_995, 8_990]);
});

test('blocks that cannot be read have their turn after those that were never asked about', async () => {
  const { front, recheck } = world();
  const lost = Array.from({ length: 30 }, (_, at) => 1_960 + at);
  front.add(async (call, next) => (lost.includes(heightOf(call.params)) ? null : next(call)));
  const all = [...lost, 8_990];
  const found: (number | null)[] = [];
  for (let poll = 0; poll < 3; poll++) found.push(...(await recheck(all)));
  expect(found).toContain(8_990);
});

test('many blocks far below one that is held are known two minutes later, at one reading each six seconds', async () => {
  const { clock, asked, recheck } = world();
  const far = Array.from({ length: 150 }, (_, at) => 5_100 + at);
  let found: (number | null)[] = [];
  for (let second = 0; second < 120; second += 6) {
    asked.length = 0;
    found = await recheck(far);
    expect(asked.length).toBeLessThanOrEqual(40);
    clock.now += 6;
  }
  expect(found).toHaveLength(far.length);
});

test('a clock that was set back holds up none of them', async () => {
  const { clock, recheck } = world();
  expect(await recheck([5_100])).toEqual([]);
  clock.now -= 3 * 3_600;
  for (let poll = 0; poll < 3; poll++) {
    await recheck([5_100]);
    clock.now += 40;
  }
  expect(await recheck([5_100])).toEqual([5_100]);
});
