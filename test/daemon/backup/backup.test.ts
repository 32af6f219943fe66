// Backups: what was there is there again, verified before it counts; whatever goes wrong leaves nothing behind.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type BackupOptions, makeBackup } from '../../../daemon/backup/backup.ts';
import { restoreBackup } from '../../../daemon/backup/restore.ts';
import { openBackups } from '../../../daemon/backup/schedule.ts';
import { systemRuntime } from '../../../daemon/process/runtime.ts';
import { type Config, loadConfig } from '../../../daemon/settings/config.ts';
import { sqlite } from '../../../data/db/driver.ts';
import { openDb } from '../../../data/db/open.ts';
import { changeMeta, findMeta, LAST_BACKUP_AT } from '../../../data/meta.ts';
import { restorePast } from '../../data/past.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases, emptyDatabase } from '../../helpers/database.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { makeSoundBooks, type SoundBooks } from '../helpers/sound-books.ts';

const PASSPHRASE = 'a passphrase of many words';
const PAST = fileURLToPath(new URL('../../data/past', import.meta.url));
const CHUNK = 64 * 1024;

describe.each(databases)('a backup of %s', (database) => {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-backup-'));
  let books: SoundBooks;
  beforeAll(async () => {
    books = await makeSoundBooks(database);
    const db = await openDb(books.url);
    await changeMeta(db.query, 'network', 'testnet');
    await changeMeta(db.query, LAST_BACKUP_AT, '1');
    await db.close();
  });
  afterAll(async () => {
    await books?.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  let made = 0;
  const written = async (options: Partial<BackupOptions> = {}) => {
    const file = join(directory, `${++made}.backup`);
    const { config, now } = books;
    return makeBackup({ config, file, passphrase: PASSPHRASE, now, ...options });
  };

  /** An empty place without a secret. */
  const place = async (flags: Record<string, string> = {}): Promise<Config> => {
    const server = database === 'postgres' ? await emptyDatabase(database) : undefined;
    onTestFinished(() => server?.remove());
    const data_dir = mkdtempSync(join(directory, 'place-'));
    const database_url = server?.url ?? `sqlite:${join(data_dir, 'gatewayd.db')}`;
    return loadConfig({ flags: { data_dir, database_url, ...flags }, env: {}, cwd: data_dir }).config;
  };
  const restored = (config: Config, file: string, options = {}) =>
    restoreBackup({ config, file, passphrase: PASSPHRASE, accept_broken: false, now: books.now, ...options });
  const isEmpty = async (config: Config) => {
    expect(readdirSync(config.data_dir)).toEqual([]);
    if (database === 'sqlite') return;
    const db = await openDb(config.database_url);
    const { rows } = await sql`select 1 from pg_tables where schemaname = 'public'`.execute(db.query);
    await db.close();
    expect(rows).toEqual([]);
  };

  const LEFT_OUT = ['call_windows', 'kysely_migration', 'write_probes'];
  const rowsOf = async (url: string) => {
    const db = await openDb(url);
    const all: Record<string, unknown[]> = {};
    for (const { name } of await db.query.introspection.getTables()) {
      if (LEFT_OUT.includes(name)) continue;
      const { rows } = await sql`select * from ${sql.table(name)} order by 1, 2`.execute(db.query);
      all[name] = rows;
    }
    await db.close();
    return all;
  };

  test('is restored with every row, every law and the secret; the next number follows', async () => {
    verifies('command-backup', 'command-restore');
    const backup = await written();
    expect(backup).toMatchObject({ kind: database, encrypted: true, secret: true });
    const config = await place();
    const { laws, ...rest } = await restored(config, backup.file);
    expect(rest).toMatchObject({ in_place: true, secret_restored: true });
    expect(laws.filter(({ ok }) => !ok)).toEqual([]);
    expect(laws).toHaveLength(21);
    expect(await rowsOf(config.database_url)).toEqual(await rowsOf(books.url));
    expect(readFileSync(join(config.data_dir, 'secret'), 'utf8').trim()).toBe(books.config.secret);
    const db = await openDb(config.database_url);
    onTestFinished(() => db.close());
    const last = await db.query
      .selectFrom('events')
      .select((of) => of.fn.max('seq').as('seq'))
      .executeTakeFirst();
    await sql`insert into events (id, type, body, created_at) values ('next', 'payment.unmatched', '{}', 1)`.execute(
      db.query,
    );
    const next = await db.query
      .selectFrom('events')
      .select('seq')
      .where('id', '=', 'next')
      .executeTakeFirst();
    expect(next?.seq).toBe(Number(last?.seq) + 1);
  });

  test('shows nothing of its contents where it is encrypted, and has no secret where it is not', async () => {
    verifies('backup-secret');
    const { config } = books;
    const clear = await written({ passphrase: undefined });
    expect(clear).toMatchObject({ encrypted: false, secret: false });
    const encrypted = readFileSync((await written()).file);
    for (const bytes of [encrypted, readFileSync(clear.file)])
      expect(bytes.includes(config.secret ?? '?')).toBe(false);
    const empty = await place();
    await expect(restored(empty, clear.file)).rejects.toThrow(/no secret in it/);
    await isEmpty(empty);
    const { in_place } = await restored(await place({ secret: config.secret ?? '' }), clear.file);
    expect(in_place).toBe(true);
    await expect(
      restored(await place({ secret: 'the secret of another place' }), (await written()).file),
    ).rejects.toThrow(/not the one that is set here/);
  });

  test('that was cut, changed, lengthened or opened with a wrong passphrase leaves the place empty', async () => {
    verifies('backup-whole');
    const config = await place();
    for (const passphrase of [PASSPHRASE, undefined]) {
      const bytes = readFileSync((await written({ passphrase })).file);
      const changed = Buffer.from(bytes);
      changed[bytes.length - 30] = (changed[bytes.length - 30] ?? 0) ^ 1;
      const header = Buffer.from(bytes.toString('latin1').replace('"testnet"', '"mainnet"'), 'latin1');
      const faulty = {
        changed,
        header,
        lengthened: Buffer.concat([bytes, Buffer.of(0)]),
        half: bytes.subarray(0, Math.min(CHUNK, bytes.length >> 1)),
        ...(passphrase ? {} : { other: Buffer.from('not a backup at all') }),
      };
      for (const [name, content] of Object.entries(faulty)) {
        const file = join(directory, name);
        writeFileSync(file, content);
        const here = { ...config, secret: passphrase ? undefined : books.config.secret };
        if (name === 'header') here.network = 'mainnet';
        await expect(restored(here, file), name).rejects.toMatchObject({ exit_code: 65 });
        await isEmpty(config);
      }
    }
    const { file } = await written();
    await expect(restored(config, file, { passphrase: 'another passphrase' })).rejects.toThrow(
      /passphrase is not the one/,
    );
    await expect(restored(config, file, { passphrase: undefined })).rejects.toThrow(/is encrypted/);
    await isEmpty(config);
  });

  test.skipIf(database !== 'sqlite')(
    'is restored alone, whatever an interrupted restore of another backup has left there',
    async () => {
      verifies('command-restore');
      const { file } = await written();
      const config = await place();
      const target = config.database_url.slice('sqlite:'.length);
      // The log of a database of other books, as a process that was killed leaves it: not yet part of the file.
      const other = new (sqlite())(join(directory, `other-${++made}.db`));
      onTestFinished(() => void other.close());
      other.exec(`pragma journal_mode = wal; vacuum; create table of_another_backup (id integer) strict`);
      for (const suffix of ['', '-wal', '-shm'])
        for (const draft of ['.restoring', '.restoring-a1b2c3'])
          copyFileSync(`${other.name}${suffix}`, `${target}${draft}${suffix}`);
      expect((await restored(config, file)).in_place).toBe(true);
      expect(readdirSync(config.data_dir).sort()).toEqual(['gatewayd.db', 'secret']);
      const expected = await rowsOf(books.url);
      expect(await rowsOf(config.database_url)).toEqual(expected);
    },
  );

  test('that is called off while it is restored leaves nothing', async () => {
    verifies('command-restore');
    const { file } = await written();
    const config = await place();
    await expect(restored(config, file, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    await isEmpty(config);
  });

  test('is not restored over anything, nor on another network or kind of database', async () => {
    verifies('command-restore');
    const { file } = await written();
    const config = await place();
    await restored(config, file);
    await expect(restored(config, file)).rejects.toThrow(/empty (place|one) only/);
    await expect(restored(await place({ network: 'mainnet' }), file)).rejects.toThrow(/of network testnet/);
    await expect(makeBackup({ config: books.config, file, now: books.now })).rejects.toThrow(/there already/);
  });

  test('whose books break a law is restored only where that is accepted', async () => {
    verifies('command-restore');
    const config = await place();
    await restored(config, (await written()).file);
    const db = await openDb(config.database_url);
    await sql`update balances set amount_atomic = '1'`.execute(db.query);
    await db.close();
    const { file } = await written({ config });
    const other = await place();
    const { laws, in_place } = await restored(other, file);
    expect(in_place).toBe(false);
    expect(laws.filter(({ ok }) => !ok).map(({ law }) => law)).toContain(4);
    await isEmpty(other);
    expect((await restored(other, file, { accept_broken: true })).in_place).toBe(true);
  });

  test.each(readdirSync(PAST).filter((name) => name.includes(`.${database}.`)))(
    'of the schema of %s is brought up to date on the way',
    async (name) => {
      verifies('command-restore', 'migrations');
      const script = gunzipSync(readFileSync(join(PAST, name))).toString();
      const now = Number(/^-- (\d+)\n/.exec(script)?.[1]);
      const old = await place({ secret: books.config.secret ?? '' });
      await restorePast(old.database_url, script);
      const { file } = await written({ config: old, now });
      const { laws, in_place } = await restored(await place(), file, { now });
      expect(laws.filter(({ ok }) => !ok)).toEqual([]);
      expect(in_place).toBe(true);
    },
  );

  test('is made by one daemon of several, as often as is set, and old ones go', async () => {
    verifies('backup-automatic');
    const to = mkdtempSync(join(directory, 'automatic-'));
    const config = { ...books.config, backup: { every: '1h', keep: 2, to, passphrase: PASSPHRASE } };
    const clock = testClock(books.now);
    const db = await openDb(books.url);
    onTestFinished(() => db.close());
    writeFileSync(join(to, 'not ours'), '');
    const runtime = {
      ...systemRuntime,
      sleep: (ms: number, signal?: AbortSignal) => systemRuntime.sleep(Math.min(ms, 10), signal),
    };
    const daemons = [1, 2].map(() =>
      openBackups({ config, db, clock, log: pino({ level: 'silent' }), runtime }),
    );
    for (const daemon of daemons) daemon.start();
    const noted = () => findMeta(db.query, LAST_BACKUP_AT);
    const seen: string[][] = [];
    for (let round = 0; round < 3; round++) {
      await until('a backup is noted', async () => (await noted()) === String(clock.now()) || undefined);
      seen.push(readdirSync(to).filter((name) => name.endsWith('.backup')));
      clock.advance(3600);
    }
    for (const daemon of daemons) await daemon.stop();
    expect(seen.map((names) => names.length).slice(0, 2)).toEqual([1, 2]);
    const left = readdirSync(to).sort();
    expect(left.filter((name) => name.endsWith('.backup')).length).toBeLessThanOrEqual(3);
    expect(left).toContain('not ours');
    expect(left.filter((name) => name.includes('partial'))).toEqual([]);
  });
});
