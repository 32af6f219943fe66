// A feed of events while many transactions commit in any order, read through another connection: PostgreSQL.
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createHttp } from '../../../daemon/http/mount.ts';
import { routes } from '../../../daemon/routes/routes.ts';
import { insertEvent, newEventId } from '../../../data/events.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { createDatabase, hasPostgres, type TestDatabase } from '../../helpers/postgres.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const WRITERS = 6;
const EVENTS_EACH = 75;
/** Transactions are open for up to this long before and after they write their event. */
const DELAY_MS = 30;
const POLL_MS = 20;
/** The stream asks twice a second. */
const SOON_MS = 2_000;

describe.runIf(hasPostgres)('a feed on postgres', () => {
  let server: TestDatabase;
  let writer: TestApp;
  let reader: TestApp;
  beforeAll(async () => {
    server = await createDatabase();
    writer = await startApp({ database: 'postgres', database_url: server.url });
    reader = await startApp({ database: 'postgres', database_url: server.url });
  });
  afterAll(async () => {
    await writer.stop();
    await reader.stop();
    await server.drop();
  });

  /** Writes one event in a transaction that takes its number among transactions first; returns its id once it is committed. */
  const write = (merchant_id: string, delay_ms: () => number): Promise<string> =>
    writer.app.db.transaction(async (tx) => {
      await sql`select pg_current_xact_id()`.execute(tx);
      await wait(delay_ms());
      const id = newEventId();
      await insertEvent(tx, {
        id,
        merchant_id,
        type: 'invoice.created',
        invoice_id: null,
        payment_id: null,
        body: JSON.stringify({
          type: 'invoice.created',
          timestamp: new Date(writer.clock.ms()).toISOString(),
          api_version: 'v1',
          data: { invoice: null, payment: null },
        }),
        created_at: writer.clock.now(),
      });
      await wait(delay_ms());
      return id;
    });

  const page = async (who: TestMerchant, after: string | null): Promise<string[]> => {
    const query = after === null ? '' : `?after=${after}`;
    const { json } = await reader.fetch('GET', `/api/v1/merchant/events${query}`, { token: who.token });
    return json.data.map(({ id }: { id: string }) => id);
  };

  /** Follows from now on; what it resolves with reads until it is done. */
  async function follow(who: TestMerchant, ids: string[], done: () => boolean): Promise<() => Promise<void>> {
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const response = await createHttp(reader.app, routes).h3.fetch(
      new Request('http://127.0.0.1:4020/api/v1/merchant/events', {
        headers: { authorization: `Bearer ${who.token}`, accept: 'text/event-stream' },
        signal: gone.signal,
      }),
    );
    const decoder = new TextDecoder();
    let text = '';
    const reading = response.body?.getReader();
    return async () => {
      while (!done()) {
        const { value, done: ended } = (await reading?.read()) ?? { done: true };
        if (ended) return;
        text += decoder.decode(value, { stream: true });
        const whole = text.lastIndexOf('\n\n');
        if (whole < 0) continue;
        ids.push(...[...text.slice(0, whole).matchAll(/^id: (.+)$/gm)].map(([, id = '']) => id));
        text = text.slice(whole);
      }
      gone.abort();
    };
  }

  test('loses no event, shows none twice, and has one order for all who read it', async () => {
    verifies('events-never-overtaken', 'events-cursor', 'events-stream');
    const who = await reader.merchant();
    const count = WRITERS * EVENTS_EACH;
    const streamed: string[] = [];
    const streaming = (await follow(who, streamed, () => streamed.length >= count))();
    const polled: string[] = [];
    let ends_at = Number.POSITIVE_INFINITY;
    const polling = (async () => {
      while (polled.length < count && performance.now() < ends_at) {
        polled.push(...(await page(who, polled.at(-1) ?? null)));
        await wait(POLL_MS);
      }
    })();
    const random = () => Math.random() ** 4 * DELAY_MS * 4;
    const written = await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        const ids: string[] = [];
        while (ids.length < EVENTS_EACH) ids.push(await write(who.id, random));
        return ids;
      }),
    );
    ends_at = performance.now() + SOON_MS;
    await polling;
    expect([...polled].sort()).toEqual(written.flat().sort());
    await until('the stream has them too', async () => streamed.length >= count || undefined);
    await streaming;
    expect(streamed).toEqual(polled);
    // What one writer commits after the other comes after it.
    for (const ids of written) expect(polled.filter((id) => ids.includes(id))).toEqual(ids);
    // A later reader sees the same.
    const later: string[] = [];
    for (;;) {
      const ids = await page(who, later.at(-1) ?? null);
      if (ids.length === 0) break;
      later.push(...ids);
    }
    expect(later).toEqual(polled);
  });

  test('waits for no transaction of a stranger', async () => {
    verifies('events-never-overtaken');
    const who = await reader.merchant();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const stranger = writer.app.db.transaction(async (tx) => {
      await sql`select pg_current_xact_id()`.execute(tx);
      await ended;
    });
    try {
      const seen: string[] = [];
      for (let each = 0; each < 5; each++) {
        const id = await write(who.id, () => 0);
        seen.push(id);
        expect(await page(who, null)).toEqual(seen);
        expect(await page(who, id)).toEqual([]);
      }
    } finally {
      end();
      await stranger;
    }
  });
});
