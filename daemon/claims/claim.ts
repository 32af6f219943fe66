// A payer's own claim: reads the chain for it at once, answers what was found of his own money, and puts it on record.

import { getInvoice } from '../../data/invoices.ts';
import { mainPayment } from '../../data/payments.ts';
import type { InvoiceRow, PaymentRow } from '../../data/schema/tables.ts';
import { everyOffer, offeredIn } from '../../data/terms.ts';
import { transfersOfInvoice } from '../../data/transfers.ts';
import { claimFindings, judgeClaim, stateOfClaim } from '../../src/claim.ts';
import { cleanText } from '../../src/clean.ts';
import type { App } from '../context.ts';
import { findPublicInvoice } from '../invoices/find.ts';
import { noteClaim } from '../settle/settle.ts';
import { type Finding, factsOf } from './present.ts';
import { type Named, namedIn, readNow, searchChains, storedTransfers } from './search.ts';

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
  const invoice = await findPublicInvoice(app, invoice_id);
  const offers = await everyOffer(app.db.query, invoice);
  const pasted = cleanText(text ?? '');
  const named = namedIn(app, offers, pasted);
  if (pasted !== '' && named.length === 0)
    return { invoice, txid: null, found: 'not_found', reason: 'not_an_id', transfers: [] };
  const asking = { invoice, offers, ip };
  const finding = pasted === '' ? await findOwn(app, asking) : await findNamed(app, asking, named);
  await put(app, finding);
  return finding;
}

/** Whose claim it is, where the invoice may be paid, as `everyOffer` returns it, and from where it was made. */
interface Asking {
  invoice: InvoiceRow;
  offers: readonly InvoiceRow[];
  ip: string;
}

/** Without a transaction: what came for the invoice itself, read now while it may still change. */
async function findOwn(app: App, asking: Asking): Promise<Finding> {
  const { invoice } = asking;
  const is_read =
    invoice.status === 'confirmed' ||
    (await readAlone(app, asking, (open) => readNow(app, invoice.id, open)));
  const { now, payment } = await asItIsNow(app, invoice);
  const found = stateOfClaim(now, payment?.status ?? null);
  const own = (await transfersOfInvoice(app.db.query, invoice.id)).filter(({ state }) => state !== 'gone');
  if (found !== 'not_found') {
    const of_it = own.filter(({ payment_id }) => payment_id === null || payment_id === payment?.id);
    return { invoice: now, txid: null, found, reason: null, transfers: of_it };
  }
  const [late] = own.filter(({ disposition }) => disposition === 'late');
  const offer = late && (await offeredIn(app.db.query, now, late.chain));
  if (offer) {
    const alike = own.filter(({ payment_id }) => payment_id === late.payment_id);
    return { invoice: offer, txid: null, found: 'late', reason: null, transfers: alike };
  }
  return { invoice: now, txid: null, found: is_read ? found : 'not_readable', reason: null, transfers: [] };
}

async function findNamed(app: App, asking: Asking, named: readonly Named[]): Promise<Finding> {
  const { invoice } = asking;
  const isStored = async () => {
    for (const each of named) if ((await storedTransfers(app, each)).length > 0) return true;
    return false;
  };
  if (await isStored()) return judge(app, invoice, named);
  let found: Named | null | undefined;
  const offers = named.map(({ offer }) => offer);
  const is_whole = await readAlone(app, { ...asking, offers }, async (open) => {
    const is_read = await readNow(app, invoice.id, open);
    if (await isStored()) return true;
    found = await searchChains(
      app,
      named.filter(({ offer }) => open.includes(offer)),
    );
    // What one provider says of it counts only once it is read where it stands.
    if (found) await readNow(app, invoice.id, [found.offer]);
    return is_read && found !== undefined;
  });
  const finding = await judge(app, invoice, found ? [found] : named);
  return finding.found === 'not_found' && !is_whole ? { ...finding, found: 'not_readable' } : finding;
}

/**
 * Whether `ask` could be done where the invoice may be paid: no other claim for it is under way, this minute's are not used up
 * on any of its blockchains, the chains answer. `ask` is given those that may be asked; a claim counts for each once.
 */
async function readAlone(
  app: App,
  { invoice: { id }, offers, ip }: Asking,
  ask: (open: readonly InvoiceRow[]) => Promise<boolean>,
): Promise<boolean> {
  return app.claims.alone(id, async () => {
    const open = new Set<string>();
    for (const blockchain of new Set(offers.map((offer) => offer.blockchain)))
      if (await app.claims.mayAsk(blockchain, ip)) open.add(blockchain);
    const asked = offers.filter(({ blockchain }) => open.has(blockchain));
    return (await ask(asked)) && asked.length === offers.length;
  });
}

/** Of what the transaction is for each coin that the invoice is or was asked for in: the best, in its own coin before others. */
async function judge(app: App, invoice: InvoiceRow, named: readonly Named[]): Promise<Finding> {
  const { now, payment } = await asItIsNow(app, invoice);
  const findings: Finding[] = [];
  for (const each of named) {
    const offer = (await offeredIn(app.db.query, now, each.offer.chain)) ?? now;
    const stored = await storedTransfers(app, { offer, txid: each.txid });
    const verdict = judgeClaim(offer, payment?.status ?? null, stored);
    findings.push({ invoice: offer, txid: each.txid, ...verdict });
  }
  const [best] = findings.toSorted((one, other) => rankOf(one) - rankOf(other));
  return best ?? { invoice: now, txid: null, found: 'not_found', reason: null, transfers: [] };
}

const rankOf = ({ invoice, found, transfers }: Finding): number =>
  2 * claimFindings.indexOf(found) + (transfers.every(({ chain }) => chain === invoice.chain) ? 0 : 1);

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
