// Invoices of versions that counted blocks only: where a gateway asks for seconds, those that may still be paid get them once.
import { sql } from 'kysely';
import type { Wait } from '../src/confirmations.ts';
import type { Executor, Tx } from './db/database.ts';

/** Name of when the last one of them was made, Unix seconds; gone once they have their seconds. */
export const UNTIMED_UNTIL = 'untimed_until';

export interface Untimed {
  id: string;
  chain: string;
  amount_usd_micros: bigint;
}

export interface UntimedFilter {
  chains: readonly string[];
  /** Unix seconds. */
  made_until: number;
  now: number;
  /** The last one of the page before. */
  after: Pick<Untimed, 'id' | 'chain'>;
  limit: number;
}

export const untimedTables = ['invoices', 'former_terms'] as const;
export type UntimedTable = (typeof untimedTables)[number];

/** Those that wait for blocks, by id and coin. */
export function untimedTerms(
  query: Executor,
  table: UntimedTable,
  { chains, made_until, now, after, limit }: UntimedFilter,
): Promise<Untimed[]> {
  const terms = sql.table(table);
  const id = table === 'invoices' ? sql.ref('id') : sql.ref('invoice_id');
  return query
    .selectFrom('invoices')
    .innerJoin(
      sql<{ invoice_id: string; of: string }>`(select ${id} as invoice_id, chain as of from ${terms}
        where confirm_seconds is null and watch_until >= ${now} and chain in (${sql.join(chains)}))`.as(
        'terms',
      ),
      (join) => join.onRef('terms.invoice_id', '=', 'invoices.id'),
    )
    .select(['invoices.id', 'terms.of as chain', 'invoices.amount_usd_micros'])
    .where('invoices.status', '<>', sql.lit('confirmed'))
    .where('invoices.created_at', '<=', made_until)
    .where((where) =>
      where(where.refTuple('invoices.id', 'terms.of'), '>', where.tuple(after.id, after.chain)),
    )
    .orderBy('invoices.id')
    .orderBy('terms.of')
    .limit(limit)
    .execute();
}

/** The number of blocks stays as it is shown; an open invoice is evaluated at once, for what it shows follows from its seconds. */
export async function giveSeconds(
  tx: Tx,
  table: UntimedTable,
  { id, chain }: Untimed,
  { confirm_seconds, until_final }: Wait,
): Promise<void> {
  const values = { confirm_seconds, until_final };
  if (table === 'former_terms') {
    const at = tx.updateTable('former_terms').set(values).where('invoice_id', '=', id);
    await at.where('chain', '=', chain).execute();
    return;
  }
  const due_at = sql<number | null>`case when status = 'created' then 0 else due_at end`;
  await tx
    .updateTable('invoices')
    .set({ ...values, due_at })
    .where('id', '=', id)
    .execute();
}
