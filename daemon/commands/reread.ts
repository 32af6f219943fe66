// `gatewayd reread`: has a blockchain read again after a reorganisation too deep to follow, or a test chain that was reset.
import { existsSync } from 'node:fs';
import { type Db, openDb } from '../../data/db/open.ts';
import { pendingSteps } from '../../data/migrations/migrate.ts';
import { planReread, type Reread, type RereadPlan, rereadBlockchain } from '../../data/reread.ts';
import { assertInUse } from '../move/mark.ts';
import { lockDatabase } from '../process/instance-lock.ts';
import { ConfigError } from '../settings/config.ts';
import { configAtHome, timeOf } from './options.ts';

/**
 * Prints what is done, or with `dryRun` what would be. On SQLite no daemon may run; on PostgreSQL one that does reads
 * again with its next reading. Throws ConfigError.
 */
export async function reread(
  blockchain: string,
  options: Record<string, unknown> & { since?: string; dryRun?: boolean },
): Promise<void> {
  const { database_url, chains } = configAtHome(options, 'writes').config;
  const known = chains.blockchains.map(({ id }) => id);
  if (!known.includes(blockchain))
    throw new ConfigError(`unknown blockchain ${blockchain}; use one of ${known.join(', ')}`);
  const now = Math.floor(Date.now() / 1000);
  const since = options.since === undefined ? null : timeOf(options.since, now);
  if (database_url.startsWith('sqlite:') && !existsSync(database_url.slice('sqlite:'.length)))
    throw new ConfigError(`there is no database at ${database_url}`);
  const lock = lockDatabase(database_url);
  try {
    const db = await openDb(database_url);
    try {
      await printReread(db, { blockchain, since, now }, options.dryRun === true);
    } finally {
      await db.close();
    }
  } finally {
    lock.release();
  }
}

async function printReread(db: Db, asked: Reread, isDry: boolean): Promise<void> {
  if ((await pendingSteps(db)).length > 0)
    throw new ConfigError('the schema is not up to date; run `gatewayd migrate` first');
  await assertInUse(db.query);
  const plan = isDry
    ? await planReread(db.query, asked)
    : await db.transaction((tx) => rereadBlockchain(tx, asked));
  for (const line of linesOf(asked, plan, isDry)) process.stdout.write(`${line}\n`);
}

function linesOf({ blockchain }: Reread, plan: RereadPlan, isDry: boolean): string[] {
  const { cursor, watched, from, ranges, accounts, transfers } = plan;
  const will = isDry ? 'would be' : 'is';
  const were = isDry ? 'would be' : 'were';
  if (!cursor) return [`${blockchain} was never read: there is nothing to read again`];
  const at = cursor.height === null ? 'nowhere' : `at block ${cursor.height}`;
  return [
    from === null
      ? `${blockchain} ${will} read again from the first address that is watched next: none is watched now`
      : `${blockchain} ${will} read again from ${shown(from)} on, below ${watched} watched addresses`,
    `reading stood ${at}, proved through ${cursor.read_through === null ? 'nothing' : shown(cursor.read_through)}; ${ranges} ranges and ${accounts} account cursors and proofs ${were} forgotten`,
    `${transfers} transfers in blocks since then ${were} asked for again: those whose block is gone lose it`,
    'no invoice of this blockchain ends before it is read past the end of its time again',
  ];
}

const shown = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000', '');
