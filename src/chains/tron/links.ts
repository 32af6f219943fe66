// Payment links of TRON, which has no URI of its own: the code is the address alone.
import { trustLink } from '../evm/links.ts';
import type { PaymentLinks, PaymentOrder, Wallet } from '../family.ts';

export const wallets: readonly Wallet[] = [{ name: 'Trust Wallet', hosts: ['link.trustwallet.com'] }];

/** How Trust Wallet names TRX; it has no test networks. */
const TRUST_COIN = 195;

export function paymentLinks(order: PaymentOrder): PaymentLinks {
  const { exits, network } = order.gateway;
  const trust = network === 'mainnet' && exits.includes('trust') ? trustLink(TRUST_COIN, order) : null;
  return { uri: order.address, exits: trust === null ? {} : { trust } };
}
