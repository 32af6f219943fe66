// Payment links of Solana: Solana Pay.
import { base58 } from '@scure/base';
import { formatDecimal } from '../../money.ts';
import type {
  Network,
  PageOrder,
  PageWallets,
  PaymentLinks,
  PaymentOrder,
  Wallet,
  WalletLink,
} from '../family.ts';

export const SOLANA_SCHEME = 'solana';
const REFERENCE_BYTES = 32;

/** docs.phantom.com, browse: opens a page in the wallet's own browser. */
const phantom: Wallet = { id: 'phantom', name: 'Phantom', browser: 'Phantom' };
/** docs.solflare.com, browse. */
const solflare: Wallet = { id: 'solflare', name: 'Solflare', browser: 'Solflare' };

/** A Solana Pay transfer request: the wallet itself is the recipient, the amount is in whole units. */
export function paymentLinks({
  gateway,
  address,
  amount_atomic,
  memo,
  reference,
  label,
}: PaymentOrder): PaymentLinks {
  const fields: [string, string | null][] = [
    ['amount', formatDecimal(amount_atomic, gateway.decimals)],
    ['spl-token', gateway.token_contract],
    ['reference', reference],
    ['label', label],
    ['memo', memo],
  ];
  const query = fields.flatMap(([name, value]) => (value ? `${name}=${encodeURIComponent(value)}` : []));
  const uri = `${SOLANA_SCHEME}:${address}?${query.join('&')}`;
  return { uri, exits: gateway.exits.includes('wallet') ? { wallet: uri } : {} };
}

/**
 * Both wallets take the address of the page and of its site; computers have nothing that opens the scheme. What any wallet
 * opens is a transaction request where wallets can reach it, as it holds memo and reference whatever the wallet knows of
 * them. The code, which is stored once and for all, stays a transfer request.
 */
export function walletLinks(order: PageOrder): readonly WalletLink[] {
  const { transaction_url } = order;
  const any =
    transaction_url === null
      ? paymentLinks(order).uri
      : `${SOLANA_SCHEME}:${encodeURIComponent(transaction_url)}`;
  const open: WalletLink = { wallet: null, href: any, opens_on: ['phone'] };
  const query = `${encodeURIComponent(order.page_url)}?ref=${encodeURIComponent(new URL(order.page_url).origin)}`;
  const browse = (wallet: Wallet, address: string): WalletLink => ({
    wallet,
    href: address + query,
    opens_on: ['phone'],
  });
  const inPhantom = browse(phantom, 'https://phantom.app/ul/browse/');
  const inSolflare = browse(solflare, 'https://solflare.com/ul/v1/browse/');
  // In a wallet's own browser the page offers that wallet over https alone: elsewhere what pays at once is first.
  return transaction_url === null ? [open, inPhantom, inSolflare] : [inPhantom, open, inSolflare];
}

/** Wallet Standard: wallets announce themselves to the page, with the networks that they know. */
export const pageWallets = (network: Network): PageWallets => ({
  protocol: 'standard',
  network: network === 'mainnet' ? 'solana:mainnet' : 'solana:devnet',
  sends: 'solana:signAndSendTransaction',
});

/** The per-invoice key that a payment names, from 32 random bytes. Throws RangeError where there are not so many. */
export function makeReference(random: Uint8Array): string {
  if (random.length !== REFERENCE_BYTES) throw new RangeError(`a reference is ${REFERENCE_BYTES} bytes`);
  return base58.encode(random);
}
