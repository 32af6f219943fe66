// Signing in, checking tokens, and getting back in without the password.

import type { UserRow } from '../../data/schema/tables.ts';
import { getUser, setPassword, userByIdentity } from '../../data/users.ts';
import { normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { type login as list, MAX_PASSWORD } from '../../src/api/endpoints/login.ts';
import { Refusal } from '../../src/errors.ts';
import { detectIdentity } from '../../src/identity.ts';
import { refuseForeignIdentity } from '../accounts/create.ts';
import { signInWithGoogle } from '../accounts/google.ts';
import { hashPassword, verifyPassword } from '../accounts/passwords.ts';
import { presentUser } from '../accounts/present.ts';
import { resetPage } from '../accounts/reset-page.ts';
import { signInWithTelegram } from '../accounts/telegram.ts';
import type { App } from '../context.ts';
import type { Handlers } from '../http/handler.ts';
import { issueAccessToken, issueRecoveryToken, readRecoveryToken } from '../http/tokens.ts';
import { recoveryLetter } from '../mail/templates.ts';

const RECOVERY_ANSWER = 'If that email is registered, we sent a password recovery link';

export const login: Handlers<typeof list> = {
  detectIdentitySource({ query }) {
    const found = detectIdentity(query.q);
    if (!found)
      throw new Refusal('wrong_identity', {
        detail: 'This is neither a mail address nor a numeric id',
        // The usual remedy is this very call.
        extra: { hint: 'Send a mail address or a numeric id', next: undefined },
      });
    return found;
  },

  async loginAccessToken({ body }, { app }) {
    refuseForeignIdentity(body.username);
    const user = await userByIdentity(app.db.query, 'email', normalizeEmail(body.username));
    const fits = [...body.password].length <= MAX_PASSWORD;
    const right = await verifyPassword(user?.password_hash ?? null, fits ? body.password : '');
    if (!user || !right) throw new Refusal('invalid_login');
    return tokenFor(app, user);
  },

  async loginGoogle({ body }, { app }) {
    return tokenFor(app, await signInWithGoogle(app, body.id_token));
  },

  async loginTelegram({ body }, { app }) {
    return tokenFor(app, await signInWithTelegram(app, body));
  },

  testToken: (_, { user }) => presentUser(user),

  async recoverPassword({ params }, { app, log }) {
    const user = await userByIdentity(app.db.query, 'email', normalizeEmail(params.email));
    // Not awaited: how long the mail server takes must not tell who is registered.
    if (user?.is_active)
      void sendRecovery(app, user).catch((error) => log.error({ err: error }, 'recovery mail not sent'));
    return { message: RECOVERY_ANSWER };
  },

  async resetPassword({ body }, { app }) {
    const claims = await readRecoveryToken(app, body.token);
    const user = claims ? await getUser(app.db.query, claims.sub) : undefined;
    if (!user || user.token_version !== claims?.ver) throw new Refusal('invalid_token');
    if (!user.is_active) throw new Refusal('inactive_user');
    // The token is bound to the version that this raises: it works once, also when it is sent twice at once.
    const password_hash = await hashPassword(body.new_password);
    if (!(await setPassword(app.db.query, user, password_hash))) throw new Refusal('invalid_token');
    return { message: 'Password updated successfully' };
  },

  getResetPage: ({ query }) => resetPage(query.token ?? ''),

  async recoverPasswordHtml({ params }, { app }) {
    const user = await userByIdentity(app.db.query, 'email', normalizeEmail(params.email));
    if (!user)
      throw new Refusal('user_not_found', {
        detail: 'The user with this username does not exist in the system.',
      });
    const { html, subject } = await letterFor(app, user);
    return { body: html, headers: { subject } };
  },
};

async function tokenFor(app: App, user: UserRow) {
  if (!user.is_active) throw new Refusal('inactive_user');
  return { access_token: await issueAccessToken(app, user), token_type: 'bearer' };
}

const letterFor = async (app: App, user: UserRow) =>
  recoveryLetter(app.config.public_url, user.email, await issueRecoveryToken(app, user));

const sendRecovery = async (app: App, user: UserRow): Promise<void> =>
  app.mail.send(await letterFor(app, user));
