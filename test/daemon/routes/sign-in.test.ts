// Signing in with Google and Telegram, with keys that the tests hold, on both databases.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { telegramHash } from '../../../daemon/accounts/telegram.ts';
import { issueInviteToken } from '../../../daemon/http/tokens.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases } from '../../helpers/database.ts';
import { verifies } from '../../requirements.ts';

const CLIENT_ID = 'shop.apps.googleusercontent.com';
const BOT_TOKEN = 'XXXXXXXX:XXXXXXXXXXXXXXXXXXXXXXXX';
const HOUR = 3600;

describe.each(databases)('sign-in elsewhere on %s', (database) => {
  let service: TestApp;
  let keys: { server: Server; private_key: CryptoKey; url: string };
  beforeAll(async () => {
    keys = await publishKeys();
    service = await startApp({
      database,
      settings: {
        'google.client_id': CLIENT_ID,
        'google.jwks_url': keys.url,
        'telegram.bot_token': BOT_TOKEN,
      },
    });
  });
  afterAll(async () => {
    await service.stop();
    keys.server.close();
  });

  const me = async (token: string) => (await service.fetch('GET', '/api/v1/users/me', { token })).json;

  describe('with Google', () => {
    const google = (id_token: string) =>
      service.fetch('POST', '/api/v1/login/google', { body: { id_token } });
    const claims = (): JWTPayload => ({
      iss: 'https://accounts.google.com',
      aud: CLIENT_ID,
      sub: '10769150350006150715113082367',
      iat: service.clock.now(),
      exp: service.clock.now() + HOUR,
      email: 'Ada@Gmail.com',
      email_verified: true,
      name: 'Ada Lovelace',
    });
    const sign = (payload: JWTPayload, key: CryptoKey | Uint8Array = keys.private_key, alg = 'RS256') =>
      new SignJWT(payload).setProtectedHeader({ alg, kid: 'test' }).sign(key);

    test('the first sign-in makes the account with its merchant key, the next finds it', async () => {
      verifies('post-login-google');
      const first = await google(await sign(claims()));
      expect([first.status, first.json.token_type]).toEqual([200, 'bearer']);
      const user = await me(first.json.access_token);
      expect(user).toMatchObject({ email: 'ada@gmail.com', source: 'google', full_name: 'Ada Lovelace' });
      const account = await service.fetch('GET', '/api/v1/merchant/account', {
        token: first.json.access_token,
      });
      expect(account.json.api_key).toMatch(/^gw_/);
      const second = await google(await sign({ ...claims(), iss: 'accounts.google.com' }));
      expect((await me(second.json.access_token)).id).toBe(user.id);
    });

    test('the first sign-in needs the invite for its address where sign-up needs one, the next does not', async () => {
      verifies('signup-mode', 'signup-invite');
      const { app } = service;
      app.config.signup = 'invite';
      const id_token = await sign({ ...claims(), sub: 'invited', email: 'Invited@Gmail.com' });
      const sent = (body: object) => service.fetch('POST', '/api/v1/login/google', { body });
      expect(await sent({ id_token })).toMatchObject({ status: 403, json: { code: 'invite_required' } });
      const other = await issueInviteToken(app, 'ada@gmail.com', HOUR);
      expect((await sent({ id_token, invite: other })).status).toBe(403);
      const invite = await issueInviteToken(app, 'invited@gmail.com', HOUR);
      expect((await sent({ id_token, invite })).status).toBe(200);
      app.config.signup = 'closed';
      expect((await sent({ id_token })).status).toBe(200);
      app.config.signup = 'open';
    });

    test('who signs in is known by `sub`, so that a new address is the same account', async () => {
      verifies('identity-by-subject');
      const before = await me((await google(await sign({ ...claims(), sub: 'x1' }))).json.access_token);
      const renamed = { ...claims(), sub: 'x1', email: 'lovelace@gmail.com' };
      const after = await me((await google(await sign(renamed))).json.access_token);
      expect(after).toMatchObject({ id: before.id, email: 'lovelace@gmail.com' });
    });

    test('never takes over a password account with the same address', async () => {
      verifies('identity-by-subject');
      const body = { email: 'owner@shop.example.com', password: 'correct horse battery' };
      const owner = (await service.fetch('POST', '/api/v1/users/signup', { body })).json;
      const token = (await google(await sign({ ...claims(), sub: 'thief', email: body.email }))).json
        .access_token;
      expect((await me(token)).id).not.toBe(owner.id);
    });

    test('two first sign-ins at once make one account', async () => {
      const id_token = await sign({ ...claims(), sub: 'twice' });
      const both = await Promise.all([google(id_token), google(id_token)]);
      const [one, other] = await Promise.all(both.map(({ json }) => me(json.access_token)));
      expect(one.id).toBe(other.id);
    });

    test('refuses every token that is not for us, by Google, in time and of a verified address', async () => {
      verifies('post-login-google', 'limit-sign-in-fields');
      const stranger = await generateKeyPair('RS256');
      const now = service.clock.now();
      const wrong: Record<string, string> = {
        'another audience': await sign({ ...claims(), aud: 'someone.else' }),
        'another issuer': await sign({ ...claims(), iss: 'https://accounts.google.com.evil.example' }),
        expired: await sign({ ...claims(), exp: now - 61 }),
        'not verified': await sign({ ...claims(), email_verified: false }),
        'no address': await sign({ ...claims(), email: undefined }),
        'no subject': await sign({ ...claims(), sub: undefined }),
        'another key': await sign(claims(), stranger.privateKey),
        'a shared secret': await sign(claims(), new TextEncoder().encode(CLIENT_ID.repeat(2)), 'HS256'),
        'no signature': `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify(claims()))}.`.replaceAll('=', ''),
        'no token at all': 'x'.repeat(40),
      };
      for (const [why, id_token] of Object.entries(wrong)) {
        const { status, json } = await google(id_token);
        expect([why, status, json.detail]).toEqual([why, 400, 'Invalid token']);
      }
      const short = await google('short');
      expect([short.status, short.json.detail[0].input]).toEqual([422, undefined]);
    });

    test('has no password to recover, change or sign in with, and no address to change', async () => {
      const id_token = await sign({ ...claims(), sub: 'pure', email: 'pure@custom.example.com' });
      const token = (await google(id_token)).json.access_token;
      const password = await service.fetch('PATCH', '/api/v1/users/me/password', {
        token,
        body: { current_password: 'the password of no one', new_password: 'another password' },
      });
      expect(password.json).toMatchObject({ code: 'wrong_identity' });
      expect(password.json.detail).toContain('Google');
      const email = await service.fetch('PATCH', '/api/v1/users/me', {
        token,
        body: { email: 'other@example.com', full_name: 'Pure' },
      });
      expect([email.status, email.json.code]).toEqual([400, 'wrong_identity']);
      const same = await service.fetch('PATCH', '/api/v1/users/me', {
        token,
        body: { email: 'pure@custom.example.com', full_name: 'Pure' },
      });
      expect(same.json).toMatchObject({ full_name: 'Pure', email: 'pure@custom.example.com' });
    });

    test('says 503 while the keys cannot be fetched, 403 without a client id, 400 to an inactive user', async () => {
      const id_token = await sign(claims());
      const unreachable = await startApp({
        database,
        settings: { 'google.client_id': CLIENT_ID, 'google.jwks_url': 'http://127.0.0.1:9/keys' },
      });
      const off = await startApp({ database });
      try {
        const call = { body: { id_token } };
        const away = await unreachable.fetch('POST', '/api/v1/login/google', call);
        expect([away.status, away.json.code]).toEqual([503, 'provider_unavailable']);
        expect(away.headers.get('retry-after')).toBe('5');
        expect(await off.fetch('POST', '/api/v1/login/google', call)).toMatchObject({
          status: 403,
          json: { code: 'sign_in_disabled' },
        });
      } finally {
        await Promise.all([unreachable.stop(), off.stop()]);
      }
      const { token } = await service.superuser();
      const { id } = await me((await google(await sign({ ...claims(), sub: 'idle' }))).json.access_token);
      await service.fetch('PATCH', `/api/v1/users/${id}`, { token, body: { is_active: false } });
      const inactive = await google(await sign({ ...claims(), sub: 'idle' }));
      expect([inactive.status, inactive.json.detail]).toEqual([400, 'Inactive user']);
    });
  });

  describe('with Telegram', () => {
    const telegram = (body: object, app = service) => app.fetch('POST', '/api/v1/login/telegram', { body });
    const profile = (id: number) => {
      const members = { id, auth_date: service.clock.now() - 60, first_name: 'Klim', username: 'klim' };
      return { ...members, hash: telegramHash(BOT_TOKEN, members) };
    };

    test("takes the widget's hash of the published example", async () => {
      verifies('post-login-telegram');
      const then = 976_255_200;
      const app = await startApp({
        database,
        settings: { 'telegram.bot_token': BOT_TOKEN },
        clock: testClock(then + 60),
      });
      try {
        const example = {
          id: 1,
          first_name: 'Klim',
          last_name: 'Sidorov',
          username: 'klimsidorov',
          photo_url: 'https://t.me/klimsidorov',
          auth_date: then,
          hash: 'b7a7fc776729077786e4190aec2c5dcecd2ec66ae0faf1b44316d541b955da95',
        };
        const { status, json } = await telegram(example, app);
        expect(status).toBe(200);
        const user = await app.fetch('GET', '/api/v1/users/me', { token: json.access_token });
        expect(user.json).toMatchObject({ email: '1', source: 'telegram', full_name: 'Klim Sidorov' });
        expect((await telegram({ ...example, last_name: 'Ivanov' }, app)).status).toBe(400);
      } finally {
        await app.stop();
      }
    });

    test('counts every member that Telegram signed, and none that the page added', async () => {
      verifies('post-login-telegram');
      const { hash: _, ...members } = profile(42);
      const signed = { ...members, id_verified: true };
      const hash = telegramHash(BOT_TOKEN, signed);
      expect((await telegram({ ...signed, hash })).status).toBe(200);
      expect((await telegram({ ...members, hash })).status).toBe(400);
      expect((await telegram({ ...signed, id: 43, hash })).status).toBe(400);
      expect((await telegram({ ...profile(42), remember_me: true })).status).toBe(200);
    });

    test('the first sign-in makes the account, the next finds it; its slug does not tell the id', async () => {
      const first = (await telegram(profile(279058397))).json.access_token;
      const second = (await telegram({ ...profile(279058397), photo_url: null })).json.access_token;
      expect((await me(first)).id).toBe((await me(second)).id);
      const account = await service.fetch('GET', '/api/v1/merchant/account', { token: first });
      expect(account.json.slug).toMatch(/^klim/);
    });

    test('refuses a wrong hash, another id, and what is older than 24 hours or from the future', async () => {
      verifies('post-login-telegram', 'limit-sign-in-fields');
      const right = profile(5);
      const at = (auth_date: number) => {
        const members = { id: 5, auth_date };
        return { ...members, hash: telegramHash(BOT_TOKEN, members) };
      };
      const now = service.clock.now();
      expect((await telegram(at(now - 24 * HOUR))).status).toBe(200);
      for (const body of [
        { ...right, hash: 'f'.repeat(64) },
        { ...right, hash: 'f'.repeat(16) },
        { ...right, id: 6 },
        { ...right, username: undefined },
        at(now - 24 * HOUR - 1),
        at(now + HOUR),
      ]) {
        const { status, json } = await telegram(body);
        expect([status, json.detail]).toEqual([400, 'Invalid token']);
      }
      expect((await telegram({ id: 5 })).status).toBe(422);
    });

    test('cannot be moved to another account by members with line breaks', async () => {
      verifies('post-login-telegram');
      const auth_date = service.clock.now() - 60;
      const signed = (members: object) => telegramHash(BOT_TOKEN, { auth_date, ...members });
      // Signed for 666, whose name ends a line and begins the next one; sent as signed for 777.
      const named = { first_name: 'Eve', id: 666, last_name: 'x\nid=777', username: 'eve' };
      const moved = { first_name: 'Eve\nid=666\nlast_name=x', id: 777, username: 'eve' };
      expect(signed(moved)).toBe(signed(named));
      const first = { first_name: 'Eve\nid=777', id: 666, username: 'eve' };
      const unknown = { first_name: 'Eve', id: 777, 'id=666\nusername': 'eve' };
      expect(signed(unknown)).toBe(signed(first));
      for (const members of [moved, unknown, named, first]) {
        const { status, json } = await telegram({ auth_date, ...members, hash: signed(members) });
        expect([status, json.code]).toEqual([400, 'invalid_token']);
      }
      for (const each of ['\r', '\u0085', '\u2028', '\t']) {
        const members = { id: 778, first_name: `a${each}b` };
        expect((await telegram({ auth_date, ...members, hash: signed(members) })).status).toBe(400);
      }
      const part = { id: 778, 'first_name=a': 'b' };
      expect((await telegram({ auth_date, ...part, hash: signed(part) })).status).toBe(400);
      const family = { id: 778, first_name: '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}', last_name: 'a=b' };
      expect((await telegram({ auth_date, ...family, hash: signed(family) })).status).toBe(200);
    });

    test('is refused where no bot is configured', async () => {
      const off = await startApp({ database });
      try {
        expect(await telegram(profile(5), off)).toMatchObject({
          status: 403,
          json: { code: 'sign_in_disabled' },
        });
      } finally {
        await off.stop();
      }
    });
  });
});

async function publishKeys() {
  const pair = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'test', alg: 'RS256', use: 'sig' };
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, private_key: pair.privateKey, url: `http://127.0.0.1:${port}/certs` };
}
