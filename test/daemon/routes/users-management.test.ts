// Users, managed by superusers: every row of the table of statuses, on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { ABSENT_ID, address, me, PASSWORD, person, signIn } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('management of users on %s', (database) => {
  let service: TestApp;
  let operator: { id: string; token: string };
  beforeAll(async () => {
    service = await startApp({ database });
    operator = await service.superuser();
  });
  afterAll(() => service.stop());

  const managing: [string, string, object?][] = [
    ['GET', '/api/v1/users/'],
    ['POST', '/api/v1/users/', { email: 'x@example.com', password: PASSWORD }],
    ['PATCH', `/api/v1/users/${ABSENT_ID}`, { full_name: 'x' }],
    ['DELETE', `/api/v1/users/${ABSENT_ID}`],
  ];
  test.each(managing)('%s %s is for superusers', async (method, path, body) => {
    verifies('users-superuser');
    const anonymous = await service.fetch(method, path, { body });
    expect([anonymous.status, anonymous.json.detail]).toEqual([401, 'Not authenticated']);
    expect(anonymous.headers.get('www-authenticate')).toBe('Bearer');
    const { token } = await person(service);
    const refused = await service.fetch(method, path, { token, body });
    expect([refused.status, refused.json.detail]).toEqual([403, "The user doesn't have enough privileges"]);
  });

  test('lists users newest first, in pages', async () => {
    verifies('get-users', 'res-users');
    const { token } = operator;
    service.clock.advance(10);
    const newest = await person(service);
    const page = await service.fetch('GET', '/api/v1/users/?limit=1', { token });
    expect(page.json.data.map(({ id }: { id: string }) => id)).toEqual([newest.id]);
    const all = (await service.fetch('GET', '/api/v1/users', { token })).json;
    expect(all.count).toBe(all.data.length);
    const skipped = await service.fetch('GET', '/api/v1/users/?skip=1&limit=1', { token });
    expect(skipped.json.data[0].id).toBe(all.data[1].id);
    expect((await service.fetch('GET', '/api/v1/users/?limit=x', { token })).status).toBe(422);
  });

  test('makes users, also inactive ones and superusers', async () => {
    verifies('post-users');
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
    const refused = await signIn(service, email, PASSWORD);
    expect([refused.status, refused.json.detail]).toEqual([400, 'Inactive user']);
    await service.fetch('DELETE', `/api/v1/users/${made.json.id}`, { token: operator.token });
  });

  test('shows a user to itself and to superusers only', async () => {
    verifies('get-user', 'users-superuser');
    const [one, other] = [await person(service), await person(service)];
    const read = (id: string, token: string) => service.fetch('GET', `/api/v1/users/${id}`, { token });
    expect((await read(one.id, one.token)).json.email).toBe(one.email);
    expect((await read(one.id, operator.token)).json.email).toBe(one.email);
    for (const id of [other.id, ABSENT_ID]) {
      const refused = await read(id, one.token);
      expect([refused.status, refused.json.detail]).toEqual([403, "The user doesn't have enough privileges"]);
    }
    const absent = await read(ABSENT_ID, operator.token);
    expect([absent.status, absent.json.detail]).toEqual([404, 'User not found']);
    expect(absent.json.next.operation).toBe('listUsers');
    expect((await read('not-an-id', operator.token)).status).toBe(422);
  });

  test('changes users; a new password and deactivating end their tokens', async () => {
    verifies('patch-user', 'tokens-end');
    const patch = (id: string, body: object) =>
      service.fetch('PATCH', `/api/v1/users/${id}`, { token: operator.token, body });
    const one = await person(service);
    const renamed = await patch(one.id, {
      full_name: 'Grace',
      email: null,
      password: null,
      is_active: null,
    });
    expect(renamed.json).toMatchObject({ full_name: 'Grace', email: one.email, is_active: true });
    expect((await me(service, one.token)).status).toBe(200);

    expect((await patch(one.id, { password: 'set by an operator' })).status).toBe(200);
    expect((await me(service, one.token)).status).toBe(403);
    const token = (await signIn(service, one.email, 'set by an operator')).json.access_token;
    expect((await me(service, token)).status).toBe(200);

    expect((await patch(one.id, { is_active: false })).json.is_active).toBe(false);
    const inactive = await me(service, token);
    expect([inactive.status, inactive.json.detail]).toEqual([400, 'Inactive user']);
    await patch(one.id, { is_active: true });
    expect((await me(service, token)).status).toBe(403);

    const other = await person(service);
    const taken = await patch(one.id, { email: other.email });
    expect([taken.status, taken.json.detail]).toEqual([409, 'User with this email already exists']);
    const absent = await patch(ABSENT_ID, { full_name: 'x' });
    expect([absent.status, absent.json.detail]).toEqual([
      404,
      'The user with this id does not exist in the system',
    ]);
  });

  test('deletes users, but not the superuser that asks', async () => {
    verifies('delete-user');
    const remove = (id: string) => service.fetch('DELETE', `/api/v1/users/${id}`, { token: operator.token });
    const one = await person(service);
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
