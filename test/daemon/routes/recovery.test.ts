// Getting back in without the password, on both databases.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { issueAccessToken, issueRecoveryToken } from '../../../daemon/http/tokens.ts';
import { getUser } from '../../../data/users.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { PASSWORD, person, signIn } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const HOUR = 3600;

describe.each(databases)('password recovery on %s', (database) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({ database });
  });
  afterAll(() => service.stop());

  const ANSWER = { message: 'If that email is registered, we sent a password recovery link' };
  const outbox = () => join(service.app.config.data_dir, 'outbox');
  const recover = (email: string) =>
    service.fetch('POST', `/api/v1/password-recovery/${encodeURIComponent(email)}`);
  const reset = (token: string, new_password: string) =>
    service.fetch('POST', '/api/v1/reset-password/', { body: { token, new_password } });
  const mails = () => {
    try {
      return readdirSync(outbox());
    } catch {
      return [];
    }
  };
  /** The mail that `work` causes, decoded. */
  async function mailOf(work: () => Promise<unknown>): Promise<{ file: string; text: string }> {
    const before = new Set(mails());
    await work();
    const file = await vi.waitFor(
      () => {
        const made = mails().find((name) => !before.has(name));
        if (!made || statSync(join(outbox(), made)).size === 0) throw new Error('no mail yet');
        return join(outbox(), made);
      },
      { timeout: 10_000, interval: 20 },
    );
    const raw = readFileSync(file, 'utf8');
    const plain = raw.replace(/=\n/g, '');
    return {
      file,
      text: plain.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    };
  }

  test('sends a link whose token sets a new password once, and ends every token', async () => {
    verifies(
      'post-password-recovery',
      'post-reset-password',
      'recovery-token',
      'tokens-end',
      'sign-in-messages',
      'res-message',
    );
    const { email } = await person(service);
    const { access_token } = (await signIn(service, email, PASSWORD)).json;
    const { file, text } = await mailOf(async () => {
      const { status, json } = await recover(email.toUpperCase());
      expect([status, json]).toEqual([200, ANSWER]);
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(outbox()).mode & 0o777).toBe(0o700);
    expect(service.log.some((line) => line.includes(file))).toBe(true);
    expect(text).toContain(`To: ${email}`);
    const link = text.match(/http:\/\/127\.0\.0\.1:4020\/reset-password\?token=([\w.-]+)/);
    const token = link?.[1] ?? '';
    expect(service.log.some((line) => line.includes(token))).toBe(false);

    const short = await reset(token, 'short');
    expect([short.status, short.json.detail[0].type]).toEqual([422, 'string_too_short']);
    expect(JSON.stringify(short.json)).not.toContain(token);
    const done = await reset(token, 'a new long password');
    expect([done.status, done.json]).toEqual([200, { message: 'Password updated successfully' }]);
    expect((await signIn(service, email, 'a new long password')).status).toBe(200);
    expect((await signIn(service, email, PASSWORD)).status).toBe(400);
    expect((await service.fetch('GET', '/api/v1/users/me', { token: access_token })).status).toBe(403);
    const again = await reset(token, 'yet another password');
    expect([again.status, again.json.detail]).toEqual([400, 'Invalid token']);
  });

  test('answers the same for an unknown address and writes no mail', async () => {
    verifies('sign-in-messages');
    const unknown = ['absent@example.com', 'no email address', 'someone@gmail.com'];
    for (const email of unknown) expect((await recover(email)).json).toEqual(ANSWER);
    const { email } = await person(service);
    await mailOf(() => recover(email));
    const written = mails().map((name) => readFileSync(join(outbox(), name), 'utf8'));
    expect(written.filter((mail) => mail.includes(`To: ${email}`))).toHaveLength(1);
    expect(written.filter((mail) => unknown.some((each) => mail.includes(`To: ${each}`)))).toEqual([]);
  });

  test('of one token sent twice at once, one sets the password', async () => {
    verifies('recovery-token');
    const { id } = await person(service);
    const token = await tokenOf(id);
    const both = await Promise.all([reset(token, 'the first password'), reset(token, 'the second one')]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('takes no other token: of sign-in, expired, of a changed password, of a deleted or inactive user', async () => {
    verifies('recovery-token');
    const operator = await service.superuser();
    const refused = async (token: string, detail = 'Invalid token') => {
      const { status, json } = await reset(token, 'a new long password');
      expect([status, json.detail]).toEqual([400, detail]);
    };
    await refused('x');
    const { id, email } = await person(service);
    await refused((await signIn(service, email, PASSWORD)).json.access_token);

    const early = await tokenOf(id);
    service.clock.advance(48 * HOUR + 1);
    await refused(early);
    const before = await tokenOf(id);
    const used = await reset(await tokenOf(id), 'set in between');
    expect(used.status).toBe(200);
    await refused(before);

    const token = await issueAccessToken(service.app, { id: operator.id, token_version: 1 });
    const patch = (body: object) => service.fetch('PATCH', `/api/v1/users/${id}`, { token, body });
    expect((await patch({ is_active: false })).status).toBe(200);
    await refused(await tokenOf(id), 'Inactive user');
    await patch({ is_active: true });
    const last = await tokenOf(id);
    await service.fetch('DELETE', `/api/v1/users/${id}`, { token });
    await refused(last);
  });

  test('a recovery token does not sign in', async () => {
    const { id } = await person(service);
    const { status } = await service.fetch('GET', '/api/v1/users/me', { token: await tokenOf(id) });
    expect(status).toBe(403);
  });

  test('its mail is shown to superusers, with a working link', async () => {
    verifies('post-recovery-html');
    const { email } = await person(service);
    const show = (address: string, token?: string) =>
      service.fetch('POST', `/api/v1/password-recovery-html-content/${encodeURIComponent(address)}`, {
        token,
      });
    const { token } = await service.superuser();
    const shown = await show(email, token);
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const [, recovery = ''] = shown.text.match(/\/reset-password\?token=([\w.-]+)"/) ?? [];
    expect((await reset(recovery, 'from the shown mail')).status).toBe(200);
    const absent = await show('absent@example.com', token);
    expect([absent.status, absent.json.detail]).toEqual([
      404,
      'The user with this username does not exist in the system.',
    ]);
    const { token: merchant } = await service.merchant();
    expect((await show(email, merchant)).status).toBe(403);
    expect((await show(email)).status).toBe(401);
  });

  test('the page that the link opens carries the token and nothing else of the address', async () => {
    const page = await service.fetch('GET', '/reset-password?token=abc.DEF-1_2');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('name="token" value="abc.DEF-1_2"');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const hostile = await service.fetch('GET', `/reset-password?token=${encodeURIComponent('"><script>')}`);
    expect(hostile.text).toMatch(/name="token" value(="")?\/>/);
  });

  async function tokenOf(id: string): Promise<string> {
    const row = await getUser(service.app.db.query, id);
    if (!row) throw new Error('no such user');
    return issueRecoveryToken(service.app, row);
  }
});
