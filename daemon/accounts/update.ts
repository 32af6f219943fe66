// Changing a merchant account: its settings, and its key.
import { updateMerchant } from '../../data/merchants.ts';
import type { MerchantRow } from '../../data/schema/tables.ts';
import { Refusal } from '../../src/errors.ts';
import { webhookKey } from '../../src/webhook.ts';
import type { App } from '../context.ts';
import { checkEntries } from '../invoices/gateways.ts';
import { webhookSecretPurpose } from '../process/secrets.ts';
import { checkWebhookUrl } from '../webhooks/egress.ts';
import { newKey } from './create.ts';

export interface AccountUpdate {
  webhook_url?: string | null | undefined;
  webhook_secret?: string | null | undefined;
  webhook_refills?: boolean | null | undefined;
  enabled_currencies?: string[] | null | undefined;
  slug?: string | null | undefined;
}

/** The columns that change. Left out is unchanged; null and an empty text remove, a null slug or flag stays. */
function changeOf(app: App, account: MerchantRow, body: AccountUpdate) {
  const values: Partial<
    Pick<
      MerchantRow,
      'slug' | 'webhook_url' | 'webhook_secret_sealed' | 'webhook_refills' | 'enabled_currencies'
    >
  > = {};
  if (body.webhook_url !== undefined) {
    values.webhook_url = body.webhook_url || null;
    if (values.webhook_url !== null)
      checkWebhookUrl(values.webhook_url, { allow_private: app.config.webhook_allow_private });
  }
  if (body.webhook_secret !== undefined) {
    const secret = body.webhook_secret || null;
    if (secret !== null) webhookKey(secret);
    values.webhook_secret_sealed =
      secret === null ? null : app.secrets.seal(secret, webhookSecretPurpose(account.id));
  }
  if (body.webhook_refills != null) values.webhook_refills = body.webhook_refills ? 1 : 0;
  if (body.enabled_currencies !== undefined)
    values.enabled_currencies =
      body.enabled_currencies === null ? null : checkEntries(app.gateways, body.enabled_currencies);
  if (body.slug != null) values.slug = body.slug;
  return values;
}

/** The account as it is afterwards. Refuses with `url_not_allowed`, `bad_request`, `unknown_chain` or `slug_taken`. */
export async function updateAccount(
  app: App,
  account: MerchantRow,
  body: AccountUpdate,
): Promise<MerchantRow> {
  const values = changeOf(app, account, body);
  if (Object.keys(values).length > 0 && !(await updateMerchant(app.db.query, account.id, values)))
    throw new Refusal('slug_taken');
  return { ...account, ...values };
}

/** Gives the account a new key; the old one ends at once. */
export async function rotateKey(app: App, account: MerchantRow): Promise<MerchantRow> {
  const values = newKey(app.secrets, account.id);
  await updateMerchant(app.db.query, account.id, values);
  return { ...account, ...values };
}
