// What a pay page shows, made from its row: every figure as text, every link checked.
import type { z } from 'zod';
import type { CheckoutRow } from '../../data/views/checkout.ts';
import type { ClaimFound } from '../../src/api/schemas/claim.ts';
import { findBlockchain, uriSchemes, walletNames } from '../../src/chains/gateways.ts';
import { type CheckoutState, checkoutState, isPayable } from '../../src/checkout.ts';
import { formatDecimal, formatUsd, RATE_DECIMALS } from '../../src/money.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { type Availability, availabilityOf } from '../invoices/availability.ts';
import type { Language } from './language.ts';
import { versionOf } from './live.ts';

export interface WalletLink {
  href: string;
  /** Null for the link that any installed wallet opens. */
  wallet: string | null;
  /** Whether it opens the wallet only, so that the details must be pasted. */
  paste: boolean;
}

/** What a claim has found, with the name of its network; `busy` where there were too many claims. */
export type ClaimAnswer = (z.output<typeof ClaimFound> & { network: string | null }) | 'busy';

/** Where and how large the checkout is shown. */
export interface Surface {
  mode: 'page' | 'fragment';
  /** What links begin with: a path on our own pages, the public URL in foreign ones. */
  base: string;
  size: string;
  width: number | undefined;
}

export interface PayView {
  lang: Language;
  surface: Surface;
  id: string;
  state: CheckoutState;
  status: string;
  version: string;
  /** Unix seconds of the server. */
  now: number;
  created_at: number;
  expires_at: number;
  paid_at: number | null;
  merchant: string;
  title: string;
  description: string | null;
  order: string | null;
  currency: string;
  network: string;
  usd: string;
  fee: string | null;
  rate: string;
  /** Exact decimal strings, to be copied. */
  amount: string;
  received: string | null;
  due: string | null;
  extra: string | null;
  address: string;
  memo: string | null;
  /** Whether the amount itself marks the payment. */
  exact: boolean;
  /** Whether what exchanges and smart wallets pay by contract would not be seen. */
  direct_only: boolean;
  txid: string | null;
  confirmations: number;
  min_confirmations: number;
  testnet: boolean;
  demo_rate: boolean;
  /** Why no payment would be seen now, while one could still come; null otherwise. */
  unseen: 'blind' | 'simulate_only' | null;
  /** The code to scan; null where nothing is to be paid. */
  qr: string | null;
  /** Whether the code is of the address alone, so that network and amount must be entered. */
  qr_is_address: boolean;
  wallets: WalletLink[];
  /** Where a new payment for the same thing begins. */
  again: string | null;
  /** What a claim of its payer has found just now. */
  answer?: ClaimAnswer | undefined;
}

export async function payView(
  app: App,
  row: CheckoutRow,
  { lang, surface }: { lang: Language; surface: Surface },
): Promise<PayView> {
  const now = seconds(app.clock);
  const state = checkoutState(
    {
      status: row.status,
      amount_match: row.amount_match,
      expires_at: row.expires_at,
      payment_status: row.payment_status,
    },
    now,
  );
  const sums = sumsOf(row, state);
  const links = isPayable(state) ? linksOf(app, row, sums.due_atomic) : null;
  const merchant = row.merchant_name?.trim() || row.merchant_slug || new URL(app.config.public_url).host;
  const isRefill = row.kind === 'refill';
  const payee = isRefill ? new URL(app.config.public_url).host : merchant;
  return {
    lang,
    surface,
    id: row.id,
    state,
    status: row.status,
    version: versionOf(app, row),
    now,
    created_at: row.created_at,
    expires_at: row.expires_at,
    paid_at: row.paid_at,
    merchant: payee,
    title: isRefill ? lang.say('refill_title') : (row.unit_title ?? lang.say('pay_to', { merchant: payee })),
    description: row.unit_description,
    order: row.external_ref,
    currency: row.currency,
    network: findBlockchain(row.blockchain)?.name ?? row.blockchain,
    usd: lang.usd(formatUsd(row.amount_usd_micros + row.amount_usd_fee_micros)),
    fee: row.amount_usd_fee_micros > 0n ? lang.usd(formatUsd(row.amount_usd_fee_micros)) : null,
    rate: `1 ${row.currency} = ${lang.usd(formatDecimal(BigInt(row.rate_usd_nanos), RATE_DECIMALS))}`,
    ...sums,
    address: row.address,
    memo: row.memo,
    exact: row.reserved === 1,
    direct_only: app.gateways.some(({ chain, direct_only }) => direct_only && chain === row.chain),
    txid: row.txid ?? row.payment_txid,
    confirmations: row.confirmations,
    min_confirmations: row.min_confirmations,
    testnet: row.network !== 'mainnet',
    demo_rate: app.rates.status().source === 'demo',
    unseen: unseenIn(state, availabilityOf(app, row.blockchain)),
    qr: links ? await app.checkout.qrSvg(links.uri) : null,
    qr_is_address: links?.uri === row.address,
    wallets: links ? walletLinks(links.exits) : [],
    again:
      row.unit_slug && row.merchant_slug
        ? `${surface.base}/u/${row.merchant_slug}/${row.unit_slug}?lang=${lang.code}`
        : null,
  };
}

/** A payment that is confirmed on its chain, and one that is over, need no one to see the chain. */
function unseenIn(state: CheckoutState, { available, simulate_only }: Availability): PayView['unseen'] {
  if (available || !(isPayable(state) || state === 'closing' || state === 'seen')) return null;
  return simulate_only ? 'simulate_only' : 'blind';
}

function sumsOf(row: CheckoutRow, state: CheckoutState) {
  const coin = (atomic: bigint): string => formatDecimal(atomic, row.decimals);
  const amount = BigInt(row.amount_atomic);
  const received = BigInt(
    (state === 'late' || state === 'incomplete' ? row.payment_received : row.received_atomic) ?? 0,
  );
  const due = state === 'underpaid' ? amount - received : null;
  return {
    amount: coin(amount),
    received: received > 0n ? coin(received) : null,
    due: due === null ? null : coin(due),
    due_atomic: due,
    extra: state === 'overpaid' ? coin(received - amount) : null,
  };
}

/** The stored links; for the rest of a part payment, links of the same address and memo with what is still due. */
function linksOf(app: App, row: CheckoutRow, due_atomic: bigint | null) {
  if (due_atomic === null) return { uri: row.qr_payload, exits: row.exits };
  const gateway = app.gateways.find((one) => one.chain === row.chain);
  if (!gateway) return null;
  return gateway.family.paymentLinks({
    gateway,
    address: row.address,
    amount_atomic: due_atomic,
    memo: row.memo,
    reference: row.reference,
    label: row.unit_title ?? row.merchant_slug ?? '',
    expires_at: row.expires_at,
  });
}

/** Links that may stand on a page: of https, or of a scheme that some family's links have. */
export const isSafeLink = (href: string): boolean => {
  const scheme = /^([a-z][a-z0-9+.-]*):/.exec(href)?.[1];
  return scheme === 'https' || (scheme !== undefined && uriSchemes.has(scheme));
};

/** Links are of our own making: no credentials, no port. */
const HTTPS_LINK = /^https:\/\/([^/?#]+)([^?#]*)/;

function walletLinks(exits: Record<string, string>): WalletLink[] {
  return Object.values(exits).flatMap((href) => {
    if (!isSafeLink(href)) return [];
    if (!href.startsWith('https:')) return { href, wallet: null, paste: false };
    const [, host = '', path = ''] = HTTPS_LINK.exec(href) ?? [];
    return {
      href,
      wallet: walletNames.get(host) ?? host,
      paste: !href.includes('?') && path.split('/').length <= 2,
    };
  });
}
