// Plays fixed seeds: no law is broken, and the same seed is the same history.
import { describe, expect, test } from 'vitest';
import { reportOf } from './report.ts';
import { runSeed } from './run.ts';

const EVENTS = 1_200;
const SEED = 7;
/** Each is played to its end, when all is quiet, on a machine that may be busy. */
const LIMIT_MS = 180_000;

describe('the simulator', () => {
  test.each([
    { id: 'ton', replayed: 'to its quiet end', calms: true },
    { id: 'solana', replayed: 'until it calms down', calms: false },
  ])('breaks no law on $id, and replays exactly $replayed', { timeout: LIMIT_MS }, async ({ id, calms }) => {
    const options = { events: EVENTS, blockchains: [id] };
    const whole = await runSeed(SEED, options);
    expect(whole.failure && reportOf(whole)).toBeNull();
    expect(whole.invoices).toBeGreaterThan(0);
    const first = calms ? whole : await runSeed(SEED, { ...options, calms });
    const again = await runSeed(SEED, { ...options, calms });
    expect([again.digest, again.events, again.requests]).toEqual([
      first.digest,
      first.events,
      first.requests,
    ]);
  });

  test('breaks no law on networks that share addresses and reorganise, and replays exactly', {
    timeout: LIMIT_MS,
  }, async () => {
    const options = { events: EVENTS, blockchains: ['polygon', 'base', 'tron'], calms: false };
    const first = await runSeed(SEED, options);
    expect(first.failure && reportOf(first)).toBeNull();
    expect(first.payments).toBeGreaterThan(0);
    const again = await runSeed(SEED, options);
    expect([again.digest, again.events, again.requests]).toEqual([
      first.digest,
      first.events,
      first.requests,
    ]);
    const quiet = await runSeed(SEED, { events: EVENTS / 4, blockchains: ['tron'] });
    expect(quiet.failure && reportOf(quiet)).toBeNull();
  });

  test('plays another history for another seed', { timeout: LIMIT_MS }, async () => {
    const digests = new Set<number>();
    for (const seed of [SEED, SEED + 1])
      digests.add((await runSeed(seed, { events: 300, calms: false })).digest);
    expect(digests.size).toBe(2);
  });
});
