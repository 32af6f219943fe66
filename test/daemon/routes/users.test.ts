// Users: every row of the table of statuses, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueAccessToken } from '../../../daemon/http/tokens.ts';
import { getInvoice } from '../../../data/invoices.ts';
import { getMerchant } from '../../../data/merchants.ts';
import { databases, startApp, type TestApp } from '../../helpers/app.ts';

const PASSWORD = 'correct horse battery';
const NOBODY = '00000000-0000-4000-8000-000000000000';

describe.each(databases)('users on %s', (database) => {
  let service: TestApp;
  let operator: { id: string; token: string };
  let serial = 0;
  beforeAll(async () => {
    service = await startApp({ database });
    operator = await service.superuser();
  });
  afterAll(() => service.stop());

  const address = () => `user${++serial}@example.com`;
  const signup = (body: object) => service.fetch('POST', '/api/v1/users/signup', { body });
  const login = async (email: string, password: string) =>
    service.fetch('POST', '/api/v1/login/access-token', {
      body: new URLSearchParams({ username: email, password }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  /** A user with a password, and a token of its. */
  async function user() {
    const email = address();
    const { json } = await signup({ email, password: PASSWORD });
    const { access_token } = (await login(email, PASSWORD)).json;
    return { id: json.id as string, email, token: access_token as string };
  }
  const me = (token: string) => service.fetch('GET', '/api/v1/users/me', { token });

  describe('signing up', () => {
    test('makes a user with its merchant account, and answers nothing secret', async () => {
      const email = address();
      const { status, json } = await signup({ email: email.toUpperCase(), password: PASSWORD });
      expect(status).toBe(200);
      expect(json).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email,
        is_active: true,
        is_superuser: false,
        full_name: null,
        created_at: '2027-01-15T08:00:00.000Z',
        source: 'email',
      });
      const merchant = await getMerchant(service.app.db.query, json.id);
      expect(merchant).toMatchObject({ prepaid_micros: 0n, ledger_seq: 0, ledger_hash: '0'.repeat(64) });
      expect(merchant?.slug).toBe(email.split('@')[0]);
    });

    test('is refused with 400 where the address is taken, in any spelling', async () => {
      const { email } = await user();
      const { status, json } = await signup({ email: ` ${email.toUpperCase()}`, password: PASSWORD });
      expect(status).toBe(400);
      expect(json).toMatchObject({
        detail: 'The user with this email already exists in the system',
        code: 'user_exists',
      });
    });

    test('makes one account where two ask for one address at once', async () => {
      const email = address();
      const both = await Promise.all([1, 2].map(() => signup({ email, password: PASSWORD })));
      expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    test.each(['ada@gmail.com', 'Ada@GoogleMail.com', 'ada@ｇmail.com'])(
      'is refused for provider mail with the way that it signs in: %s',
      async (email) => {
        const { status, json } = await signup({ email, password: PASSWORD });
        expect(status).toBe(400);
        expect(json.code).toBe('wrong_identity');
        expect(json.detail).toContain('/api/v1/login/google');
      },
    );

    test('is refused with 422 for a numeric id', async () => {
      const { status, json } = await signup({ email: '123456789', password: PASSWORD });
      expect(status).toBe(422);
      expect(json.detail[0]).toMatchObject({ type: 'value_error', loc: ['body', 'email'] });
    });

    test('takes nothing that the caller may not choose', async () => {
      const { json } = await signup({
        email: address(),
        password: PASSWORD,
        is_superuser: true,
        is_active: false,
        id: NOBODY,
        source: 'google',
        token_version: 99,
        limit_of_payments: '1000',
      });
      expect(json).toMatchObject({ is_superuser: false, is_active: true, source: 'email' });
      expect(json.id).not.toBe(NOBODY);
    });

    test('gives equal names different slugs', async () => {
      const made = await Promise.all(
        ['one', 'two', 'three'].map((host) =>
          signup({ email: `same.name@${host}-${serial}.example.com`, password: PASSWORD }),
        ),
      );
      const slugs = await Promise.all(
        made.map(async ({ json }) => (await getMerchant(service.app.db.query, json.id))?.slug),
      );
      expect(new Set(slugs).size).toBe(3);
      expect(slugs).toContain('same-name');
      for (const slug of slugs) expect(slug).toMatch(/^same-name(-[a-z0-9]{6})?$/);
    });
  });

  describe('oneself', () => {
    test('is answered to its token', async () => {
      const { email, token } = await user();
      expect((await me(token)).json).toMatchObject({ email });
    });

    test('can be renamed; null removes the name, and left out keeps it', async () => {
      const { token } = await user();
      const patch = (body: object) => service.fetch('PATCH', '/api/v1/users/me', { token, body });
      expect((await patch({ full_name: 'Ada Lovelace' })).json.full_name).toBe('Ada Lovelace');
      expect((await patch({})).json.full_name).toBe('Ada Lovelace');
      expect((await patch({ email: null })).json.full_name).toBe('Ada Lovelace');
      expect((await patch({ full_name: null })).json.full_name).toBeNull();
    });

    test('signs in with a new address and no longer with the old one', async () => {
      const { email, token } = await user();
      const next = address();
      const { status, json } = await service.fetch('PATCH', '/api/v1/users/me', {
        token,
        body: { email: next.toUpperCase(), is_superuser: true, source: 'google' },
      });
      expect([status, json.email, json.is_superuser, json.source]).toEqual([200, next, false, 'email']);
      expect((await login(next, PASSWORD)).status).toBe(200);
      expect((await login(email, PASSWORD)).status).toBe(400);
      expect((await signup({ email, password: PASSWORD })).status).toBe(200);
    });

    test('cannot take an address that another has, nor provider mail', async () => {
      const [one, other] = [await user(), await user()];
      const patch = (email: string) =>
        service.fetch('PATCH', '/api/v1/users/me', { token: one.token, body: { email } });
      const taken = await patch(other.email);
      expect([taken.status, taken.json.detail]).toEqual([409, 'User with this email already exists']);
      expect((await patch('someone@gmail.com')).json).toMatchObject({ code: 'wrong_identity' });
      expect((await me(one.token)).json.email).toBe(one.email);
    });

    test('changes its password, and every token before ends', async () => {
      const { email, token } = await user();
      const change = (current_password: string, new_password: string) =>
        service.fetch('PATCH', '/api/v1/users/me/password', {
          token,
          body: { current_password, new_password },
        });
      const wrong = await change('not the password', 'another password');
      expect([wrong.status, wrong.json.detail]).toEqual([400, 'Incorrect password']);
      const same = await change(PASSWORD, PASSWORD);
      expect([same.status, same.json.detail]).toEqual([
        400,
        'New password cannot be the same as the current one',
      ]);
      const done = await change(PASSWORD, 'another password');
      expect([done.status, done.json]).toEqual([200, { message: 'Password updated successfully' }]);
      const ended = await me(token);
      expect([ended.status, ended.json.detail]).toEqual([403, 'Could not validate credentials']);
      expect((await login(email, PASSWORD)).status).toBe(400);
      expect((await login(email, 'another password')).status).toBe(200);
    });

    test('of two changes of the password at once, one is refused', async () => {
      const { token } = await user();
      const both = await Promise.all(
        ['first new password', 'second new password'].map((new_password) =>
          service.fetch('PATCH', '/api/v1/users/me/password', {
            token,
            body: { current_password: PASSWORD, new_password },
          }),
        ),
      );
      const [won, lost] = both.map(({ status }) => status).sort();
      // The second is refused for its password, or already for the token that the first has ended.
      expect([won, [400, 403].includes(lost ?? 0)]).toEqual([200, true]);
    });

    test('is deleted with its tokens and its key; the books stay, and the address is free again', async () => {
      const merchant = await service.merchant();
      const invoice = await service.fetch('POST', '/v1/invoices', {
        key: merchant.key,
        body: { chain: 'ton', amount: '5' },
      });
      expect(invoice.status).toBe(200);
      const gone = await service.fetch('DELETE', '/api/v1/users/me', { token: merchant.token });
      expect([gone.status, gone.json]).toEqual([200, { message: 'User deleted successfully' }]);
      const after = await me(merchant.token);
      expect([after.status, after.json.detail]).toEqual([404, 'User not found']);
      const read = await service.fetch('GET', `/v1/invoices/${invoice.json.id}`, { key: merchant.key });
      expect([read.status, read.json.detail]).toEqual([401, 'Invalid API key']);
      const kept = await getInvoice(service.app.db.query, invoice.json.id);
      expect(kept).toMatchObject({ owner_id: merchant.id, status: 'created' });
      expect((await signup({ email: merchant.user.email, password: PASSWORD })).status).toBe(200);
    });

    test('cannot be deleted as a superuser', async () => {
      const { status, json } = await service.fetch('DELETE', '/api/v1/users/me', { token: operator.token });
      expect([status, json.detail]).toEqual([403, 'Super users are not allowed to delete themselves']);
    });
  });

  describe('management', () => {
    const managing: [string, string, object?][] = [
      ['GET', '/api/v1/users/'],
      ['POST', '/api/v1/users/', { email: 'x@example.com', password: PASSWORD }],
      ['PATCH', `/api/v1/users/${NOBODY}`, { full_name: 'x' }],
      ['DELETE', `/api/v1/users/${NOBODY}`],
    ];
    test.each(managing)('%s %s is for superusers', async (method, path, body) => {
      const anonymous = await service.fetch(method, path, { body });
      expect([anonymous.status, anonymous.json.detail]).toEqual([401, 'Not authenticated']);
      expect(anonymous.headers.get('www-authenticate')).toBe('Bearer');
      const { token } = await user();
      const refused = await service.fetch(method, path, { token, body });
      expect([refused.status, refused.json.detail]).toEqual([403, "The user doesn't have enough privileges"]);
    });

    test('lists users newest first, in pages', async () => {
      const { token } = operator;
      service.clock.advance(10);
      const newest = await user();
      const page = await service.fetch('GET', '/api/v1/users/?limit=1', { token });
      expect(page.json.data.map(({ id }: { id: string }) => id)).toEqual([newest.id]);
      const all = (await service.fetch('GET', '/api/v1/users', { token })).json;
      expect(all.count).toBe(all.data.length);
      const skipped = await service.fetch('GET', '/api/v1/users/?skip=1&limit=1', { token });
      expect(skipped.json.data[0].id).toBe(all.data[1].id);
      expect((await service.fetch('GET', '/api/v1/users/?limit=x', { token })).status).toBe(422);
    });

    test('makes users, also inactive ones and superusers', async () => {
      const make = (body: object) => service.fetch('POST', '/api/v1/users/', { token: operator.token, body });
      const email = address();
      const made = await make({ email, password: PASSWORD, is_active: false, is_superuser: true });
      expect(made.json).toMatchObject({ email, is_active: false, is_superuser: true });
      const again = await make({ email, password: PASSWORD });
      expect([again.status, again.json.detail]).toEqual([
        400,
        'The user with this email already exists in the system.',
      ]);
      expect((await make({ email: 'x@gmail.com', password: PASSWORD })).json.code).toBe('wrong_identity');
      const refused = await login(email, PASSWORD);
      expect([refused.status, refused.json.detail]).toEqual([400, 'Inactive user']);
      await service.fetch('DELETE', `/api/v1/users/${made.json.id}`, { token: operator.token });
    });

    test('shows a user to itself and to superusers only', async () => {
      const [one, other] = [await user(), await user()];
      const read = (id: string, token: string) => service.fetch('GET', `/api/v1/users/${id}`, { token });
      expect((await read(one.id, one.token)).json.email).toBe(one.email);
      expect((await read(one.id, operator.token)).json.email).toBe(one.email);
      for (const id of [other.id, NOBODY]) {
        const refused = await read(id, one.token);
        expect([refused.status, refused.json.detail]).toEqual([
          403,
          "The user doesn't have enough privileges",
        ]);
      }
      const absent = await read(NOBODY, operator.token);
      expect([absent.status, absent.json.detail]).toEqual([404, 'User not found']);
      expect((await read('not-an-id', operator.token)).status).toBe(422);
    });

    test('changes users; a new password and deactivating end their tokens', async () => {
      const patch = (id: string, body: object) =>
        service.fetch('PATCH', `/api/v1/users/${id}`, { token: operator.token, body });
      const one = await user();
      const renamed = await patch(one.id, {
        full_name: 'Grace',
        email: null,
        password: null,
        is_active: null,
      });
      expect(renamed.json).toMatchObject({ full_name: 'Grace', email: one.email, is_active: true });
      expect((await me(one.token)).status).toBe(200);

      expect((await patch(one.id, { password: 'set by an operator' })).status).toBe(200);
      expect((await me(one.token)).status).toBe(403);
      const token = (await login(one.email, 'set by an operator')).json.access_token;
      expect((await me(token)).status).toBe(200);

      expect((await patch(one.id, { is_active: false })).json.is_active).toBe(false);
      const inactive = await me(token);
      expect([inactive.status, inactive.json.detail]).toEqual([400, 'Inactive user']);
      await patch(one.id, { is_active: true });
      expect((await me(token)).status).toBe(403);

      const other = await user();
      const taken = await patch(one.id, { email: other.email });
      expect([taken.status, taken.json.detail]).toEqual([409, 'User with this email already exists']);
      const absent = await patch(NOBODY, { full_name: 'x' });
      expect([absent.status, absent.json.detail]).toEqual([
        404,
        'The user with this id does not exist in the system',
      ]);
    });

    test('deletes users, but not the superuser that asks', async () => {
      const remove = (id: string) =>
        service.fetch('DELETE', `/api/v1/users/${id}`, { token: operator.token });
      const one = await user();
      const gone = await remove(one.id);
      expect([gone.status, gone.json]).toEqual([200, { message: 'User deleted successfully' }]);
      const again = await remove(one.id);
      expect([again.status, again.json.detail]).toEqual([404, 'User not found']);
      const self = await remove(operator.id);
      expect([self.status, self.json.detail]).toEqual([
        403,
        'Super users are not allowed to delete themselves',
      ]);
    });

    test('two superusers that remove each other at once leave one', async () => {
      const pair = await startApp({ database });
      try {
        const [a, b] = [await pair.superuser(), await pair.superuser()];
        const both = await Promise.all([
          pair.fetch('DELETE', `/api/v1/users/${b.id}`, { token: a.token }),
          pair.fetch('PATCH', `/api/v1/users/${a.id}`, { token: b.token, body: { is_superuser: false } }),
        ]);
        expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
        const last = await Promise.all(
          [a, b].map(({ token }) => pair.fetch('GET', '/api/v1/users/', { token })),
        );
        expect(last.filter(({ status }) => status === 200)).toHaveLength(1);
      } finally {
        await pair.stop();
      }
    });
  });

  test('a token of a version that does not exist, of another secret or past its time is refused', async () => {
    const { id, token } = await user();
    const forged = await issueAccessToken(service.app, { id, token_version: 7 });
    const tampered = `${token.slice(0, -4)}AAAA`;
    for (const bad of [forged, tampered, 'x'])
      expect((await me(bad)).json).toMatchObject({ detail: 'Could not validate credentials' });
    service.clock.advance(8 * 24 * 3600 + 1);
    expect((await me(token)).status).toBe(403);
    operator.token = await issueAccessToken(service.app, { id: operator.id, token_version: 1 });
  });
});
