// Who is calling: bearer tokens, merchant keys and the platform key, refused as the conventions say.

import { hash, timingSafeEqual } from 'node:crypto';
import { merchantByKeyHash, merchantByPreviousKeyHash } from '../../data/merchants.ts';
import type { UserRow } from '../../data/schema/tables.ts';
import { getUser } from '../../data/users.ts';
import type { Auth } from '../../src/api/describe/endpoint.ts';
import { cleanText } from '../../src/clean.ts';
import { Refusal } from '../../src/errors.ts';
import { KEY_PREFIX, MAX_KEY_LENGTH } from '../../src/keys.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { Owner } from './exchange.ts';
import { readAccessToken } from './tokens.ts';

export interface Credentials {
  headers: Headers;
  query: Record<string, string>;
}

/** What a request is allowed to be, and the name that its idempotency keys belong to. */
export interface Caller {
  user?: UserRow;
  owner?: Owner;
  /** `public` where no one is named. */
  name: string;
}

/** Who needs no credentials. */
export const PUBLIC: Caller = { name: 'public' };

/** Whose account it is, whichever of its credentials it shows. */
export const accountOf = ({ user, owner }: Caller): string =>
  user?.id ?? (owner?.kind === 'merchant' ? owner.merchant.id : 'platform');

/** Throws the refusals that `auth` implies. */
export async function authenticate(app: App, auth: Auth, credentials: Credentials): Promise<Caller> {
  if (auth === 'none') return PUBLIC;
  if (auth === 'key') {
    const owner = await ownerOf(app, credentials);
    return { owner, name: owner.kind === 'platform' ? 'platform' : `merchant:${owner.merchant.id}` };
  }
  if (auth === 'any' && isKeyed(credentials)) return authenticate(app, 'key', credentials);
  const user = await userOf(app, credentials.headers);
  if (auth === 'admin' && !user.is_superuser) throw new Refusal('not_superuser');
  return { user, name: `user:${user.id}` };
}

/** Whether there is a key and no token: where both are, the token counts. */
const isKeyed = ({ headers, query }: Credentials): boolean =>
  !headers.has('authorization') && (headers.get('x-api-key') ?? query.api_key ?? '') !== '';

async function userOf(app: App, headers: Headers): Promise<UserRow> {
  const token = /^bearer +([^\s]+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  if (!token) throw new Refusal('not_authenticated');
  const claims = await readAccessToken(app, token);
  if (!claims) throw new Refusal('invalid_credentials');
  const user = await getUser(app.db.query, claims.sub);
  if (!user) throw new Refusal('user_not_found');
  if (!user.is_active) throw new Refusal('inactive_user');
  if (user.token_version !== claims.ver) throw new Refusal('invalid_credentials');
  return user;
}

async function ownerOf(app: App, { headers, query }: Credentials): Promise<Owner> {
  const key = cleanText(headers.get('x-api-key') ?? query.api_key ?? '');
  if (key === '' || key.length > MAX_KEY_LENGTH) throw new Refusal('invalid_api_key');
  const platform_key = app.config.platform_key;
  const hashed = digest(key);
  // Hashes have one length and show nothing of how much of the key was right.
  if (platform_key && timingSafeEqual(hashed, digest(platform_key))) return { kind: 'platform' };
  // A key whose checksum is wrong is found as little as any other that was never given out.
  const found = key.startsWith(KEY_PREFIX) ? await merchantOfKey(app, hashed.toString('hex')) : undefined;
  if (!found) throw new Refusal('invalid_api_key');
  if (!found.is_active) throw new Refusal('account_inactive');
  return { kind: 'merchant', merchant: found };
}

/** By its present key; only what that does not find may be a key of before that still works. */
const merchantOfKey = async ({ db, clock }: Pick<App, 'db' | 'clock'>, hash: string) =>
  (await merchantByKeyHash(db, hash)) ?? merchantByPreviousKeyHash(db, hash, seconds(clock));

/** As `hashKey`, in a tenth of the time. */
const digest = (key: string): Buffer => hash('sha256', key, 'buffer');
