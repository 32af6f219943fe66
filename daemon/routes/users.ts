// Users: signing up, oneself, and their management by a superuser.
import { listUsers } from '../../data/users.ts';
import type { users as list } from '../../src/api/endpoints/users.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import { Refusal } from '../../src/errors.ts';
import { admit } from '../accounts/admission.ts';
import { tellSoon } from '../accounts/changed.ts';
import { sendEmailLink, sendLinkSoon, unprovedEmail } from '../accounts/email-proof.ts';
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
import { languageOfRequest } from '../checkout/language.ts';
import type { Handlers } from '../http/handler.ts';
import { callerOf } from '../http/limits.ts';

/** How soon a mail that failed may be asked for again. */
const MAIL_RETRY_SECONDS = 10;

export const users: Handlers<typeof list> = {
  async signup({ body }, { app, log, request }) {
    const is_invited = await admit(app, body.email, body.invite);
    const is_proved = is_invited || app.config.demo;
    const row = await register(
      app,
      { ...body, is_active: true, is_superuser: false, is_proved },
      callerOf(app, request.ip),
    );
    if (!row) throw new Refusal('user_exists');
    sendLinkSoon(app, row, log, languageOfRequest(request.headers));
    return presentUser(row);
  },

  getMe: (_, { user }) => presentUser(user),

  async updateMe({ body }, { app, user, log, request }) {
    const row = await updateSelf(app, user, body);
    const lang = languageOfRequest(request.headers);
    if (body.email != null && row.pending_email === body.email) sendLinkSoon(app, row, log, lang);
    if (row.email !== user.email) tellSoon(app, user, { what: 'email', log, lang });
    return presentUser(row);
  },

  async sendEmailConfirmation(_, { app, user, log, request }) {
    const address = unprovedEmail(user);
    if (address === null) return { message: `${user.email} is confirmed already` };
    await sendEmailLink(app, user, languageOfRequest(request.headers)).catch((error) => {
      log.error({ err: error }, 'confirmation mail not sent');
      throw new Refusal('mail_failed', { retry_after: MAIL_RETRY_SECONDS });
    });
    return { message: `A link was sent to ${address}` };
  },

  async deleteMe(_, { app, user }) {
    await deleteSelf(app, user);
    return { message: 'User deleted successfully' };
  },

  async updateMyPassword({ body }, { app, user, log, request }) {
    await changePassword(app, user, body);
    tellSoon(app, user, { what: 'password', log, lang: languageOfRequest(request.headers) });
    return { message: 'Password updated successfully' };
  },

  async listUsers({ query }, { app }) {
    const { rows, count } = await app.db.readList((on) => listUsers(on.query, query.skip, query.limit));
    return { data: rows.map(presentUser), count };
  },

  async createUser({ body }, { app, user: operator }) {
    // The operator vouches for the address.
    const row = await register(app, { ...body, is_proved: true }, operator.id);
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

  async updateUser({ params, body }, { app, log, user: operator, request }) {
    const { before, row, changed } = await updateUser(app, params.user_id, operator, body);
    log.warn({ user_id: row.id, changed, operator: operator.id }, 'user changed by a superuser');
    const lang = languageOfRequest(request.headers);
    if (changed.includes('email')) tellSoon(app, before, { what: 'email', log, lang });
    if (changed.includes('password_hash')) tellSoon(app, before, { what: 'password', log, lang });
    return presentUser(row);
  },

  async deleteUser({ params }, { app, log, user: operator }) {
    await deleteUser(app, params.user_id, operator);
    log.warn({ user_id: params.user_id, operator: operator.id }, 'user deleted by a superuser');
    return { message: 'User deleted successfully' };
  },
};
