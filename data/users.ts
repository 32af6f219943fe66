// Users: who may sign in. An identity is (source, subject); the books of a deleted one stay.

import type { Db, Executor, Tx } from './db/database.ts';
import { isUniqueViolation } from './db/failures.ts';
import { newId } from './db/ids.ts';
import type { UserRow, UserSource } from './schema/tables.ts';

/** Users with one address that are named; there is at most one of each source. */
const SAME_ADDRESS_SHOWN = 10;

export interface NewUser {
  email: string;
  source: UserSource;
  subject: string;
  password_hash: string | null;
  full_name: string | null;
  is_active: boolean;
  is_superuser: boolean;
  /** Whether mail to the address is known to reach the user. */
  is_proved: boolean;
  /** Unix seconds. */
  now: number;
}

/** Undefined when the identity is taken. */
export async function insertUser(tx: Tx, user: NewUser): Promise<UserRow | undefined> {
  return tx
    .insertInto('users')
    .values({
      id: newId(),
      email: user.email,
      source: user.source,
      subject: user.subject,
      password_hash: user.password_hash,
      full_name: user.full_name,
      is_active: user.is_active ? 1 : 0,
      is_superuser: user.is_superuser ? 1 : 0,
      token_version: 1,
      created_at: user.now,
      deleted_at: null,
      email_proved_at: user.is_proved ? user.now : null,
      pending_email: null,
    })
    .onConflict((conflict) => conflict.columns(['source', 'subject']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** A living user. */
export function getUser(query: Executor, id: string): Promise<UserRow | undefined> {
  return query
    .selectFrom('users')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

export function userByIdentity(
  query: Executor,
  source: UserSource,
  subject: string,
): Promise<UserRow | undefined> {
  return query
    .selectFrom('users')
    .selectAll()
    .where('source', '=', source)
    .where('subject', '=', subject)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Living users with this address, however they sign in. */
export function usersByEmail(query: Executor, email: string): Promise<UserRow[]> {
  return query
    .selectFrom('users')
    .selectAll()
    .where('email', '=', email)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .limit(SAME_ADDRESS_SHOWN)
    .execute();
}

export function hasSuperuser(query: Executor): Promise<boolean> {
  return query
    .selectFrom('users')
    .select('id')
    .where('is_superuser', '=', 1)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
    .then((row) => row !== undefined);
}

/** Living users, newest first, and how many there are. */
export async function listUsers(
  query: Executor,
  skip: number,
  limit: number,
): Promise<{ rows: UserRow[]; count: number }> {
  const living = query.selectFrom('users').where('deleted_at', 'is', null);
  const rows = await living
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(skip)
    .execute();
  const counted = await living.select((of) => of.fn.countAll().as('count')).executeTakeFirstOrThrow();
  return { rows, count: Number(counted.count) };
}

/** What may change of a user. */
export type UserChange = Partial<Omit<UserRow, 'id' | 'source' | 'created_at'>>;

/** False when the new identity is taken. A change that ends the tokens sets `token_version` to the next number. */
export async function updateUser(query: Executor, id: string, values: UserChange): Promise<boolean> {
  try {
    await query.updateTable('users').set(values).where('id', '=', id).execute();
    return true;
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    throw error;
  }
}

/**
 * Compare-and-set on the token version, which ends the tokens, and an address that was asked for: by whom, is not known. False
 * when something else ended them first.
 */
export async function setPassword(
  query: Executor,
  user: Pick<UserRow, 'id' | 'token_version'>,
  password_hash: string,
): Promise<boolean> {
  const result = await query
    .updateTable('users')
    .set({ password_hash, token_version: user.token_version + 1, pending_email: null })
    .where('id', '=', user.id)
    .where('token_version', '=', user.token_version)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/**
 * Records that the user answered mail to `email`, and makes it the user's address where it was asked for; the tokens end.
 * Compare-and-set: false where the address no longer waits for that, or something else ended the tokens first. Throws a unique violation where another user has it by now.
 */
export async function proveEmail(
  query: Executor,
  user: Pick<UserRow, 'id' | 'pending_email' | 'token_version'>,
  email: string,
  now: number,
): Promise<boolean> {
  const proved = { email_proved_at: now, token_version: user.token_version + 1 };
  const update = query
    .updateTable('users')
    .where('id', '=', user.id)
    .where('token_version', '=', user.token_version)
    .where('deleted_at', 'is', null);
  const result = await (user.pending_email === email
    ? update.set({ ...proved, email, subject: email, pending_email: null }).where('pending_email', '=', email)
    : update.set(proved).where('email', '=', email).where('email_proved_at', 'is', null)
  ).executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Ids of all who may act as superuser; locked on PostgreSQL, so that two of them cannot remove each other. */
export async function lockSuperusers(db: Db, tx: Tx): Promise<string[]> {
  const select = tx
    .selectFrom('users')
    .select('id')
    .where('is_superuser', '=', 1)
    .where('is_active', '=', 1)
    .where('deleted_at', 'is', null)
    .orderBy('id');
  const rows = await (db.dialect === 'postgres' ? select.forUpdate() : select).execute();
  return rows.map((row) => row.id);
}

/** Blanks the identity, so that it can be used again; invoices, income and ledger keep pointing at the row. */
export async function deleteUser(tx: Tx, user: UserRow, now: number): Promise<void> {
  await tx
    .updateTable('users')
    .set({
      email: `deleted-${user.id}@invalid`,
      subject: `deleted:${user.id}`,
      password_hash: null,
      pending_email: null,
      email_proved_at: null,
      full_name: null,
      is_active: 0,
      is_superuser: 0,
      token_version: user.token_version + 1,
      deleted_at: now,
    })
    .where('id', '=', user.id)
    .execute();
}
