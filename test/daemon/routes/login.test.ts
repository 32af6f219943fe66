// Signing in with a password, on both databases.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { PASSWORD, person, signIn, signInWith } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

// These tests are about what hashing costs.
vi.unmock('@node-rs/argon2');

describe.each(databases)('sign-in on %s', (database) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({ database });
  });
  afterAll(() => service.stop());

  describe('the identity source', () => {
    verifies('get-identity-source', 'res-identity', 'identity-values');
    const detect = (q: string) =>
      service.fetch('GET', `/api/v1/login/identity-source?q=${encodeURIComponent(q)}`);
    test.each([
      ['Ada@Example.com', 'ada@example.com', 'email'],
      ['ada@gmail.com', 'ada@gmail.com', 'google'],
      [' Ada@GOOGLEMAIL.com ', 'ada@googlemail.com', 'google'],
      ['ada@gmail.com.example.org', 'ada@gmail.com.example.org', 'email'],
      ['ada@notgmail.com', 'ada@notgmail.com', 'email'],
      ['279058397', '279058397', 'telegram'],
    ])('of %s is known by its shape', async (q, identity, source) => {
      const { status, json } = await detect(q);
      expect([status, json]).toEqual([200, { identity, source }]);
    });

    test('of what is no identity is refused', async () => {
      for (const q of ['ada', '-5', '0', 'ada@', '@example.com'])
        expect(await detect(q)).toMatchObject({ status: 400, json: { code: 'wrong_identity' } });
      // It is not sent round in a circle.
      expect((await detect('ada')).json).not.toHaveProperty('next');
      const { status, json } = await service.fetch('GET', '/api/v1/login/identity-source');
      expect([status, json.detail[0].type, json.detail[0].loc]).toEqual([422, 'missing', ['query', 'q']]);
      expect((await detect('')).json.detail[0].type).toBe('string_too_short');
    });
  });

  describe('with a password', () => {
    test('answers a token that test-token knows', async () => {
      verifies('post-access-token', 'res-token', 'post-test-token');
      const { email } = await person(service);
      const { status, json } = await signIn(service, ` ${email.toUpperCase()} `, PASSWORD);
      expect([status, Object.keys(json).sort(), json.token_type]).toEqual([
        200,
        ['access_token', 'token_type'],
        'bearer',
      ]);
      const checked = await service.fetch('POST', '/api/v1/login/test-token', { token: json.access_token });
      expect([checked.status, checked.json.email]).toEqual([200, email]);
      expect((await service.fetch('POST', '/api/v1/login/test-token')).json.detail).toBe('Not authenticated');
    });

    test('takes the grant type password only', async () => {
      verifies('post-access-token-grant');
      const { email } = await person(service);
      const fields = { username: email, password: PASSWORD };
      expect((await signInWith(service, { ...fields, grant_type: 'password' })).status).toBe(200);
      const refused = await signInWith(service, { ...fields, grant_type: 'client_credentials' });
      expect([refused.status, refused.json.detail[0].msg]).toEqual([
        422,
        "String should match pattern '^password$'",
      ]);
      expect((await signInWith(service, {})).json.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(
        ['username', 'password'],
      );
    });

    test('says the same of an unknown user and of a wrong password', async () => {
      verifies('sign-in-messages');
      const { email } = await person(service);
      const refusals = await Promise.all([
        signIn(service, email, 'wrong password'),
        signIn(service, 'absent@example.com', PASSWORD),
        signIn(service, 'no email address', PASSWORD),
        signIn(service, email, PASSWORD + 'x'.repeat(200)),
      ]);
      for (const { status, json } of refusals)
        expect([status, json.detail]).toEqual([400, 'Incorrect email or password']);
    });

    test('an unknown user costs what a wrong password costs', async () => {
      verifies('passwords-argon2');
      const { email } = await person(service);
      const time = async (username: string) => {
        const began = performance.now();
        for (let round = 0; round < 5; round++) await signIn(service, username, 'wrong password');
        return performance.now() - began;
      };
      await time(email);
      const [known, unknown] = [await time(email), await time('absent@example.com')];
      // Without the hash it would cost a hundredth.
      expect(unknown).toBeGreaterThan(known / 10);
    });

    test('tells provider mail and numeric ids where they sign in', async () => {
      verifies('auth-password-custom-only');
      const google = await signIn(service, 'Ada@Gmail.com', PASSWORD);
      expect([google.status, google.json.code]).toEqual([400, 'wrong_identity']);
      expect(google.json.detail).toContain('/api/v1/login/google');
      const telegram = await signIn(service, '279058397', PASSWORD);
      expect(telegram.json.detail).toContain('/api/v1/login/telegram');
    });

    test('does not work for accounts that have none', async () => {
      const { user: row } = await service.merchant();
      expect((await signIn(service, row.email, '')).status).toBe(422);
      expect((await signIn(service, row.email, 'the password of no one')).status).toBe(400);
    });
  });
});
