// What follows a transaction: called when it is durable, and not where it came to nothing.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { afterCommit } from '../../data/db/after-commit.ts';
import type { Db, Executor } from '../../data/db/open.ts';
import { databases, type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { addMerchant } from '../helpers/rows.ts';

describe.each(databases)('what follows a transaction on %s', (database) => {
  let fresh: OpenDatabase;
  let db: Db;
  let id: string;
  beforeAll(async () => {
    fresh = await openDatabase(database);
    db = fresh.db;
    id = await addMerchant(db, 'shop');
  });
  afterAll(() => fresh.stop());

  const touch = (on: Executor) => sql`update merchants set id = id where id = ${id}`.execute(on);

  test('is called once, when it is durable', async () => {
    const order: string[] = [];
    await db.transaction(async (tx) => {
      afterCommit(tx, () => order.push('followed'));
      await touch(tx);
      order.push('written');
    });
    expect(order).toEqual(['written', 'followed']);
  });

  test('is called after a statement that is a transaction of its own', async () => {
    const order: string[] = [];
    // One that came before on the same connection hears nothing of it.
    await db.transaction(touch);
    await Promise.all(
      ['one', 'other'].map((name) =>
        db.statement(async (on) => {
          await touch(on);
          order.push(`${name} written`);
          afterCommit(on, () => order.push(`${name} followed`));
          if (database === 'sqlite') expect(order).not.toContain(`${name} followed`);
        }),
      ),
    );
    expect(order.toSorted()).toEqual(['one followed', 'one written', 'other followed', 'other written']);
  });

  test('is not called where it came to nothing', async () => {
    let is_called = false;
    const failing = db.transaction(async (tx) => {
      afterCommit(tx, () => {
        is_called = true;
      });
      await touch(tx);
      throw new Error('on purpose');
    });
    await expect(failing).rejects.toThrow('on purpose');
    expect(is_called).toBe(false);
  });
});
