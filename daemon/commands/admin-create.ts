// `gatewayd admin create`: makes a superuser, also while the daemon runs; asks before it changes someone who is there.
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { openDb } from '../../data/db/open.ts';
import { pendingSteps } from '../../data/migrations/migrate.ts';
import type { UserRow } from '../../data/schema/tables.ts';
import { userByIdentity } from '../../data/users.ts';
import { emailError, normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { putSuperuser } from '../accounts/superuser.ts';
import { assertInUse } from '../move/mark.ts';
import { prepareDataDir } from '../process/data-dir.ts';
import { lockDatabase } from '../process/instance-lock.ts';
import { upgrade } from '../process/upgrade.ts';
import { ConfigError } from '../settings/config.ts';
import { configAtHome } from './options.ts';

const passwordSchema = z.string().min(8).max(128);

/** Prints the new superuser; a password that was made here is part of it, and is shown nowhere else. */
export async function adminCreate(
  options: Record<string, unknown> & {
    email: string;
    passwordStdin?: boolean;
    yes?: boolean;
    json?: boolean;
  },
): Promise<void> {
  const { config } = configAtHome(options, 'writes');
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
    await assertInUse(db.query);
    const known = await userByIdentity(db.query, 'email', normalizeEmail(options.email));
    if (known && !options.yes) await agree(known);
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

/** Asks before someone who is there is given another password, or more rights. Throws ConfigError where that is not agreed to. */
async function agree({ email, is_superuser }: UserRow): Promise<void> {
  const what = is_superuser
    ? `${email} is already a superuser: this sets a new password and ends every session`
    : `${email} is a merchant: this makes it an operator, sets a new password and ends every session`;
  const isAsked = process.stdin.isTTY && process.stderr.isTTY;
  if (!isAsked) throw new ConfigError(`${what}. Nothing was changed; add --yes to do it`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${what}. Do it? [y/N] `).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw new ConfigError('nothing was changed');
}
