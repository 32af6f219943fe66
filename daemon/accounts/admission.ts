// Who may get an account: anyone, those whom the operator invited, or no one.
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import { readInviteToken } from '../http/tokens.ts';

/**
 * Whether a valid invite for this address came along. `email` is null for an identity that has no address. Refuses with
 * `signup_closed`, or with `invite_required` where the invite is absent, expired or for another address.
 */
export async function admit(
  app: Pick<App, 'config' | 'clock' | 'secrets'>,
  email: string | null,
  invite: string | undefined,
): Promise<boolean> {
  const { signup } = app.config;
  if (signup === 'closed') throw new Refusal('signup_closed');
  const is_invited = invite !== undefined && email !== null && (await readInviteToken(app, invite)) === email;
  if (signup === 'open' || is_invited) return is_invited;
  if (email === null)
    throw new Refusal('invite_required', {
      detail: 'Sign-up needs an invite, and invites are for email addresses: sign up with one',
    });
  throw new Refusal(
    'invite_required',
    invite === undefined
      ? {}
      : { detail: 'The invite has expired, or is for another email address than this one' },
  );
}
