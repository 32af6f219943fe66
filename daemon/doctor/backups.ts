// What is examined of backups that will be made: where they go, whether they can be restored elsewhere, how far back they reach.
import { statSync } from 'node:fs';
import { backupDirectory, openBackupDirectory } from '../backup/backup.ts';
import { ConfigError } from '../settings/config.ts';
import { durationSeconds } from '../settings/schema.ts';
import { type Check, type Examined, type Finding, failed, ok, warning } from './finding.ts';
import { nearestExisting } from './place.ts';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

/** `5 min`, `26 h` or `12 days`. */
export function spanOf(seconds: number): string {
  if (seconds < 2 * HOUR_SECONDS) return `${Math.floor(seconds / MINUTE_SECONDS)} min`;
  if (seconds < 3 * DAY_SECONDS) return `${Math.floor(seconds / HOUR_SECONDS)} h`;
  return `${Math.floor(seconds / DAY_SECONDS)} days`;
}

export const backups: Check = async ({ config }) => {
  const { backup } = config;
  const found: Finding[] = [];
  const place = placeOf(config);
  if (place !== null) found.push(place);
  if (backup.passphrase === undefined)
    found.push(
      warning(
        'backup',
        'backups are not encrypted, and restored only with the secret, which is not in them',
        'set backup.passphrase, and keep it elsewhere than this machine and its backups',
      ),
    );
  const reach = reachOf(config);
  if (reach !== null) found.push(reach);
  return found.length > 0 ? found : [ok('backup', `encrypted, in ${backupDirectory(config)}`)];
};

function placeOf(config: Examined['config']): Finding | null {
  const directory = backupDirectory(config);
  try {
    if (config.backup.to !== undefined) openBackupDirectory(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [says = '', fix = ''] = error.message.split('; ');
    return failed('backup', says, fix);
  }
  const { data_dir, database_url } = config;
  const of_data = [data_dir];
  if (database_url.startsWith('sqlite:')) of_data.push(database_url.slice('sqlite:'.length));
  const diskOf = (path: string) => statSync(nearestExisting(path)).dev;
  if (!of_data.some((path) => diskOf(path) === diskOf(directory))) return null;
  return warning(
    'backup',
    `backups go to ${directory}, on the disk of the data: what takes one takes both`,
    'set backup.to to a directory on another disk, or on one that another machine shares',
  );
}

/** Backups that follow each other closely are soon all of one hour. */
function reachOf({ backup }: Examined['config']): Finding | null {
  const { every, keep, keep_hours, keep_days } = backup;
  if (every === undefined || keep_hours > 0 || keep_days > 0) return null;
  const reach_seconds = keep * durationSeconds(every);
  if (reach_seconds >= DAY_SECONDS) return null;
  return warning(
    'backup',
    `the oldest backup is ${spanOf(reach_seconds)} old: what is noticed later cannot be taken back`,
    'set backup.keep_hours to 24 and backup.keep_days to 30',
  );
}
