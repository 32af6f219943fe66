// What two sources state differently of one thing: listed until a person closes it, never decided automatically.
import { sql } from 'kysely';
import type { Executor, Tx } from './db/database.ts';
import { newId } from './db/ids.ts';
import { toJson } from './schema/json.ts';
import type { ContradictionKind, ContradictionRow } from './schema/tables.ts';

export interface Contradiction {
  blockchain: string;
  kind: ContradictionKind;
  /** What it is about; at most one of a kind is open for it. */
  subject: string;
  txid: string | null;
  invoice_id: string | null;
  /** What each side says. */
  details: ContradictionRow['details'];
}

/** Notes a contradiction; one that is open already is counted once more. True where it is new. */
export async function noteContradiction(
  tx: Tx,
  { details, ...values }: Contradiction,
  now: number,
): Promise<boolean> {
  const row = await tx
    .insertInto('contradictions')
    .values({
      ...values,
      id: newId(),
      details: toJson(details),
      count: 1,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['blockchain', 'kind', 'subject'])
        .where('closed_at', 'is', null)
        .doUpdateSet({
          count: sql<number>`contradictions.count + 1`,
          details: toJson(details),
          updated_at: now,
        }),
    )
    .returning('count')
    .executeTakeFirst();
  return row?.count === 1;
}

/** Newest first; with `open` only those that no one has closed. */
export function listContradictions(
  query: Executor,
  { open, skip, limit }: { open: boolean; skip: number; limit: number },
): Promise<ContradictionRow[]> {
  let select = query.selectFrom('contradictions').selectAll();
  if (open) select = select.where('closed_at', 'is', null);
  return select.orderBy('created_at', 'desc').orderBy('id', 'desc').offset(skip).limit(limit).execute();
}

/** Several, in no order. */
export async function getContradictions(
  query: Executor,
  ids: readonly string[],
): Promise<ContradictionRow[]> {
  if (ids.length === 0) return [];
  return query.selectFrom('contradictions').selectAll().where('id', 'in', ids).execute();
}

/** How many are open of each of these blockchains; those without any are absent. */
export async function countContradictions(
  query: Executor,
  blockchains: readonly string[],
): Promise<Map<string, number>> {
  const rows = await query
    .selectFrom('contradictions')
    .select((of) => ['blockchain', of.fn.countAll().as('count')])
    .where('blockchain', 'in', blockchains)
    .where('closed_at', 'is', null)
    .groupBy('blockchain')
    .execute();
  return new Map(rows.map(({ blockchain, count }) => [blockchain, Number(count)]));
}

/** Closes one that a later reading settles, whatever it is about; nothing where none is open. */
export async function settleContradiction(
  tx: Tx,
  { blockchain, kind, subject }: Pick<Contradiction, 'blockchain' | 'kind' | 'subject'>,
  note: string,
  now: number,
): Promise<void> {
  await tx
    .updateTable('contradictions')
    .set({ closed_at: now, closed_by: 'observer', note })
    .where('blockchain', '=', blockchain)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('closed_at', 'is', null)
    .execute();
}

/** Closes one that is open; undefined where there is none. */
export function closeContradiction(
  tx: Executor,
  id: string,
  values: { closed_at: number; closed_by: string; note: string | null },
): Promise<ContradictionRow | undefined> {
  return tx
    .updateTable('contradictions')
    .set(values)
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}
