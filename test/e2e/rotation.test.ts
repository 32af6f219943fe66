// The secret of built daemons is replaced while they sell: no request fails, every webhook verifies, and nothing is lost.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Home, makeHome } from '../daemon/helpers/process.ts';
import { PASSWORD, shopkeeper, tokenOf, wallets } from '../helpers/people.ts';
import { createDatabase, hasPostgres } from '../helpers/postgres.ts';
import { ask, serviceAt } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

const OLD = 'the old secret of this deployment';
const NEW = 'the new secret of this deployment';
const PASSPHRASE = 'a passphrase of many words';
const OPERATOR = { GATEWAYD_ADMIN_EMAIL: 'boss@example.com', GATEWAYD_ADMIN_PASSWORD: PASSWORD };
/** Between two steps of a worker: requests at any moment, and time for the rest of the machine. */
const PAUSE_MS = 50;
const ROTATE = ['secret', 'rotate'];

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const secretFile = (name = 'secret') => join(home.dir, 'gatewayd', name);
const storedSecret = () => readFileSync(secretFile(), 'utf8').trim();

/** What came, each with its headers. */
async function openHooks() {
  const hooks: { headers: Record<string, string>; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    hooks.push({ headers: request.headers as Record<string, string>, body });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { hooks, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

/** Sells, signs in, and reads and changes what is sealed, at all daemons in turn until it is stopped. */
async function openLoad(urls: string[]) {
  const { hooks, url: webhook_url } = await openHooks();
  const services = urls.map((base_url) => serviceAt({ base_url }));
  const [first = services[0]] = services;
  if (!first) throw new Error('no daemon');
  const shop = await shopkeeper(first, { wallets: { ton: wallets.ton ?? '' }, webhook_url });
  const account = await ask(first, 'GET', '/api/v1/merchant/account', { token: shop.token });
  let is_stopped = false;
  let sales = 0;
  let requests = 0;
  const faults: unknown[] = [];
  const send = async (at: number, method: string, path: string, call: object) => {
    const reply = await services[at % services.length]?.fetch(method, path, call);
    requests++;
    if (reply?.status !== 200) faults.push([path, reply?.status, reply?.json]);
    return reply?.json;
  };
  const steps = [
    async (at: number) => {
      const body = { chain: 'ton', amount: '1' };
      const { id } = await send(at, 'POST', '/v1/invoices', { key: shop.key, body });
      const { status } = await send(at + 1, 'POST', `/v1/invoices/${id}/simulate`, { key: shop.key });
      if (status === 'confirmed') sales++;
    },
    async (at: number) => {
      const seen = await send(at, 'GET', '/api/v1/merchant/account', { token: shop.token });
      if (seen.webhook_secret !== account.webhook_secret) faults.push(seen);
    },
    async (at: number) => {
      // An account of its own is sealed, and read by another daemon.
      const one = await shopkeeper(services[at % services.length] as typeof first, { wallets: {} });
      const { api_key } = await send(at + 1, 'GET', '/api/v1/merchant/account', { token: one.token });
      if (api_key !== one.key) faults.push('another key');
    },
  ];
  const running = steps.map(async (step) => {
    for (let at = 0; !is_stopped; at++) {
      await step(at).catch((error) => void faults.push(String(error)));
      await sleep(PAUSE_MS);
    }
  });
  return {
    shop,
    /** Waits until so many more requests were answered. */
    async answered(count: number) {
      const before = requests;
      await until('requests are answered', async () => (requests - before >= count ? true : undefined));
    },
    /** Ends it; resolves with what went wrong once every sale has its webhook. */
    async stop() {
      is_stopped = true;
      await Promise.all(running);
      await until('all webhooks came', async () => (hooks.length >= sales ? true : undefined));
      for (const { headers, body } of hooks) new Webhook(account.webhook_secret).verify(body, headers);
      expect([hooks.length, sales > 0]).toEqual([sales, true]);
      return faults;
    },
  };
}

test('under load, killed and run again, while the daemon of a SQLite file keeps selling', async () => {
  verifies('secret-rotate', 'secret-rotate-killed', 'backup-secret');
  const daemon = await home.start({ env: OPERATOR });
  const load = await openLoad([daemon.url]);
  const plain = join(home.dir, 'plain.backup');
  const encrypted = join(home.dir, 'encrypted.backup');
  expect((await home.run(['backup', plain])).code).toBe(0);
  const before = storedSecret();
  let killed = 0;
  // It takes some 3 s.
  for (const kill_after_ms of [900, 1_900]) {
    const { code } = await home.run(ROTATE, { kill_after_ms });
    if (code === 'SIGKILL') killed++;
    await load.answered(20);
  }
  expect(killed).toBeGreaterThan(0);
  if (existsSync(secretFile('secret.next'))) {
    expect((await home.run(['verify', '--law', '1,21'])).code).toBe(0);
    expect((await home.run(['doctor'])).stdout).toMatch(/warning +secret +it is being rotated/);
  }
  expect((await home.run(['backup', encrypted, '--passphrase-stdin'], { stdin: PASSPHRASE })).code).toBe(0);
  const last = await home.run(ROTATE);
  expect(last).toMatchObject({ code: 0, stderr: '' });
  expect(last.stdout).toContain('the old one is gone from there');
  const after = storedSecret();
  expect([after === before, existsSync(secretFile('secret.next'))]).toEqual([false, false]);
  expect(last.stdout).not.toContain(after);
  await load.answered(20);
  expect(await load.stop()).toEqual([]);

  const leaked = await home.run([...ROTATE, '--at-once', '--new', '--json'], { stdin: `${NEW}\n` });
  expect(JSON.parse(leaked.stdout)).toMatchObject({ daemons: 1, tokens_until: null, webhooks_until: null });
  expect(storedSecret()).toBe(NEW);
  const service = serviceAt({ base_url: daemon.url });
  const ended = await service.fetch('GET', '/api/v1/users/me', { token: load.shop.token });
  expect([ended.status, ended.json.detail]).toEqual([403, 'Could not validate credentials']);
  expect((await home.run(['verify', '--quiet'])).code).toBe(0);
  expect(await tokenOf(service, 'boss@example.com')).toMatch(/^ey/);
  expect(daemon.stderr()).not.toContain(NEW);
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);

  const elsewhere = makeHome();
  onTestFinished(() => elsewhere.remove());
  const wrong = await elsewhere.run(['restore', plain], { env: { GATEWAYD_SECRET: NEW } });
  expect(wrong).toMatchObject({ code: 65 });
  expect(wrong.stdout + wrong.stderr).toContain('a backup: that of its time');
  const right = await elsewhere.run(['restore', encrypted, '--passphrase-stdin'], { stdin: PASSPHRASE });
  expect(right).toMatchObject({ code: 0 });
  expect((await elsewhere.run(['verify', '--quiet'])).code).toBe(0);
}, 120_000);

test.skipIf(!hasPostgres)(
  'of two daemons on PostgreSQL, set by a rolling restart',
  async () => {
    verifies('secret-rotate', 'secret-rotate-refused', 'secret-rotate-sessions');
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    const env = (secret: string, previous?: string): Record<string, string> => ({
      ...OPERATOR,
      GATEWAYD_DATABASE_URL: database.url,
      GATEWAYD_SECRET: secret,
      ...(previous === undefined ? {} : { GATEWAYD_PREVIOUS_SECRET: previous }),
    });
    const first = await home.start({ env: env(OLD) });
    const one = await home.start({ env: env(NEW, OLD) });

    expect(await home.run(ROTATE, { env: env(OLD) })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('set the new one as secret and this one as previous_secret'),
    });
    const early = home.run(ROTATE, { env: env(NEW, OLD) });
    expect(await early).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(
        new RegExp(
          `with pid ${first.pid} does not know the new secret; restart it with the new one as secret`,
        ),
      ),
    });
    first.signal('SIGTERM');
    await first.ended;
    const other = await home.start({ env: env(NEW, OLD) });
    const load = await openLoad([one.url, other.url]);
    await load.answered(20);
    const done = await home.run(ROTATE, { env: env(NEW, OLD) });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toContain('2 running daemons follow');
    expect(done.stdout).toContain('previous_secret may be taken out of the settings now');
    await load.answered(20);
    expect((await home.run(ROTATE, { env: env(NEW, OLD) })).stdout).toContain('already');

    // The last restart, without the old secret: sessions that it has signed continue.
    one.signal('SIGTERM');
    await load.stop().catch(() => undefined);
    const last = await home.start({ env: env(NEW) });
    const me = await serviceAt({ base_url: last.url }).fetch('GET', '/api/v1/users/me', {
      token: load.shop.token,
    });
    expect(me.status).toBe(200);
    await expect(home.start({ env: env(OLD) })).rejects.toThrow('rotated to since');
    expect(await home.run(['verify', '--quiet'], { env: env(NEW) })).toMatchObject({ code: 0 });
  },
  120_000,
);
