// Receive addresses of TRON: base58check of 0x41 and 20 bytes; the bytes are what an Ethereum address is.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { createBase58check } from '@scure/base';
import { cleanText } from '../../clean.ts';
import { refuseReserved } from '../evm/address.ts';
import { AddressError, type ChainAddress } from '../family.ts';

const base58check = createBase58check(sha256);
const EXPECTED = 'expected an address that begins with T and has 34 characters';
/** The first byte of every address, of the main network and of test networks alike. */
const VERSION = 0x41;
const BYTES = 21;
/** Longer text is not decoded, which takes time that grows with its square. */
const MAX_LENGTH = 64;

/**
 * The address as wallets show it; the key is the 20 bytes as lower-case hex after 0x, as the chain's answers name it.
 * `contracts`: the token contracts that are known, by key. Throws AddressError.
 */
export function normalizeAddress(text: string, contracts: ReadonlySet<string>): ChainAddress {
  const address = cleanText(text);
  const key = keyOf(address);
  refuseReserved(key, contracts);
  return { address, key };
}

/** The key of an address, whatever it is the address of. Throws AddressError. */
export function keyOf(text: string): string {
  const address = cleanText(text);
  const refuse = (why: string): never => {
    throw new AddressError(`${why}; ${EXPECTED}`);
  };
  if (address === '') return refuse('the address is empty');
  if (/^(0x)?(41)?[0-9a-f]{40}$/i.test(address))
    return refuse('this is the hexadecimal form, which has no checksum: give the T… address');
  if (/^(0x)?[0-9a-f]{64}$/i.test(address))
    return refuse('this is a transaction id or a private key, which must never be given to anyone');
  const bytes = address.length > MAX_LENGTH ? null : decode(address);
  if (!bytes) return refuse('the address is misspelt: its checksum is wrong');
  if (bytes.length !== BYTES || bytes[0] !== VERSION) return refuse('the address belongs to another coin');
  return `0x${bytesToHex(bytes.subarray(1))}`;
}

/** The T… address of a key. */
export const showAddress = (key: string): string =>
  base58check.encode(Uint8Array.from([VERSION, ...hexToBytes(key.slice(2))]));

function decode(address: string): Uint8Array | null {
  try {
    return base58check.decode(address);
  } catch {
    // Not base58, or a wrong checksum: either way a slip of the pen.
    return null;
  }
}
