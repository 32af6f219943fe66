// Transaction ids as people paste them: spellings of one transaction must not look like two.

const HEX = /^(?:0x)?([0-9a-f]{64})$/i;
/** 32 bytes in base64 or its URL form, as some explorers show hashes. */
const BASE64 = /^[\w+/-]{43}=?$/;
const HASH_BYTES = 32;

/** The one spelling that readers store: hashes of 32 bytes as lower-case hex, anything else as it is. */
export function normalizeTxid(text: string): string {
  const trimmed = text.trim();
  const hex = HEX.exec(trimmed)?.[1];
  if (hex) return hex.toLowerCase();
  if (!BASE64.test(trimmed)) return trimmed;
  const bytes = Buffer.from(trimmed.replaceAll('-', '+').replaceAll('_', '/'), 'base64');
  return bytes.length === HASH_BYTES ? bytes.toString('hex') : trimmed;
}
