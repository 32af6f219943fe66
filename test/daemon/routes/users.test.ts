// Users, signing up and managing themselves: every row of the table of statuses, on both databases.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { issueAccessToken } from '../../../daemon/http/tokens.ts';
import { assertSecretMatches } from '../../../daemon/process/data-dir.ts';
import { verifyInput } from '../../../daemon/verify/books.ts';
import { getInvoice } from '../../../data/invoices.ts';
import { getMerchant, walletsOf } from '../../../data/merchants.ts';
import { verifyLaws } from '../../../data/verify/verify.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { create, credit, observe, transferTo } from '../../helpers/payments.ts';
import { ABSENT_ID, address, me, PASSWORD, person, signIn, signUp } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('users on %s', (database) => {
  let service: TestApp;
  let operator: { id: string; token: string };
  beforeAll(async () => {
    service = await startApp({ database });
    operator = await service.superuser();
  });
  afterAll(() => service.stop());

  describe('signing up', () => {
    test('makes a user with its merchant account, and answers nothing secret', async () => {
      verifies('post-signup');
      const email = address();
      const { status, json } = await signUp(service, { email: email.toUpperCase(), password: PASSWORD });
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
      verifies('sign-in-messages');
      const { email } = await person(service);
      const { status, json } = await signUp(service, {
        email: ` ${email.toUpperCase()}`,
        password: PASSWORD,
      });
      expect(status).toBe(400);
      expect(json).toMatchObject({
        detail: 'The user with this email already exists in the system',
        code: 'user_exists',
      });
    });

    test('makes one account where two ask for one address at once', async () => {
      const email = address();
      const both = await Promise.all([1, 2].map(() => signUp(service, { email, password: PASSWORD })));
      expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    test.each(['ada@gmail.com', 'Ada@GoogleMail.com', 'ada@ｇmail.com'])(
      'is refused for provider mail with the way that it signs in: %s',
      async (email) => {
        verifies('post-signup', 'identity-values');
        const { status, json } = await signUp(service, { email, password: PASSWORD });
        expect(status).toBe(400);
        expect(json.code).toBe('wrong_identity');
        expect(json.detail).toContain('/api/v1/login/google');
      },
    );

    test('is refused with 422 for a numeric id with the way that it signs in', async () => {
      verifies('post-signup', 'identity-values');
      const { status, json } = await signUp(service, { email: '123456789', password: PASSWORD });
      expect(status).toBe(422);
      expect(json.detail[0]).toMatchObject({ type: 'value_error', loc: ['body', 'email'] });
      expect(json.detail[0].msg).toContain('/api/v1/login/telegram');
    });

    test.each([
      ['password', 'x'.repeat(7)],
      ['password', 'x'.repeat(129)],
      ['email', `${'a'.repeat(250)}@example.com`],
      ['full_name', 'x'.repeat(256)],
    ])('is refused for a %s of another length', async (field, value) => {
      verifies('limit-passwords', 'limit-names');
      const { status, json } = await signUp(service, {
        email: address(),
        password: PASSWORD,
        [field]: value,
      });
      expect([status, json.detail[0].loc]).toEqual([422, ['body', field]]);
    });

    test('takes passwords of 8 and 128 characters and a name of 255', async () => {
      verifies('limit-passwords', 'limit-names');
      for (const length of [8, 128]) {
        const full_name = 'n'.repeat(255);
        const made = await signUp(service, { email: address(), password: 'p'.repeat(length), full_name });
        expect([made.status, made.json.full_name]).toEqual([200, full_name]);
      }
    });

    test('takes nothing that the caller may not choose', async () => {
      verifies('res-user');
      const { json } = await signUp(service, {
        email: address(),
        password: PASSWORD,
        is_superuser: true,
        is_active: false,
        id: ABSENT_ID,
        source: 'google',
        token_version: 99,
        limit_of_payments: '1000',
      });
      expect(json).toMatchObject({ is_superuser: false, is_active: true, source: 'email' });
      expect(json.id).not.toBe(ABSENT_ID);
    });

    test('gives equal names different slugs', async () => {
      verifies('slug');
      const made = await Promise.all(
        ['one', 'two', 'three'].map((host) =>
          signUp(service, { email: `same.name@${host}.example.com`, password: PASSWORD }),
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
      verifies('get-me');
      const { email, token } = await person(service);
      expect((await me(service, token)).json).toMatchObject({ email });
    });

    test('can be renamed; null removes the name, and left out keeps it', async () => {
      verifies('patch-me');
      const { token } = await person(service);
      const patch = (body: object) => service.fetch('PATCH', '/api/v1/users/me', { token, body });
      expect((await patch({ full_name: 'Ada Lovelace' })).json.full_name).toBe('Ada Lovelace');
      expect((await patch({})).json.full_name).toBe('Ada Lovelace');
      expect((await patch({ email: null })).json.full_name).toBe('Ada Lovelace');
      expect((await patch({ full_name: null })).json.full_name).toBeNull();
    });

    test('signs in with a new address and no longer with the old one', async () => {
      const { email, token } = await person(service);
      const next = address();
      const { status, json } = await service.fetch('PATCH', '/api/v1/users/me', {
        token,
        body: { email: next.toUpperCase(), is_superuser: true, source: 'google' },
      });
      expect([status, json.email, json.is_superuser, json.source]).toEqual([200, next, false, 'email']);
      expect((await signIn(service, next, PASSWORD)).status).toBe(200);
      expect((await signIn(service, email, PASSWORD)).status).toBe(400);
      expect((await signUp(service, { email, password: PASSWORD })).status).toBe(200);
    });

    test('cannot take an address that another has, nor provider mail', async () => {
      verifies('sign-in-messages');
      const [one, other] = [await person(service), await person(service)];
      const patch = (email: string) =>
        service.fetch('PATCH', '/api/v1/users/me', { token: one.token, body: { email } });
      const taken = await patch(other.email);
      expect([taken.status, taken.json.detail]).toEqual([409, 'User with this email already exists']);
      expect((await patch('someone@gmail.com')).json).toMatchObject({ code: 'wrong_identity' });
      expect((await me(service, one.token)).json.email).toBe(one.email);
    });

    test('changes its password, and every token before ends', async () => {
      verifies('patch-my-password', 'tokens-end', 'sign-in-messages');
      const { email, token } = await person(service);
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
      const ended = await me(service, token);
      expect([ended.status, ended.json.detail]).toEqual([403, 'Could not validate credentials']);
      expect((await signIn(service, email, PASSWORD)).status).toBe(400);
      expect((await signIn(service, email, 'another password')).status).toBe(200);
    });

    test('of two changes of the password at once, one is refused', async () => {
      const { token } = await person(service);
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

    test('is deleted with its tokens, its key and its units; the books stay, and the address is free again', async () => {
      verifies('delete-me', 'tokens-end');
      const merchant = await service.merchant();
      const invoice = await service.fetch('POST', '/v1/invoices', {
        key: merchant.key,
        body: { chain: 'ton', amount: '5' },
      });
      expect(invoice.status).toBe(200);
      const unit = await service.fetch('POST', '/api/v1/merchant/units', {
        token: merchant.token,
        body: { title: 'Coffee', amount_usd: 4.5, currencies: ['TON'] },
      });
      const gone = await service.fetch('DELETE', '/api/v1/users/me', { token: merchant.token });
      expect([gone.status, gone.json]).toEqual([200, { message: 'User deleted successfully' }]);
      const after = await me(service, merchant.token);
      expect([after.status, after.json.detail]).toEqual([404, 'User not found']);
      const read = await service.fetch('GET', `/v1/invoices/${invoice.json.id}`, { key: merchant.key });
      expect([read.status, read.json.detail]).toEqual([401, 'Invalid API key']);
      for (const path of [`/v1/units/${unit.json.id}`, new URL(unit.json.page_url).pathname])
        expect((await service.fetch('GET', path)).status, path).toBe(404);
      const remaining = await getInvoice(service.app.db.query, invoice.json.id);
      expect(remaining).toMatchObject({ owner_id: merchant.id, status: 'created' });
      expect((await signUp(service, { email: merchant.user.email, password: PASSWORD })).status).toBe(200);
    });

    test('leaves nothing of a person, a sale that runs to its end, and books that break no law', async () => {
      verifies('delete-erases');
      const own = await startApp({ database });
      onTestFinished(() => own.stop());
      const { app } = own;
      await assertSecretMatches(app.db, app.secrets, app.config.data_dir);
      const merchant = await own.merchant('ada@example.com');
      const { token } = merchant;
      const body = {
        webhook_url: 'https://shop.example/hook',
        slug: 'ada-shop',
        enabled_currencies: ['TON'],
      };
      expect((await own.fetch('PATCH', '/api/v1/merchant/account', { token, body })).status).toBe(200);
      await credit(own, merchant.id, 10_000_000n);
      const open = await create(own, merchant, 'ton');
      const [first] = await app.db.query.selectFrom('merchants').selectAll().execute();
      expect((await own.fetch('DELETE', '/api/v1/users/me', { token })).status).toBe(200);
      const row = await getMerchant(app.db.query, merchant.id);
      expect(row).toMatchObject({
        slug: `deleted-${merchant.id}`,
        webhook_url: null,
        prepaid_micros: 10_000_000n,
      });
      expect(row?.api_key_hash).not.toBe(first?.api_key_hash);
      expect(await walletsOf(app.db.query, merchant.id)).toEqual([]);
      const users = await app.db.query
        .selectFrom('users')
        .selectAll()
        .where('id', '=', merchant.id)
        .execute();
      // As a word: ids are random digits.
      expect(JSON.stringify([row?.slug, users])).not.toMatch(/\bada/);
      await observe(own, 'ton', [transferTo(own, open, { final: true })]);
      expect(await getInvoice(app.db.query, open.id)).toMatchObject({ status: 'confirmed' });
      expect(await app.db.query.selectFrom('deliveries').selectAll().execute()).toEqual([]);
      const { dialect, query } = app.db;
      const input = await verifyInput({ dialect, query, damages: undefined }, app.config, own.clock.now());
      const laws = await verifyLaws(input);
      expect(laws.filter(({ broken }) => broken.length > 0)).toEqual([]);
    });

    test('cannot be deleted as a superuser', async () => {
      verifies('sign-in-messages');
      const { status, json } = await service.fetch('DELETE', '/api/v1/users/me', { token: operator.token });
      expect([status, json.detail]).toEqual([403, 'Super users are not allowed to delete themselves']);
    });
  });

  test('a token of a version that does not exist, of another secret or past its time is refused', async () => {
    verifies('token-form');
    const { id, token } = await person(service);
    const forged = await issueAccessToken(service.app, { id, token_version: 7 });
    const tampered = `${token.slice(0, -4)}AAAA`;
    for (const bad of [forged, tampered, 'x'])
      expect((await me(service, bad)).json).toMatchObject({ detail: 'Could not validate credentials' });
    service.clock.advance(8 * 24 * 3600 + 1);
    expect((await me(service, token)).status).toBe(403);
    operator.token = await issueAccessToken(service.app, { id: operator.id, token_version: 1 });
  });
});
