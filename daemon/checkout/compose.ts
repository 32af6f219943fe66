// Payments made for the payer's wallet to sign: what is missing of an invoice now, and nothing else.
import type { z } from 'zod';
import { type CheckoutRow, checkoutRow } from '../../data/views/checkout.ts';
import type { ComposedPayment, TransactionRequest, WalletManifest } from '../../src/api/schemas/compose.ts';
import { type Composed, PayerError } from '../../src/chains/family.ts';
import { type CheckoutState, checkoutState, isPayable } from '../../src/checkout.ts';
import { Refusal } from '../../src/errors.ts';
import { pictureAddress } from '../../src/picture.ts';
import { readAddress } from '../accounts/address.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { refuseFor } from '../http/counting.ts';
import { requirePublic } from '../invoices/withheld.ts';
import { operatorOf } from './landing.tsx';
import { orderOf, type PayOrder, shopName, sumsOf } from './view.ts';

/**
 * The payment from this account. Refuses with `invoice_not_found`, with `invoice_ended` and `payment_detected` where nothing
 * is to be paid, with `invalid_address` and `payer_cannot_pay`, with `bad_request` where wallets take no such thing, and
 * with `rate_limited`. Throws ProviderError.
 */
export async function composePayment(
  app: App,
  invoice_id: string,
  { account, ip }: { account: string; ip: string },
): Promise<z.input<typeof ComposedPayment>> {
  const row = await requireRow(app, invoice_id);
  const order = payableOrder(app, row);
  const blockchain = app.config.chains.find(row.blockchain);
  if (!order || !blockchain?.family.compose)
    throw new Refusal('bad_request', {
      detail: 'Wallets of this blockchain make the payment themselves: give them `qr_payload`',
    });
  const { key: payer } = readAddress(app, blockchain, account);
  refuseFor(await app.compose_limit(blockchain.id, ip));
  try {
    const composed = await app.observer.compose(blockchain.id, { ...order, payer, now: seconds(app.clock) });
    return { ...(composed as Composed), message: order.label };
  } catch (error) {
    if (error instanceof PayerError) throw new Refusal('payer_cannot_pay', { detail: error.message });
    throw error;
  }
}

const PAID: readonly CheckoutState[] = ['seen', 'processing', 'confirmed', 'overpaid'];

/** What is asked for now; null where its gateway is gone. Refuses where nothing is. */
function payableOrder(app: App, row: CheckoutRow): PayOrder | null {
  const state = checkoutState(row, seconds(app.clock));
  if (isPayable(state)) return orderOf(app, row, sumsOf(row, state, 0).asked_atomic);
  if (PAID.includes(state)) throw new Refusal('payment_detected');
  throw new Refusal('invoice_ended', { detail: 'The invoice has ended: nothing is to be paid anymore' });
}

/** TransactionRequest. Refuses with `invoice_not_found`. */
export async function presentTransactionRequest(
  app: App,
  invoice_id: string,
): Promise<z.input<typeof TransactionRequest>> {
  const row = await requireRow(app, invoice_id);
  const logo = row.kind === 'refill' ? null : row.profile?.logo;
  const { public_url } = app.config;
  const own = `${public_url}/logo.png`;
  return {
    label: row.kind === 'refill' ? operatorOf(app) : shopName(app, row),
    icon: logo ? pictureAddress(public_url, logo) : own,
  };
}

async function requireRow(app: Pick<App, 'db' | 'clock' | 'config'>, id: string): Promise<CheckoutRow> {
  const row = await checkoutRow(app.db, id);
  if (!row) throw new Refusal('invoice_not_found');
  requirePublic(app, row);
  return row;
}

/** WalletManifest: one for all invoices, so that fetching it names none. */
export function walletManifest(app: Pick<App, 'config'>): z.input<typeof WalletManifest> {
  const { public_url } = app.config;
  return { url: public_url, name: operatorOf(app), iconUrl: `${public_url}/logo.png` };
}
