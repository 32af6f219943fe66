// The data directory and the secret within it: made at the first start, readable by this user only.

import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../data/db/open.ts';
import { keepMeta } from '../../data/meta.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { createSecrets, MIN_SECRET_LENGTH, type Secrets } from './secrets.ts';

const SECRET_FILE = 'secret';
const SECRET_BYTES = 32;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** Makes the data directory where it is missing. */
export function prepareDataDir({ data_dir }: Pick<Config, 'data_dir'>): void {
  // For the files that SQLite creates next to its database, too.
  process.umask(0o077);
  try {
    const made = mkdirSync(data_dir, { recursive: true, mode: DIRECTORY_MODE });
    if (made !== undefined) chmodSync(data_dir, DIRECTORY_MODE);
  } catch (error) {
    throw new ConfigError(`the data directory ${data_dir} cannot be created: ${(error as Error).message}`);
  }
}

/** From the configured secret, or from the one stored in the data directory, which is made where it is missing. */
export function openSecrets(config: Pick<Config, 'data_dir' | 'secret'>): Secrets {
  const file = join(config.data_dir, SECRET_FILE);
  if (config.secret === undefined && !existsSync(file))
    atFile(file, () => putSecret(file, randomBytes(SECRET_BYTES).toString('hex')));
  return createSecrets(findSecret(config) ?? '');
}

/** The secret that is configured, or stored in the data directory; undefined where none was made yet. */
export function findSecret({ data_dir, secret }: Pick<Config, 'data_dir' | 'secret'>): string | undefined {
  const file = join(data_dir, SECRET_FILE);
  if (secret !== undefined || !existsSync(file)) return secret;
  return atFile(file, () => {
    const stored = readFileSync(file, 'utf8').trim();
    if (stored.length < MIN_SECRET_LENGTH) throw new Error('it is empty or too short');
    return stored;
  });
}

/** Puts a secret into a data directory that has none. */
export function storeSecret(data_dir: string, text: string): void {
  const file = join(data_dir, SECRET_FILE);
  atFile(file, () => putSecret(file, text));
}

function atFile<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new ConfigError(`the secret in ${file} cannot be used: ${(error as Error).message}`);
  }
}

/** It appears whole, and once: daemons that start at the same moment share the one that came first. */
function putSecret(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${text}\n`, { mode: FILE_MODE, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    // A file system without links: then at least no other secret is replaced.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      writeFileSync(file, `${text}\n`, { mode: FILE_MODE, flag: 'wx', flush: true });
  } finally {
    rmSync(draft);
  }
}

/** What is derived from the secret; null where none was made yet. */
export function findSecrets(config: Pick<Config, 'data_dir' | 'secret'>): Secrets | null {
  const text = findSecret(config);
  return text === undefined ? null : createSecrets(text);
}

/** Throws ConfigError where the database belongs to another secret. */
export async function assertSecretMatches(db: Db, secrets: Secrets, data_dir: string): Promise<void> {
  if ((await keepMeta(db.query, 'secret_check', secrets.check)) !== secrets.check)
    throw new ConfigError(
      `the secret is not the one this database was created with; set the right one in secret or ${join(data_dir, SECRET_FILE)}`,
    );
}

/** Throws ConfigError where the database was made on the other network: its addresses and invoices belong there. */
export async function assertNetworkMatches(db: Db, { network }: Pick<Config, 'network'>): Promise<void> {
  const made = await keepMeta(db.query, 'network', network);
  if (made !== network)
    throw new ConfigError(
      `the database was created with network ${made}, but ${network} is configured; use another data_dir or database_url for ${network}`,
    );
}
