// Whether the database takes writes: a small one is made.
import { sql } from 'kysely';
import type { Db, Executor } from './db/database.ts';
import { codeOf } from './db/failures.ts';
import { openDb } from './db/open.ts';

/** This role may make no temporary table: that says nothing of the disk. */
const MAKES_NONE = '42501';

/**
 * Writes one row, durably; throws what the database says. On PostgreSQL a row fits into room that its table has already, also
 * where the disk has none left: with `grows` new room is needed there. A commit of SQLite always makes its log longer, or
 * writes where that is long enough for what others write.
 */
export async function tryWrite(
  db: Pick<Db, 'dialect' | 'statement' | 'transaction'>,
  { now, grows }: { now: number; grows: boolean },
): Promise<void> {
  if (!grows || db.dialect === 'sqlite') return db.statement((on) => writeRow(on, now));
  try {
    await db.transaction(async (tx) => {
      await takeRoom(tx);
      await writeRow(tx, now);
    });
  } catch (error) {
    if (codeOf(error) !== MAKES_NONE) throw error;
    await db.statement((on) => writeRow(on, now));
  }
}

/**
 * In a new file on the disk of the database. No one else can have a lock on it: what would need one of a table that all have
 * waits for dumps here, and stops the replay of a standby where one reads there.
 */
async function takeRoom(tx: Executor): Promise<void> {
  await sql`set local temp_tablespaces = ''`.execute(tx);
  await sql`create temporary table room on commit drop as select 1 as one`.execute(tx);
}

/** The same on a database that is opened for it; its schema is of today. */
export async function tryWriteAt(url: string, now: number): Promise<void> {
  const db = await openDb(url);
  try {
    await tryWrite(db, { now, grows: true });
  } finally {
    await db.close();
  }
}

async function writeRow(on: Executor, now: number): Promise<void> {
  await on
    .insertInto('write_probes')
    .values({ id: 1, written_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ written_at: now }))
    .execute();
}
