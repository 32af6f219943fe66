// Several daemons on one database: each reads its share of the blockchains, and none is left unread when one comes or goes.
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Participant, shareOut } from '../../../daemon/observer/share.ts';
import { gatewayIds, gatewaysOf } from '../../../src/chains/gateways.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { systemClock } from '../../helpers/clock.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { silent } from '../../helpers/reading.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const chains = ['a', 'b', 'c', 'd', 'e', 'f'];
const ids: readonly string[] = ['r1', 'r2', 'r3', 'r4'];
const everything = (id: string): Participant => ({ id, can_read: chains });

const world = fc.record({
  participants: fc
    .uniqueArray(fc.constantFrom(...ids), { minLength: 1 })
    .chain((present) =>
      fc.tuple(...present.map((id) => fc.record({ id: fc.constant(id), can_read: fc.subarray(chains) }))),
    ),
  holders: fc
    .dictionary(fc.constantFrom(...chains), fc.constantFrom(...ids, 'stranger'))
    .map((holders) => new Map(Object.entries(holders))),
});

describe('the shares of blockchains', () => {
  test('leave none unread that someone can read, and give none to who cannot', () => {
    verifies('chains-spread');
    fc.assert(
      fc.property(world, ({ participants, holders }) => {
        const shares = shareOut(chains, participants, holders);
        for (const chain of chains) {
          const able = participants.filter(({ can_read }) => can_read.includes(chain)).map(({ id }) => id);
          const holder = holders.get(chain);
          const reader = shares.get(chain);
          if (holder !== undefined && !able.includes(holder)) expect(reader).toBeUndefined();
          else if (able.length === 0) expect(reader).toBeUndefined();
          else expect(able).toContain(reader);
        }
      }),
    );
  });

  test('are the same for all, and differ by one at most where all can read all', () => {
    verifies('chains-spread');
    fc.assert(
      fc.property(world, ({ participants, holders }) => {
        const all = participants.map(({ id }) => everything(id));
        const own = new Map([...holders].filter(([, id]) => all.some((one) => one.id === id)));
        const shares = shareOut(chains, all, own);
        expect(shareOut(chains, all.toReversed(), own)).toEqual(shares);
        const counts = all.map(({ id }) => [...shares.values()].filter((reader) => reader === id).length);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        // Once handed over, nothing moves any more.
        expect(shareOut(chains, all, shares)).toEqual(shares);
      }),
    );
  });

  test('stay where they are as far as that is fair', () => {
    verifies('chains-spread');
    const holders = new Map(chains.map((chain): [string, string] => [chain, 'r1']));
    const shares = shareOut(chains, ['r1', 'r2', 'r3'].map(everything), holders);
    expect(chains.filter((chain) => shares.get(chain) === 'r1')).toEqual(['a', 'b']);
  });
});

/** How many blockchains have a gateway that is on. */
const READ = new Set(gatewaysOf('testnet').map(({ blockchain }) => blockchain)).size;
/** Of 3 s each: until shares are worked out, the reader comes to its next reading, and the new one to its own. */
const HANDED_OVER_MS = 12_000;

describe.skipIf(!hasPostgres)('daemons on one database', () => {
  const open = async (database_url?: string): Promise<TestApp> => {
    const polls = gatewayIds.map((id): [string, string] => [`gateways.${id}.poll_interval_seconds`, '1']);
    const test = await startApp({
      single: true,
      database: 'postgres',
      ...(database_url !== undefined && { database_url }),
      clock: systemClock,
      settings: Object.fromEntries(polls),
      // A provider that has nothing to say is asked again at the pace of its blockchain.
      source: () => silent,
      start: true,
    });
    return test;
  };
  const readsOf = (daemons: readonly TestApp[]) => daemons.map(({ app }) => app.observer.reads());
  const untilShared = (daemons: readonly TestApp[], counts: readonly number[]) =>
    until(
      `blockchains are shared ${counts.join(', ')}`,
      async () => {
        const reads = readsOf(daemons);
        const sizes = reads.map((of) => of.length).sort();
        const is_whole = new Set(reads.flat()).size === READ;
        return (is_whole && sizes.join() === [...counts].sort().join()) || undefined;
      },
      HANDED_OVER_MS,
    );

  test('spread what they read, hand over to who joins, and take over from who leaves', async () => {
    verifies('chains-spread');
    const first = await open();
    const { database_url } = first.app.config;
    const daemons = [first];
    onTestFinished(async () => {
      for (const daemon of daemons.toReversed()) await daemon.stop();
    });
    await untilShared(daemons, [READ]);
    daemons.push(await open(database_url), await open(database_url));
    await untilShared(daemons, [2, 1, 1]);
    expect(readsOf(daemons).flat()).toHaveLength(READ);

    const leaving = daemons.pop() as TestApp;
    await leaving.stop();
    await untilShared(daemons, [2, 2]);
    const [, resting] = daemons as [TestApp, TestApp];
    resting.app.instance.drain();
    await untilShared([first], [READ]);
    expect(resting.app.observer.reads()).toEqual([]);
  }, 120_000);
});
