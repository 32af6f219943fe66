// The drill of an operator: a database of the first schema is upgraded, sells, loses a provider, its disk and its machine, and continues on another.
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import { type Daemon, type Home, makeHome } from '../daemon/helpers/process.ts';
import { restorePast } from '../data/past.ts';
import { json, serve } from '../helpers/local-server.ts';
import { PASSWORD } from '../helpers/people.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { nanoOf } from './payer.ts';
import {
  call,
  createInvoice,
  credit,
  type Invoice,
  kill,
  openShop,
  openStand,
  readInvoice,
  tonSettings,
} from './stand.ts';

const FIRST_SCHEMA = fileURLToPath(new URL('../data/past/0005-accounts.sqlite.sql.gz', import.meta.url));
/** What the database of the past was made with. */
const SECRET = 'a secret for tests only';
const METRICS_TOKEN = 'a-token-for-the-metrics';
/** What an operator may count on with the default time; here it is shorter. */
const CHANGED_MS = 90_000;
const BLIND_AFTER_SECONDS = '5';
const READ_MS = 100_000;
/** Kills in and around the copy of a small database, which takes about a tenth of a second. */
const KILLS_MS = [350, 450, 550, 650];

const BETWEEN_SALES_MS = 50;

const run = promisify(execFile);

/** How large a file of a running daemon may grow: none at all is what a full disk says; null as before. */
const limitFiles = ({ pid }: Daemon, bytes: number | null) =>
  run('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`]);

const untilConfirmed = (url: string, ...invoices: Invoice[]) =>
  until(
    'what was paid is confirmed',
    async () => {
      const all = await Promise.all(invoices.map(({ id }) => readInvoice(url, id)));
      return all.every(({ status }) => status === 'confirmed') || undefined;
    },
    READ_MS,
  );

/** What every place says of TON where it can be seen, or cannot. */
async function viewOf(url: string, invoice: Invoice) {
  const ton = (all: { blockchain: string }[]) => all.find(({ blockchain }) => blockchain === 'ton');
  const [gateways, ready, page, metrics] = await Promise.all([
    call(url, 'GET', '/v1/gateways'),
    call(url, 'GET', '/readyz'),
    call(url, 'GET', `/pay/${invoice.id}?lang=en`),
    fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } }),
  ]);
  const lag = /^gatewayd_blockchain_lag_seconds\{blockchain="ton"\} (\S+)$/m.exec(await metrics.text())?.[1];
  return {
    gateway: (ton(gateways.json.data) as unknown as { available: boolean }).available,
    readiness: (ton(ready.json.blockchains) as unknown as { status: string }).status,
    page: !page.text.includes('We can’t see the TON network right now'),
    metrics: Number(lag) <= Number(BLIND_AFTER_SECONDS),
  };
}
const SEEN = { gateway: true, readiness: 'ok', page: true, metrics: true };
const BLIND = { gateway: false, readiness: 'blind', page: false, metrics: false };

async function killBackups(home: Home, file: string, env: Record<string, string>): Promise<void> {
  for (const kill_after_ms of KILLS_MS) {
    const { code } = await home.run(['backup', `${file}.${kill_after_ms}`], { env, kill_after_ms });
    if (code === 'SIGKILL') expect(existsSync(`${file}.${kill_after_ms}`)).toBe(false);
  }
  const { code, stderr } = await home.run(['backup', file], { env });
  expect([code, stderr]).toEqual([0, '']);
}

test('nothing is lost, whatever happens to an operator in one day', async () => {
  verifies(
    'drill',
    'notify',
    'secret-rotate',
    'blind-shown',
    'upgrade-way-back',
    'backup-whole',
    'backup-reread',
  );
  const notices = await serve((_request, response) => json(response, { ok: true }));
  const noticed = (subject: RegExp) => notices.requests.some(({ body }) => subject.test(body));
  const env = {
    GATEWAYD_DEMO: 'false',
    GATEWAYD_WEBHOOK_ALLOW_PRIVATE: 'true',
    GATEWAYD_BLIND_AFTER_SECONDS: BLIND_AFTER_SECONDS,
    GATEWAYD_METRICS_TOKEN: METRICS_TOKEN,
    GATEWAYD_NOTIFY: JSON.stringify([
      { to: `${notices.url}/hook`, on: ['blockchain_blind', 'blockchain_back'] },
    ]),
    GATEWAYD_BACKUP_PASSPHRASE: 'a passphrase of many words',
  };
  const stand = await openStand('sqlite', env);
  onTestFinished(() => stand.close());
  const { home, gate, payer } = stand;
  const state = join(home.dir, 'gatewayd');
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(join(state, 'secret'), SECRET, { mode: 0o600 });

  // The upgrade.
  await restorePast(stand.database_url, gunzipSync(readFileSync(FIRST_SCHEMA)).toString());
  // Its clock was ahead of today's: what it had read is read again.
  const past = new (sqlite())(join(state, 'gatewayd.db'));
  past.exec('update cursors set cursor = null, tip_time = null, last_ok_at = null, read_through = null');
  past.exec('delete from account_proofs');
  past.close();
  const first = await stand.start();
  expect(existsSync(join(state, 'gatewayd.db.schema-0005'))).toBe(true);
  const made = await home.run(['admin', 'create', '--email', 'operator@example.com', '--password-stdin'], {
    env: { GATEWAYD_DATABASE_URL: stand.database_url },
    stdin: PASSWORD,
  });
  expect(made.code, made.stderr).toBe(0);

  // A sale.
  const shop = await openShop(stand, first.url);
  await credit(first.url, shop, '100');
  const sell = (url: string): Promise<Invoice> => createInvoice(url, shop);
  const pay = (...invoices: Invoice[]) =>
    payer.pay(...invoices.map((invoice) => ({ amount: nanoOf(invoice), memo: invoice.memo })));
  const sale = await sell(first.url);
  await pay(sale);
  await untilConfirmed(first.url, sale);

  // A provider that is cut off.
  const open = await sell(first.url);
  const seen = (expected: typeof SEEN) => async () =>
    JSON.stringify(await viewOf(first.url, open)) === JSON.stringify(expected) || undefined;
  await until('TON is seen', seen(SEEN), CHANGED_MS);
  gate.weather = 'down';
  await until('every place says that TON is not seen', seen(BLIND), CHANGED_MS);
  await until(
    'the operator is notified',
    async () => noticed(/TON has not been read since/) || undefined,
    CHANGED_MS,
  );
  await pay(open);
  gate.weather = 'fair';
  await until('every place says that TON is seen again', seen(SEEN), CHANGED_MS);
  await until('the operator is notified', async () => noticed(/TON is read again/) || undefined, CHANGED_MS);
  await untilConfirmed(first.url, open);

  // A disk that is full: what is refused was not sold, and what is paid meanwhile is booked afterwards.
  const full = await sell(first.url);
  await limitFiles(first, 0);
  const refused = await call(first.url, 'POST', '/v1/invoices', {
    shop,
    body: { chain: 'ton', amount: '1' },
  });
  expect(refused.status, refused.text).toBe(503);
  await pay(full);
  expect((await call(first.url, 'GET', `/v1/public/invoices/${full.id}`)).status).toBe(200);
  await limitFiles(first, null);
  await untilConfirmed(first.url, full);
  await sell(first.url);

  // Backups that are killed, and one that is not.
  const waiting = await sell(first.url);
  const file = join(home.dir, 'shop.backup');
  await killBackups(home, file, { ...env, GATEWAYD_DATABASE_URL: stand.database_url });
  // After it: one that the backup knows is paid, and one that it has never heard of.
  const unknown = await sell(first.url);
  await pay(waiting, unknown);
  await untilConfirmed(first.url, waiting, unknown);
  await kill(first);

  // Another machine.
  const elsewhere = makeHome();
  onTestFinished(() => elsewhere.remove());
  mkdirSync(join(elsewhere.dir, 'gatewayd'), { mode: 0o700 });
  copyFileSync(file, join(elsewhere.dir, 'shop.backup'));
  const restored = await elsewhere.run(['restore', join(elsewhere.dir, 'shop.backup')], { env });
  expect([restored.code, restored.stderr], restored.stdout).toEqual([0, '']);
  const there = { ...env, ...tonSettings(gate.url) };
  const second = await elsewhere.start({ env: there });
  await untilConfirmed(second.url, sale, open, full, waiting);
  expect((await call(second.url, 'GET', `/v1/public/invoices/${unknown.id}`)).status).toBe(404);

  // A new secret, while it sells.
  const rotating = elsewhere.run(['secret', 'rotate'], { env: there });
  let is_rotated = false;
  void rotating.then(() => {
    is_rotated = true;
  });
  const meanwhile: Invoice[] = [];
  while (!is_rotated) {
    meanwhile.push(await sell(second.url));
    await delay(BETWEEN_SALES_MS);
  }
  const { code, stdout, stderr } = await rotating;
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('1 running daemon follows');
  expect(meanwhile.length).toBeGreaterThan(0);
  const last = await sell(second.url);
  await pay(...meanwhile.slice(0, 1), last);
  await untilConfirmed(second.url, ...meanwhile.slice(0, 1), last);
  second.signal('SIGTERM');
  expect((await second.ended).code).toBe(0);
  const verified = await elsewhere.run(['verify', '--json'], { env: there });
  expect(verified.code, verified.stdout).toBe(0);
  expect(payer.paid).toHaveLength(7);
  // What was confirmed before the backup was announced once, on one machine or the other.
  for (const { id } of [sale, open, full, last])
    expect(stand.receiver.hooks.filter(({ invoice_id }) => invoice_id === id)).toHaveLength(1);
  expect(statSync(join(elsewhere.dir, 'gatewayd', 'secret')).mode & 0o777).toBe(0o600);
}, 600_000);
