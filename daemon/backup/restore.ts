// Puts a backup into an empty place: verified there before it counts, and then whole.
import { randomBytes } from 'node:crypto';
import { createReadStream, existsSync, fstatSync, openSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasNoTables, presentSchema } from '../../data/backup.ts';
import { type Executor, openDb } from '../../data/db/open.ts';
import type { Replaced } from '../../data/lost-secret.ts';
import { knowsSteps, migrateFilled } from '../../data/migrations/migrate.ts';
import type { LawResult } from '../../data/verify/verify.ts';
import { findSecretTexts, SECRET_BYTES, storeSecrets } from '../process/data-dir.ts';
import { CommandError, EXIT } from '../process/failure.ts';
import { replaceSecret } from '../process/lost-secret.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { diskFault, syncDirectory } from './backup.ts';
import { damaged, type Header, keyOf, readBackup } from './container.ts';
import { readCopy } from './copy.ts';
import { bringUpToDate, fillRows, lawsOfFile, lawsOfRows, writeDraft } from './draft.ts';

/** What a draft's directory is named after the database; earlier versions wrote a draft of this very name. */
const RESTORING = '.restoring';
/** Why laws are left out before the secret is replaced. */
const LOST = { missing: 'the secret is lost' };

export interface RestoreOptions {
  config: Config;
  file: string;
  /** The file where it is open already, as by a user who may read what others may not. */
  handle?: number;
  passphrase?: string | undefined;
  /** Puts it in place though laws are broken. */
  accept_broken: boolean;
  /** The secret is lost: what it sealed gets another. */
  new_secret?: boolean;
  /** Unix seconds. */
  now: number;
  /** Calls it off; after the restored database is in place it has no effect. */
  signal?: AbortSignal | undefined;
}

export interface Restored {
  header: Header;
  /** Of the laws of the books, as `gatewayd verify` shows them. */
  laws: LawResult[];
  /** Whether it is in place: else a law was broken, and nothing was changed. */
  in_place: boolean;
  /** Whether the secret came out of the backup. */
  secret_restored: boolean;
  /** What has other keys, where the secret was lost; else null. */
  replaced: Replaced | null;
}

/**
 * Restores a backup, or the copy of a SQLite file that an upgrade made, where there is no database yet. Throws ConfigError where
 * there is one, and where the secret is missing or given up without need; CommandError for a damaged file, a wrong passphrase and a
 * disk that refuses. Then nothing was changed.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { config, file, passphrase } = options;
  await assertEmpty(config.database_url);
  const handle = options.handle ?? openBackup(file);
  const stream = createReadStream(file, { fd: handle });
  try {
    const copy = await readCopy(file, handle);
    const { header, unlock } = copy ?? (await readBackup(stream as AsyncIterable<Buffer>));
    assertFits(header, config);
    const { first, rest } = await unlock(await keyOf(header, passphrase));
    const known = findSecretTexts(config);
    const texts = options.new_secret
      ? [newSecret(secretsIn(first), known)]
      : secretsOf(secretsIn(first), known, config);
    const is_unknown = known.length === 0;
    const putSecret = () => {
      if (is_unknown) storeSecrets(config.data_dir, texts);
    };
    const put = header.kind === 'sqlite' ? putFile : putRows;
    const [secret, previous_secret] = texts;
    const result = await put(
      { ...options, config: { ...config, secret, previous_secret } },
      { header, rest, putSecret },
    );
    const secret_restored = result.in_place && is_unknown && !options.new_secret;
    return { header, replaced: null, ...result, secret_restored };
  } catch (error) {
    if (error instanceof CommandError && error.exit_code === EXIT.broken_data)
      throw new CommandError(`${error.message}; nothing was restored`, error.exit_code);
    throw error;
  } finally {
    stream.destroy();
  }
}

/** Opened by who may read it: a command of root works as another user afterwards. Throws CommandError. */
export function openBackup(file: string): number {
  try {
    const handle = openSync(file, 'r');
    if (fstatSync(handle).isDirectory()) throw new Error('it is a directory');
    return handle;
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`, EXIT.io);
  }
}

const pathOf = (database_url: string): string => database_url.slice('sqlite:'.length);

async function assertEmpty(database_url: string): Promise<void> {
  const is_sqlite = database_url.startsWith('sqlite:');
  if (is_sqlite) {
    const files = ['', '-wal', '-journal'].map((suffix) => `${pathOf(database_url)}${suffix}`);
    const found = files.find((one) => existsSync(one));
    if (found !== undefined)
      throw new ConfigError(
        `there is a database at ${found}; a backup is restored into an empty place only: move it away, or name another --data-dir`,
      );
    return;
  }
  const db = await openDb(database_url);
  await assertNoTables(db.query).finally(() => db.close());
}

async function assertNoTables(query: Executor): Promise<void> {
  if (await hasNoTables(query)) return;
  throw new ConfigError(
    'the database has tables; a backup is restored into an empty one only: make one with createdb, and name it in database_url',
  );
}

/** Throws ConfigError where a migration that made it is not known here. */
export function assertKnown({ schema }: Header): void {
  if (!knowsSteps(schema))
    throw new ConfigError(
      `the backup was made by a newer gatewayd (schema ${schema.at(-1)}); install that version`,
    );
}

function assertFits(header: Header, config: Config): void {
  const { kind, network } = header;
  if (config.database_url.startsWith('sqlite:') !== (kind === 'sqlite'))
    throw new ConfigError(
      `the backup is one of ${kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}; set a database_url of that`,
    );
  if (network !== '' && network !== config.network)
    throw new ConfigError(`the backup is of network ${network}; set network to ${network}`);
  assertKnown(header);
}

/** What an encrypted backup has of the secret: two while it is rotated. */
interface StoredSecrets {
  secret: string | null;
  /** Earlier versions wrote none. */
  previous_secret?: string | null;
}

/** The newest first; none where it is not encrypted. */
export function secretsIn(first: Buffer): string[] {
  try {
    const { secret, previous_secret } = JSON.parse(first.toString('utf8')) as StoredSecrets;
    return [secret, previous_secret].flatMap((each) => each ?? []);
  } catch {
    throw damaged('its first part cannot be read');
  }
}

/** The newest first. */
function secretsOf(stored: readonly string[], known: readonly string[], { data_dir }: Config): string[] {
  if (known.length > 0 && !stored.every((text) => known.includes(text)))
    throw new ConfigError(
      `the secret in the backup is not the one that is set here, as after a rotation; take secret out of the settings, or move ${data_dir}/secret away`,
    );
  const texts = known.length > 0 ? known : stored;
  if (texts.length === 0)
    throw new ConfigError(
      `this backup has no secret in it, as only encrypted ones do: put the secret that its deployment had then into ${data_dir}/secret, or set secret; where it is lost, --new-secret makes another`,
    );
  return [...texts];
}

/** The one that is set here, else a random one. */
function newSecret(stored: readonly string[], [known]: readonly string[]): string {
  if (stored.length > 0)
    throw new ConfigError('--new-secret: the secret is in this backup and not lost; leave --new-secret out');
  return known ?? randomBytes(SECRET_BYTES).toString('hex');
}

interface Contents {
  header: Header;
  rest: AsyncGenerator<Buffer>;
  /** Called right before it counts. */
  putSecret(): void;
}

type Put = (
  options: RestoreOptions,
  contents: Contents,
) => Promise<Pick<Restored, 'laws' | 'in_place'> & Partial<Pick<Restored, 'replaced'>>>;

const isAccepted = (laws: readonly LawResult[], { accept_broken }: RestoreOptions): boolean =>
  accept_broken || laws.every(({ ok }) => ok);

/** Of laws that were held without the secret. */
const isSound = (laws: readonly LawResult[], { accept_broken }: RestoreOptions): boolean =>
  accept_broken || laws.every(({ count }) => count === 0);

const putFile: Put = async (options, { rest, putSecret }) => {
  const { config, signal } = options;
  const file = pathOf(config.database_url);
  try {
    await removeDrafts(file);
    // SQLite replays a log or journal that it finds under a draft's name: each draft has a directory that was never used.
    const draft = join(await mkdtemp(`${file}${RESTORING}-`), basename(file));
    await writeDraft(rest, draft, { signal });
    const url = `sqlite:${draft}`;
    await bringUpToDate(url);
    signal?.throwIfAborted();
    let replaced: Replaced | null = null;
    if (options.new_secret) {
      const laws = await lawsOfFile(url, options, LOST);
      if (!isSound(laws, options)) return { laws, in_place: false };
      replaced = await replaceIn(url, options);
      signal?.throwIfAborted();
    }
    const laws = await lawsOfFile(url, options);
    signal?.throwIfAborted();
    if (!isAccepted(laws, options)) return { laws, in_place: false };
    putSecret();
    await rename(draft, file);
    await syncDirectory(dirname(file));
    return { laws, in_place: true, replaced };
  } catch (error) {
    throw diskFault(error, file) ?? error;
  } finally {
    await removeDrafts(file);
  }
};

/** Drafts of this restore and of those that were killed: the lock of the database says that no other is at work. */
async function removeDrafts(file: string): Promise<void> {
  const directory = dirname(file);
  const first = `${basename(file)}${RESTORING}`;
  for (const name of await readdir(directory).catch(() => []))
    if (name === first || name.startsWith(`${first}-`))
      await rm(join(directory, name), { recursive: true, force: true });
}

async function replaceIn(url: string, { config, now }: RestoreOptions): Promise<Replaced> {
  const db = await openDb(url);
  try {
    return await db.transaction((tx) => replaceSecret(tx, db.dialect, { text: config.secret ?? '', now }));
  } finally {
    await db.close();
  }
}

const putRows: Put = async (options, { header, rest, putSecret }) => {
  const { config, now, signal } = options;
  const db = await openDb(config.database_url);
  let laws: LawResult[] = [];
  let in_place = false;
  let replaced: Replaced | null = null;
  try {
    await migrateFilled(db, header.schema.at(-1) ?? '', {
      // Another restore may have been first.
      assertFree: assertNoTables,
      fill: async (query) => fillRows(query, await presentSchema(query), { rest, signal }),
      async accept(query) {
        if (options.new_secret) {
          laws = await lawsOfRows(query, options, LOST);
          if (!isSound(laws, options)) return false;
          replaced = await replaceSecret(query, 'postgres', { text: config.secret ?? '', now });
        }
        laws = await lawsOfRows(query, options);
        signal?.throwIfAborted();
        in_place = isAccepted(laws, options);
        if (in_place) putSecret();
        return in_place;
      },
    });
    return { laws, in_place, replaced };
  } finally {
    await db.close();
  }
};
