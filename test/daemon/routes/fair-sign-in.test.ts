// No one keeps others from signing in: neither by wrong passwords nor by filling the queue of hashes, on both databases.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { address, PASSWORD } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

// The queue is only filled by hashes that take their time.
vi.unmock('@node-rs/argon2');

const CONNECTIONS = 125;
const STRANGER = '203.0.113.66';
const OWNER = '198.51.100.7';

describe.each(databases)('sign-in on %s', (database) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({ database, settings: { demo: false, signup: 'open', trust_proxy: true } });
  });
  afterAll(() => service.stop());

  const signIn = (username: string, password: string, ip: string) =>
    service.fetch('POST', '/api/v1/login/access-token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': ip },
      body: `${new URLSearchParams({ username, password })}`,
    });
  const owner = async (ip: string): Promise<string> => {
    const email = address();
    const body = { email, password: PASSWORD };
    const made = await service.fetch('POST', '/api/v1/users/signup', {
      body,
      headers: { 'x-forwarded-for': ip },
    });
    expect(made.status).toBe(200);
    return email;
  };

  test('is open to the owner while strangers try his address, recover his password and enter his Telegram id', async () => {
    verifies('rate-limit-sign-in');
    const email = await owner(OWNER);
    const spellings = [email, email.toUpperCase(), ` ${email}`, `${email}\u200b`];
    const tried: number[] = [];
    for (let at = 0; at < 8; at++)
      tried.push((await signIn(spellings[at % 4] ?? '', 'wrong password', STRANGER)).status);
    expect(tried).toEqual([400, 400, 400, 400, 400, 429, 429, 429]);
    expect((await signIn(email, PASSWORD, OWNER)).status).toBe(200);
    const recover = (ip: string) =>
      service.fetch('POST', `/api/v1/password-recovery/${email}`, { headers: { 'x-forwarded-for': ip } });
    for (let at = 0; at < 6; at++) await recover(STRANGER);
    expect((await recover(STRANGER)).status).toBe(429);
    expect((await recover(OWNER)).status).toBe(200);
    const telegram = (ip: string) =>
      service.fetch('POST', '/api/v1/login/telegram', {
        headers: { 'x-forwarded-for': ip },
        body: { id: 279058397, auth_date: service.clock.now(), hash: 'ab'.repeat(32) },
      });
    for (let at = 0; at < 6; at++) await telegram('203.0.113.67');
    expect((await telegram('203.0.113.67')).status).toBe(429);
    expect((await telegram(OWNER)).json.code).toBe('sign_in_disabled');
  });

  test('is open to the operator while one merchant changes his password over and over', async () => {
    verifies('passwords-in-turn', 'rate-limit-429');
    const email = await owner('198.51.100.8');
    const token = (await signIn(email, PASSWORD, '198.51.100.8')).json.access_token;
    const change = (at: number) =>
      service.fetch('PATCH', '/api/v1/users/me/password', {
        token,
        headers: { 'x-forwarded-for': `10.${at >> 4}.0.1` },
        body: { current_password: 'not the password', new_password: 'another long one' },
      });
    const operator = await owner('198.51.100.9');
    const flood = Array.from({ length: CONNECTIONS }, (_, at) => change(at));
    const entered = await signIn(operator, PASSWORD, '198.51.100.9');
    expect(entered.status).toBe(200);
    const answers = (await Promise.all(flood)).map(({ status }) => status);
    expect(new Set(answers)).toEqual(new Set([400, 429]));
    // From one address it is as often as sign-in.
    service.clock.advance(61);
    const here: number[] = [];
    for (let at = 0; at < 6; at++) here.push((await change(0)).status);
    expect(here).toEqual([400, 400, 400, 400, 400, 429]);
  });
});
