// SQLite misbehaves: another process has the write lock, the disk is full, a commit fails, the file is taken away.
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type SQLite from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Batch } from '../../data/db/database.ts';
import { sqlite } from '../../data/db/driver.ts';
import { isBusy, isUniqueViolation, isUnusable } from '../../data/db/failures.ts';
import { type Db, openDb } from '../../data/db/open.ts';
import { lookup } from '../../data/db/prepared.ts';
import { openWritingThread } from '../../data/db/writing-thread.ts';
import { migrate } from '../../data/migrations/migrate.ts';

const CROWD = 8;

let directory: string;
let file: string;
let db: Db;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'gatewayd-faults-'));
  file = join(directory, 'test.db');
  db = await openDb(`sqlite:${file}`);
  await migrate(db);
});
afterEach(async () => {
  await db.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Another process, as far as SQLite can tell. */
function outside(): SQLite.Database {
  const other = new (sqlite())(file);
  onTestFinished(() => void other.close());
  return other;
}

const write = (name: string, value = 'a') =>
  db.transaction((tx) => tx.insertInto('meta').values({ name, value }).execute());
const writeAlone = (name: string) => db.query.insertInto('meta').values({ name, value: 'a' }).execute();
const names = async (like: string) => {
  const rows = await db.query.selectFrom('meta').select('name').where('name', 'like', like).execute();
  return rows.map(({ name }) => name).sort();
};
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('while another process has the write lock', () => {
  const stateOf = lookup((query, name: string) =>
    query.selectFrom('meta').select('value').where('name', '=', name),
  );

  test('who writes waits, alone or in a transaction, who reads is answered, and all is written afterwards', async () => {
    await write('before');
    const other = outside();
    other.exec('begin immediate');
    const writing = [write('held-1'), writeAlone('held-2'), write('held-3')];
    expect(await names('before')).toEqual(['before']);
    expect(await stateOf(db, 'before')).toEqual({ value: 'a' });
    expect(await names('held-%')).toEqual([]);
    other.exec('commit');
    await Promise.all(writing);
    expect(await names('held-%')).toEqual(['held-1', 'held-2', 'held-3']);
  });

  test('a writer that waits too long gets the answer that it is busy, all of them, and nothing of theirs is written', async () => {
    const other = outside();
    other.exec('begin immediate');
    const errors = await Promise.all(
      Array.from({ length: CROWD }, (_, at) =>
        failure(at % 2 ? write(`late-${at}`) : writeAlone(`late-${at}`)),
      ),
    );
    expect(errors.map((error) => isBusy(error))).toEqual(errors.map(() => true));
    other.exec('commit');
    await write('late-afterwards');
    expect(await names('late-%')).toEqual(['late-afterwards']);
  });
});

describe('of transactions that share a commit', () => {
  test('one that breaks a unique key, one that throws and one that is refused fail alone', async () => {
    await write('taken');
    const ends = await Promise.all([
      failure(write('group-1')),
      failure(write('taken')),
      failure(
        db.transaction(async (tx) => {
          await tx.insertInto('meta').values({ name: 'group-2', value: 'a' }).execute();
          throw new Error('refused');
        }),
      ),
      failure(writeAlone('taken')),
      failure(writeAlone('group-3')),
    ]);
    expect(ends.map((end) => (isUniqueViolation(end) ? 'unique' : String(end)))).toEqual([
      'no failure',
      'unique',
      'Error: refused',
      'unique',
      'no failure',
    ]);
    expect(await names('group-%')).toEqual(['group-1', 'group-3']);
  });

  test('none succeeds when the commit fails, and the next ones do', async () => {
    // Judged when the commit comes: SQLite then refuses to commit at all.
    await sql`create table late_check (meta text references meta (name) deferrable initially deferred)`.execute(
      db.query,
    );
    const ends = await Promise.all([
      failure(write('lost-1')),
      failure(db.transaction((tx) => sql`insert into late_check values ('no one')`.execute(tx))),
      failure(write('lost-2')),
    ]);
    expect(ends.map((end) => (end as { code?: string }).code)).toEqual(
      ends.map(() => 'SQLITE_CONSTRAINT_FOREIGNKEY'),
    );
    expect(await names('lost-%')).toEqual([]);
    await write('lost-afterwards');
    expect(await names('lost-%')).toEqual(['lost-afterwards']);
  });

  test('none succeeds when the disk is full in the middle of them', async () => {
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db.query);
    await sql.raw(`pragma max_page_count = ${Number(rows[0]?.page_count) + 1}`).execute(db.query);
    const ends = await Promise.all([
      failure(write('full-1')),
      failure(write('full-2', 'x'.repeat(1_000_000))),
      failure(write('full-3')),
    ]);
    const stored = await names('full-%');
    expect(isUnusable(ends[1]), String(ends[1])).toBe(true);
    const succeeded = ['full-1', 'full-2', 'full-3'].filter((_, at) => ends[at] === 'no failure');
    expect(stored).toEqual(succeeded);
    await sql.raw('pragma max_page_count = 1000000').execute(db.query);
    await write('full-2');
    expect(await names('full-2')).toEqual(['full-2']);
  });
});

describe('a database file', () => {
  test.each(['', '-wal'])(
    'whose part "%s" is moved away takes nothing more, until it is back',
    async (part) => {
      await write('moved-before');
      renameSync(`${file}${part}`, `${file}.away`);
      for (const error of [await failure(write('moved-1')), await failure(writeAlone('moved-2'))])
        expect([isUnusable(error), String(error)]).toEqual([
          true,
          expect.stringMatching('moved, deleted or'),
        ]);
      renameSync(`${file}.away`, `${file}${part}`);
      await write('moved-after');
      expect(await names('moved-%')).toEqual(['moved-after', 'moved-before']);
    },
  );

  test('whose log cannot be copied back, because somebody reads on and on, takes writes and shows them', async () => {
    await write('starved-0');
    const other = outside();
    other.exec('begin');
    other.prepare('select count(*) from meta').get();
    const value = 'x'.repeat(500_000);
    for (let at = 1; at <= 60; at++) await write(`starved-${at}`, value);
    expect(await names('starved-%')).toHaveLength(61);
    other.exec('commit');
    await write('starved-last');
    expect(await names('starved-%')).toHaveLength(62);
  });
});

describe('batches, which a thread writes', () => {
  const meta = (name: string, value: string | null = 'a') => ({
    text: 'insert into meta (name, value) values (?, ?) on conflict do nothing',
    values: [name, value],
  });
  const send = (...batch: Batch) => db.batch?.(batch) as Promise<boolean>;

  test('are whole, or nothing where the first statement writes no row', async () => {
    expect(await send(meta('one'), meta('one-more'))).toBe(true);
    expect(await send(meta('one'), meta('one-less'))).toBe(false);
    expect(await names('one%')).toEqual(['one', 'one-more']);
  });

  test('one that is refused takes no other along, and learns why', async () => {
    const sent = await Promise.allSettled([
      send(meta('crowd-1')),
      send(meta('crowd-2'), meta('crowd-3', null)),
      send(meta('crowd-4')),
      write('crowd-5'),
      send(meta('crowd-6')),
    ]);
    expect(sent.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect(String((sent[1] as PromiseRejectedResult).reason)).toContain('NOT NULL');
    expect(await names('crowd-%')).toEqual(['crowd-1', 'crowd-4', 'crowd-5', 'crowd-6']);
  });

  test('one that no thread can be sent fails at once, and the next is written', async () => {
    const unsendable = [Object.assign(() => {}, {})] as unknown as Batch[number]['values'];
    const text = 'insert into meta (name, value) values (?, 1)';
    expect(await failure(send({ text, values: unsendable }))).toBeInstanceOf(Error);
    expect(await send(meta('sent'))).toBe(true);
    expect(await names('sent')).toEqual(['sent']);
  });

  test('wait while another process has the write lock, and hold up no one who reads', async () => {
    const other = outside();
    other.exec('begin immediate');
    const sent = [send(meta('locked-1')), write('locked-2'), send(meta('locked-3'))];
    expect(await names('locked-%')).toEqual([]);
    other.exec('commit');
    await Promise.all(sent);
    expect(await names('locked-%')).toEqual(['locked-1', 'locked-2', 'locked-3']);
  });

  test('who waits too long learns that it is busy, all at once', async () => {
    const other = outside();
    other.exec('begin immediate');
    const errors = await Promise.all(
      Array.from({ length: CROWD }, (_, at) => failure(send(meta(`busy-${at}`)))),
    );
    expect(errors.map((error) => isBusy(error))).toEqual(errors.map(() => true));
    other.exec('commit');
    expect(await names('busy-%')).toEqual([]);
  });

  test('let a transaction end with its own time, however many batches wait with it', async () => {
    await send(meta('starts-the-thread'));
    const other = outside();
    other.exec('begin immediate');
    const waits = failure(write('tx'));
    const many = setInterval(() => void failure(send(meta(`meanwhile-${performance.now()}`))), 500);
    const busy = await waits;
    clearInterval(many);
    other.exec('rollback');
    expect(isBusy(busy)).toBe(true);
    await send(meta('meanwhile'));
    expect(await names('meanwhile')).toEqual(['meanwhile']);
  }, 60_000);

  test('are refused where the file was taken away', async () => {
    await send(meta('before'));
    renameSync(file, `${file}-away`);
    expect(isUnusable(await failure(send(meta('after'))))).toBe(true);
    renameSync(`${file}-away`, file);
    expect(await send(meta('again'))).toBe(true);
  });

  test('a thread that ended says that nothing is known, and the next batch has a new one', async () => {
    const path = join(directory, 'absent.db');
    const thread = openWritingThread({
      file: path,
      timeout: 1_000,
      checkpoint_pages: 100,
      onCommit: () => {},
    });
    expect(isUnusable(await failure(thread.write([meta('one')])))).toBe(true);
    const there = await openDb(`sqlite:${path}`);
    onTestFinished(() => there.close());
    await migrate(there);
    expect(await thread.write([meta('one')])).toBe(true);
    const unknown = { text: 'insert into no_such_table values (?)', values: [1] };
    expect(isUnusable(await failure(thread.write([unknown, meta('two')])))).toBe(true);
    expect(await Promise.all([meta('two'), meta('two')].map((one) => thread.write([one])))).toEqual([
      true,
      false,
    ]);
    await thread.close();
  });
});
