// What the contract at an address is: jetton wallets and masters are no wallets, and a jetton wallet is held against its master.
import { Address } from '@ton/core';
import { ProviderError, type Rpc } from '../family.ts';
import { keyOf } from './address.ts';
import { getJettonWallet, getWalletData, isJettonMaster } from './providers/toncenter.ts';

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

/** What is known of a jetton wallet: keys, all three. */
export interface KnownWallet {
  account: string;
  owner: string;
  master: string;
}

/** What the wallet and its master say of each other. */
export interface WalletCheck {
  /** What contradicts; null where they agree. */
  doubt: string | null;
  /** The account to be read instead; null where the known one stays. */
  replaced_by: string | null;
}

/**
 * Holds a jetton wallet against its master and both against what is known. What was known stays: another wallet that
 * the master names is believed only where the known one denies to be it, or the other confirms and the known one does
 * not. One that is not deployed says nothing, unless it is known to be `deployed`. Throws ProviderError.
 */
export async function verifyJettonWallet(
  rpc: Rpc,
  known: KnownWallet,
  deployed: boolean,
): Promise<WalletCheck> {
  const word = await wordOf(rpc, known.account, known);
  const named = await getJettonWallet(rpc, Address.parseRaw(known.master), Address.parseRaw(known.owner));
  const stays = (doubt: string | null): WalletCheck => ({ doubt, replaced_by: null });
  if (!named) return stays('the jetton master does not name its wallet any more');
  const other = keyOf(named);
  if (other === known.account) {
    if (word === 'denies') return stays('the account that the jetton master names is another wallet or none');
    return stays(word === 'silent' && deployed ? 'the jetton wallet does not answer' : null);
  }
  const doubt = `the jetton master names another wallet now: ${other}`;
  if (word === 'confirms') return stays(doubt);
  const isBelieved = word === 'denies' || (await wordOf(rpc, other, known)) === 'confirms';
  return { doubt, replaced_by: isBelieved ? other : null };
}

/** Whether a contract says that it is the wallet of this owner and master. */
async function wordOf(
  rpc: Rpc,
  account: string,
  { owner, master }: KnownWallet,
): Promise<'confirms' | 'denies' | 'silent'> {
  const data = await getWalletData(rpc, Address.parseRaw(account));
  if (data === 'no_code') return 'silent';
  if (data === 'none') return 'denies';
  return keyOf(data.owner) === owner && keyOf(data.master) === master ? 'confirms' : 'denies';
}
