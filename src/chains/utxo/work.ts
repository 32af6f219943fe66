// Proof of work: what each header must have cost, by the rules of the network that it belongs to.
import { scrypt } from '@noble/hashes/scrypt.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { doubleHash, type Header, MalformedBytes } from './block.ts';

/** How blocks of one network are proved. */
export interface WorkRules {
  /** What must not exceed the target, as little-endian bytes. */
  hash(header: Uint8Array): Uint8Array;
  /** `nBits` of the easiest target that the network allows at all. */
  limit_bits: number;
  /** Main networks: the least difficulty that is believed, so that a chain made from nothing is refused. */
  least_difficulty?: bigint;
  /**
   * When the target may change. `periodically`: every 2016 blocks, by a factor of 4 at most; `with_exceptions`: the same,
   * but any block may be of the easiest target (when none was found for long); `never`; `freely`: nothing is known.
   */
  retarget: 'periodically' | 'with_exceptions' | 'never' | 'freely';
}

const RETARGET_BLOCKS = 2016;
const RETARGET_FACTOR = 4n;
/** A target loses up to this share when it is written in the compact form (2^-14 of it). */
const COMPACT_LOSS_BITS = 14n;
/** The target of difficulty 1. */
const DIFFICULTY_ONE = 0xffffn << 208n;
const SCRYPT = { N: 1024, r: 1, p: 1, dkLen: 32 };

export const sha256Work = (header: Uint8Array): Uint8Array => doubleHash(header);
export const scryptWork = (header: Uint8Array): Uint8Array => scrypt(header, header, SCRYPT);

/** The target in compact form, decoded by the rules of consensus. Throws MalformedBytes where it is none. */
export function targetOf(bits: number): bigint {
  const size = bits >>> 24;
  const mantissa = bits & 0x7fffff;
  const isNegative = (bits & 0x800000) !== 0 && mantissa !== 0;
  const overflows =
    mantissa !== 0 && (size > 34 || (mantissa > 0xff && size > 33) || (mantissa > 0xffff && size > 32));
  const target =
    size <= 3 ? BigInt(mantissa) >> BigInt(8 * (3 - size)) : BigInt(mantissa) << BigInt(8 * (size - 3));
  if (isNegative || overflows || target === 0n)
    throw new MalformedBytes(`its target ${bits.toString(16)} is none`);
  return target;
}

/** Throws MalformedBytes where the header does not prove the work that the network asks for. */
export function checkWork(rules: WorkRules, { bits, bytes }: Header): void {
  const target = targetOf(bits);
  const shown = `its target ${bits.toString(16)}`;
  if (target > targetOf(rules.limit_bits))
    throw new MalformedBytes(`${shown} is easier than the network allows`);
  if (rules.least_difficulty && target > DIFFICULTY_ONE / rules.least_difficulty)
    throw new MalformedBytes(`${shown} is far easier than this network was for years`);
  if (numberOf(rules.hash(bytes)) > target) throw new MalformedBytes('it lacks the proof of work');
}

const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`);

/**
 * Whether the target of the block at this height follows from the one before. Returns what the next one has to follow:
 * the last target that was no exception, null while none is known. Throws MalformedBytes where it does not follow.
 */
export function followTarget(
  rules: WorkRules,
  bits: number,
  height: number,
  last_bits: number | null,
): number | null {
  const { retarget, limit_bits } = rules;
  if (retarget === 'freely') return bits;
  const isException = retarget === 'with_exceptions' && bits === limit_bits;
  if (isException) return last_bits;
  if (last_bits === null || bits === last_bits) return bits;
  const mayChange = retarget !== 'never' && height % RETARGET_BLOCKS === 0;
  const bases = retarget === 'with_exceptions' ? [last_bits, limit_bits] : [last_bits];
  if (mayChange && bases.some((base) => isWithinFactor(targetOf(bits), targetOf(base)))) return bits;
  throw new MalformedBytes(
    `its target ${bits.toString(16)} does not follow ${last_bits.toString(16)} at height ${height}`,
  );
}

const isWithinFactor = (target: bigint, before: bigint): boolean =>
  target <= before * RETARGET_FACTOR && target * RETARGET_FACTOR >= before - (before >> COMPACT_LOSS_BITS);
