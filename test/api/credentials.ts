// Everyone who may call, and the one table that says what each kind of endpoint answers them.
import { issueRecoveryToken } from '../../daemon/http/tokens.ts';
import { deleteUser, getUser, updateUser } from '../../data/users.ts';
import type { Auth, Endpoint } from '../../src/api/describe/endpoint.ts';
import type { ErrorCode } from '../../src/errors.ts';
import type { ServiceCall, TestApp, TestMerchant } from '../helpers/app.ts';
import { address } from '../helpers/people.ts';
import { type Cast, expiredToken, forgedTokens, PLATFORM_KEY } from './world.ts';

/** `pass`: as the one it is for, or as one who has other things; a code: refused with it. */
type Rule = 'pass' | ErrorCode;

const refusedEverywhere = (jwt: ErrorCode, key: ErrorCode = 'invalid_api_key'): Record<Auth, Rule> => ({
  none: 'pass',
  key,
  jwt,
  admin: jwt,
  any: jwt,
});
/** A key that opens nothing, where no token is. */
const badKey = (key: ErrorCode = 'invalid_api_key'): Record<Auth, Rule> => ({
  ...refusedEverywhere('not_authenticated', key),
  any: key,
});
const byKey: Record<Auth, Rule> = {
  none: 'pass',
  key: 'pass',
  jwt: 'not_authenticated',
  admin: 'not_authenticated',
  any: 'pass',
};
const byToken: Record<Auth, Rule> = {
  none: 'pass',
  key: 'invalid_api_key',
  jwt: 'pass',
  admin: 'not_superuser',
  any: 'pass',
};

/** Credential → auth of the endpoint → what comes of it. Whatever is not here is refused: the default is denial. */
export const rules = {
  anonymous: refusedEverywhere('not_authenticated'),
  'a merchant': byToken,
  'another merchant': byToken,
  'a superuser': { ...byToken, admin: 'pass' },
  'a merchant key': byKey,
  'a merchant key in the query': byKey,
  'another key': byKey,
  'the platform key': byKey,
  'a key as bearer token': refusedEverywhere('invalid_credentials'),
  'a token as key': badKey(),
  'a garbage token': refusedEverywhere('invalid_credentials'),
  'a token without algorithm': refusedEverywhere('invalid_credentials'),
  'a token signed by another': refusedEverywhere('invalid_credentials'),
  'a recovery token': refusedEverywhere('invalid_credentials'),
  'an expired token': refusedEverywhere('invalid_credentials'),
  'a token from before the password changed': refusedEverywhere('invalid_credentials'),
  'a token with another scheme': refusedEverywhere('not_authenticated'),
  'a garbage key': badKey(),
  'an empty key': refusedEverywhere('not_authenticated'),
  'a deactivated user': refusedEverywhere('inactive_user'),
  'the key of a deactivated user': badKey('account_inactive'),
  'a deleted user': refusedEverywhere('user_not_found'),
  'the key of a deleted user': badKey(),
} as const satisfies Record<string, Record<Auth, Rule>>;

export type Credential = keyof typeof rules;

/** Who passes and yet is not the one whose things the example names. */
export const strangers: readonly Credential[] = [
  'another merchant',
  'a superuser',
  'another key',
  'the platform key',
];

/** What a stranger learns of somebody else's thing, by the parameter that names it: the same as of nothing. */
const hidden: Record<string, ErrorCode> = {
  invoice_id: 'invoice_not_found',
  unit_id: 'unit_not_found',
  event_id: 'event_not_found',
  payment_id: 'payment_not_found',
  user_id: 'not_superuser',
};

/** The parameter that names a thing of the owner's, where others must not see it. */
export const ownedParameter = ({ auth, id, params = {} }: Endpoint): string | undefined =>
  auth === 'key' || auth === 'jwt' || id === 'remarkOwnPayment' ? Object.keys(params)[0] : undefined;

/** The refusal that a credential meets; undefined where the call succeeds. */
export function refusalFor(endpoint: Endpoint, credential: Credential): ErrorCode | undefined {
  const rule = rules[credential][endpoint.auth];
  if (rule !== 'pass') return rule;
  const superuser = credential === 'a superuser';
  if (superuser && endpoint.id === 'deleteMe') return 'superuser_self_delete';
  const owned = ownedParameter(endpoint);
  if (owned === undefined || !strangers.includes(credential)) return undefined;
  // Superusers read of all users, and send anyone's webhooks again.
  return superuser && ['user_id', 'event_id'].includes(owned) ? undefined : hidden[owned];
}

/** People whose credentials have ended, made once. */
export interface Ended {
  deactivated: TestMerchant;
  deleted: TestMerchant;
  changed: TestMerchant;
}

export async function endedPeople(service: TestApp): Promise<Ended> {
  const { app, clock } = service;
  const deactivated = await service.merchant(address());
  await updateUser(app.db.query, deactivated.id, { is_active: 0 });
  const deleted = await service.merchant(address());
  await app.db.transaction((tx) => deleteUser(tx, deleted.user, clock.now()));
  const changed = await service.merchant(address());
  await updateUser(app.db.query, changed.id, { token_version: changed.user.token_version + 1 });
  return { deactivated, deleted, changed };
}

/** The headers and query that present a credential. */
export async function present(
  credential: Credential,
  { owner, other, operator }: Cast,
  { deactivated, deleted, changed }: Ended,
  service: TestApp,
): Promise<ServiceCall & { query?: string }> {
  const [unsigned, forged] = forgedTokens(operator.id);
  const user = (await getUser(service.app.db.query, owner.id)) ?? owner.user;
  const calls: Record<Credential, () => ServiceCall & { query?: string }> = {
    anonymous: () => ({}),
    'a merchant': () => ({ token: owner.token }),
    'another merchant': () => ({ token: other.token }),
    'a superuser': () => ({ token: operator.token }),
    'a merchant key': () => ({ key: owner.key }),
    'a merchant key in the query': () => ({ query: `api_key=${encodeURIComponent(owner.key)}` }),
    'another key': () => ({ key: other.key }),
    'the platform key': () => ({ key: PLATFORM_KEY }),
    'a key as bearer token': () => ({ token: owner.key }),
    'a token as key': () => ({ key: operator.token }),
    'a garbage token': () => ({ token: 'garbage' }),
    'a token without algorithm': () => ({ token: unsigned ?? '' }),
    'a token signed by another': () => ({ token: forged ?? '' }),
    'a recovery token': () => ({ token: recovery }),
    'an expired token': () => ({ token: expired }),
    'a token from before the password changed': () => ({ token: changed.token }),
    'a token with another scheme': () => ({ headers: { authorization: `Basic ${operator.token}` } }),
    'a garbage key': () => ({ key: `${owner.key.slice(0, -1)}${owner.key.endsWith('1') ? '2' : '1'}` }),
    'an empty key': () => ({ headers: { 'x-api-key': '' } }),
    'a deactivated user': () => ({ token: deactivated.token }),
    'the key of a deactivated user': () => ({ key: deactivated.key }),
    'a deleted user': () => ({ token: deleted.token }),
    'the key of a deleted user': () => ({ key: deleted.key }),
  };
  const expired = await expiredToken(service, operator.id);
  const recovery = await issueRecoveryToken(service.app, user);
  return calls[credential]();
}
