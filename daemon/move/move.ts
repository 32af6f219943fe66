// Moves a gateway from SQLite to PostgreSQL: all rows in one transaction there, which counts once both sides are found to be equal.
import { hasNoTables, loadRows, presentSchema } from '../../data/backup.ts';
import { ConnectionLost, codeOf, isUnusable } from '../../data/db/failures.ts';
import { DatabaseAway, type Db, type Executor, openDb } from '../../data/db/open.ts';
import type { Snapshot } from '../../data/db/snapshot.ts';
import { findMeta, forgetMeta, LAST_BACKUP_AT } from '../../data/meta.ts';
import { knowsSteps, LAST_STEP, migrateFilled, stepsDone } from '../../data/migrations/migrate.ts';
import {
  digestsOf,
  linesFromSqlite,
  type MovedTable,
  movedTables,
  schemaDifferences,
  type TableDigest,
} from '../../data/move.ts';
import { SECRET_CHECK } from '../../data/secret.ts';
import { type LawResult, verifyLaws } from '../../data/verify/verify.ts';
import { CommandError, EXIT } from '../process/failure.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { openBooks, verifyInput } from '../verify/books.ts';
import { endMove, findMark, type Mark, MOVED_FROM, MOVED_TO, MOVING_FROM, putMark, timeOf } from './mark.ts';

export interface MoveOptions {
  /** Of the gateway as it is; its `database_url` is of SQLite, and no daemon runs on it. */
  config: Config;
  /** `postgres://…` */
  to: string;
  /** Both databases without passwords, for people. */
  places: { from: string; to: string };
  /** That no other move has. */
  id: string;
  /** Moves books in which laws are broken already. */
  accept_broken: boolean;
  /** Unix seconds. */
  now: number;
  /** Calls it off; once PostgreSQL has committed it has no effect. */
  signal?: AbortSignal | undefined;
  /** Called with what is being done. */
  onStep?: ((says: string) => void) | undefined;
}

export interface Moved {
  /** Whether the gateway is in the new database now: else a law was broken, and nothing was changed. */
  moved: boolean;
  /** What the tables of both databases hold; none where only the last step of an earlier move was left. */
  tables: TableDigest[];
  /** Of the books as they were, and as they are there. */
  laws: { from: LawResult[]; to: LawResult[] };
}

/**
 * Moves a gateway into a PostgreSQL database that is empty, or in which a move of the same gateway was begun. Throws ConfigError for
 * any other, DatabaseAway where there is no answer, CommandError where the sides differ: then neither has changed. Whenever it is
 * killed, running it again ends it; until the new database is whole, the old one stays as it was.
 */
export async function moveToPostgres(options: MoveOptions): Promise<Moved> {
  const { config, to, onStep } = options;
  const books = await openBooks(config);
  try {
    const db = await openDb(to);
    try {
      const marked = await findMark(books.query, MOVED_TO);
      if (marked) return await endBegun(db, marked);
      const moved = await copy(options, books, db);
      if (!moved.moved) return moved;
      onStep?.('marking the old database');
      await markOld(options);
      await endMove(db.query, markOf(options));
      return moved;
    } catch (error) {
      throw faultOf(error);
    } finally {
      await db.close();
    }
  } finally {
    await books.close();
  }
}

/** What the operator can do about a server that broke off, or takes no more. */
function faultOf(error: unknown): unknown {
  const { message } = error as Error;
  if (error instanceof ConnectionLost)
    return new DatabaseAway(
      `the connection to PostgreSQL broke off (${message}); run the same command again: it begins again, or does the last step`,
    );
  if (codeOf(error).startsWith('42501'))
    return new ConfigError(
      `PostgreSQL refuses (${message}); make its user the owner of the database (createdb -O)`,
    );
  if (!codeOf(error).startsWith('SQLITE') && isUnusable(error))
    return new CommandError(`PostgreSQL takes nothing (${message}); nothing was changed`, EXIT.io);
  return error;
}

/** From here on no daemon starts on it, while none starts on the new one yet. */
async function markOld({ config, id, places, now }: MoveOptions): Promise<void> {
  const old = await openDb(config.database_url);
  await putMark(old.query, MOVED_TO, { id, place: places.to, at: now }).finally(() => old.close());
}

const markOf = ({ id, places, now }: MoveOptions): Mark => ({ id, place: places.from, at: now });

/** Of a gateway that has left its old database: does the last step, where this is where it went and that step is left. */
async function endBegun({ query }: Db, marked: Mark): Promise<Moved> {
  const is_gateway = (await stepsDone(query)).length > 0;
  const moving = is_gateway ? await findMark(query, MOVING_FROM) : undefined;
  if (moving?.id === marked.id) {
    await endMove(query, moving);
    return { moved: true, tables: [], laws: { from: [], to: [] } };
  }
  const moved = is_gateway ? await findMark(query, MOVED_FROM) : undefined;
  const is_there = moved?.id === marked.id;
  throw new ConfigError(
    `this gateway was moved to ${is_there ? 'that database' : marked.place} at ${timeOf(marked)} already: set database_url to it and start the daemon${is_there ? '' : ', or take the move back with `gatewayd move --back` first'}`,
  );
}

/** All of it in one transaction, or nothing. */
async function copy(options: MoveOptions, books: Snapshot, db: Db): Promise<Moved> {
  const { config, now, accept_broken, signal, onStep } = options;
  const assertFree = async (query: Executor) =>
    assertEmptyOrOurs(query, await findMeta(books.query, SECRET_CHECK));
  // Before the laws are asked, which takes its time, and again when no one else can fill it.
  await assertFree(db.query);
  const verified = async (of: Pick<Snapshot, 'dialect' | 'query' | 'damages'>, side: string) =>
    verifyLaws(await verifyInput(of, config, now), {
      onLaw(law, title) {
        signal?.throwIfAborted();
        onStep?.(`law ${law} in ${side}: ${title}`);
      },
    });
  const laws = { from: await verified(books, 'SQLite'), to: [] as LawResult[] };
  const done: Moved = { moved: false, tables: [], laws };
  if (!accept_broken && laws.from.some(({ ok }) => !ok)) return done;
  let tables: MovedTable[] = [];
  await migrateFilled(db, LAST_STEP, {
    assertFree,
    async fill(query) {
      tables = await tablesFor(books.query, query);
      await fill(query, books.query, { tables, digests: done.tables, options });
    },
    async accept(query) {
      await assertEqual(query, { tables, digests: done.tables, options });
      laws.to = await verified({ dialect: 'postgres', query }, 'PostgreSQL');
      if (isWorse(laws)) return false;
      // No backup of the old database could be restored into this one.
      await forgetMeta(query, LAST_BACKUP_AT);
      await putMark(query, MOVING_FROM, markOf(options));
      signal?.throwIfAborted();
      done.moved = true;
      return true;
    },
  });
  return done;
}

/** Whether a law is broken there by more than broke it here, or could be asked less. */
const isWorse = ({ from, to }: Moved['laws']): boolean =>
  to.some(({ law, count, unchecked }) => {
    const before = from.find((one) => one.law === law);
    return before === undefined || count > before.count || unchecked.length > before.unchecked.length;
  });

/** Begun moves of this gateway leave nothing that anyone relies on: no daemon starts there. */
async function assertEmptyOrOurs(query: Executor, secret_check: string | undefined): Promise<void> {
  if (await hasNoTables(query)) return;
  const another = 'make another one with createdb, and name it in --to';
  const steps = await stepsDone(query);
  if (steps.length === 0)
    throw new ConfigError(`the database of --to has tables that are not of gatewayd; ${another}`);
  if (!knowsSteps(steps))
    throw new ConfigError(
      `the database of --to was written by a newer gatewayd (schema ${steps.at(-1)}); ${another}`,
    );
  const moved = await findMark(query, MOVED_FROM);
  if (moved)
    throw new ConfigError(
      `a gateway was moved into the database of --to at ${timeOf(moved)}, and may be in use there; where it is this one, and that move was taken back, ${another}`,
    );
  if (!(await findMark(query, MOVING_FROM)) || (await findMeta(query, SECRET_CHECK)) !== secret_check)
    throw new ConfigError(`the database of --to has the books of another gateway; ${another}`);
}

/** Throws ConfigError where one side has what the other could not hold. */
async function tablesFor(sqlite: Executor, postgres: Executor): Promise<MovedTable[]> {
  const different = await schemaDifferences(sqlite, postgres);
  if (different.length > 0)
    throw new ConfigError(
      `only one of the databases has ${different.join(', ')}, which is not of gatewayd: take it out of the database first`,
    );
  return movedTables(postgres);
}

interface Copied {
  tables: readonly MovedTable[];
  /** Of the rows that were read, in the order of the tables. */
  digests: TableDigest[];
  options: Pick<MoveOptions, 'signal' | 'onStep'>;
}

async function fill(
  postgres: Executor,
  sqlite: Executor,
  { tables, digests, options }: Copied,
): Promise<void> {
  const { signal, onStep } = options;
  onStep?.('copying');
  const onTable = (digest: TableDigest) => {
    digests.push(digest);
    onStep?.(`copied ${digest.table}: ${digest.rows} rows`);
  };
  try {
    const lines = linesFromSqlite(sqlite, tables, { onTable, signal });
    await loadRows(postgres, await presentSchema(postgres), lines);
  } catch (error) {
    // A value that PostgreSQL cannot hold, or that breaks a constraint: classes 22 and 23.
    if (!/^2[23]/.test(codeOf(error))) throw error;
    throw new CommandError(
      `PostgreSQL refuses a row of ${(error as { table?: string }).table}: ${(error as Error).message}; nothing was changed`,
      EXIT.broken_data,
    );
  }
}

/** Throws CommandError where a table does not hold in PostgreSQL what was read from SQLite. */
async function assertEqual(postgres: Executor, { tables, digests, options }: Copied): Promise<void> {
  const { signal, onStep } = options;
  const different: string[] = [];
  const onTable = ({ table, rows, digest }: TableDigest) => {
    onStep?.(`compared ${table}`);
    const read = digests.find((one) => one.table === table);
    if (read?.rows !== rows || read.digest !== digest) different.push(table);
  };
  await digestsOf(postgres, tables, { onTable, signal });
  if (different.length > 0)
    throw new CommandError(
      `PostgreSQL does not hold what was read of ${different.join(', ')}; nothing was changed`,
      EXIT.broken_data,
    );
}

/** Puts the old database in use again. Throws ConfigError where it was not moved, and where that is not agreed to. */
export async function moveBack(
  { database_url }: Pick<Config, 'database_url'>,
  is_agreed: boolean,
): Promise<Mark> {
  const db = await openDb(database_url);
  try {
    const marked = await findMark(db.query, MOVED_TO);
    if (!marked) throw new ConfigError('this database was not moved: it is in use');
    if (!is_agreed)
      throw new ConfigError(
        `nothing of what was sold since the move to ${marked.place} at ${timeOf(marked)} is in this database. Stop every daemon that runs on that one for good, then run \`gatewayd move --back --yes\``,
      );
    await forgetMeta(db.query, MOVED_TO);
    return marked;
  } finally {
    await db.close();
  }
}
