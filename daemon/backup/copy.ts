// The copy of a SQLite file that an upgrade makes, read as if it were a backup: the way one step back.
import { createReadStream, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { findMeta } from '../../data/meta.ts';
import { stepsDone } from '../../data/migrations/migrate.ts';
import { VERSION } from '../process/version.ts';
import { newHeader, type OpenBackup } from './container.ts';

/** Every SQLite file begins so. */
const MAGIC = 'SQLite format 3\0';

/** Null where the file, which is open, is none of SQLite. Rejects with DatabaseError where it is damaged, or closed to this user. */
export async function readCopy(file: string, handle: number): Promise<OpenBackup | null> {
  if (!isSqlite(handle)) return null;
  const books = await openSnapshot(`sqlite:${file}`);
  try {
    const schema = await stepsDone(books.query);
    const network = (await findMeta(books.query, 'network')) ?? '';
    const created_at = Math.floor((await stat(file)).mtimeMs / 1000);
    return {
      header: newHeader({ created_at, gatewayd: VERSION, kind: 'sqlite', network, schema }, false),
      unlock: async () => ({ first: Buffer.from(JSON.stringify({ secret: null })), rest: contentsOf(file) }),
    };
  } finally {
    await books.close();
  }
}

function isSqlite(handle: number): boolean {
  const start = Buffer.alloc(MAGIC.length);
  // From its beginning, and the position stays: it is read from there afterwards.
  readSync(handle, start, 0, MAGIC.length, 0);
  return start.toString('latin1') === MAGIC;
}

/** Packed as what a backup contains. */
async function* contentsOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file).pipe(createGzip({ level: 1 })) as AsyncIterable<Buffer>;
}
