// What is at an address: programs, mints and token accounts are no wallets.
import type { Rpc } from '../family.ts';
import { SYSTEM_PROGRAM } from './address.ts';
import { isTokenProgram, parsedOf } from './assets.ts';
import { readAccounts, type SolanaAccount } from './providers/rpc.ts';

/** Why this is no wallet; null where it is one, or nothing so far. */
export function whyNoWallet(account: SolanaAccount): string | null {
  if (!account || account.owner === SYSTEM_PROGRAM) return null;
  if (!isTokenProgram(account.owner))
    return `This address belongs to the program ${account.owner}; give the address of your wallet`;
  const what = parsedOf(account)?.type === 'mint' ? 'a token' : 'a token account';
  return `This is the address of ${what}; give the address of your wallet`;
}

/** The same, asked of the chain. Throws ProviderError. */
export async function inspectSolanaAddress(rpc: Rpc, address_key: string): Promise<string | null> {
  const { found } = await readAccounts(rpc, [address_key], 0);
  return whyNoWallet(found[0] ?? null);
}
