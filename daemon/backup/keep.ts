// Which automatic backups stay: the newest, and besides them the last of each of so many hours and days.
import type { Config } from '../settings/config.ts';
import { backupName } from './backup.ts';

/** Of the time in a name, `20261122T081500Z`: what is the same within an hour, and within a day. */
const HOUR_CHARACTERS = 'yyyymmddThh'.length;
const DAY_CHARACTERS = 'yyyymmdd'.length;

const timeIn = (name: string): string => /\d{8}T\d{6}Z/.exec(name)?.[0] ?? '';

/**
 * Of the names of backups, as `backupName` makes them, those that no setting retains at `now` (Unix seconds). One that a clock which
 * was ahead has named takes no place of those that are newer in truth, and stays until its time has come.
 */
export function outdated(
  names: readonly string[],
  { keep, keep_hours, keep_days }: Pick<Config['backup'], 'keep' | 'keep_hours' | 'keep_days'>,
  now: number,
): string[] {
  const present = timeIn(backupName('', now));
  const past = names.filter((name) => timeIn(name) <= present);
  const newest_first = [...past].sort().reverse();
  const staying = new Set(newest_first.slice(0, keep));
  const keepOf = (count: number, characters: number) => {
    const periods = new Set<string>();
    for (const name of newest_first) {
      const period = timeIn(name).slice(0, characters);
      if (periods.has(period)) continue;
      if (periods.size === count) return;
      periods.add(period);
      staying.add(name);
    }
  };
  keepOf(keep_hours, HOUR_CHARACTERS);
  keepOf(keep_days, DAY_CHARACTERS);
  return past.filter((name) => !staying.has(name));
}
