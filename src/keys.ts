// API keys: `gw_`, then base58 of 32 random bytes and a four-byte checksum, so that a mistyped key is known without a look-up.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { createBase58check } from '@scure/base';

export const KEY_PREFIX = 'gw_';
export const KEY_BYTES = 32;
/** Of the key that the operator chooses; it carries no checksum. */
export const PLATFORM_KEY_PATTERN = /^gw_[\x21-\x7e]{24,253}$/;
/** No longer text can be a key. */
export const MAX_KEY_LENGTH = 256;

const codec = createBase58check(sha256);

/** The key made of 32 random bytes. */
export function formatKey(random: Uint8Array): string {
  if (random.length !== KEY_BYTES) throw new RangeError(`a key is made of ${KEY_BYTES} random bytes`);
  return KEY_PREFIX + codec.encode(random);
}

/** Whether the text is a key of ours, by its prefix, length and checksum. */
export function isKey(text: string): boolean {
  if (!text.startsWith(KEY_PREFIX) || text.length > MAX_KEY_LENGTH) return false;
  try {
    return codec.decode(text.slice(KEY_PREFIX.length)).length === KEY_BYTES;
  } catch {
    return false;
  }
}

/** SHA-256 of the key in lower-case hex: what the database looks it up by. */
export const hashKey = (key: string): string => bytesToHex(sha256(utf8ToBytes(key)));
