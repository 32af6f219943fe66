// Payment links of Bitcoin and its relatives: BIP21.
import { formatDecimal } from '../../money.ts';
import type { PaymentLinks, PaymentOrder, WalletLink } from '../family.ts';

/** `bitcoin:<address>?amount=<decimal coins>&label=<text>`: the one form that practically all wallets open. */
export function paymentLinks(scheme: string, order: PaymentOrder): PaymentLinks {
  const amount = formatDecimal(order.amount_atomic, order.gateway.decimals);
  const label = order.label && `&label=${encodeURIComponent(order.label)}`;
  const uri = `${scheme}:${order.address}?amount=${amount}${label}`;
  return { uri, exits: { wallet: uri } };
}

/** Wallets of phones and of computers register the scheme. */
export const walletLinks = (scheme: string, order: PaymentOrder): readonly WalletLink[] => [
  { wallet: null, href: paymentLinks(scheme, order).uri, opens_on: ['phone', 'desktop'] },
];
