// Payment links of Ethereum and its relatives: ERC-681, and the links that wallets document.
import { formatDecimal } from '../../money.ts';
import type { PaymentLinks, PaymentOrder, Wallet } from '../family.ts';

export const ETHEREUM_SCHEME = 'ethereum';
/** docs.metamask.io, use deeplinks. */
const METAMASK_SEND = 'https://link.metamask.io/send/';

export const wallets: readonly Wallet[] = [
  { name: 'MetaMask', hosts: ['link.metamask.io'] },
  { name: 'Trust Wallet', hosts: ['link.trustwallet.com'] },
];

/** How Trust Wallet names the coins of networks, by chain id; it has no test networks. */
const TRUST_COINS: Readonly<Record<number, number>> = {
  1: 60,
  56: 20000714,
  137: 966,
  8453: 8453,
  42161: 10042221,
};

/**
 * The code of a coin is its ERC-681 URI: who reads it badly still finds the address. The code of a token is the address
 * alone: several wallets take the contract in a token's URI for the recipient, and what is sent to a contract is lost. That
 * URI is only behind the button, where the wallet that opens it is one that says it reads such links.
 */
export function paymentLinks(chain_id: number, order: PaymentOrder): PaymentLinks {
  const { gateway, address, amount_atomic } = order;
  const token = gateway.token_contract;
  const request =
    token === null
      ? `${address}@${chain_id}?value=${amount_atomic}`
      : `${token}@${chain_id}/transfer?address=${address}&uint256=${amount_atomic}`;
  const wallet = `${ETHEREUM_SCHEME}:${request}`;
  const coin = TRUST_COINS[chain_id];
  const links: Record<string, string> = {
    wallet,
    metamask: METAMASK_SEND + request,
    ...(coin === undefined ? {} : { trust: trustLink(coin, order) }),
  };
  return {
    uri: token === null ? wallet : address,
    exits: Object.fromEntries(Object.entries(links).filter(([kind]) => gateway.exits.includes(kind))),
  };
}

/** developer.trustwallet.com, deep linking: a coin by its number, a token by its contract behind it. */
export function trustLink(coin: number, { gateway, address, amount_atomic }: PaymentOrder): string {
  const token = gateway.token_contract === null ? '' : `_t${gateway.token_contract}`;
  const amount = formatDecimal(amount_atomic, gateway.decimals);
  return `https://link.trustwallet.com/send?asset=c${coin}${token}&address=${address}&amount=${amount}`;
}
