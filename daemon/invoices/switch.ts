// Pays an invoice another way: in which coins it can be paid, and what it asks for in the one that its buyer chooses.
import type { Tx } from '../../data/db/open.ts';
import { deploymentWallets, getMerchant, walletsOf } from '../../data/merchants.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { labelOf, type Terms } from '../../data/terms.ts';
import { getUnit } from '../../data/units.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import { formatUsd } from '../../src/money.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { switchCoin } from '../settle/settle.ts';
import { keepWatchQuota, reserveAmount } from './amounts.ts';
import { quoteNow, termsOf } from './create.ts';
import { findPublicInvoice } from './find.ts';
import { enabledGateways, findGateway, selectGateways } from './gateways.ts';
import { hasEnded } from './outcome.ts';
import { walletFor } from './wallet.ts';

/** The caller of a change of an invoice that no caller made. */
const BUYER = 'buyer';

/** Whether the buyer may still choose: it waits for a payment, and nothing has come. */
const isOpen = ({ status, payment_id, expires_at }: InvoiceRow, now: number): boolean =>
  status === 'created' && payment_id === null && now < expires_at;

/** Whether it may be asked for in another coin, as far as its row says. */
export const mayBeSwitched = (invoice: InvoiceRow, now: number): boolean =>
  isOpen(invoice, now) && hasChoice(invoice);

/**
 * The coins that an invoice can be paid in, its own first: those that its merchant named when it was made, or those of its
 * unit. Its own alone where the merchant chose that.
 */
export async function coinsOf(app: App, invoice: InvoiceRow): Promise<readonly Gateway[]> {
  const { query } = app.db;
  const { owner_id, unit_id } = invoice;
  const own = app.gateways.filter(({ chain }) => chain === invoice.chain);
  if (!hasChoice(invoice)) return own;
  const unit = unit_id === null ? undefined : await getUnit(query, unit_id);
  const entries = invoice.payable_with ?? unit?.currencies;
  if (!entries) return own;
  const merchant = owner_id === null ? undefined : await getMerchant(query, owner_id);
  const enabled = enabledGateways(app.gateways, merchant?.enabled_currencies ?? null);
  const wallets = owner_id === null ? await deploymentWallets(query) : await walletsOf(query, owner_id);
  const others = selectGateways(enabled, entries).filter(
    ({ chain, blockchain }) =>
      chain !== invoice.chain && wallets.some((wallet) => wallet.blockchain === blockchain),
  );
  return [...own, ...others];
}

const hasChoice = ({ kind, unit_id, payable_with }: InvoiceRow): boolean =>
  kind === 'sale' && (unit_id !== null || payable_with !== null);

/**
 * Asks for the same price in another coin. Refuses as `createInvoice` does, and with `invoice_not_found`, `unknown_chain`,
 * `chain_not_accepted`, `invoice_ended`, `payment_detected` or `no_wallet`. What was asked for before still counts when it is
 * paid in time.
 */
export async function switchInvoice(app: App, invoice_id: string, chain: string): Promise<InvoiceRow> {
  const invoice = await findPublicInvoice(app, invoice_id);
  const gateway = findGateway(app.gateways, chain);
  const coins = await coinsOf(app, invoice);
  if (!coins.includes(gateway))
    throw new Refusal('chain_not_accepted', {
      detail: `This invoice cannot be paid in ${gateway.chain}; accepted: ${coins.map((one) => one.chain).join(', ') || 'none'}`,
    });
  if (invoice.status !== 'created') throw hasEnded(invoice);
  if (invoice.chain === gateway.chain) return invoice;
  const draw = await drawing(app, invoice, gateway);
  const switched = await switchCoin(app, { invoice_id, chain: gateway.chain, draw });
  if (!switched) throw new Refusal('invoice_not_found');
  const { refused } = switched;
  if (!refused) return switched.invoice;
  if (refused === 'payment_detected') throw new Refusal('payment_detected');
  if (refused === 'invoice_ended') throw endedOrOver(switched.invoice);
  throw new Refusal('too_many_unpaid', {
    detail: 'The coin of this invoice was changed too often: pay it as it is, or start a new payment',
    retry_after: Math.max(1, switched.invoice.expires_at - seconds(app.clock)),
  });
}

const endedOrOver = (invoice: InvoiceRow): Refusal =>
  invoice.status === 'created'
    ? new Refusal('invoice_ended', { detail: 'The time of the invoice is over' })
    : hasEnded(invoice);

/** How its terms in this coin are drawn once the invoice is locked; what may be refused without a lock is refused here. */
async function drawing(app: App, invoice: InvoiceRow, gateway: Gateway) {
  const { owner_id, unit_id, caller, kind, amount_usd_micros } = invoice;
  const amount = formatUsd(amount_usd_micros);
  const { quoted, usd_nanos } = quoteNow(app, { gateway, amount, amount_unit: 'usd', kind });
  const wallet = await walletFor(app, owner_id, gateway, 'buyer');
  const label = await labelOf(app.db.query, invoice);
  return async (tx: Tx, _: InvoiceRow, expires_at: number): Promise<Terms> => {
    // Who changes the coin is a buyer without credentials, also where a key made the invoice.
    const asked = { owner_id, kind, gateway, wallet, unit_id, caller: caller ?? BUYER };
    const reserved = gateway.unique_amount ? await reserveAmount(app, tx, asked, quoted) : quoted;
    if (owner_id !== null) await keepWatchQuota(app, tx, { owner_id, gateway, wallet });
    return termsOf(app, { gateway, wallet, label }, { quoted: reserved, rate: usd_nanos, expires_at });
  };
}
