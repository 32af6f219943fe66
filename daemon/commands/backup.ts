// `gatewayd backup`: writes a backup, also while the daemon runs.
import { accessSync, constants } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { openDb } from '../../data/db/open.ts';
import { changeMeta, LAST_BACKUP_AT } from '../../data/meta.ts';
import { backupName, type MadeBackup, makeBackup, openBackupDirectory } from '../backup/backup.ts';
import { nearestExisting } from '../doctor/place.ts';
import { CommandError, EXIT } from '../process/failure.ts';
import { MIN_PASSPHRASE_LENGTH } from '../process/secrets.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { interruptible } from './interrupt.ts';
import { configAtHome } from './options.ts';

export interface BackupOptions {
  passphraseStdin?: boolean;
  json?: boolean;
}

/** Prints what was made. Without a name it goes where automatic ones go. */
export async function backup(
  file: string | undefined,
  options: Record<string, unknown> & BackupOptions,
): Promise<void> {
  const { config } = configAtHome(options, 'writes');
  process.umask(0o077);
  const passphrase = await passphraseOf(config, options);
  const now = Math.floor(Date.now() / 1000);
  const name =
    file === undefined ? join(openBackupDirectory(config), backupName(config.network, now)) : resolve(file);
  assertOpen(dirname(name), config);
  const made = await interruptible((signal) => makeBackup({ config, file: name, passphrase, now, signal }));
  const fault = await noteBackup(config, now);
  process.stdout.write(options.json ? `${JSON.stringify(made)}\n` : `${linesOf(made).join('\n')}\n`);
  if (fault !== null)
    process.stderr.write(`gatewayd: the backup is whole, but could not be noted in the database: ${fault}\n`);
}

/** Before anything is read: a command of root runs as the user to whom the data belongs, who may not write everywhere. */
function assertOpen(directory: string, { data_dir }: Config): void {
  try {
    accessSync(nearestExisting(directory), constants.W_OK | constants.X_OK);
  } catch {
    throw new CommandError(
      `${directory} cannot be written by this user (what root runs works as the user to whom ${data_dir} belongs): name a place that is open to it; nothing was touched`,
      EXIT.io,
    );
  }
}

/** From stdin where that is asked for, else from the settings; undefined where there is none. Throws ConfigError. */
export async function passphraseOf(
  config: Config,
  { passphraseStdin }: BackupOptions,
): Promise<string | undefined> {
  if (!passphraseStdin) return config.backup.passphrase;
  const passphrase = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (passphrase.length < MIN_PASSPHRASE_LENGTH)
    throw new ConfigError(`the passphrase must have at least ${MIN_PASSPHRASE_LENGTH} characters`);
  return passphrase;
}

async function noteBackup({ database_url }: Config, now: number): Promise<string | null> {
  try {
    const db = await openDb(database_url);
    await changeMeta(db.query, LAST_BACKUP_AT, String(now)).finally(() => db.close());
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function linesOf({ file, bytes, kind, encrypted, secret }: MadeBackup): string[] {
  const what = kind === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  return [
    `backup of ${what} in ${file}: ${bytes} bytes, ${encrypted ? 'encrypted' : 'not encrypted'}`,
    secret
      ? 'the secret of the deployment is in it: the passphrase is all that a restore needs'
      : encrypted
        ? 'the secret of the deployment is not in it, for there is none here'
        : 'the secret of the deployment is not in it: keep that elsewhere, or give a passphrase',
  ];
}
