// TON addresses: what people paste, what wallets show, what the indexer answers.

import { Address } from '@ton/core';
import { cleanText } from '../../clean.ts';
import { AddressError, type ChainAddress, type Network } from '../family.ts';

const RAW = /^(?:-1|0):[0-9a-f]{64}$/i;
const FRIENDLY_LENGTH = 48;
const WORKCHAINS = [0, -1];

const EXPECTED: Record<Network, string> = {
  mainnet: 'expected UQ… or EQ… (48 characters)',
  testnet: 'expected 0Q…, kQ…, UQ… or EQ… (48 characters)',
};

/**
 * Accepts the raw form and both friendly forms in either base64 alphabet, with their checksum.
 * The test-only flag is refused on the main network; a main-network form names the same account on a test network.
 */
export function normalizeAddress(text: string, network: Network): ChainAddress {
  const address = parseAddress(cleanText(text), network);
  if (!WORKCHAINS.includes(address.workChain)) {
    throw new AddressError(
      `Address of workchain ${address.workChain}, which does not exist; ${EXPECTED[network]}`,
    );
  }
  if (address.hash.every((byte) => byte === 0)) {
    throw new AddressError(`No one owns the zero address; ${EXPECTED[network]}`);
  }
  return { address: showAddress(address, network), key: keyOf(address) };
}

function parseAddress(text: string, network: Network): Address {
  if (RAW.test(text)) return Address.parseRaw(text);
  if (text.length !== FRIENDLY_LENGTH) throw new AddressError(`Not a TON address; ${EXPECTED[network]}`);
  let parsed: ReturnType<typeof Address.parseFriendly>;
  try {
    parsed = Address.parseFriendly(text);
  } catch {
    throw new AddressError(`Not a TON address, its checksum does not match; ${EXPECTED[network]}`);
  }
  if (parsed.isTestOnly && network === 'mainnet') {
    throw new AddressError(`Address is marked for test networks only; ${EXPECTED[network]}`);
  }
  return parsed.address;
}

/** Wallets are shown non-bounceable, so that a payment to one that was never deployed stays there. */
export const showAddress = (address: Address, network: Network): string =>
  address.toString({ bounceable: false, testOnly: network === 'testnet' });

/** Jetton masters are contracts and are shown bounceable. */
export const showContract = (address: Address, network: Network): string =>
  address.toString({ bounceable: true, testOnly: network === 'testnet' });

/** The indexer's spelling: the raw form with upper-case hex. */
export const keyOf = (address: Address): string =>
  `${address.workChain}:${address.hash.toString('hex').toUpperCase()}`;

/** Reads an address that the chain or the indexer gave; null where it is none. */
export function readAddress(text: string): Address | null {
  try {
    return Address.parse(text);
  } catch {
    return null;
  }
}
