// How TON's transactions are named: by a hash, as hex or as base64.
import { cleanText } from '../../clean.ts';
import { hexHash } from '../txid.ts';

/** 32 bytes in base64 or its URL form, as some explorers show hashes. */
const BASE64 = /^[\w+/-]{43}=?$/;
const HASH_BYTES = 32;

/** The hash as lower-case hex; null where the text is none. */
export function hashOf(text: string): string | null {
  const trimmed = cleanText(text);
  if (!BASE64.test(trimmed)) return hexHash(trimmed);
  const bytes = Buffer.from(trimmed, 'base64url');
  return bytes.length === HASH_BYTES ? bytes.toString('hex') : null;
}

export const normalizeTxid = (text: string): string => hashOf(text) ?? cleanText(text);
