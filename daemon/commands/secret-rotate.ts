// `gatewayd secret rotate`: replaces the secret of a deployment while its daemons run.
import { text } from 'node:stream/consumers';
import { type Db, openDb } from '../../data/db/open.ts';
import { pendingSteps } from '../../data/migrations/migrate.ts';
import { type SecretState, secretState } from '../../data/secret.ts';
import { assertInUse } from '../move/mark.ts';
import {
  assertSecretMatches,
  findSecrets,
  findSecretTexts,
  promoteNextSecret,
  storeNextSecret,
} from '../process/data-dir.ts';
import { isLocked } from '../process/instance-lock.ts';
import { endSignatures, type Rotated, rotateSecret } from '../process/rotate-secret.ts';
import { systemRuntime } from '../process/runtime.ts';
import { createSecrets, MIN_SECRET_LENGTH, type Secrets } from '../process/secrets.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { configAtHome } from './options.ts';

interface Options {
  new?: boolean;
  atOnce?: boolean;
  json?: boolean;
}

/** Prints what was done. Throws ConfigError where it cannot be begun or ended; running it again continues. */
export async function secretRotate(options: Record<string, unknown> & Options): Promise<void> {
  const { config } = configAtHome(options, 'writes');
  process.umask(0o077);
  const secrets = findSecrets(config);
  if (!secrets) throw new ConfigError('there is no secret yet; it is made at the first start');
  const db = await openDb(config.database_url);
  try {
    if ((await pendingSteps(db)).length > 0)
      throw new ConfigError('the schema is older than this gatewayd; run `gatewayd migrate` first');
    await assertInUse(db.query);
    await assertSecretMatches(db, secrets, config.data_dir);
    const state = await secretState(db.query);
    if (!state) throw new ConfigError('there is no daemon here yet: run gatewayd start first');
    const done = await rotate({ db, config, secrets, state }, options);
    process.stdout.write(
      options.json ? `${JSON.stringify(done)}\n` : `${linesOf(done, config, options).join('\n')}\n`,
    );
  } finally {
    await db.close();
  }
}

interface Deployment {
  db: Db;
  config: Config;
  secrets: Secrets;
  state: SecretState;
}

/** Null where there was nothing left to do. */
async function rotate(deployment: Deployment, options: Options): Promise<Rotated | null> {
  const { db, config, secrets, state } = deployment;
  const is_configured = config.secret !== undefined;
  const at_once = options.atOnce === true;
  const clock = { ms: Date.now };
  if (options.new && is_configured)
    throw new ConfigError('--new: the secret is in the settings; set the new one there');
  const is_last = state.previous === null && state.current === secrets.newest_check;
  if (is_last && is_configured) {
    if (config.previous_secret === undefined) throw new ConfigError(STEPS);
    if (at_once) await endSignatures({ db, secrets, clock });
    return null;
  }
  if (is_last && findSecretTexts(config).length > 1) {
    // All was sealed: only the last step is left.
    promoteNextSecret(config.data_dir);
    if (at_once) await endSignatures({ db, secrets, clock });
    return null;
  }
  if (is_last) {
    storeNextSecret(config.data_dir, options.new ? await newSecret(secrets, state) : undefined);
    secrets.reload();
  } else if (options.new)
    throw new ConfigError('--new: a rotation is under way; run it again without --new to end it first');
  if (state.previous !== null && state.current !== secrets.newest_check)
    throw new ConfigError('secret and previous_secret are the wrong way round: secret is the new one');
  const advice = is_configured
    ? 'restart it with the new one as secret and the old one as previous_secret'
    : `copy ${config.data_dir}/secret.next to its data directory`;
  const is_running = () => isLocked(config.database_url);
  const done = await rotateSecret({
    db,
    secrets,
    clock,
    runtime: systemRuntime,
    is_running,
    is_followed: !is_configured,
    at_once,
    advice,
  });
  if (!is_configured) promoteNextSecret(config.data_dir);
  return done;
}

const STEPS = `the secret is in the settings, so a new one is set there:
  1. set the new one as secret and this one as previous_secret, for every daemon, and restart them one after the other
  2. run gatewayd secret rotate again, with the same settings`;

async function newSecret(secrets: Secrets, { past }: SecretState): Promise<string> {
  const given = (await text(process.stdin)).trim();
  if (given.length < MIN_SECRET_LENGTH)
    throw new ConfigError(`--new: the secret must have at least ${MIN_SECRET_LENGTH} characters`);
  if (secrets.isKnown(given)) throw new ConfigError('--new: that is the secret now');
  if (past.includes(createSecrets(given).check))
    throw new ConfigError('--new: that secret was replaced before; set one that was never in use');
  return given;
}

const ENDED = 'sessions, mail links and invites that the old one has signed have ended';

/** Where a daemon on another machine has its own copy: with it as `secret.next` alone it could not follow the next rotation. */
const COPIES =
  'in each other data directory that secret.next was copied to, it takes the place of the old one: mv secret.next secret';

function linesOf(done: Rotated | null, config: Config, { atOnce }: Options): string[] {
  const last =
    config.secret === undefined
      ? `the new secret is in ${config.data_dir}/secret; the old one is gone from there`
      : 'previous_secret may be taken out of the settings now';
  if (done === null)
    return ['every value is sealed with the new secret already', ...(atOnce ? [ENDED] : []), last];
  const { daemons, values, tokens_until, webhooks_until } = done;
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  return [
    `${values} values are sealed with the new secret, and ${daemons} running ${daemons === 1 ? 'daemon follows' : 'daemons follow'}`,
    tokens_until === null
      ? ENDED
      : `sessions, mail links and invites that the old one has signed end by ${time(tokens_until)}`,
    webhooks_until === null
      ? 'webhooks of the platform key are signed with the new one only: `gatewayd config --show-webhook-secret`'
      : `webhooks of the platform key are signed with both until ${time(webhooks_until)}: \`gatewayd config --show-webhook-secret\` shows the new one`,
    last,
    ...(config.secret === undefined && !config.database_url.startsWith('sqlite:') ? [COPIES] : []),
    'backups without a passphrase that were made before need the old secret: make a new one with `gatewayd backup`',
  ];
}
