// Users: signing up, changing oneself, and what a superuser changes of others.
import type { Tx } from '../../data/db/open.ts';
import { eraseMerchant } from '../../data/merchants.ts';
import type { UserRow } from '../../data/schema/tables.ts';
import * as data from '../../data/users.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import { Refusal } from '../../src/errors.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { createAccount, newKey, refuseForeignIdentity, refuseForeignUser } from './create.ts';
import { hashPassword, verifyPassword } from './passwords.ts';

/** Columns that change along with those that a superuser names. */
const DERIVED: ReadonlySet<string> = new Set(['token_version', 'email_proved_at', 'pending_email']);

/** For a superuser that names a user who is not there. */
const noSuchUser = (detail?: string): Refusal =>
  new Refusal('user_not_found', {
    ...(detail === undefined ? {} : { detail }),
    extra: { hint: 'List the users', next: nextCall('listUsers') },
  });

export interface Registration {
  email: string;
  password: string;
  full_name?: string | null | undefined;
  is_active: boolean;
  is_superuser: boolean;
  /** Whether mail to the address is known to reach the user. */
  is_proved: boolean;
}

/** Undefined where the address is taken; `caller` is whose hashes it counts among. */
export async function register(
  app: App,
  body: Registration,
  caller: string | null,
): Promise<UserRow | undefined> {
  refuseForeignIdentity(body.email);
  const { email, is_active, is_superuser, is_proved, full_name = null } = body;
  const password_hash = await hashPassword(body.password, caller);
  return createAccount(app, {
    email,
    source: 'email',
    subject: email,
    password_hash,
    full_name,
    is_active,
    is_superuser,
    is_proved,
  });
}

/** Null removes the name; left out, it stays. */
const nameOf = (full_name: string | null | undefined) => (full_name === undefined ? {} : { full_name });

/** A new address is a new identity of a password user, and ends its tokens; the other users' identities are not ours to change. */
function identityOf(app: App, user: UserRow, email: string | null | undefined): data.UserChange {
  if (email == null || email === user.email) return {};
  refuseForeignUser(user, 'email address');
  refuseForeignIdentity(email);
  const token_version = user.token_version + 1;
  return { email, subject: email, email_proved_at: seconds(app.clock), pending_email: null, token_version };
}

/** What a user changes of its own address: nothing until mail to the new one is answered; the present one withdraws that. */
async function ownIdentityOf(
  app: App,
  user: UserRow,
  email: string | null | undefined,
): Promise<data.UserChange> {
  if (email === user.email && user.pending_email !== null) return { pending_email: null };
  const change = identityOf(app, user, email);
  if (change.email === undefined || app.config.demo) return change;
  if (await data.userByIdentity(app.db.query, 'email', change.email)) throw new Refusal('email_taken');
  return { pending_email: change.email };
}

/** The user after a change. Refuses `email_taken`, and to take away the last superuser. */
async function update(app: App, user: UserRow, values: data.UserChange): Promise<UserRow> {
  if (Object.keys(values).length === 0) return user;
  await app.db.transaction(async (tx) => {
    if (user.is_superuser && (values.is_superuser === 0 || values.is_active === 0))
      await keepOneSuperuser(app, tx, user);
    if (!(await data.updateUser(tx, user.id, values))) throw new Refusal('email_taken');
  });
  const row = await data.getUser(app.db.query, user.id);
  if (!row) throw new Refusal('user_not_found');
  return row;
}

async function keepOneSuperuser(app: App, tx: Tx, leaving: UserRow): Promise<void> {
  const superusers = await data.lockSuperusers(app.db, tx);
  if (superusers.some((id) => id !== leaving.id)) return;
  throw new Refusal('bad_request', { detail: 'At least one active superuser must remain' });
}

/** Changes one's own name, and asks for another address. Refuses with `wrong_identity` or `email_taken`. */
export async function updateSelf(
  app: App,
  user: UserRow,
  { full_name, email }: { full_name?: string | null | undefined; email?: string | null | undefined },
): Promise<UserRow> {
  return update(app, user, { ...nameOf(full_name), ...(await ownIdentityOf(app, user, email)) });
}

/** A key that no one has takes the place of the merchant's. */
async function erase({ clock, secrets }: App, tx: Tx, user: UserRow): Promise<void> {
  await eraseMerchant(tx, user.id, newKey(secrets, user.id));
  await data.deleteUser(tx, user, seconds(clock));
}

/** Refuses with `superuser_self_delete`. */
export async function deleteSelf(app: App, user: UserRow): Promise<void> {
  if (user.is_superuser) throw new Refusal('superuser_self_delete');
  await app.db.transaction((tx) => erase(app, tx, user));
}

/** Refuses with `wrong_identity`, `incorrect_password` or `same_password`. */
export async function changePassword(
  app: App,
  user: UserRow,
  { current_password, new_password }: { current_password: string; new_password: string },
): Promise<void> {
  refuseForeignUser(user, 'password');
  if (!(await verifyPassword(user.password_hash, current_password, user.id)))
    throw new Refusal('incorrect_password');
  if (current_password === new_password) throw new Refusal('same_password');
  const password_hash = await hashPassword(new_password, user.id);
  // Another change came first: what was verified is no longer the password.
  if (!(await data.setPassword(app.db.query, user, password_hash))) throw new Refusal('incorrect_password');
}

/** A superuser may see anyone, everyone else only themselves. Refuses with `not_superuser` or `user_not_found`. */
export async function findUser(app: App, id: string, asking: UserRow): Promise<UserRow> {
  if (id === asking.id) return asking;
  // Whether the id exists is shown to superusers only.
  if (!asking.is_superuser) throw new Refusal('not_superuser');
  const row = await data.getUser(app.db.query, id);
  if (!row) throw noSuchUser();
  return row;
}

interface UserUpdate {
  email?: string | null | undefined;
  full_name?: string | null | undefined;
  password?: string | null | undefined;
  is_active?: boolean | null | undefined;
  is_superuser?: boolean | null | undefined;
}

/**
 * What a superuser changes of a user: the rows before and afterwards, and the names of the columns that were set. A new address,
 * a new password and deactivation end the user's tokens. Refuses with `user_not_found`, `wrong_identity`, `email_taken` or `bad_request`.
 */
export async function updateUser(
  app: App,
  id: string,
  operator: UserRow,
  { email, full_name, password, is_active, is_superuser }: UserUpdate,
): Promise<{ before: UserRow; row: UserRow; changed: string[] }> {
  const user = await data.getUser(app.db.query, id);
  if (!user) throw noSuchUser('The user with this id does not exist in the system');
  const values: data.UserChange = { ...nameOf(full_name), ...identityOf(app, user, email) };
  if (password != null) {
    refuseForeignUser(user, 'password');
    values.password_hash = await hashPassword(password, operator.id);
    values.pending_email = null;
  }
  if (is_active != null) values.is_active = is_active ? 1 : 0;
  if (is_superuser != null) values.is_superuser = is_superuser ? 1 : 0;
  if (password != null || is_active === false) values.token_version = user.token_version + 1;
  const row = await update(app, user, values);
  return { before: user, row, changed: Object.keys(values).filter((name) => !DERIVED.has(name)) };
}

/** Refuses with `user_not_found`, `superuser_self_delete` or, for the last superuser, `bad_request`. */
export async function deleteUser(app: App, id: string, operator: UserRow): Promise<void> {
  const user = await data.getUser(app.db.query, id);
  if (!user) throw noSuchUser();
  if (user.id === operator.id) throw new Refusal('superuser_self_delete');
  await app.db.transaction(async (tx) => {
    if (user.is_superuser) await keepOneSuperuser(app, tx, user);
    await erase(app, tx, user);
  });
}
