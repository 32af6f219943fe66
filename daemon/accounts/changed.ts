// Who gets a mail because a way into his account has changed.
import type { Logger } from 'pino';
import type { UserRow } from '../../data/schema/tables.ts';
import type { Language } from '../checkout/language.ts';
import type { App } from '../context.ts';
import { type Credential, changedEmail } from '../mail/templates.tsx';

/**
 * Tells the address that the user had when it changed, where mail is known to reach him there. Not awaited: it has changed,
 * whatever the mail server does.
 */
export function tellSoon(
  { mail, config }: Pick<App, 'mail' | 'config'>,
  { email, source, email_proved_at }: UserRow,
  { what, log, lang }: { what: Credential; log: Logger; lang: Language },
): void {
  if (source === 'telegram' || email_proved_at === null) return;
  void mail
    .send(changedEmail({ base: config.public_url, to: email, lang, what }))
    .catch((error: unknown) => log.error({ err: error }, 'mail of a changed account not sent'));
}
