// The books of a database as it is at one moment, ready to be held against the laws, with what its secret opens.
import { existsSync } from 'node:fs';
import type { Executor } from '../../data/db/open.ts';
import { openSnapshot, type Snapshot } from '../../data/db/snapshot.ts';
import { findMeta } from '../../data/meta.ts';
import { pendingSteps } from '../../data/migrations/migrate.ts';
import type { VerifySecrets } from '../../data/verify/law.ts';
import type { VerifyInput } from '../../data/verify/verify.ts';
import { hashKey } from '../../src/keys.ts';
import { findSecrets, followSecret, type SecretPlace } from '../process/data-dir.ts';
import { ledgerKey } from '../process/ledger-key.ts';
import {
  apiKeyPurpose,
  previousWebhookSecretPurpose,
  type Secrets,
  webhookSecretPurpose,
} from '../process/secrets.ts';
import { type Config, ConfigError } from '../settings/config.ts';

/** Name in `meta` of when a daemon was started last, Unix seconds. */
export const STARTED_AT = 'started_at';

/**
 * The database of a configuration, read-only, also while a daemon runs on it. Throws DatabaseError where it cannot be
 * read, ConfigError where there is none or its schema is older than this program.
 */
export async function openBooks({ database_url }: Pick<Config, 'database_url'>): Promise<Snapshot> {
  if (database_url.startsWith('sqlite:') && !existsSync(database_url.slice('sqlite:'.length)))
    throw new ConfigError(`there is no database at ${database_url}`);
  const books = await openSnapshot(database_url);
  try {
    const pending = await pendingSteps({ ...books, schema: books.query });
    if (pending.length > 0)
      throw new ConfigError('the schema is older than this gatewayd; run `gatewayd migrate` first');
    return books;
  } catch (error) {
    await books.close();
    throw error;
  }
}

/** What `verifyLaws` needs, besides the state of the database itself. `now`: Unix seconds. */
export async function verifyInput(
  { dialect, query, damages }: Pick<Snapshot, 'dialect' | 'query' | 'damages'>,
  config: Pick<Config, 'network' | 'gateways' | 'chains'> & SecretPlace,
  now: number,
): Promise<VerifyInput> {
  const secrets = findSecrets(config);
  const started_at = await findMeta(query, STARTED_AT);
  const { enabled, disabled } = config.chains;
  const gateways = [enabled, disabled].flatMap((of) => of(config.network, config.gateways));
  return {
    query,
    dialect,
    damages,
    now,
    secrets: secrets
      ? await verifySecrets(query, secrets)
      : { missing: 'there is no secret here; set `secret`, or `data_dir` to where it is' },
    started_at: started_at === undefined ? null : Number(started_at),
    clock_trusted: true,
    payable_decimals: Object.fromEntries(gateways.map((each) => [each.chain, each.payable_decimals])),
  };
}

/** What the laws open and compute with the secret of the database. */
export async function verifySecrets(query: Executor, secrets: Secrets): Promise<VerifySecrets> {
  // Of one that is not known here the law says so.
  await followSecret(query, secrets);
  // One that cannot be opened belongs to another secret, or was changed: the laws say so.
  const ledger_key = await ledgerKey(query, secrets).catch((error: unknown) => {
    if (error instanceof ConfigError) return undefined;
    throw error;
  });
  return {
    check: secrets.check,
    open: secrets.open,
    api_key_purpose: apiKeyPurpose,
    webhook_secret_purpose: webhookSecretPurpose,
    previous_webhook_secret_purpose: previousWebhookSecretPurpose,
    hash_key: hashKey,
    ledger_key: ledger_key ?? null,
  };
}
