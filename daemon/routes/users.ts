// Users: signing up, oneself, and their management by a superuser.
import type { Tx } from '../../data/db/open.ts';
import type { UserRow } from '../../data/schema/tables.ts';
import * as data from '../../data/users.ts';
import type { users as list } from '../../src/api/endpoints/users.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import { Refusal } from '../../src/errors.ts';
import { createAccount, refuseForeignIdentity, refuseForeignUser } from '../accounts/create.ts';
import { hashPassword, verifyPassword } from '../accounts/passwords.ts';
import { presentUser } from '../accounts/present.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { Handlers } from '../http/handler.ts';

export const users: Handlers<typeof list> = {
  async signup({ body }, { app }) {
    const row = await register(app, { ...body, is_active: true, is_superuser: false });
    if (!row) throw new Refusal('user_exists');
    return presentUser(row);
  },

  getMe: (_, { user }) => presentUser(user),

  async updateMe({ body }, { app, user }) {
    const values = { ...nameOf(body.full_name), ...identityOf(user, body.email) };
    return presentUser(await update(app, user, values));
  },

  async deleteMe(_, { app, user }) {
    if (user.is_superuser) throw new Refusal('superuser_self_delete');
    await app.db.transaction((tx) => data.deleteUser(tx, user, seconds(app.clock)));
    return { message: 'User deleted successfully' };
  },

  async updateMyPassword({ body }, { app, user }) {
    refuseForeignUser(user, 'password');
    if (!(await verifyPassword(user.password_hash, body.current_password)))
      throw new Refusal('incorrect_password');
    if (body.current_password === body.new_password) throw new Refusal('same_password');
    const password_hash = await hashPassword(body.new_password);
    // Another change came first: what was verified is no longer the password.
    if (!(await data.setPassword(app.db.query, user, password_hash))) throw new Refusal('incorrect_password');
    return { message: 'Password updated successfully' };
  },

  async listUsers({ query }, { app }) {
    const { rows, count } = await data.listUsers(app.db.query, query.skip, query.limit);
    return { data: rows.map(presentUser), count };
  },

  async createUser({ body }, { app }) {
    const row = await register(app, body);
    if (!row)
      throw new Refusal('user_exists', {
        detail: 'The user with this email already exists in the system.',
        extra: { hint: 'Change that user, or take another address', next: nextCall('listUsers') },
      });
    return presentUser(row);
  },

  async getUser({ params }, { app, user }) {
    if (params.user_id === user.id) return presentUser(user);
    // Whether the id exists is told to superusers only.
    if (!user.is_superuser) throw new Refusal('not_superuser');
    const row = await data.getUser(app.db.query, params.user_id);
    if (!row) throw noSuchUser();
    return presentUser(row);
  },

  async updateUser({ params, body }, { app, log, user: operator }) {
    const { email, full_name, password, is_active, is_superuser } = body;
    const user = await data.getUser(app.db.query, params.user_id);
    if (!user) throw noSuchUser('The user with this id does not exist in the system');
    const values: data.UserChange = { ...nameOf(full_name), ...identityOf(user, email) };
    if (password != null) {
      refuseForeignUser(user, 'password');
      values.password_hash = await hashPassword(password);
    }
    if (is_active != null) values.is_active = is_active ? 1 : 0;
    if (is_superuser != null) values.is_superuser = is_superuser ? 1 : 0;
    if (password != null || is_active === false) values.token_version = user.token_version + 1;
    const row = await update(app, user, values);
    const changed = Object.keys(values).filter((name) => name !== 'token_version');
    log.warn({ user_id: user.id, changed, operator: operator.id }, 'user changed by a superuser');
    return presentUser(row);
  },

  async deleteUser({ params }, { app, log, user: operator }) {
    const user = await data.getUser(app.db.query, params.user_id);
    if (!user) throw noSuchUser();
    if (user.id === operator.id) throw new Refusal('superuser_self_delete');
    await app.db.transaction(async (tx) => {
      if (user.is_superuser) await keepOneSuperuser(app, tx, user);
      await data.deleteUser(tx, user, seconds(app.clock));
    });
    log.warn({ user_id: user.id, operator: operator.id }, 'user deleted by a superuser');
    return { message: 'User deleted successfully' };
  },
};

/** What a superuser is told who named a user that is not there. */
const noSuchUser = (detail?: string): Refusal =>
  new Refusal('user_not_found', {
    ...(detail === undefined ? {} : { detail }),
    extra: { hint: 'List the users', next: nextCall('listUsers') },
  });

interface Registration {
  email: string;
  password: string;
  full_name?: string | null | undefined;
  is_active: boolean;
  is_superuser: boolean;
}

/** Undefined where the address is taken. */
async function register(app: App, body: Registration): Promise<UserRow | undefined> {
  refuseForeignIdentity(body.email);
  const { email, is_active, is_superuser, full_name = null } = body;
  const password_hash = await hashPassword(body.password);
  return createAccount(app, {
    email,
    source: 'email',
    subject: email,
    password_hash,
    full_name,
    is_active,
    is_superuser,
  });
}

/** Null removes the name, nothing keeps it. */
const nameOf = (full_name: string | null | undefined) => (full_name === undefined ? {} : { full_name });

/** A new address is a new identity of a password user; the other users' identities are not ours to change. */
function identityOf(user: UserRow, email: string | null | undefined): data.UserChange {
  if (email == null || email === user.email) return {};
  refuseForeignUser(user, 'mail address');
  refuseForeignIdentity(email);
  return { email, subject: email };
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
