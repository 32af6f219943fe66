// The account of an identity that another service vouches for; the first sign-in makes it.
import type { UserRow } from '../../data/schema/tables.ts';
import { updateUser, userByIdentity } from '../../data/users.ts';
import type { App } from '../context.ts';
import { admit } from './admission.ts';
import { createAccount } from './create.ts';

export interface ProviderIdentity {
  source: 'google' | 'telegram';
  /** What the service calls the person, for ever. */
  subject: string;
  /** Shown, never compared: it takes over no account. */
  email: string;
  full_name: string | null;
}

/** Finds or makes the account. Refuses to make one with `signup_closed` or `invite_required`. */
export async function accountOf(
  app: App,
  identity: ProviderIdentity,
  invite?: string | undefined,
): Promise<UserRow> {
  const { source, subject, email } = identity;
  const known = await userByIdentity(app.db.query, source, subject);
  if (known) {
    if (known.email === email) return known;
    await updateUser(app.db.query, known.id, { email });
    return { ...known, email };
  }
  await admit(app, source === 'google' ? email : null, invite);
  const made = await createAccount(app, {
    ...identity,
    password_hash: null,
    is_active: true,
    is_superuser: false,
    // The service vouches for the address it names.
    is_proved: true,
  });
  // Made by a second sign-in at the same moment.
  const row = made ?? (await userByIdentity(app.db.query, source, subject));
  if (!row) throw new Error(`the ${source} account could neither be made nor found`);
  return row;
}

const MAX_NAME = 255;

/** A display name cut to what is stored; null for an empty one. */
export function nameFrom(...parts: (string | null | undefined)[]): string | null {
  const name = parts.filter(Boolean).join(' ').trim();
  return name === '' ? null : [...name].slice(0, MAX_NAME).join('');
}
