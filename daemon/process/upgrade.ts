// Before a schema is changed: a way back. A SQLite file is copied next to it; PostgreSQL needs a backup that is known.
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { copySqlite, removeSqlite } from '../../data/db/copy.ts';
import type { Db } from '../../data/db/open.ts';
import { findMeta, LAST_BACKUP_AT } from '../../data/meta.ts';
import { migrate, pendingSteps, schemaStanding, stepsDone } from '../../data/migrations/migrate.ts';
import { diskFault, syncDirectory } from '../backup/backup.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { announceOnce } from './signals.ts';

/** A backup that was made longer ago is no way back. */
const BACKUP_COUNTS_SECONDS = 24 * 3600;

export interface Upgraded {
  /** Steps that were applied. */
  steps: string[];
  /** Where the database is as it was before; null where there was none, or nothing to do. */
  copy: string | null;
}

export interface UpgradeOptions {
  config: Pick<Config, 'database_url'>;
  /** The operator answers for a way back. */
  yes: boolean;
  /** Unix seconds. */
  now: number;
}

/**
 * Brings the schema up to date. Throws ConfigError where PostgreSQL has an older schema and no backup of the last day is
 * known, CommandError where the disk has no room for a copy, and what `migrate` throws; then nothing was changed.
 */
export async function upgrade(db: Db, { config, yes, now }: UpgradeOptions): Promise<Upgraded> {
  // Nearly every start: one statement tells that nothing is to be done. A database without a schema refuses it.
  const standing = await schemaStanding(db.query).catch(() => null);
  if (standing?.state === 'ok' || standing?.state === 'newer') return { steps: [], copy: null };
  const done = await stepsDone(db.query);
  const from = done.at(-1);
  const to = (await pendingSteps(db)).at(-1);
  let copy: string | null = null;
  if (from !== undefined && to !== undefined) {
    if (db.dialect === 'sqlite') copy = await copyBefore(config.database_url.slice('sqlite:'.length), from);
    else if (!yes) await assertBackup(db, { from, to, now });
  }
  const steps = await migrate(db);
  // Those that still run look each few seconds; those that hear it do so at once.
  await announceOnce(db, 'schema').catch(() => undefined);
  return { steps, copy };
}

/** `gatewayd.db.schema-0005`: one for each schema, of the last attempt to leave it. */
async function copyBefore(file: string, from: string): Promise<string | null> {
  if (file === ':memory:') return null;
  const copy = `${file}.schema-${from.split('-')[0]}`;
  const draft = `${copy}.partial`;
  try {
    await copySqlite(file, draft);
    await rename(draft, copy);
    await syncDirectory(dirname(copy));
    return copy;
  } catch (error) {
    await removeSqlite(draft);
    throw diskFault(error, copy) ?? error;
  }
}

async function assertBackup(db: Db, { from, to, now }: { from: string; to: string; now: number }) {
  const last = await findMeta(db.query, LAST_BACKUP_AT);
  if (last !== undefined && now - Number(last) <= BACKUP_COUNTS_SECONDS) return;
  const known =
    last === undefined
      ? 'no backup is known'
      : `the last backup that is known is of ${new Date(Number(last) * 1000).toISOString().replace('.000', '')}`;
  throw new ConfigError(
    `the database has schema ${from}, and this gatewayd would bring it to ${to}, which cannot be taken back: ${known}. Run \`gatewayd backup\` first (with this version, while the old one runs), or \`gatewayd migrate --yes\` where you have another backup. Nothing was changed`,
  );
}
