// A fresh daemon of mainnet as a process: what its operator does next, and whom it invites.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, signUp } from '../../helpers/people.ts';
import { serviceAt } from '../../helpers/service.ts';
import { verifies } from '../../requirements.ts';
import { type Daemon, type Home, makeHome } from '../helpers/process.ts';

const env = { GATEWAYD_NETWORK: 'mainnet', GATEWAYD_SIGNUP: 'invite' };
let home: Home;
let daemon: Daemon;
beforeAll(async () => {
  home = makeHome();
  const early = await home.run(['invite', 'ada@example.com'], { env });
  expect([early.code, early.stderr]).toEqual([78, expect.stringContaining('gatewayd start')]);
  daemon = await home.start({ env });
});
afterAll(() => home.remove());

const refused = async (args: string[], more: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await home.run(['invite', ...args], { env: { ...env, ...more } });
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
  return stderr;
};

test('says on stderr what its operator does next, and on stdout one line', () => {
  verifies('start-next-steps', 'ready-line');
  expect(daemon.stdout()).toBe(`gatewayd ready on ${daemon.url} (mainnet)\n`);
  expect(daemon.stderr()).toMatch(
    /^ {2}gw login \S+@\S+ --url http:\/\/127\.0\.0\.1:\d+\n {2}gw setup .*\n {2}gw doctor /m,
  );
});

test('an invite is made with which its address signs up, while the daemon runs', async () => {
  verifies('signup-invite', 'command-invite');
  const { code, stdout } = await home.run(['invite', 'Ada@Example.com', '--days', '2', '--json'], { env });
  const made = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(made).toMatchObject({ email: 'ada@example.com', command: expect.stringContaining(made.invite) });
  expect(made.expires_at - Date.now() / 1000).toBeGreaterThan(1.9 * 24 * 3600);
  const service = serviceAt({ base_url: daemon.url });
  const body = { email: 'ada@example.com', password: PASSWORD };
  expect((await signUp(service, body)).json.code).toBe('invite_required');
  expect((await signUp(service, { ...body, invite: made.invite })).status).toBe(200);
  expect(await refused(['ada@example.com'])).toContain('has an account already');
});

test('an invite is printed for a person the command that uses it', async () => {
  const { stdout } = await home.run(['invite', 'bob@example.com'], { env });
  expect(stdout).toMatch(/^ {2}gw signup --url \S+ --email bob@example\.com --invite \S+$/m);
});

test('an invite is refused where it could not be used', async () => {
  verifies('command-invite');
  expect(await refused(['nothing'])).toContain('@-sign');
  expect(await refused(['eve@example.com', '--days', '0'])).toContain('--days');
  expect(await refused(['eve@gmail.com'])).toContain('google.client_id');
  expect(await refused(['eve@example.com'], { GATEWAYD_SIGNUP: 'closed' })).toContain('set signup to invite');
});
