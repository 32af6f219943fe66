// Addresses of EVM networks: 20 bytes in hex, with the checksum of EIP-55 where letters differ in case.
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { AddressError, type ChainAddress } from '../family.ts';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** The spelling of EIP-55, of a key as chains answer it. */
export function checksummed(key: string): string {
  const digits = key.slice(2);
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(hash[at] as string, 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}

/** The same on every EVM network, and on its test networks. Throws AddressError. */
export function normalizeAddress(text: string): ChainAddress {
  const given = text.trim();
  if (!ADDRESS.test(given)) throw new AddressError('an address is 0x and 40 hexadecimal digits');
  const key = given.toLowerCase();
  const address = checksummed(key);
  const digits = given.slice(2);
  const isCased = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (isCased && given !== address)
    throw new AddressError('the checksum of the address is wrong: a letter differs; copy it again');
  return { address, key };
}
