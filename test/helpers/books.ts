// The books as an auditor reads them.
import { ledgerKey } from '../../daemon/process/ledger-key.ts';
import type { Db } from '../../data/db/open.ts';
import { createLedger, type Ledger, ledgerOf } from '../../data/ledger.ts';
import { getMerchant } from '../../data/merchants.ts';
import { GENESIS_HASH, hashEntry } from '../../src/ledger.ts';
import type { TestApp } from './app.ts';

const MAX_ENTRIES = 10_000;

/** Of databases that no daemon has opened. */
export const LEDGER_KEY = new Uint8Array(32).fill(7);

export const testLedger = (db: Db): Ledger => createLedger(db, LEDGER_KEY);

/** Recomputes a merchant's ledger from its first entry and compares it with the balance; returns how many entries it has. */
export async function verifyChain({ app }: Pick<TestApp, 'app'>, merchant_id: string): Promise<number> {
  const entries = await ledgerOf(app.db.query, merchant_id, 0, MAX_ENTRIES);
  const key = (await ledgerKey(app.db.query, app.secrets)) ?? LEDGER_KEY;
  let previous_hash = GENESIS_HASH;
  let balance = 0n;
  for (const [at, { hash, ...entry }] of entries.entries()) {
    balance += entry.kind === 'fee' ? -entry.amount_micros : entry.amount_micros;
    const sound =
      entry.seq === at + 1 &&
      entry.previous_hash === previous_hash &&
      entry.balance_micros === balance &&
      hashEntry(entry, key) === hash;
    if (!sound) throw new Error(`entry ${at + 1} of ${merchant_id} does not follow from those before`);
    previous_hash = hash;
  }
  const head = await getMerchant(app.db.query, merchant_id);
  if (head?.prepaid_micros !== balance || head.ledger_hash !== previous_hash)
    throw new Error(`the balance of ${merchant_id} is not what its ledger says`);
  return entries.length;
}
