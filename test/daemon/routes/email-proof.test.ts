// Mail addresses are proved before they recover an account or replace another, on both databases.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { putSuperuser } from '../../../daemon/accounts/superuser.ts';
import { languages } from '../../../daemon/checkout/language.ts';
import { issueEmailToken, issueInviteToken, issueRecoveryToken } from '../../../daemon/http/tokens.ts';
import type { Email } from '../../../daemon/mail/mail.ts';
import { getUser, userByIdentity } from '../../../data/users.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { account, address, me, PASSWORD, person, signIn, signUp } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const HOUR = 3600;

describe.each(databases)('mail addresses on %s', (database) => {
  let service: TestApp;
  const sent: Email[] = [];
  beforeAll(async () => {
    // Nothing is exempt from limits without demo mode, and all calls here come from one address.
    const limits = { 'limits.recovery_per_address': '0', 'limits.signup_per_address': '0' };
    const more = { 'limits.login_per_address': '0', signup: 'open' };
    service = await startApp({ single: true, database, settings: { demo: false, ...limits, ...more } });
    vi.spyOn(service.app.mail, 'send').mockImplementation(async (email) => void sent.push(email));
  });
  afterAll(() => service.stop());

  const mailsTo = (to: string) => sent.filter((email) => email.to === to);
  const linksTo = (to: string) => mailsTo(to).filter(({ text }) => text.includes('/confirm-email?'));
  const tokenTo = async (to: string, sent = 1): Promise<string> => {
    await vi.waitFor(() => expect(linksTo(to).length).toBeGreaterThanOrEqual(sent));
    const { text } = linksTo(to).at(-1) as Email;
    return /\/confirm-email\?token=([\w.-]+)/.exec(text)?.[1] ?? expect.fail(text);
  };
  const confirm = (token: string) => service.fetch('POST', '/api/v1/confirm-email', { body: { token } });
  const ask = async (email: string) => {
    const { status, json } = await service.fetch('POST', `/api/v1/password-recovery/${email}`);
    const message = 'If that email is registered, we sent a password recovery link';
    expect([status, json.message]).toEqual([200, message]);
  };
  const recoveries = (to: string) =>
    mailsTo(to).filter(({ text }) => text.includes('/reset-password?')).length;
  const recovers = async (email: string) => {
    const before = recoveries(email);
    await ask(email);
    await vi.waitFor(() => expect(recoveries(email)).toBe(before + 1), { timeout: 10_000 });
  };
  const recoversNothing = async (email: string) => {
    await ask(email);
    // What is asked for later is sent later: then nothing is on its way any more.
    await recovers((await account(service.app)).email);
    expect(recoveries(email)).toBe(0);
  };
  const patch = (token: string, body: object) => service.fetch('PATCH', '/api/v1/users/me', { token, body });

  test('one that signed up recovers nothing until the link that was sent to it is confirmed, once', async () => {
    verifies('email-proof');
    const email = address();
    const made = await signUp(service, { email, password: PASSWORD });
    expect([made.status, made.json.pending_email]).toEqual([200, email]);
    const token = await tokenTo(email);
    await recoversNothing(email);
    const { access_token } = (await signIn(service, email, PASSWORD)).json;

    const page = await service.fetch('GET', `/confirm-email?token=${token}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain(`name="token" value="${token}"`);
    expect((await me(service, access_token)).json.pending_email).toBe(email);

    const done = await confirm(token);
    expect([done.status, done.json]).toEqual([200, { message: 'Email address confirmed' }]);
    // What was issued before the proof ends with it.
    expect((await me(service, access_token)).status).toBe(403);
    const entered = (await signIn(service, email, PASSWORD)).json.access_token;
    expect((await me(service, entered)).json).not.toHaveProperty('pending_email');
    await recovers(email);
    const again = await confirm(token);
    expect([again.status, again.json.code]).toEqual([400, 'invalid_token']);
  });

  test('a new one replaces the old one when it is confirmed, and not before', async () => {
    verifies('email-change');
    const { email, token } = await proved();
    const next = address();
    const asked = await patch(token, { email: next.toUpperCase(), full_name: 'Ada' });
    expect([asked.status, asked.json.email, asked.json.pending_email, asked.json.full_name]).toEqual([
      200,
      email,
      next,
      'Ada',
    ]);
    expect((await signIn(service, next, PASSWORD)).status).toBe(400);
    await recoversNothing(next);
    const link = await tokenTo(next);
    expect((await confirm(link)).status).toBe(200);
    expect((await signIn(service, email, PASSWORD)).status).toBe(400);
    const entered = (await signIn(service, next, PASSWORD)).json.access_token;
    const after = (await me(service, entered)).json;
    expect([after.email, after.pending_email]).toEqual([next, undefined]);

    // Back and forth: the link of the first time stays used.
    await patch(entered, { email });
    expect((await confirm(await tokenTo(email, 2))).status).toBe(200);
    await patch((await signIn(service, email, PASSWORD)).json.access_token, { email: next });
    expect((await confirm(link)).status).toBe(400);
  });

  test('a change is withdrawn by the present address, and replaced by another', async () => {
    verifies('email-change');
    const { email, token } = await proved();
    const [first, second] = [address(), address()];
    await patch(token, { email: first });
    const early = await tokenTo(first);
    expect((await patch(token, { email: second })).json.pending_email).toBe(second);
    expect((await confirm(early)).json.code).toBe('invalid_token');
    expect((await patch(token, { email })).json).not.toHaveProperty('pending_email');
    expect((await confirm(await tokenTo(second))).json.code).toBe('invalid_token');
  });

  test('one that another has is refused at once, and one that another took meanwhile when it is confirmed', async () => {
    verifies('email-change');
    const [one, other] = [await proved(), await proved()];
    const taken = await patch(one.token, { email: other.email });
    expect([taken.status, taken.json.detail]).toEqual([409, 'User with this email already exists']);
    const wanted = address();
    await patch(one.token, { email: wanted });
    const link = await tokenTo(wanted);
    await signUp(service, { email: wanted, password: PASSWORD });
    expect(await confirm(link)).toMatchObject({ status: 409, json: { code: 'email_taken' } });
    expect((await patch(one.token, { email: 'someone@gmail.com' })).json.code).toBe('wrong_identity');
  });

  test('the mail is sent again to those who ask, and to no one whose address is proved', async () => {
    verifies('email-proof');
    const email = address();
    await signUp(service, { email, password: PASSWORD });
    const first = await tokenTo(email);
    let token = (await signIn(service, email, PASSWORD)).json.access_token;
    const again = () => service.fetch('POST', '/api/v1/users/me/email-confirmation', { token });
    expect((await again()).json).toEqual({ message: `A link was sent to ${email}` });
    expect(mailsTo(email)).toHaveLength(2);
    expect((await confirm(first)).status).toBe(200);
    expect((await confirm(await tokenTo(email))).status).toBe(400);
    token = (await signIn(service, email, PASSWORD)).json.access_token;
    expect((await again()).json.message).toContain('confirmed already');
    expect(mailsTo(email)).toHaveLength(2);
  });

  test('asking again is limited for each user', async () => {
    verifies('rate-limit-sign-in');
    const { token } = await proved();
    const again = () => service.fetch('POST', '/api/v1/users/me/email-confirmation', { token });
    const answers: number[] = [];
    for (let call = 0; call < 6; call++) answers.push((await again()).status);
    expect(answers).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('a link is of its own kind, expires, and is of no use for a deleted or inactive user', async () => {
    verifies('email-proof');
    const email = address();
    const { json } = await signUp(service, { email, password: PASSWORD });
    const row = await getUser(service.app.db.query, json.id);
    if (!row) throw new Error('no such user');
    const access = (await signIn(service, email, PASSWORD)).json.access_token;
    for (const token of ['x', access, await issueRecoveryToken(service.app, row)])
      expect((await confirm(token)).json.code).toBe('invalid_token');
    const link = await tokenTo(email);
    expect((await me(service, link)).status).toBe(403);
    const body = { token: link, new_password: PASSWORD };
    expect((await service.fetch('POST', '/api/v1/reset-password/', { body })).status).toBe(400);
    service.clock.advance(48 * HOUR + 1);
    expect((await confirm(link)).json.code).toBe('invalid_token');
    const operator = await service.superuser();
    const path = `/api/v1/users/${json.id}`;
    await service.fetch('PATCH', path, { token: operator.token, body: { is_active: false } });
    const ended = (await getUser(service.app.db.query, json.id)) ?? expect.fail();
    const fresh = await issueEmailToken(service.app, ended, email);
    expect((await confirm(fresh)).json.code).toBe('inactive_user');
    await service.fetch('DELETE', path, { token: operator.token });
    expect((await confirm(fresh)).json.code).toBe('invalid_token');
  });

  test('the operator vouches: superusers, users they make or change, and those they invited', async () => {
    verifies('email-proof');
    const { token } = await service.superuser();
    const email = address();
    const made = await service.fetch('POST', '/api/v1/users/', {
      token,
      body: { email, password: PASSWORD },
    });
    expect(made.json).not.toHaveProperty('pending_email');
    const own = address();
    await signUp(service, { email: own, password: PASSWORD });
    const { id } = (await userByIdentity(service.app.db.query, 'email', own)) ?? expect.fail();
    const next = address();
    const path = `/api/v1/users/${id}`;
    const changed = await service.fetch('PATCH', path, { token, body: { email: next } });
    expect(changed.json).toMatchObject({ email: next });
    expect(changed.json).not.toHaveProperty('pending_email');
    await recovers(next);
    const boss = address();
    await putSuperuser(service.app, boss, PASSWORD);
    await recovers(boss);
    const guest = address();
    const invite = await issueInviteToken(service.app, guest, HOUR);
    expect((await signUp(service, { email: guest, password: PASSWORD, invite })).json).not.toHaveProperty(
      'pending_email',
    );
    await recovers(guest);
  });

  test('superusers get the recovery mail of an address that is not proved', async () => {
    verifies('post-recovery-html');
    const email = address();
    await signUp(service, { email, password: PASSWORD });
    const { token } = await service.superuser();
    const path = `/api/v1/password-recovery-html-content/${email}`;
    expect((await service.fetch('POST', path, { token })).status).toBe(200);
  });

  test('in demo mode every address counts as proved', async () => {
    verifies('email-proof');
    const demo = await startApp({ database });
    const { email, token } = await person(demo);
    expect((await me(demo, token)).json).not.toHaveProperty('pending_email');
    const next = address();
    const { json } = await demo.fetch('PATCH', '/api/v1/users/me', { token, body: { email: next } });
    expect(json).toMatchObject({ email: next });
    expect(json).not.toHaveProperty('pending_email');
    expect((await signIn(demo, email, PASSWORD)).status).toBe(400);
    await demo.stop();
  });

  describe('a change of a way in', () => {
    const isNotified = async (to: string, count: number, what: keyof typeof languages.en) => {
      const sentence = languages.en[what]
        .replace('{email}', to)
        .replace('{site}', service.app.config.public_url);
      const notices = () => mailsTo(to).filter(({ text }) => text.includes(sentence));
      await vi.waitFor(() => expect(notices()).toHaveLength(count), { timeout: 10_000 });
    };
    const recoveryTo = async (email: string): Promise<string> => {
      await recovers(email);
      const { text } = mailsTo(email).findLast((mail) => mail.text.includes('/reset-password?')) as Email;
      return /\/reset-password\?token=([\w.-]+)/.exec(text)?.[1] ?? expect.fail(text);
    };
    const reset = (token: string, new_password: string) =>
      service.fetch('POST', '/api/v1/reset-password/', { body: { token, new_password } });
    const isOver = async (token: string) => expect((await me(service, token)).status).toBe(403);

    test('of the address ends recovery links, sessions and links of before, and tells the former address', async () => {
      verifies('credentials-end', 'email-change');
      const { email, token } = await proved();
      const elsewhere = (await signIn(service, email, PASSWORD)).json.access_token;
      const recovery = await recoveryTo(email);
      const next = address();
      await patch(token, { email: next });
      const [first, link] = [await tokenTo(next), await sentAgain(token, next)];
      expect((await confirm(link)).status).toBe(200);
      for (const each of [token, elsewhere]) await isOver(each);
      expect((await reset(recovery, 'the thief’s password')).json.code).toBe('invalid_token');
      expect((await confirm(first)).json.code).toBe('invalid_token');
      await isNotified(email, 1, 'changed_email');
      expect(linksTo(next)).toEqual(mailsTo(next));
    });

    test('of the address by the operator does so too', async () => {
      verifies('credentials-end');
      const { email, token, id } = await proved();
      const recovery = await recoveryTo(email);
      const operator = await service.superuser();
      const change = (body: object) =>
        service.fetch('PATCH', `/api/v1/users/${id}`, { token: operator.token, body });
      expect((await change({ email: address() })).status).toBe(200);
      await isOver(token);
      expect((await reset(recovery, 'the thief’s password')).json.code).toBe('invalid_token');
      await isNotified(email, 1, 'changed_email');
      expect((await change({ full_name: 'Ada' })).status).toBe(200);
      await isNotified(email, 1, 'changed_email');
    });

    test.each(['oneself', 'the operator', 'a recovery link', 'the command line'])(
      'of the password by %s ends links and the address that was asked for, and tells the user',
      async (by) => {
        verifies('credentials-end', 'tokens-end');
        const { email, token, id } = await proved();
        const recovery = await recoveryTo(email);
        const other = await issueRecoveryToken(
          service.app,
          (await getUser(service.app.db.query, id)) ?? expect.fail(),
        );
        const thief = address();
        await patch(token, { email: thief });
        const link = await tokenTo(thief);
        const new_password = 'a password of its own';
        if (by === 'oneself') {
          const body = { current_password: PASSWORD, new_password };
          await service.fetch('PATCH', '/api/v1/users/me/password', { token, body });
        } else if (by === 'the operator') {
          const operator = await service.superuser();
          const body = { password: new_password };
          await service.fetch('PATCH', `/api/v1/users/${id}`, { token: operator.token, body });
        } else if (by === 'a recovery link') expect((await reset(recovery, new_password)).status).toBe(200);
        else await putSuperuser(service.app, email, new_password);
        const entered = (await signIn(service, email, new_password)).json.access_token;
        expect((await me(service, entered)).json).not.toHaveProperty('pending_email');
        await isOver(token);
        expect((await confirm(link)).json.code).toBe('invalid_token');
        for (const each of [recovery, other])
          expect((await reset(each, 'the thief’s password')).json.code).toBe('invalid_token');
        if (by !== 'the command line') await isNotified(email, 1, 'changed_password');
      },
    );

    test('of the merchant key tells the user, and is limited', async () => {
      verifies('credentials-end');
      const { email, token } = await proved();
      const rotate = () => service.fetch('POST', '/api/v1/merchant/account/rotate-key', { token });
      expect((await rotate()).status).toBe(200);
      await isNotified(email, 1, 'changed_key');
      const answers: number[] = [];
      for (let call = 0; call < 5; call++) answers.push((await rotate()).status);
      expect(answers).toEqual([200, 200, 200, 200, 429]);
    });

    test('tells no address that is not proved', async () => {
      verifies('credentials-end');
      const email = address();
      await signUp(service, { email, password: PASSWORD });
      const token = (await signIn(service, email, PASSWORD)).json.access_token;
      const body = { current_password: PASSWORD, new_password: 'another password' };
      expect((await service.fetch('PATCH', '/api/v1/users/me/password', { token, body })).status).toBe(200);
      await recovers((await account(service.app)).email);
      expect(linksTo(email)).toEqual(mailsTo(email));
    });

    async function sentAgain(token: string, to: string): Promise<string> {
      await service.fetch('POST', '/api/v1/users/me/email-confirmation', { token });
      return tokenTo(to, 2);
    }
  });

  /** Someone whose address is proved. */
  async function proved(): Promise<{ email: string; token: string; id: string }> {
    const email = address();
    const { json } = await signUp(service, { email, password: PASSWORD });
    expect((await confirm(await tokenTo(email))).status).toBe(200);
    return { email, id: json.id, token: (await signIn(service, email, PASSWORD)).json.access_token };
  }
});
