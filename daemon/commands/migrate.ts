// `gatewayd migrate`: brings the database schema up to date while no daemon runs on it.
import { existsSync } from 'node:fs';
import { openDb } from '../../data/db/open.ts';
import { pendingSteps } from '../../data/migrations/migrate.ts';
import { prepareDataDir } from '../process/data-dir.ts';
import { lockDatabase } from '../process/instance-lock.ts';
import { upgrade } from '../process/upgrade.ts';
import { configAtHome } from './options.ts';

/** Prints the steps done, or with `dryRun` those that would be. */
export async function migrate(
  options: Record<string, unknown> & { dryRun?: boolean; yes?: boolean },
): Promise<void> {
  const { config } = configAtHome(options, 'writes');
  // A dry run makes nothing: what is not there yet is planned as an empty database.
  const planned = options.dryRun === true && isMissing(config.database_url);
  const url = planned ? 'sqlite::memory:' : config.database_url;
  if (!planned) prepareDataDir(config);
  const lock = lockDatabase(url);
  try {
    const db = await openDb(url);
    try {
      const { steps, copy } = options.dryRun
        ? { steps: await pendingSteps(db), copy: null }
        : await upgrade(db, { config, yes: options.yes === true, now: Math.floor(Date.now() / 1000) });
      for (const step of steps)
        process.stdout.write(`${options.dryRun ? 'would apply' : 'applied'} ${step}\n`);
      if (copy !== null) process.stdout.write(`the database as it was before is in ${copy}\n`);
      if (steps.length === 0) process.stdout.write('the schema is up to date\n');
    } finally {
      await db.close();
    }
  } finally {
    lock.release();
  }
}

const isMissing = (url: string): boolean =>
  url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length));
