// The drill of a deployment: three daemons on one PostgreSQL sell without a pause while one is killed, one freezes, the
// database crashes, and all of them are restarted one after the other.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Daemon } from '../daemon/helpers/process.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { brokenPromises, newPromises, startLoad } from './load.ts';
import { call, credit, kill, openShop, openStand, readInvoice, tonSettings } from './stand.ts';

const DAEMONS = 3;
/** Between two of what happens. */
const ANSWERS = 25;
const LONGEST_ROUND_MS = 20_000;
/** Longer than the leases by which others know that a daemon lives, and than a blockchain's (15 s). */
const FROZEN_MS = 17_000;
const DATABASE_AWAY_SECONDS = 4;
const STOP_MS = 10_000;
const STORED_MS = 40_000;

test.skipIf(!hasPostgres)(
  'three daemons keep every promise while they die, freeze, lose their database and are restarted in turn',
  async () => {
    verifies('exactly-once', 'webhook-one-attempt', 'freeze-bounded', 'rolling-restart', 'address-sum');
    const server = await startPostgres(postgresBinaries() as string);
    onTestFinished(() => server.stop());
    const stand = await openStand('postgres', {}, server.url);
    onTestFinished(() => stand.close());
    const start = (port = '0') => stand.start(tonSettings(stand.gate.url), port);
    const daemons: Daemon[] = [];
    for (let each = 0; each < DAEMONS; each++) daemons.push(await start());
    const first = daemons[0] as Daemon;
    const shop = await openShop(stand, first.url);
    await credit(first.url, shop, '1000');

    const promises = newPromises();
    let turn = 0;
    const load = startLoad(stand, () => (daemons[turn++ % daemons.length] as Daemon).url, shop, promises);
    const more = async (what: string) => {
      const before = promises.created.size;
      await until(
        `${what}: it sells`,
        async () => promises.created.size > before + ANSWERS || undefined,
        LONGEST_ROUND_MS,
      );
    };
    /** What callers are no longer sent to, as a proxy does it that finds it away. */
    const takeOut = () => daemons.shift() as Daemon;
    await more('three at work');

    // Killed in the middle of its work, the balancer not knowing it at first.
    await kill(first);
    await delay(200);
    takeOut();
    await more('one was killed');
    daemons.push(await start());

    const frozen = takeOut();
    frozen.signal('SIGSTOP');
    await Promise.all([delay(FROZEN_MS), more('one is frozen')]);
    frozen.signal('SIGCONT');
    daemons.push(frozen);
    await more('it continues');

    await server.crash(DATABASE_AWAY_SECONDS);
    await more('the database is back');

    for (let each = 0; each < DAEMONS; each++) {
      const next = await start();
      const ending = takeOut();
      daemons.push(next);
      const began = Date.now();
      ending.signal('SIGTERM');
      expect((await ending.ended).code, ending.stderr().slice(-2_000)).toBe(0);
      expect(Date.now() - began).toBeLessThan(STOP_MS);
      await more('one was restarted');
    }
    const { created, confirmed, cancelled, accounts } = promises;
    await until(
      'each kind of promise was made',
      async () => Math.min(created.size, confirmed.size, cancelled.size, accounts.size) > 0 || undefined,
      LONGEST_ROUND_MS,
    );
    await load.stop();

    const { url } = daemons[0] as Daemon;
    for (const id of promises.paid)
      await until(
        `paid invoice ${id} has ended`,
        async () => ((await readInvoice(url, id)).status === 'created' ? undefined : true),
        STORED_MS,
      );
    expect(promises.faults).toEqual([]);
    expect(await brokenPromises(url, shop, promises)).toEqual([]);
    expect(await wrongBooks(stand)).toEqual([]);
    for (const daemon of daemons) {
      expect((await call(daemon.url, 'GET', '/health')).status).toBe(200);
      const lines = daemon.stderr().split('\n');
      expect(lines.filter((line) => /unhandled error|unexpected failure/.test(line))).toEqual([]);
    }
    const verified = await stand.home.run(['verify', '--quiet'], {
      env: { GATEWAYD_DATABASE_URL: server.url },
    });
    expect(verified).toMatchObject({ code: 0 });
  },
  300_000,
);
