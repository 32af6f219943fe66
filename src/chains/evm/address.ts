// Receive addresses of Ethereum and its relatives: 20 bytes as hex, with the checksum that the case of the letters holds.

import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { cleanText } from '../../clean.ts';
import { AddressError, type ChainAddress } from '../family.ts';

const EXPECTED = 'expected 0x and 40 hexadecimal digits, as the wallet shows them';
const ADDRESS = /^0x([0-9a-f]{40})$/i;
/** A digit of the hash from here on makes the letter in its place a capital. */
const CAPITAL_FROM = 8;

/** What wallets and shops show in place of an address; the message says what to give. */
const OTHER_FORMS: readonly [form: RegExp, why: string][] = [
  [/^(0x)?[0-9a-f]{64}$/i, 'this is a transaction id or a private key, which must never be given to anyone'],
  [/^[0-9a-f]{40}$/i, 'the 0x at the beginning is missing'],
  [/^xe[0-9a-z]{14,33}$/i, 'this is an ICAP number: give the 0x… address that it stands for'],
  [/^T[1-9A-HJ-NP-Za-km-z]{33}$/, 'this is a TRON address: give the 0x… address of this network'],
  [/^[a-z][a-z0-9-]*:/i, 'give the 0x… address alone, without what stands before it'],
  [/^\S+\.[a-z]{2,}$/i, 'this is a name: give the 0x… address that it stands for'],
];

/** Nothing that is sent there can be spent: the zero address, precompiled and system contracts, burn addresses. */
const NOTHING: readonly RegExp[] = [/^0x0{36}/, /^0x(e{40}|f{39}e|dead0{32}dead)$/];
const RESERVED: readonly RegExp[] = [...NOTHING, /^0x420{34}/];

/**
 * Any spelling of an address; shown with its checksum, the key is lower case. An address that mixes cases must have the
 * right checksum, one of a single case has none. `contracts`: the token contracts that are known, by key. Throws AddressError.
 */
export function normalizeAddress(text: string, contracts: ReadonlySet<string>): ChainAddress {
  const found = spelled(text);
  refuseReserved(found.key, contracts);
  return found;
}

/** The key of a token contract, whatever its spelling. Throws AddressError. */
export function contractKeyOf(text: string): string {
  const { key } = spelled(text);
  if (NOTHING.some((form) => form.test(key)))
    throw new AddressError('there is no token at this address; give the address of its contract');
  return key;
}

function spelled(text: string): ChainAddress {
  const address = cleanText(text);
  const refuse = (why: string): never => {
    throw new AddressError(`${why}; ${EXPECTED}`);
  };
  if (address === '') return refuse('the address is empty');
  const digits = ADDRESS.exec(address)?.[1];
  if (digits === undefined) return refuse(whyNot(address));
  const key = `0x${digits.toLowerCase()}`;
  const shown = withChecksum(key);
  const is_single_case = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (!is_single_case && digits !== shown.slice(2))
    return refuse('the address is misspelt: the case of its letters, its checksum, is wrong');
  return { address: shown, key };
}

function whyNot(address: string): string {
  const [, why] = OTHER_FORMS.find(([form]) => form.test(address)) ?? [];
  return why ?? 'the address is misspelt or of another coin';
}

/** Refuses what is no one's wallet, by key. Throws AddressError. */
export function refuseReserved(key: string, contracts: ReadonlySet<string>): void {
  if (RESERVED.some((form) => form.test(key)))
    throw new AddressError('this address is no wallet: what is sent to it is lost; give one of your own');
  if (contracts.has(key))
    throw new AddressError('this is the contract of a token, not a wallet; give an address of your own');
}

/** EIP-55, of an address in lower case. */
export function withChecksum(key: string): string {
  const digits = key.slice(2);
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)));
  const cased = [...digits].map((digit, index) =>
    Number.parseInt(hash[index] ?? '0', 16) >= CAPITAL_FROM ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join('')}`;
}
