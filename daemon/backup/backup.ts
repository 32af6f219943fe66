// Makes a backup of the database, also while daemons run on it: whole under its name, or not there at all.
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { linesOfRows } from '../../data/backup.ts';
import { copySqlite, removeSqlite } from '../../data/db/copy.ts';
import { openSnapshot, type Snapshot } from '../../data/db/snapshot.ts';
import { DEPLOYMENT, findMeta } from '../../data/meta.ts';
import { stepsDone } from '../../data/migrations/migrate.ts';
import { assertInUse } from '../move/mark.ts';
import { findSecretTexts, type SecretPlace } from '../process/data-dir.ts';
import { CommandError, EXIT } from '../process/failure.ts';
import { VERSION } from '../process/version.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { keyOf, newHeader, sealBackup } from './container.ts';

const PARTIAL = '.partial';
/** What a backup that was killed has left is removed by a later one, when no one has written to it for so long. */
const ABANDONED_MS = 3600_000;
const ABANDONED = /\.[0-9a-f]+\.partial(\.db)?(-journal|-wal|-shm)?$/;
/** Left free on the disk of a database, for the daemon. */
export const SPARE_BYTES = 64 * 1024 * 1024;
const NAME_BYTES = 6;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

export interface MadeBackup {
  file: string;
  bytes: number;
  /** Unix seconds. */
  created_at: number;
  kind: 'sqlite' | 'postgres';
  encrypted: boolean;
  /** Whether the secret of the deployment is in it. */
  secret: boolean;
}

export interface BackupOptions {
  config: Pick<Config, 'database_url'> & SecretPlace;
  /** It must not exist. */
  file: string;
  /** Encrypts it, and puts the secret of the deployment into it. */
  passphrase?: string | undefined;
  /** Unix seconds. */
  now: number;
  /** Calls it off. */
  signal?: AbortSignal | undefined;
}

type Place = Pick<Config, 'backup' | 'data_dir'>;

/** The directory of backups that have no other. */
export const backupDirectory = ({ backup, data_dir }: Place): string =>
  resolve(backup.to ?? join(data_dir, 'backups'));

/**
 * The same, ready for a backup: it is made in the data directory. Throws ConfigError where the one that is set is missing:
 * its disk may not be mounted, and what is made in its place would fill another.
 */
export function openBackupDirectory(place: Place): string {
  const directory = backupDirectory(place);
  if (place.backup.to === undefined) mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  else assertDirectory(directory);
  return directory;
}

function assertDirectory(directory: string): void {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new ConfigError(
      `backup.to: there is no directory ${directory}; create it, or mount the disk that it is on`,
    );
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch {
    throw new ConfigError(
      `backup.to: this user cannot write into ${directory}; let it, or name another directory`,
    );
  }
}

/** `gatewayd-testnet-20261122T081500Z.backup` */
export const backupName = (network: string, now: number): string =>
  `gatewayd-${network}-${new Date(now * 1000).toISOString().replace(/[-:]|\.\d+/g, '')}.backup`;

/**
 * Writes a backup. Throws ConfigError for what the operator has set wrong, DatabaseError where the database cannot be
 * read, CommandError where the disk refuses; then nothing is left of it.
 */
export async function makeBackup({
  config,
  file,
  passphrase,
  now,
  signal,
}: BackupOptions): Promise<MadeBackup> {
  const { database_url } = config;
  if (database_url.startsWith('sqlite:') && !existsSync(pathOf(database_url)))
    throw new ConfigError(`there is no database at ${database_url}`);
  if (existsSync(file)) throw alreadyThere(file);
  const directory = dirname(resolve(file));
  // Containers number their processes alike, so a number is no name of its own.
  const own = `.${randomBytes(NAME_BYTES).toString('hex')}${PARTIAL}`;
  const partial = join(directory, `${basename(file)}${own}`);
  const made: string[] = [partial];
  try {
    await removeAbandoned(directory, now);
    const { kind, secret } = await writeBackup(config, { partial, own, passphrase, now, signal, made });
    await putInPlace(partial, file);
    await syncDirectory(directory);
    return {
      file: resolve(file),
      bytes: statSync(file).size,
      created_at: now,
      kind,
      encrypted: passphrase !== undefined,
      secret,
    };
  } catch (error) {
    throw diskFault(error, file) ?? damage(error) ?? error;
  } finally {
    for (const one of made) await removeSqlite(one);
  }
}

const alreadyThere = (file: string) => new ConfigError(`${file} is there already; name a new file`);

/** A link, unlike a new name, takes the place of no other backup. */
async function putInPlace(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(file)) throw alreadyThere(file);
    // A file system without links.
    await rename(partial, file);
  }
}

const pathOf = (database_url: string): string => database_url.slice('sqlite:'.length);

interface Writing {
  partial: string;
  /** What its files end with, and no others. */
  own: string;
  passphrase: string | undefined;
  now: number;
  signal: AbortSignal | undefined;
  /** Files that go in any case. */
  made: string[];
}

async function writeBackup(
  config: BackupOptions['config'],
  { partial, own, passphrase, now, signal, made }: Writing,
): Promise<{ kind: MadeBackup['kind']; secret: boolean }> {
  const { database_url } = config;
  const is_sqlite = database_url.startsWith('sqlite:');
  const secrets_before = passphrase === undefined ? [] : findSecretTexts(config);
  // What is to be encrypted lies in clear only where the database does.
  const copy = passphrase === undefined ? `${partial}.db` : `${pathOf(database_url)}${own}`;
  if (is_sqlite) {
    made.push(copy);
    await removeAbandoned(dirname(copy), now);
    assertRoom(pathOf(database_url), dirname(copy));
    await copySqlite(pathOf(database_url), copy, signal);
  }
  const books = await openSnapshot(is_sqlite ? `sqlite:${copy}` : database_url);
  try {
    const schema = await stepsDone(books.query);
    if (schema.length === 0) throw new ConfigError('there is nothing in the database yet');
    // It would be taken for one of the books that are in use.
    await assertInUse(books.query);
    const network = (await findMeta(books.query, 'network')) ?? '';
    const kind = books.dialect;
    const deployment = await findMeta(books.query, DEPLOYMENT);
    const header = newHeader(
      { created_at: now, gatewayd: VERSION, kind, network, schema, deployment },
      passphrase !== undefined,
    );
    // While it is rotated, those of before and after the copy open all that is in it.
    const [secret = null, previous_secret = null] =
      passphrase === undefined ? [] : new Set([...findSecretTexts(config), ...secrets_before]);
    const first = Buffer.from(JSON.stringify({ secret, previous_secret }));
    const key = await keyOf(header, passphrase);
    await pipeline(
      contentsOf(books, copy),
      createGzip(),
      (source: AsyncIterable<Buffer>) => sealBackup(header, key, { first, source }),
      createWriteStream(partial, { flags: 'wx', mode: FILE_MODE, flush: true }),
      { signal },
    );
    return { kind, secret: secret !== null };
  } finally {
    await books.close();
  }
}

function contentsOf({ dialect, query }: Snapshot, copy: string): Readable {
  return dialect === 'sqlite' ? createReadStream(copy) : Readable.from(linesOfRows(query));
}

/** A copy that fills the disk of the database would stop the daemon. */
function assertRoom(file: string, directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  const needed = statSync(file).size + SPARE_BYTES;
  if (free < needed)
    throw new CommandError(
      `no room for a backup in ${directory}: ${mib(needed)} MiB are needed for a while, ${mib(free)} MiB are free; nothing was written`,
      EXIT.io,
    );
}

export const mib = (bytes: number): number => Math.ceil(bytes / 1024 / 1024);

/** Killed in the middle, a backup leaves its partial file: it is never taken for a backup. */
async function removeAbandoned(directory: string, now: number): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!ABANDONED.test(name)) continue;
    const { mtimeMs } = await stat(join(directory, name)).catch(() => ({ mtimeMs: now * 1000 }));
    if (now * 1000 - mtimeMs > ABANDONED_MS) await rm(join(directory, name), { force: true });
  }
}

/** A name is as durable as its directory. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => null);
  // Windows opens no directory.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** What SQLite says of a file that is none, or no longer whole; undefined for anything else. */
function damage(error: unknown): CommandError | undefined {
  const { code = '', message } = error as { code?: string; message: string };
  if (!/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return undefined;
  return new CommandError(
    `the database is damaged (${message}); stop the daemon, keep the files as they are, and restore a backup`,
    EXIT.broken_data,
  );
}

/** What a disk says that is full, gone or not ours, in words; undefined for anything else. */
export function diskFault(error: unknown, file: string): CommandError | undefined {
  const { code = '', message } = error as { code?: string; message: string };
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)/.test(code))
    return new CommandError(`the disk of ${file} is full; nothing was left there`, EXIT.io);
  if (/^(EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EISDIR|EIO|EFBIG|SQLITE_(IOERR|CANTOPEN|READONLY))/.test(code))
    return new CommandError(`${file} cannot be written: ${message}; nothing was left there`, EXIT.io);
  return undefined;
}
