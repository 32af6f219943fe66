// Webhooks are attempted once, even if one side crashes, stalls or answers nonsense; on both databases.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompiledQuery, sql } from 'kysely';
import pino from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { LIMITS, openLimiter } from '../../../daemon/webhooks/concurrency.ts';
import { type HttpOut, openHttpOut } from '../../../daemon/webhooks/egress.ts';
import { openWebhooks, type Webhooks, type WebhooksOptions } from '../../../daemon/webhooks/queue.ts';
import { ConnectionLost } from '../../../data/db/failures.ts';
import { type Db, openDb } from '../../../data/db/open.ts';
import {
  abandonDeliveries,
  claimDeliveries,
  finishDelivery,
  insertDelivery,
  insertManualDelivery,
  pendingDeliveries,
} from '../../../data/deliveries.ts';
import { insertEvent, newEventId } from '../../../data/events.ts';
import { GENESIS_HASH } from '../../../src/ledger.ts';
import { webhookBody } from '../../../src/webhook.ts';
import { databases, type OpenDatabase, openDatabase } from '../../helpers/database.ts';
import { openLine } from '../../helpers/line.ts';
import { verifies } from '../../requirements.ts';

const NOW = 1_800_000_000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const until = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000, interval: 20 });

interface Received {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A receiver on loopback; each request has been read when `answer` runs. */
async function receiver(answer: (response: ServerResponse, received: Received) => void) {
  const received: Received[] = [];
  const server = createServer(async (incoming, response) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    const one = { path: incoming.url ?? '', headers: incoming.headers, body };
    received.push(one);
    answer(response, one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

const ok = (response: ServerResponse) => response.end('thanks');
const silent = () => {};

describe.each(databases)('webhooks on %s', (dialect) => {
  let fresh: OpenDatabase;
  let url: string;
  let db: Db;

  beforeAll(async () => {
    fresh = await openDatabase(dialect);
    ({ db, url } = fresh);
  });
  afterAll(() => fresh.stop());

  const now = { seconds: NOW };
  const open = (options: Partial<WebhooksOptions> = {}): Webhooks => {
    const webhooks = openWebhooks({
      db,
      log: pino({ level: 'silent' }),
      clock: { ms: () => now.seconds * 1000 },
      config: { webhook_allow_private: true, public_url: 'https://pay.example.com' },
      secretsOf: async () => [SECRET],
      http: openHttpOut({ allow_private: true, timeout_ms: 3_000 }),
      stop_wait_ms: 0,
      ...options,
    });
    onTestFinished(() => webhooks.stop());
    return webhooks;
  };

  const newMerchant = async (webhook_url: string | null = null) => {
    const id = randomUUID();
    await sql`insert into users (id, email, source, subject, is_active, is_superuser, token_version, created_at)
      values (${id}, ${id}, 'email', ${id}, 1, 0, 0, ${NOW})`.execute(db.query);
    await sql`insert into merchants (id, slug, api_key_hash, api_key_sealed, webhook_url, prepaid_micros, ledger_seq,
      ledger_hash, created_at) values (${id}, ${id}, ${id}, '', ${webhook_url}, 0, 0, ${GENESIS_HASH}, ${NOW})`.execute(
      db.query,
    );
    return id;
  };

  /** A confirmed invoice with its income and event, and the delivery where `to` is given. */
  const confirm = async (
    merchant_id: string | null,
    to: string | null,
    callback_url: string | null = null,
  ) => {
    const invoice_id = randomUUID();
    const event_id = newEventId();
    const body = webhookBody({
      type: 'invoice.confirmed',
      created_at: NOW,
      invoice: { id: invoice_id, title: 'Kaffee für zwei ☕' },
      payment: { status: 'confirmed' },
    });
    await sql`insert into invoices (id, owner_id, kind, chain, blockchain, currency, network, decimals,
      min_confirmations, amount_usd_micros, amount_usd_fee_micros, rate_usd_nanos, amount_merchant_atomic,
      amount_fee_atomic, amount_atomic, address, address_key, qr_payload, exits, status, amount_match, confirmations,
      callback_url, created_at, expires_at, paid_at, watch_until)
      values (${invoice_id}, ${merchant_id}, 'sale', 'a', 'a', 'A', 'testnet', 9, 1, 1000000, 0, '1', '1', '0', '1',
      'x', 'x', '', '{}', 'confirmed', 'exact', 1, ${callback_url}, ${NOW}, ${NOW}, ${NOW}, ${NOW})`.execute(
      db.query,
    );
    if (merchant_id !== null)
      await sql`insert into income (id, merchant_id, invoice_id, chain, currency, amount_atomic, decimals,
        amount_usd_micros, fee_charged_micros, webhook_status, created_at) values (${randomUUID()}, ${merchant_id},
        ${invoice_id}, 'a', 'A', '1', 9, 1000000, 0, ${to === null ? 'none' : 'pending'}, ${NOW})`.execute(
        db.query,
      );
    await db.transaction(async (tx) => {
      const event = { merchant_id, type: 'invoice.confirmed' as const, invoice_id, payment_id: null, body };
      await insertEvent(tx, { id: event_id, ...event, created_at: NOW });
      if (to !== null) await insertDelivery(tx, { event_id, merchant_id, url: to, created_at: NOW });
    });
    return { event_id, invoice_id, body };
  };

  const deliveriesOf = (event_id: string) =>
    db.query.selectFrom('deliveries').selectAll().where('event_id', '=', event_id).orderBy('kind').execute();
  const deliveryOf = async (event_id: string) => {
    const [row] = await deliveriesOf(event_id);
    if (!row) throw new Error(`no delivery of ${event_id}`);
    return row;
  };
  const incomeOf = async (invoice_id: string) =>
    (
      await db.query
        .selectFrom('income')
        .select('webhook_status')
        .where('invoice_id', '=', invoice_id)
        .executeTakeFirstOrThrow()
    ).webhook_status;
  const untilStatus = (event_id: string, status: string) =>
    until(async () => expect((await deliveryOf(event_id)).status).toBe(status));

  test('deliver the stored text, signed, and record it on the income', async () => {
    verifies('event-webhook-on-confirm', 'event-webhook-status', 'webhook-signature');
    const shop = await receiver(ok);
    const merchant = await newMerchant();
    const webhooks = open({ poll_ms: 60_000 });
    const { event_id, invoice_id, body } = await confirm(merchant, shop.url);
    webhooks.kick();
    await untilStatus(event_id, 'delivered');
    expect(await deliveryOf(event_id)).toMatchObject({ http_status: 200, error: null, finished_at: NOW });
    expect((await deliveryOf(event_id)).duration_ms).toBeGreaterThanOrEqual(0);
    expect(await incomeOf(invoice_id)).toBe('delivered');
    const [request] = shop.received;
    expect(shop.received).toHaveLength(1);
    expect(request?.body).toBe(body);
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': event_id,
      'webhook-timestamp': String(NOW),
      'user-agent': 'gatewayd (+https://pay.example.com)',
    });
    const signature = new Webhook(SECRET).sign(event_id, new Date(NOW * 1000), body);
    expect(request?.headers['webhook-signature']).toBe(signature);
  });

  test('are sent unsigned where there is no secret, and not at all where it cannot be read', async () => {
    const shop = await receiver(ok);
    const merchants = [await newMerchant(), await newMerchant(), await newMerchant()];
    const [plain, broken, wrong] = merchants;
    const events = await Promise.all(merchants.map((merchant) => confirm(merchant, shop.url)));
    const platform = await confirm(null, shop.url);
    open({
      secretsOf: async (merchant) => {
        if (merchant === broken) throw new Error('sealed with another key');
        return merchant === wrong ? ['whsec_?'] : [];
      },
    });
    await untilStatus(events[0]?.event_id ?? '', 'delivered');
    await untilStatus(events[1]?.event_id ?? '', 'failed');
    await untilStatus(events[2]?.event_id ?? '', 'failed');
    await untilStatus(platform.event_id, 'delivered');
    expect(plain).toBeDefined();
    expect(shop.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual(
      [events[0]?.event_id, platform.event_id].sort(),
    );
    for (const { headers } of shop.received) expect(headers).not.toHaveProperty('webhook-signature');
    expect((await deliveryOf(events[1]?.event_id ?? '')).error).toBe('the webhook secret cannot be read');
    expect((await deliveryOf(events[2]?.event_id ?? '')).error).toMatch('base64');
  });

  test('fail on every answer but 2xx, and are never sent again', async () => {
    verifies('event-no-retry', 'webhook-outcome');
    const merchant = await newMerchant();
    const elsewhere = await receiver(ok);
    const shop = await receiver((response, { path }) =>
      response.writeHead(Number(path.slice(1)), { location: elsewhere.url }).end(),
    );
    const statuses = [200, 202, 204, 300, 302, 308, 400, 404, 410, 429, 500, 503];
    const events = await Promise.all(
      statuses.map((status) => confirm(merchant, shop.url.replace('hook', String(status)))),
    );
    const unreachable = await confirm(merchant, 'http://127.0.0.1:1/');
    const nonsense = await confirm(merchant, 'no url');
    const webhooks = open({ poll_ms: 20 });
    for (const [index, { event_id, invoice_id }] of events.entries()) {
      const status = statuses[index] ?? 0;
      await untilStatus(event_id, status < 300 ? 'delivered' : 'failed');
      const row = await deliveryOf(event_id);
      expect(row.http_status).toBe(status);
      if (status < 300) expect(row.error).toBeNull();
      else expect(row.error).toMatch(`answered HTTP ${status}`);
      expect(await incomeOf(invoice_id)).toBe(row.status);
    }
    await untilStatus(unreachable.event_id, 'failed');
    await untilStatus(nonsense.event_id, 'failed');
    expect((await deliveryOf(unreachable.event_id)).error).toBe('connection refused (ECONNREFUSED)');
    now.seconds += 86_400;
    for (let n = 0; n < 5; n++) webhooks.kick();
    await webhooks.stop();
    await open().stop();
    now.seconds = NOW;
    expect(shop.received).toHaveLength(statuses.length);
    expect(elsewhere.received).toHaveLength(0);
  });

  test('reach no private address unless that is allowed', async () => {
    verifies('outgoing-public-only');
    const canary = await receiver(ok);
    const { event_id } = await confirm(await newMerchant(), canary.url);
    open({
      http: undefined,
      config: { webhook_allow_private: false, public_url: 'https://pay.example.com' },
    });
    await untilStatus(event_id, 'failed');
    expect((await deliveryOf(event_id)).error).toMatch('not public');
    expect(canary.received).toHaveLength(0);
  });

  test('that are queued are found without a kick, after a restart and while running', async () => {
    const shop = await receiver(ok);
    const merchant = await newMerchant();
    const before = await confirm(merchant, shop.url);
    open({ poll_ms: 20 });
    await untilStatus(before.event_id, 'delivered');
    const while_running = await confirm(merchant, shop.url);
    await untilStatus(while_running.event_id, 'delivered');
    expect(shop.received).toHaveLength(2);
  });

  test('claimed by a daemon that is gone become unknown and are never sent', async () => {
    verifies('webhook-one-attempt', 'webhook-statuses');
    const shop = await receiver(ok);
    const { event_id, invoice_id } = await confirm(await newMerchant(), shop.url);
    const { id } = await deliveryOf(event_id);
    expect(await claimDeliveries(db.query, [id], { instance_id: 'gone', claimed_at: NOW })).toEqual([id]);
    const first = open({ poll_ms: 20 });
    if (dialect === 'postgres') {
      // Other daemons may be alive: only age tells.
      now.seconds = NOW + 25;
      await first.stop();
      expect((await deliveryOf(event_id)).status).toBe('sending');
      now.seconds = NOW + 26;
      open({ poll_ms: 20 });
    }
    await untilStatus(event_id, 'unknown');
    expect(await incomeOf(invoice_id)).toBe('unknown');
    expect((await deliveryOf(event_id)).error).toBe('interrupted before the answer');
    now.seconds = NOW;
    expect(shop.received).toHaveLength(0);
    // Its claimer was only slow after all.
    const late = { id, instance_id: 'gone', http_status: 200, error: null, duration_ms: 26_000 };
    await db.transaction((tx) => finishDelivery(tx, { ...late, status: 'delivered', finished_at: NOW + 27 }));
    expect(await deliveryOf(event_id)).toMatchObject({ status: 'delivered', error: null });
    expect(await incomeOf(invoice_id)).toBe('delivered');
  });

  test('cannot be queued twice for one event', async () => {
    verifies('webhook-one-attempt');
    const { event_id } = await confirm(await newMerchant(), 'http://127.0.0.1:1/');
    const again = { event_id, merchant_id: null, url: 'http://127.0.0.1:1/', created_at: NOW };
    await expect(db.transaction((tx) => insertDelivery(tx, again))).rejects.toThrow(/unique/i);
    await db.query.deleteFrom('deliveries').where('event_id', '=', event_id).execute();
  });

  test('to a slow receiver delay no other, not even of the same merchant', async () => {
    verifies('webhook-slow');
    let waiting = 0;
    let most = 0;
    const slow = await receiver((response) => {
      most = Math.max(most, ++waiting);
      response.on('close', () => waiting--);
    });
    const fast = await receiver(ok);
    const merchant = await newMerchant();
    for (let n = 0; n < 40; n++) await confirm(merchant, slow.url);
    const webhooks = open({ poll_ms: 60_000 });
    webhooks.kick();
    await until(() => expect(waiting).toBe(LIMITS.per_receiver));
    const { event_id } = await confirm(merchant, fast.url);
    const began = performance.now();
    webhooks.kick();
    await untilStatus(event_id, 'delivered');
    expect(performance.now() - began).toBeLessThan(1_500);
    expect(slow.received).toHaveLength(LIMITS.per_receiver);
    expect(most).toBe(LIMITS.per_receiver);
    await webhooks.stop();
    await db.query.deleteFrom('deliveries').where('status', '=', 'pending').execute();
  });

  test('to fast receivers are sent although receivers that hang could take every place', async () => {
    verifies('webhook-slow');
    const slow = await receiver(silent);
    const fast = await receiver(ok);
    const limits = { ...LIMITS, total: 4 };
    for (let n = 0; n < limits.total; n++) await confirm(await newMerchant(), slow.url);
    const webhooks = open({ poll_ms: 60_000, limits });
    webhooks.kick();
    await until(() => expect(slow.received).toHaveLength(limits.total));
    const { event_id } = await confirm(await newMerchant(), fast.url);
    const began = performance.now();
    await untilStatus(event_id, 'delivered');
    // Long before those that hang are given up.
    expect(performance.now() - began).toBeLessThan(2_500);
    expect(webhooks.underWay()).toBe(limits.total);
    await webhooks.stop();
  });

  test('shared by three daemons are each sent once', async () => {
    verifies('webhook-one-attempt', 'both-databases');
    const shop = await receiver(ok);
    const others = dialect === 'postgres' ? [await openDb(url), await openDb(url)] : [db, db];
    const merchant = await newMerchant();
    const events = await Promise.all(Array.from({ length: 60 }, () => confirm(merchant, shop.url)));
    const daemons = [open(), ...others.map((other) => open({ db: other }))];
    for (let n = 0; n < 20; n++) for (const daemon of daemons) daemon.kick();
    for (const { event_id } of events) await untilStatus(event_id, 'delivered');
    for (const daemon of daemons) await daemon.stop();
    if (dialect === 'postgres') for (const other of others) await other.close();
    const ids = shop.received.map(({ headers }) => headers['webhook-id']);
    expect(ids.toSorted()).toEqual(events.map(({ event_id }) => event_id).toSorted());
  });

  test('claimed by many at once belong to one', async () => {
    const { event_id } = await confirm(await newMerchant(), 'http://127.0.0.1:1/');
    const { id } = await deliveryOf(event_id);
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        claimDeliveries(db.query, [id], { instance_id: String(n), claimed_at: NOW }),
      ),
    );
    expect(claims.flat()).toEqual([id]);
    await db.query.deleteFrom('deliveries').where('id', '=', id).execute();
  });

  test('under way are finished by a stop that has patience, and unknown after one that has none', async () => {
    const merchant = await newMerchant();
    const pending: ServerResponse[] = [];
    const shop = await receiver((response) => pending.push(response));
    const patient = await confirm(merchant, shop.url);
    const first = open({ stop_wait_ms: 10_000 });
    await until(() => expect(pending).toHaveLength(1));
    const stopped = first.stop();
    pending[0]?.end();
    await stopped;
    expect((await deliveryOf(patient.event_id)).status).toBe('delivered');

    const hasty = await confirm(merchant, shop.url);
    const second = open({ stop_wait_ms: 50 });
    await until(() => expect(pending).toHaveLength(2));
    await second.stop();
    expect(await deliveryOf(hasty.event_id)).toMatchObject({ status: 'unknown', http_status: null });
    expect(await incomeOf(hasty.invoice_id)).toBe('unknown');
    await expect(second.resend(hasty.event_id)).rejects.toMatchObject({ code: 'shutting_down' });
    const third = open();
    third.kick();
    await third.stop();
    expect(shop.received).toHaveLength(2);
  });

  test('that a stop interrupts before anything is sent are given back, and sent by another', async () => {
    verifies('webhook-given-back', 'webhook-one-attempt');
    const shop = await receiver(ok);
    const { event_id, invoice_id } = await confirm(await newMerchant(), shop.url);
    let begun = 0;
    // No connection comes to be: a name that is not resolved yet, a host that does not answer.
    const http: HttpOut = {
      post: (_, { signal }) =>
        new Promise((resolve) => {
          begun++;
          signal.addEventListener('abort', () => resolve({ kind: 'interrupted', sent: false }));
        }),
    };
    const first = open({ http });
    await until(() => expect(begun).toBe(1));
    await first.stop();
    expect(await deliveryOf(event_id)).toMatchObject({ status: 'pending', instance_id: null, error: null });
    open();
    await until(async () => expect((await deliveryOf(event_id)).status).toBe('delivered'));
    expect(await incomeOf(invoice_id)).toBe('delivered');
    expect(shop.received).toHaveLength(1);
  });

  test('are recorded although the database was away when the answer came', async () => {
    const pending: ServerResponse[] = [];
    const shop = await receiver((response) => pending.push(response));
    const { event_id, invoice_id } = await confirm(await newMerchant(), shop.url);
    let failures = 0;
    const transaction: Db['transaction'] = async (work) => {
      try {
        return await db.transaction(work);
      } catch (error) {
        failures++;
        throw error;
      }
    };
    open({ db: { ...db, transaction }, poll_ms: 60_000 });
    await until(() => expect(pending).toHaveLength(1));
    await sql`alter table income rename to income_away`.execute(db.query);
    pending[0]?.end();
    await until(() => expect(failures).toBeGreaterThan(0));
    expect((await deliveryOf(event_id)).status).toBe('sending');
    await sql`alter table income_away rename to income`.execute(db.query);
    await untilStatus(event_id, 'delivered');
    expect(await incomeOf(invoice_id)).toBe('delivered');
  });

  test('wait while the database is away before they are claimed, and are sent when it is back', async () => {
    verifies('webhook-one-attempt');
    const shop = await receiver(ok);
    const { event_id } = await confirm(await newMerchant(), shop.url);
    let asked = 0;
    open({
      poll_ms: 20,
      secretsOf: async () => {
        if (++asked < 3) throw new ConnectionLost('Connection terminated unexpectedly');
        return [SECRET];
      },
    });
    await untilStatus(event_id, 'delivered');
    expect(asked).toBe(3);
    expect(shop.received).toHaveLength(1);
  });

  test.runIf(dialect === 'postgres')('whose claim was written but not answered are sent, once', async () => {
    verifies('webhook-one-attempt');
    const line = await openLine(url);
    const far = await openDb(line.url);
    onTestFinished(async () => {
      await far.close();
      await line.close();
    });
    const shop = await receiver(ok);
    const { event_id } = await confirm(await newMerchant(), shop.url);
    let claims = 0;
    line.sending = (text) =>
      /update "deliveries" set "status".*returning "id"/s.test(text) && ++claims === 1
        ? 'lose answer'
        : 'pass';
    const webhooks = open({ db: far, poll_ms: 20 });
    await untilStatus(event_id, 'delivered');
    await webhooks.stop();
    expect(claims).toBeGreaterThan(1);
    expect(shop.received).toHaveLength(1);
  });

  test('of a process that is killed while it waits for the answer are sent once and end as unknown', async () => {
    const shop = await receiver(silent);
    const { event_id, invoice_id } = await confirm(await newMerchant(), shop.url);
    const hooks = new URL('../../helpers/typescript-hooks.mjs', import.meta.url).href;
    const program = new URL('./webhooks-process.ts', import.meta.url).pathname;
    const victim = spawn(process.execPath, ['--import', hooks, program, url], { stdio: 'inherit' });
    onTestFinished(() => void victim.kill('SIGKILL'));
    await until(() => expect(shop.received).toHaveLength(1));
    expect((await deliveryOf(event_id)).status).toBe('sending');
    const exit = once(victim, 'exit');
    victim.kill('SIGKILL');
    await exit;
    expect((await deliveryOf(event_id)).status).toBe('sending');
    now.seconds = Math.floor(Date.now() / 1000) + 30;
    const webhooks = open({ poll_ms: 20 });
    webhooks.kick();
    await untilStatus(event_id, 'unknown');
    await webhooks.stop();
    now.seconds = NOW;
    expect(await incomeOf(invoice_id)).toBe('unknown');
    expect(shop.received).toHaveLength(1);
  });

  describe('resent because a person asked for it', () => {
    test('have the same id and text, and count on the income when they arrive', async () => {
      verifies('events-resend');
      let status = 500;
      const shop = await receiver((response) => response.writeHead(status).end());
      const merchant = await newMerchant(shop.url);
      const { event_id, invoice_id, body } = await confirm(merchant, shop.url);
      const webhooks = open();
      await untilStatus(event_id, 'failed');
      expect(await webhooks.resend(event_id)).toMatchObject({
        event_id,
        status: 'failed',
        http_status: 500,
        error: 'answered HTTP 500',
      });
      expect(await incomeOf(invoice_id)).toBe('failed');
      status = 200;
      now.seconds = NOW + 3600;
      const outcome = await webhooks.resend(event_id);
      expect(outcome).toMatchObject({ event_id, status: 'delivered', http_status: 200, error: null });
      expect(await incomeOf(invoice_id)).toBe('delivered');
      status = 500;
      expect(await webhooks.resend(event_id)).toMatchObject({ status: 'failed' });
      expect(await incomeOf(invoice_id)).toBe('delivered');
      now.seconds = NOW;
      const rows = await deliveriesOf(event_id);
      expect(rows.map(({ kind }) => kind)).toEqual(['automatic', 'manual', 'manual', 'manual']);
      expect(rows.find(({ id }) => id === outcome.id)).toMatchObject({ status: 'delivered', url: shop.url });
      expect(shop.received).toHaveLength(4);
      for (const request of shop.received) {
        expect(request.body).toBe(body);
        expect(request.headers['webhook-id']).toBe(event_id);
      }
      expect(shop.received[2]?.headers['webhook-timestamp']).toBe(String(NOW + 3600));
    });

    test('go to the address of the invoice, else to the one the merchant has today', async () => {
      verifies('webhook-callback');
      const [old, today, own] = [await receiver(ok), await receiver(ok), await receiver(ok)];
      const merchant = await newMerchant(old.url);
      const usual = await confirm(merchant, null);
      const special = await confirm(merchant, null, own.url);
      await db.query
        .updateTable('merchants')
        .set({ webhook_url: today.url })
        .where('id', '=', merchant)
        .execute();
      const webhooks = open();
      await webhooks.resend(usual.event_id);
      await webhooks.resend(special.event_id);
      expect([old, today, own].map(({ received }) => received.length)).toEqual([0, 1, 1]);
    });

    test('are refused without an event, without an address and beyond the limit', async () => {
      const webhooks = open();
      await expect(webhooks.resend('evt_none')).rejects.toMatchObject({ code: 'event_not_found' });
      const homeless = await confirm(await newMerchant(), null);
      await expect(webhooks.resend(homeless.event_id)).rejects.toMatchObject({ code: 'bad_request' });
      expect(await deliveriesOf(homeless.event_id)).toEqual([]);
      const slow = await receiver(silent);
      const { event_id } = await confirm(await newMerchant(slow.url), null);
      const waiting = Array.from({ length: 16 }, () => webhooks.resend(event_id));
      await expect(webhooks.resend(event_id)).rejects.toMatchObject({
        code: 'rate_limited',
        retry_after: 15,
      });
      await until(() => expect(slow.received).toHaveLength(16));
      await webhooks.stop();
      for (const outcome of await Promise.all(waiting)) expect(outcome.status).toBe('unknown');
    });
  });

  test('are found by index, however many are done', async () => {
    const merchant = await newMerchant();
    const { event_id } = await confirm(merchant, null);
    const manual = { event_id, merchant_id: merchant, url: 'http://a.example/', created_at: NOW };
    await insertManualDelivery(db.query, manual, { instance_id: 'x', claimed_at: NOW });
    const busy = { hosts: ['a'], merchants: ['b'], receivers: [{ merchant_id: null, host: 'c' }] };
    const stale = { claimed_before: NOW, finished_at: NOW, alive: ['y'], limit: 10 };
    const plans = await explain(db, async (recorded) => {
      await pendingDeliveries(recorded.query, 10, busy);
      await recorded.transaction((tx) => abandonDeliveries(tx, stale));
    });
    expect(plans.length).toBeGreaterThanOrEqual(2);
    for (const { statement, plan } of plans) {
      if (dialect === 'postgres') expect(plan, statement).not.toMatch(/Seq Scan/);
      else expect(plan, statement).not.toMatch(/SCAN|TEMP B-TREE/);
    }
    await db.query.deleteFrom('deliveries').where('event_id', '=', event_id).execute();
  });
});

/** The plans of all statements that `work` runs with the database it is given. */
async function explain(
  db: Db,
  work: (db: Db) => Promise<unknown>,
): Promise<{ statement: string; plan: string }[]> {
  const statements: CompiledQuery[] = [];
  const query = db.query.withPlugin({
    transformQuery({ node, queryId }) {
      if (node.kind !== 'RawNode') statements.push(db.query.getExecutor().compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await work({ ...db, query, transaction: (run) => run(query as unknown as Parameters<typeof run>[0]) });
  return db.query.connection().execute(async (connection) => {
    // On a table this small PostgreSQL would rather scan.
    if (db.dialect === 'postgres') await sql`set enable_seqscan = off`.execute(connection);
    const plans = [];
    for (const { sql: statement, parameters } of statements) {
      const prefix = db.dialect === 'postgres' ? 'explain' : 'explain query plan';
      const raw = CompiledQuery.raw(`${prefix} ${statement}`, [...parameters]);
      plans.push({ statement, plan: JSON.stringify((await connection.executeQuery(raw)).rows) });
    }
    if (db.dialect === 'postgres') await sql`reset enable_seqscan`.execute(connection);
    return plans;
  });
}

describe('the places for deliveries', () => {
  const limits = { total: 10, slow: 3, per_host: 4, per_merchant: 5, per_receiver: 2 };
  const takeAll = (limiter: ReturnType<typeof openLimiter>, receiver: Parameters<typeof limiter.take>[0]) => {
    let taken = 0;
    while (limiter.take(receiver)) taken++;
    return taken;
  };

  test('are limited for one merchant at one host, one host, one merchant and all together', () => {
    const limiter = openLimiter(limits);
    expect(takeAll(limiter, { merchant_id: 'm1', host: 'a' })).toBe(2);
    expect(takeAll(limiter, { merchant_id: 'm2', host: 'a' })).toBe(2);
    expect(takeAll(limiter, { merchant_id: 'm3', host: 'a' })).toBe(0);
    expect(takeAll(limiter, { merchant_id: 'm1', host: 'b' })).toBe(2);
    expect(takeAll(limiter, { merchant_id: 'm1', host: 'c' })).toBe(1);
    expect(takeAll(limiter, { merchant_id: 'm1', host: 'd' })).toBe(0);
    expect(limiter.busy()).toMatchObject({ hosts: ['a'], merchants: ['m1'] });
    expect(takeAll(limiter, { merchant_id: 'm3', host: 'e' })).toBe(2);
    expect(limiter.free()).toBe(1);
    expect(takeAll(limiter, { merchant_id: 'm4', host: 'f' })).toBe(1);
    expect(takeAll(limiter, { merchant_id: 'm5', host: 'g' })).toBe(0);
  });

  test('know no merchant limit for the platform', () => {
    const limiter = openLimiter(limits);
    const hosts = ['a', 'b', 'c', 'd', 'e'];
    expect(hosts.map((host) => takeAll(limiter, { merchant_id: null, host }))).toEqual([2, 2, 2, 2, 2]);
    expect(limiter.busy()).toMatchObject({ hosts: [], merchants: [] });
    expect(limiter.busy().receivers).toHaveLength(5);
  });

  test('are given back by deliveries that wait for their answers, as long as these are not too many', () => {
    const limiter = openLimiter(limits);
    const [hanging, another, fast] = ['a', 'b', 'c'].map((host) => ({ merchant_id: host, host })) as [
      Parameters<typeof limiter.take>[0],
      Parameters<typeof limiter.take>[0],
      Parameters<typeof limiter.take>[0],
    ];
    expect(takeAll(limiter, hanging)).toBe(2);
    expect(limiter.free()).toBe(8);
    expect([limiter.slowDown(hanging), limiter.slowDown(hanging)]).toEqual([true, true]);
    expect(limiter.free()).toBe(10);
    // Its own limit counts them all the same.
    expect(takeAll(limiter, hanging)).toBe(0);
    expect(limiter.take(another)).toBe(true);
    expect(limiter.slowDown(another)).toBe(true);
    // No more are slow at once: who has some waits, and others are served.
    expect(limiter.busy().receivers).toMatchObject([hanging, another]);
    expect(limiter.take(another)).toBe(false);
    expect(takeAll(limiter, fast)).toBe(2);
    expect(limiter.slowDown(fast)).toBe(false);
    limiter.release(another, true);
    limiter.release(hanging, true);
    expect(limiter.take(another)).toBe(true);
    expect(limiter.slowDown(fast)).toBe(true);
    limiter.release(fast, true);
    for (const receiver of [another, fast]) limiter.release(receiver);
    limiter.release(hanging, true);
    expect(limiter.free()).toBe(limits.total);
    expect(limiter.busy()).toEqual({ hosts: [], merchants: [], receivers: [] });
  });

  test('are free again when they are given back', () => {
    const limiter = openLimiter(limits);
    const receiver = { merchant_id: 'm1', host: 'a' };
    for (let n = 0; n < 3; n++) {
      expect(takeAll(limiter, receiver)).toBe(2);
      limiter.release(receiver);
      limiter.release(receiver);
    }
    expect(limiter.free()).toBe(limits.total);
    expect(limiter.busy()).toEqual({ hosts: [], merchants: [], receivers: [] });
  });
});
