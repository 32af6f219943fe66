// Databases of earlier versions: each opens, is brought up to date, breaks no law, and is worked on.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { verifyInput } from '../../daemon/verify/books.ts';
import { type Db, type Executor, openDb } from '../../data/db/open.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { findMeta } from '../../data/meta.ts';
import { migrate, migrateFilled } from '../../data/migrations/migrate.ts';
import { jsonColumns } from '../../data/schema/tables.ts';
import { UNTIMED_UNTIL } from '../../data/untimed.ts';
import { verifyLaws } from '../../data/verify/verify.ts';
import { SOUND_SETTINGS } from '../daemon/helpers/sound-books.ts';
import { startApp } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { type Database, databases, openDatabase } from '../helpers/database.ts';
import { create, credit, invoiceRow, observe, transferTo } from '../helpers/payments.ts';
import { createDatabase } from '../helpers/postgres.ts';
import { verifies } from '../requirements.ts';
import { restorePast, writePast } from './past.ts';

/** Tables of what daemons that run have to say of each other, have not sent yet, or had no room for: a backup has no rows of them. */
const OF_THE_MOMENT = [
  'call_windows',
  'claims',
  'daemons',
  'notice_targets',
  'notices',
  'removals',
  'write_probes',
];

/** What came after the newest of these databases, and has no rows in any. */
const SINCE = {
  tables: ['dust', 'former_terms', 'pictures', 'provider_limits'],
  json: ['payable_with', 'profile', 'shop'],
};

/** Scripts by the last step of their schema. After a release: `WRITE_PAST=<step> npx vitest run test/data/past.test.ts`. */
const folder = fileURLToPath(new URL('past', import.meta.url));
const pathOf = (step: string, database: Database): string => join(folder, `${step}.${database}.sql.gz`);
const { WRITE_PAST } = process.env;
if (WRITE_PAST)
  for (const database of databases)
    writeFileSync(pathOf(WRITE_PAST, database), gzipSync(await writePast(database), { level: 9 }));

const steps = [...new Set(readdirSync(folder).map((name) => name.split('.')[0] ?? ''))];

/** What databases up to 0025 called it. */
const FORMER = ['st', 'ray'].join('');
const names: Record<string, string> = {
  sale: 'sale',
  refill: 'refill',
  [FORMER]: 'unapplied',
  [`${FORMER}_sale`]: 'unapplied_sale',
  [`${FORMER}_refill`]: 'unapplied_refill',
};

const listPayment = (query: Executor, id: string, listed_as: string | null) =>
  sql`insert into payments (id, chain, blockchain, currency, decimals, status, received_atomic, amount_match,
      confirmations, listed_as, listed_at, created_at, updated_at)
    values (${id}, 'ton', 'ton', 'TON', 9, 'unmatched', '1', 'none', 1, ${listed_as}, 1, 1, 1)`.execute(
    query,
  );

/** Its columns, conditions and indexes, as the database says them. */
async function schemaOfPayments({ dialect, query }: Db): Promise<unknown[]> {
  const { rows } = await (dialect === 'sqlite'
    ? sql`select name, sql as text from sqlite_schema where tbl_name = 'payments' order by 1`
    : sql`select column_name::text as name, concat(data_type, is_nullable, column_default) as text
        from information_schema.columns where table_schema = current_schema() and table_name = 'payments'
        union all select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'payments'::regclass
        union all select indexname, indexdef from pg_indexes
          where schemaname = current_schema() and tablename = 'payments' order by 1`
  ).execute(query);
  return rows;
}

describe.each(databases)('on %s', (database) => {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-past-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const restored = async (step: string) => {
    const server = database === 'postgres' ? await createDatabase() : undefined;
    onTestFinished(() => server?.drop());
    const url = server?.url ?? `sqlite:${join(directory, `${step}-${Math.random()}.db`)}`;
    const script = gunzipSync(readFileSync(pathOf(step, database))).toString();
    await restorePast(url, script);
    return { url, now: Number(/^-- (\d+)\n/.exec(script)?.[1]) };
  };

  test.each(steps)(
    'a database of %s has rows in all tables, and each is read as its table says',
    async (step) => {
      verifies('migrations');
      const { url } = await restored(step);
      const db = await openDb(url);
      onTestFinished(() => db.close());
      await migrate(db);
      const last = await db.query
        .selectFrom('invoices')
        .select((of) => of.fn.max('created_at').as('made_at'))
        .executeTakeFirstOrThrow();
      // Of before seconds decided: the daemon gives those that are open theirs at its start.
      expect(await findMeta(db.query, UNTIMED_UNTIL)).toBe(String(last.made_at));
      const seen = new Set<string>();
      for (const { name } of await db.query.introspection.getTables()) {
        if (OF_THE_MOMENT.includes(name) || SINCE.tables.includes(name)) continue;
        const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(
          db.query,
        );
        expect(rows, name).not.toEqual([]);
        for (const row of rows)
          for (const [column, value] of Object.entries(row)) {
            if (Object.hasOwn(jsonColumns, column)) expect(typeof value, `${name}.${column}`).toBe('object');
            else expect(typeof value === 'object', `${name}.${column}`).toBe(value === null);
            if (Object.hasOwn(jsonColumns, column) && value !== null) seen.add(column);
          }
      }
      expect([...seen, ...SINCE.json].sort()).toEqual(Object.keys(jsonColumns));
    },
  );

  test.each(steps)('the daemon works on a database of %s, and no law is broken then', async (step) => {
    verifies('migrations', 'verify-laws');
    const { url, now } = await restored(step);
    const clock = testClock(now + 60);
    const service = await startApp({ database, database_url: url, clock, settings: SOUND_SETTINGS });
    const { config } = service.app;
    const merchant = await service.merchant('after@example.com');
    await credit(service, merchant.id, 100_000_000n);
    const invoice = await create(service, merchant, 'ton');
    await observe(service, 'ton', [transferTo(service, invoice, { txid: 'after', final: true })]);
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
    await service.stop();
    const snapshot = await openSnapshot(url);
    onTestFinished(() => snapshot.close());
    const results = await verifyLaws(await verifyInput(snapshot, config, clock.now()));
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    expect(results).toHaveLength(21);
  });

  test('money that no invoice shows is unapplied where 0025 called it otherwise, and nothing else is taken then', async () => {
    verifies('migrations');
    const { url } = await restored('0005-accounts');
    const db = await openDb(url);
    onTestFinished(() => db.close());
    await expect(listPayment(db.query, 'early', 'unapplied')).rejects.toThrow(/check/i);
    await migrateFilled(db, '0025-creation', {
      async fill(query) {
        for (const listed_as of Object.keys(names)) await listPayment(query, listed_as, listed_as);
      },
      accept: async () => true,
    });
    const rows = await db.query.selectFrom('payments').select(['id', 'listed_as']).execute();
    const listed = new Map(rows.map(({ id, listed_as }) => [id, listed_as]));
    for (const [before, after] of Object.entries(names)) expect(listed.get(before), before).toBe(after);
    expect([...new Set(listed.values())].sort()).toEqual(Object.values(names).sort());
    for (const listed_as of [FORMER, `${FORMER}_sale`, `${FORMER}_refill`, 'unapplied_', '', null])
      await expect(listPayment(db.query, 'refused', listed_as), `${listed_as}`).rejects.toThrow(
        /check|not.null/i,
      );
    const fresh = await openDatabase(database);
    onTestFinished(() => fresh.stop());
    expect(await schemaOfPayments(db)).toEqual(await schemaOfPayments(fresh.db));
  });
});
