// Users: signing up, oneself, and their management by a superuser.
import { listUsers } from '../../data/users.ts';
import type { users as list } from '../../src/api/endpoints/users.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import { Refusal } from '../../src/errors.ts';
import { admit } from '../accounts/admission.ts';
import { presentUser } from '../accounts/present.ts';
import {
  changePassword,
  deleteSelf,
  deleteUser,
  findUser,
  register,
  updateSelf,
  updateUser,
} from '../accounts/users.ts';
import type { Handlers } from '../http/handler.ts';

export const users: Handlers<typeof list> = {
  async signup({ body }, { app }) {
    await admit(app, body.email, body.invite);
    const row = await register(app, { ...body, is_active: true, is_superuser: false });
    if (!row) throw new Refusal('user_exists');
    return presentUser(row);
  },

  getMe: (_, { user }) => presentUser(user),

  async updateMe({ body }, { app, user }) {
    return presentUser(await updateSelf(app, user, body));
  },

  async deleteMe(_, { app, user }) {
    await deleteSelf(app, user);
    return { message: 'User deleted successfully' };
  },

  async updateMyPassword({ body }, { app, user }) {
    await changePassword(app, user, body);
    return { message: 'Password updated successfully' };
  },

  async listUsers({ query }, { app }) {
    const { rows, count } = await app.db.readList((on) => listUsers(on.query, query.skip, query.limit));
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
    return presentUser(await findUser(app, params.user_id, user));
  },

  async updateUser({ params, body }, { app, log, user: operator }) {
    const { row, changed } = await updateUser(app, params.user_id, body);
    log.warn({ user_id: row.id, changed, operator: operator.id }, 'user changed by a superuser');
    return presentUser(row);
  },

  async deleteUser({ params }, { app, log, user: operator }) {
    await deleteUser(app, params.user_id, operator);
    log.warn({ user_id: params.user_id, operator: operator.id }, 'user deleted by a superuser');
    return { message: 'User deleted successfully' };
  },
};
