// What is derived from the one `secret`: sealing of stored keys, the token key, the deployment's webhook secret and the
// value that proves the secret.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export const MIN_SECRET_LENGTH = 16;
/** Of what people think up, which others guess with much time. */
export const MIN_PASSPHRASE_LENGTH = 12;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const VERSION = 'v1.';

export interface Secrets {
  /**
   * Encrypts a text for the database with AES-256-GCM. `purpose` names column and row (see below);
   * the same is needed to open it, so that a value moved to another row is refused.
   */
  seal(text: string, purpose: string): string;
  /** The sealed text; throws where it was changed, moved, or sealed under another secret. */
  open(sealed: string, purpose: string): string;
  /** A keyed hash of a text, in hex: equal texts of one purpose are equal, and cannot be guessed from it. */
  digest(text: string, purpose: string): string;
  /** HS256 key of every token. */
  token_key: Uint8Array;
  /** Signs the webhooks of the platform key, unless the settings name another. */
  webhook_secret: string;
  /** Stored in the database, so that a wrong secret is known before it is used. */
  check: string;
}

/** Purposes of the sealed columns, stated once so that reader and writer agree. */
export const apiKeyPurpose = (merchant_id: string): string => `merchants.api_key:${merchant_id}`;
export const webhookSecretPurpose = (merchant_id: string): string =>
  `merchants.webhook_secret:${merchant_id}`;
export const previousWebhookSecretPurpose = (merchant_id: string): string =>
  `merchants.previous_webhook_secret:${merchant_id}`;

/** What webhooks of the platform key are signed with. */
export const deploymentSecret = (of: {
  config: { webhook_secret?: string | undefined };
  secrets: Pick<Secrets, 'webhook_secret'>;
}): string => of.config.webhook_secret ?? of.secrets.webhook_secret;

/** `secret` is any text of at least 16 characters; keep it as long as the database. */
export function createSecrets(secret: string): Secrets {
  if (secret.length < MIN_SECRET_LENGTH)
    throw new RangeError(`the secret needs ${MIN_SECRET_LENGTH} characters`);
  const derive = (label: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, 'gatewayd', label, KEY_BYTES));
  const sealing_key = derive('seal');
  return {
    seal(text, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing_key, nonce).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return VERSION + Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
      if (!sealed.startsWith(VERSION) || bytes.length < NONCE_BYTES + TAG_BYTES)
        throw new Error('the stored value is not a sealed one');
      const decipher = createDecipheriv('aes-256-gcm', sealing_key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-TAG_BYTES));
      const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
    digest: (text, purpose) =>
      createHmac('sha256', derive(`digest ${purpose}`))
        .update(text)
        .digest('hex'),
    token_key: derive('token'),
    webhook_secret: `whsec_${derive('webhook').toString('base64')}`,
    check: derive('check').toString('hex').slice(0, 32),
  };
}
