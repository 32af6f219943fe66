// Transaction ids that are hashes of 32 bytes: spellings of one transaction must not count as two.

const HEX = /^(?:0x)?([0-9a-f]{64})$/i;

/** As lower-case hex without `0x`; null where the text is no such hash. */
export const hexHash = (text: string): string | null => HEX.exec(text.trim())?.[1]?.toLowerCase() ?? null;

/** Longest text that is searched for an id. */
export const MAX_PASTED = 512;
/** A hash in base64, as some explorers show it. */
const BASE64_HASH = /^[\w+/-]{43}=?$/;
/** A hash in hex, or a signature in base58, alone or somewhere in a link. */
const WITHIN = /(?<![0-9a-z])(?:(?:0x)?[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{80,90})(?![0-9a-z])/i;
/** What may be sent to a provider: no sign that means something in a URL. */
const PLAIN = /^[0-9a-z]{64,90}$/i;

/**
 * The transaction that a person names, as a blockchain stores its ids; also out of a link to an explorer. Null where
 * nothing in the text can be one.
 */
export function findTxid(text: string, normalizeTxid: (text: string) => string): string | null {
  const trimmed = text.slice(0, MAX_PASTED).trim();
  const id = BASE64_HASH.test(trimmed) ? trimmed : WITHIN.exec(trimmed)?.[0];
  const txid = id === undefined ? '' : normalizeTxid(id);
  return PLAIN.test(txid) ? txid : null;
}
