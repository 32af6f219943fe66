// Proving that mail to an address reaches its user: the link that is sent, and what is confirmed by it.
import type { Logger } from 'pino';
import { isUniqueViolation } from '../../data/db/failures.ts';
import type { UserRow } from '../../data/schema/tables.ts';
import { getUser, proveEmail } from '../../data/users.ts';
import { Refusal } from '../../src/errors.ts';
import type { Language } from '../checkout/language.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { issueEmailToken, readEmailToken } from '../http/tokens.ts';
import { confirmationEmail } from '../mail/templates.tsx';

/** The address of a user that waits to be proved: a new one, or the one of the sign-up; null where none does. */
export const unprovedEmail = ({ email, email_proved_at, pending_email }: UserRow): string | null =>
  pending_email ?? (email_proved_at === null ? email : null);

/** Sends the link to the address that waits. Rejects with what the mail server refuses. */
export async function sendEmailLink(app: App, user: UserRow, lang: Language): Promise<void> {
  const to = unprovedEmail(user);
  if (to === null) return;
  const token = await issueEmailToken(app, user, to);
  await app.mail.send(confirmationEmail({ base: app.config.public_url, to, token, lang }));
}

/** Not awaited: an account is made, or a change is asked for, whatever the mail server does. The link can be sent again. */
export function sendLinkSoon(app: App, user: UserRow, log: Logger, lang: Language): void {
  void sendEmailLink(app, user, lang).catch((error: unknown) =>
    log.error({ err: error }, 'confirmation mail not sent'),
  );
}

/**
 * The user as it was before. What was issued until then ends: sessions, and links of all kinds. Refuses with `invalid_token`,
 * `inactive_user`, or `email_taken` where another user has the address by now.
 */
export async function confirmEmail(app: App, token: string): Promise<UserRow> {
  const claims = await readEmailToken(app, token);
  const user = claims ? await getUser(app.db.query, claims.sub) : undefined;
  if (!claims || user?.token_version !== claims.ver) throw new Refusal('invalid_token');
  if (!user.is_active) throw new Refusal('inactive_user');
  const is_proved = await proveEmail(app.db.query, user, claims.email, seconds(app.clock)).catch(
    (error: unknown) => {
      if (isUniqueViolation(error)) throw new Refusal('email_taken');
      throw error;
    },
  );
  if (!is_proved) throw new Refusal('invalid_token');
  return user;
}
