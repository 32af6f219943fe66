// Where the reading of one Solana account stands.
import * as z from 'zod';
import type { Json } from '../chain.ts';
import type { SignatureInfo } from './rpc.ts';

/**
 * Slots before the newest one known whose transactions are remembered by name. Within them a node may still list
 * a transaction late, and lists those of one slot in no fixed order: the place in the list is not enough.
 */
const OVERLAP_SLOTS = 64;
/** Most signatures remembered; a busier account overlaps by fewer slots. */
const RECENT_LIMIT = 200;
/** How often a changed balance that no new transaction explains is asked about: the node's index may be late. */
const ASK_AGAIN_LIMIT = 3;

const cursorSchema = z.object({
  /** What the account held after the last transaction read; null makes the next reading list it again. */
  amount: z.string().nullable(),
  asked: z.int(),
  /** Unix seconds up to which everything was read; null until the first reading ends. */
  time: z.int().nullable(),
  /** Nothing before this slot is listed again. */
  floor: z.int(),
  /** The newest signature known from before the floor. */
  anchor: z.string().nullable(),
  recent: z.array(z.tuple([z.string(), z.int()])),
});

export type AccountCursor = z.infer<typeof cursorSchema>;

/** Of an account never read. */
export const newCursor: AccountCursor = {
  amount: '0',
  asked: 0,
  time: null,
  floor: 0,
  anchor: null,
  recent: [],
};

/** The cursor as stored; one that cannot be read counts as none, which costs requests but no payment. */
export function parseCursor(stored: Json | undefined): AccountCursor | undefined {
  const result = cursorSchema.safeParse(stored);
  return result.success ? result.data : undefined;
}

/** The cursor after these transactions were read, oldest first. */
export function advance(cursor: AccountCursor, read: readonly SignatureInfo[]): AccountCursor {
  const known: AccountCursor['recent'] = [
    ...cursor.recent,
    ...read.map(({ signature, slot }): [string, number] => [signature, slot]),
  ].sort(([, a], [, b]) => a - b);
  const newest = known.at(-1)?.[1] ?? 0;
  const outside = known.findLastIndex(([, slot]) => slot < newest - OVERLAP_SLOTS) + 1;
  const cut = Math.max(outside, known.length - RECENT_LIMIT);
  const last = known[cut - 1];
  return {
    ...cursor,
    floor: Math.max(cursor.floor, newest - OVERLAP_SLOTS, cut > outside ? (last?.[1] ?? 0) : 0),
    anchor: last?.[0] ?? cursor.anchor,
    recent: known.slice(cut),
  };
}

/**
 * The cursor at the end of a reading. `held` is the balance after the newest transaction read, `observed` what
 * the change detector saw before: where nothing was listed to explain it, it is believed only after some tries.
 */
export function settle(
  cursor: AccountCursor,
  { held, observed, listed }: { held: string | undefined; observed: string; listed: boolean },
  time: number,
): AccountCursor {
  const asked = listed || cursor.amount === observed ? 0 : cursor.asked + 1;
  if (asked > 0 && asked < ASK_AGAIN_LIMIT) return { ...cursor, asked };
  return { ...cursor, amount: held ?? observed, asked: 0, time: Math.max(cursor.time ?? 0, time) };
}
