// The key of the ledger: random, sealed by `secret` in the database, made where there is none yet.
import { randomBytes } from 'node:crypto';
import { ConnectionLost } from '../../data/db/failures.ts';
import type { Db, Executor } from '../../data/db/open.ts';
import { createLedger, hasKeyedEntries, type Ledger, sealHeads } from '../../data/ledger.ts';
import { findMeta, keepMeta } from '../../data/meta.ts';
import { ConfigError } from '../settings/config.ts';
import type { Secrets } from './secrets.ts';

export const LEDGER_KEY_BYTES = 32;
const MAX_ATTEMPTS = 5;
export const LEDGER_KEY = 'ledger_key';
/** Names what is sealed, so that no other sealed value stands in for it. */
export const LEDGER_KEY_PURPOSE = 'meta.ledger_key';

/**
 * The ledger of a database that `secret` belongs to. Where it has no key yet, one is made, and what was written before
 * is sealed with it, once. Throws ConfigError where the key cannot be opened, or is gone though entries need it.
 */
export async function openLedger(db: Db, secrets: Secrets): Promise<Ledger> {
  for (let attempt = 1; ; attempt++)
    try {
      const known = await ledgerKey(db.query, secrets);
      return createLedger(db, known ?? (await makeKey(db, secrets)));
    } catch (error) {
      // Whether it was written before the connection was lost, the next attempt finds.
      if (!(error instanceof ConnectionLost) || attempt === MAX_ATTEMPTS) throw error;
    }
}

async function makeKey(db: Db, secrets: Secrets): Promise<Uint8Array> {
  const key = randomBytes(LEDGER_KEY_BYTES);
  const sealed = secrets.seal(key.toString('hex'), LEDGER_KEY_PURPOSE);
  const stored = await db.transaction(async (tx) => {
    // What one daemon has made, the others that start with it take.
    const first = await keepMeta(tx, LEDGER_KEY, sealed);
    if (first !== sealed) return first;
    if (await hasKeyedEntries(tx))
      throw new ConfigError(
        'the key of the ledger is missing from the database though entries need it; restore a backup (`gatewayd verify` says what else is wrong)',
      );
    await sealHeads(tx, key);
    return first;
  });
  return openKey(stored, secrets);
}

/** The key of a database's ledger; undefined where it has none yet. Throws ConfigError where it cannot be opened. */
export async function ledgerKey(query: Executor, secrets: Secrets): Promise<Uint8Array | undefined> {
  const sealed = await findMeta(query, LEDGER_KEY);
  return sealed === undefined ? undefined : openKey(sealed, secrets);
}

function openKey(sealed: string, secrets: Secrets): Uint8Array {
  try {
    return Buffer.from(secrets.open(sealed, LEDGER_KEY_PURPOSE), 'hex');
  } catch {
    throw new ConfigError(
      'the key of the ledger cannot be opened: it was changed, or sealed under another secret; set the right secret or restore a backup',
    );
  }
}
