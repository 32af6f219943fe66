// Who is let in: tokens, merchant keys and the platform key, with the statuses and sentences of the conventions.
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { authenticate } from '../../../daemon/http/auth.ts';
import {
  issueAccessToken,
  issueRecoveryToken,
  readAccessToken,
  readRecoveryToken,
} from '../../../daemon/http/tokens.ts';
import type { RunningApp } from '../../../daemon/process/app.ts';
import type { UserRow } from '../../../data/schema/tables.ts';
import { deleteUser, updateUser } from '../../../data/users.ts';
import type { Auth } from '../../../src/api/describe/endpoint.ts';
import { Refusal } from '../../../src/errors.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { account, keyOf } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

/** Unix seconds; the tokens below are of this time. */
const START = 1_767_225_600;
const PLATFORM_KEY = 'gw_the-key-that-the-operator-chose';

let service: TestApp;
let app: RunningApp;
let user: UserRow;
let key: string;
beforeAll(async () => {
  service = await startApp({ clock: testClock(START), settings: { platform_key: PLATFORM_KEY } });
  app = service.app;
  user = await account(app);
  key = await keyOf(app, user.id);
});
afterAll(() => service.stop());

const enter = (auth: Auth, headers: Record<string, string> = {}, query: Record<string, string> = {}) =>
  authenticate(app, auth, { headers: new Headers(headers), query });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function refusal(work: Promise<unknown>): Promise<[number, string]> {
  const error = await work.then(
    () => expect.fail('it was let in'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Refusal)) throw error;
  return [error.status, error.message];
}

describe('with a bearer token', () => {
  test('its user is let in', async () => {
    verifies('auth-jwt');
    const caller = await enter('jwt', bearer(await issueAccessToken(app, user)));
    expect(caller).toMatchObject({ user: { id: user.id }, name: `user:${user.id}` });
  });

  test.each([{}, { authorization: '' }, { authorization: 'Basic YTpi' }, { authorization: 'Bearer ' }])(
    'without one (%j) it is 401',
    async (headers) => {
      verifies('bearer-statuses');
      expect(await refusal(enter('jwt', headers as Record<string, string>))).toEqual([
        401,
        'Not authenticated',
      ]);
    },
  );

  const claims = () => ({
    sub: user.id,
    ver: user.token_version,
    typ: 'access',
    iat: START,
    exp: 1_767_999_999,
  });
  const sign = (payload: Record<string, unknown>, secret = app.secrets.token_key, alg = 'HS256') =>
    new SignJWT(payload).setProtectedHeader({ alg }).sign(secret);

  test.each<[string, () => Promise<string> | string]>([
    ['nonsense', () => 'nonsense'],
    [
      'one without signature',
      () =>
        `${btoa('{"alg":"none"}').replace(/=/g, '')}.${btoa(JSON.stringify(claims())).replace(/=/g, '')}.`,
    ],
    ['one of another key', () => sign(claims(), new Uint8Array(32))],
    ['one of another algorithm', () => sign(claims(), new Uint8Array(64).fill(1), 'HS512')],
    ['one without expiry', () => sign({ ...claims(), exp: undefined })],
    ['one without version', () => sign({ ...claims(), ver: undefined })],
    ['one of another type', () => sign({ ...claims(), typ: 'recovery' })],
    ['a recovery token', () => issueRecoveryToken(app, user)],
  ])('%s is 403', async (_, make) => {
    verifies('bearer-statuses', 'token-form');
    expect(await refusal(enter('jwt', bearer(await make())))).toEqual([
      403,
      'Could not validate credentials',
    ]);
  });

  test('it is good for eight days and not a second more', async () => {
    verifies('token-form');
    const other = await startApp();
    onTestFinished(() => other.stop());
    const token = await issueAccessToken(other.app, user);
    other.clock.advance(8 * 24 * 3600 - 1);
    expect(await readAccessToken(other.app, token)).toMatchObject({ sub: user.id });
    other.clock.advance(1);
    expect(await readAccessToken(other.app, token)).toBeNull();
  });

  test('a raised token version, deactivation and deletion end it, each in its own words', async () => {
    verifies('tokens-end', 'bearer-statuses');
    const leaving = await account(app);
    const token = bearer(await issueAccessToken(app, leaving));
    await updateUser(app.db.query, leaving.id, { token_version: 2 });
    expect(await refusal(enter('jwt', token))).toEqual([403, 'Could not validate credentials']);
    await updateUser(app.db.query, leaving.id, { token_version: 1, is_active: 0 });
    expect(await refusal(enter('jwt', token))).toEqual([400, 'Inactive user']);
    await app.db.transaction((tx) => deleteUser(tx, leaving, 1));
    expect(await refusal(enter('jwt', token))).toEqual([404, 'User not found']);
  });

  test('an operator’s endpoint needs a superuser', async () => {
    verifies('auth-admin', 'bearer-statuses');
    expect(await refusal(enter('admin', bearer(await issueAccessToken(app, user))))).toEqual([
      403,
      "The user doesn't have enough privileges",
    ]);
    const operator = await account(app, { is_superuser: true });
    expect(await enter('admin', bearer(await issueAccessToken(app, operator)))).toMatchObject({
      user: { id: operator.id },
    });
  });
});

test('a recovery token is read as one for 48 hours, and an access token never is', async () => {
  verifies('recovery-token');
  const token = await issueRecoveryToken(app, user);
  expect(await readRecoveryToken(app, token)).toMatchObject({ sub: user.id, jti: expect.any(String) });
  expect(await readRecoveryToken(app, await issueAccessToken(app, user))).toBeNull();
  const { exp } = (await readRecoveryToken(app, token)) ?? expect.fail();
  expect(exp - app.clock.ms() / 1000).toBe(48 * 3600);
});

describe('with a key', () => {
  test('its merchant is let in by header or query, the header first', async () => {
    verifies('auth-key', 'key-form');
    const merchant = { owner: { kind: 'merchant', merchant: { id: user.id } }, name: `merchant:${user.id}` };
    expect(await enter('key', { 'x-api-key': key })).toMatchObject(merchant);
    expect(await enter('key', {}, { api_key: key })).toMatchObject(merchant);
    expect(await refusal(enter('key', { 'x-api-key': 'gw_wrong' }, { api_key: key }))).toEqual([
      401,
      'Invalid API key',
    ]);
  });

  test('the platform key stands for the operator', async () => {
    verifies('post-invoices-platform-key');
    expect(await enter('key', { 'x-api-key': PLATFORM_KEY })).toEqual({
      owner: { kind: 'platform' },
      name: 'platform',
    });
  });

  test('absent, unknown, mistyped and endless keys are 401', async () => {
    verifies('key-401');
    const mistyped = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');
    for (const wrong of [
      '',
      'x',
      PLATFORM_KEY.slice(0, -1),
      mistyped,
      key.toUpperCase(),
      'gw_'.repeat(10_000),
    ])
      expect(await refusal(enter('key', {}, { api_key: wrong }))).toEqual([401, 'Invalid API key']);
    expect(await refusal(enter('key'))).toEqual([401, 'Invalid API key']);
  });

  test('an inactive account is refused', async () => {
    verifies('refuse-inactive', 'error-creation');
    const sleeping = await account(app, { is_active: false });
    const its_key = await keyOf(app, sleeping.id);
    expect(await refusal(enter('key', { 'x-api-key': its_key }))).toEqual([
      403,
      'This account is not active',
    ]);
  });
});

test('a public endpoint asks for nothing and hears nothing', async () => {
  verifies('auth-none');
  expect(await enter('none', { 'x-api-key': key })).toEqual({ name: 'public' });
});
