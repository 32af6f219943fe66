// Payment links of TRON, which has no URI of its own: the code is the address alone.
import { trustLink, trustWallet } from '../evm/links.ts';
import type { PaymentLinks, PaymentOrder, WalletLink } from '../family.ts';

/** How Trust Wallet names TRX; it has no test networks. */
const TRUST_COIN = 195;

const linkOf = (order: PaymentOrder): string | null =>
  order.gateway.network === 'mainnet' ? trustLink(TRUST_COIN, order) : null;

export function paymentLinks(order: PaymentOrder): PaymentLinks {
  const trust = order.gateway.exits.includes('trust') ? linkOf(order) : null;
  return { uri: order.address, exits: trust === null ? {} : { trust } };
}

export function walletLinks(order: PaymentOrder): readonly WalletLink[] {
  const href = linkOf(order);
  return href === null ? [] : [{ wallet: trustWallet, href, opens_on: ['phone'] }];
}
