// The coins that an offer can be paid with: what each costs, and what keeps one from being chosen now.
import { unitOf } from '../../src/chains/assets.ts';
import { waitFor } from '../../src/chains/catalogue.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { byCost, type UsualTime, usualTime } from '../../src/chains/usual.ts';
import { Refusal } from '../../src/errors.ts';
import { formatDecimal, formatUsd, padDecimal } from '../../src/money.ts';
import { type Quote, quote } from '../../src/quote.ts';
import type { App } from '../context.ts';
import { availabilityOf } from '../invoices/availability.ts';
import type { Language } from './language.ts';

export interface Choice {
  chain: string;
  currency: string;
  /** What people know the coin by. */
  title: string;
  /** Null where the title names it already. */
  network: string | null;
  /** What is to be sent; null where that is not known now. */
  amount: string | null;
  /** What the network usually takes besides; null where that is not known. */
  fee: string | null;
  /** How long it usually takes. */
  time: string;
  can_choose: boolean;
  /** Why it cannot be chosen, or what is unusual about it. */
  reason: 'unavailable' | 'only_simulated' | 'no_rate' | null;
}

/** Cheapest and fastest first; at the end, in the same order, what cannot be chosen now. */
export function choicesOf(
  app: App,
  gateways: readonly Gateway[],
  { lang, price_micros }: { lang: Language; price_micros: bigint },
): Choice[] {
  const secondsOf = (gateway: Gateway) => timeOf(app, gateway, price_micros).seconds;
  const choices = [...gateways]
    .sort(byCost(secondsOf))
    .map((gateway) => choiceOf(app, gateway, lang, price_micros));
  return [...choices.filter(({ can_choose }) => can_choose), ...choices.filter((one) => !one.can_choose)];
}

function timeOf({ pace }: App, gateway: Gateway, price_micros: bigint): UsualTime {
  const block_seconds = pace.of(gateway.blockchain);
  return usualTime(gateway, waitFor(gateway, price_micros, block_seconds), block_seconds);
}

function choiceOf(app: App, gateway: Gateway, lang: Language, price_micros: bigint): Choice {
  const { asset, blockchain_name, chain, currency } = gateway;
  const quoted = quoteOf(app, gateway, price_micros);
  const reason = reasonOf(app, gateway, quoted);
  return {
    chain,
    currency,
    title: asset.title,
    network: asset.title.includes(blockchain_name) ? null : blockchain_name,
    amount: quoted && amountOf(lang, gateway, quoted),
    fee: gateway.usual_fee_usd && lang.usd(gateway.usual_fee_usd),
    time: lang.usually(timeOf(app, gateway, price_micros)),
    can_choose: reason === null || reason === 'only_simulated',
    reason,
  };
}

/** What the price is in this coin now; null where there is no rate. An invoice may ask for a little more, so that it is distinct. */
function quoteOf(app: App, gateway: Gateway, price_micros: bigint): Quote | null {
  try {
    const quoted = quote({
      gateway,
      amount: formatUsd(price_micros),
      amount_unit: 'usd',
      rate_usd_nanos: app.rates.rate(gateway.currency).usd_nanos,
      service_fee_percent: app.config.service_fee_percent,
    });
    return typeof quoted === 'string' ? null : quoted;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function amountOf(
  lang: Language,
  { asset, currency, decimals, unique_amount }: Gateway,
  quoted: Quote,
): string {
  const { unit, digits } = unitOf(currency);
  const amount = lang.coin(padDecimal(formatDecimal(quoted.amount_atomic, decimals), digits));
  return `${asset.stable && !unique_amount ? '' : '≈ '}${amount} ${unit}`;
}

function reasonOf(app: App, { blockchain, chain }: Gateway, quoted: Quote | null): Choice['reason'] {
  const { available, simulate_only } = availabilityOf(app, blockchain);
  const isUnreadable = app.observer.unreadable(blockchain).some((asset) => asset.chain === chain);
  if (isUnreadable || (!available && !simulate_only)) return 'unavailable';
  if (!quoted) return 'no_rate';
  return simulate_only ? 'only_simulated' : null;
}
