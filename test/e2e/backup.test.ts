// Backups of the built daemon: made while it sells, killed in the middle, on a full disk, restored elsewhere, and read on from there.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import { findBlockchain } from '../../src/chains/gateways.ts';
import { hasLitecoind, startLitecoind } from '../chains/utxo-chain.ts';
import { freshAddress } from '../chains/utxo-observer.ts';
import { type Home, makeHome } from '../daemon/helpers/process.ts';
import { signIn } from '../helpers/people.ts';
import { serviceAt } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

const BIN = fileURLToPath(new URL('../../bin/gatewayd.js', import.meta.url));
const PASSPHRASE = 'a passphrase of many words';
const ADMIN = { GATEWAYD_ADMIN_EMAIL: 'boss@example.com', GATEWAYD_ADMIN_PASSWORD: 'correct horse' };
const PLATFORM_KEY = `gw_${'k'.repeat(24)}`;

/** A first reading may fail while programs start, and is tried again later. */
const CONFIRMED_MS = 100_000;

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const state = (name = '') => join(home.dir, 'gatewayd', name);

/** A database of some size: copying it takes a while. */
async function fillDatabase(rows: number): Promise<void> {
  expect((await home.run(['migrate'])).code).toBe(0);
  const database = new (sqlite())(state('gatewayd.db'));
  database
    .prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
       insert into events (id, type, body, created_at) select 'event' || i, 'payment.unmatched', hex(randomblob(2000)), 1 from n`,
    )
    .run(rows);
  database.close();
}

test('a backup that is killed leaves no backup, and the next one takes its place', async () => {
  verifies('backup-whole');
  await fillDatabase(20_000);
  const file = join(home.dir, 'one.backup');
  for (const kill_after_ms of [500, 800, 1100, 1400]) {
    const { code } = await home.run(['backup', file], { kill_after_ms });
    if (code === 'SIGKILL') expect(existsSync(file)).toBe(false);
    else rmSync(file);
  }
  expect((await home.run(['backup', file])).code).toBe(0);
  expect(readdirSync(home.dir)).toContain('one.backup');
});

test('a disk that is full is reported in a sentence, with exit code 74, and keeps nothing', async () => {
  verifies('backup-whole');
  await fillDatabase(2_000);
  const run = promisify(execFile);
  // No file may grow beyond 1 MiB: what a full disk says, for this process alone.
  const limited = run(
    'bash',
    ['-c', `trap '' XFSZ; ulimit -f 1024; "${process.execPath}" "${BIN}" backup "$PWD/one.backup"`],
    { cwd: home.dir, env: { PATH: process.env.PATH, XDG_STATE_HOME: home.dir } },
  );
  await expect(limited).rejects.toMatchObject({
    code: 74,
    stderr: expect.stringMatching(/gatewayd: .*(full|cannot be written).*nothing was left there\n$/),
  });
  expect(readdirSync(home.dir).filter((name) => name.startsWith('one'))).toEqual([]);
});

describe.skipIf(!hasLitecoind)('with a chain', () => {
  test('what was paid after a backup is found in the restored database when the chain is read again', async () => {
    verifies('backup-reread', 'command-backup', 'command-restore');
    const node = await startLitecoind();
    onTestFinished(() => node.stop());
    const address = freshAddress('litecoin');
    const script = findBlockchain('litecoin')?.family.normalizeAddress(address, 'testnet').key ?? '';
    const env = {
      ...ADMIN,
      GATEWAYD_PLATFORM_KEY: PLATFORM_KEY,
      GATEWAYD_WALLETS_LITECOIN: address,
      GATEWAYD_BLOCKCHAINS_LITECOIN_PROVIDER: 'core',
      GATEWAYD_BLOCKCHAINS_LITECOIN_URL: node.url,
      GATEWAYD_GATEWAYS_LITECOIN_POLL_INTERVAL_SECONDS: '1',
      GATEWAYD_RATES_USD_LTC: '100',
      GATEWAYD_BACKUP_PASSPHRASE: PASSPHRASE,
    };
    const daemon = await home.start({ env });
    const shop = serviceAt({ base_url: daemon.url });
    const sell = async () => {
      const reply = await shop.fetch('POST', '/v1/invoices', {
        key: PLATFORM_KEY,
        body: { chain: 'litecoin', amount: '5' },
      });
      expect(reply.status, reply.text).toBe(200);
      const [whole = '', part = ''] = String(reply.json.amount).split('.');
      return { id: reply.json.id as string, amount: BigInt(whole + part.padEnd(8, '0')) };
    };
    const statusAt = async (base_url: string, id: string) =>
      (await serviceAt({ base_url }).fetch('GET', `/v1/public/invoices/${id}`)).json.status;
    const untilConfirmed = (base_url: string, id: string) =>
      until(
        'the invoice is confirmed',
        async () => (await statusAt(base_url, id)) === 'confirmed' || undefined,
        CONFIRMED_MS,
      );
    const pay = async (...invoices: { amount: bigint }[]) => {
      for (const { amount } of invoices) await node.send([{ script, amount }]);
      await node.mine(3);
    };
    const before = await sell();
    const open = [await sell(), await sell()];
    await pay(before);
    await untilConfirmed(daemon.url, before.id);
    const file = join(home.dir, 'yesterday.backup');
    const made = await home.run(['backup', file], { env });
    expect([made.code, made.stderr]).toEqual([0, '']);
    // After it: two that it knows are paid, and one that it has never heard of.
    const unknown = await sell();
    await pay(...open, unknown);
    for (const { id } of [...open, unknown]) await untilConfirmed(daemon.url, id);
    daemon.signal('SIGKILL');
    await daemon.ended;

    const elsewhere = makeHome();
    onTestFinished(() => elsewhere.remove());
    const restored = await elsewhere.run(['restore', file], { env });
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    expect(restored.stdout).toContain('with the secret of the deployment');
    const again = await elsewhere.start({ env });
    for (const { id } of [before, ...open]) await untilConfirmed(again.url, id);
    const signed = await signIn(
      serviceAt({ base_url: again.url }),
      ADMIN.GATEWAYD_ADMIN_EMAIL,
      ADMIN.GATEWAYD_ADMIN_PASSWORD,
    );
    const token = signed.json.access_token as string;
    const unmatched = await until('the third payment is listed', async () => {
      const listed = await serviceAt({ base_url: again.url }).fetch(
        'GET',
        '/api/v1/admin/payments?status=unmatched',
        { token },
      );
      return listed.json.data.length > 0 ? listed.json.data : undefined;
    });
    expect(unmatched).toHaveLength(1);
    again.signal('SIGTERM');
    expect((await again.ended).code).toBe(0);
    const verified = await elsewhere.run(['verify'], { env });
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('none is broken')]);
  }, 400_000);
});
