// What is derived from `secret`: sealing of stored keys, the token key, the deployment's webhook secret and the value that
// proves it. While it is rotated two secrets are known; the database says which of them is in force.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { SecretState } from '../../data/secret.ts';

export const MIN_SECRET_LENGTH = 16;
/** Of what people think up, which others guess with much time. */
export const MIN_PASSPHRASE_LENGTH = 12;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const VERSION = 'v1.';

/** What one secret is good for. */
interface Derived {
  seal(text: string, purpose: string): string;
  open(sealed: string, purpose: string): string;
  digest(text: string, purpose: string): string;
  token_key: Uint8Array;
  webhook_secret: string;
  check: string;
}

/** What a secret that is no longer in force has signed, for as long as that counts. It opens nothing. */
export interface Retired {
  /** In hex. */
  token_key: string;
  webhook_secret: string;
  /** Unix seconds. */
  tokens_until: number;
  webhooks_until: number;
}

export interface Secrets {
  /**
   * Encrypts a text for the database with AES-256-GCM. `purpose` names column and row (see below);
   * the same is needed to open it, so that a value moved to another row is refused. Throws while the database belongs to a
   * secret that is not known here: no one could open the value.
   */
  seal(text: string, purpose: string): string;
  /** The sealed text; throws where it was changed, moved, or sealed under a secret that is not known here. */
  open(sealed: string, purpose: string): string;
  /** A keyed hash of a text, in hex: equal texts of one purpose are equal, and cannot be guessed from it. */
  digest(text: string, purpose: string): string;
  /** HS256 key of every token that is made. */
  readonly token_key: Uint8Array;
  /** Keys of the tokens that count at this time (Unix seconds): the one above first. */
  tokenKeys(now: number): readonly Uint8Array[];
  /** Signs the webhooks of the platform key, unless the settings name another. */
  readonly webhook_secret: string;
  /** What signs them at this time (Unix seconds): the one above first, and for a while the one before a rotation. */
  webhookSecrets(now: number): readonly string[];
  /** Stored in the database, so that a wrong secret is known before it is used. */
  readonly check: string;
  /** The `check` of every secret that values are opened with, first of the one that seals. */
  known(): readonly string[];
  /** Whether this is one of the secrets. */
  isKnown(text: string): boolean;
  /** Takes over what the database says; false, and nothing changes, where its secret is not known here. */
  follow(state: SecretState): boolean;
  /** Reads the secrets from where they are stored; whether they are others than before. */
  reload(): boolean;
  /**
   * A sealed list for a database that moves on to the newest secret: what the present one has signed counts `until` then,
   * what earlier ones have as before. Null: nothing that was signed counts any more. `now`: Unix seconds.
   */
  retire(until: Pick<Retired, 'tokens_until' | 'webhooks_until'> | null, now: number): string;
  /** The `check` of the newest secret, whether it is in force yet or not. */
  readonly newest_check: string;
  /** The value sealed by the newest secret; null where it is so already. Throws where no known secret opens it. */
  reseal(sealed: string, purpose: string): string | null;
}

/** Purposes of the sealed columns, stated once so that reader and writer agree. */
export const apiKeyPurpose = (merchant_id: string): string => `merchants.api_key:${merchant_id}`;
export const webhookSecretPurpose = (merchant_id: string): string =>
  `merchants.webhook_secret:${merchant_id}`;
export const previousWebhookSecretPurpose = (merchant_id: string): string =>
  `merchants.previous_webhook_secret:${merchant_id}`;
const RETIRED_PURPOSE = 'meta.retired_keys';

interface Deployment {
  config: { webhook_secret?: string | undefined };
  secrets: Pick<Secrets, 'webhook_secret' | 'webhookSecrets'>;
}

/** What webhooks of the platform key are signed with. */
export const deploymentSecret = ({ config, secrets }: Deployment): string =>
  config.webhook_secret ?? secrets.webhook_secret;

/** The same with what signs besides it after a rotation. `now`: Unix seconds. */
export const deploymentSecrets = ({ config, secrets }: Deployment, now: number): readonly string[] =>
  config.webhook_secret === undefined ? secrets.webhookSecrets(now) : [config.webhook_secret];

/** `secret` is any text of at least 16 characters; keep it as long as the database. */
export const createSecrets = (secret: string): Secrets => openSecretsFrom(() => [secret]);

/** Of the secrets that `read` finds, the newest first; there is at least one. */
export function openSecretsFrom(read: () => readonly string[]): Secrets {
  let texts = read();
  let all = texts.map(derive);
  let state: SecretState | undefined;
  let [sealing] = all as [Derived];
  let usable = all;
  let newer: readonly Derived[] = [];
  let is_lost = false;
  let retired: readonly Retired[] = [];

  const openWith = (keys: readonly Derived[], sealed: string, purpose: string): string => {
    for (const [at, key] of keys.entries())
      try {
        return key.open(sealed, purpose);
      } catch (error) {
        // Which one it was sealed with is known by what opens it.
        if (at === keys.length - 1) throw error;
      }
    throw new Error('there is no secret');
  };
  const retiredIn = (sealed: string): Retired[] => {
    try {
      return JSON.parse(openWith(usable, sealed, RETIRED_PURPOSE));
    } catch {
      return []; // What was changed lets no one in.
    }
  };
  /** A newer one opens what others seal already; an older one only what is not sealed again yet. */
  const choose = (): boolean => {
    if (state === undefined) {
      [sealing] = all as [Derived];
      usable = all;
      newer = [];
      return true;
    }
    const { current, previous, past, retired: list } = state;
    const at = all.findIndex(({ check }) => check === current);
    const found = all[at];
    if (found === undefined) return false;
    sealing = found;
    // One that was replaced is no newer one, wherever it stands: who has it lets himself in no more.
    newer = all.slice(0, at).filter(({ check }) => !past.includes(check));
    usable = [found, ...newer, ...all.slice(at + 1).filter(({ check }) => check === previous)];
    retired = list === null ? [] : retiredIn(list);
    return true;
  };
  const reload = (): boolean => {
    let next: readonly string[];
    try {
      next = read();
    } catch {
      return false; // What is known already stays in use.
    }
    if (next.join('\n') === texts.join('\n')) return false;
    texts = next;
    all = texts.map(derive);
    choose();
    return true;
  };

  return {
    seal(text, purpose) {
      if (is_lost) throw new Error('the secret was replaced, and the new one is not known here');
      return sealing.seal(text, purpose);
    },
    open(sealed, purpose) {
      try {
        return openWith(usable, sealed, purpose);
      } catch (error) {
        // Another process may have sealed it with a secret that has been stored since.
        if (!reload()) throw error;
        return openWith(usable, sealed, purpose);
      }
    },
    digest: (text, purpose) => sealing.digest(text, purpose),
    get token_key() {
      return sealing.token_key;
    },
    tokenKeys(now) {
      const before = retired.filter(({ tokens_until }) => tokens_until > now);
      return [
        sealing.token_key,
        ...newer.map(({ token_key }) => token_key),
        ...before.map(({ token_key }) => Buffer.from(token_key, 'hex')),
      ];
    },
    get webhook_secret() {
      return sealing.webhook_secret;
    },
    webhookSecrets: (now) => [
      sealing.webhook_secret,
      ...retired.filter(({ webhooks_until }) => webhooks_until > now).map((each) => each.webhook_secret),
    ],
    get check() {
      return sealing.check;
    },
    isKnown: (text) => texts.includes(text),
    known: () => usable.map(({ check }) => check),
    follow(next) {
      const before = state;
      state = next;
      is_lost = !choose();
      if (is_lost) state = before;
      return !is_lost;
    },
    reload,
    retire(until, now) {
      const [newest = sealing] = all;
      if (until === null) return newest.seal('[]', RETIRED_PURPOSE);
      const { token_key, webhook_secret } = sealing;
      const own: Retired = { token_key: Buffer.from(token_key).toString('hex'), webhook_secret, ...until };
      const before = retired.filter(({ tokens_until }) => tokens_until > now);
      return newest.seal(JSON.stringify([own, ...before]), RETIRED_PURPOSE);
    },
    get newest_check() {
      return (all[0] ?? sealing).check;
    },
    reseal(sealed, purpose) {
      const [newest = sealing, ...older] = all;
      try {
        newest.open(sealed, purpose);
        return null;
      } catch {
        return newest.seal(openWith(older, sealed, purpose), purpose);
      }
    },
  };
}

function derive(secret: string): Derived {
  if (secret.length < MIN_SECRET_LENGTH)
    throw new RangeError(`the secret needs ${MIN_SECRET_LENGTH} characters`);
  const derived = (label: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, 'gatewayd', label, KEY_BYTES));
  const sealing_key = derived('seal');
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
      createHmac('sha256', derived(`digest ${purpose}`))
        .update(text)
        .digest('hex'),
    token_key: derived('token'),
    webhook_secret: `whsec_${derived('webhook').toString('base64')}`,
    check: derived('check').toString('hex').slice(0, 32),
  };
}
