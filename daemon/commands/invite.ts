// `gatewayd invite`: makes an invite for one email address, also while the daemon runs.
import { openDb } from '../../data/db/open.ts';
import { pendingSteps } from '../../data/migrations/migrate.ts';
import { userByIdentity } from '../../data/users.ts';
import { emailError, normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { detectIdentity } from '../../src/identity.ts';
import { issueInviteToken } from '../http/tokens.ts';
import { assertInUse } from '../move/mark.ts';
import { assertSecretMatches, findSecrets } from '../process/data-dir.ts';
import { ConfigError } from '../settings/config.ts';
import { configAtHome } from './options.ts';

const MAX_DAYS = 365;
const DAY_SECONDS = 24 * 3600;

/**
 * Prints the invite with the command that uses it. It works once, because an address is registered once. Throws ConfigError
 * where it could not be used.
 */
export async function invite(
  address: string,
  options: Record<string, unknown> & { days: string; json?: boolean },
): Promise<void> {
  const { config } = configAtHome(options, 'writes');
  const days = Number(options.days);
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS)
    throw new ConfigError(`--days: must be a whole number from 1 to ${MAX_DAYS}`);
  const email = normalizeEmail(address);
  const fault = emailError(email);
  if (fault) throw new ConfigError(`${address}: ${fault}`);
  const source = detectIdentity(email)?.source ?? 'email';
  if (source === 'google' && config.google.client_id === undefined)
    throw new ConfigError(
      `${email} signs in with Google, which is not configured (google.client_id); choose another address`,
    );
  if (config.signup === 'closed')
    throw new ConfigError(
      'sign-up is closed, so no invite would work: set signup to invite (GATEWAYD_SIGNUP=invite) and start the daemon with it',
    );
  const secrets = findSecrets(config);
  if (!secrets) throw new ConfigError('there is no daemon here yet: run gatewayd start first');
  const db = await openDb(config.database_url);
  try {
    if ((await pendingSteps(db)).length > 0)
      throw new ConfigError(
        'the database is not of this version: run gatewayd start or gatewayd migrate first',
      );
    await assertInUse(db.query);
    await assertSecretMatches(db, secrets, config.data_dir);
    if (source === 'email' && (await userByIdentity(db.query, 'email', email)))
      throw new ConfigError(`${email} has an account already`);
    const clock = { ms: Date.now, monotonic_ms: () => performance.now() };
    const token = await issueInviteToken({ clock, secrets }, email, days * DAY_SECONDS);
    const expires_at = Math.floor(clock.ms() / 1000) + days * DAY_SECONDS;
    const command =
      source === 'google'
        ? `gw login --url ${config.public_url} --google-token ID_TOKEN --invite ${token}`
        : `gw signup --url ${config.public_url} --email ${email} --invite ${token}`;
    const made = { email, invite: token, expires_at, command };
    process.stdout.write(options.json ? `${JSON.stringify(made)}\n` : shown(made));
  } finally {
    await db.close();
  }
}

const shown = ({ email, invite, expires_at, command }: Record<string, string | number>): string =>
  `email    ${email}
expires  ${new Date(Number(expires_at) * 1000).toISOString()}
invite   ${invite}

Send it to them. They sign up with:
  ${command}
`;
