// A database that is fenced stores nothing more of this process, by whatever way it is asked, and is still read.
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Fenced } from '../../data/db/failures.ts';
import { insertInvoice } from '../../data/invoices.ts';
import { changeMeta, findMeta } from '../../data/meta.ts';
import { schemaStanding } from '../../data/migrations/migrate.ts';
import { databases, openDatabase } from '../helpers/database.ts';
import { newInvoice } from '../helpers/rows.ts';
import { verifies } from '../requirements.ts';

describe.each(databases)('on %s', (database) => {
  const open = async () => {
    const opened = await openDatabase(database);
    onTestFinished(() => opened.stop());
    return opened;
  };

  test('a fence refuses whatever would be stored, also at the end of a transaction that was begun before', async () => {
    verifies('outdated');
    const { db, another } = await open();
    const other = await another();
    await changeMeta(db.query, 'before', '1');
    const begun = db.transaction(async (tx) => {
      await changeMeta(tx, 'begun', '1');
      db.fence();
    });
    await expect(begun).rejects.toThrow(Fenced);
    await expect(changeMeta(db.query, 'later', '1')).rejects.toThrow(Fenced);
    await expect(db.statement((on) => changeMeta(on, 'later', '1'))).rejects.toThrow(Fenced);
    await expect(db.transaction((tx) => insertInvoice(tx, newInvoice({})))).rejects.toThrow(Fenced);
    await expect(db.query.deleteFrom('meta').where('name', '=', 'before').execute()).rejects.toThrow(Fenced);
    if (db.batch)
      await expect(
        db.batch([{ text: 'insert into meta (name, value) values (?, ?)', values: ['later', '1'] }]),
      ).rejects.toThrow(Fenced);
    expect(await findMeta(db.query, 'before')).toBe('1');
    for (const name of ['begun', 'later']) expect(await findMeta(other.query, name)).toBeUndefined();
    expect(await changeMeta(other.query, 'later', '1')).toBe(true);
  });

  test('a newer schema is compatible where each step that is not known is marked so', async () => {
    verifies('outdated');
    const { db } = await open();
    const step = (name: string) =>
      sql`insert into kysely_migration (name, timestamp) values (${name}, '')`.execute(db.query);
    const mark = (name: string) => changeMeta(db.query, `compatible_step:${name}`, '1');
    expect(await schemaStanding(db.query)).toEqual({ state: 'ok', step: null });
    await mark('9001-one');
    expect((await schemaStanding(db.query)).state).toBe('ok');
    await step('9001-one');
    expect(await schemaStanding(db.query)).toEqual({ state: 'newer', step: '9001-one' });
    await step('9002-two');
    expect(await schemaStanding(db.query)).toEqual({ state: 'incompatible', step: '9002-two' });
    await step('9003-three');
    await mark('9003-three');
    expect(await schemaStanding(db.query)).toEqual({ state: 'incompatible', step: '9002-two' });
    await mark('9002-two');
    expect(await schemaStanding(db.query)).toEqual({ state: 'newer', step: '9003-three' });
    await db.query
      .deleteFrom('kysely_migration' as never)
      .where('name' as never, '=', '0001-foundation' as never)
      .execute();
    expect((await schemaStanding(db.query)).state).toBe('incompatible');
  });
});
