// The cursor of an EVM chain: hashes of blocks that were read, dense near the head and sparse below.
import type { Json } from '../family.ts';

/** The height of the last block read, as stored; null where the cursor has none. */
export function cursorHeight(cursor: Json | null): number | null {
  const { held } = (cursor ?? {}) as { held?: Json };
  const head = Array.isArray(held) ? held.at(-1) : undefined;
  const height = Array.isArray(head) ? head[0] : undefined;
  return typeof height === 'number' && Number.isInteger(height) ? height : null;
}
