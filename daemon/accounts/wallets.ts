// A merchant's receive wallets: one for each blockchain.

import { deploymentWallets, putWallet, walletsOf } from '../../data/merchants.ts';
import type { DeploymentWalletRow, MerchantRow, WalletRow } from '../../data/schema/tables.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import { cleanText } from '../../src/clean.ts';
import { Refusal } from '../../src/errors.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { enabledGateways } from '../invoices/gateways.ts';
import { blockchainsOf } from '../units/present.ts';
import { readAddress } from './address.ts';

/** The wallets of an account, and the ids of the blockchains that it has enabled without one. */
export async function walletsAndMissing(
  app: App,
  account: MerchantRow,
): Promise<{ wallets: WalletRow[]; missing: string[] }> {
  const wallets = await walletsOf(app.db.query, account.id);
  const needed = blockchainsOf(enabledGateways(app.gateways, account.enabled_currencies));
  return { wallets, missing: needed.filter((id) => !wallets.some((wallet) => wallet.blockchain === id)) };
}

export interface WalletUpdate {
  blockchain: string;
  address: string;
  /** Also on every other enabled blockchain that has the same addresses. */
  everywhere?: boolean | undefined;
}

export interface WalletsSet {
  /** The wallet that was asked for first, then those it was set for as well. */
  wallets: [WalletRow, ...WalletRow[]];
  /** What their owner should know of them; null where nothing is known. */
  warning: string | null;
}

/** Sets all of them or none. Refuses with `unknown_chain` or `invalid_address`. */
export async function setWallet(
  app: App,
  account: MerchantRow,
  { blockchain: name, address: text, everywhere = false }: WalletUpdate,
): Promise<WalletsSet> {
  const asked = findEnabledBlockchain(app, name);
  const enabled = blockchainsOf(app.gateways);
  const { chains } = app.config;
  const others = everywhere
    ? chains.sharingAddresses(asked.id).flatMap((id) => (enabled.includes(id) ? (chains.find(id) ?? []) : []))
    : [];
  const warnings: string[] = [];
  const walletOn = async (blockchain: Blockchain): Promise<WalletRow> => {
    const { address, key } = readAddress(app, blockchain, text);
    const warning = await app.wallet_check.refuseNoWallet(blockchain, key);
    if (warning !== null) warnings.push(warning);
    return {
      merchant_id: account.id,
      blockchain: blockchain.id,
      address,
      address_key: key,
      updated_at: seconds(app.clock),
    };
  };
  const wallet = await walletOn(asked);
  const also = await Promise.all(others.map(walletOn));
  await app.db.transaction(async (tx) => {
    for (const each of [wallet, ...also]) await putWallet(tx, each);
  });
  return { wallets: [wallet, ...also], warning: warnings.join(' ') || null };
}

/** The operator's wallets on blockchains that are enabled: those that refills can be paid to. */
export async function refillWallets(app: App): Promise<DeploymentWalletRow[]> {
  const used = new Set(blockchainsOf(app.gateways));
  return (await deploymentWallets(app.db.query)).filter(({ blockchain }) => used.has(blockchain));
}

function findEnabledBlockchain(app: App, text: string): Blockchain {
  const known = blockchainsOf(app.gateways);
  const name = cleanText(text).toLowerCase();
  // A caller that names a gateway means its blockchain, but a wallet is one per blockchain: the refusal says so.
  const meant = app.gateways.find((gateway) => gateway.chain === name)?.blockchain;
  const blockchain = known.includes(name) ? app.config.chains.find(name) : undefined;
  if (blockchain) return blockchain;
  throw new Refusal('unknown_chain', {
    detail: meant
      ? `A wallet belongs to a blockchain: use ${meant}`
      : `Unknown or disabled blockchain; use one of ${known.join(', ')}`,
  });
}
