// Whether the database takes writes: a small one is made.
import { sql } from 'kysely';
import type { Db, Executor } from './db/database.ts';
import { codeOf } from './db/failures.ts';
import { openDb } from './db/open.ts';

/** The lock of a table that a dump is reading is not waited for longer. */
const LOCK_MS = 1_000;
/** Another has the table, or this role may not empty it: that says nothing of the disk. */
const NOT_EMPTIED = ['55P03', '42501'];

/**
 * Writes one row, durably; throws what the database says. On PostgreSQL a row fits into room that its table has already, also
 * where the disk has none left: with `grows` it needs new room there. A commit of SQLite always makes its log longer, or
 * writes where that is long enough for what others write.
 */
export async function tryWrite(
  db: Pick<Db, 'dialect' | 'statement' | 'transaction'>,
  { now, grows }: { now: number; grows: boolean },
): Promise<void> {
  if (!grows || db.dialect === 'sqlite') return db.statement((on) => writeRow(on, now));
  try {
    await db.transaction(async (tx) => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_MS)}`.execute(tx);
      // Emptied, it has a new file.
      await sql`truncate write_probes`.execute(tx);
      await writeRow(tx, now);
    });
  } catch (error) {
    if (!NOT_EMPTIED.includes(codeOf(error))) throw error;
    await db.statement((on) => writeRow(on, now));
  }
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
