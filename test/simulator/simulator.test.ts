// Plays fixed seeds: no law is broken, and the same seed is the same history.
import { describe, expect, test } from 'vitest';
import { reportOf } from './report.ts';
import { runSeed } from './run.ts';

const EVENTS = 1_200;
const SEEDS = [1, 7];

describe('the simulator', () => {
  test.each(SEEDS)('seed %i breaks no law and replays exactly', async (seed) => {
    const first = await runSeed(seed, { events: EVENTS });
    expect(first.failure && reportOf(first)).toBeNull();
    expect(first.invoices).toBeGreaterThan(0);
    const again = await runSeed(seed, { events: EVENTS });
    expect([again.digest, again.events, again.requests]).toEqual([
      first.digest,
      first.events,
      first.requests,
    ]);
  });

  test('another seed is another history', async () => {
    const digests = new Set<number>();
    for (const seed of SEEDS) digests.add((await runSeed(seed, { events: 300, calms: false })).digest);
    expect(digests.size).toBe(SEEDS.length);
  });
});
