// When a backup is too old: the same for notices and for metrics.
import type { Config } from '../settings/config.ts';
import { durationSeconds } from '../settings/schema.ts';

/** A backup is too old after so many times as long as they are apart, and no sooner than one may take; made by hand, after so long. */
const BACKUPS_MISSED = 2;
const BACKUP_SLACK_SECONDS = 600;
const BACKUP_OLD_SECONDS = 2 * 86_400;

/** How old the last backup may be, seconds. */
export const mostBackupAge = ({ backup: { every } }: Pick<Config, 'backup'>): number =>
  every === undefined
    ? BACKUP_OLD_SECONDS
    : Math.max(BACKUPS_MISSED * durationSeconds(every), BACKUP_SLACK_SECONDS);
