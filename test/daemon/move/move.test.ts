// A gateway that moves from SQLite to PostgreSQL: whole or not at all, whenever it is interrupted, and never in use twice.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { assertInUse, findMark, MOVED_FROM, MOVED_TO, MOVING_FROM } from '../../../daemon/move/mark.ts';
import { type MoveOptions, moveBack, moveToPostgres } from '../../../daemon/move/move.ts';
import { DatabaseAway, DatabaseError, type Db, openDb } from '../../../data/db/open.ts';
import { eventsAfter, insertEvent, newEventId } from '../../../data/events.ts';
import { changeMeta, findMeta, LAST_BACKUP_AT } from '../../../data/meta.ts';
import { migrate } from '../../../data/migrations/migrate.ts';
import { removeEvents } from '../../../data/retention.ts';
import { emptyDatabase, type NewDatabase, newDatabase } from '../../helpers/database.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { verifies } from '../../requirements.ts';
import { makeSoundBooks, type SoundBooks } from '../helpers/sound-books.ts';

const TIMEOUT_MS = 300_000;

describe.skipIf(!hasPostgres)('a move to PostgreSQL', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-move-'));
  let made: SoundBooks;
  let books: Pick<SoundBooks, 'url' | 'config' | 'now'>;
  let target: NewDatabase;
  beforeAll(async () => {
    made = await makeSoundBooks('sqlite');
    return async () => {
      await made.remove();
      rmSync(directory, { recursive: true, force: true });
    };
  }, TIMEOUT_MS);
  let copies = 0;
  beforeEach(async () => {
    const url = `sqlite:${join(directory, `${++copies}.db`)}`;
    copyFileSync(made.url.slice('sqlite:'.length), url.slice('sqlite:'.length));
    books = { url, config: { ...made.config, database_url: url }, now: made.now };
    target = await emptyDatabase('postgres');
  });
  afterEach(() => target.remove());

  let moves = 0;
  const move = (options: Partial<MoveOptions> = {}) =>
    moveToPostgres({
      config: books.config,
      to: target.url,
      places: { from: 'sqlite:old', to: 'postgres://new' },
      id: `move ${++moves}`,
      accept_broken: false,
      now: books.now,
      ...options,
    });
  const within = async <T>(url: string, work: (db: Db) => Promise<T>): Promise<T> => {
    const db = await openDb(url);
    return work(db).finally(() => db.close());
  };
  const atOld = <T>(work: (db: Db) => Promise<T>) => within(books.url, work);
  const atNew = <T>(work: (db: Db) => Promise<T>) => within(target.url, work);
  const tablesThere = () =>
    atNew(async ({ query }) => (await query.introspection.getTables()).map(({ name }) => name));
  const rowsOf = async ({ query }: Db, left_out: readonly string[] = []) => {
    const all: Record<string, unknown[]> = {};
    for (const { name } of await query.introspection.getTables())
      if (!left_out.includes(name)) {
        const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(query);
        const texts = rows.map((row) =>
          JSON.stringify(Object.entries(row).sort(), (_, value) =>
            typeof value === 'bigint' ? String(value) : value,
          ),
        );
        all[name] = texts.sort();
      }
    return all;
  };
  const feedOf = async (db: Db) => {
    const { rows } = await sql<{ id: string }>`select id from merchants order by id`.execute(db.query);
    return Promise.all(
      rows.map(async ({ id }) => (await eventsAfter(db, id, 0, 1000)).map((event) => event.id)),
    );
  };

  test(
    'has every row, the laws, and every feed in its order there, and the next event comes last',
    async () => {
      verifies('command-move');
      const merchant_id = await atOld(async (db) => {
        await changeMeta(db.query, LAST_BACKUP_AT, '1');
        const { rows } = await sql<{
          id: string;
        }>`select merchant_id as id from events where merchant_id is not null
        group by 1 order by count(*) desc limit 1`.execute(db.query);
        const id = rows[0]?.id ?? '';
        // Retention has been here: what it took counts in the places of what is left.
        expect(await removeEvents(db, id, books.now + 1)).toBeGreaterThan(0);
        return id;
      });
      const [before, feeds] = await atOld(async (db) => [await rowsOf(db), await feedOf(db)] as const);
      const { moved, laws, tables } = await move();
      expect(moved).toBe(true);
      for (const side of [laws.from, laws.to]) {
        expect(side.filter(({ ok }) => !ok)).toEqual([]);
        expect(side).toHaveLength(21);
      }
      expect(tables.find(({ table }) => table === 'invoices')?.rows).toBe(before.invoices?.length);
      await atNew(async (db) => {
        const left_out = [
          'call_windows',
          'event_positions',
          'unplaced_events',
          'removals',
          'meta',
          'kysely_migration',
        ];
        const after = await rowsOf(db);
        for (const [table, rows] of Object.entries(before))
          if (!left_out.includes(table)) expect(after[table], table).toEqual(rows);
        expect(
          Object.keys(after)
            .filter((table) => !(table in before))
            .sort(),
        ).toEqual(left_out.slice(0, 3));
        expect(await findMeta(db.query, LAST_BACKUP_AT)).toBeUndefined();
        await assertInUse(db.query);
        expect(after.unplaced_events).toEqual([]);
        expect(await feedOf(db)).toEqual(feeds);
        const id = newEventId();
        const event = {
          id,
          merchant_id,
          type: 'limit.exhausted',
          invoice_id: null,
          payment_id: null,
        } as const;
        await insertEvent(db.query, { ...event, body: '{}', created_at: books.now });
        expect((await eventsAfter(db, merchant_id, 0, 1000)).at(-1)?.id).toBe(id);
      });
      await atOld(async ({ query }) => {
        expect({ ...(await rowsOf({ query } as Db)), meta: [] }).toEqual({ ...before, meta: [] });
        await expect(assertInUse(query)).rejects.toThrow(/moved to postgres:\/\/new .*set database_url/);
      });
    },
    TIMEOUT_MS,
  );

  test.each([
    'law 9 in SQLite',
    'copying',
    'copied invoices',
    'copied wallets',
    'compared meta',
    'law 21 in PostgreSQL',
  ])(
    'interrupted at "%s" changes nothing on either side, and is begun again',
    async (step) => {
      verifies('move-interrupted');
      const before = await atOld(rowsOf);
      const onStep = (says: string) => {
        if (says.startsWith(step)) throw new Error('interrupted');
      };
      await expect(move({ onStep })).rejects.toThrow('interrupted');
      expect(await tablesThere()).toEqual([]);
      await atOld(async (db) => {
        expect(await rowsOf(db)).toEqual(before);
        await assertInUse(db.query);
      });
      expect((await move()).moved).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    'killed once PostgreSQL has all, the old one is in use as it was, and what it sold since is moved too',
    async () => {
      verifies('move-interrupted');
      const onStep = (says: string) => {
        if (says.startsWith('marking')) throw new Error('killed');
      };
      await expect(move({ onStep })).rejects.toThrow('killed');
      await atOld(({ query }) => assertInUse(query));
      await atNew(({ query }) =>
        expect(assertInUse(query)).rejects.toThrow(
          /sqlite:old to it did not come to its end; .*gatewayd move --to/,
        ),
      );
      await atOld(async (db) => {
        await changeMeta(db.query, 'since', 'then');
        await sql`delete from notices`.execute(db.query);
      });
      expect((await move()).moved).toBe(true);
      await atNew(async ({ query }) => {
        await assertInUse(query);
        expect(await findMeta(query, 'since')).toBe('then');
      });
    },
    TIMEOUT_MS,
  );

  test(
    'killed before its last step neither is in use, and running it again ends it',
    async () => {
      verifies('move-interrupted');
      await move();
      await atNew(({ query }) =>
        query.updateTable('meta').set({ name: MOVING_FROM }).where('name', '=', MOVED_FROM).execute(),
      );
      for (const at of [atOld, atNew])
        await at(({ query }) => expect(assertInUse(query)).rejects.toThrow(/out of use/));
      expect(await move()).toMatchObject({ moved: true, tables: [] });
      await atNew(({ query }) => assertInUse(query));
    },
    TIMEOUT_MS,
  );

  test(
    'is refused where it was done, where another gateway is, and where other tables are; nothing is changed there',
    async () => {
      verifies('move-refused');
      await move();
      await expect(move()).rejects.toThrow(/moved to that database at .* already: set database_url to it/);
      const elsewhere = await emptyDatabase('postgres');
      onTestFinished(() => elsewhere.remove());
      await expect(move({ to: elsewhere.url })).rejects.toThrow(/moved to postgres:\/\/new at .* already/);
      await expect(moveBack(books.config, false)).rejects.toThrow(/nothing of what was sold since.*--yes/);
      await expect(move({ to: elsewhere.url })).rejects.toThrow(/already/);
      await moveBack(books.config, true);
      await atOld(({ query }) => assertInUse(query));
      await expect(moveBack(books.config, true)).rejects.toThrow(/was not moved/);
      // What was sold there since would be lost.
      await expect(move()).rejects.toThrow(/may be in use there; .*createdb/);
      const before = await atNew(rowsOf);
      const migrated = await newDatabase('postgres');
      onTestFinished(() => migrated.remove());
      await expect(move({ to: migrated.url })).rejects.toThrow(/another gateway.*createdb/);
      await within(elsewhere.url, ({ query }) => sql`create table hats (id text)`.execute(query));
      await expect(move({ to: elsewhere.url })).rejects.toThrow(/tables that are not of gatewayd/);
      expect(await atNew(rowsOf)).toEqual(before);
    },
    TIMEOUT_MS,
  );

  test(
    'a move that another gateway has begun is never taken for one of this',
    async () => {
      verifies('move-refused');
      const stop = (says: string) => {
        if (says.startsWith('marking')) throw new Error('killed');
      };
      await expect(move({ onStep: stop })).rejects.toThrow('killed');
      const secret_check = await atOld(({ query }) => findMeta(query, 'secret_check'));
      await atNew(({ query }) => changeMeta(query, 'secret_check', 'of another'));
      await expect(move()).rejects.toThrow(/books of another gateway/);
      await atNew(({ query }) => changeMeta(query, 'secret_check', secret_check ?? ''));
      expect((await move()).moved).toBe(true);
    },
    TIMEOUT_MS,
  );

  test(
    'of two moves into one database at once one ends there, and the other is refused',
    async () => {
      verifies('move-refused');
      const other = `sqlite:${join(directory, 'other.db')}`;
      copyFileSync(made.url.slice('sqlite:'.length), other.slice('sqlite:'.length));
      const results = await Promise.allSettled([
        move({ id: 'first' }),
        move({ id: 'second', config: { ...made.config, database_url: other } }),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const winner = results[0]?.status === 'fulfilled' ? 'first' : 'second';
      await atNew(async ({ query }) => {
        await assertInUse(query);
        expect((await findMark(query, MOVED_FROM))?.id).toBe(winner);
      });
    },
    TIMEOUT_MS,
  );

  test(
    'books in which a law is broken are moved only where that is accepted',
    async () => {
      verifies('move-refused');
      await atOld(({ query }) =>
        sql`update balances set amount_atomic = '1' || amount_atomic`.execute(query),
      );
      const refused = await move();
      expect(refused).toMatchObject({ moved: false, tables: [], laws: { to: [] } });
      expect(refused.laws.from.some(({ ok }) => !ok)).toBe(true);
      expect(await tablesThere()).toEqual([]);
      await atOld(({ query }) => assertInUse(query));
      const accepted = await move({ accept_broken: true });
      expect(accepted.moved).toBe(true);
      expect(accepted.laws.to.map(({ count }) => count)).toEqual(
        accepted.laws.from.map(({ count }) => count),
      );
    },
    TIMEOUT_MS,
  );

  test(
    'a text that PostgreSQL cannot hold is named by its table, and nothing is changed',
    async () => {
      verifies('move-refused');
      await atOld(({ query }) => changeMeta(query, 'odd', 'a\u0000b'));
      await expect(move()).rejects.toMatchObject({
        exit_code: 65,
        message: expect.stringMatching(/^PostgreSQL refuses a row of meta: .*; nothing was changed$/),
      });
      expect(await tablesThere()).toEqual([]);
      await atOld(({ query }) => assertInUse(query));
    },
    TIMEOUT_MS,
  );

  test(
    'a table of someone else ends it before anything counts',
    async () => {
      verifies('move-refused');
      await atOld(({ query }) => sql`create table hats (id text primary key)`.execute(query));
      await expect(move()).rejects.toThrow(/only one of the databases has hats\.id \(text\)/);
      expect(await tablesThere()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'a server that is away may be there later; a database that is missing is not',
    async () => {
      verifies('move-refused');
      await expect(move({ to: 'postgres://someone@127.0.0.1:9/none' })).rejects.toThrow(DatabaseAway);
      const missing = new URL(target.url);
      missing.pathname = '/there_is_none';
      const refused = move({ to: missing.href });
      await expect(refused).rejects.toThrow(/3D000|createdb/);
      await expect(refused).rejects.toThrow(DatabaseError);
      expect(await refused.catch((error: unknown) => error)).not.toBeInstanceOf(DatabaseAway);
      await atOld(({ query }) => assertInUse(query));
    },
    TIMEOUT_MS,
  );

  test(
    'an older schema is refused with the command that brings it up to date',
    async () => {
      verifies('move-refused');
      await atOld(({ query }) =>
        sql`delete from kysely_migration where name = (select max(name) from kysely_migration)`.execute(
          query,
        ),
      );
      await expect(move()).rejects.toThrow(/older than this gatewayd; run `gatewayd migrate`/);
      expect(await tablesThere()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'a begun move of a newer version is left to that version',
    async () => {
      verifies('move-interrupted');
      const onStep = (says: string) => {
        if (says.startsWith('marking')) throw new Error('killed');
      };
      await expect(move({ onStep })).rejects.toThrow('killed');
      await atNew(async (db) => {
        await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2030')`.execute(
          db.query,
        );
        await expect(migrate(db)).rejects.toThrow(/newer/);
      });
      await expect(move()).rejects.toThrow(/written by a newer gatewayd \(schema 9999-later\)/);
      await atOld(async ({ query }) => expect(await findMeta(query, MOVED_TO)).toBeUndefined());
    },
    TIMEOUT_MS,
  );
});
