// Signing in with a password, and getting back in without it.
import type { UserRow } from '../../data/schema/tables.ts';
import { getUser, setPassword, userByIdentity } from '../../data/users.ts';
import { normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { MAX_PASSWORD } from '../../src/api/endpoints/login.ts';
import { Refusal } from '../../src/errors.ts';
import type { Language } from '../checkout/language.ts';
import type { App } from '../context.ts';
import { issueAccessToken, issueRecoveryToken, readRecoveryToken } from '../http/tokens.ts';
import type { Email } from '../mail/mail.ts';
import { recoveryEmail } from '../mail/templates.tsx';
import { refuseForeignIdentity } from './create.ts';
import { hashPassword, verifyPassword } from './passwords.ts';

/** `caller` is whose hashes it counts among. Refuses with `wrong_identity` or `invalid_login`. */
export async function signInWithPassword(
  app: App,
  { username: address, password }: { username: string; password: string },
  caller: string | null,
): Promise<UserRow> {
  refuseForeignIdentity(address);
  const user = await userByEmail(app, address);
  const fits = [...password].length <= MAX_PASSWORD;
  const right = await verifyPassword(user?.password_hash ?? null, fits ? password : '', caller);
  if (!user || !right) throw new Refusal('invalid_login');
  await app.first_password.signedIn(user.email);
  return user;
}

/** The token that the user's requests carry. Refuses with `inactive_user`. */
export async function tokenFor(app: App, user: UserRow) {
  if (!user.is_active) throw new Refusal('inactive_user');
  return { access_token: await issueAccessToken(app, user), token_type: 'bearer' };
}

export const userByEmail = (app: App, address: string): Promise<UserRow | undefined> =>
  userByIdentity(app.db.query, 'email', normalizeEmail(address));

/** The mail with the link to a new password. */
export async function recoveryMail(app: App, user: UserRow, lang: Language): Promise<Email> {
  const token = await issueRecoveryToken(app, user);
  return recoveryEmail({ base: app.config.public_url, to: user.email, token, lang });
}

/** The user as it was before. Refuses with `invalid_token` or `inactive_user`. */
export async function resetPassword(
  app: App,
  { token, new_password }: { token: string; new_password: string },
  caller: string | null,
): Promise<UserRow> {
  const claims = await readRecoveryToken(app, token);
  const user = claims ? await getUser(app.db.query, claims.sub) : undefined;
  if (!user || user.token_version !== claims?.ver) throw new Refusal('invalid_token');
  if (!user.is_active) throw new Refusal('inactive_user');
  // The token is bound to the version that this raises: it works once, also when it is sent twice at once.
  const password_hash = await hashPassword(new_password, caller);
  if (!(await setPassword(app.db.query, user, password_hash))) throw new Refusal('invalid_token');
  return user;
}
