// The cursor of a block chain: the hashes of the last blocks read, so that a reorganisation shows.
import type { Json } from '../family.ts';

/** Deeper reorganisations are not followed: the operator is asked to have the chain read again. */
export const RING_LENGTH = 100;

export type Ring = {
  height: number;
  /** Hashes of successive blocks, oldest first; the last one is at `height`. Never empty. */
  hashes: string[];
  /** The target (`nBits`) that the next block has to follow; null where it is not known. */
  bits: number | null;
};

/** The stored cursor; null before the first read. One that was stored without a target is taken as it is. */
export function ringOf(cursor: Json | null): Ring | null {
  if (cursor === null) return null;
  const { height, hashes, bits } = cursor as Partial<Ring>;
  if (typeof height !== 'number' || !Array.isArray(hashes) || hashes.length === 0) {
    throw new Error('the stored block cursor is damaged');
  }
  return { height, hashes, bits: typeof bits === 'number' ? bits : null };
}

/** The height of the last block read, as stored; null where the cursor has none. */
export function cursorHeight(cursor: Json | null): number | null {
  const { height } = (cursor ?? {}) as { height?: Json };
  return typeof height === 'number' && Number.isInteger(height) ? height : null;
}

export const lowestHeight = (ring: Ring): number => ring.height - ring.hashes.length + 1;

/** The hash read at this height; undefined outside of the ring. */
export const hashIn = (ring: Ring, height: number): string | undefined =>
  height > ring.height ? undefined : ring.hashes.at(height - ring.height - 1);

export const headOf = (ring: Ring): string => ring.hashes.at(-1) as string;

export const extended = (ring: Ring, hash: string, bits: number | null): Ring => ({
  height: ring.height + 1,
  hashes: [...ring.hashes, hash].slice(-RING_LENGTH),
  bits,
});
