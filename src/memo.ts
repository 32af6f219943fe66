// The short text that names an invoice on chains that carry one.

/** Upper-case letters and digits that are not mistaken for one another: no I, L, O, U, 0, 1. */
export const MEMO_ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** How many characters a memo has; 30^10 ≈ 2^49. */
export const MEMO_LENGTH = 10;

/** Makes a memo from random bytes; null when the bytes ran out (draw again). Unbiased: bytes past the last full cycle are passed over. */
export function makeMemo(random: Uint8Array, length = MEMO_LENGTH): string | null {
  const limit = 256 - (256 % MEMO_ALPHABET.length);
  let memo = '';
  for (const byte of random) {
    if (memo.length === length) break;
    if (byte < limit) memo += MEMO_ALPHABET[byte % MEMO_ALPHABET.length];
  }
  return memo.length === length ? memo : null;
}
