// The data directory and the secret within it: made at the first start, readable by this user only.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Db, Executor } from '../../data/db/open.ts';
import { keepMeta } from '../../data/meta.ts';
import { SECRET_CHECK, secretState } from '../../data/secret.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { MIN_SECRET_LENGTH, openSecretsFrom, type Secrets } from './secrets.ts';

const SECRET_FILE = 'secret';
/** The secret that is to follow, while values are sealed again. */
const NEXT_FILE = 'secret.next';
export const SECRET_BYTES = 32;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** Makes the data directory where it is missing. */
export function prepareDataDir({ data_dir }: Pick<Config, 'data_dir'>): void {
  // For the files that SQLite creates next to its database, too.
  process.umask(0o077);
  try {
    makeDirectory(resolve(data_dir));
  } catch (error) {
    throw new ConfigError(`the data directory ${data_dir} cannot be created: ${(error as Error).message}`);
  }
}

/** With what leads to it. One step at a time: below `/proc` Node.js 20 would try for ever to make them all. */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  makeDirectory(dirname(directory));
  try {
    mkdirSync(directory, { mode: DIRECTORY_MODE });
  } catch (error) {
    // Another daemon that starts made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Where the secret is from: settings, or files in the data directory. */
export type SecretPlace = Pick<Config, 'data_dir' | 'secret' | 'previous_secret'> &
  Partial<Pick<Config, 'secret_as_written' | 'previous_secret_as_written'>>;

/** From the configured secret, or from the one stored in the data directory, which is made where it is missing. */
export function openSecrets(place: SecretPlace): Secrets {
  const file = join(place.data_dir, SECRET_FILE);
  if (place.secret === undefined && !existsSync(file))
    atFile(file, () => putSecret(file, randomBytes(SECRET_BYTES).toString('hex')));
  return openSecretsFrom(() => findSecretTexts(place));
}

/**
 * The secrets that are configured, or stored in the data directory, the newest first: two while the secret is rotated,
 * none where none was made yet.
 */
export function findSecretTexts({ data_dir, secret, previous_secret, ...as_written }: SecretPlace): string[] {
  const { secret_as_written, previous_secret_as_written } = as_written;
  const configured = [secret, previous_secret, secret_as_written, previous_secret_as_written];
  if (secret !== undefined) return unique(configured.filter((text) => text !== undefined));
  // In this order: the next one takes the place of the other in one step, so that no moment shows neither.
  return unique([NEXT_FILE, SECRET_FILE].flatMap((name) => readSecret(join(data_dir, name)) ?? []));
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

function readSecret(file: string): string | undefined {
  return atFile(file, () => {
    let stored: string;
    try {
      stored = readFileSync(file, 'utf8').trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    if (stored.length < MIN_SECRET_LENGTH) throw new Error('it is empty or too short');
    return stored;
  });
}

/** Puts secrets, the newest first, into a data directory that has none. */
export function storeSecrets(data_dir: string, texts: readonly string[]): void {
  const [newest, previous] = texts;
  if (newest === undefined) return;
  if (previous !== undefined) storeNextSecret(data_dir, newest);
  const file = join(data_dir, SECRET_FILE);
  atFile(file, () => putSecret(file, previous ?? newest));
}

/** Stores the secret that is to follow, durably, unless there is one already: that one stays. */
export function storeNextSecret(data_dir: string, text = randomBytes(SECRET_BYTES).toString('hex')): void {
  const file = join(data_dir, NEXT_FILE);
  atFile(file, () => putSecret(file, text));
}

/** The next secret takes the place of the one before, in one step. Nothing happens where there is none. */
export function promoteNextSecret(data_dir: string): void {
  const file = join(data_dir, NEXT_FILE);
  if (!existsSync(file)) return;
  atFile(file, () => {
    renameSync(file, join(data_dir, SECRET_FILE));
    syncDirectory(data_dir);
  });
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
  syncDirectory(dirname(file));
}

/** A name is as durable as its directory. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** What is derived from the secret; null where none was made yet. */
export function findSecrets(place: SecretPlace): Secrets | null {
  return findSecretTexts(place).length === 0 ? null : openSecretsFrom(() => findSecretTexts(place));
}

/**
 * Takes over which secret is in force. Throws ConfigError where the database belongs to another one, and where one that was
 * replaced is set as the one to follow: no one may return to a secret that has leaked without noticing.
 */
export async function assertSecretMatches(db: Db, secrets: Secrets, data_dir: string): Promise<void> {
  await keepMeta(db.query, SECRET_CHECK, secrets.check);
  if (!(await followSecret(db.query, secrets)))
    throw new ConfigError(
      `the secret is not the one this database was created with, or rotated to since; set the right one in secret or ${join(data_dir, SECRET_FILE)}`,
    );
  if ((await secretState(db.query))?.past.includes(secrets.newest_check)) throw new ConfigError(REPLACED);
}

const REPLACED =
  'the secret was replaced by `gatewayd secret rotate` before, and is not used again; set the one that replaced it as secret, and take previous_secret (in a data directory: secret.next) away';

/** Takes over what the database says of its secret; false where it is none of those known here. */
export async function followSecret(query: Executor, secrets: Secrets): Promise<boolean> {
  const state = await secretState(query);
  return state === undefined || secrets.follow(state);
}

/** Throws ConfigError where the database was made on the other network: its addresses and invoices belong there. */
export async function assertNetworkMatches(db: Db, { network }: Pick<Config, 'network'>): Promise<void> {
  const made = await keepMeta(db.query, 'network', network);
  if (made !== network)
    throw new ConfigError(
      `the database was created with network ${made}, but ${network} is configured; use another data_dir or database_url for ${network}`,
    );
}
