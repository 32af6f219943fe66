// A database whose secret is lost: what was sealed with it is replaced, and its ledger gets another key.
import { sql } from 'kysely';
import { hashEntry, type LedgerEntry, sealHead } from '../src/ledger.ts';
import type { Dialect, Executor } from './db/database.ts';
import { ledgerOf } from './ledger.ts';
import { changeMeta } from './meta.ts';
import type { MerchantRow } from './schema/tables.ts';
import { forgetSecret } from './secret.ts';

/** Merchants, and entries of one, that are read in one step. */
const ROWS_PER_READ = 500;
/** Their triggers refuse what is done here. */
const GUARDED = ['merchants', 'ledger', 'ledger_seals'];

type Keys = Pick<
  MerchantRow,
  'api_key_hash' | 'api_key_sealed' | 'previous_api_key_hash' | 'previous_api_key_ends_at'
> &
  Pick<MerchantRow, 'webhook_secret_sealed' | 'previous_webhook_secret_sealed'>;

export interface Replacement {
  /** The proof of the new secret. */
  check: string;
  /** The name of the ledger's key in `meta`, the new key, and that as the new secret has sealed it. */
  ledger_key: { name: string; key: Uint8Array; sealed: string };
  /** What a merchant has instead of what was sealed. */
  keysOf(merchant: { id: string } & Keys): Keys & { previous_webhook_secret_ends_at: null };
}

export interface Replaced {
  merchants: number;
  /** Of them, those with a webhook secret. */
  webhook_secrets: number;
  /** Entries of the ledger whose hashes were made again. */
  entries: number;
}

/** Replaces all that was sealed. Runs in a transaction of its caller, on a database that no daemon uses. */
export async function replaceLostSecret(
  tx: Executor,
  dialect: Dialect,
  { check, ledger_key, keysOf }: Replacement,
): Promise<Replaced> {
  const replaced: Replaced = { merchants: 0, webhook_secrets: 0, entries: 0 };
  await withoutGuards(tx, dialect, async () => {
    for (let after = ''; ; ) {
      const rows = await tx
        .selectFrom('merchants')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(ROWS_PER_READ)
        .execute();
      for (const row of rows) {
        await tx.updateTable('merchants').set(keysOf(row)).where('id', '=', row.id).execute();
        replaced.merchants++;
        if (row.webhook_secret_sealed !== null) replaced.webhook_secrets++;
        replaced.entries += await hashAgain(tx, row.id, ledger_key.key);
      }
      if (rows.length < ROWS_PER_READ) break;
      after = rows.at(-1)?.id ?? '';
    }
  });
  await forgetSecret(tx, check);
  await changeMeta(tx, ledger_key.name, ledger_key.sealed);
  return replaced;
}

/** The chain of a merchant under another key; entries from before there was one keep their hashes, and are sealed again. */
async function hashAgain(tx: Executor, merchant_id: string, key: Uint8Array): Promise<number> {
  let count = 0;
  let head: string | undefined;
  for (let after = 0; ; ) {
    const rows = await ledgerOf(tx, merchant_id, after, ROWS_PER_READ);
    for (const { hash: before, ...row } of rows) {
      const entry: LedgerEntry = { ...row, previous_hash: head ?? row.previous_hash };
      head = row.hash_version === 1 ? before : hashEntry(entry, key);
      if (row.hash_version === 1) continue;
      count++;
      await sql`update ledger set previous_hash = ${entry.previous_hash}, hash = ${head} where id = ${row.id}`.execute(
        tx,
      );
    }
    if (rows.length < ROWS_PER_READ) break;
    after = rows.at(-1)?.seq ?? 0;
  }
  if (head === undefined) return 0;
  await tx.updateTable('merchants').set({ ledger_hash: head }).where('id', '=', merchant_id).execute();
  const sealed = await tx
    .selectFrom('ledger_seals')
    .selectAll()
    .where('merchant_id', '=', merchant_id)
    .executeTakeFirst();
  if (sealed !== undefined)
    await sql`update ledger_seals set seal = ${sealHead(sealed, key)} where merchant_id = ${merchant_id}`.execute(
      tx,
    );
  return count;
}

/** The triggers of the tables concerned are away meanwhile, and there again as they were. */
async function withoutGuards(tx: Executor, dialect: Dialect, work: () => Promise<void>): Promise<void> {
  if (dialect === 'postgres') {
    const turn = async (way: 'disable' | 'enable') => {
      for (const table of GUARDED)
        await sql`alter table ${sql.table(table)} ${sql.raw(way)} trigger user`.execute(tx);
    };
    await turn('disable');
    await work();
    return turn('enable');
  }
  const { rows } = await sql<{ name: string; text: string }>`
    select name, sql as text from sqlite_schema
    where type = 'trigger' and tbl_name in (${sql.join(GUARDED)}) order by rowid`.execute(tx);
  for (const { name } of rows) await sql`drop trigger ${sql.ref(name)}`.execute(tx);
  await work();
  for (const { text } of rows) await sql.raw(text).execute(tx);
}
