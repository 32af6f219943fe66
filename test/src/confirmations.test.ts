// Confirmations by value: how the setting is read, how it is refused, and what each invoice waits for.
import { describe, expect, test } from 'vitest';
import { isDeepForAll, waitFor } from '../../src/chains/catalogue.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import {
  atLeast,
  type ConfirmationStep,
  isDeep,
  readSteps,
  shownConfirmations,
  stepFor,
  waitOf,
} from '../../src/confirmations.ts';
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
    expect(stepFor(steps, micros)?.blocks).toBe(blocks);
  });

  test('no invoice waits for fewer than the least, and all for it where there are no steps', () => {
    expect(steps.map((step) => atLeast(step, { blocks: 2 }, 1).blocks)).toEqual([2, 3, 6]);
    expect(stepFor([], usd(30_000))).toBeUndefined();
    expect(atLeast({ seconds: 30 }, { seconds: 60 }, 1)).toEqual({ seconds: 60 });
    expect(atLeast({ seconds: 30 }, { blocks: 20 }, 2)).toEqual({ seconds: 40 });
    expect(atLeast({ until: 'finalized' }, { blocks: 20 }, 2)).toEqual({ until: 'finalized' });
  });

  test('are read from numbers and plain decimals', () => {
    const given = [{ below_usd: 1000, blocks: 1 }, { below_usd: '1500.5', blocks: 1 }, { blocks: 3 }];
    expect(readSteps(given)).toEqual([
      { below_usd: '1000', blocks: 1 },
      { below_usd: '1500.5', blocks: 1 },
      { blocks: 3 },
    ]);
    expect(readSteps([{ blocks: 2 }])).toEqual([{ blocks: 2 }]);
    const timed = [{ below_usd: '1000', seconds: 30 }, { until: 'finalized' }];
    expect(readSteps(timed)).toEqual(timed);
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
    [[{ below_usd: 1000, blocks: 1, after: 3 }, { blocks: 3 }], 'step 1: unknown member after'],
    [
      [{ below_usd: 1000, blocks: 1, seconds: 3 }, { blocks: 3 }],
      'step 1: blocks and seconds are two measures',
    ],
    [[{ until: 'safe' }], 'step 1: until must be "finalized"'],
    [[{ seconds: 0 }], 'step 1: seconds must be a whole number from 1'],
    [[{ below_usd: 1000, blocks: 1 }, { seconds: 30 }], 'step 2: blocks and seconds cannot be compared'],
    [[{ below_usd: 1000, seconds: 31 }, { seconds: 30 }], 'step 2: seconds must not fall'],
    [[{ below_usd: 1000, until: 'finalized' }, { seconds: 30 }], 'step 2: nothing waits longer than'],
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
    expect(find()).toMatchObject({ min_confirmations: 6, confirmations_by_value: steps });
    expect(find({ min_confirmations: 9 })?.min_confirmations).toBe(9);
    const others = gatewaysOf('testnet', {}, chains).filter(({ chain }) => chain !== 'litecoin');
    expect(others).toEqual(gatewaysOf('testnet').filter(({ chain }) => chain !== 'litecoin'));
  });
});

describe('depth in seconds', () => {
  const base = { block_seconds: 2, final_seconds: 1200 };
  const at = (depth_seconds: number | null, confirmations: number) => ({
    height: 5,
    confirmations,
    depth_seconds,
  });

  test.each([0.02, 0.2, 2, 20])(
    'is what decides where blocks take %d s, and the shown integers follow',
    (pace) => {
      verifies('seconds-decide');
      const wait = waitOf({ seconds: 30 }, { ...base, block_seconds: pace });
      expect(wait).toMatchObject({ confirm_seconds: 30, until_final: 0 });
      expect(wait.min_confirmations).toBe(Math.max(2, Math.ceil(Number((30 / pace).toFixed(6)))));
      for (let depth = 0; depth <= 40; depth++) {
        const place = at(depth, 1 + Math.floor(depth / pace));
        expect(isDeep(wait, place), String(depth)).toBe(depth >= 30);
        const shown = shownConfirmations(wait, place, false);
        if (depth >= 30) expect(shown).toBeGreaterThanOrEqual(wait.min_confirmations);
        else expect(shown).toBeLessThan(wait.min_confirmations);
        expect(shown).toBeGreaterThan(0);
      }
    },
  );

  test('a pace that changes while an invoice waits neither confirms it early nor shows it as complete', () => {
    verifies('seconds-decide');
    const slow = waitOf({ seconds: 30 }, base);
    expect(slow.min_confirmations).toBe(15);
    expect([isDeep(slow, at(3, 15)), shownConfirmations(slow, at(3, 15), false)]).toEqual([false, 1]);
    expect([isDeep(slow, at(29, 145)), shownConfirmations(slow, at(29, 145), false)]).toEqual([false, 14]);
    const fast = waitOf({ seconds: 30 }, { ...base, block_seconds: 0.2 });
    expect(fast.min_confirmations).toBe(150);
    expect([isDeep(fast, at(30, 2)), shownConfirmations(fast, at(30, 2), false)]).toEqual([true, 150]);
  });

  test('a depth that is not known is none, and what is in no block counts for nothing', () => {
    verifies('seconds-decide');
    const wait = waitOf({ seconds: 30 }, base);
    expect(isDeep(wait, at(null, 10_000))).toBe(false);
    expect(shownConfirmations(wait, at(null, 10_000), false)).toBe(1);
    const nowhere = { height: null, confirmations: 0, depth_seconds: 100 };
    expect([isDeep(wait, nowhere), shownConfirmations(wait, nowhere, false)]).toEqual([false, 0]);
  });

  test("until the chain's own word nothing counts, however old it is", () => {
    verifies('seconds-decide');
    const wait = waitOf({ until: 'finalized' }, { ...base, block_seconds: 0.2 });
    expect(wait).toEqual({ min_confirmations: 6000, confirm_seconds: 1200, until_final: 1 });
    expect(isDeep(wait, at(100_000, 500_000))).toBe(false);
    expect(shownConfirmations(wait, at(100_000, 500_000), false)).toBe(5999);
    expect(shownConfirmations(wait, at(600, 3000), true)).toBe(6000);
  });

  const find = (
    chain: string,
    own: { min_confirmations?: number; confirm_seconds?: number } = {},
    confirmations?: ConfirmationStep[],
  ) => {
    const found = gatewaysOf(
      'testnet',
      { [chain]: { enabled: true, ...own } },
      { [chain]: { confirmations } },
    ).find((gateway) => gateway.chain === chain);
    if (!found) throw new Error(chain);
    return found;
  };

  test('decides on networks like Ethereum, at any pace', () => {
    verifies('seconds-decide');
    const seconds = { ethereum: 144, base: 30, polygon: 128, bsc: 7, arbitrum: 30, tron: 57 };
    for (const [chain, confirm_seconds] of Object.entries(seconds))
      expect(find(chain), chain).toMatchObject({
        confirm_seconds,
        min_confirmations: Math.ceil(confirm_seconds / find(chain).block_seconds),
      });
    const wait = waitFor(find('ethereum'), usd(1), 1.2);
    expect(wait).toEqual({ min_confirmations: 120, confirm_seconds: 144, until_final: 0 });
  });

  test('Litecoin has steps by value, and Base waits for the tag of its chain above a sum', () => {
    verifies('steps-by-default');
    const litecoin = find('litecoin');
    const blocks = [99, 100, 999, 1000].map((sum) => waitFor(litecoin, usd(sum)).min_confirmations);
    expect(blocks).toEqual([3, 12, 12, 24]);
    const at24 = { height: 5, confirmations: 24 };
    expect([isDeepForAll(litecoin, { ...at24, confirmations: 23 }), isDeepForAll(litecoin, at24)]).toEqual([
      false,
      true,
    ]);
    const large = find('base');
    expect(waitFor(large, usd(999))).toMatchObject({ confirm_seconds: 30, until_final: 0 });
    expect(waitFor(large, usd(1000))).toMatchObject({ until_final: 1 });
    expect(isDeepForAll(large, at(100_000, 1))).toBe(false);
  });

  test("an operator's own number or seconds replace what is built in, with its steps", () => {
    verifies('steps-by-default');
    expect(waitFor(find('litecoin', { min_confirmations: 6 }), usd(5000))).toEqual({
      min_confirmations: 6,
      confirm_seconds: null,
      until_final: 0,
    });
    expect(waitFor(find('base', { min_confirmations: 40 }), usd(5000))).toEqual({
      min_confirmations: 40,
      confirm_seconds: null,
      until_final: 0,
    });
    expect(waitFor(find('base', { confirm_seconds: 60 }), usd(5000))).toMatchObject({
      confirm_seconds: 60,
      until_final: 0,
    });
    const own = find('base', { confirm_seconds: 60 }, [
      { below_usd: '10', seconds: 10 },
      { until: 'finalized' },
    ]);
    expect(waitFor(own, usd(5)).confirm_seconds).toBe(60);
    expect(waitFor(own, usd(10)).until_final).toBe(1);
  });
});
