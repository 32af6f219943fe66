// What is examined of the database: that it answers and takes writes, its schema, its secret and network, and how old its last backup is.

import { existsSync } from 'node:fs';
import { allCursors } from '../../data/cursors.ts';
import { type DatabaseFault, faultOf } from '../../data/db/failures.ts';
import { DatabaseError } from '../../data/db/open.ts';
import { openSnapshot, type Snapshot } from '../../data/db/snapshot.ts';
import { deadRoutes } from '../../data/dead-routes.ts';
import { findMeta, LAST_BACKUP_AT } from '../../data/meta.ts';
import { pendingSteps, schemaStanding, stepsDone } from '../../data/migrations/migrate.ts';
import { providerLimits } from '../../data/provider-limits.ts';
import { type SecretState, secretState } from '../../data/secret.ts';
import { tryWriteAt } from '../../data/write-probe.ts';
import { mostBackupAge } from '../backup/overdue.ts';
import { WAY_OUT, whyOutOfUse } from '../move/mark.ts';
import { UNKNOWN_SECONDS } from '../observer/dead-routes.ts';
import { PACE_STOPS_NOTHING, pacesOnOffer, shortDepths, storedPace } from '../observer/pace.ts';
import { findSecrets, findSecretTexts } from '../process/data-dir.ts';
import { spanOf } from './backups.ts';
import { type Check, type Examined, type Finding, failed, type Of, ok, warning } from './finding.ts';

export const database: Check = async (examined) => {
  const { database_url } = examined.config;
  if (database_url.startsWith('sqlite:') && !existsSync(database_url.slice('sqlite:'.length)))
    return [ok('database', 'none yet: the first start creates it')];
  let books: Snapshot;
  try {
    books = await openSnapshot(database_url);
  } catch (error) {
    return [failed('database', (error as Error).message, 'start PostgreSQL, or set database_url')];
  }
  try {
    return await stateOf(books, examined);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return [failed('database', error.message, 'install the newer gatewayd')];
  } finally {
    await books.close();
  }
};

async function stateOf(books: Snapshot, examined: Examined): Promise<Finding[]> {
  const { dialect, query } = books;
  const kind = dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const done = await stepsDone(query);
  if (done.length === 0) return [ok('database', `${kind}, empty: the first start fills it`)];
  const { state } = await schemaStanding(query);
  const pending = state === 'newer' ? [] : await pendingSteps({ ...books, schema: query });
  const says = `${kind}, schema ${done.at(-1)}`;
  const schema =
    state === 'ok' ? await writesOf(examined, says) : otherSchema(says, state === 'newer', pending.length);
  const paces = pending.length === 0 ? await pacesOf(books, examined) : [];
  const limits = pending.length === 0 ? await limitsOf(books, examined) : [];
  const routes = pending.length === 0 ? await routesOf(books, examined) : [];
  return [
    schema,
    ...(await belonging(books, examined)),
    await lastBackup(books, examined),
    ...paces,
    ...limits,
    ...routes,
  ];
}

function otherSchema(says: string, is_newer: boolean, pending: number): Finding {
  if (is_newer)
    return warning(
      'database',
      `${says}: newer than this gatewayd, which can continue on it`,
      'install the newer gatewayd',
    );
  return warning(
    'database',
    `${says}: ${pending} steps behind this version`,
    'gatewayd backup && gatewayd migrate',
  );
}

/** Daemons that leave a blockchain to others, because their providers do not answer them. */
async function routesOf({ query }: Snapshot, { now }: Examined): Promise<Finding[]> {
  const dead = (await deadRoutes(query)).filter(({ noted_at }) => now - noted_at < UNKNOWN_SECONDS);
  return dead.map(({ blockchain, host, daemon_id, providers, error }) =>
    warning(
      `route ${blockchain}`,
      `daemon ${daemon_id} on ${host} cannot read it through ${providers}: ${error}`,
      `gatewayd doctor on ${host}; set blockchains.${blockchain}.urls to providers that answer there`,
    ),
  );
}

/** What to do where it takes no writes. */
const WRITE_FIXES: Readonly<Record<DatabaseFault, string>> = {
  away: 'start PostgreSQL, or set database_url',
  full: 'free some space where the database is, or give it a larger disk: nothing needs a restart',
  read_only:
    'let it be written to: its files and their owner, or default_transaction_read_only and the role in PostgreSQL; a standby has to be promoted',
  failing: 'look into the log of the database, and at its disk',
};

/** Red where it takes no writes: all else may look well then. It is written to as a running daemon does it, one row. */
async function writesOf({ config, now }: Examined, says: string): Promise<Finding> {
  try {
    await tryWriteAt(config.database_url, now);
    return ok('database', says);
  } catch (error) {
    const reason = (error as Error).message;
    const fault = faultOf(error) ?? 'failing';
    if (fault === 'busy')
      return warning('database', `${says}: others are writing to it (${reason})`, 'gatewayd doctor again');
    return failed('database', `${says}: it takes no writes (${reason})`, WRITE_FIXES[fault]);
  }
}

/** What providers were found to take at once, a line for each of them. */
async function limitsOf({ query }: Snapshot, { config: { chains } }: Examined): Promise<Finding[]> {
  const found = new Map<string, { of: Of; says: string[] }>();
  for (const { id } of chains.blockchains)
    for (const { provider, name, value } of await providerLimits(query, id)) {
      const line = found.get(`${id} ${provider}`) ?? { of: `provider ${id}` as const, says: [] };
      line.says.push(`${name} ${value}`);
      found.set(`${id} ${provider}`, line);
    }
  return [...found].map(([key, { of, says }]) =>
    ok(of, `${key.slice(key.indexOf(' ') + 1)} takes ${says.join(', ')}`),
  );
}

/** Of each blockchain whose pace is known, whether it is the usual one; and which depths are too few seconds at that pace. */
async function pacesOf({ query }: Snapshot, { config }: Examined): Promise<Finding[]> {
  const cursors = await allCursors(query);
  const measured = (id: string) => storedPace(cursors.find(({ blockchain }) => blockchain === id));
  const found = pacesOnOffer(config, measured);
  const short = shortDepths(config, measured).map(({ chain, says, remedy }) =>
    warning(`depth ${chain}`, says, remedy),
  );
  const off = found.flatMap(({ blockchain: { id }, says }) =>
    says === null ? [] : [warning(`pace ${id}`, says, PACE_STOPS_NOTHING)],
  );
  const usual =
    off.length > 0 || found.length === 0 ? off : [ok('pace', `usual on ${found.length} blockchains`)];
  return [...usual, ...short];
}

async function belonging({ query }: Snapshot, { config }: Examined): Promise<Finding[]> {
  const network = await findMeta(query, 'network');
  const state = await secretState(query);
  const secrets = findSecrets(config);
  const found: Finding[] = [];
  const unused = await whyOutOfUse(query);
  if (unused !== null) found.push(failed('database', `it is out of use: ${unused}`, WAY_OUT));
  if (network !== undefined && network !== config.network)
    found.push(
      failed('database', `it is of network ${network}`, `set network to ${network}, or another database_url`),
    );
  if (state !== undefined && secrets?.follow(state))
    found.push(...rotationOf(state, secrets.newest_check, config));
  else if (state !== undefined)
    found.push(
      failed(
        'database',
        secrets === null
          ? 'its secret is missing here'
          : 'the secret is not the one that it was created with, or rotated to since',
        'set secret, or put the right one into data_dir/secret',
      ),
    );
  return found;
}

/** A rotation that was begun is to be ended, and then needs the secret before no more. */
function rotationOf(
  { current, previous, past }: SecretState,
  newest: string,
  config: Examined['config'],
): Finding[] {
  if (past.includes(newest))
    return [
      failed(
        'secret',
        'it was replaced before, and is not used again',
        'set the one that replaced it as secret, and take previous_secret (in data_dir: secret.next) away',
      ),
    ];
  if (previous !== null || current !== newest)
    return [warning('secret', 'it is being rotated: two count', 'gatewayd secret rotate')];
  const { secret, previous_secret, data_dir } = config;
  if (secret === undefined && findSecretTexts(config).length > 1)
    return [
      warning(
        'secret',
        'secret.next is in use, and secret no longer is',
        `mv ${data_dir}/secret.next ${data_dir}/secret`,
      ),
    ];
  if (previous_secret === undefined) return [];
  return [
    warning('secret', 'previous_secret is no longer needed', 'remove previous_secret from the settings'),
  ];
}

async function lastBackup({ query }: Snapshot, { config, now }: Examined): Promise<Finding> {
  const at = await findMeta(query, LAST_BACKUP_AT);
  const fix =
    config.backup.every === undefined
      ? 'set backup.every to 1d, and run `gatewayd backup`'
      : 'run `gatewayd backup`, which says why where none can be made';
  if (at === undefined) return warning('backup', 'none is known', fix);
  const age_seconds = now - Number(at);
  const says = `the last one is ${spanOf(age_seconds)} old`;
  return age_seconds > mostBackupAge(config) ? warning('backup', says, fix) : ok('backup', says);
}
