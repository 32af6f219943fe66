// Holds a backup against all that a restore of it would ask, without one: nothing of it stays, and no live data is touched.
import { randomBytes } from 'node:crypto';
import { createReadStream, existsSync, fstatSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDb } from '../../data/db/open.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { findMeta } from '../../data/meta.ts';
import { migrateFilled } from '../../data/migrations/migrate.ts';
import { SECRET_CHECK } from '../../data/secret.ts';
import type { LawResult } from '../../data/verify/verify.ts';
import { findSecretTexts } from '../process/data-dir.ts';
import { createSecrets } from '../process/secrets.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { diskFault } from './backup.ts';
import { type Header, keyOf, readBackup } from './container.ts';
import { bringUpToDate, type DraftOptions, fillRows, lawsOfFile, lawsOfRows, writeDraft } from './draft.ts';
import { assertKnown, openBackup, secretsIn } from './restore.ts';

/** In a directory that others share, too, where nothing else has such a name. */
const CHECKING = '.gatewayd-checking-';
/** What a check that was killed has left is removed by a later one, when it is as old. */
const ABANDONED_MS = 24 * 3600_000;
const SCHEMA_BYTES = 6;

export interface CheckOptions extends DraftOptions {
  file: string;
  /** The file where it is open already, as by a user who may read what others may not. */
  handle?: number;
  passphrase?: string | undefined;
}

export interface CheckedBackup {
  header: Header;
  bytes: number;
  encrypted: boolean;
  /** Where the secret is that a restore needs: in the backup, or set here; else what a restore lacks. */
  secret: 'in the backup' | 'set here' | 'missing' | 'another is set here';
  laws: LawResult[];
  /** Whether nothing is broken; laws that need a secret which is not here are left out. */
  ok: boolean;
}

/**
 * Checks a backup. Throws CommandError for a damaged file, a wrong passphrase, a damaged database and a disk that refuses,
 * ConfigError for a newer schema, and where a backup of PostgreSQL has no server to be checked on.
 */
export async function checkBackup(options: CheckOptions): Promise<CheckedBackup> {
  const { file, passphrase, config } = options;
  const handle = options.handle ?? openBackup(file);
  // Before the stream, which closes it at its end.
  const bytes = fstatSync(handle).size;
  const stream = createReadStream(file, { fd: handle });
  try {
    const { header, unlock } = await readBackup(stream as AsyncIterable<Buffer>);
    const { first, rest } = await unlock(await keyOf(header, passphrase));
    assertKnown(header);
    const stored = secretsIn(first);
    const place = placeOf(config, header, stored);
    const examine = header.kind === 'sqlite' ? examineFile : examineRows;
    const { laws, is_ours } = await examine({ ...options, config: place }, { header, rest });
    return {
      header,
      bytes,
      encrypted: header.scrypt !== null,
      secret:
        stored.length > 0
          ? 'in the backup'
          : is_ours
            ? 'set here'
            : findSecretTexts(place).length > 0
              ? 'another is set here'
              : 'missing',
      laws,
      ok: laws.every(({ count }) => count === 0),
    };
  } finally {
    stream.destroy();
  }
}

/** The settings that a restore of it would have. */
function placeOf(config: Config, { network }: Header, [secret, previous_secret]: readonly string[]): Config {
  const of_network = network === '' ? config.network : (network as Config['network']);
  if (secret === undefined) return { ...config, network: of_network };
  return {
    ...config,
    network: of_network,
    secret,
    previous_secret,
    secret_as_written: undefined,
    previous_secret_as_written: undefined,
  };
}

interface Contents {
  header: Header;
  rest: AsyncGenerator<Buffer>;
}

interface Examined {
  laws: LawResult[];
  /** Whether the secret is known here. */
  is_ours: boolean;
}

/** Whether one of the secrets here is that of a database with this proof; one that was never started has none. */
const isOurs = (config: Config, proof: string | undefined): boolean =>
  findSecretTexts(config).some((text) => proof === undefined || createSecrets(text).check === proof);

const without = (is_ours: boolean, config: Config) =>
  is_ours
    ? undefined
    : {
        missing:
          findSecretTexts(config).length === 0
            ? 'the secret is neither in this backup nor set here'
            : 'the secret is not in this backup, and another is set here',
      };

async function examineFile(options: CheckOptions, { rest }: Contents): Promise<Examined> {
  const { config, now, signal } = options;
  const parent = existsSync(config.data_dir) ? config.data_dir : tmpdir();
  let directory: string | undefined;
  try {
    await removeAbandoned(parent, now);
    directory = await mkdtemp(join(parent, CHECKING));
    const draft = join(directory, 'gatewayd.db');
    const url = `sqlite:${draft}`;
    await writeDraft(rest, draft, { signal, is_guest: true });
    await bringUpToDate(url);
    signal?.throwIfAborted();
    const books = await openSnapshot(url);
    const proof = await findMeta(books.query, SECRET_CHECK).finally(() => books.close());
    const is_ours = isOurs(config, proof);
    const laws = await lawsOfFile(url, options, without(is_ours, config));
    signal?.throwIfAborted();
    return { laws, is_ours };
  } catch (error) {
    throw diskFault(error, parent) ?? error;
  } finally {
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }
}

async function removeAbandoned(parent: string, now: number): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(CHECKING)) continue;
    const { mtimeMs } = await stat(join(parent, name)).catch(() => ({ mtimeMs: now * 1000 }));
    if (now * 1000 - mtimeMs > ABANDONED_MS) await rm(join(parent, name), { recursive: true, force: true });
  }
}

/** In a schema of its own within one transaction, which is rolled back: the server forgets it, however this process ends. */
async function examineRows(options: CheckOptions, { header, rest }: Contents): Promise<Examined> {
  const { config, signal } = options;
  if (config.database_url.startsWith('sqlite:'))
    throw new ConfigError(
      'the file is whole up to here, but a backup of PostgreSQL is checked on a server: name any database there with --database-url postgres://…; nothing stays in it',
    );
  const db = await openDb(config.database_url);
  const apart = `gatewayd_check_${randomBytes(SCHEMA_BYTES).toString('hex')}`;
  let examined: Examined = { laws: [], is_ours: false };
  try {
    await migrateFilled(db, header.schema.at(-1) ?? '', {
      apart,
      fill: (query) => fillRows(query, apart, { rest, signal }),
      async accept(query) {
        const is_ours = isOurs(config, await findMeta(query, SECRET_CHECK));
        examined = { laws: await lawsOfRows(query, options, without(is_ours, config)), is_ours };
        signal?.throwIfAborted();
        return false;
      },
    });
    return examined;
  } finally {
    await db.close();
  }
}
