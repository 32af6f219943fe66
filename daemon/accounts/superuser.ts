// Superusers: the first one, made before the daemon serves, and those that the operator makes later.
import { randomBytes } from 'node:crypto';
import { newId } from '../../data/db/ids.ts';
import type { Db, Tx } from '../../data/db/open.ts';
import { changeMeta } from '../../data/meta.ts';
import { hasSuperuser, insertUser, updateUser, userByIdentity } from '../../data/users.ts';
import { normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { detectIdentity, signInElsewhere } from '../../src/identity.ts';
import { type Clock, seconds } from '../clock.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { endFirstPassword } from './first-password.ts';
import { hashPassword } from './passwords.ts';

const DEFAULT_EMAIL = 'admin@gatewayd.local';
const PASSWORD_BYTES = 12;
/** The value that only one daemon at a time may write. */
const FIRST_SUPERUSER = 'first_superuser';

export interface NewSuperuser {
  email: string;
  /** Only where it was made here: to be shown once. */
  password: string | null;
}

/**
 * Makes the first superuser where there is none yet; null where there is one, or where another daemon makes it now. A password that
 * is made here is handed to `store`, in the transaction that makes it count.
 */
export async function ensureSuperuser(
  { db, clock }: { db: Db; clock: Clock },
  { admin }: Pick<Config, 'admin'>,
  store?: (tx: Tx, superuser: NewSuperuser) => Promise<void>,
): Promise<NewSuperuser | null> {
  if (await hasSuperuser(db.query)) return null;
  const prepared = await prepare(admin.email ?? DEFAULT_EMAIL, admin.password);
  const is_first = await db.transaction(async (tx) => {
    // Daemons that start at once wait here for the first of them, and then see the superuser that it made.
    await changeMeta(tx, FIRST_SUPERUSER, newId());
    if (await hasSuperuser(tx)) return false;
    await write(tx, prepared, seconds(clock));
    if (prepared.shown.password !== null) await store?.(tx, prepared.shown);
    return true;
  });
  return is_first ? prepared.shown : null;
}

/**
 * Makes a superuser, or turns the password user of that address into one with a new password; its tokens end.
 * Throws ConfigError for an address whose owner signs in elsewhere: no password would ever be asked.
 */
export async function putSuperuser(
  { db, clock }: { db: Db; clock: Clock },
  address: string,
  chosen: string | undefined,
): Promise<NewSuperuser> {
  const prepared = await prepare(address, chosen);
  await db.transaction(async (tx) => {
    await write(tx, prepared, seconds(clock));
    await endFirstPassword(tx, prepared.shown.email);
  });
  return prepared.shown;
}

interface Prepared {
  shown: NewSuperuser;
  password_hash: string;
}

/** Hashes the password before a transaction is open: that takes long. */
async function prepare(address: string, chosen: string | undefined): Promise<Prepared> {
  const email = normalizeEmail(address);
  const source = detectIdentity(email)?.source ?? 'email';
  if (source !== 'email')
    throw new ConfigError(
      `${email} cannot be a superuser. ${signInElsewhere[source]}; choose another address`,
    );
  const password = chosen ?? randomBytes(PASSWORD_BYTES).toString('hex');
  return {
    shown: { email, password: chosen === undefined ? password : null },
    password_hash: await hashPassword(password),
  };
}

async function write(tx: Tx, { shown: { email }, password_hash }: Prepared, now: number): Promise<void> {
  const known = await userByIdentity(tx, 'email', email);
  if (known) {
    const token_version = known.token_version + 1;
    const email_proved_at = known.email_proved_at ?? now;
    const change = { password_hash, token_version, email_proved_at, pending_email: null };
    await updateUser(tx, known.id, { ...change, is_superuser: 1, is_active: 1 });
    return;
  }
  await insertUser(tx, {
    email,
    source: 'email',
    subject: email,
    password_hash,
    full_name: null,
    is_active: true,
    is_superuser: true,
    is_proved: true,
    now,
  });
}
