// Receive addresses of Bitcoin and its relatives: text to scriptPubKey, with every checksum.

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { cleanText } from '../../clean.ts';
import { AddressError, type ChainAddress, type Network } from '../family.ts';

const base58check = createBase58check(sha256);
const MAX_ADDRESS_LENGTH = 90;
const HASH160_BYTES = 20;

export interface AddressRules {
  /** Human-readable parts of segwit addresses. */
  prefixes: Record<Network, readonly string[]>;
  /** Version bytes of base58 addresses. */
  p2pkh: Record<Network, readonly number[]>;
  p2sh: Record<Network, readonly number[]>;
  /** What is expected, for messages. */
  expected: Record<Network, string>;
}

export const bitcoinAddresses: AddressRules = {
  prefixes: { mainnet: ['bc'], testnet: ['tb', 'bcrt'] },
  p2pkh: { mainnet: [0x00], testnet: [0x6f] },
  p2sh: { mainnet: [0x05], testnet: [0xc4] },
  expected: { mainnet: 'bc1…, 1… or 3…', testnet: 'tb1…, bcrt1…, m…, n… or 2…' },
};

export const litecoinAddresses: AddressRules = {
  prefixes: { mainnet: ['ltc'], testnet: ['tltc', 'rltc'] },
  p2pkh: { mainnet: [0x30], testnet: [0x6f] },
  p2sh: { mainnet: [0x32, 0x05], testnet: [0x3a, 0xc4] },
  expected: { mainnet: 'ltc1…, L…, M… or 3…', testnet: 'tltc1…, rltc1…, m…, n…, Q… or 2…' },
};

/** Payments to these cannot be seen by anyone but their owner. */
const HIDDEN_PREFIXES = ['ltcmweb', 'tmweb'];
const SEGWIT_PREFIXES = ['bc', 'tb', 'bcrt', 'ltc', 'tltc', 'rltc', ...HIDDEN_PREFIXES];

/** The address as wallets show it (segwit in lower case); the key is its scriptPubKey in hex. Throws AddressError. */
export function normalizeAddress(rules: AddressRules, text: string, network: Network): ChainAddress {
  const address = cleanText(text);
  const refuse = (why: string): never => {
    throw new AddressError(`${why}; expected an address like ${rules.expected[network]}`);
  };
  if (address === '') return refuse('the address is empty');
  const prefix = address.slice(0, address.lastIndexOf('1')).toLowerCase();
  // Before the length: hidden addresses are longer than any other.
  if (HIDDEN_PREFIXES.includes(prefix)) return refuse('payments to an MWEB address cannot be observed');
  if (address.length > MAX_ADDRESS_LENGTH) return refuse('the address is too long');
  const payload = decodeBase58(address);
  if (payload) {
    const [version = -1, ...hash] = payload;
    const key = base58Script(rules, version, hash, network);
    if (key) return { address, key };
    const other = base58Script(rules, version, hash, network === 'mainnet' ? 'testnet' : 'mainnet');
    return refuse(other ? notFor(network) : 'the address belongs to another coin');
  }
  if (!SEGWIT_PREFIXES.includes(prefix)) return refuse('the address is misspelt or of another coin');
  if (address !== address.toLowerCase() && address !== address.toUpperCase()) {
    return refuse('the address mixes upper and lower case');
  }
  const lower = address.toLowerCase();
  const script = segwitScript(lower, refuse);
  if (rules.prefixes[network].includes(prefix)) return { address: lower, key: script };
  const known = [...rules.prefixes.mainnet, ...rules.prefixes.testnet].includes(prefix);
  return refuse(known ? notFor(network) : 'the address belongs to another coin');
}

const notFor = (network: Network) =>
  network === 'mainnet' ? 'this is a test network address' : 'this is a main network address';

function decodeBase58(address: string): Uint8Array | null {
  try {
    return base58check.decode(address);
  } catch {
    // Not base58 or a wrong checksum: the caller tries the other form and names the failure.
    return null;
  }
}

function base58Script(
  rules: AddressRules,
  version: number,
  hash: number[],
  network: Network,
): string | undefined {
  if (hash.length !== HASH160_BYTES) return undefined;
  const hex = bytesToHex(Uint8Array.from(hash));
  if (rules.p2pkh[network].includes(version)) return `76a914${hex}88ac`;
  if (rules.p2sh[network].includes(version)) return `a914${hex}87`;
  return undefined;
}

/** Version 0 is bech32, version 1 bech32m (BIP350). Later versions can be spent by anyone today: refused. */
function segwitScript(address: string, refuse: (why: string) => never): string {
  const old = bech32.decodeUnsafe(address);
  const decoded = old ?? bech32m.decodeUnsafe(address);
  const [version, ...words] = decoded?.words ?? [];
  const program = decoded && bech32.fromWordsUnsafe(words);
  if (version === undefined || !program) return refuse('the address is misspelt: its checksum is wrong');
  if (version === 0 && old && (program.length === 20 || program.length === 32)) {
    return `00${program.length.toString(16)}${bytesToHex(program)}`;
  }
  if (version === 1 && !old && program.length === 32) return `5120${bytesToHex(program)}`;
  return refuse('the address is of no kind that wallets can pay to');
}
