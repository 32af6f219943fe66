// The copy of a SQLite file that an upgrade makes, read as if it were a backup: the way one step back.
import { createReadStream, readSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { findMeta } from '../../data/meta.ts';
import { stepsDone } from '../../data/migrations/migrate.ts';
import { CommandError, EXIT } from '../process/failure.ts';
import { VERSION } from '../process/version.ts';
import { newHeader, type OpenBackup } from './container.ts';

/** Every SQLite file begins so. */
const MAGIC = 'SQLite format 3\0';

/** Null where the file, which is open, is none of SQLite. Rejects with DatabaseError where it is damaged, or closed to this user. */
export async function readCopy(file: string, handle: number): Promise<OpenBackup | null> {
  if (!isSqlite(handle)) return null;
  const books = await openSnapshot(`sqlite:${file}`);
  try {
    assertAlone(file);
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

/** What lies in its log or journal is not in the file. Throws CommandError where there is any. */
function assertAlone(file: string): void {
  const besides = ['-wal', '-journal'].map((suffix) => `${file}${suffix}`);
  const found = besides.find((one) => (statSync(one, { throwIfNoEntry: false })?.size ?? 0) > 0);
  if (found !== undefined)
    throw new CommandError(
      `${file} is a database in use, or one that was not closed: its last changes are in ${found}. Make a backup of it with \`gatewayd backup\` (--database-url sqlite:${file}), and restore that`,
      EXIT.broken_data,
    );
}

/** Packed as what a backup contains. */
async function* contentsOf(file: string): AsyncGenerator<Buffer> {
  // As long as it is read there, no daemon writes into the file itself.
  const books = await openSnapshot(`sqlite:${file}`);
  try {
    assertAlone(file);
    yield* createReadStream(file).pipe(createGzip({ level: 1 })) as AsyncIterable<Buffer>;
  } finally {
    await books.close();
  }
}
