// Several daemons on one database: each reads its share of the blockchains, and none is left unread when one comes or goes.
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RpcSource } from '../../../daemon/observer/providers/rpc.ts';
import { type Participant, shareOut } from '../../../daemon/observer/share.ts';
import { deadRoutes } from '../../../data/dead-routes.ts';
import { gatewayIds, gatewaysOf } from '../../../src/chains/gateways.ts';
import { startApp, type TestApp, type TestAppOptions } from '../../helpers/app.ts';
import { systemClock } from '../../helpers/clock.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { silent, unasked_provider, unreachable } from '../../helpers/reading.ts';
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

const states = ['ok', 'slow', 'dead'] as const;
type States = Record<string, (typeof states)[number]>;
const routes = fc.array(
  fc.array(fc.constantFrom(...states), { minLength: chains.length, maxLength: chains.length }),
  { minLength: 2, maxLength: 4 },
);
const participantOf = (own: States, at: number): Participant => {
  const that = (state: string) => chains.filter((chain) => own[chain] === state);
  return { id: ids[at] as string, can_read: that('ok'), slow: that('slow'), dead: that('dead') };
};

describe('daemons whose providers do not answer', () => {
  test('hold each blockchain once whatever happens, and leave it to who can read it best a few rounds after that', () => {
    verifies('dead-route-given-back', 'chains-spread');
    fc.assert(
      fc.property(fc.array(routes, { minLength: 1, maxLength: 8 }), (history) => {
        const holders = new Map<string, string>();
        const last = history.at(-1) as (typeof history)[number];
        for (const round of [...history, last, last, last]) {
          const participants = round.map((of, at) =>
            participantOf(Object.fromEntries(chains.map((chain, place) => [chain, of[place]])) as States, at),
          );
          // One after the other, each by what it sees: it gives back what is not its share, and takes what is free.
          for (const { id } of participants) {
            const shares = shareOut(chains, participants, holders);
            for (const chain of chains) {
              if (holders.get(chain) === id && shares.has(chain) && shares.get(chain) !== id)
                holders.delete(chain);
              if (holders.get(chain) === id && !shares.has(chain)) holders.delete(chain);
              if (!holders.has(chain) && shares.get(chain) === id) holders.set(chain, id);
            }
          }
          // The leases of those who are gone run out.
          for (const [chain, id] of holders)
            if (!participants.some((one) => one.id === id)) holders.delete(chain);
        }
        for (const [place, chain] of chains.entries()) {
          const best = states.find((state) => last.some((of) => of[place] === state));
          const holder = ids.indexOf(holders.get(chain) ?? '');
          expect(last[holder]?.[place]).toBe(best);
        }
      }),
    );
  });

  test('keep what they hold where none answers any of them', () => {
    verifies('dead-route-given-back');
    const all = ['r1', 'r2'].map((id): Participant => ({ id, can_read: [], slow: [], dead: chains }));
    const shares = shareOut(chains, all, new Map());
    expect([...shares.keys()]).toEqual(chains);
    expect(shareOut(chains, all, shares)).toEqual(shares);
  });
});

/** How many blockchains have a gateway that is on. */
const READ = new Set(gatewaysOf('testnet').map(({ blockchain }) => blockchain)).size;
/** Of 3 s each: until shares are worked out, the reader comes to its next reading, and the new one to its own. */
const HANDED_OVER_MS = 12_000;
/** Long enough for a hand-over before a blockchain is blind, also on a machine with much to do. */
const BLIND_SECONDS = 45;
/** Until a route is dead, is handed over, and counts as good again. */
const ROUTE_MS = 120_000;

describe.skipIf(!hasPostgres)('daemons on one database', () => {
  const open = async (
    database_url?: string,
    { settings, ...options }: Pick<TestAppOptions, 'source' | 'settings'> = {},
  ): Promise<TestApp> => {
    const polls = gatewayIds.map((id): [string, string] => [`gateways.${id}.poll_interval_seconds`, '1']);
    const test = await startApp({
      single: true,
      database: 'postgres',
      ...(database_url !== undefined && { database_url }),
      clock: systemClock,
      settings: { ...Object.fromEntries(polls), ...settings },
      // A provider that has nothing to say is asked again at the pace of its blockchain.
      source: () => silent,
      start: true,
      ...options,
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

  test('leave to each other what a provider does not answer one of them, and are notified of only where another reads', async () => {
    verifies('dead-route-given-back', 'dead-route-steady', 'dead-route-notified');
    const away = [false, false];
    const sourceAt = (at: number): RpcSource => {
      let failed_at: number | null = null;
      return {
        ...silent,
        use: (work) => {
          if (!away[at]) return silent.use(work);
          failed_at = Date.now();
          return unreachable.use(work);
        },
        status: () => [
          {
            ...unasked_provider,
            state: away[at] ? 'down' : 'ok',
            requests_per_second: 5,
            last_error_at: failed_at,
          },
        ],
      };
    };
    const settings = { blind_after_seconds: String(BLIND_SECONDS) };
    const first = await open(undefined, { source: () => sourceAt(0), settings });
    const second = await open(first.app.config.database_url, { source: () => sourceAt(1), settings });
    const daemons = [first, second];
    onTestFinished(async () => {
      for (const daemon of daemons.toReversed()) await daemon.stop();
    });
    const counts = () => readsOf(daemons).map((reads) => reads.length);
    const untilRead = (wanted: readonly number[]) =>
      until(
        `they read ${wanted.join(', ')}`,
        async () => counts().join() === wanted.join() || undefined,
        ROUTE_MS,
      );
    const blind = () => daemons.flatMap(({ app }) => app.blindness.all());
    const routes = () => deadRoutes(first.app.db.query);
    const newsOf = async () => [
      ...new Set((await routes()).filter(({ is_news }) => is_news).map(({ daemon_id }) => daemon_id)),
    ];
    const changes: boolean[] = [];
    await untilShared(daemons, [READ / 2, READ / 2]);
    for (const { app } of daemons) app.blindness.onChange(({ is_blind }) => changes.push(is_blind));

    away[0] = true;
    await untilRead([0, READ]);
    await until('it is news', async () => (await newsOf()).length > 0 || undefined, ROUTE_MS);
    expect(await newsOf()).toEqual([first.app.instance.id]);
    expect(changes).toEqual([]);

    // Where no one can read, it is the blockchain, and all the same someone tries.
    away[1] = true;
    await until('all are blind', async () => blind().length === 2 * READ || undefined, ROUTE_MS);
    await until(
      'each is held',
      async () => new Set(readsOf(daemons).flat()).size === READ || undefined,
      ROUTE_MS,
    );
    expect(readsOf(daemons).flat()).toHaveLength(READ);
    expect(await newsOf()).toEqual([first.app.instance.id]);

    away.fill(false);
    await until('all are read', async () => blind().length === 0 || undefined, ROUTE_MS);
    await until('no route is dead', async () => (await routes()).length === 0 || undefined, ROUTE_MS);
    await untilShared(daemons, [READ / 2, READ / 2]);
    expect(changes.filter((is_blind) => is_blind)).toHaveLength(2 * READ);
  }, 400_000);
});
