// Gives a restored database another secret where that of its deployment is lost: nothing in it stays sealed with the old one.
import { randomBytes } from 'node:crypto';
import type { Dialect, Executor } from '../../data/db/open.ts';
import { type Replaced, replaceLostSecret } from '../../data/lost-secret.ts';
import { secretState } from '../../data/secret.ts';
import { newKey, newWebhookSecret } from '../accounts/create.ts';
import { ConfigError } from '../settings/config.ts';
import { LEDGER_KEY, LEDGER_KEY_BYTES, LEDGER_KEY_PURPOSE } from './ledger-key.ts';
import { createSecrets, webhookSecretPurpose } from './secrets.ts';

/** No one can show a merchant its key of before, but shops continue with it until their merchants end it; no longer than this. */
const KEY_GRACE_SECONDS = 10 * 365 * 86_400;

/** Runs in a transaction of its caller. `text`: the new secret. `now`: Unix seconds. Throws ConfigError for one that is or was in force. */
export async function replaceSecret(
  tx: Executor,
  dialect: Dialect,
  { text, now }: { text: string; now: number },
): Promise<Replaced> {
  const secrets = createSecrets(text);
  const state = await secretState(tx);
  if (state?.current === secrets.check || state?.previous === secrets.check)
    throw new ConfigError(
      '--new-secret: the secret that is set here is the one of this backup; leave --new-secret out',
    );
  if (state?.past.includes(secrets.check))
    throw new ConfigError(
      '--new-secret: the secret that is set here was replaced before; set one that was never in use',
    );
  const key = randomBytes(LEDGER_KEY_BYTES);
  return replaceLostSecret(tx, dialect, {
    check: secrets.check,
    ledger_key: { name: LEDGER_KEY, key, sealed: secrets.seal(key.toString('hex'), LEDGER_KEY_PURPOSE) },
    keysOf: ({ id, api_key_hash, webhook_secret_sealed }) => ({
      ...newKey(secrets, id),
      previous_api_key_hash: api_key_hash,
      previous_api_key_ends_at: now + KEY_GRACE_SECONDS,
      webhook_secret_sealed:
        webhook_secret_sealed === null ? null : secrets.seal(newWebhookSecret(), webhookSecretPurpose(id)),
      previous_webhook_secret_sealed: null,
      previous_webhook_secret_ends_at: null,
    }),
  });
}
