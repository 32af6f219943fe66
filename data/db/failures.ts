// What became of a statement that failed: the databases name it differently, and a lost connection has no name at all.

/** The connection to PostgreSQL broke, or never came to be: what was under way may have been written, or not. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

/** A database that must not be used; the message says what to do. The daemon exits with 78. */
export class DatabaseError extends Error {
  override name = 'DatabaseError';
}

/** A server that cannot be reached now, or takes no one yet: it may be there in a moment. */
export class DatabaseAway extends DatabaseError {
  override name = 'DatabaseAway';
}

/** The daemon may store nothing any more, for the schema has become one that it does not know. */
export class Fenced extends Error {
  override name = 'Fenced';
  constructor() {
    super('nothing is stored by this daemon any more: the schema of the database is newer than it knows');
  }
}

/** What the databases name their errors by; other errors may carry a number of that name. */
export function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** What was found without a lock had changed before it was locked: its transaction is begun again. */
export class Overtaken extends Error {
  override name = 'Overtaken';
}

/** Sockets and DNS, a server that starts or stops (57P), has no connection left (53300), or broke off (08). */
const AWAY =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOST(UNREACH|DOWN)|ENET(UNREACH|DOWN)|ENOTFOUND|EAI_AGAIN|57P|53300$|08)/;
/** The driver's own words for a server that did not answer; they have no code. */
const UNANSWERED = /timeout|terminated/i;

const UNANSWERED_IN_TIME = /timeout/i;

/** What the operator can do about a server that refuses; by SQLSTATE. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'set the right user and password in database_url',
  '28000': 'let this user in (pg_hba.conf), or set another one in database_url',
  '3D000': 'create it (createdb), or set the right name in database_url',
  '42501': 'grant this user CONNECT on it, or set another user in database_url',
};

/** What a connection that PostgreSQL refused, or did not answer, means to the operator. */
export function serverFault(error: unknown): DatabaseError {
  const code = codeOf(error);
  const reason = (error as Error).message || code;
  const remedy = REMEDIES[code];
  if (remedy) return new DatabaseError(`PostgreSQL refuses (${reason}); ${remedy}`);
  const Failure = isAway(error) ? DatabaseAway : DatabaseError;
  return new Failure(`PostgreSQL cannot be reached (${reason}); check database_url`);
}

/** Whether a connection came to nothing for a reason that may pass without anyone's help. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  return code === '' ? UNANSWERED.test(String((error as Error).message)) : AWAY.test(code);
}

/** Deadlock and serialisation failure: nothing was done, the same transaction may be tried again. */
export function isRetryable(error: unknown): boolean {
  return error instanceof Overtaken || ['40P01', '40001'].includes(codeOf(error));
}

/** Whether a unique or primary key refused the row. */
export function isUniqueViolation(error: unknown): boolean {
  return ['23505', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'].includes(codeOf(error));
}

/** SQLite's write lock, or PostgreSQL out of connections, restarting, away, or waiting for a lock or for too long. */
const BUSY = /^(SQLITE_(BUSY|LOCKED)|08|53300$|57|55P03$|40P01$|40001$|25P0[34]$)/;

/** Whether the database asked to come back later, or cannot be reached now. */
export function isBusy(error: unknown): boolean {
  return error instanceof ConnectionLost || error instanceof Overtaken || BUSY.test(codeOf(error));
}

/**
 * No room on the disk (SQLITE_FULL, 53), its files fail or may not be written (SQLITE_…, 58), a replica or a standby
 * (25006), a role that may not (42501), sign-in (28), a database that is gone (3D000).
 */
const UNUSABLE = /^(SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM|AUTH)|53|58|25006$|42501$|28|3D000$)/;

/** Whether the database refuses until the operator has fixed something: nothing was written, reading may continue. */
export function isUnusable(error: unknown): boolean {
  return !isBusy(error) && UNUSABLE.test(codeOf(error));
}

/** What keeps the database from being used, as its operator has to know it. */
export type DatabaseFault = 'away' | 'full' | 'read_only' | 'failing';

/** A server that refuses who comes, or a database that is gone, is away as well. */
const NOT_THERE = /^(28|3D000$)/;
const FULL = /^(SQLITE_FULL|53100)$/;
const READ_ONLY = /^(SQLITE_(READONLY|PERM)|25006$|42501$)/;

/**
 * What an error says of the database: `busy` where it says only that others are at work, or that no answer came in time; null where it
 * says nothing of the kind.
 */
export function faultOf(error: unknown): DatabaseFault | 'busy' | null {
  const code = codeOf(error);
  if (error instanceof ConnectionLost) return UNANSWERED_IN_TIME.test(error.message) ? 'busy' : 'away';
  if (isAway(error) || NOT_THERE.test(code)) return 'away';
  if (isBusy(error)) return 'busy';
  if (FULL.test(code)) return 'full';
  if (READ_ONLY.test(code)) return 'read_only';
  return isUnusable(error) ? 'failing' : null;
}
