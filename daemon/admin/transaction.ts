// A transaction that an operator names: what it paid to an invoice's address, by the chain's word or as it was read.

import type { z } from 'zod';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { everyOffer } from '../../data/terms.ts';
import { MANUAL_INDEX, transfersOfTransactions } from '../../data/transfers.ts';
import type { TransactionLookup } from '../../src/api/schemas/admin.ts';
import { ProviderError, type Transfer } from '../../src/chains/family.ts';
import { cleanText } from '../../src/clean.ts';
import { Refusal } from '../../src/errors.ts';
import { addUp } from '../../src/invoice.ts';
import { formatDecimal } from '../../src/money.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { recordNamed, reevaluateInvoices } from '../settle/settle.ts';
import { findListed } from './payments.ts';

/** A transaction id as people paste it, in the one spelling that readings store. */
export const normalizeTxid = (
  app: Pick<App, 'config'>,
  { blockchain }: Pick<InvoiceRow, 'blockchain'>,
  text: string,
): string => app.config.chains.find(blockchain)?.family.normalizeTxid(text) ?? cleanText(text);

/** TransactionLookup. Refuses with `payment_not_found`; throws ProviderError where neither chain nor database knows. */
export async function lookUpTransaction(
  app: App,
  invoice_id: string,
  text: string,
): Promise<z.output<typeof TransactionLookup>> {
  const listed = await findListed(app, invoice_id);
  if (!('invoice' in listed)) throw new Refusal('payment_not_found');
  const invoice = await inCoinOf(app, listed.invoice, text);
  const named = await ask(app, invoice, normalizeTxid(app, invoice, text));
  const stored = await storedOf(app, invoice, named.txid);
  const coin = (atomic: bigint): string => formatDecimal(atomic, invoice.decimals);
  const transfers = (named.found ?? stored).map((each) => ({
    index: 'idx' in each ? each.idx : each.index,
    amount: coin(BigInt(each.amount_atomic)),
    memo: each.memo,
    sender: each.sender,
    height: each.height,
    confirmations: each.confirmations,
  }));
  const { received_atomic, amount_match } = addUp(
    { ...invoice, status: 'created', amount_atomic: BigInt(invoice.amount_atomic) },
    (named.found ?? stored).map(({ txid, amount_atomic, confirmations }) => ({
      txid,
      amount_atomic: BigInt(amount_atomic),
      confirmations,
      final: true,
    })),
  );
  return {
    txid: named.txid,
    source: named.found ? 'chain' : 'stored',
    found: transfers.length > 0,
    currency: invoice.currency,
    amount: coin(BigInt(invoice.amount_atomic)),
    received_amount: coin(received_atomic),
    amount_match,
    booked_invoice_ids: [...new Set(stored.flatMap(({ booked_invoice_id }) => booked_invoice_id ?? []))],
    transfers,
  };
}

/**
 * Stores what the named transaction paid to the invoice's address, as the chain has it now, before it is booked. Returns
 * its id as it is stored. Throws ProviderError where it was never read and the chain cannot be asked, but by `force`.
 */
export async function readNamed(
  app: App,
  invoice: InvoiceRow,
  { txid, force }: { txid: string; force: boolean },
): Promise<string> {
  if (invoice.status === 'confirmed') return txid;
  const named = await ask(app, invoice, txid, force);
  if (!named.found || named.found.length === 0 || !named.gateway) return named.txid;
  const { blockchain } = invoice;
  const scope = { blockchain, gateways: [named.gateway], now: seconds(app.clock) };
  await reevaluateInvoices(app, await recordNamed(app, scope, named.found));
  return named.txid;
}

/** What the chain has; `found` is absent where it cannot be asked, but something is stored or `force` needs no proof. */
async function ask(app: App, invoice: InvoiceRow, txid: string, force = false) {
  const { blockchain, address_key } = invoice;
  const { network, gateways, blockchains, chains } = app.config;
  const gateway = [...app.gateways, ...chains.disabled(network, gateways, blockchains)].find(
    ({ chain }) => chain === invoice.chain,
  );
  if (!gateway) return { txid, found: undefined, gateway };
  try {
    const all = await app.observer.lookUp(blockchain, { txid, address_key, gateway });
    const found = all.filter((each) => each.chain === invoice.chain && each.address_key === address_key);
    return { txid: onlyId(found) ?? txid, found, gateway };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (!force && (await storedOf(app, invoice, txid)).length === 0) throw error;
    return { txid, found: undefined, gateway };
  }
}

/** The invoice as it asks, or asked before, for the coin that this transaction paid; as it is where that is not known. */
export async function inCoinOf(app: App, invoice: InvoiceRow, text: string): Promise<InvoiceRow> {
  if (invoice.switches === 0) return invoice;
  const offers = await everyOffer(app.db.query, invoice);
  for (const offer of offers)
    if ((await storedOf(app, offer, normalizeTxid(app, offer, text))).length > 0) return offer;
  for (const offer of offers) {
    const { found = [] } = await ask(app, offer, normalizeTxid(app, offer, text), true);
    if (found.length > 0) return offer;
  }
  return invoice;
}

/** One transaction may be named by several ids (a message, a trace); what it is stored by is the credit's own. */
function onlyId(found: readonly Transfer[]): string | undefined {
  const ids = new Set(found.map(({ txid }) => txid));
  return ids.size === 1 ? [...ids][0] : undefined;
}

async function storedOf(app: App, { blockchain, chain, address_key }: InvoiceRow, txid: string) {
  const rows = await transfersOfTransactions(app.db.query, blockchain, [txid]);
  const here = rows.filter(
    (row) => row.chain === chain && row.address_key === address_key && row.state !== 'gone',
  );
  const read = here.filter(({ idx }) => idx !== MANUAL_INDEX);
  return read.length > 0 ? read : here;
}
