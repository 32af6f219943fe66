// What a pay page shows, made from its row: every figure as text, every link checked.
import type { z } from 'zod';
import type { CheckoutRow } from '../../data/views/checkout.ts';
import type { ClaimFound } from '../../src/api/schemas/claim.ts';
import { unitOf } from '../../src/chains/assets.ts';
import type { Gateway, PageWallets, PaymentOrder, Platform, Wallet } from '../../src/chains/family.ts';
import { uriSchemes } from '../../src/chains/gateways.ts';
import { usualTime } from '../../src/chains/usual.ts';
import { type CheckoutState, checkoutState, isPayable } from '../../src/checkout.ts';
import { divideHalfUp, formatDecimal, formatUsd, padDecimal, RATE_DECIMALS, tenTo } from '../../src/money.ts';
import { pictureAddress } from '../../src/picture.ts';
import type { MerchantProfile } from '../../src/shop.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { type Availability, availabilityOf } from '../invoices/availability.ts';
import { coinsOf, mayBeSwitched } from '../invoices/switch.ts';
import { type Back, backOf } from './back.ts';
import { explorerLinks } from './explorer.ts';
import type { Language } from './language.ts';
import { versionOf } from './live.ts';

/** A link that opens a wallet with the whole payment filled in. */
export interface PageLink {
  href: string;
  /** Null for the link that any installed wallet opens. */
  wallet: Wallet | null;
  opens_on: readonly Platform[];
}

/** What a claim has found, with the name of its network; `busy` where there were too many claims. */
export type ClaimAnswer = (z.output<typeof ClaimFound> & { network: string | null }) | 'busy';

/** Where and how large the checkout is shown. */
export interface Surface {
  mode: 'page' | 'fragment';
  /** What links begin with: a path on our own pages, the public URL in foreign ones. */
  base: string;
  size: string;
  /** Whether another site may show it in a frame. */
  framed: boolean;
  /** The query of what forms send to: a page in a frame leads to another that may stand there. */
  queryIn(lang: Language): string;
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
  /** What stands behind amounts. */
  unit: string;
  network: string;
  usd: string;
  /** What is asked for now, in USD, rounded to cents. */
  asked_usd: string;
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
  wallets: PageLink[];
  /** How the page finds wallets in the browser; null where it does not. */
  page_wallets: PageWallets | null;
  /** Whether a phone asks, as far as its browser says so: then less is unfolded. */
  is_phone: boolean;
  /** How long payments usually take; null where that is not known. */
  usual_time: string | null;
  /** Where its buyer may choose another coin; null where there is none to choose. */
  other_ways: string | null;
  /** Where a new payment for the same thing begins. */
  again: string | null;
  /** One picture of at most: of what is sold, or else the logo of the shop. */
  picture: { kind: 'item' | 'logo'; src: string } | null;
  support: { email: string | null; url: string | null };
  /** Of the shop, for receipts. */
  legal_line: string | null;
  /** Where the buyer goes once it has ended. */
  back: Back | null;
  /** The receipt of what is paid. */
  receipt: string;
  /** Pages of an explorer. */
  explorer: { transaction: string | null; address: string | null };
  /** What a claim of its payer has found just now. */
  answer?: ClaimAnswer | undefined;
}

export async function payView(
  app: App,
  row: CheckoutRow,
  { lang, surface, is_phone }: { lang: Language; surface: Surface; is_phone: boolean },
): Promise<PayView> {
  const now = seconds(app.clock);
  const state = checkoutState(row, now);
  const { unit, digits } = unitOf(row.currency);
  const { asked_atomic, ...sums } = sumsOf(row, state, digits);
  const order = isPayable(state) ? orderOf(app, row, asked_atomic) : null;
  const uri = uriOf(row, state, order);
  const blockchain = app.config.chains.find(row.blockchain);
  const time = blockchain && usualTime(blockchain, row, app.pace.of(blockchain.id));
  const isRefill = row.kind === 'refill';
  // A refill is paid to the operator, not to the shop that asks for it.
  const profile = isRefill ? null : row.profile;
  const shop = isRefill ? null : row.shop;
  const payee = isRefill ? new URL(app.config.public_url).host : shopName(app, row);
  const txid = row.txid ?? row.payment_txid;
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
    ...saleOf(row, { lang, payee }),
    currency: row.currency,
    unit,
    network: blockchain?.name ?? row.blockchain,
    usd: lang.usd(formatUsd(row.amount_usd_micros + row.amount_usd_fee_micros)),
    asked_usd: lang.usd(usdOf(asked_atomic, row)),
    fee: row.amount_usd_fee_micros > 0n ? lang.usd(formatUsd(row.amount_usd_fee_micros)) : null,
    rate: `1 ${unit} = ${lang.usd(formatDecimal(BigInt(row.rate_usd_nanos), RATE_DECIMALS))}`,
    ...sums,
    address: row.address,
    memo: row.memo,
    exact: row.reserved === 1,
    direct_only: app.gateways.some(({ chain, direct_only }) => direct_only && chain === row.chain),
    txid,
    confirmations: row.confirmations,
    min_confirmations: row.min_confirmations,
    testnet: row.network !== 'mainnet',
    demo_rate: app.rates.status().source === 'demo',
    unseen: unseenIn(state, availabilityOf(app, row.blockchain)),
    qr: uri === null ? null : await app.checkout.qrSvg(uri),
    qr_is_address: uri === row.address,
    wallets: order ? walletLinks(app, order, { id: row.id, lang }) : [],
    page_wallets: order?.gateway.family.pageWallets?.(order.gateway.network) ?? null,
    is_phone,
    usual_time: time ? lang.usually(time) : null,
    other_ways: await otherWaysOf(app, row, { lang, surface, now }),
    again: againOf(row, surface.base, lang),
    picture: pictureOf(surface.base, shop?.picture, profile?.logo),
    ...shopOf(profile),
    back: await backOf(app, row, { state, now }),
    receipt: `${surface.base}/pay/${row.id}/receipt?lang=${lang.code}`,
    explorer: explorerLinks(app, { ...row, txid }),
  };
}

/** What is paid for, and to whom. */
function saleOf(row: CheckoutRow, { lang, payee }: { lang: Language; payee: string }) {
  // A refill is paid to the operator, not to the shop that asks for it.
  const shop = row.kind === 'refill' ? null : row.shop;
  const usual = row.kind === 'refill' ? lang.say('refill_title') : row.unit_title;
  return {
    merchant: payee,
    title: shop?.title ?? usual ?? lang.say('pay_to', { merchant: payee }),
    description: shop?.description ?? row.unit_description,
    order: row.external_ref,
  };
}

async function otherWaysOf(
  app: App,
  row: CheckoutRow,
  { lang, surface, now }: { lang: Language; surface: Surface; now: number },
): Promise<string | null> {
  if (!mayBeSwitched(row, now) || (await coinsOf(app, row)).length < 2) return null;
  return `${surface.base}/pay/${row.id}/coins${surface.queryIn(lang)}`;
}

const againOf = (
  { unit_slug, merchant_slug }: CheckoutRow,
  base: string,
  { code }: Language,
): string | null =>
  unit_slug && merchant_slug ? `${base}/u/${merchant_slug}/${unit_slug}?lang=${code}` : null;

const shopOf = (profile: MerchantProfile | null) => ({
  support: { email: profile?.support_email ?? null, url: profile?.support_url ?? null },
  legal_line: profile?.legal_line ?? null,
});

/** How buyers know the seller. */
export const shopName = (
  { config }: Pick<App, 'config'>,
  row: Pick<CheckoutRow, 'profile' | 'merchant_name' | 'merchant_slug'>,
): string =>
  row.profile?.display_name ||
  row.merchant_name?.trim() ||
  row.merchant_slug ||
  new URL(config.public_url).host;

/** One alone, for each is a request of its own. */
export function pictureOf(
  base: string,
  item: string | null | undefined,
  logo: string | null | undefined,
): PayView['picture'] {
  if (item) return { kind: 'item', src: pictureAddress(base, item) };
  return logo ? { kind: 'logo', src: pictureAddress(base, logo) } : null;
}

/** A payment that is confirmed on its chain, and one that is over, need no one to see the chain. */
function unseenIn(state: CheckoutState, { available, simulate_only }: Availability): PayView['unseen'] {
  if (available || !(isPayable(state) || state === 'closing' || state === 'seen')) return null;
  return simulate_only ? 'simulate_only' : 'blind';
}

/** What is asked for and what came, as text with so many decimals at least. */
export function sumsOf(row: CheckoutRow, state: CheckoutState, digits: number) {
  const coin = (atomic: bigint): string => padDecimal(formatDecimal(atomic, row.decimals), digits);
  const amount = BigInt(row.amount_atomic);
  const received = BigInt(
    (state === 'late' || state === 'incomplete' ? row.payment_received : row.received_atomic) ?? 0,
  );
  const due = state === 'underpaid' ? amount - received : null;
  return {
    amount: coin(amount),
    received: received > 0n ? coin(received) : null,
    due: due === null ? null : coin(due),
    asked_atomic: due ?? amount,
    extra: state === 'overpaid' ? coin(received - amount) : null,
  };
}

const CENT_DECIMALS = 2;

/** An amount at the invoice's own rate: to the cent, and exactly where that would be nothing. */
function usdOf(atomic: bigint, { rate_usd_nanos, decimals }: CheckoutRow): string {
  const nanos = atomic * BigInt(rate_usd_nanos);
  const cents = divideHalfUp(nanos, tenTo(decimals + RATE_DECIMALS - CENT_DECIMALS));
  return cents > 0n ? formatDecimal(cents, CENT_DECIMALS) : formatDecimal(nanos, decimals + RATE_DECIMALS);
}

/** What links are made of: for the rest of a part payment, of the same address and memo. Null where the gateway is gone. */
export function orderOf(app: App, row: CheckoutRow, amount_atomic: bigint): PayOrder | null {
  const { chains, network, gateways, blockchains } = app.config;
  const isOf = (one: Gateway): boolean => one.chain === row.chain;
  const gateway =
    app.gateways.find(isOf) ?? chains.disabled(network, gateways, blockchains).find(isOf) ?? null;
  return (
    gateway && {
      gateway,
      address: row.address,
      amount_atomic,
      memo: row.memo,
      reference: row.reference,
      label: row.shop?.title ?? row.unit_title ?? row.merchant_slug ?? '',
      expires_at: row.expires_at,
    }
  );
}

export type PayOrder = PaymentOrder;

/** The stored payload of the code; for the rest of a part payment, one that asks for what is still due. */
function uriOf(row: CheckoutRow, state: CheckoutState, order: PayOrder | null): string | null {
  if (!isPayable(state)) return null;
  if (state !== 'underpaid') return row.qr_payload;
  return order?.gateway.family.paymentLinks(order).uri ?? null;
}

/** Links that may stand on a page: of https, or of a scheme that some family's links have. */
export const isSafeLink = (href: string): boolean => {
  const scheme = /^([a-z][a-z0-9+.-]*):/.exec(href)?.[1];
  return scheme === 'https' || (scheme !== undefined && uriSchemes.has(scheme));
};

function walletLinks(
  { config: { public_url } }: Pick<App, 'config'>,
  order: PayOrder,
  { id, lang }: { id: string; lang: Language },
): PageLink[] {
  const page_url = `${public_url}/pay/${id}?lang=${lang.code}`;
  const transaction_url = isPublic(public_url) ? `${public_url}/v1/invoices/${id}/transaction` : null;
  return order.gateway.family
    .walletLinks({ ...order, page_url, transaction_url })
    .filter(({ href }) => isSafeLink(href));
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether wallets on other devices get there by https. */
const isPublic = (public_url: string): boolean => {
  const { protocol, hostname } = new URL(public_url);
  return protocol === 'https:' && !LOOPBACK.test(hostname);
};
