// What a move carries from SQLite to PostgreSQL: every table and column of either, each value as it is, in any number of rows.
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadRows } from '../../data/backup.ts';
import type { Executor } from '../../data/db/open.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import {
  digestsOf,
  linesFromSqlite,
  movedTables,
  schemaDifferences,
  type TableDigest,
} from '../../data/move.ts';
import { type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { addMerchant } from '../helpers/rows.ts';
import { verifies } from '../requirements.ts';

describe.skipIf(!hasPostgres)('rows on their way from SQLite to PostgreSQL', () => {
  let here: OpenDatabase;
  let there: OpenDatabase;
  beforeAll(async () => {
    here = await openDatabase('sqlite');
    there = await openDatabase('postgres');
    return async () => {
      await here.stop();
      await there.stop();
    };
  });

  test('no table and no column is in one of the databases only, and each type holds what the other holds', async () => {
    verifies('command-move');
    expect(await schemaDifferences(here.db.query, there.db.query)).toEqual([]);
    const { rows } = await sql<{ name: string }>`select name from sqlite_schema where type = 'table'
      and name not like 'sqlite\\_%' escape '\\' and name not like 'kysely\\_%' escape '\\' and name <> 'write_probes'`.execute(
      here.db.query,
    );
    const moved = (await movedTables(there.db.query)).map(({ table }) => table);
    expect(moved.toSorted()).toEqual([...rows.map(({ name }) => name), 'event_positions'].sort());
  });

  test('a column, a table or a type that one database has alone is found', async () => {
    verifies('command-move');
    const other = await openDatabase('sqlite');
    const another = await openDatabase('postgres');
    onTestFinished(() => other.stop());
    onTestFinished(() => another.stop());
    await sql`alter table users add column nick text`.execute(other.db.query);
    await sql`create table hats (id text primary key) strict`.execute(other.db.query);
    await sql`create table coats (id text primary key)`.execute(another.db.query);
    await sql`alter table units add column weight double precision`.execute(another.db.query);
    await sql`alter table meta alter column value type bytea using value::bytea`.execute(another.db.query);
    expect(await schemaDifferences(other.db.query, another.db.query)).toEqual([
      'coats.id (text)',
      'hats.id (text)',
      'meta.value (bytea)',
      'meta.value (text)',
      'units.weight (double precision)',
      'users.nick (text)',
    ]);
  });

  const copied = async (): Promise<TableDigest[]> => {
    const tables = await movedTables(there.db.query);
    const read: TableDigest[] = [];
    const onTable = (digest: TableDigest) => void read.push(digest);
    const books = await openSnapshot(here.url);
    const lines = linesFromSqlite(books.query, tables, { onTable });
    await there.db.transaction((tx) => loadRows(tx, 'public', lines)).finally(() => books.close());
    return read;
  };
  const found = async (query: Executor): Promise<TableDigest[]> => {
    const digests: TableDigest[] = [];
    await digestsOf(query, await movedTables(query), { onTable: (digest) => void digests.push(digest) });
    return digests;
  };

  test('largest integers, texts of all kinds, nulls, and more rows than one statement takes arrive as they were', async () => {
    verifies('command-move');
    const { query } = here.db;
    const odd = [
      '',
      ' ',
      'null',
      '\\',
      '"',
      "'",
      '\n\r\t\b\f\u0001\u007f',
      'ü€😀\u2028',
      '{"a":[1,2.50]}',
      '00',
      '9'.repeat(40),
    ];
    for (const [at, value] of odd.entries())
      await sql`insert into meta (name, value) values (${`odd ${at}`}, ${value})`.execute(query);
    await addMerchant(here.db, 'shop');
    for (const [name, amount] of [
      ['most', 9_223_372_036_854_775_807n],
      ['least', -9_223_372_036_854_775_808n],
    ] as const)
      await sql`insert into tallies values (${name}, '', 0, 0, 0, ${amount}, 0)`.execute(query);
    await sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1203)
      insert into leases (name, holder, until_ms) select 'lease ' || i, i % 7, i from n`.execute(query);
    const read = await copied();
    expect(read.find(({ table }) => table === 'leases')?.rows).toBe(1203);
    await there.db.transaction(async (tx) => expect(await found(tx)).toEqual(read));
    const valuesOf = async (on: Executor) => {
      const { rows } = await sql`select name, value from meta where name like 'odd %' order by 1`.execute(on);
      const sums =
        await sql`select name, amount_micros from tallies where name in ('most', 'least') order by 1`.execute(
          on,
        );
      return [rows, sums.rows];
    };
    expect(await valuesOf(there.db.query)).toEqual(await valuesOf(query));
  });

  test('any single value that is another one changes the digest of its table', async () => {
    verifies('command-move');
    await there.db
      .transaction(async (tx) => {
        const before = await found(tx);
        await sql`update leases set until_ms = until_ms + 1 where name = 'lease 77'`.execute(tx);
        await sql`update users set password_hash = '' where password_hash is null`.execute(tx);
        // The same values in other rows.
        await sql`update meta set value = case name when 'odd 0' then ' ' else '' end where name in ('odd 0', 'odd 1')`.execute(
          tx,
        );
        const after = await found(tx);
        const changed = after.filter(({ digest }, at) => digest !== before[at]?.digest);
        expect(changed.map(({ table }) => table)).toEqual(['leases', 'meta', 'users']);
        throw new Error('taken back');
      })
      .catch((error: Error) => expect(error.message).toBe('taken back'));
  });

  test('notices after it have numbers that no address was sent before, though older notices are gone', async () => {
    verifies('command-move');
    const { query } = here.db;
    await sql`insert into notice_targets (target, cause, sent_through, next_at, failures) values ('a', 'disk', 41, 0, 0)`.execute(
      query,
    );
    await copied();
    const { rows } = await sql<{ seq: number }>`insert into notices (cause, subject, text, found_at)
      values ('disk', 'd', 't', 1) returning seq`.execute(there.db.query);
    expect(rows).toEqual([{ seq: 42 }]);
  });
});
