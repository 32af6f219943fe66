// A payer's own claim: reads the chain for it at once, answers what was found of his own money, and puts it on record.
import { getInvoice } from '../../data/invoices.ts';
import { mainPayment } from '../../data/payments.ts';
import type { InvoiceRow, PaymentRow, TransferRow } from '../../data/schema/tables.ts';
import { transfersOfInvoice } from '../../data/transfers.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { judgeClaim, stateOfClaim } from '../../src/claim.ts';
import type { App } from '../context.ts';
import { findInvoice } from '../invoices/find.ts';
import { noteClaim } from '../settle/settle.ts';
import { type Finding, factsOf } from './present.ts';
import { readNow, readTxid, searchChains, storedTransfers } from './search.ts';

/**
 * Answers a claim; `text` is what the payer pasted, null or empty where nothing. Refuses with `invoice_not_found`, and with
 * `rate_limited` while another claim for the invoice is under way. It books nothing: what it finds is judged as all that is
 * read, and what belongs to others is as if it were not there.
 */
export async function claimPayment(
  app: App,
  invoice_id: string,
  { text, ip }: { text: string | null; ip: string },
): Promise<Finding> {
  const invoice = await findInvoice(app, invoice_id);
  const pasted = text?.trim() ?? '';
  const txid = pasted === '' ? null : readTxid(app, invoice, pasted);
  if (pasted !== '' && txid === null)
    return { invoice, txid, found: 'not_found', reason: 'not_an_id', transfers: [] };
  const finding =
    txid === null ? await findOwn(app, invoice, ip) : await findNamed(app, invoice, { txid, ip });
  await put(app, finding);
  return finding;
}

/** Without a transaction: what counts for the invoice itself, read now while it may still change. */
async function findOwn(app: App, invoice: InvoiceRow, ip: string): Promise<Finding> {
  const is_read =
    invoice.status === 'confirmed' || (await readAlone(app, { invoice, ip }, () => readNow(app, invoice)));
  const { now, payment } = await asItIsNow(app, invoice);
  const found = stateOfClaim(now, payment?.status ?? null);
  const own = (await transfersOfInvoice(app.db.query, invoice.id)).filter(
    ({ state, payment_id }) => state !== 'gone' && (payment_id === null || payment_id === payment?.id),
  );
  if (found === 'not_found')
    return { invoice: now, txid: null, found: is_read ? found : 'not_readable', reason: null, transfers: [] };
  return { invoice: now, txid: null, found, reason: null, transfers: own };
}

async function findNamed(
  app: App,
  invoice: InvoiceRow,
  { txid, ip }: { txid: string; ip: string },
): Promise<Finding> {
  const stored = await storedTransfers(app, invoice, txid);
  if (stored.length > 0) return judge(app, invoice, txid, stored);
  let named: string | null = txid;
  const is_asked = await readAlone(app, { invoice, ip }, async () => {
    await readNow(app, invoice);
    const read = await storedTransfers(app, invoice, txid);
    if (read.length === 0) named = await searchChains(app, invoice, txid);
  });
  if (!is_asked) return { invoice, txid, found: 'not_readable', reason: null, transfers: [] };
  const transfers = named === null ? [] : await storedTransfers(app, invoice, named);
  return judge(app, invoice, named ?? txid, transfers);
}

/** Whether `ask` could be done: no other claim for the invoice is under way, this minute's are not used up, the chains answer. */
async function readAlone(
  app: App,
  { invoice: { id, blockchain }, ip }: { invoice: InvoiceRow; ip: string },
  ask: () => Promise<void>,
): Promise<boolean> {
  return app.claims.alone(id, async () => {
    if (!(await app.claims.mayAsk(blockchain, ip))) return false;
    try {
      await ask();
      return true;
    } catch (error) {
      if (error instanceof ProviderError) return false;
      throw error;
    }
  });
}

async function judge(
  app: App,
  invoice: InvoiceRow,
  txid: string,
  stored: readonly TransferRow[],
): Promise<Finding> {
  const { now, payment } = await asItIsNow(app, invoice);
  return { invoice: now, txid, ...judgeClaim(now, payment?.status ?? null, stored) };
}

async function asItIsNow(
  { db }: Pick<App, 'db'>,
  invoice: InvoiceRow,
): Promise<{ now: InvoiceRow; payment: PaymentRow | undefined }> {
  const now = (await getInvoice(db.query, invoice.id)) ?? invoice;
  return { now, payment: await mainPayment(db.query, invoice.id) };
}

/** The claim as it is stored, and the transfers of the late or unmatched payment that it names. */
async function put(app: App, finding: Finding): Promise<void> {
  const { invoice, txid, found, reason, transfers } = finding;
  const { id: invoice_id, owner_id } = invoice;
  const is_unapplied = found === 'late' || found === 'unmatched';
  const listed = is_unapplied ? transfers.filter(({ payment_id }) => payment_id !== null) : [];
  const payment_id = listed[0]?.payment_id ?? null;
  const claim = {
    invoice_id,
    owner_id,
    txid: txid ?? '',
    found,
    reason,
    payment_id,
    ...factsOf(app, finding),
  };
  await noteClaim(app, { claim, transfer_ids: listed.map(({ id }) => id) });
}
