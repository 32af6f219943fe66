// The built program moves a shop that sells from SQLite to PostgreSQL: killed on the way, refused where it must, and sold from on the other side.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Daemon } from '../daemon/helpers/process.ts';
import { createDatabase, hasPostgres, type TestDatabase } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { nanoOf } from './payer.ts';
import {
  ask,
  call,
  createInvoice,
  credit,
  type Invoice,
  kill,
  openShop,
  openStand,
  readInvoice,
  type Shop,
  type Stand,
} from './stand.ts';

const WAIT_MS = 100_000;
const TIMEOUT_MS = 500_000;
const SOLD = 12;
/** Before, while and after rows are copied, on a machine of any speed. */
const KILL_AFTER_MS = [700, 1_500, 3_000, 6_000];

describe.skipIf(!hasPostgres)('a shop that moves', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-moves-'));
  let stand: Stand;
  let target: TestDatabase;
  let shop: Shop;
  let daemon: Daemon;
  beforeAll(async () => {
    // However slow the machine, what is pending can be paid on the other side.
    stand = await openStand('sqlite', { GATEWAYD_GATEWAYS_TON_PAYMENT_TTL_SECONDS: '7200' });
    target = await createDatabase();
    daemon = await stand.start();
    shop = await openShop(stand, daemon.url);
    await credit(daemon.url, shop, '1000');
    return async () => {
      await stand.close();
      await target.drop();
      rmSync(directory, { recursive: true, force: true });
    };
  }, TIMEOUT_MS);
  afterAll(() => daemon.signal('SIGKILL'));

  const move = (to: string, options: { args?: string[]; kill_after_ms?: number } = {}) =>
    stand.home.run(['move', ...(options.args ?? [])], {
      env: { GATEWAYD_DATABASE_URL: stand.database_url, GATEWAYD_MOVE_TO: to },
      ...(options.kill_after_ms === undefined ? {} : { kill_after_ms: options.kill_after_ms }),
    });
  const pay = (invoice: Invoice) => stand.payer.pay({ amount: nanoOf(invoice), memo: invoice.memo });
  const untilConfirmed = (url: string, id: string) =>
    until(
      `${id} is confirmed`,
      async () => {
        // A connection that was idle may have been closed at that moment.
        const { status } = await readInvoice(url, id).catch(() => ({ status: 'unknown' }));
        return status === 'confirmed' || undefined;
      },
      WAIT_MS,
    );
  const feedOf = async (url: string, after?: string): Promise<string[]> => {
    const { data } = await ask(
      url,
      'GET',
      `/api/v1/merchant/events?limit=100${after ? `&after=${after}` : ''}`,
      { shop, as: 'token' },
    );
    return data.map(({ id }: { id: string }) => id);
  };

  test(
    'it is sold from on PostgreSQL with its keys, its feed and what is pending, and on SQLite no more',
    async () => {
      verifies('command-move', 'move-interrupted', 'move-refused');
      const sold = [];
      for (let at = 0; at < SOLD; at++) sold.push(await createInvoice(daemon.url, shop));
      for (const invoice of sold.slice(0, 3)) await pay(invoice);
      for (const { id } of sold.slice(0, 3)) await untilConfirmed(daemon.url, id);
      const events = await feedOf(daemon.url);
      const running = await move(target.url);
      expect([running.code, running.stderr]).toEqual([
        78,
        expect.stringContaining('another gatewayd is running'),
      ]);
      await kill(daemon);
      // Paid while no daemon runs: it is found on the other side.
      const paid_between = sold[3];
      await pay(paid_between);

      const secret = new URL(target.url);
      secret.password = 'hush-hush';
      for (const kill_after_ms of KILL_AFTER_MS) {
        const { code, stdout, stderr } = await move(secret.href, { kill_after_ms });
        expect(stdout + stderr).not.toContain('hush');
        if (code !== 'SIGKILL') break;
      }
      const ended = await move(target.url);
      // Where the last of those that were to be killed came to its end, its operator reads what to do.
      expect([0, 78]).toContain(ended.code);
      expect(ended.stdout + ended.stderr).toMatch(/moved from|already: set database_url/);

      const old = await stand.home.run(['start', '--port', '0'], {
        env: { GATEWAYD_DATABASE_URL: stand.database_url },
      });
      expect([old.code, old.stderr]).toEqual([
        78,
        expect.stringMatching(/out of use: it was moved to postgres:.*set database_url/),
      ]);
      for (const command of [
        ['backup', join(directory, 'old.backup')],
        ['secret', 'rotate'],
        ['move', '--back'],
      ]) {
        const { code, stderr } = await stand.home.run(command, {
          env: { GATEWAYD_DATABASE_URL: stand.database_url },
        });
        expect([command, code, stderr]).toEqual([command, 78, expect.stringMatching(/moved? to postgres:/)]);
      }

      daemon = await stand.start({ GATEWAYD_DATABASE_URL: target.url });
      await untilConfirmed(daemon.url, paid_between.id);
      const pending = sold[4];
      await pay(pending);
      await untilConfirmed(daemon.url, pending.id);
      const after = await feedOf(daemon.url);
      expect(after.slice(0, events.length)).toEqual(events);
      expect(after.length).toBeGreaterThan(events.length);
      expect(await feedOf(daemon.url, events.at(-1))).toEqual(after.slice(events.length));
      await until(
        'its webhook has come',
        async () => stand.receiver.hooks.some((hook) => hook.invoice_id === pending.id) || undefined,
        WAIT_MS,
      );
      const again = await createInvoice(daemon.url, shop);
      expect((await readInvoice(daemon.url, again.id)).status).toBe('created');
      expect((await call(daemon.url, 'GET', '/v1/figures', { shop })).status).toBe(200);
      daemon.signal('SIGTERM');
      expect((await daemon.ended).code).toBe(0);
      const books = await stand.home.run(['verify'], { env: { GATEWAYD_DATABASE_URL: target.url } });
      expect([books.code, books.stdout]).toEqual([0, expect.stringContaining('none is broken')]);
    },
    TIMEOUT_MS,
  );
});
