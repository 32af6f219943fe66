// The story of one thing: what became of it, what it may mean, what happened, and what may be done now.
import type { z } from 'zod';
import { claimsOf } from '../../data/claims.ts';
import { getContradictions } from '../../data/contradictions.ts';
import { deliveriesOf } from '../../data/deliveries.ts';
import { getEvent } from '../../data/events.ts';
import { getInvoice } from '../../data/invoices.ts';
import { getMerchant } from '../../data/merchants.ts';
import { getPayment, logsOfInvoice, logsOfPayment, mainPayment } from '../../data/payments.ts';
import { type AddressUse, openInvoicesAt, type Scope } from '../../data/references.ts';
import type { DeliveryRow, EventRow, InvoiceRow, PaymentRow } from '../../data/schema/tables.ts';
import { everyOffer, inCoin } from '../../data/terms.ts';
import { getUnit } from '../../data/units.ts';
import * as detail from '../../data/views/admin-detail.ts';
import { candidatesFor } from '../../data/views/admin-list.ts';
import type { ExplainStory } from '../../src/api/schemas/explain.ts';
import { type Case, nextSteps, summaryOf } from '../../src/explain.ts';
import { limitOf } from '../../src/ledger.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';
import { presentBefore, presentDismissal, presentInvoice, presentPayment } from '../invoices/present.ts';
import type { Found } from './find.ts';
import { presentMatches } from './matches.ts';
import * as moments from './moments.ts';

type Story = z.output<typeof ExplainStory>;

/** Bookings of an account that its story shows. */
const BOOKINGS_SHOWN = 10;
/** Open invoices that are shown as what is waited for at an address, or that a payment may mean. */
export const OPEN_SHOWN = 20;

/** Who reads it: an operator reads everything, anyone else what is theirs. */
export interface Reading {
  scope: Scope;
  readsAll: boolean;
}

/** ExplainStory of what was found; null where it is gone. */
export async function storyOf(app: App, found: Found, reading: Reading): Promise<Story | null> {
  const { query } = app.db;
  switch (found.kind) {
    case 'invoice': {
      const invoice = await getInvoice(query, found.id);
      return invoice ? invoiceStory(app, invoice, reading) : null;
    }
    case 'payment': {
      const payment = await getPayment(query, found.id);
      return payment ? paymentStory(app, payment, reading) : null;
    }
    case 'event':
      return eventStory(app, found.id, reading);
    case 'unit':
      return unitStory(app, found.id, reading);
    case 'merchant':
      return merchantStory(app, found.id, reading);
    case 'address':
      return found.use ? addressStory(app, found.use, reading) : null;
    case 'contradiction':
      return contradictionStory(app, found.id);
    default:
      return {
        ...empty,
        summary: 'A daemon of this deployment.',
        next: [command('gw admin daemons', 'see what it does')],
      };
  }
}

const empty: Omit<Story, 'summary'> = {
  invoice: null,
  payment: null,
  candidates: [],
  moments: [],
  next: [],
};
const command = (text: string, why: string) => ({ command: text, why });
const roleOf = ({ readsAll }: Reading) => (readsAll ? ('operator' as const) : ('merchant' as const));

async function invoiceStory(app: App, invoice: InvoiceRow, reading: Reading): Promise<Story> {
  const { query } = app.db;
  const subject = { invoice_id: invoice.id };
  const payment = await mainPayment(query, invoice.id);
  const events = await detail.eventsOf(query, subject);
  const deliveries = await deliveriesOf(
    query,
    events.map(({ id }) => id),
  );
  const known = caseOf({
    ...{ invoice, payment, events, deliveries, candidates: [] },
    dismissed: dismissalOf(payment, reading),
  });
  const offers = await everyOffer(query, invoice);
  return {
    summary: summaryOf(known),
    invoice: { ...presentInvoice(invoice, app.config.public_url), ...presentBefore(offers) },
    payment: payment ? presentPayment(payment, invoice) : null,
    candidates: [],
    moments: moments.inTime([
      ...moments.ofInvoice(offers),
      ...moments.ofTransfers(await detail.transfersOf(query, subject), offers, reading.readsAll),
      ...moments.ofLogs(await logsOfInvoice(query, invoice.id), reading.readsAll),
      ...moments.ofClaims(await claimsOf(query, subject), reading.readsAll),
      ...moments.ofLedger(await detail.ledgerOfInvoice(query, invoice.id)),
      ...moments.ofDeliveries(deliveries, events),
      ...moments.ofEnd(invoice),
    ]),
    next: nextSteps(known, roleOf(reading)),
  };
}

/** A payment that no invoice shows. */
async function paymentStory(app: App, payment: PaymentRow, reading: Reading): Promise<Story> {
  const { query } = app.db;
  const invoice = payment.invoice_id === null ? undefined : await getInvoice(query, payment.invoice_id);
  const transfers = await detail.transfersOf(query, { payment_id: payment.id });
  const all = await detail.eventsOf(query, invoice ? { invoice_id: invoice.id } : { payment_id: payment.id });
  const events = all.filter(({ payment_id }) => payment_id === payment.id);
  const deliveries = await deliveriesOf(
    query,
    events.map(({ id }) => id),
  );
  const candidates = await candidatesOf(app, payment, reading);
  const offers = invoice ? await everyOffer(query, invoice) : [];
  const asked = invoice && inCoin(offers, payment.chain, invoice);
  const ids = candidates.map(({ id }) => id);
  const known = caseOf({
    ...{ invoice: asked, payment, events, deliveries, candidates: ids },
    dismissed: dismissalOf(payment, reading),
  });
  return {
    summary: summaryOf(known),
    invoice: invoice ? { ...presentInvoice(invoice, app.config.public_url), ...presentBefore(offers) } : null,
    payment: presentPayment(payment, asked ?? null),
    candidates: await presentMatches(
      app,
      ids.map((id) => ({ kind: 'invoice', id, by: 'address' })),
    ),
    moments: moments.inTime([
      ...moments.ofInvoice(offers),
      ...moments.ofTransfers(transfers, [payment], reading.readsAll),
      ...moments.ofLogs(await logsOfPayment(query, payment.id), reading.readsAll),
      ...moments.ofClaims(
        (await claimsOf(query, { payment_id: payment.id })).filter(
          ({ owner_id }) => reading.readsAll || owner_id === reading.scope,
        ),
        reading.readsAll,
      ),
      ...moments.ofDeliveries(deliveries, events),
    ]),
    next: nextSteps(known, roleOf(reading)),
  };
}

/** Open invoices that an unmatched payment may mean; of a shared address, those of who asks. */
export async function candidatesOf(
  { db }: Pick<App, 'db'>,
  payment: PaymentRow,
  { scope }: Pick<Reading, 'scope'>,
): Promise<InvoiceRow[]> {
  if (payment.status !== 'unmatched') return [];
  const [transfer] = await detail.transfersOf(db.query, { payment_id: payment.id });
  if (!transfer) return [];
  return candidatesFor(db.query, transfer, scope);
}

/** An operator reads what another wrote; a sentence names no one by his id. */
function dismissalOf(payment: PaymentRow | undefined, reading: Reading): Case['dismissed'] {
  const shown = payment ? presentDismissal(payment, roleOf(reading)) : null;
  return shown && { ...shown, by: shown.by.replace(/:.*$/s, '') };
}

/** What sentence and commands follow from. */
export function caseOf({
  invoice,
  payment,
  events,
  deliveries,
  candidates,
  dismissed = payment ? presentDismissal(payment, 'merchant') : null,
}: {
  invoice: InvoiceRow | undefined;
  payment: PaymentRow | undefined;
  events: readonly EventRow[];
  deliveries: readonly DeliveryRow[];
  candidates: readonly string[];
  /** As who asks may read it; as the merchant may, by default. */
  dismissed?: Case['dismissed'];
}): Case {
  const asset = invoice ?? payment;
  const atomic = invoice?.received_atomic ?? payment?.received_atomic ?? null;
  return {
    invoice_id: invoice?.id ?? null,
    invoice_status: invoice?.status ?? null,
    payment_id: payment?.id ?? null,
    payment_status: payment?.status ?? null,
    is_refill: invoice?.kind === 'refill',
    asked: invoice ? moments.coins(invoice.amount_atomic, invoice) : null,
    received: atomic === null || !asset ? null : moments.coins(atomic, asset),
    confirmations: payment?.confirmations ?? 0,
    min_confirmations: invoice?.min_confirmations ?? 0,
    txid: payment?.txid ?? invoice?.txid ?? null,
    owner_id: invoice?.owner_id ?? payment?.owner_id ?? null,
    usd: invoice ? `$${formatUsd(invoice.amount_usd_micros)}` : null,
    failed_event: failedOf(events, deliveries),
    candidates,
    dismissed,
  };
}

/** The latest event whose last attempt was not accepted. */
function failedOf(events: readonly EventRow[], deliveries: readonly DeliveryRow[]): Case['failed_event'] {
  for (const { id } of [...events].reverse()) {
    const last = deliveries.findLast(({ event_id }) => event_id === id);
    if (last && (last.status === 'failed' || last.status === 'unknown'))
      return { id, why: moments.outcomeOf(last) };
  }
  return null;
}

/** The story of what it tells of, with its own next. */
async function eventStory(app: App, id: string, reading: Reading): Promise<Story | null> {
  const { query } = app.db;
  const event = await getEvent(query, id);
  if (!event) return null;
  const { invoice_id, payment_id, type } = event;
  const invoice = invoice_id === null ? undefined : await getInvoice(query, invoice_id);
  const payment = invoice || payment_id === null ? undefined : await getPayment(query, payment_id);
  const story = invoice
    ? await invoiceStory(app, invoice, reading)
    : payment
      ? await paymentStory(app, payment, reading)
      : { ...empty, summary: '' };
  const resend = `gw event resend ${id}`;
  return {
    ...story,
    summary: `The event ${type}. ${story.summary}`.trim(),
    next: story.next.some((step) => step.command === resend)
      ? story.next
      : [...story.next, command(resend, 'post it again')],
  };
}

async function unitStory({ db }: App, id: string, { readsAll }: Reading): Promise<Story | null> {
  const unit = await getUnit(db.query, id);
  if (!unit) return null;
  const made = { at: unit.created_at, kind: 'made' as const, text: `unit made: ${unit.title}`, by: null };
  const changed = { at: unit.updated_at, kind: 'status' as const, text: 'last changed', by: null };
  return {
    ...empty,
    summary: `A unit at $${formatUsd(unit.amount_usd_micros)}, ${unit.active ? 'on sale' : 'not on sale'}.`,
    moments: unit.updated_at > unit.created_at ? [made, changed] : [made],
    next: readsAll
      ? [command(`gw admin merchant ${unit.merchant_id}`, 'see whose it is')]
      : [command(`gw unit get ${unit.id}`, 'see all of it')],
  };
}

async function merchantStory({ db }: App, id: string, { readsAll }: Reading): Promise<Story | null> {
  const merchant = await getMerchant(db.query, id);
  if (!merchant) return null;
  const entries = await detail.latestEntries(db.query, id, BOOKINGS_SHOWN);
  const text = `account ${merchant.slug} made`;
  return {
    ...empty,
    summary: `The account ${merchant.slug}: prepaid $${formatUsd(merchant.prepaid_micros)}, which covers $${formatUsd(limitOf(merchant.prepaid_micros))} of payments.`,
    moments: moments.inTime([
      { at: merchant.created_at, kind: 'account', text, by: null },
      ...moments.ofLedger([...entries].reverse()),
    ]),
    next: readsAll
      ? [
          command(`gw admin merchant ${id}`, 'see all of it'),
          command(`gw admin payments --owner-id ${id}`, 'see its payments'),
        ]
      : [command('gw account get', 'see all of it'), command('gw inbox', 'see what waits')],
  };
}

async function addressStory(app: App, use: AddressUse, reading: Reading): Promise<Story> {
  const { blockchain, address_key, owner_id, since, first_sale_at } = use;
  const chains = app.config.chains.values
    .filter((value) => value.blockchain === blockchain)
    .map(({ chain }) => chain);
  const open = await openInvoicesAt(app.db.query, { address_key, chains, owner_id, limit: OPEN_SHOWN });
  const blind = app.blindness.of(blockchain);
  return {
    ...empty,
    summary: `An address on ${blockchain}; ${open.length === 0 ? 'no open invoice waits' : `${open.length === OPEN_SHOWN ? 'at least ' : ''}${open.length} open invoices wait`} for a payment there.${blind === null ? '' : ' The blockchain cannot be read at the moment.'}`,
    candidates: await presentMatches(
      app,
      open.map((id) => ({ kind: 'invoice', id, by: 'address' })),
    ),
    moments: moments.inTime([
      { at: since, kind: 'account', text: 'first asked to be paid there', by: null },
      ...(first_sale_at === null
        ? []
        : [{ at: first_sale_at, kind: 'booked' as const, text: 'first payment booked there', by: null }]),
    ]),
    next: reading.readsAll
      ? [
          command('gw admin observers', 'see how far it is read'),
          ...(owner_id === null ? [] : [command(`gw admin merchant ${owner_id}`, 'see whose it is')]),
        ]
      : [command('gw wallet list', 'see your addresses')],
  };
}

async function contradictionStory({ db }: App, id: string): Promise<Story | null> {
  const [row] = await getContradictions(db.query, [id]);
  if (!row) return null;
  const { kind, blockchain, count, created_at, updated_at, closed_at, closed_by, note, details } = row;
  const sides = Object.entries(details).map(
    ([name, value]) => `${name.replaceAll('_', ' ')} ${value ?? 'none'}`,
  );
  return {
    ...empty,
    summary: `Two sources contradict each other (${kind.replaceAll('_', ' ')} on ${blockchain}): ${sides.join(', ')}.`,
    moments: [
      { at: created_at, kind: 'contradiction', text: 'found', by: 'observer' },
      ...(count > 1
        ? [
            {
              at: updated_at,
              kind: 'contradiction' as const,
              text: `found again, ${count} times in all`,
              by: 'observer',
            },
          ]
        : []),
      ...(closed_at === null
        ? []
        : [
            {
              at: closed_at,
              kind: 'contradiction' as const,
              text: `closed${note === null ? '' : `: ${note}`}`,
              by: closed_by,
            },
          ]),
    ],
    next: [
      ...(row.invoice_id === null ? [] : [command(`gw explain ${row.invoice_id}`, 'see its invoice')]),
      ...(closed_at === null
        ? [command(`gw admin close-contradiction ${id} --note WHY`, 'close it when it is settled')]
        : []),
    ],
  };
}
