// When a backup is too old: the same for notices and for metrics.
import type { Config } from '../settings/config.ts';
import { durationSeconds } from '../settings/schema.ts';

/** A backup is too old after so many times as long as they are apart; made by hand, after so long. */
const BACKUPS_MISSED = 2;
const BACKUP_OLD_SECONDS = 2 * 86_400;

/** How old the last backup may be, seconds. */
export const mostBackupAge = ({ backup: { every } }: Pick<Config, 'backup'>): number =>
  every === undefined ? BACKUP_OLD_SECONDS : BACKUPS_MISSED * durationSeconds(every);
