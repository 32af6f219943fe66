// What is at an address: the contract of a token is no wallet. Those of people are: contract wallets are paid like others.
import { type Network, ProviderError, type Rpc } from '../family.ts';
import { codeOf, wordOf } from './answers.ts';
import { DECIMALS } from './assets.ts';
import type { EvmNetwork } from './networks.ts';

/** More would be no token: 10^78 does not fit into a word. */
const MOST_DECIMALS = 77n;
/** What an account has for code that runs that of another address (EIP-7702), before this address. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/i;

/** Why this is no wallet; null where it may be one. Throws ProviderError. */
export async function inspectEvmAddress(rpc: Rpc, address_key: string): Promise<string | null> {
  const decimals = wordOf(await callOrNull(rpc, address_key));
  if (decimals === null || decimals === 0n || decimals > MOST_DECIMALS) return null;
  return 'This is the contract of a token; give the address of your wallet';
}

/** An address that runs code may pass on what it gets, which may well be wanted. Throws ProviderError. */
export async function warnOfEvmAddress(
  { name, coins, dialect }: EvmNetwork,
  rpc: Rpc,
  address_key: string,
  side: Network,
): Promise<string | null> {
  const code = codeOf(await rpc.call('eth_getCode', [address_key, 'latest']), address_key);
  if (code === '0x') return null;
  const [, delegate] = DELEGATION.exec(code) ?? [];
  const what = delegate
    ? `On ${name} this address runs the code of ${dialect.shown(`0x${delegate.toLowerCase()}`)}, which can pass on what it gets: make sure that you have chosen that.`
    : `On ${name} this address is a contract, which can pass on what it gets: make sure that it is your wallet.`;
  // Elsewhere each transfer of the coin is listed.
  const isSearched = ['balances', 'blocks'].includes(coins[side].found_by);
  return isSearched
    ? `${what} Payments in the coin are searched for in whole blocks there, and their invoices end later.`
    : what;
}

/** What is no token refuses the question. */
async function callOrNull(rpc: Rpc, to: string): Promise<unknown> {
  try {
    return await rpc.call('eth_call', [{ to, data: DECIMALS }, 'latest']);
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'rpc') return null;
    throw error;
  }
}
