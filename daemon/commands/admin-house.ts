// `gatewayd admin house`: marks a merchant as the operator's own shop, also while the daemon runs.
import { openDb } from '../../data/db/open.ts';
import { getMerchant } from '../../data/merchants.ts';
import { pendingSteps } from '../../data/migrations/migrate.ts';
import { getUser, usersByEmail } from '../../data/users.ts';
import { normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { merchantOf } from '../accounts/create.ts';
import { assertInUse } from '../move/mark.ts';
import { assertSecretMatches, openSecrets } from '../process/data-dir.ts';
import { ConfigError } from '../settings/config.ts';
import { markAsHouse } from '../settle/settle.ts';
import { configAtHome } from './options.ts';

/** Takes an email address or a user id; prints whom it found and what it is now. Throws ConfigError. */
export async function adminHouse(
  who: string,
  options: Record<string, unknown> & { off?: boolean; json?: boolean },
): Promise<void> {
  const { config } = configAtHome(options, 'writes');
  const db = await openDb(config.database_url);
  try {
    if ((await pendingSteps(db)).length > 0)
      throw new ConfigError('the schema is older than this gatewayd; run `gatewayd migrate` first');
    await assertInUse(db.query);
    const byId = await getUser(db.query, who.trim());
    const found = byId ? [byId] : await usersByEmail(db.query, normalizeEmail(who));
    const [user] = found;
    if (!user) throw new ConfigError(`there is no user ${who}`);
    if (found.length > 1)
      throw new ConfigError(
        `${found.length} users have the address ${who}; name one by its id:\n${found
          .map(({ id, source }) => `  ${id}  signs in by ${source}`)
          .join('\n')}`,
      );
    const secrets = openSecrets(config);
    await assertSecretMatches(db, secrets, config.data_dir);
    const clock = { ms: Date.now };
    const { slug } = await merchantOf({ db, clock, secrets }, user);
    const house = !options.off;
    const { changed } = await markAsHouse({ db, clock }, { merchant_id: user.id, house });
    const house_since = (await getMerchant(db.query, user.id))?.house_since ?? null;
    const shown = { user_id: user.id, email: user.email, source: user.source, slug, house, house_since };
    if (options.json) process.stdout.write(`${JSON.stringify({ ...shown, changed })}\n`);
    else process.stdout.write(`${sentence(shown, changed)}\n`);
  } finally {
    await db.close();
  }
}

function sentence(
  { slug, email, user_id, house }: { slug: string; email: string; user_id: string; house: boolean },
  changed: boolean,
): string {
  const name = `${slug} (${email}, ${user_id})`;
  const now = house
    ? 'of the house: its sales have neither limit nor fee'
    : 'like any other: its sales need prepaid limit and cost the fee';
  return `${name} is ${changed ? 'now' : 'already'} ${now}`;
}
