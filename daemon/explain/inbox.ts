// What waits for a merchant: money that is held, late or names no invoice, events that no one accepted, chains that cannot be read.
import type { z } from 'zod';
import { deliveriesOf, failedEvents } from '../../data/deliveries.ts';
import { dustOfOwner } from '../../data/dust.ts';
import { getEvents } from '../../data/events.ts';
import { openOfOwner } from '../../data/invoices.ts';
import { walletsOf } from '../../data/merchants.ts';
import type { EventRow, InvoiceRow } from '../../data/schema/tables.ts';
import { transfersOfPayments } from '../../data/transfers.ts';
import { type AdminEntry, listEntries } from '../../data/views/admin-list.ts';
import type { WebhookBody } from '../../src/api/schemas/event.ts';
import type { Inbox, InboxItem } from '../../src/api/schemas/explain.ts';
import { ranked, type Score } from '../../src/candidates.ts';
import { dayOf } from '../../src/dust.ts';
import { nextSteps } from '../../src/explain.ts';
import { formatDecimal } from '../../src/money.ts';
import { DUST_SHOWN, presentDust } from '../admin/dust.ts';
import { presentEntry } from '../admin/present.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { outcomeOf } from './moments.ts';
import { caseOf } from './story.ts';

type Item = z.output<typeof InboxItem>;
type Candidate = Score & { row: InvoiceRow };

const PAGE = 50;
const WAITING = ['held', 'late', 'unmatched'] as const;
/** Events that were not accepted longer ago are no one's work any more. */
const WEBHOOK_DAYS = 30;
const DAY_SECONDS = 86_400;
const DUST_DAYS = 30;
/** Newest open invoices among which those are searched that a payment may mean, and how many of them are shown. */
const OPEN_READ = 1_000;
const CANDIDATES_SHOWN = 5;

/** Inbox of a merchant; the platform key's money waits in the operator's. */
export async function inboxOf(app: App, owner_id: string | null): Promise<z.output<typeof Inbox>> {
  const lists: { items: Item[]; has_more: boolean }[] = [];
  if (owner_id !== null) {
    for (const status of WAITING) lists.push(await waiting(app, owner_id, status));
    lists.push(await failed(app, owner_id));
  }
  const dust = owner_id === null ? [] : await ownDust(app, owner_id);
  const items = [...lists.flatMap((list) => list.items), ...(await blind(app, owner_id))];
  return {
    data: items.sort((one, other) => (one.created_at ?? 0) - (other.created_at ?? 0)),
    has_more: lists.some((list) => list.has_more),
    dust: dust.map((row) => presentDust(app, row)),
  };
}

/** Of the last days: it waits for no one, and what is older is of no use to anyone. */
function ownDust({ db, clock }: App, owner_id: string) {
  const day = dayOf(seconds(clock)) - DUST_DAYS;
  return dustOfOwner(db.query, { owner_id, day, limit: DUST_SHOWN });
}

async function waiting(app: App, owner_id: string, status: (typeof WAITING)[number]) {
  const filter = { owner_id, status, skip: 0, limit: PAGE + 1 };
  const entries = await app.db.readList((on) => listEntries(on, filter));
  const shown = entries.slice(0, PAGE);
  const meant =
    status === 'unmatched' ? await candidatesOf(app, owner_id, shown) : new Map<string, Candidate[]>();
  return {
    items: shown.map((entry) => moneyItem(status, entry, meant.get(entry.payment?.id ?? '') ?? [])),
    has_more: entries.length > PAGE,
  };
}

const why: Record<(typeof WAITING)[number], string> = {
  held: 'the prepaid limit does not cover it',
  late: 'it came after its invoice had ended',
  unmatched: 'it names no open invoice',
};

function moneyItem(
  kind: (typeof WAITING)[number],
  entry: AdminEntry,
  candidates: readonly Candidate[],
): Item {
  const shown = presentEntry(entry);
  const { id, currency, chain, external_ref, created_at } = shown;
  const story = caseOf({
    invoice: undefined,
    payment: entry.payment ?? undefined,
    events: [],
    deliveries: [],
    candidates: candidates.map(({ row }) => row.id),
  });
  return {
    kind,
    id,
    amount: shown.received_amount ?? shown.amount,
    ...{ currency, chain, external_ref },
    about: why[kind],
    candidates: candidates.map((each) => presentCandidate(each, shown.claimed_invoice_id)),
    created_at: entry.payment?.created_at ?? created_at,
    next: nextSteps({ ...story, invoice_id: shown.invoice_id, payment_id: id }, 'merchant'),
  };
}

const presentCandidate = (
  { row, amount_match, seconds_apart, memo_distance }: Candidate,
  claimed_id: string | null,
): Item['candidates'][number] => ({
  kind: 'invoice',
  id: row.id,
  by: 'address',
  status: row.status,
  amount: formatDecimal(BigInt(row.amount_atomic), row.decimals),
  currency: row.currency,
  about: row.external_ref,
  owner_id: row.owner_id,
  owner_slug: null,
  created_at: row.created_at,
  ...{ amount_match, seconds_apart, memo_distance },
  claimed: row.id === claimed_id,
});

/** For each unmatched payment, the merchant's own open invoices that it may mean, the likeliest first. */
async function candidatesOf(
  { db }: App,
  owner_id: string,
  entries: readonly AdminEntry[],
): Promise<Map<string, Candidate[]>> {
  const ids = entries.flatMap(({ payment }) => payment?.id ?? []);
  const transfers = await transfersOfPayments(db.query, ids);
  if (transfers.length === 0) return new Map();
  const open = await openOfOwner(db.query, owner_id, OPEN_READ);
  return new Map(
    transfers.map((transfer) => {
      const meant = open.filter(
        (row) =>
          row.blockchain === transfer.blockchain &&
          row.chain === transfer.chain &&
          row.address_key === transfer.address_key &&
          row.created_at <= transfer.first_seen_at,
      );
      const decimals = meant[0]?.decimals ?? 0;
      const inCoins = (atomic: string) => formatDecimal(BigInt(atomic), decimals);
      const asked = meant.map((row) => ({
        row,
        amount: inCoins(row.amount_atomic),
        memo: row.memo,
        created_at: row.created_at,
      }));
      const came = {
        amount: inCoins(transfer.amount_atomic),
        memo: transfer.memo,
        at: transfer.first_seen_at,
      };
      return [transfer.payment_id ?? '', ranked(asked, came).slice(0, CANDIDATES_SHOWN)];
    }),
  );
}

/** Events whose last attempt was not accepted. */
async function failed({ db, clock }: App, owner_id: string) {
  const since = seconds(clock) - WEBHOOK_DAYS * DAY_SECONDS;
  const ids = await failedEvents(db.query, { merchant_id: owner_id, since, limit: PAGE + 1 });
  const attempts = await deliveriesOf(db.query, ids);
  const events = await getEvents(db.query, ids);
  const items = ids.slice(0, PAGE).flatMap((id): Item[] => {
    const last = attempts.findLast(({ event_id }) => event_id === id);
    const event = events.find((each) => each.id === id);
    if (!event || !last || (last.status !== 'failed' && last.status !== 'unknown')) return [];
    return [
      {
        kind: 'webhook',
        id,
        ...factsIn(event),
        candidates: [],
        about: `${event.type} was not accepted by ${last.host}: ${outcomeOf(last)}`,
        created_at: event.created_at,
        next: [{ command: `gw event resend ${id}`, why: 'post it again' }],
      },
    ];
  });
  return { items, has_more: ids.length > PAGE };
}

/** What an event says of its invoice. */
function factsIn({ body }: EventRow): Pick<Item, 'amount' | 'currency' | 'chain' | 'external_ref'> {
  const { data } = JSON.parse(body) as z.output<typeof WebhookBody>;
  const { amount = null, currency = null, chain = null, external_ref = null } = data.invoice ?? {};
  return { amount, currency, chain, external_ref };
}

/** Blockchains where the merchant is paid, and that cannot be read. */
async function blind({ db, gateways, blindness }: App, owner_id: string | null): Promise<Item[]> {
  const wallets = owner_id === null ? null : await walletsOf(db.query, owner_id);
  const blockchains = [...new Set(gateways.map(({ blockchain }) => blockchain))].filter(
    (id) => wallets === null || wallets.some(({ blockchain }) => blockchain === id),
  );
  return blockchains.flatMap((id): Item[] => {
    const since = blindness.of(id);
    if (since === null) return [];
    return [
      {
        kind: 'blind',
        ...{ id: null, amount: null, currency: null, chain: null, external_ref: null, candidates: [] },
        about: `${id} cannot be read: what is paid there is seen later`,
        created_at: since,
        next: [{ command: 'gw doctor', why: 'see what buyers can pay with' }],
      },
    ];
  });
}
