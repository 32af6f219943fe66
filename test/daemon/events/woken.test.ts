// What one daemon writes wakes the others on the same PostgreSQL database; polls are only the net.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventStream } from '../../../daemon/events/feed.ts';
import { openReceiver } from '../../e2e/receiver.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { systemClock } from '../../helpers/clock.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

/** Far below every poll. */
const AT_ONCE_MS = 1_000;
/** What waits for a poll waits for ever. */
const NO_POLL = { poll_ms: 600_000, net_ms: 600_000, heartbeat_ms: 1_200_000 };
const ROUNDS = 4;

describe.skipIf(!hasPostgres)('two daemons', () => {
  let writer: TestApp;
  let reader: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    const options = { database: 'postgres', clock: systemClock, start: true } as const;
    writer = await startApp(options);
    reader = await startApp({ ...options, database_url: writer.app.config.database_url });
    merchant = await writer.merchant();
    await bothHear();
  });
  afterAll(async () => {
    await reader.stop();
    await writer.stop();
  });

  const bothHear = () =>
    until('both hear themselves', async () =>
      [writer, reader].every(({ app }) => app.signals.areHeard()) ? true : undefined,
    );
  const sell = async () => {
    const reply = await writer.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      body: { chain: 'ton', amount: '1' },
    });
    expect(reply.status, reply.text).toBe(200);
    return reply.json.id as string;
  };
  /** Opens a stream at the reader; `next` is when an event of this invoice came. */
  const follow = async (pace = NO_POLL) => {
    const ended = new AbortController();
    onTestFinished(() => ended.abort());
    const request = { headers: new Headers(), signal: ended.signal };
    const { body } = await eventStream(reader.app, merchant.user, { limit: 50 }, request, pace);
    const stream = body.getReader();
    await stream.read();
    let text = '';
    void (async () => {
      for (;;) {
        const { done, value } = await stream.read();
        if (done) return;
        text += new TextDecoder().decode(value);
      }
    })();
    return (invoice_id: string) =>
      until(`event of ${invoice_id}`, async () => (text.includes(invoice_id) ? true : undefined));
  };
  const cutListeners = () =>
    sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'gatewayd listener'`.execute(
      writer.app.db.query,
    );

  test('a stream sends what the other has written, without a poll', async () => {
    verifies('woken-by-others', 'events-stream');
    const came = await follow();
    for (let round = 0; round < ROUNDS; round++) {
      const id = await sell();
      const began = Date.now();
      await came(id);
      expect(Date.now() - began).toBeLessThan(AT_ONCE_MS);
    }
  });

  test('a connection that listens and is cut is opened again, and what was missed is read once', async () => {
    verifies('woken-by-others');
    const came = await follow();
    await cutListeners();
    const missed = await sell();
    await came(missed);
    await bothHear();
    const began = Date.now();
    await came(await sell());
    expect(Date.now() - began).toBeLessThan(AT_ONCE_MS);
  });

  test('a webhook that one cannot send is sent by the other at once', async () => {
    verifies('woken-by-others', 'webhook-one-attempt');
    const receiver = await openReceiver();
    onTestFinished(() => receiver.close());
    const account = await writer.fetch('PATCH', '/api/v1/merchant/account', {
      token: merchant.token,
      body: { webhook_url: receiver.url },
    });
    expect(account.status).toBe(200);
    await writer.app.webhooks.stop();
    for (let round = 0; round < ROUNDS; round++) {
      const id = await sell();
      const paid = await writer.fetch('POST', `/v1/invoices/${id}/simulate`, { key: merchant.key });
      expect(paid.status, paid.text).toBe(200);
      const began = Date.now();
      await until('the webhook', async () => receiver.hooks.find(({ invoice_id }) => invoice_id === id));
      expect(Date.now() - began).toBeLessThan(AT_ONCE_MS);
      expect(receiver.hooks).toHaveLength(round + 1);
    }
  });

  test('where no notification arrives, a poll brings it', async () => {
    verifies('woken-by-others');
    await reader.app.signals.stop();
    expect(reader.app.signals.areHeard()).toBe(false);
    const came = await follow({ ...NO_POLL, poll_ms: 200 });
    await came(await sell());
  });
});
