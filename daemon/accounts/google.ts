// Sign-in with Google: verifies an id token by Google's published keys.
import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { UserRow } from '../../data/schema/tables.ts';
import { emailError, normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import { accountOf, nameFrom } from './provider-account.ts';

const ISSUERS = ['accounts.google.com', 'https://accounts.google.com'];
const RETRY_AFTER_SECONDS = 5;
/** Clocks that differ. */
const TOLERANCE_SECONDS = 60;
const MAX_SUBJECT = 255;

/**
 * Refuses `sign_in_disabled` without a client id, `invalid_token` for every token that is not Google's for us, and a new
 * account as `admit` does.
 */
export async function signInWithGoogle(
  app: App,
  { id_token, invite }: { id_token: string; invite?: string | undefined },
): Promise<UserRow> {
  if (app.config.google.client_id === undefined)
    throw new Refusal('sign_in_disabled', { detail: 'Sign-in with Google is not configured' });
  const claims = await verify(app, id_token, app.config.google.client_id);
  const { sub, name } = claims;
  const email = typeof claims.email === 'string' ? normalizeEmail(claims.email) : '';
  const verified = claims.email_verified === true || claims.email_verified === 'true';
  if (!sub || sub.length > MAX_SUBJECT || !verified || emailError(email) !== null)
    throw new Refusal('invalid_token');
  const full_name = nameFrom(typeof name === 'string' ? name : null);
  return accountOf(app, { source: 'google', subject: sub, email, full_name }, invite);
}

async function verify(app: App, id_token: string, audience: string): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(id_token, app.google_keys, {
      algorithms: ['RS256'],
      issuer: ISSUERS,
      audience,
      currentDate: new Date(app.clock.ms()),
      clockTolerance: TOLERANCE_SECONDS,
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    return payload;
  } catch (error) {
    if (!keysUnreachable(error)) throw new Refusal('invalid_token');
    app.log.warn({ err: error }, 'the keys of Google cannot be fetched');
    throw new Refusal('provider_unavailable', {
      detail: 'Google cannot be reached to verify the token',
      retry_after: RETRY_AFTER_SECONDS,
    });
  }
}

const KEYS_FAILURES: ReadonlySet<string> = new Set([
  errors.JOSEError.code,
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
]);

/** Whether no keys were had, which says nothing of the token. */
function keysUnreachable(error: unknown): boolean {
  // jose reports an answer that is no key set with its base error, a failed fetch with fetch's own.
  return !(error instanceof errors.JOSEError) || KEYS_FAILURES.has(error.code);
}
