// Payment links of Ethereum and its relatives: ERC-681, and the links that wallets document.
import { formatDecimal } from '../../money.ts';
import type { PaymentLinks, PaymentOrder, Wallet, WalletLink } from '../family.ts';

export const ETHEREUM_SCHEME = 'ethereum';
/** docs.metamask.io, use deeplinks. */
const METAMASK_SEND = 'https://link.metamask.io/send/';

const metamask: Wallet = { id: 'metamask', name: 'MetaMask' };
export const trustWallet: Wallet = { id: 'trust', name: 'Trust Wallet' };

/** How Trust Wallet names the coins of networks, by chain id; it has no test networks. */
const TRUST_COINS: Readonly<Record<number, number>> = {
  1: 60,
  56: 20000714,
  137: 966,
  8453: 8453,
  42161: 10042221,
};

/** The links of each kind that this network has, the wallet most likely there first. */
function linksOf(chain_id: number, order: PaymentOrder) {
  const { gateway, address, amount_atomic } = order;
  const token = gateway.token_contract;
  const request =
    token === null
      ? `${address}@${chain_id}?value=${amount_atomic}`
      : `${token}@${chain_id}/transfer?address=${address}&uint256=${amount_atomic}`;
  const coin = TRUST_COINS[chain_id];
  return {
    wallet: `${ETHEREUM_SCHEME}:${request}`,
    metamask: METAMASK_SEND + request,
    ...(coin === undefined ? {} : { trust: trustLink(coin, order) }),
  };
}

/**
 * The code of a coin is its ERC-681 URI: who reads it badly still finds the address. The code of a token is the address
 * alone: several wallets take the contract in a token's URI for the recipient, and what is sent to a contract is lost. That
 * URI is only behind the button, where the wallet that opens it is one that says it reads such links.
 */
export function paymentLinks(chain_id: number, order: PaymentOrder): PaymentLinks {
  const { gateway, address } = order;
  const links = linksOf(chain_id, order);
  return {
    uri: gateway.token_contract === null ? links.wallet : address,
    exits: Object.fromEntries(Object.entries(links).filter(([kind]) => gateway.exits.includes(kind))),
  };
}

/** Computers have no program that opens them: there the links lead to pages that ask to install something. */
export function walletLinks(chain_id: number, order: PaymentOrder): readonly WalletLink[] {
  const { wallet, metamask: send, trust } = linksOf(chain_id, order);
  return [
    { wallet: metamask, href: send, opens_on: ['phone'] },
    ...(trust === undefined ? [] : [{ wallet: trustWallet, href: trust, opens_on: ['phone'] } as const]),
    { wallet: null, href: wallet, opens_on: ['phone'] },
  ];
}

/** developer.trustwallet.com, deep linking: a coin by its number, a token by its contract behind it. */
export function trustLink(coin: number, { gateway, address, amount_atomic }: PaymentOrder): string {
  const token = gateway.token_contract === null ? '' : `_t${gateway.token_contract}`;
  const amount = formatDecimal(amount_atomic, gateway.decimals);
  return `https://link.trustwallet.com/send?asset=c${coin}${token}&address=${address}&amount=${amount}`;
}
