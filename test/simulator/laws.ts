// The laws of the books, checked by the code of `gatewayd verify`.
import type { Config } from '../../daemon/settings/config.ts';
import { verifyInput } from '../../daemon/verify/books.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import type { BrokenRow } from '../../data/verify/law.ts';
import { verifyLaws } from '../../data/verify/verify.ts';

export interface Broken {
  law: string;
  text: string;
}

/** What takes one statement over few rows; the others are checked at the end. */
export const CHEAP_LAWS = [2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 15, 18, 19, 20] as const;

export interface LawOptions {
  config: Pick<Config, 'database_url' | 'data_dir' | 'secret' | 'network' | 'gateways' | 'chains'>;
  /** Unix seconds of the daemon's clock. */
  now: number;
  /** When the daemon was started last, by its clock, Unix seconds. */
  started_at: number;
  /** False where its clock was ever wrong by more than it must bear. */
  clock_trusted: boolean;
  laws?: readonly number[] | undefined;
  /** Whether the world made a row what it is, and the daemon rightly shows it. */
  isCaused(row: BrokenRow): boolean;
}

/** Every law that a committed state breaks. */
export async function brokenLaws({ config, now, laws, isCaused, ...known }: LawOptions): Promise<Broken[]> {
  const snapshot = await openSnapshot(config.database_url);
  try {
    const input = { ...(await verifyInput(snapshot, config, now)), ...known };
    const results = await verifyLaws(input, { laws });
    return results.flatMap(({ law, broken, unchecked }) => [
      ...broken
        .filter(({ rows }) => !rows.every(isCaused))
        .map(({ says, count, rows }) => ({
          law: `law-${law}`,
          text: `${count}: ${says}; ${JSON.stringify(rows.slice(0, ROWS_SHOWN))}`,
        })),
      ...unchecked.map((reason) => ({ law: `law-${law}`, text: `not checked: ${reason}` })),
    ]);
  } finally {
    await snapshot.close();
  }
}

const ROWS_SHOWN = 3;
