// What people read of a coin that is behind the rest: why, and for how long by its own pace.
import { expect, it } from 'vitest';
import { coinBehind } from '../../../src/chains/evm/coins.ts';
import { createMemory } from '../../../src/chains/evm/memory.ts';
import { networks } from '../../../src/chains/evm/networks.ts';
import type { Reading } from '../../../src/chains/evm/reading.ts';

const NOW = 1_800_000_000;
/** The coin is read up to a height, and catches up with block 700 since it stood at 100; all else is proved up to 650. */
function reasonAt(read: number, began_seconds_ago: number | null, trouble: string | null = null) {
  const memory = createMemory();
  memory.coin_began = began_seconds_ago === null ? null : { height: 100, at: NOW - began_seconds_ago };
  memory.coin_trouble = trouble;
  const coin = { height: read, hash: '', since: 0, looked: [read, ''] };
  const reading = {
    network: networks.ethereum,
    assets: { logs: [], coin: { chain: 'a-coin', by: { found_by: 'blocks' } } },
    cursor: { held: [[700, '']], paid: [], proved: 650, final: 0, coin },
    context: { memory, now: () => NOW },
  } as unknown as Reading;
  return coinBehind(reading).map(({ reason }) => reason.replace(/^.*: /, ''));
}

it('says how many minutes it takes to catch up by the pace so far', () => {
  // 200 blocks in five minutes, 400 to go.
  expect(reasonAt(300, 300)).toEqual(['it is catching up, which takes about 10 minutes more']);
  expect(reasonAt(640, 300)).toEqual(['it is catching up, which takes about 1 minute more']);
});

it('says no time where no pace is known, and the reason where a provider is in the way', () => {
  for (const [read, ago] of [
    [300, null],
    [300, 0],
    [300, -60],
    [100, 300],
    [50, 300],
  ] as const)
    expect(reasonAt(read, ago)).toEqual(['it is catching up']);
  expect(reasonAt(300, 300, 'no such method')).toEqual(['no such method']);
});

it('says nothing of a coin that is read as far as all else is proved', () => {
  expect(reasonAt(650, 300)).toEqual([]);
});
