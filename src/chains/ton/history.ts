// The chain of an account's transactions: each names the one before it, so that none is missing unnoticed.
import { z } from 'zod';
import type { Json } from '../family.ts';

/** A transaction's place in the chain of its account. */
export interface Position {
  /** Logical time: grows along the chain. */
  lt: bigint;
  /** Base64. */
  hash: string;
}

/** A transaction with the one before it; `prev_trans_lt` is 0 where it is the account's first. */
export interface Link extends Position {
  prev_trans_lt: bigint;
  prev_trans_hash: string;
}

/** What is read of an account without a gap: everything after `front` up to `last`. */
export interface History {
  /** From when on nothing may be missing, Unix seconds of our clock. */
  since: number;
  /** The newest transaction of the stretch; null: none is known. */
  last: Position | null;
  /** The transaction before the stretch where it may belong to it and was not read yet; null: nothing older matters. */
  front: Position | null;
}

export interface Extended {
  history: History;
  /** Transactions are known that do not follow `last`: one between is missing, or was another before. */
  is_broken: boolean;
}

const positionSchema = z.object({ lt: z.string().regex(/^\d{1,20}$/), hash: z.string() });
export const historySchema = z.object({
  since: z.int(),
  last: positionSchema.nullable(),
  front: positionSchema.nullable(),
});

const positionFrom = ({ lt, hash }: z.infer<typeof positionSchema>): Position => ({ lt: BigInt(lt), hash });
const positionJson = ({ lt, hash }: Position): Json => ({ lt: String(lt), hash });

export const historyFrom = ({ since, last, front }: z.infer<typeof historySchema>): History => ({
  since,
  last: last && positionFrom(last),
  front: front && positionFrom(front),
});

export const historyJson = ({ since, last, front }: History): Json => ({
  since,
  last: last && positionJson(last),
  front: front && positionJson(front),
});

/** The transaction before; null before the account's first. */
export const previousOf = ({ prev_trans_lt, prev_trans_hash }: Link): Position | null =>
  prev_trans_lt === 0n ? null : { lt: prev_trans_lt, hash: prev_trans_hash };

const isSame = (one: Position | null, other: Position): boolean =>
  one !== null && one.lt === other.lt && one.hash === other.hash;

/** Whether a transaction is in the stretch already. */
export const isKnown = ({ last, front }: History, { lt }: Pick<Position, 'lt'>): boolean =>
  last !== null && lt <= last.lt && (front === null || lt > front.lt);

/**
 * Adds transactions at both ends of the stretch, as far as they follow each other; where nothing was known, the oldest
 * of them begins it. Those that matter are named by `matters`: nothing before one that does not is asked for.
 */
export function extend<L extends Link>(
  before: History,
  links: readonly L[],
  matters: (link: L) => boolean,
): Extended {
  const rows = [...links].sort((one, other) => (one.lt < other.lt ? -1 : one.lt > other.lt ? 1 : 0));
  const frontOf = (row: L) => (matters(row) ? previousOf(row) : null);
  const [first] = rows;
  let { last, front } = before;
  let is_broken = false;
  if (last === null && first) {
    last = first;
    front = frontOf(first);
  }
  for (const row of rows) {
    if (last === null || isSame(last, row)) continue;
    if (row.lt === last.lt) is_broken = true;
    if (row.lt <= last.lt) continue;
    if (!isSame(last, { lt: row.prev_trans_lt, hash: row.prev_trans_hash })) is_broken = true;
    if (is_broken) break;
    last = row;
  }
  for (const row of rows.toReversed()) if (isSame(front, row)) front = frontOf(row);
  return {
    history: { since: before.since, last: last && { lt: last.lt, hash: last.hash }, front },
    is_broken,
  };
}
