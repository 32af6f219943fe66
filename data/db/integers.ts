// Integers as the tables' types promise them: both drivers hand over bigint, all but money become numbers.
import type { UnknownRow } from 'kysely';

/** Changes the row itself. Throws RangeError where a number could not hold the value. */
export function withNumbers(row: UnknownRow): UnknownRow {
  for (const key in row) {
    const value = row[key];
    if (typeof value !== 'bigint' || key.endsWith('_micros')) continue;
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER))
      throw new RangeError(`column ${key} holds an integer beyond 2^53`);
    row[key] = Number(value);
  }
  return row;
}
