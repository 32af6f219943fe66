// The prepaid ledger: the merchant's balance, its entry and the chain of hashes move together or not at all.
import { type LedgerHead, type LedgerKind, nextEntry, sealHead } from '../src/ledger.ts';
import type { Db, Executor, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import { question, writer } from './db/prepared.ts';
import type { LedgerRow } from './schema/tables.ts';

/** Heads that are sealed in one step. */
const SEALED_AT_ONCE = 500;

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
  /** Of the chain of entries, as its lock has it and nothing has moved it since; read where it is not given. */
  head?: LedgerHead | undefined;
}

/** The one that writes entries: it alone has their key. */
export interface Ledger {
  /** Writes one entry, with which the balance moves. False when the balance would fall below zero. */
  post(tx: Tx, request: LedgerRequest): Promise<boolean>;
}

export function createLedger(db: Db, key: Uint8Array): Ledger {
  return {
    async post(tx, { now, id = newId(), head: known, ...request }) {
      const head = known ?? (await lockHead(db, tx, request.merchant_id));
      if (!head) throw new Error(`merchant ${request.merchant_id} does not exist`);
      const entry = nextEntry(head, { ...request, id, created_at: now }, key);
      if (!entry) return false;
      // The head moves with it, by a trigger.
      await insert(tx, entry);
      return true;
    },
  };
}

/** A merchant's balance as it is under its lock, and whether the merchant is the operator's own. */
export interface LockedHead extends LedgerHead {
  house_since: number | null;
}

const insert = writer(
  [
    'id',
    'merchant_id',
    'seq',
    'kind',
    'debit_account',
    'credit_account',
    'amount_micros',
    'balance_micros',
    'invoice_id',
    'note',
    'actor',
    'created_at',
    'previous_hash',
    'hash',
    'hash_version',
  ],
  (query, place: LedgerRow) => query.insertInto('ledger').values(place),
);

const selectHead = (query: Executor, { merchant_id }: { merchant_id: string }) =>
  query
    .selectFrom('merchants')
    .select(['prepaid_micros', 'ledger_seq', 'ledger_hash', 'house_since'])
    .where('id', '=', merchant_id);

const headOf = {
  sqlite: question(['merchant_id'], selectHead),
  postgres: question(['merchant_id'], (query, place: { merchant_id: string }) =>
    selectHead(query, place).forNoKeyUpdate(),
  ),
};

/** Locks and returns the head of a merchant's chain. */
export async function lockHead(db: Db, tx: Tx, merchant_id: string): Promise<LockedHead | undefined> {
  return (await headOf[db.dialect](tx, { merchant_id }))[0];
}

/** Seals the head of every chain there is; what is written later has keyed hashes. */
export async function sealHeads(tx: Tx, key: Uint8Array): Promise<void> {
  for (let after = ''; ; ) {
    const heads = await tx
      .selectFrom('merchants')
      .select(['id', 'ledger_seq', 'ledger_hash'])
      .where('ledger_seq', '>', 0)
      .where('id', '>', after)
      .orderBy('id')
      .limit(SEALED_AT_ONCE)
      .execute();
    const seals = heads.map(({ id: merchant_id, ledger_seq: seq, ledger_hash: hash }) => ({
      merchant_id,
      seq,
      hash,
      seal: sealHead({ merchant_id, seq, hash }, key),
    }));
    if (seals.length > 0) await tx.insertInto('ledger_seals').values(seals).execute();
    if (heads.length < SEALED_AT_ONCE) return;
    after = heads.at(-1)?.id ?? '';
  }
}

/** Whether any entry has a keyed hash. */
export async function hasKeyedEntries(query: Executor): Promise<boolean> {
  const row = await query
    .selectFrom('ledger')
    .select('id')
    .where('hash_version', '=', 2)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
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
