// Bearer tokens, and those that mails and invites carry: HS256, distinguished by `typ` and audience.
import { randomUUID } from 'node:crypto';
import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { UserRow } from '../../data/schema/tables.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';

const ACCESS_SECONDS = 8 * 24 * 3600;
export const RECOVERY_SECONDS = 48 * 3600;

export interface TokenClaims {
  /** User id. */
  sub: string;
  /** The user's `token_version` when it was made; a raised version ends the token. */
  ver: number;
  /** Unix seconds. */
  exp: number;
  /** Only of recovery tokens: used ones are recorded by it. */
  jti?: string;
}

type TokenApp = Pick<App, 'clock' | 'secrets'>;

/** A bearer token of 8 days. */
export function issueAccessToken(
  app: TokenApp,
  user: Pick<UserRow, 'id' | 'token_version'>,
): Promise<string> {
  return sign(app, {
    typ: 'access',
    sub: user.id,
    lifetime: ACCESS_SECONDS,
    claims: { ver: user.token_version },
  });
}

/** A password recovery token of 48 hours. */
export function issueRecoveryToken(
  app: TokenApp,
  user: Pick<UserRow, 'id' | 'token_version'>,
): Promise<string> {
  return sign(app, {
    typ: 'recovery',
    sub: user.id,
    lifetime: RECOVERY_SECONDS,
    claims: { ver: user.token_version },
  });
}

/** The claims of a valid bearer token; null for every other text. */
export const readAccessToken = (app: TokenApp, token: string): Promise<TokenClaims | null> =>
  readUser(app, token, 'access');

/** The claims of a valid recovery token; null for every other text. */
export const readRecoveryToken = (app: TokenApp, token: string): Promise<TokenClaims | null> =>
  readUser(app, token, 'recovery');

/** What a link to prove a mail address carries, for 48 hours. */
interface EmailClaims {
  /** User id. */
  sub: string;
  /** The address that the link was sent to. */
  email: string;
  /** As in `TokenClaims`. */
  ver: number;
}

/** A token for a link to `email`. */
export const issueEmailToken = (
  app: TokenApp,
  { id, token_version }: Pick<UserRow, 'id' | 'token_version'>,
  email: string,
): Promise<string> =>
  sign(app, { typ: 'email', sub: id, lifetime: RECOVERY_SECONDS, claims: { email, ver: token_version } });

/** The claims of a valid token of such a link; null for every other text. */
export async function readEmailToken(app: TokenApp, token: string): Promise<EmailClaims | null> {
  const payload = await read(app, token, 'email');
  if (!payload) return null;
  const { sub = '', email, ver } = payload;
  return typeof email === 'string' && typeof ver === 'number' ? { sub, email, ver } : null;
}

/** The token of an invite for one email address. `lifetime` is in seconds. */
export const issueInviteToken = (app: TokenApp, email: string, lifetime: number): Promise<string> =>
  sign(app, { typ: 'invite', sub: email, lifetime });

/** The email address that a valid invite is for; null for every other text. */
export async function readInviteToken(app: TokenApp, token: string): Promise<string | null> {
  return (await read(app, token, 'invite'))?.sub ?? null;
}

type Typ = 'access' | 'recovery' | 'email' | 'invite';

/** Whom tokens are for that are no bearer tokens. */
const audiences: Partial<Record<Typ, string>> = {
  recovery: 'password-recovery',
  email: 'email-proof',
  invite: 'invite',
};

interface Content {
  typ: Typ;
  sub: string;
  /** Seconds. */
  lifetime: number;
  /** Further claims. */
  claims?: Record<string, unknown>;
}

function sign(app: TokenApp, { typ, sub, lifetime, claims = {} }: Content): Promise<string> {
  const now = seconds(app.clock);
  const token = new SignJWT({ typ, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setIssuedAt(now)
    .setExpirationTime(now + lifetime);
  const audience = audiences[typ];
  if (audience !== undefined) token.setAudience(audience).setJti(randomUUID());
  return token.sign(app.secrets.token_key);
}

/** The claims of a valid token of that kind; whatever is wrong with it, the caller gets the same answer. */
async function read(app: TokenApp, token: string, typ: Typ): Promise<JWTPayload | null> {
  const audience = audiences[typ];
  // For a while after a rotation of `secret` there is more than one.
  for (const key of app.secrets.tokenKeys(seconds(app.clock)))
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['HS256'],
        currentDate: new Date(app.clock.ms()),
        requiredClaims: ['sub', 'exp', 'iat'],
        ...(audience === undefined ? {} : { audience }),
      });
      return payload.typ === typ && typeof payload.sub === 'string' ? payload : null;
    } catch {
      // Signed by another key, or wrong in any other way.
    }
  return null;
}

async function readUser(app: TokenApp, token: string, typ: Typ): Promise<TokenClaims | null> {
  const payload = await read(app, token, typ);
  if (!payload) return null;
  const { sub = '', ver, exp = 0, jti } = payload;
  return typeof ver === 'number' ? { sub, ver, exp, ...(jti === undefined ? {} : { jti }) } : null;
}
