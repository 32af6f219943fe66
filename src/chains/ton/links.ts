// Payment links: the chain's ton:// URI and the links that wallets document.
import { Address } from '@ton/core';
import type {
  Network,
  PageOrder,
  PageWallets,
  PaymentLinks,
  PaymentOrder,
  Wallet,
  WalletLink,
} from '../family.ts';
import { showContract } from './address.ts';
import { globalId } from './compose.ts';

export const TON_SCHEME = 'ton';
/** Keeper (earlier Tonkeeper); docs.tonconsole.com, deep linking. */
const WEB_TRANSFER = 'https://app.keeperwallet.com/transfer/';
/** Telegram's wallet documents no prefilled transfer, only the link that opens it. */
const TELEGRAM_WALLET = 'https://t.me/wallet';

const MYTONWALLET_TRANSFER = 'https://my.tt/transfer/';

const keeper: Wallet = { id: 'keeper', name: 'Keeper', formerly: 'Tonkeeper' };
const mytonwallet: Wallet = { id: 'mytonwallet', name: 'MyTonWallet' };

/** What follows the address's prefix in every link. Amounts are in nano, or in the jetton's own atomic units where one is named. */
function transferOf({ gateway, address, amount_atomic, memo, expires_at }: PaymentOrder): string {
  const parts = [`amount=${amount_atomic}`];
  if (memo) parts.push(`text=${encodeURIComponent(memo)}`);
  if (gateway.token_contract) {
    parts.push(`jetton=${showContract(Address.parse(gateway.token_contract), gateway.network)}`);
  }
  parts.push(`exp=${expires_at}`);
  return `${address}?${parts.join('&')}`;
}

const uriOf = (transfer: string): string => `${TON_SCHEME}://transfer/${transfer}`;

export function paymentLinks(order: PaymentOrder): PaymentLinks {
  const transfer = transferOf(order);
  const uri = uriOf(transfer);
  const links: Record<string, string> = { wallet: uri, web: WEB_TRANSFER + transfer, tg: TELEGRAM_WALLET };
  return {
    uri,
    exits: Object.fromEntries(Object.entries(links).filter(([kind]) => order.gateway.exits.includes(kind))),
  };
}

/** Telegram's wallet is none of them: it takes no transfer from a link. MyTonWallet opens its links on the main network. */
export function walletLinks(order: PageOrder): readonly WalletLink[] {
  const transfer = transferOf(order);
  return [
    { wallet: keeper, href: WEB_TRANSFER + transfer, opens_on: ['phone'] },
    ...(order.gateway.network === 'mainnet'
      ? [{ wallet: mytonwallet, href: MYTONWALLET_TRANSFER + transfer, opens_on: ['phone'] } as const]
      : []),
    { wallet: null, href: uriOf(transfer), opens_on: ['phone', 'desktop'] },
  ];
}

/**
 * TON Connect by the bridge that wallets put into the page. The other way leads over a server of the wallet's maker, who
 * would learn who pays whom.
 */
export const pageWallets = (network: Network): PageWallets => ({
  protocol: 'bridge',
  network: globalId(network),
  property: 'tonconnect',
  asks: ['ton_addr'],
});
