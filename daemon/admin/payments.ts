// The operator's list of invoices and payments, and everything about one of them.
import type { z } from 'zod';
import { claimsOf, type ListedClaim } from '../../data/claims.ts';
import { getInvoice, getInvoices } from '../../data/invoices.ts';
import { getPayment, logsOfInvoice, logsOfPayment } from '../../data/payments.ts';
import type { InvoiceRow, PaymentRow } from '../../data/schema/tables.ts';
import { everyOffer, inCoin } from '../../data/terms.ts';
import * as detail from '../../data/views/admin-detail.ts';
import {
  candidatesFor,
  countEntries,
  type EntryFilter,
  entriesOfInvoices,
  entriesOfPayments,
  listEntries,
} from '../../data/views/admin-list.ts';
import type { AdminPaymentDetail, AdminPayments } from '../../src/api/schemas/admin.ts';
import { Refusal } from '../../src/errors.ts';
import { presentAdminClaim } from '../claims/present.ts';
import type { App } from '../context.ts';
import { presentEvents } from '../events/present.ts';
import {
  presentBefore,
  presentIncome,
  presentInvoice,
  presentLog,
  presentPayment,
} from '../invoices/present.ts';
import { presentEntry, presentLedgerEntry, presentTransfer } from './present.ts';

/** AdminPayments. Words are taken in any case; `settled` means `confirmed`. */
export async function listPayments(
  app: App,
  filter: EntryFilter & { count?: boolean },
): Promise<z.output<typeof AdminPayments>> {
  const { skip, limit } = filter;
  const status = filter.status?.toLowerCase();
  const wanted = {
    status: status === 'settled' ? 'confirmed' : status,
    kind: filter.kind?.toLowerCase(),
    chain: filter.chain?.toLowerCase(),
    owner_id: filter.owner_id,
    skip,
    limit: limit + 1,
  };
  const entries = await app.db.readList((on) => listEntries(on, wanted));
  return {
    data: entries.slice(0, limit).map(presentEntry),
    has_more: entries.length > limit,
    skip,
    limit,
    ...(filter.count ? await app.db.readList((on) => countEntries(on, wanted)) : {}),
  };
}

/** What an id of the list names. A payment that its invoice shows is that invoice. */
export type Listed = { invoice: InvoiceRow } | { payment: PaymentRow };

/** Refuses with `payment_not_found`. */
export async function findListed(app: App, id: string): Promise<Listed> {
  const invoice = await getInvoice(app.db.query, id);
  if (invoice) return { invoice };
  const payment = await getPayment(app.db.query, id);
  if (!payment) throw new Refusal('payment_not_found');
  const shown_by = payment.main === 1 ? await getInvoice(app.db.query, payment.invoice_id ?? '') : undefined;
  return shown_by ? { invoice: shown_by } : { payment };
}

/** AdminPaymentDetail. Refuses with `payment_not_found`. */
export async function paymentDetail(app: App, id: string): Promise<z.input<typeof AdminPaymentDetail>> {
  const listed = await findListed(app, id);
  return 'invoice' in listed ? invoiceDetail(app, listed.invoice) : unappliedDetail(app, listed.payment);
}

async function invoiceDetail(app: App, invoice: InvoiceRow): Promise<z.input<typeof AdminPaymentDetail>> {
  const { query } = app.db;
  const subject = { invoice_id: invoice.id };
  const [entry] = await entriesOfInvoices(query, [invoice.id]);
  if (!entry) throw new Refusal('payment_not_found');
  const payments = await detail.paymentsOf(query, invoice.id);
  const income = await detail.incomeOfInvoice(query, invoice.id);
  const offers = await everyOffer(query, invoice);
  return {
    payment: presentEntry(entry),
    invoice: { ...presentInvoice(invoice, app.config.public_url), ...presentBefore(offers) },
    payments: payments.map((payment) => presentPayment(payment, inCoin(offers, payment.chain, invoice))),
    logs: (await logsOfInvoice(query, invoice.id)).map(presentLog),
    transfers: (await detail.transfersOf(query, subject)).map((row) =>
      presentTransfer(row, inCoin(offers, row.chain, invoice)),
    ),
    candidates: [],
    claims: (await claimsOf(query, subject)).map(presentAdminClaim),
    ledger: (await detail.ledgerOfInvoice(query, invoice.id)).map(presentLedgerEntry),
    income: income ? presentIncome(income) : null,
    events: await presentEvents(app, await detail.eventsOf(query, subject)),
  };
}

async function unappliedDetail(app: App, payment: PaymentRow): Promise<z.input<typeof AdminPaymentDetail>> {
  const { query } = app.db;
  const [entry] = await entriesOfPayments(query, [payment.id]);
  if (!entry) throw new Refusal('payment_not_found');
  const invoice = payment.invoice_id === null ? undefined : await getInvoice(query, payment.invoice_id);
  const offers = invoice ? await everyOffer(query, invoice) : [];
  const asked = invoice && inCoin(offers, payment.chain, invoice);
  const subject = invoice ? { invoice_id: invoice.id } : { payment_id: payment.id };
  const transfers = await detail.transfersOf(query, { payment_id: payment.id });
  const events = await detail.eventsOf(query, subject);
  const unmatched = payment.status === 'unmatched' ? transfers[0] : undefined;
  const claims = await claimsOf(query, { payment_id: payment.id });
  const open = unmatched ? await candidatesFor(query, unmatched) : [];
  const claimed = unmatched ? await claimedInvoices(app, payment, claims) : [];
  const candidates = [...claimed, ...open.filter(({ id }) => !claimed.some((each) => each.id === id))];
  return {
    payment: presentEntry(entry),
    invoice: invoice ? { ...presentInvoice(invoice, app.config.public_url), ...presentBefore(offers) } : null,
    payments: [presentPayment(payment, asked ?? null)],
    logs: (await logsOfPayment(query, payment.id)).map(presentLog),
    transfers: transfers.map((row) => presentTransfer(row, payment)),
    candidates: candidates.map((row) => presentInvoice(row, app.config.public_url)),
    claims: claims.map(presentAdminClaim),
    ledger: [],
    income: null,
    events: await presentEvents(
      app,
      events.filter((event) => event.payment_id === payment.id),
    ),
  };
}

/** Those that payers name and that it can still be booked for, each once, in the order in which they were named. */
async function claimedInvoices(
  { db }: App,
  { chain }: PaymentRow,
  claims: readonly ListedClaim[],
): Promise<InvoiceRow[]> {
  const ids = [...new Set(claims.map(({ invoice_id }) => invoice_id))];
  const rows = await getInvoices(db.query, ids);
  return ids.flatMap(
    (id) => rows.find((row) => row.id === id && row.chain === chain && row.status !== 'confirmed') ?? [],
  );
}
