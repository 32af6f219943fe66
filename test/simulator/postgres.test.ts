// Plays a fixed seed on a PostgreSQL server that several daemons share: no law is broken, and the order of statements replays.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPostgres } from '../helpers/postgres.ts';
import { oneOf } from './circle.ts';
import { type SimulatorServer, startSimulatorServer } from './postgres.ts';
import { reportOf } from './report.ts';
import { runSeed } from './run.ts';

const EVENTS = 150;
const SEED = 201;
/** Each statement is asked of a server, on a machine that may be busy. */
const LIMIT_MS = 180_000;

describe.skipIf(!hasPostgres)('the simulator on PostgreSQL', () => {
  let server: SimulatorServer | undefined;
  beforeAll(async () => {
    server = await startSimulatorServer();
  }, LIMIT_MS);
  afterAll(() => server?.stop());

  test('breaks no law with two daemons, and replays exactly', { timeout: LIMIT_MS }, async () => {
    if (!server) throw new Error('there is no server');
    const options = { server, daemons: 2, events: EVENTS, calms: false };
    const first = await runSeed(SEED, options);
    expect(first.failure && reportOf(first)).toBeNull();
    expect(first.invoices).toBeGreaterThan(0);
    expect(first.waits).toBeGreaterThan(0);
    const again = await runSeed(SEED, options);
    expect([again.digest, again.events, again.statements, again.waits]).toEqual([
      first.digest,
      first.events,
      first.statements,
      first.waits,
    ]);
  });
});

test('those who wait for each other in a circle are found', () => {
  const waits = (pairs: [number, number[]][]) => new Map(pairs);
  expect(
    oneOf(
      waits([
        [1, [2]],
        [2, [3]],
      ]),
    ),
  ).toEqual([]);
  expect(
    oneOf(
      waits([
        [1, [2, 3]],
        [3, [4]],
        [4, [3]],
      ]),
    ),
  ).toEqual([3, 4]);
  expect(oneOf(waits([[5, [5]]]))).toEqual([5]);
});
