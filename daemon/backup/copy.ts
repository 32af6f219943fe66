// The copy of a SQLite file that an upgrade makes, read as if it were a backup: the way one step back.
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { findMeta } from '../../data/meta.ts';
import { stepsDone } from '../../data/migrations/migrate.ts';
import { VERSION } from '../process/version.ts';
import { newHeader, type OpenBackup } from './container.ts';

/** Every SQLite file begins so. */
const MAGIC = 'SQLite format 3\0';

/** Null where the file is none of SQLite. Rejects as `open` does where it cannot be read, and with DatabaseError where it is damaged. */
export async function readCopy(file: string): Promise<OpenBackup | null> {
  if (!(await isSqlite(file))) return null;
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

async function isSqlite(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return bytesRead === MAGIC.length && buffer.toString('latin1') === MAGIC;
  } finally {
    await handle.close();
  }
}

/** Packed as what a backup contains. */
async function* contentsOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file).pipe(createGzip({ level: 1 })) as AsyncIterable<Buffer>;
}
