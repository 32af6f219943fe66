// What the contract at an address is: jetton wallets and masters are no wallets, and a jetton wallet is held against its master.
import { Address } from '@ton/core';
import { ProviderError, type Rpc } from '../chain.ts';
import { keyOf } from './address.ts';
import { getJettonWallet, getWalletData, isJettonMaster } from './toncenter.ts';

export const JETTON_WALLET = 'is a jetton wallet, not a wallet';
const JETTON_MASTER = 'is a jetton master, not a wallet';

/**
 * Why an address cannot be a wallet; null where it can, or has no code yet. A contract that calls itself a jetton wallet
 * is one where its master says so too. Throws ProviderError.
 */
export async function inspectAddress(rpc: Rpc, address_key: string): Promise<string | null> {
  const address = Address.parseRaw(address_key);
  const data = await getWalletData(rpc, address);
  if (data === 'no_code') return null;
  if (data !== 'none') {
    const wallet = await nameWallet(rpc, data.master, data.owner);
    if (wallet?.equals(address)) return JETTON_WALLET;
  }
  return (await isJettonMaster(rpc, address)) ? JETTON_MASTER : null;
}

/** As a stranger's contract has it, which may answer anything; null where it names none. */
async function nameWallet(rpc: Rpc, master: Address, owner: Address): Promise<Address | null> {
  try {
    return await getJettonWallet(rpc, master, owner);
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'bad_answer') return null;
    throw error;
  }
}

/**
 * What a jetton wallet and its master say differently from what is known of them; null where they agree. One that is
 * not deployed says nothing, unless it is known to be `deployed`. Throws ProviderError.
 */
export async function verifyJettonWallet(
  rpc: Rpc,
  { account, owner, master }: { account: string; owner: string; master: string },
  deployed: boolean,
): Promise<string | null> {
  const named = await getJettonWallet(rpc, Address.parseRaw(master), Address.parseRaw(owner));
  if (!named) return 'the jetton master does not name its wallet any more';
  if (keyOf(named) !== account) return `the jetton master names another wallet now: ${keyOf(named)}`;
  const data = await getWalletData(rpc, named);
  if (data === 'no_code') return deployed ? 'the jetton wallet does not answer' : null;
  if (data === 'none') return 'the account that the jetton master names is no jetton wallet';
  const same = keyOf(data.owner) === owner && keyOf(data.master) === master;
  return same ? null : 'the jetton wallet names another owner or master';
}
