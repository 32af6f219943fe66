// Signing in, checking tokens, and getting back in without the password.
import type { login as list } from '../../src/api/endpoints/login.ts';
import { Refusal } from '../../src/errors.ts';
import { detectIdentity } from '../../src/identity.ts';
import { tellSoon } from '../accounts/changed.ts';
import { confirmEmail } from '../accounts/email-proof.ts';
import { signInWithGoogle } from '../accounts/google.ts';
import { confirmationPage, resetPage } from '../accounts/link-pages.tsx';
import { presentUser } from '../accounts/present.ts';
import {
  recoveryMail,
  resetPassword,
  signInWithPassword,
  tokenFor,
  userByEmail,
} from '../accounts/sign-in.ts';
import { signInWithTelegram } from '../accounts/telegram.ts';
import { languageOfRequest } from '../checkout/language.ts';
import { basePath } from '../checkout/page.tsx';
import { compressed } from '../http/compress.ts';
import type { Handlers } from '../http/handler.ts';
import { callerOf } from '../http/limits.ts';
import { encodedHeader, MAIL_POLICY } from '../mail/templates.tsx';

const RECOVERY_ANSWER = 'If that email is registered, we sent a password recovery link';

export const login: Handlers<typeof list> = {
  detectIdentitySource({ query }) {
    const found = detectIdentity(query.q);
    if (!found)
      throw new Refusal('wrong_identity', {
        detail: 'This is neither an email address nor a numeric id',
        // The usual remedy is this very call.
        extra: { hint: 'Send an email address or a numeric id', next: undefined },
      });
    return found;
  },

  async loginAccessToken({ body }, { app, request }) {
    return tokenFor(app, await signInWithPassword(app, body, callerOf(app, request.ip)));
  },

  async loginGoogle({ body }, { app }) {
    return tokenFor(app, await signInWithGoogle(app, body));
  },

  async loginTelegram({ body }, { app }) {
    return tokenFor(app, await signInWithTelegram(app, body));
  },

  testToken: (_, { user }) => presentUser(user),

  async recoverPassword({ params }, { app, log, request }) {
    const user = await userByEmail(app, params.email);
    // Not awaited: how long the mail server takes must not show who is registered.
    if (user?.is_active && user.email_proved_at !== null)
      void recoveryMail(app, user, languageOfRequest(request.headers))
        .then((mail) => app.mail.send(mail))
        .catch((error) => log.error({ err: error }, 'recovery mail not sent'));
    return { message: RECOVERY_ANSWER };
  },

  async resetPassword({ body }, { app, request, log }) {
    const user = await resetPassword(app, body, callerOf(app, request.ip));
    tellSoon(app, user, { what: 'password', log, lang: languageOfRequest(request.headers) });
    return { message: 'Password updated successfully' };
  },

  getResetPage({ query }, { app, request: { headers, ip } }) {
    app.checkout.mayMake(ip);
    const base = basePath(app.config.public_url);
    const page = resetPage({ token: query.token ?? '', lang: languageOfRequest(headers), base });
    return compressed(page, headers);
  },

  async confirmEmail({ body }, { app, request, log }) {
    const user = await confirmEmail(app, body.token);
    if (user.pending_email !== null)
      tellSoon(app, user, { what: 'email', log, lang: languageOfRequest(request.headers) });
    return { message: 'Email address confirmed' };
  },

  getConfirmationPage({ query }, { app, request: { headers, ip } }) {
    app.checkout.mayMake(ip);
    const base = basePath(app.config.public_url);
    const page = confirmationPage({ token: query.token ?? '', lang: languageOfRequest(headers), base });
    return compressed(page, headers);
  },

  async recoverPasswordHtml({ params }, { app, request }) {
    const user = await userByEmail(app, params.email);
    if (!user)
      throw new Refusal('user_not_found', {
        detail: 'The user with this username does not exist in the system.',
      });
    const { html, subject } = await recoveryMail(app, user, languageOfRequest(request.headers));
    const headers = { subject: encodedHeader(subject), vary: 'accept-language' };
    return { body: html, headers: { ...headers, 'content-security-policy': MAIL_POLICY } };
  },
};
