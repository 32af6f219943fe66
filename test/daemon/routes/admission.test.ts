// Who may sign up: anyone, those whom the operator invited, or no one; those who have an account sign in as before.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { telegramHash } from '../../../daemon/accounts/telegram.ts';
import { issueInviteToken, issueRecoveryToken } from '../../../daemon/http/tokens.ts';
import { loadConfig } from '../../../daemon/settings/config.ts';
import type { SignupMode } from '../../../src/identity.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { address, PASSWORD, person, signIn, signUp } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const BOT_TOKEN = 'XXXXXXXX:XXXXXXXXXXXXXXXXXXXXXXXX';
const DAY_SECONDS = 24 * 3600;

let service: TestApp;
beforeAll(async () => {
  service = await startApp({ settings: { 'telegram.bot_token': BOT_TOKEN } });
});
afterAll(() => service.stop());

const set = (mode: SignupMode) => {
  service.app.config.signup = mode;
};

const telegram = (id: number) => {
  const members = { id, auth_date: service.clock.now(), first_name: 'Ada' };
  const body = { ...members, hash: telegramHash(BOT_TOKEN, members) };
  return service.fetch('POST', '/api/v1/login/telegram', { body });
};

test('sign-up is open on testnet and closed on mainnet, unless it is set', () => {
  verifies('signup-mode');
  const mode = (flags: Record<string, string>) => loadConfig({ flags, env: {}, cwd: '/' }).config.signup;
  expect(mode({})).toBe('open');
  expect(mode({ network: 'mainnet' })).toBe('closed');
  expect(mode({ network: 'mainnet', signup: 'invite' })).toBe('invite');
  expect(() => mode({ signup: 'some' })).toThrow(/signup/);
});

test.each(['open', 'invite', 'closed'] as const)(
  'the public configuration says that it is %s',
  async (mode) => {
    set(mode);
    const { json } = await service.fetch('GET', '/v1/config/public');
    expect(json.signup).toBe(mode);
  },
);

describe('where it is closed', () => {
  test('no one signs up, with an invite or without, and the refusal says what to do', async () => {
    verifies('signup-mode');
    set('closed');
    const email = address();
    const invite = await issueInviteToken(service.app, email, DAY_SECONDS);
    for (const body of [
      { email, password: PASSWORD },
      { email, password: PASSWORD, invite },
    ]) {
      const { status, json } = await signUp(service, body);
      expect([status, json.code, json.detail]).toEqual([
        403,
        'signup_closed',
        'Sign-up is closed on this deployment',
      ]);
      expect(json.hint).toContain('operator');
    }
    expect(await telegram(1001)).toMatchObject({ status: 403, json: { code: 'signup_closed' } });
  });

  test('those who have an account sign in, and a superuser makes accounts', async () => {
    set('open');
    const { email } = await person(service);
    expect((await telegram(1002)).status).toBe(200);
    set('closed');
    expect((await signIn(service, email, PASSWORD)).status).toBe(200);
    expect((await telegram(1002)).status).toBe(200);
    const { token } = await service.superuser();
    const body = { email: address(), password: PASSWORD };
    expect((await service.fetch('POST', '/api/v1/users/', { token, body })).status).toBe(200);
  });
});

describe('where an invite is needed', () => {
  const refused = async (body: object) => {
    const { status, json } = await signUp(service, body);
    expect([status, json.code]).toEqual([403, 'invite_required']);
    return json;
  };

  test('it works for its own address, in any spelling, and once', async () => {
    verifies('signup-invite');
    set('invite');
    const email = address();
    const invite = await issueInviteToken(service.app, email, DAY_SECONDS);
    const made = await signUp(service, { email: ` ${email.toUpperCase()}`, password: PASSWORD, invite });
    expect([made.status, made.json.email]).toEqual([200, email]);
    const again = await signUp(service, { email, password: PASSWORD, invite });
    expect([again.status, again.json.code]).toEqual([400, 'user_exists']);
  });

  test('nothing else does: none, another address, expired, another kind of token, text', async () => {
    verifies('signup-invite');
    set('invite');
    const email = address();
    const without = await refused({ email, password: PASSWORD });
    expect(without.hint).toContain('`invite`');
    const other = await issueInviteToken(service.app, address(), DAY_SECONDS);
    const answer = await refused({ email, password: PASSWORD, invite: other });
    expect(JSON.stringify(answer)).not.toContain(other);
    const recovery = await issueRecoveryToken(service.app, { id: email, token_version: 1 });
    await refused({ email, password: PASSWORD, invite: recovery });
    await refused({ email, password: PASSWORD, invite: 'x' });
    const early = await issueInviteToken(service.app, email, DAY_SECONDS);
    service.clock.advance(DAY_SECONDS + 1);
    await refused({ email, password: PASSWORD, invite: early });
  });

  test('an invite is never shown again, whatever is wrong with the rest', async () => {
    set('invite');
    const invite = await issueInviteToken(service.app, address(), DAY_SECONDS);
    const { status, text } = await signUp(service, { email: 'x', password: 'short', invite: [invite] });
    expect(status).toBe(422);
    expect(text).not.toContain(invite);
    expect(service.log.join('\n')).not.toContain(invite);
  });

  test('a first sign-in with Telegram is refused, because it gives no address', async () => {
    verifies('signup-mode');
    set('invite');
    expect(await telegram(1003)).toMatchObject({ status: 403, json: { code: 'invite_required' } });
  });
});

test('the documents for programs say how one gets an account', async () => {
  const manifest = async () => (await service.fetch('GET', '/.well-known/agent.json')).json;
  expect((await manifest()).signup.mode).toBeDefined();
  const closed = await startApp({ settings: { signup: 'closed' } });
  const { text } = await closed.fetch('GET', '/llms.txt');
  await closed.stop();
  expect(text).toContain('Sign-up is closed');
  expect(text).not.toContain('/users/signup');
});
