// Retention: what is old goes in batches, what is money or open stays, readers are refused where events went, and no law breaks.
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventStream } from '../../daemon/events/feed.ts';
import { issueAccessToken } from '../../daemon/http/tokens.ts';
import { assertSecretMatches } from '../../daemon/process/data-dir.ts';
import { openRetention } from '../../daemon/retention/retention.ts';
import { verifyInput } from '../../daemon/verify/books.ts';
import { holdLease } from '../../data/cursors.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { insertEvent, newEventId } from '../../data/events.ts';
import { verifyLaws } from '../../data/verify/verify.ts';
import { type Reply, startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { databases } from '../helpers/database.ts';
import { create, credit, follow, observe, transferTo, unconfirmed } from '../helpers/payments.ts';
import { keyOf } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { makeSoundBooks, SOUND_SETTINGS, type SoundBooks } from './helpers/sound-books.ts';

const DAY_SECONDS = 86_400;
const MINUTE_MS = 60_000;
/** From a payment's first sight to its confirmation. */
const MINUTES_SECONDS = 600;
const retention = { 'retention.events': '30', 'retention.logs': '30', 'retention.callers': '30' };
const MONEY = ['invoices', 'payments', 'transfers', 'income', 'ledger', 'balances'] as const;

async function broken({ url, config }: Pick<SoundBooks, 'url' | 'config'>, now: number) {
  const snapshot = await openSnapshot(url);
  try {
    const laws = await verifyLaws(await verifyInput(snapshot, config, now));
    return laws.filter(({ ok }) => !ok);
  } finally {
    await snapshot.close();
  }
}

const count = async ({ app }: TestApp, table: string, where = 'true'): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}
    where ${sql.raw(where)}`.execute(app.db.query);
  return Number(rows[0]?.n);
};

const idsOf = ({ json }: Reply): string[] => json.data.map(({ id }: { id: string }) => id);

/** Events of one merchant, of no invoice. */
async function writeEvents({ app, clock }: TestApp, merchant_id: string, many: number): Promise<string[]> {
  const ids = Array.from({ length: many }, newEventId);
  await app.db.transaction(async (tx) => {
    for (const id of ids)
      await insertEvent(tx, {
        id,
        merchant_id,
        type: 'limit.exhausted',
        invoice_id: null,
        payment_id: null,
        body: JSON.stringify({
          type: 'limit.exhausted',
          timestamp: new Date(clock.ms()).toISOString(),
          api_version: 'v1',
          data: { invoice: null, payment: null },
        }),
        created_at: clock.now(),
      });
  });
  return ids;
}

describe.each(databases)('retention on %s', (database) => {
  const world = async (settings: Record<string, string> = retention) => {
    const service = await startApp({ database, settings });
    onTestFinished(() => service.stop());
    return service;
  };

  test(
    'removes what is old and no money, and no law breaks',
    async () => {
      verifies('retention');
      const books = await makeSoundBooks(database);
      onTestFinished(() => books.remove());
      const clock = testClock(books.now + 40 * DAY_SECONDS);
      const service = await startApp({
        database,
        database_url: books.url,
        clock,
        settings: { ...SOUND_SETTINGS, ...retention },
      });
      onTestFinished(() => service.stop());
      await sql`update invoices set caller = 'a hash'`.execute(service.app.db.query);
      const money = () => Promise.all(MONEY.map((table) => count(service, table)));
      const before = await money();
      const events = await count(service, 'events');
      const removed = await openRetention(service.app).sweep();
      expect(removed.events).toBeGreaterThan(20);
      expect(removed.logs).toBeGreaterThan(10);
      expect(removed.callers).toBeGreaterThan(5);
      expect(await count(service, 'events')).toBe(events - removed.events);
      expect(await money()).toEqual(before);
      const open = `select id from invoices where status = 'created'`;
      expect(await count(service, 'invoices', `caller is null and status = 'created'`)).toBe(0);
      expect(await count(service, 'invoices', `caller is not null and status <> 'created'`)).toBe(0);
      expect(await count(service, 'events', `type = 'invoice.created' and invoice_id in (${open})`)).toBe(
        await count(service, 'invoices', `status = 'created'`),
      );
      expect(await broken(books, books.now)).toEqual([]);
      // What was removed lies behind: nothing more goes, and what happens from now on is held against the laws in full.
      expect(await openRetention(service.app).sweep()).toEqual({
        events: 0,
        logs: 0,
        callers: 0,
        claims: 0,
        dust: 0,
      });
      const rich = await sql<{ id: string }>`select id from users where email = 'rich@example.com'`.execute(
        service.app.db.query,
      );
      await create(service, { key: await keyOf(service.app, rich.rows[0]?.id ?? '') }, 'litecoin');
      expect(await broken(books, books.now)).toEqual([]);
    },
    MINUTE_MS,
  );

  test('a payment whose moves lie apart loses the old ones, and no law takes its last one for the first', async () => {
    verifies('retention');
    const service = await world();
    const { app, clock } = service;
    await assertSecretMatches(app.db, app.secrets, app.config.data_dir);
    const who = await service.merchant();
    await credit(service, who.id, 100_000_000n);
    const invoice = await create(service, who, 'bitcoin');
    const transfer = transferTo(service, invoice, unconfirmed);
    await observe(service, 'bitcoin', [transfer]);
    clock.advance(MINUTES_SECONDS);
    await observe(service, 'bitcoin', [
      { ...transfer, height: 100, block_hash: 'block-100', confirmations: 64, final: true },
    ]);
    expect(await count(service, 'invoices', `status = 'confirmed'`)).toBe(1);
    clock.advance(40 * DAY_SECONDS);
    await writeEvents(service, who.id, 1);
    expect(await openRetention(app).sweep()).toMatchObject({ events: 3, logs: 1 });
    expect(await broken({ url: app.config.database_url, config: app.config }, clock.now())).toEqual([]);
  });

  test('adds days of dust up that are older, whatever became of its transfers, and no law breaks', async () => {
    verifies('retention', 'dust-once');
    const service = await world();
    const { app, clock } = service;
    await assertSecretMatches(app.db, app.secrets, app.config.data_dir);
    const invoice = await create(service, await service.merchant(), 'ton');
    const dust = () => transferTo(service, invoice, { memo: 'of no one', amount_atomic: 2n, final: true });
    const waiting = { ...dust(), ...unconfirmed };
    await observe(service, 'ton', [...Array.from({ length: 150 }, dust), waiting]);
    clock.advance(DAY_SECONDS);
    await observe(service, 'ton', [dust(), dust()]);
    clock.advance(40 * DAY_SECONDS);
    await observe(service, 'ton', [dust()]);
    const sums = async () =>
      (
        await app.db.query
          .selectFrom('dust')
          .select(['day', 'count', 'amount_atomic'])
          .orderBy('day')
          .execute()
      ).map(({ day, count, amount_atomic }) => [day === 0, count, amount_atomic]);
    expect(await sums()).toHaveLength(3);
    expect((await openRetention(app).sweep()).dust).toBe(153);
    const folded = [
      [true, 153, '306'],
      [false, 1, '2'],
    ];
    expect(await sums()).toEqual(folded);
    expect((await openRetention(app).sweep()).dust).toBe(0);
    const state = { url: app.config.database_url, config: app.config };
    expect(await broken(state, clock.now())).toEqual([]);
    // One of them left the chain later.
    const gone = { ...unconfirmed, state: 'gone' as const, reason: 'replaced' };
    await follow(service, 'ton', [{ txid: waiting.txid, index: waiting.index, ...gone }]);
    expect(await sums()).toEqual([[true, 152, '304'], folded[1]]);
    expect(await broken(state, clock.now())).toEqual([]);
  });

  test('adds up the days of dust that are right where others are wrong, and says which', async () => {
    verifies('retention', 'dust-once');
    const service = await world();
    const { app, clock } = service;
    const merchant = await service.merchant();
    const invoice = await create(service, merchant, 'ton');
    const dust = () => transferTo(service, invoice, { memo: 'of no one', amount_atomic: 2n, final: true });
    const days: number[] = [];
    for (let day = 0; day < 5; day++) {
      days.push(Math.floor(clock.now() / DAY_SECONDS));
      await observe(service, 'ton', [dust(), dust()]);
      clock.advance(DAY_SECONDS);
    }
    // One counts too many, one too few, and one is right in number alone.
    const [more, less, other] = days as [number, number, number];
    const put = (day: number, wrong: { count?: number; amount_atomic?: string }) =>
      app.db.query.updateTable('dust').set(wrong).where('day', '=', day).execute();
    await put(more, { count: 3 });
    await put(less, { count: 1 });
    await put(other, { amount_atomic: '5' });
    clock.advance(40 * DAY_SECONDS);
    const reported: unknown[] = [];
    const log = { info() {}, warn() {}, error: ({ day }: { day: number }) => reported.push(day) } as never;
    expect((await openRetention({ ...app, log }).sweep()).dust).toBe(8);
    const sums = await app.db.query.selectFrom('dust').select(['day', 'count']).orderBy('day').execute();
    expect(sums).toEqual([
      { day: 0, count: 8 },
      { day: more, count: 1 },
      { day: less, count: 1 },
      { day: other, count: 0 },
    ]);
    expect(reported).toEqual([more, less, other]);
  });

  test('refuses a reader whose place was removed, and one at the end of a feed stays where it is', async () => {
    verifies('retention-readers', 'retention');
    const service = await world();
    const { app, clock } = service;
    const quiet = await service.merchant();
    const busy = await service.merchant();
    const list = async (who: TestMerchant, query = '') =>
      service.fetch('GET', `/api/v1/merchant/events${query}`, {
        token: await issueAccessToken(app, who.user),
      });
    const [newest_of_quiet] = await writeEvents(service, quiet.id, 1);
    const old = await writeEvents(service, busy.id, 620);
    const page = await list(busy, '?limit=2');
    expect(idsOf(page)).toEqual(old.slice(0, 2));
    clock.advance(40 * DAY_SECONDS);
    const recent = await writeEvents(service, busy.id, 2);
    expect(await openRetention(app).sweep()).toEqual({
      events: 620,
      logs: 0,
      callers: 0,
      claims: 0,
      dust: 0,
    });
    expect((await list(quiet, `?after=${newest_of_quiet}`)).json).toMatchObject({
      data: [],
      has_more: false,
    });
    expect(idsOf(await list(busy))).toEqual(recent);
    expect(idsOf(await list(busy, `?after=${recent[0]}`))).toEqual([recent[1]]);
    for (const query of [`?after=${page.json.next}`, `?after=${old[0]}&type=invoice.confirmed`]) {
      const refused = await list(busy, query);
      expect(refused.status, refused.text).toBe(410);
      expect(refused.json).toMatchObject({
        code: 'event_removed',
        hint: expect.stringContaining('without `after`'),
        next: { operation: 'listEvents' },
      });
    }
    // That of another is not found, as ever.
    expect((await list(busy, `?after=${newest_of_quiet}`)).status).toBe(404);
    const token = await issueAccessToken(app, busy.user);
    const resent = await service.fetch('POST', `/api/v1/merchant/events/${old[0]}/resend`, { token });
    expect([resent.status, resent.json.code]).toEqual([410, 'event_removed']);
    const headers = new Headers({ 'last-event-id': old[5] ?? '' });
    const stream = eventStream(app, busy.user, { limit: 1 }, { headers, signal: AbortSignal.timeout(100) });
    await expect(stream).rejects.toMatchObject({ code: 'event_removed' });
    // Positions continue: what comes next is after all that was read before.
    const [later] = await writeEvents(service, busy.id, 1);
    expect(idsOf(await list(busy, `?after=${recent[1]}`))).toEqual([later]);
  });

  test('a stream that falls behind what is removed ends, and never passes over it', async () => {
    verifies('retention-readers');
    const service = await world();
    const { app, clock } = service;
    const who = await service.merchant();
    const old = await writeEvents(service, who.id, 350);
    const headers = new Headers({ 'last-event-id': old[0] ?? '' });
    const signal = new AbortController().signal;
    const { body } = await eventStream(app, who.user, { limit: 1 }, { headers, signal });
    const reader = body.getReader();
    // What it takes begins with a line of its own, then come a hundred events.
    await reader.read();
    await reader.read();
    clock.advance(40 * DAY_SECONDS);
    await writeEvents(service, who.id, 1);
    expect((await openRetention(app).sweep()).events).toBe(350);
    const read: string[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      read.push(...[...new TextDecoder().decode(value).matchAll(/^id: (.+)$/gm)].map(([, id = '']) => id));
    }
    expect(read).toEqual(old.slice(1 + 100, 1 + 100 + read.length));
  });

  test('nothing goes unless it is asked for, and what the database guards goes by no other way', async () => {
    verifies('retention');
    const service = await world({});
    const { app, clock } = service;
    const who = await service.merchant();
    await writeEvents(service, who.id, 3);
    await create(service, who, 'litecoin');
    clock.advance(400 * DAY_SECONDS);
    expect(await openRetention(app).sweep()).toEqual({ events: 0, logs: 0, callers: 0, claims: 0, dust: 0 });
    for (const table of ['events', 'payment_logs'])
      if ((await count(service, table)) > 0)
        await expect(sql`delete from ${sql.table(table)}`.execute(app.db.query)).rejects.toThrow(
          /append-only/,
        );
  });

  test('one daemon of several removes at a time, and an event of an open invoice holds back what follows', async () => {
    verifies('retention');
    const service = await world();
    const { app, clock } = service;
    const who = await service.merchant();
    await writeEvents(service, who.id, 5);
    await create(service, who, 'litecoin');
    await writeEvents(service, who.id, 5);
    clock.advance(40 * DAY_SECONDS);
    await writeEvents(service, who.id, 1);
    await holdLease(app.db.query, 'retention', 'another daemon', clock.ms(), 60_000);
    expect((await openRetention(app).sweep()).events).toBe(0);
    clock.advance(61);
    expect((await openRetention(app).sweep()).events).toBe(5);
    expect(await count(service, 'events')).toBe(7);
  });
});
