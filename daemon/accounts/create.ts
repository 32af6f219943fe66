// Accounts: a user and its merchant account are made together, with a key, a webhook secret and an empty ledger.
import { randomBytes, randomInt } from 'node:crypto';
import type { Tx } from '../../data/db/open.ts';
import { getMerchant, insertMerchant } from '../../data/merchants.ts';
import type { MerchantRow, UserRow } from '../../data/schema/tables.ts';
import { insertUser, type NewUser } from '../../data/users.ts';
import { Refusal } from '../../src/errors.ts';
import { detectIdentity, signInElsewhere } from '../../src/identity.ts';
import { formatKey, hashKey, KEY_BYTES } from '../../src/keys.ts';
import { GENESIS_HASH } from '../../src/ledger.ts';
import { slugify } from '../../src/slug.ts';
import { type Clock, seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { apiKeyPurpose, type Secrets, webhookSecretPurpose } from '../process/secrets.ts';

/** Slugs tried for one account; from the second on they carry a random suffix. */
const SLUG_TRIES = 10;
const SUFFIX_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const SUFFIX_LENGTH = 6;
const FALLBACK_SLUG = 'shop';
/** Standard Webhooks: 24 to 64 bytes. */
const WEBHOOK_SECRET_BYTES = 24;

type AccountApp = Pick<App, 'db' | 'secrets'> & { clock: Clock };

/** Makes a user and its merchant account; undefined where the identity is taken. */
export function createAccount(app: AccountApp, user: Omit<NewUser, 'now'>): Promise<UserRow | undefined> {
  const now = seconds(app.clock);
  return app.db.transaction(async (tx) => {
    const row = await insertUser(tx, { ...user, now });
    if (row) await putMerchant(tx, app.secrets, row, now);
    return row;
  });
}

/** The user's merchant account. Superusers made on the command line have none until they first ask for it. */
export async function merchantOf(app: AccountApp, user: UserRow): Promise<MerchantRow> {
  const found = await getMerchant(app.db.query, user.id);
  return found ?? app.db.transaction((tx) => putMerchant(tx, app.secrets, user, seconds(app.clock)));
}

async function putMerchant(tx: Tx, secrets: Secrets, user: UserRow, now: number): Promise<MerchantRow> {
  for (let attempt = 1; attempt <= SLUG_TRIES; attempt++) {
    await insertMerchant(tx, {
      id: user.id,
      slug: slugFor(user, attempt),
      ...newKey(secrets, user.id),
      webhook_url: null,
      webhook_secret_sealed: secrets.seal(newWebhookSecret(), webhookSecretPurpose(user.id)),
      enabled_currencies: null,
      prepaid_micros: 0n,
      ledger_seq: 0,
      ledger_hash: GENESIS_HASH,
      created_at: now,
    });
    // What was refused may be the slug, or the whole account because another request has just made it.
    const row = await getMerchant(tx, user.id);
    if (row) return row;
  }
  throw new Error(`no free slug for user ${user.id}`);
}

function slugFor(user: UserRow, attempt: number): string {
  // A messaging id is private: of such users the name is taken.
  const name = user.source === 'telegram' ? (user.full_name ?? '') : (user.email.split('@')[0] ?? '');
  const base = slugify(name, FALLBACK_SLUG);
  if (attempt === 1) return base;
  const letters = Array.from(
    { length: SUFFIX_LENGTH },
    () => SUFFIX_LETTERS[randomInt(SUFFIX_LETTERS.length)],
  );
  return `${base}-${letters.join('')}`;
}

export const newWebhookSecret = (): string => `whsec_${randomBytes(WEBHOOK_SECRET_BYTES).toString('base64')}`;

/** A new merchant key in the two forms it is stored in. */
export function newKey(secrets: Secrets, merchant_id: string) {
  const key = formatKey(randomBytes(KEY_BYTES));
  return { api_key_hash: hashKey(key), api_key_sealed: secrets.seal(key, apiKeyPurpose(merchant_id)) };
}

/** Refuses with `wrong_identity` an address or id that has no password here, naming where it signs in. */
export function refuseForeignIdentity(text: string): void {
  const source = detectIdentity(text)?.source;
  if (source && source !== 'email') throw new Refusal('wrong_identity', { detail: signInElsewhere[source] });
}

/** Refuses with `wrong_identity` to change email address or password of a user that signs in elsewhere. */
export function refuseForeignUser(user: UserRow, what: 'email address' | 'password'): void {
  if (user.source === 'email') return;
  const name = user.source === 'google' ? 'Google' : 'Telegram';
  const detail =
    what === 'password'
      ? `This account has no password: it signs in with ${name}`
      : `The email address of this account cannot be changed here: it signs in with ${name}`;
  throw new Refusal('wrong_identity', { detail });
}
