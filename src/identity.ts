// Which way an identity signs in, decided by its shape alone.
import { emailError, normalizeEmail } from './api/describe/identifiers.ts';

export type Source = 'email' | 'google' | 'telegram';

/** Who may sign up: anyone, those whom the operator invites, or no one. */
export const signupModes = ['open', 'invite', 'closed'] as const;
export type SignupMode = (typeof signupModes)[number];

/** Mail of an identity provider: its owners sign in there. */
const PROVIDER_DOMAINS: ReadonlySet<string> = new Set(['gmail.com', 'googlemail.com']);
const NUMERIC_ID = /^[1-9]\d{0,18}$/;

export interface Identity {
  /** As it is compared and stored: email addresses in lower case. */
  identity: string;
  source: Source;
}

/** Null for what is neither an email address nor a numeric id. */
export function detectIdentity(text: string): Identity | null {
  const identity = normalizeEmail(text);
  if (NUMERIC_ID.test(identity)) return { identity, source: 'telegram' };
  if (emailError(identity) !== null) return null;
  return { identity, source: isProviderMail(identity) ? 'google' : 'email' };
}

/** Compared as mail servers would read it, so that look-alike letters of the domain change nothing. */
function isProviderMail(email: string): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return PROVIDER_DOMAINS.has(domain.normalize('NFKC').toLowerCase());
}

/** Where identities sign in that have no password here, as a sentence. */
export const signInElsewhere: Record<Exclude<Source, 'email'>, string> = {
  google:
    'Addresses of gmail.com and googlemail.com have no password here: sign in with Google, POST /api/v1/login/google',
  telegram: 'Numeric ids have no password here: sign in with Telegram, POST /api/v1/login/telegram',
};
