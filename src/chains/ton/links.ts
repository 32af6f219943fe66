// Payment links: the chain's ton:// URI and the links that wallets document.
import { Address } from '@ton/core';
import type { PaymentLinks, PaymentOrder, Wallet } from '../family.ts';
import { showContract } from './address.ts';

export const TON_SCHEME = 'ton';
/** Keeper (earlier Tonkeeper); docs.tonconsole.com, deep linking. */
const WEB_TRANSFER = 'https://app.keeperwallet.com/transfer/';
/** Telegram's wallet documents no prefilled transfer, only the link that opens it. */
const TELEGRAM_WALLET = 'https://t.me/wallet';

export const wallets: readonly Wallet[] = [
  { name: 'Keeper', hosts: ['app.keeperwallet.com'] },
  { name: 'Tonkeeper', hosts: ['app.tonkeeper.com'] },
  { name: 'Telegram Wallet', hosts: ['t.me'] },
];

/** Amounts are in nano, or in the jetton's own atomic units where one is named. */
export function paymentLinks({
  gateway,
  address,
  amount_atomic,
  memo,
  expires_at,
}: PaymentOrder): PaymentLinks {
  const parts = [`amount=${amount_atomic}`];
  if (memo) parts.push(`text=${encodeURIComponent(memo)}`);
  if (gateway.token_contract) {
    parts.push(`jetton=${showContract(Address.parse(gateway.token_contract), gateway.network)}`);
  }
  parts.push(`exp=${expires_at}`);
  const transfer = `${address}?${parts.join('&')}`;
  const uri = `${TON_SCHEME}://transfer/${transfer}`;
  const links: Record<string, string> = { wallet: uri, web: WEB_TRANSFER + transfer, tg: TELEGRAM_WALLET };
  return {
    uri,
    exits: Object.fromEntries(Object.entries(links).filter(([kind]) => gateway.exits.includes(kind))),
  };
}
