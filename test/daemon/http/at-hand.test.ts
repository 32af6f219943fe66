// Answers that are given again are those that the routes would give now, over a real socket and on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Serving } from '../../../daemon/process/serve.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { listen } from '../../helpers/browser.ts';
import { databasesOfRun } from '../../helpers/databases.ts';
import {
  create,
  fundedMerchant,
  invoiceRow,
  observe,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import type { TestMerchant } from '../../helpers/people.ts';

describe.each(databasesOfRun())('on %s', (database) => {
  let daemon: TestApp;
  let serving: Serving;
  let merchant: TestMerchant;
  beforeAll(async () => {
    daemon = await startApp({ database, single: true });
    serving = await listen(daemon);
    merchant = await fundedMerchant(daemon);
  });
  afterAll(async () => {
    await serving.stop();
    await daemon.stop();
  });

  const get = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${serving.url}${path}`, { headers });
    const { date: _, 'x-request-id': request_id, ...rest } = Object.fromEntries(reply.headers);
    return { status: reply.status, headers: rest, request_id, text: await reply.text() };
  };
  const logged = (request_id: string | undefined) =>
    daemon.log.map((line) => JSON.parse(line)).filter((line) => line.request_id === request_id);

  test('the second is the first, under an id of its own that is logged and counted', async () => {
    const { id } = await create(daemon, merchant, 'ton');
    const path = `/v1/public/invoices/${id}`;
    const { public_invoices } = daemon.app;
    let routed = 0;
    daemon.app.public_invoices = {
      get(asked) {
        routed++;
        return public_invoices.get(asked);
      },
    };
    const [first, second, named] = [
      await get(path),
      await get(path),
      await get(path, { 'x-request-id': 'mine-1' }),
    ];
    daemon.app.public_invoices = public_invoices;
    expect(routed).toBe(database === 'sqlite' ? 1 : 3);
    expect({ ...second, request_id: 0 }).toEqual({ ...first, request_id: 0 });
    expect(second.request_id).not.toBe(first.request_id);
    expect(named.request_id).toBe('mine-1');
    expect(named.text).toBe(first.text);
    for (const { request_id } of [first, second, named])
      expect(logged(request_id)).toMatchObject([
        { endpoint: 'getPublicInvoice', method: 'GET', status: 200, msg: 'request' },
      ]);
    const count = /gatewayd_http_requests_total\{endpoint="getPublicInvoice",status="200"\} (\d+)/;
    expect(Number(count.exec(daemon.app.metrics.text())?.[1])).toBeGreaterThanOrEqual(3);
  });

  test('what was paid, cancelled or switched meanwhile is shown at once, on the page as well', async () => {
    const { id } = await create(daemon, merchant, 'ton');
    const paths = [`/v1/public/invoices/${id}`, `/pay/${id}`];
    const ask = () => Promise.all(paths.map((path) => get(path)));
    await ask();
    const [open, page] = await ask();
    expect(JSON.parse(open?.text ?? '')).toMatchObject({ status: 'created', amount_match: 'none' });
    const payment = transferTo(daemon, await invoiceRow(daemon, id));
    await observe(daemon, 'ton', [{ ...payment, ...unconfirmed }]);
    const [seen, seen_page] = await ask();
    expect(JSON.parse(seen?.text ?? '')).toMatchObject({ status: 'created', amount_match: 'exact' });
    expect(seen_page?.text).not.toBe(page?.text);
    await observe(daemon, 'ton', [payment]);
    const [paid, paid_page] = await ask();
    expect(JSON.parse(paid?.text ?? '')).toMatchObject({ status: 'confirmed' });
    expect(paid_page?.text).not.toBe(seen_page?.text);
  });

  test('a page is of its second, and in the language and for the device that asks', async () => {
    const { id } = await create(daemon, merchant, 'ton');
    const path = `/pay/${id}`;
    const german = await get(path, { 'accept-language': 'de' });
    expect((await get(path, { 'accept-language': 'de' })).text).toBe(german.text);
    expect((await get(path, { 'accept-language': 'fr' })).text).toContain('lang="fr"');
    expect((await get(path, { 'accept-language': 'de', 'user-agent': 'An iPhone' })).text).not.toBe(
      german.text,
    );
    const plain = await get(path, { 'accept-language': 'de', 'accept-encoding': 'identity' });
    expect([german.headers['content-encoding'], plain.headers['content-encoding']]).toEqual([
      'gzip',
      undefined,
    ]);
    daemon.clock.advance(1);
    expect((await get(path, { 'accept-language': 'de' })).text).not.toBe(german.text);
  });

  test('names that a request carries in vain are reported each time, and what has a query is answered by its route', async () => {
    const { id } = await create(daemon, merchant, 'ton');
    const path = `/v1/public/invoices/${id}`;
    await get(path);
    for (const _ of [1, 2])
      expect((await get(`${path}?color=red`)).headers['x-ignored-fields']).toBe('color');
    const head = await fetch(`${serving.url}${path}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(`${serving.url}${path}`, { method: 'POST' })).status).toBe(405);
  });

  test('a daemon that is drained says so, whatever it answered before', async () => {
    for (const _ of [1, 2]) expect((await get('/health')).status).toBe(200);
    const { draining } = daemon.app.instance;
    daemon.app.instance.draining = () => true;
    try {
      expect((await get('/health')).status).toBe(503);
    } finally {
      daemon.app.instance.draining = draining;
    }
    expect((await get('/health')).status).toBe(200);
  });
});
