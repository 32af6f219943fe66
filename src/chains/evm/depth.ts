// How deep a block stands: in seconds of the chain's own time, with blocks built on it, whatever blocks take.
import { type EvmCursor, headOf, latestTime, paceOf, sinceUnseen } from './cursor.ts';
import type { EvmNetwork } from './networks.ts';

/**
 * Of the blocks that a depth in seconds is at the measured pace, so many must stand on a block besides: time in which a chain
 * stood still makes nothing deep, nor does a block whose time is a lie. A block that is missing now and then keeps no one waiting.
 */
const BUILT_SHARE = 0.9;
/** Until the pace is measured, a chain may be so many times slower than is known of it. */
const UNMEASURED_TIMES = 10;

/** Seconds that one block takes: by what was measured, else by what is known of the network. */
export function blockSeconds({ block_seconds }: EvmNetwork, cursor: EvmCursor | null): number {
  const pace = cursor && paceOf(cursor, block_seconds);
  return pace?.recent_seconds ?? block_seconds;
}

/** At least as many blocks as a chain makes in so many seconds. */
export const blocksIn = (network: EvmNetwork, cursor: EvmCursor | null, seconds: number): number =>
  Math.max(1, Math.ceil(seconds / blockSeconds(network, cursor)));

export interface Depth {
  confirmations: number;
  depth_seconds: number | null;
  final: boolean;
}

/**
 * How deep blocks stand: by blocks that were read, and by no one's word. `time`: of the block; where it is not given, that
 * of a later one counts.
 */
export function placer(network: EvmNetwork, cursor: EvmCursor): (height: number, time?: number) => Depth {
  const { final, block_seconds, is_sequenced } = network;
  const [head, , now] = headOf(cursor);
  const measured = paceOf(cursor, block_seconds)?.recent_seconds ?? cursor.block_seconds;
  const pace = measured ?? block_seconds * UNMEASURED_TIMES;
  const built = (seconds: number) => Math.ceil((BUILT_SHARE * seconds) / pace);
  return (height, time = latestTime(cursor, height)) => {
    const confirmations = head - height + 1;
    const claimed = now === undefined || time === undefined ? null : Math.max(0, now - time);
    const age = claimed !== null && is_sequenced ? Math.min(claimed, sinceUnseen(cursor, height)) : claimed;
    const isDeep = (seconds: number) => age !== null && age >= seconds && confirmations > built(seconds);
    // What is shown as seconds decides elsewhere as well: it never is more than blocks vouch for.
    const vouched = Math.floor((confirmations - 1) * (pace / BUILT_SHARE));
    const depth_seconds = age === null ? null : Math.min(age, vouched);
    const isTagged = height <= cursor.final && isDeep(final.depth_seconds);
    return { confirmations, depth_seconds, final: isTagged || isDeep(final.alone_seconds) };
  };
}

export const placeIn = (network: EvmNetwork, cursor: EvmCursor, height: number, time?: number): Depth =>
  placer(network, cursor)(height, time);
