// Bearer and recovery tokens: HS256, distinguished by `typ` and audience.
import { randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import type { UserRow } from '../../data/schema/tables.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';

const ACCESS_SECONDS = 8 * 24 * 3600;
export const RECOVERY_SECONDS = 48 * 3600;
const RECOVERY_AUDIENCE = 'password-recovery';

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
  return sign(app, user, 'access', ACCESS_SECONDS);
}

/** A password recovery token of 48 hours. */
export function issueRecoveryToken(
  app: TokenApp,
  user: Pick<UserRow, 'id' | 'token_version'>,
): Promise<string> {
  return sign(app, user, 'recovery', RECOVERY_SECONDS);
}

/** The claims of a valid bearer token; null for every other text. */
export const readAccessToken = (app: TokenApp, token: string): Promise<TokenClaims | null> =>
  read(app, token, 'access');

/** The claims of a valid recovery token; null for every other text. */
export const readRecoveryToken = (app: TokenApp, token: string): Promise<TokenClaims | null> =>
  read(app, token, 'recovery');

type Typ = 'access' | 'recovery';

function sign(
  app: TokenApp,
  user: Pick<UserRow, 'id' | 'token_version'>,
  typ: Typ,
  lifetime: number,
): Promise<string> {
  const now = seconds(app.clock);
  const token = new SignJWT({ typ, ver: user.token_version })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(user.id)
    .setIssuedAt(now)
    .setExpirationTime(now + lifetime);
  if (typ === 'recovery') token.setAudience(RECOVERY_AUDIENCE).setJti(randomUUID());
  return token.sign(app.secrets.token_key);
}

async function read(app: TokenApp, token: string, typ: Typ): Promise<TokenClaims | null> {
  try {
    const { payload } = await jwtVerify(token, app.secrets.token_key, {
      algorithms: ['HS256'],
      currentDate: new Date(app.clock.ms()),
      requiredClaims: ['sub', 'exp', 'iat'],
      ...(typ === 'recovery' ? { audience: RECOVERY_AUDIENCE } : {}),
    });
    const { sub, ver, exp, jti } = payload;
    if (payload.typ !== typ || typeof sub !== 'string' || typeof ver !== 'number') return null;
    return { sub, ver, exp: exp ?? 0, ...(jti === undefined ? {} : { jti }) };
  } catch {
    // Whatever is wrong with a token, the caller gets the same answer.
    return null;
  }
}
