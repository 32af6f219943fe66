// The database misbehaves under load: nothing that was answered is lost, the daemon lives on, and afterwards the books are right.
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import type { Daemon } from '../daemon/helpers/process.ts';
import type { Database } from '../helpers/database.ts';
import { type Line, openLine } from '../helpers/line.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { brokenPromises, type Load, newPromises, type Promises, startLoad } from './load.ts';
import { call, credit, openShop, openStand, readInvoice, type Shop, type Stand } from './stand.ts';

/** `ROUNDS=20 npx vitest run test/e2e/database-faults.test.ts` plays more. */
const ROUNDS = Number(process.env.ROUNDS ?? 2);
/** Between two faults. */
const ANSWERS = 40;
const LONGEST_ROUND_MS = 20_000;
/** Longer than anything waits for a connection or a lock. */
const OUTAGE_MS = 7_000;

const STORED_MS = 30_000;

interface World {
  stand: Stand;
  daemon: Daemon;
  shop: Shop;
  promises: Promises;
  load: Load;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A daemon under load whose database is reached as `by` says. */
async function begin(
  database: Database,
  by: (stand: Stand) => Promise<Record<string, string>>,
): Promise<World> {
  const stand = await openStand(database);
  closing.push(() => stand.close());
  const daemon = await stand.start(await by(stand));
  const shop = await openShop(stand, daemon.url);
  await credit(daemon.url, shop, '1000');
  const promises = newPromises();
  return { stand, daemon, shop, promises, load: startLoad(stand, daemon.url, shop, promises) };
}

/** Without a restart: the same daemon answers, ends what was paid, and every promise holds. */
async function expectAllWell({ stand, daemon, shop, promises, load }: World): Promise<void> {
  await load.answered(ANSWERS, LONGEST_ROUND_MS);
  const { created, confirmed } = promises;
  const isSold = async () => Math.min(created.size, confirmed.size) > 0 || undefined;
  await until('something was sold', isSold, 3 * LONGEST_ROUND_MS);
  await load.stop();
  for (const id of promises.paid)
    await until(`paid invoice ${id} has ended`, async () =>
      (await readInvoice(daemon.url, id)).status === 'created' ? undefined : true,
    );
  // After a failure of the database the observer waits 10 s; what is paid for a cancelled invoice, nothing else waits for.
  await stand.inspect(({ query }) =>
    until(
      'all that arrived is stored',
      async () => {
        const rows = await query.selectFrom('transfers').select('txid').execute();
        const stored = new Set(rows.map(({ txid }) => txid));
        return stand.payer.paid.every(({ txid }) => stored.has(txid)) || undefined;
      },
      STORED_MS,
    ),
  );
  expect(promises.faults).toEqual([]);
  expect(await brokenPromises(daemon.url, shop, promises)).toEqual([]);
  expect(await wrongBooks(stand)).toEqual([]);
  expect((await call(daemon.url, 'GET', '/health')).status).toBe(200);
  const lines = daemon.stderr().split('\n');
  expect(lines.filter((line) => /unhandled error|unexpected failure/.test(line))).toEqual([]);
}

describe.skipIf(!hasPostgres)('PostgreSQL', () => {
  it('that ends connections again and again under load', async () => {
    verifies('exactly-once', 'webhook-one-attempt');
    const world = await begin('postgres', async () => ({}));
    for (let round = 0; round < ROUNDS; round++) {
      await world.load.answered(ANSWERS, LONGEST_ROUND_MS);
      await world.stand.inspect(({ query }) =>
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.execute(query),
      );
    }
    await expectAllWell(world);
  }, 180_000);

  it('that is cut off, and away for longer than anybody waits', async () => {
    verifies('exactly-once', 'webhook-one-attempt');
    let line: Line | undefined;
    const world = await begin('postgres', async ({ database_url }) => {
      line = await openLine(database_url);
      closing.push(async () => line?.close());
      return { GATEWAYD_DATABASE_URL: line.url };
    });
    const cable = line as Line;
    for (let round = 0; round < ROUNDS; round++) {
      await world.load.answered(ANSWERS, LONGEST_ROUND_MS);
      cable.cut();
    }
    cable.refusing = true;
    cable.cut();
    const away = await call(world.daemon.url, 'GET', '/health');
    expect([away.status, away.json.code]).toEqual([503, 'database_busy']);
    await delay(OUTAGE_MS);
    cable.refusing = false;
    await expectAllWell(world);
  }, 180_000);

  it('whose answers to commits are lost', async () => {
    verifies('exactly-once', 'webhook-one-attempt');
    let commits = 0;
    const world = await begin('postgres', async ({ database_url }) => {
      const line = await openLine(database_url);
      closing.push(() => line.close());
      // Some statements are transactions of their own: those have names that say that they write.
      line.sending = (text) =>
        /\b(commit|gatewayd_write_\d+)\0/.test(text) && ++commits > 0 && commits % 9 === 0
          ? 'lose answer'
          : 'pass';
      // The shop is opened in peace.
      commits = -200;
      return { GATEWAYD_DATABASE_URL: line.url };
    });
    await until('many commits were made', async () => commits > 300 || undefined, 3 * LONGEST_ROUND_MS);
    commits = Number.NEGATIVE_INFINITY;
    await expectAllWell(world);
  }, 180_000);

  it('with a merchant that somebody has locked: others are served, and it is afterwards', async () => {
    const world = await begin('postgres', async () => ({}));
    const other = await openShop(world.stand, world.daemon.url);
    await world.load.answered(ANSWERS, LONGEST_ROUND_MS);
    await world.stand.inspect((db) =>
      db.transaction(async (tx) => {
        await sql`select 1 from merchants where id = ${world.shop.id} for update`.execute(tx);
        const create = async () => {
          const body = { chain: 'ton', amount: '1' };
          const { status } = await call(world.daemon.url, 'POST', '/v1/invoices', { shop: other, body });
          return status === 200 || undefined;
        };
        await until('another merchant is served', create);
        expect((await call(world.daemon.url, 'GET', '/health')).status).toBe(200);
      }),
    );
    await expectAllWell(world);
  }, 180_000);
});

it('SQLite whose lock another process holds, for less and for more than anybody waits', async () => {
  verifies('exactly-once', 'webhook-one-attempt');
  const world = await begin('sqlite', async () => ({}));
  const file = world.stand.database_url.slice('sqlite:'.length);
  for (const held_ms of [1_000, OUTAGE_MS]) {
    await world.load.answered(ANSWERS, LONGEST_ROUND_MS);
    const other = new (sqlite())(file);
    other.exec('begin immediate');
    expect((await call(world.daemon.url, 'GET', '/health')).status).toBe(200);
    await delay(held_ms);
    other.exec('commit');
    other.close();
  }
  await expectAllWell(world);
}, 180_000);
