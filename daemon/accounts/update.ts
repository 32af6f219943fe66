// Changing a merchant account: its settings, and its key.
import { type MerchantChange, updateMerchant } from '../../data/merchants.ts';
import type { MerchantRow } from '../../data/schema/tables.ts';
import { Refusal } from '../../src/errors.ts';
import { webhookKey } from '../../src/webhook.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { checkEntries } from '../invoices/gateways.ts';
import { previousWebhookSecretPurpose, type Secrets, webhookSecretPurpose } from '../process/secrets.ts';
import { changedProfile, type ProfileUpdate } from '../shop/profile.ts';
import { checkWebhookUrl } from '../webhooks/egress.ts';
import { newKey } from './create.ts';

/** After a change of the webhook secret both sign for so long. */
export const WEBHOOK_GRACE_SECONDS = 24 * 3600;

export interface AccountUpdate extends ProfileUpdate {
  webhook_url?: string | null | undefined;
  webhook_secret?: string | null | undefined;
  end_previous_webhook_secret?: boolean | null | undefined;
  end_previous_api_key?: boolean | null | undefined;
  webhook_refills?: boolean | null | undefined;
  enabled_currencies?: string[] | null | undefined;
  slug?: string | null | undefined;
}

/** The columns that change. Left out is unchanged; null and an empty text remove, a null slug or flag stays. */
function changeOf(app: App, account: MerchantRow, body: AccountUpdate) {
  const values: MerchantChange = {};
  if (body.webhook_url !== undefined) {
    values.webhook_url = body.webhook_url || null;
    if (values.webhook_url !== null)
      checkWebhookUrl(values.webhook_url, { allow_private: app.config.webhook_allow_private });
  }
  if (body.webhook_secret !== undefined)
    Object.assign(values, newWebhookSecret(app, account, body.webhook_secret || null));
  if (body.end_previous_webhook_secret) Object.assign(values, NO_PREVIOUS_SECRET);
  if (body.end_previous_api_key) Object.assign(values, NO_PREVIOUS_KEY);
  if (body.webhook_refills != null) values.webhook_refills = body.webhook_refills ? 1 : 0;
  if (body.enabled_currencies !== undefined)
    values.enabled_currencies =
      body.enabled_currencies === null ? null : checkEntries(app.gateways, body.enabled_currencies);
  if (body.slug != null) values.slug = body.slug;
  return values;
}

const NO_PREVIOUS_SECRET = { previous_webhook_secret_sealed: null, previous_webhook_secret_ends_at: null };
const NO_PREVIOUS_KEY = { previous_api_key_hash: null, previous_api_key_ends_at: null };

/** The present secret signs on as the previous one; without a new one nothing is signed any more. */
function newWebhookSecret(
  { secrets, clock }: Pick<App, 'secrets' | 'clock'>,
  { id, webhook_secret_sealed: sealed }: MerchantRow,
  secret: string | null,
): MerchantChange {
  if (secret === null) return { webhook_secret_sealed: null, ...NO_PREVIOUS_SECRET };
  webhookKey(secret);
  const change = { webhook_secret_sealed: secrets.seal(secret, webhookSecretPurpose(id)) };
  const previous = sealed === null ? null : opened(secrets, sealed, webhookSecretPurpose(id));
  if (previous === secret) return {};
  if (previous === null) return { ...change, ...NO_PREVIOUS_SECRET };
  return {
    ...change,
    previous_webhook_secret_sealed: secrets.seal(previous, previousWebhookSecretPurpose(id)),
    previous_webhook_secret_ends_at: seconds(clock) + WEBHOOK_GRACE_SECONDS,
  };
}

/** One that cannot be opened has signed nothing; setting a new one is the remedy. */
function opened(secrets: Secrets, sealed: string, purpose: string): string | null {
  try {
    return secrets.open(sealed, purpose);
  } catch {
    return null;
  }
}

/** The account as it is afterwards. Refuses with `url_not_allowed`, `picture_not_allowed`, `bad_request`, `unknown_chain` or `slug_taken`. */
export async function updateAccount(
  app: App,
  account: MerchantRow,
  body: AccountUpdate,
): Promise<MerchantRow> {
  const values = changeOf(app, account, body);
  const profile = await changedProfile(app, account, body);
  if (profile !== undefined) values.profile = profile;
  if (Object.keys(values).length > 0 && !(await updateMerchant(app.db.query, account.id, values)))
    throw new Refusal('slug_taken');
  return { ...account, ...values };
}

/** Gives the account a new key; the old one works for that many seconds more, and one before it no longer. */
export async function rotateKey(app: App, account: MerchantRow, grace_seconds: number): Promise<MerchantRow> {
  const previous =
    grace_seconds === 0
      ? NO_PREVIOUS_KEY
      : {
          previous_api_key_hash: account.api_key_hash,
          previous_api_key_ends_at: seconds(app.clock) + grace_seconds,
        };
  const values = { ...newKey(app.secrets, account.id), ...previous };
  await updateMerchant(app.db.query, account.id, values);
  return { ...account, ...values };
}
