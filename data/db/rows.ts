// Rows as the tables' types promise them: of integers, which both drivers hand over as bigint, all but money become
// numbers, and columns of JSON become the values that they hold.
import type { UnknownRow } from 'kysely';
import { jsonColumns } from '../schema/tables.ts';

/** Changes the row itself. Throws RangeError where a number could not hold the value, SyntaxError where JSON is none. */
export function decodeRow(row: UnknownRow): UnknownRow {
  for (const key in row) {
    const value = row[key];
    if (typeof value === 'bigint') {
      if (!key.endsWith('_micros')) row[key] = numberOf(key, value);
    } else if (typeof value === 'string' && Object.hasOwn(jsonColumns, key)) row[key] = JSON.parse(value);
  }
  return row;
}

function numberOf(key: string, value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER))
    throw new RangeError(`column ${key} holds an integer beyond 2^53`);
  return Number(value);
}
