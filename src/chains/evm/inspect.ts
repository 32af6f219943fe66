// What is at an address: the contract of a token is no wallet. Those of people are: contract wallets are paid like others.
import { ProviderError, type Rpc } from '../family.ts';
import { wordOf } from './answers.ts';
import { DECIMALS } from './assets.ts';

/** More would be no token: 10^78 does not fit into a word. */
const MOST_DECIMALS = 77n;

/** Why this is no wallet; null where it may be one. Throws ProviderError. */
export async function inspectEvmAddress(rpc: Rpc, address_key: string): Promise<string | null> {
  const decimals = wordOf(await callOrNull(rpc, address_key));
  if (decimals === null || decimals === 0n || decimals > MOST_DECIMALS) return null;
  return 'This is the contract of a token; give the address of your wallet';
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
