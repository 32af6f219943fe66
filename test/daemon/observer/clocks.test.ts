// Two daemons on one PostgreSQL database, of which one has a wrong clock: what it sells is paid in time.
import { describe, expect, onTestFinished, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { create, credit, invoiceRow } from '../../helpers/payments.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { INDEXED_FROM, serveTon } from '../../helpers/ton-indexer.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

/** So much time passes at each attempt: daemons that read each second hold their leases. */
const STEP_SECONDS = 0.1;
const CREDIT_MICROS = 1_000_000_000n;

describe.skipIf(!hasPostgres)('a daemon whose clock is wrong, and one whose clock is right', () => {
  test.each([-310, 310, -42 * 3600])('by %i seconds', { timeout: 120_000 }, async (wrong_by) => {
    verifies('clock-alert');
    const right = testClock(INDEXED_FROM);
    const wrong = testClock(INDEXED_FROM + wrong_by);
    const indexer = await serveTon();
    const settings = {
      'blockchains.ton.url': indexer.url,
      'blockchains.ton.requests_per_second': '1000',
      'gateways.ton.poll_interval_seconds': '1',
      'gateways.ton-usdt.enabled': false,
    };
    const first = await startApp({ single: true, database: 'postgres', settings, clock: right, start: true });
    onTestFinished(() => first.stop());
    const merchant = await first.merchant();
    await credit(first, merchant.user.id, CREDIT_MICROS);
    const lived = ({ app }: TestApp) => Math.floor(app.clock.ms() / 1000);
    const pass = async (what: string, isSo: () => boolean | Promise<boolean>) => {
      await until(what, async () => {
        if (await isSo()) return true;
        right.advance(STEP_SECONDS);
        wrong.advance(STEP_SECONDS);
        indexer.now = right.now();
        return undefined;
      });
    };
    // A chain is read where something is watched.
    await create(first, merchant, 'ton');
    await pass('the chain is read', () => first.app.clock_check.offset() !== null);

    const second = await startApp({
      single: true,
      database_url: first.app.config.database_url,
      database: 'postgres',
      settings,
      clock: wrong,
      start: true,
    });
    onTestFinished(() => second.stop());
    await pass('the wrong clock is known', () => Math.abs(lived(second) - right.now()) <= 30);
    expect(second.app.clock_check.trouble()).not.toBeNull();
    await pass('the other one reads', () => first.app.observer.reads().includes('ton'));
    expect(second.app.observer.reads()).not.toContain('ton');

    const { json: sold } = await second.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      body: { chain: 'ton', amount: '10' },
    });
    const invoice = await invoiceRow(first, sold.id);
    expect(Math.abs(invoice.created_at - right.now())).toBeLessThanOrEqual(30);
    indexer.pay(invoice);
    await pass(
      'the payment is booked',
      async () => (await invoiceRow(first, sold.id)).status === 'confirmed',
    );
  });
});
