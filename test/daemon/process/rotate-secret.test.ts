// The secret of a deployment is replaced: interrupted anywhere, every value opens, and the next run ends it; on both databases.
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeBackup } from '../../../daemon/backup/backup.ts';
import { restoreBackup } from '../../../daemon/backup/restore.ts';
import { secretRotate } from '../../../daemon/commands/secret-rotate.ts';
import { database as databaseCheck } from '../../../daemon/doctor/books.ts';
import { issueAccessToken, readAccessToken } from '../../../daemon/http/tokens.ts';
import {
  assertNetworkMatches,
  assertSecretMatches,
  findSecretTexts,
  openSecrets,
  promoteNextSecret,
  storeNextSecret,
} from '../../../daemon/process/data-dir.ts';
import { ledgerKey, openLedger } from '../../../daemon/process/ledger-key.ts';
import { type RotateOptions, rotateSecret } from '../../../daemon/process/rotate-secret.ts';
import { openSecretWatch } from '../../../daemon/process/secret-watch.ts';
import { createSecrets, openSecretsFrom, type Secrets } from '../../../daemon/process/secrets.ts';
import { loadConfig } from '../../../daemon/settings/config.ts';
import { verifySecrets } from '../../../daemon/verify/books.ts';
import { describeDaemon } from '../../../data/daemons.ts';
import { type Db, openDb } from '../../../data/db/open.ts';
import { sealedValues, secretState } from '../../../data/secret.ts';
import { schemaLaws } from '../../../data/verify/schema-laws.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases, openDatabase } from '../../helpers/database.ts';
import { account } from '../../helpers/people.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const OLD = 'the old secret of these tests';
const NEW = 'the new secret of these tests';
const NEWEST = 'the newest secret of these tests';
const DAY_SECONDS = 24 * 3600;
/** More than one batch. */
const MERCHANTS = 60;

const clock = testClock();
const at = (): number => clock.now();

/** Both, the newest first, as settings name them. */
async function knowing(db: Db, ...texts: string[]): Promise<Secrets> {
  const secrets = openSecretsFrom(() => texts);
  await assertSecretMatches(db, secrets, '/nowhere');
  return secrets;
}

const options = (db: Db, secrets: Secrets, more: Partial<RotateOptions> = {}): RotateOptions => ({
  db,
  secrets,
  clock,
  runtime: { sleep: async () => {}, elapsed_ms: () => performance.now() * 1000 },
  is_running: () => false,
  is_followed: true,
  at_once: false,
  advice: 'restart it',
  ...more,
});

/** What law 21 says of the sealed values, with what is known. */
async function faultsOf(db: Db, secrets: Secrets): Promise<number> {
  const law = schemaLaws.find(({ says }) => says.startsWith('a secret'));
  const context = { query: db.query, secrets: await verifySecrets(db.query, secrets) };
  const found = await law?.find(context as Parameters<typeof law.find>[0]);
  return found && 'count' in found ? found.count : -1;
}

/** As if the process was killed at the nth thing that it asks of the database. */
function killedAt(db: Db, step: number): Db {
  let count = 0;
  return new Proxy(db, {
    get(target, name, receiver) {
      if ((name === 'query' || name === 'transaction') && ++count === step) throw new Error('killed');
      return Reflect.get(target, name, receiver);
    },
  });
}

/** What the command prints. */
async function printed(settings: Record<string, unknown>): Promise<string> {
  const lines: string[] = [];
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const umask = process.umask();
  await secretRotate(settings).finally(() => {
    stdout.mockRestore();
    process.umask(umask);
  });
  return lines.join('');
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-secret-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe.each(databases)('a rotation on %s', (database) => {
  async function filled(merchants: number): Promise<{ db: Db; url: string; before: Secrets }> {
    const { db, url, stop } = await openDatabase(database);
    onTestFinished(stop);
    const before = await knowing(db, OLD);
    await openLedger(db, before);
    for (let n = 0; n < merchants; n++) await account({ db, clock, secrets: before });
    return { db, url, before };
  }

  test('that is killed at any step leaves every value readable, and the next run ends it', async () => {
    verifies('secret-rotate-killed');
    const { db, before } = await filled(3);
    const key = await ledgerKey(db.query, before);
    let [old_text, new_text] = [OLD, NEW];
    let killed = 0;
    for (let step = 1; ; step++) {
      const secrets = await knowing(db, new_text, old_text);
      const is_over = await rotateSecret(options(killedAt(db, step), secrets)).then(
        () => true,
        (error: Error) => {
          expect(error.message).toBe('killed');
          killed++;
          return false;
        },
      );
      expect(await faultsOf(db, await knowing(db, new_text, old_text))).toBe(0);
      if (!is_over) await rotateSecret(options(db, await knowing(db, new_text, old_text)));
      const after = await knowing(db, new_text);
      expect(await faultsOf(db, after)).toBe(0);
      expect(await ledgerKey(db.query, after)).toEqual(key);
      expect(await secretState(db.query)).toMatchObject({ current: after.check, previous: null });
      if (is_over) break;
      [old_text, new_text] = [new_text, `${NEWEST} ${step}`];
    }
    expect(killed).toBeGreaterThan(6);
  });

  test('leaves nothing that the old secret opens, and lets it sign for 8 days more, or no longer', async () => {
    verifies('secret-rotate', 'secret-rotate-sessions');
    const { db, before } = await filled(MERCHANTS);
    const user = await account({ db, clock, secrets: before });
    const session = await issueAccessToken({ clock, secrets: before }, user);
    const { values, tokens_until, webhooks_until } = await rotateSecret(
      options(db, await knowing(db, NEW, OLD)),
    );
    expect([values, tokens_until, webhooks_until]).toEqual([
      2 * (MERCHANTS + 1),
      at() + 8 * DAY_SECONDS,
      at() + DAY_SECONDS,
    ]);
    const old = createSecrets(OLD);
    const sealed = (await sealedValues(db.query, '', 1_000)).values;
    expect(sealed).toHaveLength(values);
    for (const value of sealed)
      expect(() =>
        old.open(value.sealed, `merchants.${value.column.replace('_sealed', '')}:${value.id}`),
      ).toThrow();
    await expect(knowing(db, OLD)).rejects.toThrow('rotated to since');
    await expect(ledgerKey(db.query, old)).rejects.toThrow('cannot be opened');

    const secrets = await knowing(db, NEW);
    // A setting that was left is of no use to who has the old secret.
    const with_rest = await knowing(db, NEW, OLD);
    const planted = old.seal('whsec_x', 'x');
    expect(() => with_rest.open(planted, 'x')).toThrow();
    const reads = (token: string, known = secrets) => readAccessToken({ clock, secrets: known }, token);
    expect(await reads(session)).toMatchObject({ sub: user.id });
    expect(secrets.webhookSecrets(at())).toEqual([secrets.webhook_secret, old.webhook_secret]);
    expect(secrets.webhookSecrets(at() + DAY_SECONDS)).toEqual([secrets.webhook_secret]);
    const forged = () => issueAccessToken({ clock, secrets: old }, user);
    expect(await reads(await forged())).not.toBeNull();
    clock.advance(8 * DAY_SECONDS);
    for (const known of [secrets, with_rest]) expect(await reads(await forged(), known)).toBeNull();

    const { tokens_until: none } = await rotateSecret(
      options(db, await knowing(db, NEWEST, NEW), { at_once: true }),
    );
    expect(none).toBeNull();
    const newest = await knowing(db, NEWEST, NEW);
    expect(await reads(await issueAccessToken({ clock, secrets }, user), newest)).toBeNull();
    expect(newest.webhookSecrets(at())).toEqual([newest.webhook_secret]);
  });

  test('that a daemon was not there for ends what that one seals, until it knows the new secret', async () => {
    verifies('secret-rotate');
    const { db } = await filled(1);
    let texts = [OLD];
    const secrets = openSecretsFrom(() => texts);
    await assertSecretMatches(db, secrets, '/nowhere');
    let now_ms = 0;
    let tick = () => {};
    const runtime = {
      elapsed_ms: () => now_ms,
      after(_ms: number, work: () => void) {
        tick = work;
        return () => {};
      },
    };
    const log = pino({ level: 'silent' });
    const watch = openSecretWatch({ db, secrets, instance: { report: async () => {} }, log, runtime });
    /** What it does each second; `ms` later. */
    const second = async (ms: number) => {
      now_ms += ms;
      const done = tick;
      done();
      await until('the watch waits again', async () => (tick === done ? undefined : true));
    };
    watch.start();
    await second(1_000);
    // It is out of reach for a while, and not counted as one that runs.
    await rotateSecret(options(db, await knowing(db, NEW, OLD)));
    await second(10_000);
    expect(() => secrets.seal('whsec_x', 'x')).toThrow('is not known here');
    texts = [NEW, OLD];
    await second(1_000);
    expect(createSecrets(NEW).open(secrets.seal('whsec_x', 'x'), 'x')).toBe('whsec_x');
    await watch.stop();
  });

  test('that is over already still ends what the old secret has signed where it is run with --at-once', async () => {
    verifies('secret-rotate-sessions');
    const { db, url, before } = await filled(1);
    const user = await account({ db, clock, secrets: before });
    const daemon = await knowing(db, NEW, OLD);
    await rotateSecret(options(db, daemon));
    const state = await secretState(db.query);
    if (state) daemon.follow(state);
    const forged = await issueAccessToken({ clock, secrets: before }, user);
    expect(await readAccessToken({ clock, secrets: daemon }, forged)).not.toBeNull();
    const settings = { databaseUrl: url, dataDir: tmpdir(), secret: NEW, previousSecret: OLD };
    expect(await printed({ ...settings, atOnce: true })).toContain('that the old one has signed have ended');
    const ended = await secretState(db.query);
    expect(ended && daemon.follow(ended)).toBe(true);
    expect(await readAccessToken({ clock, secrets: daemon }, forged)).toBeNull();
    expect(daemon.webhookSecrets(at())).toEqual([daemon.webhook_secret]);
  });

  test('says what is left to do where the new secret was copied to another data directory', async () => {
    verifies('secret-rotate', 'command-doctor');
    const { db, url, stop } = await openDatabase(database);
    onTestFinished(stop);
    const [here, there] = [newDirectory(), newDirectory()];
    const placeOf = (data_dir: string) =>
      loadConfig({ flags: { data_dir, database_url: url }, env: {}, cwd: data_dir });
    await assertSecretMatches(db, openSecrets(placeOf(here).config), here);
    copyFileSync(join(here, 'secret'), join(there, 'secret'));
    const lines = await printed({ dataDir: here, databaseUrl: url });
    expect(lines.includes('mv secret.next secret')).toBe(database === 'postgres');
    copyFileSync(join(here, 'secret'), join(there, 'secret.next'));
    expect(await databaseCheck({ ...placeOf(there), ntp: undefined, now: at() })).toContainEqual({
      of: 'secret',
      status: 'warning',
      says: 'secret.next is in use, and secret no longer is',
      fix: `mv ${there}/secret.next ${there}/secret`,
    });
  });

  test('is not turned back by settings that name the secret before as the new one', async () => {
    verifies('secret-rotate', 'secret-rotate-refused');
    const { db, before } = await filled(1);
    const user = await account({ db, clock, secrets: before });
    const turned = openSecretsFrom(() => [OLD, NEW]);
    await rotateSecret(options(db, await knowing(db, NEW, OLD), { at_once: true }));
    const state = await secretState(db.query);
    await expect(knowing(db, OLD, NEW)).rejects.toThrow('was replaced by `gatewayd secret rotate` before');
    // Nor by a file that is put back while a daemon runs.
    expect(state && turned.follow(state)).toBe(true);
    const forged = await issueAccessToken({ clock, secrets: before }, user);
    expect(await readAccessToken({ clock, secrets: turned }, forged)).toBeNull();
    expect(() => turned.open(before.seal('whsec_x', 'x'), 'x')).toThrow();
    expect(turned.known()).toEqual([createSecrets(NEW).check]);
    await rotateSecret(options(db, await knowing(db, NEWEST, NEW)));
    for (const past of [OLD, NEW]) await expect(knowing(db, past, NEWEST)).rejects.toThrow('was replaced');
  });

  test('meets values that are written meanwhile, and waits until no daemon seals with the old secret', async () => {
    verifies('secret-rotate');
    const { db } = await filled(1);
    const daemon = await knowing(db, NEW, OLD);
    const describe_now = () =>
      describeDaemon(db.query, {
        id: '00000000-0000-4000-8000-000000000001',
        host: 'here',
        pid: 1,
        version: '0.0.0',
        started_at: at(),
        last_seen_at: at(),
        reads: '',
        delivering: 0,
        secrets: daemon.known().join(' '),
      });
    await describe_now();
    let written = 0;
    const sleep = async () => {
      // A daemon that has not noticed yet makes accounts with the old one.
      if (written++ < 3) await account({ db, clock, secrets: daemon });
      else {
        const state = await secretState(db.query);
        if (state) daemon.follow(state);
        await describe_now();
      }
    };
    const runtime = { sleep, elapsed_ms: () => 0 };
    const done = await rotateSecret(
      options(db, await knowing(db, NEW, OLD), { runtime, is_running: () => true }),
    );
    expect([done.daemons, done.values]).toEqual([1, 2 * (1 + 3)]);
    expect(await faultsOf(db, await knowing(db, NEW))).toBe(0);
  });

  test('is refused while a daemon does not know the new secret, and has changed nothing', async () => {
    verifies('secret-rotate-refused');
    const { db } = await filled(1);
    const before = await secretState(db.query);
    await describeDaemon(db.query, {
      id: '00000000-0000-4000-8000-000000000002',
      host: 'elsewhere',
      pid: 42,
      version: '0.0.0',
      started_at: at(),
      last_seen_at: at(),
      reads: '',
      delivering: 0,
      secrets: createSecrets(OLD).check,
    });
    let now_ms = 0;
    const runtime = { sleep: async () => {}, elapsed_ms: () => (now_ms += 1_000) };
    const rotating = rotateSecret(
      options(db, await knowing(db, NEW, OLD), { runtime, is_running: () => true }),
    );
    await expect(rotating).rejects.toThrow(
      'the daemon on elsewhere with pid 42 does not know the new secret',
    );
    expect(await secretState(db.query)).toEqual(before);
    expect(await faultsOf(db, await knowing(db, OLD))).toBe(0);
  });
});

test('a backup that is made in the middle brings both secrets along, and its restored place ends the rotation', async () => {
  verifies('backup-secret', 'secret-rotate-killed');
  const { db, url, stop } = await openDatabase('sqlite');
  onTestFinished(stop);
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-secret-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const configOf = (database_url: string, flags: Record<string, string>) =>
    loadConfig({ flags: { data_dir: directory, database_url, ...flags }, env: {}, cwd: directory }).config;
  const before = await knowing(db, OLD);
  await assertNetworkMatches(db, { network: 'testnet' });
  await openLedger(db, before);
  await account({ db, clock, secrets: before });
  // It is in force, and no value of a merchant is sealed with it yet.
  const rotating = rotateSecret(options(killedAt(db, 3), await knowing(db, NEW, OLD)));
  await expect(rotating).rejects.toThrow('killed');
  expect((await secretState(db.query))?.previous).toBe(before.check);
  const file = join(directory, 'one.backup');
  const passphrase = 'a passphrase of many words';
  const config = configOf(url, { secret: NEW, previous_secret: OLD });
  await makeBackup({ config, file, passphrase, now: at() });

  const place = configOf(`sqlite:${join(directory, 'restored.db')}`, {});
  const restored = await restoreBackup({ config: place, file, passphrase, accept_broken: false, now: at() });
  expect(restored.laws.filter(({ ok }) => !ok)).toEqual([]);
  expect(restored).toMatchObject({ in_place: true, secret_restored: true });
  expect(findSecretTexts(place)).toEqual([NEW, OLD]);
  const again = await openDb(place.database_url);
  onTestFinished(() => again.close());
  const { values } = await rotateSecret(options(again, await knowing(again, ...findSecretTexts(place))));
  expect([values, await faultsOf(again, await knowing(again, NEW))]).toEqual([2, 0]);
});

test('a secret in the data directory is followed by the next one in one step, and none is ever lost', () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'gatewayd-secret-'));
  onTestFinished(() => rmSync(data_dir, { recursive: true, force: true }));
  const place = { data_dir, secret: undefined, previous_secret: undefined };
  const daemon = openSecrets(place);
  const [old] = findSecretTexts(place);
  storeNextSecret(data_dir);
  storeNextSecret(data_dir, NEW);
  const [next, still] = findSecretTexts(place);
  expect([still, next === NEW]).toEqual([old, false]);
  // What another process seals meanwhile is opened by one that has not read the new one yet.
  const sealed = createSecrets(next ?? '').seal('x', 'y');
  expect(daemon.open(sealed, 'y')).toBe('x');
  promoteNextSecret(data_dir);
  promoteNextSecret(data_dir);
  expect([findSecretTexts(place), readdirSync(data_dir)]).toEqual([[next], ['secret']]);
  expect(readFileSync(join(data_dir, 'secret'), 'utf8')).toBe(`${next}\n`);
});
