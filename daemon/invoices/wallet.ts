// The wallet that an invoice is paid to: the merchant's own, or the deployment's.
import { deploymentWallet, getWallet } from '../../data/merchants.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';

/** What the caller can do about a missing wallet; hint and next where they are not those of `no_wallet`. */
const walletRemedies = {
  owner: { remedy: 'set it with PUT /api/v1/merchant/wallets' },
  platform: {
    remedy: 'the operator sets it with PUT /api/v1/admin/refill-wallets',
    next: nextCall('setAdminRefillWallet'),
  },
  buyer: {
    remedy: 'its merchant has to set one',
    hint: 'Choose another of the `chains` of the unit, or contact its merchant',
    next: nextCall('getUnit'),
  },
};

/**
 * Where the owner is paid on the gateway's blockchain; null is the deployment. Refuses with `no_wallet`, in words for
 * `asker`, where there is none or the chain knows that it is no wallet.
 */
export async function walletFor(
  app: App,
  owner_id: string | null,
  gateway: Gateway,
  asker: 'owner' | 'buyer' = 'owner',
) {
  const { blockchain, blockchain_name } = gateway;
  const wallet =
    owner_id === null
      ? await deploymentWallet(app.db.query, blockchain)
      : await getWallet(app.db, owner_id, blockchain);
  const refused = wallet ? await app.wallet_check.whyNoWallet(wallet) : null;
  if (wallet && refused === null) return wallet;
  const { remedy, ...extra } =
    walletRemedies[asker === 'buyer' ? 'buyer' : owner_id === null ? 'platform' : 'owner'];
  throw new Refusal('no_wallet', {
    detail: refused
      ? `The receive wallet for ${blockchain_name} cannot be used: ${refused}; ${remedy}`
      : `No receive wallet is set for ${blockchain_name}; ${remedy}`,
    extra: { ...extra, blockchain },
  });
}

/**
 * The operator's wallet on the gateway's blockchain, which refills are paid to. Refuses with `no_wallet` where there is
 * none or the chain knows that it is no wallet.
 */
export async function refillWalletFor(app: App, { blockchain, blockchain_name }: Gateway) {
  const wallet = await deploymentWallet(app.db.query, blockchain);
  const refuse = (detail: string, hint: string) =>
    new Refusal('no_wallet', { detail, extra: { hint, next: nextCall('getRefillWallets'), blockchain } });
  if (!wallet)
    throw refuse(
      `The operator has not set a refill wallet for ${blockchain_name}; GET /api/v1/merchant/refill-wallets lists those that are set`,
      'Refill on a blockchain that has a refill wallet, or ask the operator to set one',
    );
  const refused = await app.wallet_check.whyNoWallet(wallet);
  if (refused !== null)
    throw refuse(
      `The refill wallet of the operator for ${blockchain_name} cannot be used: ${refused}`,
      'Refill on another blockchain, or ask the operator to set another wallet',
    );
  return wallet;
}
