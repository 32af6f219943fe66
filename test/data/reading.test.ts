// What is stored of reading the chains: cursors, ranges, watches, leases; and events in the order of their commits.
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  accountCursors,
  addRange,
  dropLeases,
  ensureCursor,
  getCursor,
  holdLease,
  latestRanges,
  moveCursor,
  noteFailure,
  putAccountCursors,
} from '../../data/cursors.ts';
import type { Db, Tx } from '../../data/db/open.ts';
import { eventsAfter, insertEvent, lastPosition, newEventId, positionOf } from '../../data/events.ts';
import { WATCHED_PAGE, watchAddress, watchedAddresses, watchedOn } from '../../data/invoices.ts';
import { findProof, noteReading, putProofs } from '../../data/proofs.ts';
import type { EventType } from '../../src/event-types.ts';
import { databases, type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { addMerchant, START } from '../helpers/rows.ts';
import { verifies } from '../requirements.ts';

describe.each(databases)('reading on %s', (database) => {
  let fresh: OpenDatabase;
  let db: Db;
  let serial = 0;
  beforeAll(async () => {
    fresh = await openDatabase(database);
    db = fresh.db;
  });
  afterAll(() => fresh.stop());

  const fill = async (scope: string, ranges: [number, number][]) => {
    for (const [from, to] of ranges)
      await db.transaction((tx) => addRange(tx, 'bitcoin', { scope, from, to }, START));
    const rows = await latestRanges(db.query, 'bitcoin', 10_000);
    return rows
      .filter((row) => row.scope === scope)
      .map((row) => [row.from_position, row.to_position])
      .sort(([a = 0], [b = 0]) => a - b);
  };

  test('a proof of an account stays, but for one that lies in the future of a clock that was set back', async () => {
    const account = { address_key: 'set-back', chain: 'ton', account: 'set-back' };
    const put = async (read_through: number | null, now: number) => {
      const proof = { ...account, read_through, trouble: 'behind', failed: false };
      await db.transaction((tx) => putProofs(tx, 'ton', [proof], now));
      return (await findProof(db.query, 'ton', account))?.read_through;
    };
    expect(await put(START + 2_000, START + 2_000)).toBe(START + 2_000);
    expect(await put(START + 1_990, START + 2_001)).toBe(START + 2_000);
    expect(await put(null, START + 2_002)).toBe(START + 2_000);
    // By so much is a proof ahead that another daemon has stated.
    expect(await put(START + 1_930, START + 1_940)).toBe(START + 2_000);
    expect(await put(START + 100, START + 110)).toBe(START + 100);
    expect(await put(START + 2_000, START + 2_000)).toBe(START + 2_000);
    expect(await put(null, START + 120)).toBe(null);
  });

  test('the cursor moves for the reader that has its version, and for no one else', async () => {
    verifies('cursor-with-data');
    await ensureCursor(db.query, 'ton');
    await ensureCursor(db.query, 'ton');
    const move = (version: number, at: number) =>
      db.transaction((tx) => moveCursor(tx, 'ton', version, { cursor: { at } }));
    const moved = await Promise.all(Array.from({ length: 10 }, (_, at) => move(0, at)));
    expect(moved.filter(Boolean)).toHaveLength(1);
    const cursor = await getCursor(db.query, 'ton');
    expect(cursor).toMatchObject({ version: 1, cursor: { at: moved.indexOf(true) } });
    expect([await move(0, 99), await move(1, 20), await move(1, 21)]).toEqual([false, true, false]);
    expect((await getCursor(db.query, 'ton'))?.cursor).toEqual({ at: 20 });
  });

  test('a cursor whose transaction fails has not moved', async () => {
    verifies('cursor-with-data', 'read-again');
    await ensureCursor(db.query, 'litecoin');
    const storing = db.transaction(async (tx) => {
      expect(await moveCursor(tx, 'litecoin', 0, { cursor: 7, tip: { height: 7, hash: 'h', time: 7 } })).toBe(
        true,
      );
      throw new Error('the page could not be stored');
    });
    await expect(storing).rejects.toThrow('could not be stored');
    expect(await getCursor(db.query, 'litecoin')).toMatchObject({
      version: 0,
      cursor: null,
      tip_height: null,
    });
  });

  test('what was read through never moves back; a failure is noted alongside it', async () => {
    await ensureCursor(db.query, 'solana');
    for (const at of [100, 90, 110, 105])
      await noteReading(db.query, 'solana', { started_at: at + 5, read_through: at });
    await noteFailure(db.query, 'solana', 'silent', 120);
    expect(await getCursor(db.query, 'solana')).toMatchObject({
      last_ok_at: 115,
      read_through: 110,
      last_error: 'silent',
      last_error_at: 120,
    });
  });

  test('what a clock far ahead has noted of reading is forgotten with the next one', async () => {
    await ensureCursor(db.query, 'litecoin');
    await noteReading(db.query, 'litecoin', { started_at: START + 36_000, read_through: START + 35_970 });
    await noteReading(db.query, 'litecoin', { started_at: START, read_through: START - 30 });
    expect(await getCursor(db.query, 'litecoin')).toMatchObject({
      last_ok_at: START,
      read_through: START - 30,
    });
  });

  test('cursors of accounts are stored by account, the last one counts', async () => {
    const accounts = Array.from({ length: 1_200 }, (_, at) => `account-${at}`);
    await db.transaction((tx) =>
      putAccountCursors(
        tx,
        'solana',
        accounts.map((account, at) => [account, { at }] as const),
        START,
      ),
    );
    await db.transaction((tx) => putAccountCursors(tx, 'solana', [['account-7', { at: 'new' }]], START));
    const found = await accountCursors(db.query, 'solana', [...accounts, 'no one']);
    expect(found.size).toBe(1_200);
    expect([found.get('account-7'), found.get('account-1199')]).toEqual([{ at: 'new' }, { at: 1199 }]);
    expect((await accountCursors(db.query, 'ton', accounts)).size).toBe(0);
  });

  test('ranges that touch are one; a gap stays to be seen', async () => {
    verifies('read-ranges');
    expect(await fill('blocks', [[1, 5], [6, 6], [7, 20]])).toEqual([[1, 20]]); // biome-ignore format: pairs
    expect(await fill('blocks', [[18, 25], [3, 4]])).toEqual([[1, 25]]); // biome-ignore format: pairs
    expect(await fill('blocks', [[27, 30]])).toEqual([[1, 25], [27, 30]]); // biome-ignore format: pairs
    expect(await fill('other', [[1, 2]])).toEqual([[1, 2]]);
  });

  test('ranges claim exactly what was read, in whatever order it was', async () => {
    verifies('read-ranges');
    const pair = fc
      .tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 8 }))
      .map(([from, more]): [number, number] => [from, from + more]);
    const positions = (ranges: (readonly number[])[]) => {
      const all = ranges.flatMap(([from = 0, to = 0]) =>
        Array.from({ length: to - from + 1 }, (_, at) => from + at),
      );
      return [...new Set(all)].sort((a, b) => a - b);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(pair, { minLength: 1, maxLength: 8 }), async (ranges) => {
        expect(positions(await fill(`random-${++serial}`, ranges))).toEqual(positions(ranges));
      }),
      { numRuns: 25 },
    );
  });

  test('an address is watched as long as any invoice asks, and from the first one on', async () => {
    verifies('watch-24h');
    const watch = (since: number, open_until: number, watch_until: number) =>
      watchAddress(db.query, {
        blockchain: 'ton',
        address_key: 'k',
        address: 'K',
        since,
        open_until,
        watch_until,
      });
    const seen = async (now: number) =>
      (await watchedAddresses(db.query, 'ton', now)).map((one) => [
        one.since,
        one.open_until,
        one.watch_until,
      ]);
    await watch(100, 200, 300);
    await watch(150, 180, 250);
    expect(await seen(300)).toEqual([[100, 200, 300]]);
    await watch(160, 400, 500);
    expect(await seen(300)).toEqual([[100, 400, 500]]);
    expect(await seen(501)).toEqual([]);
    // What lapsed begins again: nothing was promised in between.
    await watch(600, 700, 800);
    expect(await seen(600)).toEqual([[600, 700, 800]]);
    // A clock that was ahead is set back: the watch covers what is asked for by the right time, too.
    await watch(550, 650, 750);
    expect(await seen(600)).toEqual([[550, 700, 800]]);
  });

  test('more addresses than one statement answers are all read, once each, by key', async () => {
    const fill = async (blockchain: string, count: number) => {
      const numbers = sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}) select i from n)`;
      await sql`insert into watches (blockchain, address_key, address, since, open_until, watch_until)
        select ${sql.lit(blockchain)}, 'key-' || (1000000 + i), 'a', 1, 2, case when i % 7 = 0 then 9 else 99 end from ${numbers} as numbers`.execute(
        db.query,
      );
    };
    await fill('many', 3 * WATCHED_PAGE);
    // Exactly as many as fit.
    await fill('full', WATCHED_PAGE);
    const keys = (rows: { address_key: string }[]) => rows.map(({ address_key }) => address_key);
    const live = (count: number) =>
      Array.from({ length: count }, (_, at) => at + 1)
        .filter((i) => i % 7 !== 0)
        .map((i) => `key-${1_000_000 + i}`);
    expect(keys(await watchedAddresses(db.query, 'many', 50))).toEqual(live(3 * WATCHED_PAGE));
    expect((await watchedOn(db.query, ['full', 'none', 'many'], 9)).length).toBe(4 * WATCHED_PAGE);
  });

  test('a lease has one holder, who may prolong it, until it ends or is dropped', async () => {
    verifies('both-databases');
    const holders = Array.from({ length: 8 }, (_, at) => `daemon-${at}`);
    const got = await Promise.all(holders.map((holder) => holdLease(db.query, 'ton', holder, 1_000, 500)));
    expect(got.filter(Boolean)).toHaveLength(1);
    const first = holders[got.indexOf(true)] ?? '';
    const other = holders[got.indexOf(false)] ?? '';
    const hold = (holder: string, now_ms: number) => holdLease(db.query, 'ton', holder, now_ms, 500);
    expect([await hold(other, 1_500), await hold(first, 1_500)]).toEqual([false, true]);
    expect([await hold(other, 2_000), await hold(other, 2_001)]).toEqual([false, true]);
    expect(await hold(first, 2_002)).toBe(false);
    await dropLeases(db.query, other);
    expect(await hold(first, 2_003)).toBe(true);
    expect(await holdLease(db.query, 'solana', other, 2_003, 500)).toBe(true);
  });

  describe('events', () => {
    let merchant_id: string;
    const insert = (tx: Tx, type: string) =>
      insertEvent(tx, {
        id: newEventId(),
        merchant_id,
        // Any word: what a feed is read by is its order.
        type: type as EventType,
        invoice_id: null,
        payment_id: null,
        body: '{}',
        created_at: START,
      });
    const typesAfter = async (position: number) =>
      (await eventsAfter(db, merchant_id, position, 100)).map(({ type }) => type);
    beforeAll(async () => {
      merchant_id = await addMerchant(db, 'reader');
    });

    test('come in the order they were written, page after page', async () => {
      verifies('events-cursor');
      for (const type of ['one', 'two', 'three']) await db.transaction((tx) => insert(tx, type));
      const [first] = await eventsAfter(db, merchant_id, 0, 1);
      expect(first?.type).toBe('one');
      expect(await typesAfter(first?.position ?? 0)).toEqual(['two', 'three']);
      const [second] = await eventsAfter(db, merchant_id, 0, 100, 'two');
      expect(second?.type).toBe('two');
      expect(await positionOf(db, merchant_id, second?.id ?? '')).toBe(second?.position);
      expect(await positionOf(db, 'another', second?.id ?? '')).toBeUndefined();
      expect(await typesAfter((await lastPosition(db, merchant_id)) - 1)).toEqual(['three']);
      expect(await typesAfter(await lastPosition(db, merchant_id))).toEqual([]);
    });

    test.runIf(hasPostgres && database === 'postgres')(
      'of a transaction that is still open delay no other, and come behind what was read meanwhile',
      async () => {
        verifies('events-never-overtaken');
        const start = await lastPosition(db, merchant_id);
        let commit = () => {};
        const mayCommit = new Promise<void>((resolve) => {
          commit = resolve;
        });
        let written = () => {};
        const isWritten = new Promise<void>((resolve) => {
          written = resolve;
        });
        const slow = db.transaction(async (tx) => {
          await insert(tx, 'slow');
          written();
          await mayCommit;
        });
        await isWritten;
        await db.transaction((tx) => insert(tx, 'quick'));
        expect(await typesAfter(start)).toEqual(['quick']);
        const last = await lastPosition(db, merchant_id);
        commit();
        await slow;
        expect(await typesAfter(last)).toEqual(['slow']);
        // For ever, for every reader.
        expect(await typesAfter(start)).toEqual(['quick', 'slow']);
      },
    );

    test.runIf(hasPostgres && database === 'postgres')(
      'that nothing has read get one position each, however many read them first',
      async () => {
        verifies('events-never-overtaken');
        const start = await lastPosition(db, merchant_id);
        // More than one statement gives positions to.
        const many = 25_000;
        await sql`insert into events (id, merchant_id, type, body, created_at)
          select 'evt_' || n, ${merchant_id}, 'many', '{}', ${START} from generate_series(1, ${many}) n`.execute(
          db.query,
        );
        const readers = await Promise.all(
          [db, await fresh.another(), db].map(async (reader) => {
            const rows = await eventsAfter(reader, merchant_id, start, 10_500);
            return rows.map(({ position }) => position);
          }),
        );
        const expected = Array.from({ length: 10_500 }, (_, at) => start + 1 + at);
        for (const positions of readers) expect(positions).toEqual(expected);
        expect(await lastPosition(db, merchant_id)).toBe(start + many);
        expect(await eventsAfter(db, merchant_id, start, 3, 'none')).toEqual([]);
      },
    );

    test('are all met, once each, by a reader that follows many writers', async () => {
      verifies('events-cursor');
      let position = await lastPosition(db, merchant_id);
      // SQLite has one daemon, and one connection.
      const others = [db, database === 'postgres' ? await fresh.another() : db];
      const writers = Array.from({ length: 40 }, (_, at) => {
        const writer = others[at % 2] as Db;
        return writer.transaction((tx) => insert(tx, `many-${at}`));
      });
      const met: string[] = [];
      const read = async () => {
        const rows = await eventsAfter(db, merchant_id, position, 7);
        position = rows.at(-1)?.position ?? position;
        met.push(...rows.map(({ type }) => type));
        return rows.length;
      };
      let writing = true;
      const written = Promise.all(writers).finally(() => {
        writing = false;
      });
      // A reader that never pauses would keep SQLite's one connection to itself.
      while (writing) await read().then(() => setImmediate());
      await written;
      while ((await read()) > 0);
      expect(met).toHaveLength(writers.length);
      expect(met.sort()).toEqual(Array.from({ length: 40 }, (_, at) => `many-${at}`).sort());
    });
  });
});
