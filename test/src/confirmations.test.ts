// Confirmations by value: how the setting is read, how it is refused, and what each invoice waits for.
import { describe, expect, test } from 'vitest';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { blocksFor, type ConfirmationStep, readSteps } from '../../src/confirmations.ts';
import { verifies } from '../requirements.ts';

const usd = (whole: number): bigint => BigInt(whole) * 1_000_000n;
const steps: ConfirmationStep[] = [
  { below_usd: '1000', blocks: 1 },
  { below_usd: '20000', blocks: 3 },
  { blocks: 6 },
];

describe('confirmations by value', () => {
  test.each([
    [0n, 1],
    [usd(1), 1],
    [usd(1000) - 1n, 1],
    [usd(1000), 3],
    [usd(20_000) - 1n, 3],
    [usd(20_000), 6],
    [usd(999_999_999), 6],
  ])('an invoice of %d USD micros waits for %d', (micros, blocks) => {
    verifies('confirmations-by-value');
    expect(blocksFor(steps, micros, 1)).toBe(blocks);
  });

  test('no invoice waits for fewer than the least, and all for it where there are no steps', () => {
    expect(blocksFor(steps, usd(1), 2)).toBe(2);
    expect(blocksFor(steps, usd(30_000), 2)).toBe(6);
    expect(blocksFor([], usd(30_000), 2)).toBe(2);
  });

  test('are read from numbers and plain decimals', () => {
    const given = [{ below_usd: 1000, blocks: 1 }, { below_usd: '1500.5', blocks: 1 }, { blocks: 3 }];
    expect(readSteps(given)).toEqual([
      { below_usd: '1000', blocks: 1 },
      { below_usd: '1500.5', blocks: 1 },
      { blocks: 3 },
    ]);
    expect(readSteps([{ blocks: 2 }])).toEqual([{ blocks: 2 }]);
  });

  test.each([
    [3, 'must be a list'],
    [[], 'must be a list'],
    [undefined, 'must be a list'],
    [Array.from({ length: 11 }, () => ({ blocks: 1 })), 'at most 10 steps'],
    [[7], 'step 1: must be an object'],
    [[{ blocks: 0 }], 'step 1: blocks must be a whole number from 1'],
    [[{ blocks: 1.5 }], 'step 1: blocks must be'],
    [[{ blocks: '3' }], 'step 1: blocks must be'],
    [[{ blocks: 10_001 }], 'step 1: blocks must be'],
    [[{ below_usd: 1000 }, { blocks: 3 }], 'step 1: blocks must be'],
    [[{ below_usd: 1000, blocks: 1, until: 3 }, { blocks: 3 }], 'step 1: unknown member until'],
    [[{ blocks: 1 }, { blocks: 3 }], 'step 1: below_usd is missing'],
    [[{ below_usd: 1000, blocks: 1 }], 'step 1: the last step is for all larger invoices'],
    [[{ below_usd: '1e3', blocks: 1 }, { blocks: 3 }], 'step 1: below_usd must be a plain decimal'],
    [[{ below_usd: -5, blocks: 1 }, { blocks: 3 }], 'step 1: below_usd must be a plain decimal'],
    [[{ below_usd: 0, blocks: 1 }, { blocks: 3 }], 'step 1: below_usd must be a plain decimal'],
    [
      [{ below_usd: 1000, blocks: 1 }, { below_usd: 1000, blocks: 2 }, { blocks: 3 }],
      'step 2: below_usd must grow',
    ],
    [[{ below_usd: 1000, blocks: 4 }, { blocks: 3 }], 'step 2: blocks must not fall'],
  ])('%j is refused: %s', (value, why) => {
    verifies('confirmations-by-value');
    expect(readSteps(value)).toEqual(expect.stringContaining(why));
  });

  test('the most of all steps is what a gateway waits for, and its own setting is the least', () => {
    const chains = { litecoin: { confirmations: steps } };
    const find = (own: { min_confirmations?: number } = {}) =>
      gatewaysOf('testnet', { litecoin: own }, chains).find(({ chain }) => chain === 'litecoin');
    expect(find()).toMatchObject({ min_confirmations: 6, confirmations_by_value: { steps, least: 1 } });
    expect(find({ min_confirmations: 9 })?.min_confirmations).toBe(9);
    const others = gatewaysOf('testnet', {}, chains).filter(({ chain }) => chain !== 'litecoin');
    expect(others).toEqual(gatewaysOf('testnet').filter(({ chain }) => chain !== 'litecoin'));
  });
});
