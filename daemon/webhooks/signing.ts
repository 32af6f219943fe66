// What is signed in the name of a merchant, webhooks and returns of buyers, is signed with these.
import { getMerchant } from '../../data/merchants.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { deploymentSecrets, previousWebhookSecretPurpose, webhookSecretPurpose } from '../process/secrets.ts';

/** The present one, and for a while after a change the one before; of no merchant, those of the deployment. */
export async function webhookSecretsOf(
  { config, db, secrets, clock }: Pick<App, 'config' | 'db' | 'secrets' | 'clock'>,
  merchant_id: string | null,
): Promise<readonly string[]> {
  const now = seconds(clock);
  if (merchant_id === null) return deploymentSecrets({ config, secrets }, now);
  const row = await getMerchant(db.query, merchant_id);
  if (!row?.webhook_secret_sealed) return [];
  const present = secrets.open(row.webhook_secret_sealed, webhookSecretPurpose(merchant_id));
  const { previous_webhook_secret_sealed: sealed, previous_webhook_secret_ends_at: ends_at } = row;
  if (sealed === null || ends_at === null || ends_at <= now) return [present];
  return [present, secrets.open(sealed, previousWebhookSecretPurpose(merchant_id))];
}
