// What a backup holds, put where it can be examined before it counts: a file of SQLite, or rows of PostgreSQL.
import { createWriteStream, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { loadRows } from '../../data/backup.ts';
import { type Executor, openDb } from '../../data/db/open.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { VerifyContext } from '../../data/verify/law.ts';
import { type LawResult, verifyLaws } from '../../data/verify/verify.ts';
import { CommandError, EXIT } from '../process/failure.ts';
import type { Config } from '../settings/config.ts';
import { verifyInput } from '../verify/books.ts';
import { mib, SPARE_BYTES } from './backup.ts';
import { damaged } from './container.ts';

const FILE_MODE = 0o600;
/** Written until it is asked again how much room is left. */
const LOOK_BYTES = 16 * 1024 * 1024;

export interface DraftOptions {
  config: Config;
  /** Unix seconds. */
  now: number;
  /** Calls it off. */
  signal?: AbortSignal | undefined;
}

/** Writes the file of a SQLite backup. With `is_guest` it shares its disk with a daemon, which is left enough of it. */
export async function writeDraft(
  rest: AsyncIterable<Buffer>,
  draft: string,
  { signal, is_guest = false }: { signal?: AbortSignal | undefined; is_guest?: boolean },
): Promise<void> {
  const limited = async function* (chunks: AsyncIterable<Buffer>) {
    let unlooked = LOOK_BYTES;
    for await (const chunk of chunks) {
      unlooked += chunk.length;
      if (is_guest && unlooked >= LOOK_BYTES) {
        assertSpare(dirname(draft));
        unlooked = 0;
      }
      yield chunk;
    }
  };
  await pipeline(
    rest,
    createGunzip(),
    limited,
    createWriteStream(draft, { flags: 'wx', mode: FILE_MODE, flush: true }),
    { signal },
  ).catch(refuseContents);
}

/** Throws CommandError where what is in a backup is not packed, or no rows; else what it is given. */
function refuseContents(error: unknown): never {
  const { code = '' } = error as { code?: string };
  if (/^Z_/.test(code) || error instanceof SyntaxError) throw damaged('its contents cannot be read');
  throw error;
}

function assertSpare(directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < SPARE_BYTES + LOOK_BYTES)
    throw new CommandError(
      `no room for the contents of the backup in ${directory}: ${mib(SPARE_BYTES)} MiB are left to the daemon; nothing was left there`,
      EXIT.io,
    );
}

/** Brings a draft up to date. Throws CommandError where what was backed up is no whole database. */
export async function bringUpToDate(url: string): Promise<void> {
  try {
    const db = await openDb(url);
    await migrate(db).finally(() => db.close());
  } catch (error) {
    const { message } = error as Error;
    if (!/malformed|not a database|corrupt/.test(message)) throw error;
    throw new CommandError(
      `the database in this backup was damaged when it was made: ${message}`,
      EXIT.broken_data,
    );
  }
}

/**
 * Puts the rows of a backup into the tables of a schema that was just made. Where it is called off, nothing is under way any
 * more when it rejects: what followed a rollback would be outside of its transaction.
 */
export async function fillRows(
  query: Executor,
  schema: string,
  { rest, signal }: { rest: AsyncIterable<Buffer>; signal?: AbortSignal | undefined },
): Promise<void> {
  let loading: Promise<void> = Promise.resolve();
  const load = (chunks: AsyncIterable<Buffer>) => {
    loading = loadRows(query, schema, linesIn(chunks));
    return loading;
  };
  try {
    await pipeline(rest, createGunzip(), load, { signal }).catch(refuseContents);
  } finally {
    await loading.catch(() => undefined);
  }
}

async function* linesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let left = '';
  for await (const chunk of chunks) {
    const lines = (left + decoder.decode(chunk, { stream: true })).split('\n');
    left = lines.pop() ?? '';
    yield* lines;
  }
}

/** Why the laws of what a secret seals are left out, where they are. */
type Without = Exclude<VerifyContext['secrets'], { check: string }> | undefined;

/** How the laws of the books stand in a file. */
export async function lawsOfFile(
  url: string,
  { config, now }: DraftOptions,
  without?: Without,
): Promise<LawResult[]> {
  const books = await openSnapshot(url);
  try {
    const input = await verifyInput(books, config, now);
    return await verifyLaws(without === undefined ? input : { ...input, secrets: without });
  } finally {
    await books.close();
  }
}

/** The same of rows that are not committed. */
export async function lawsOfRows(
  query: Executor,
  { config, now }: DraftOptions,
  without?: Without,
): Promise<LawResult[]> {
  const input = await verifyInput({ dialect: 'postgres', query }, config, now);
  return verifyLaws(without === undefined ? input : { ...input, secrets: without });
}
