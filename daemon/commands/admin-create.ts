// `gatewayd admin create`: makes a superuser, also while the daemon runs.
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { openDb } from '../../data/db/open.ts';
import { pendingSteps } from '../../data/migrations/migrate.ts';
import { emailError } from '../../src/api/describe/identifiers.ts';
import { putSuperuser } from '../accounts/superuser.ts';
import { prepareDataDir } from '../process/data-dir.ts';
import { lockDatabase } from '../process/instance-lock.ts';
import { upgrade } from '../process/upgrade.ts';
import { ConfigError } from '../settings/config.ts';
import { configOf } from './options.ts';

const passwordSchema = z.string().min(8).max(128);

/** Prints the new superuser; a password that was made here is part of it, and is shown nowhere else. */
export async function adminCreate(
  options: Record<string, unknown> & { email: string; passwordStdin?: boolean; json?: boolean },
): Promise<void> {
  const { config } = configOf(options);
  const fault = emailError(options.email);
  if (fault) throw new ConfigError(`--email: ${fault}`);
  const chosen = options.passwordStdin ? (await text(process.stdin)).replace(/\r?\n$/, '') : undefined;
  if (chosen !== undefined && !passwordSchema.safeParse(chosen).success)
    throw new ConfigError('the password must be 8 to 128 characters long');
  prepareDataDir(config);
  const db = await openDb(config.database_url);
  try {
    if ((await pendingSteps(db)).length > 0) {
      const lock = lockDatabase(config.database_url);
      const now = Math.floor(Date.now() / 1000);
      await upgrade(db, { config, yes: false, now }).finally(() => lock.release());
    }
    const made = await putSuperuser({ db, clock: { ms: Date.now } }, options.email, chosen);
    if (options.json) process.stdout.write(`${JSON.stringify(made)}\n`);
    else {
      process.stdout.write(`superuser ${made.email}\n`);
      if (made.password !== null) process.stdout.write(`password  ${made.password}\n`);
    }
  } finally {
    await db.close();
  }
}
