// The prepaid ledger: the merchant's balance, its entry and the chain of hashes move together or not at all.
import { type LedgerHead, type LedgerKind, nextEntry } from '../src/ledger.ts';
import { newId } from './ids.ts';
import type { Db, Executor, Tx } from './open.ts';
import type { LedgerRow } from './tables.ts';

export interface LedgerRequest {
  /** Of the entry to write; drawn where there is none. */
  id?: string;
  merchant_id: string;
  kind: LedgerKind;
  /** Above zero. */
  amount_micros: bigint;
  invoice_id: string | null;
  note: string | null;
  actor: string;
  /** Unix seconds. */
  now: number;
}

/** Locks and returns the head of a merchant's chain. */
export function lockHead(db: Db, tx: Tx, merchant_id: string): Promise<LedgerHead | undefined> {
  const select = tx
    .selectFrom('merchants')
    .select(['prepaid_micros', 'ledger_seq', 'ledger_hash'])
    .where('id', '=', merchant_id);
  return (db.dialect === 'postgres' ? select.forNoKeyUpdate() : select).executeTakeFirst();
}

/** Writes one entry. False when the balance would fall below zero; throws when the head was moved by someone else. */
export async function post(db: Db, tx: Tx, request: LedgerRequest): Promise<boolean> {
  const head = await lockHead(db, tx, request.merchant_id);
  if (!head) throw new Error(`merchant ${request.merchant_id} does not exist`);
  const { now, id = newId(), ...rest } = request;
  const entry = nextEntry(head, { ...rest, id, created_at: now });
  if (!entry) return false;
  const moved = await tx
    .updateTable('merchants')
    .set({ prepaid_micros: entry.balance_micros, ledger_seq: entry.seq, ledger_hash: entry.hash })
    .where('id', '=', request.merchant_id)
    .where('ledger_seq', '=', head.ledger_seq)
    .where('ledger_hash', '=', head.ledger_hash)
    .executeTakeFirst();
  if (moved.numUpdatedRows !== 1n) throw new Error('the ledger moved under a locked head');
  await tx.insertInto('ledger').values(entry).execute();
  return true;
}

/** Entries of a merchant in order, from `after_seq` on. */
export function ledgerOf(
  query: Executor,
  merchant_id: string,
  after_seq: number,
  limit: number,
): Promise<LedgerRow[]> {
  return query
    .selectFrom('ledger')
    .selectAll()
    .where('merchant_id', '=', merchant_id)
    .where('seq', '>', after_seq)
    .orderBy('seq')
    .limit(limit)
    .execute();
}
