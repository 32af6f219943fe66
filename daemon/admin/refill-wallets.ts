// The deployment's wallets: where refills and invoices of the platform key are paid to. New invoices only: one that
// exists keeps the address it shows.

import type { z } from 'zod';
import { deleteDeploymentWallet, deploymentWallets, putDeploymentWallet } from '../../data/merchants.ts';
import type { AdminRefillWallets, AdminRefillWalletsSet } from '../../src/api/schemas/admin.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import { cleanText } from '../../src/clean.ts';
import { Refusal } from '../../src/errors.ts';
import { readAddress } from '../accounts/address.ts';
import { presentWallet } from '../accounts/present.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { UserContext } from '../http/handler.ts';
import { blockchainsOf } from '../units/present.ts';
import { operatorName } from './resolve.ts';

/** AdminRefillWallets. */
export async function refillWallets(app: App): Promise<z.output<typeof AdminRefillWallets>> {
  const wallets = await deploymentWallets(app.db.query);
  return {
    wallets: wallets.map((wallet) => ({ ...presentWallet(app, wallet), note: wallet.note })),
    missing: blockchainsOf(app.gateways).filter((id) => !wallets.some((wallet) => wallet.blockchain === id)),
  };
}

/** Sets or, with an empty address, removes a wallet. Refuses with `unknown_chain` or `invalid_address`. */
export async function setRefillWallet(
  { app, user, log }: UserContext,
  { chain, address, note }: { chain: string; address: string; note: string | null },
): Promise<z.output<typeof AdminRefillWalletsSet>> {
  const blockchain = findByChain(app, chain);
  const actor = operatorName(user);
  if (address === '') {
    await deleteDeploymentWallet(app.db.query, blockchain.id);
    log.warn({ blockchain: blockchain.id, actor, note }, 'refill wallet removed');
    return { ...(await refillWallets(app)), warning: null };
  }
  const normal = readAddress(app, blockchain, address);
  const warning = await app.wallet_check.refuseNoWallet(blockchain, normal.key);
  await putDeploymentWallet(app.db.query, {
    blockchain: blockchain.id,
    address: normal.address,
    address_key: normal.key,
    note,
    updated_at: seconds(app.clock),
  });
  log.warn({ blockchain: blockchain.id, address: normal.address, actor, note }, 'refill wallet set');
  return { ...(await refillWallets(app)), warning };
}

/** A blockchain by its own id or by that of any of its gateways. */
function findByChain(app: App, chain: string): Blockchain {
  const name = cleanText(chain).toLowerCase();
  const gateway = app.gateways.find((one) => one.chain === name);
  const found = app.config.chains.find(gateway?.blockchain ?? name);
  if (found) return found;
  throw new Refusal('unknown_chain', {
    detail: `Unknown blockchain; use one of ${blockchainsOf(app.gateways).join(', ')}`,
  });
}
