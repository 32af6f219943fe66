// Backups: what was there is there again, verified before it counts; whatever goes wrong leaves nothing behind.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { presentAccount } from '../../../daemon/accounts/present.ts';
import { type BackupOptions, backupName, makeBackup } from '../../../daemon/backup/backup.ts';
import { checkBackup } from '../../../daemon/backup/check.ts';
import { type Header, newHeader, readBackup, sealBackup } from '../../../daemon/backup/container.ts';
import { lawsOfFile } from '../../../daemon/backup/draft.ts';
import { outdated } from '../../../daemon/backup/keep.ts';
import { restoreBackup } from '../../../daemon/backup/restore.ts';
import { openBackups } from '../../../daemon/backup/schedule.ts';
import { systemRuntime } from '../../../daemon/process/runtime.ts';
import { apiKeyPurpose, createSecrets, webhookSecretPurpose } from '../../../daemon/process/secrets.ts';
import { type Config, loadConfig } from '../../../daemon/settings/config.ts';
import { sqlite } from '../../../data/db/driver.ts';
import { openDb } from '../../../data/db/open.ts';
import { changeMeta, DEPLOYMENT, findMeta, LAST_BACKUP_AT } from '../../../data/meta.ts';
import { stepsDone } from '../../../data/migrations/migrate.ts';
import { restorePast } from '../../data/past.ts';
import { startApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases, emptyDatabase } from '../../helpers/database.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { makeSoundBooks, SOUND_SETTINGS, type SoundBooks } from '../helpers/sound-books.ts';

const PASSPHRASE = 'a passphrase of many words';
const PAST = fileURLToPath(new URL('../../data/past', import.meta.url));
const pathOf = (url: string): string => url.slice('sqlite:'.length);
const headerIn = async (file: string): Promise<Header> =>
  (await readBackup(Readable.from([readFileSync(file)]))).header;
const CHUNK = 64 * 1024;
/** Several databases are made from nothing, which a busy machine takes its time for. */
const SLOW_MS = 600_000;

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

  /** Where its daemon ran. */
  const live = (): Config => {
    const data_dir = join(directory, 'live');
    mkdirSync(data_dir, { recursive: true });
    return { ...books.config, data_dir };
  };
  const checked = (file: string, config: Config = live(), options = {}) =>
    checkBackup({ config, file, passphrase: PASSPHRASE, now: books.now, ...options });
  /** What a check may leave behind: files of the data directory, schemas of the server. */
  const around = async (config: Config) => {
    const files = readdirSync(config.data_dir);
    if (database === 'sqlite') return files;
    const db = await openDb(books.url);
    const { rows } = await sql`select nspname from pg_namespace order by 1`.execute(db.query);
    await db.close();
    return [...files, ...rows];
  };

  test(
    'is checked without a restore, and leaves neither a file nor a row',
    async () => {
      verifies('backup-check');
      const before = [await rowsOf(books.url), await around(live())];
      const found = await checked((await written()).file);
      expect(found).toMatchObject({ ok: true, encrypted: true, secret: 'in the backup' });
      expect(found.laws.filter(({ ok }) => !ok)).toEqual([]);
      expect(found.laws).toHaveLength(21);
      expect([await rowsOf(books.url), await around(live())]).toEqual(before);
    },
    SLOW_MS,
  );

  test(
    'is checked without the secret, but for the laws that need it, and says so',
    async () => {
      verifies('backup-check');
      const { file } = await written({ passphrase: undefined });
      expect(await checked(file)).toMatchObject({ ok: true, encrypted: false, secret: 'set here' });
      for (const [secret, expected, reason] of [
        [undefined, 'missing', /nor set here/],
        ['the secret of another place', 'another is set here', /another is set here/],
      ] as const) {
        const found = await checked(file, { ...live(), secret, secret_as_written: undefined });
        expect(found).toMatchObject({ ok: true, secret: expected });
        const left_out = found.laws.filter(({ ok }) => !ok);
        expect(left_out.map(({ law }) => law)).toEqual([1, 21]);
        for (const { count, unchecked } of left_out)
          expect([count, unchecked.join()]).toEqual([0, expect.stringMatching(reason)]);
      }
    },
    SLOW_MS,
  );

  test(
    'that is damaged, locked or called off in a check is a sentence with its exit code, and leaves nothing',
    async () => {
      verifies('backup-check', 'backup-whole');
      const { file } = await written();
      const before = [await rowsOf(books.url), await around(live())];
      await expect(checked(file, live(), { passphrase: 'another passphrase' })).rejects.toMatchObject({
        exit_code: 65,
        message: expect.stringMatching(/passphrase is not the one/),
      });
      for (const signal of [AbortSignal.abort(), AbortSignal.timeout(1)])
        await expect(checked(file, live(), { signal })).rejects.toThrow(/abort/i);
      const bytes = readFileSync(file);
      bytes[bytes.length - 30] = (bytes[bytes.length - 30] ?? 0) ^ 1;
      const damaged = join(directory, 'damaged.backup');
      writeFileSync(damaged, bytes);
      await expect(checked(damaged)).rejects.toMatchObject({ exit_code: 65 });
      await expect(checked(join(directory, 'gone.backup'))).rejects.toMatchObject({ exit_code: 74 });
      expect([await rowsOf(books.url), await around(live())]).toEqual(before);
    },
    SLOW_MS,
  );

  test(
    'whose books break a law, or whose database was damaged when it was made, is reported by a check',
    async () => {
      verifies('backup-check');
      const config = await place();
      await restored(config, (await written()).file);
      const db = await openDb(config.database_url);
      await sql`update balances set amount_atomic = '1'`.execute(db.query);
      await db.close();
      const found = await checked((await written({ config })).file);
      expect(found.ok).toBe(false);
      expect(found.laws.filter(({ count }) => count > 0).map(({ law }) => law)).toEqual([4]);
      if (database !== 'sqlite') return;
      const schema = await openDb(config.database_url);
      const header = newHeader(
        {
          created_at: books.now,
          gatewayd: '0',
          kind: database,
          network: '',
          schema: await stepsDone(schema.query),
        },
        false,
      );
      await schema.close();
      const file = config.database_url.slice('sqlite:'.length);
      const bytes = readFileSync(file);
      bytes.fill(0xa5, bytes.length >> 1);
      writeFileSync(file, bytes);
      await expect(written({ config })).rejects.toMatchObject({
        exit_code: 65,
        message: expect.stringMatching(/is damaged/),
      });
      // As one that was made of it all the same.
      const of_damaged = join(directory, 'of-damaged.backup');
      const first = Buffer.from('{"secret":null}');
      await writeFile(
        of_damaged,
        sealBackup(header, null, { first, source: Readable.from([gzipSync(bytes)]) }),
      );
      const outcome = await checked(of_damaged).then(
        ({ laws }) => laws.filter(({ count }) => count > 0).map(({ law }) => law),
        ({ exit_code }) => exit_code,
      );
      expect(outcome === 65 || outcome.includes(21), String(outcome)).toBe(true);
    },
    SLOW_MS,
  );

  test(
    'whose secret is lost is restored with a new one: its shops sell on, and its books continue',
    async () => {
      verifies('backup-new-secret');
      const { file } = await written({ passphrase: undefined });
      const lost = { passphrase: undefined, new_secret: true };
      await expect(restored(await place(), (await written()).file, { new_secret: true })).rejects.toThrow(
        /in this backup and not lost/,
      );
      await expect(restored(await place({ secret: books.config.secret ?? '' }), file, lost)).rejects.toThrow(
        /leave --new-secret out/,
      );
      const config = await place();
      const { laws, replaced, ...rest } = await restored(config, file, lost);
      expect(rest).toMatchObject({ in_place: true, secret_restored: false });
      expect(laws.filter(({ ok }) => !ok)).toEqual([]);
      expect(replaced).toMatchObject({ webhook_secrets: replaced?.merchants });
      expect(replaced?.entries).toBeGreaterThan(0);

      const secret = readFileSync(join(config.data_dir, 'secret'), 'utf8').trim();
      expect(secret).not.toBe(books.config.secret);
      const sealedIn = async (url: string) => {
        const db = await openDb(url);
        const rows = await db.query.selectFrom('merchants').selectAll().orderBy('id').execute();
        return db.close().then(() => rows);
      };
      const old = createSecrets(books.config.secret ?? '');
      const service = await startApp({
        database,
        database_url: config.database_url,
        clock: testClock(books.now),
        settings: { ...SOUND_SETTINGS, secret },
      });
      onTestFinished(() => service.stop());
      const [rich] = (await sealedIn(books.url)).filter(({ webhook_url }) => webhook_url !== null);
      const id = rich?.id ?? '';
      const keyBefore = old.open(rich?.api_key_sealed ?? '', apiKeyPurpose(id));
      const sold = await service.fetch('POST', '/v1/invoices', {
        key: keyBefore,
        body: { chain: 'ton', amount: '5' },
      });
      expect(sold.status, sold.text).toBe(200);
      const paid = await service.fetch('POST', `/v1/invoices/${sold.json.id}/simulate`, { key: keyBefore });
      expect(paid.status, paid.text).toBe(200);
      const shown = (await service.app.db.query.selectFrom('merchants').selectAll().execute()).find(
        (row) => row.id === id,
      );
      const account = presentAccount(service.app, shown ?? expect.fail('the merchant is gone'));
      expect(account.api_key).not.toBe(keyBefore);
      expect(account.previous_api_key_ends_at).toBeGreaterThan(books.now + 86_400);
      expect(account.webhook_secret).toMatch(/^whsec_/);
      const webhook_secret = old.open(rich?.webhook_secret_sealed ?? '', webhookSecretPurpose(id));
      expect(account.webhook_secret).not.toBe(webhook_secret);
      const after = await lawsOfFile(config.database_url, { config, now: service.clock.now() });
      expect(after.filter(({ ok }) => !ok)).toEqual([]);
    },
    SLOW_MS,
  );

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
    const rule = { keep: 2, keep_hours: 0, keep_days: 0 };
    const config = { ...books.config, backup: { every: '1h', ...rule, to, passphrase: PASSPHRASE } };
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

  test('is made though a clock that was ahead has noted the last one, and those of another deployment stay', async () => {
    verifies('backup-automatic');
    const to = mkdtempSync(join(directory, 'shared-'));
    const rule = { keep: 1, keep_hours: 0, keep_days: 0 };
    const config = { ...books.config, backup: { every: '1h', ...rule, to, passphrase: PASSPHRASE } };
    const clock = testClock(books.now);
    const db = await openDb(books.url);
    onTestFinished(() => db.close());
    const runtime = {
      ...systemRuntime,
      sleep: (ms: number, signal?: AbortSignal) => systemRuntime.sleep(Math.min(ms, 10), signal),
    };
    const of = async (deployment: string, at: number) => {
      const file = join(to, backupName(config.network, at));
      await changeMeta(db.query, DEPLOYMENT, deployment);
      await written({ file, now: at });
      return file;
    };
    const theirs = [await of('another', clock.now() - 9), await of('another', clock.now() - 7)];
    const ours = await of('this one', clock.now() - 8);
    await changeMeta(db.query, LAST_BACKUP_AT, String(clock.now() + 86_400));
    const daemon = openBackups({ config, db, clock, log: pino({ level: 'silent' }), runtime });
    daemon.start();
    const file = join(to, backupName(config.network, clock.now()));
    await until('the outdated one goes', async () => !existsSync(ours) || undefined);
    await daemon.stop();
    expect(readdirSync(to).sort()).toEqual([...theirs, file].map((path) => basename(path)).sort());
    expect(await findMeta(db.query, LAST_BACKUP_AT)).toBe(String(clock.now()));
  });

  test.each([
    { created_at: 9e15 },
    { scrypt: { salt: '', n: 3, r: 8, p: 1 } },
    { scrypt: { salt: '', n: 0, r: 8, p: 1 } },
    { scrypt: { salt: '', n: 2 ** 17, r: 0, p: 1 } },
    { scrypt: { salt: '', n: 2 ** 20, r: 32, p: 16 } },
  ])('whose header claims %j is not believed', async (claim) => {
    verifies('command-restore');
    const file = join(directory, `${++made}.backup`);
    const about = { created_at: 0, gatewayd: '1', kind: database, network: '', schema: ['0001-foundation'] };
    const header = { ...newHeader(about, false), ...claim } as Header;
    async function* source() {
      yield gzipSync('');
    }
    await writeFile(
      file,
      sealBackup(header, null, { first: Buffer.from('{"secret":null}'), source: source() }),
    );
    const config = await place();
    await expect(restored(config, file)).rejects.toThrow('its header cannot be read');
    await isEmpty(config);
  });

  test.each([
    ['no JSON', 'no JSON'],
    ['{"secret":null}', 'not packed'],
  ])('whose contents are not what a backup has (%s) is damaged, and leaves nothing', async (first) => {
    verifies('command-restore');
    const file = join(directory, `${++made}.backup`);
    const schema = await written().then(async ({ file: one }) => (await headerIn(one)).schema);
    const header = newHeader({ created_at: 0, gatewayd: '1', kind: database, network: '', schema }, false);
    async function* source() {
      yield Buffer.from('this is not packed');
    }
    await writeFile(file, sealBackup(header, null, { first: Buffer.from(first), source: source() }));
    const config = await place({ secret: 's'.repeat(40) });
    await expect(restored(config, file)).rejects.toMatchObject({ exit_code: 65 });
    await isEmpty(config);
  });

  test.skipIf(database !== 'sqlite')(
    'is not taken from a file whose last changes lie in its log',
    async () => {
      verifies('command-restore');
      const at = mkdtempSync(join(directory, 'killed-'));
      const config = await place({ secret: 's'.repeat(40) });
      // A daemon that was killed leaves its log next to the file.
      const SQLite = sqlite();
      const live = new SQLite(pathOf(books.url));
      live.pragma('journal_mode = wal');
      live.exec("insert into meta (name, value) values ('written last', '1')");
      for (const end of ['', '-wal']) copyFileSync(`${pathOf(books.url)}${end}`, join(at, `old.db${end}`));
      live.exec("delete from meta where name = 'written last'");
      live.close();
      await expect(restored(config, join(at, 'old.db'))).rejects.toThrow('its last changes are in');
      await isEmpty(config);
    },
  );
});

test('each minute of the last hour, each hour of the last day and each day of the last month stay, and nothing else', () => {
  verifies('backup-automatic');
  const from = Date.UTC(2026, 9, 1) / 1000;
  const minutes = 40 * 24 * 60;
  let names: string[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    names.push(backupName('testnet', from + minute * 60));
    // As a daemon does: after each of them, what is retained depends on nothing that was removed before.
    if (minute % 7 === 0 || minute === minutes - 1) {
      const old = new Set(outdated(names, { keep: 60, keep_hours: 24, keep_days: 30 }, from + minute * 60));
      names = names.filter((name) => !old.has(name));
    }
  }
  const at = (ago_minutes: number) => backupName('testnet', from + (minutes - 1 - ago_minutes) * 60);
  const expected = new Set<string>();
  for (let ago = 0; ago < 60; ago++) expected.add(at(ago));
  // The last minute of all is the last of its hour, and of its day.
  for (let hour = 0; hour < 24; hour++) expected.add(at(hour * 60));
  for (let day = 0; day < 30; day++) expected.add(at(day * 24 * 60));
  expect(names.sort()).toEqual([...expected].sort());
  const now = from + (minutes - 1) * 60;
  expect(outdated([at(2), at(1), at(0)], { keep: 2, keep_hours: 0, keep_days: 0 }, now)).toEqual([at(2)]);
  // What a clock that was ahead has named takes no place of theirs.
  const ahead = [at(-60), at(-61)];
  expect(outdated([...ahead, at(2), at(1), at(0)], { keep: 2, keep_hours: 0, keep_days: 0 }, now)).toEqual([
    at(2),
  ]);
});
