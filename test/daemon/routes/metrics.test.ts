// What Prometheus is given: every figure of a payment's way, bounded labels, no secret, and a dashboard that fits.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRegistry, written } from '../../../daemon/metrics/registry.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { serve } from '../../helpers/local-server.ts';
import { readMetrics } from '../../helpers/metrics.ts';
import { create, fundedMerchant, observe, transferTo, unconfirmed } from '../../helpers/payments.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const TOKEN = 'a-token-for-metrics-only';
/** Longer than sums of the database are cached. */
const FRESH_SECONDS = 11;
const HOUR_SECONDS = 3_600;

describe.each(databases)('metrics on %s', (database) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({ single: true, database, settings: { 'metrics.token': TOKEN } });
  });
  afterAll(() => service.stop());

  const scrape = async () => {
    service.clock.advance(FRESH_SECONDS);
    const { status, headers, text } = await service.fetch('GET', '/metrics', { token: TOKEN });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    return { text, ...readMetrics(text) };
  };

  test('are shown to who has the token only, and are not there without one', async () => {
    verifies('metrics');
    expect((await service.fetch('GET', '/metrics')).status).toBe(401);
    expect((await service.fetch('GET', '/metrics', { token: `${TOKEN}.` })).status).toBe(401);
    const closed = await startApp({ single: true, database: 'sqlite' });
    try {
      const { status, json } = await closed.fetch('GET', '/metrics', { token: TOKEN });
      expect([status, json.code]).toEqual([404, 'not_found']);
    } finally {
      await closed.stop();
    }
  });

  test('follow a payment from its block to its webhook', async () => {
    verifies('metrics');
    const receiver = await serve((_, response) => response.writeHead(200).end());
    const merchant = await fundedMerchant(service);
    const invoice = await create(service, merchant, 'bitcoin', { callback_url: `${receiver.url}/paid` });
    await create(service, merchant, 'ton');
    const before = await scrape();
    expect(before.value('gatewayd_invoices_open')).toBe(2);
    const transfer = transferTo(service, invoice, { ...unconfirmed, time: service.clock.now() });
    service.clock.advance(7);
    await observe(service, 'bitcoin', [transfer]);
    service.clock.advance(40);
    await observe(service, 'bitcoin', [
      { ...transfer, height: 100, block_hash: 'block-100', confirmations: 64 },
    ]);
    await until('the webhook arrives', async () => receiver.requests[0]);
    const after = await until('it is counted', async () => {
      const now = await scrape();
      return now.value('gatewayd_webhooks_total', { outcome: 'delivered' }) === 1 ? now : undefined;
    });
    const on = { blockchain: 'bitcoin' };
    expect(after.value('gatewayd_payment_seen_seconds_sum', on)).toBe(7);
    expect(after.value('gatewayd_payment_seen_seconds_bucket', { ...on, le: '5' })).toBe(0);
    expect(after.value('gatewayd_payment_seen_seconds_bucket', { ...on, le: '10' })).toBe(1);
    expect(after.value('gatewayd_payment_confirmed_seconds_sum', on)).toBe(40);
    expect(after.value('gatewayd_payment_confirmed_seconds_count', on)).toBe(1);
    expect(after.value('gatewayd_webhook_delivered_seconds_count')).toBe(1);
    expect(after.value('gatewayd_invoices_open')).toBe(1);
    const made = { endpoint: 'createInvoice', status: '200' };
    expect(after.value('gatewayd_http_requests_total', made)).toBe(2);
    expect(after.value('gatewayd_http_request_duration_seconds_count', { endpoint: 'createInvoice' })).toBe(
      2,
    );
  });

  test('count what waits for a person', async () => {
    const merchant = await service.merchant();
    const held = await create(service, merchant, 'ton');
    await observe(service, 'ton', [transferTo(service, held), transferTo(service, held, { memo: null })]);
    const { value } = await scrape();
    const waiting = (status: string) => value('gatewayd_payments_waiting', { blockchain: 'ton', status });
    expect([waiting('held'), waiting('unmatched'), waiting('late')]).toEqual([1, 1, 0]);
    expect(value('gatewayd_webhooks_queued', { status: 'pending' })).toBe(0);
  });

  test('count webhooks that did not arrive, until they do', async () => {
    verifies('metrics-upkeep');
    const receiver = await serve(({ index }, response) => response.writeHead(index === 0 ? 500 : 200).end());
    const merchant = await fundedMerchant(service);
    const invoice = await create(service, merchant, 'ton', { callback_url: `${receiver.url}/paid` });
    await observe(service, 'ton', [transferTo(service, invoice)]);
    const undelivered = (count: number) =>
      until(`${count} undelivered`, async () =>
        (await scrape()).value('gatewayd_webhooks_undelivered') === count ? count : undefined,
      );
    await undelivered(1);
    const { event_id } = await service.app.db.query
      .selectFrom('deliveries')
      .select('event_id')
      .where('status', '=', 'failed')
      .executeTakeFirstOrThrow();
    const { status } = await service.fetch('POST', `/api/v1/merchant/events/${event_id}/resend`, merchant);
    expect(status).toBe(200);
    await undelivered(0);
  });

  test('count notices that an address did not take', async () => {
    verifies('metrics-upkeep');
    let answer = 500;
    const receiver = await serve((_, response) => response.writeHead(answer).end());
    const notified = await startApp({
      single: true,
      database,
      settings: {
        'metrics.token': TOKEN,
        notify: JSON.stringify([{ to: `${receiver.url}/notices`, on: ['payment_unmatched'] }]),
      },
    });
    try {
      const { app, clock } = notified;
      const undelivered = async () => {
        clock.advance(FRESH_SECONDS);
        const { text } = await notified.fetch('GET', '/metrics', { token: TOKEN });
        return readMetrics(text).value('gatewayd_notices_undelivered', { scheme: 'http' });
      };
      await app.notify.tick();
      expect(await undelivered()).toBe(0);
      const merchant = await notified.merchant();
      const invoice = await create(notified, merchant, 'ton');
      await observe(notified, 'ton', [transferTo(notified, invoice, { memo: null })]);
      await app.notify.tick();
      clock.advance(10);
      await app.notify.tick();
      expect(await undelivered()).toBe(1);
      answer = 200;
      clock.advance(HOUR_SECONDS);
      await app.notify.tick();
      expect(await undelivered()).toBe(0);
    } finally {
      await notified.stop();
    }
  });

  test('have no label that a caller chooses, and no secret', async () => {
    verifies('metrics');
    const merchant = await service.merchant();
    const before = (await scrape()).series.length;
    for (let n = 0; n < 50; n++) {
      await service.fetch('GET', `/paths/that/are/not/there/${n}?api_key=${merchant.key}`);
      await service.fetch('GET', `/v1/invoices/00000000-0000-4000-8000-0000000000${n + 10}`, merchant);
    }
    const { text, series } = await scrape();
    expect(series.length - before).toBeLessThan(60);
    for (const secret of [merchant.key, merchant.id, TOKEN, service.app.config.secret, 'not/there'])
      expect(text).not.toContain(secret);
  });

  test('ask the database once in ten seconds, however often they are read', async () => {
    await scrape();
    const merchant = await service.merchant();
    const open = async () => {
      const { text } = await service.fetch('GET', '/metrics', { token: TOKEN });
      return readMetrics(text).value('gatewayd_invoices_open') ?? Number.NaN;
    };
    const first = await open();
    await create(service, merchant, 'ton');
    service.clock.advance(9);
    expect(await open()).toBe(first);
    service.clock.advance(1);
    expect(await open()).toBe(first + 1);
  });

  test('of the dashboard are all there', async () => {
    const { types } = await scrape();
    const dashboard = readFileSync('.github/grafana/gatewayd.json', 'utf8');
    const used = new Set(dashboard.match(/\b(gatewayd|process|nodejs)_[a-z_]+/g));
    expect(used.size).toBeGreaterThan(20);
    const missing = [...used].filter((name) => {
      const base = name.replace(/_(bucket|sum|count)$/, '');
      return !types.has(name) && types.get(base) !== 'histogram';
    });
    expect(missing).toEqual([]);
    // And all of the daemon's own are shown.
    expect([...types.keys()].filter((name) => !dashboard.includes(name))).toEqual([]);
  });
});

test('a metric has a bounded number of series, and escapes what labels hold', () => {
  const registry = createRegistry();
  const counter = registry.counter({ name: 'calls_total', help: 'Calls.', labels: ['who'] });
  for (let n = 0; n < 5_000; n++) counter.add([`caller ${n}`]);
  expect(readMetrics(registry.text()).series).toHaveLength(2_000);
  const odd = 'a "quoted" \\ text\nof two lines';
  const text = written('gauge', { name: 'odd', help: 'Odd\nhelp.', labels: ['text'] }, [
    { labels: [odd], value: 1 },
  ]);
  expect(text.split('\n')).toHaveLength(4);
  expect(readMetrics(text).series[0]?.labels).toEqual({ text: 'a \\"quoted\\" \\\\ text\\nof two lines' });
});

test('a histogram counts each bucket with those below it', () => {
  const registry = createRegistry();
  const times = registry.histogram({ name: 'took_seconds', help: 'Time.', bounds: [1, 2, 5] });
  for (const seconds of [-3, 1, 1.5, 4, 60]) times.observe([], seconds);
  const { series } = readMetrics(registry.text());
  expect(series.map(({ labels, value }) => [labels.le, value])).toEqual([
    ['1', 2],
    ['2', 3],
    ['5', 4],
    ['+Inf', 5],
    [undefined, 66.5],
    [undefined, 5],
  ]);
});
