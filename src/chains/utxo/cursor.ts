// The cursor of a block chain: the hashes of the last blocks read, so that a reorganisation shows.
import type { Json } from '../chain.ts';

/** Deeper reorganisations are not followed: the operator is told instead. */
export const RING_LENGTH = 100;

/** Hashes of successive blocks, oldest first; the last one is at `height`. Never empty. */
export type Ring = { height: number; hashes: string[] };

/** The stored cursor; null before the first read. */
export function ringOf(cursor: Json | null): Ring | null {
  if (cursor === null) return null;
  const { height, hashes } = cursor as Partial<Ring>;
  if (typeof height !== 'number' || !Array.isArray(hashes) || hashes.length === 0) {
    throw new Error('the stored block cursor is damaged');
  }
  return { height, hashes };
}

export const lowestHeight = (ring: Ring): number => ring.height - ring.hashes.length + 1;

/** The hash read at this height; undefined outside of the ring. */
export const hashIn = (ring: Ring, height: number): string | undefined =>
  height > ring.height ? undefined : ring.hashes.at(height - ring.height - 1);

export const headOf = (ring: Ring): string => ring.hashes.at(-1) as string;

export const extended = (ring: Ring, hash: string): Ring => ({
  height: ring.height + 1,
  hashes: [...ring.hashes, hash].slice(-RING_LENGTH),
});
