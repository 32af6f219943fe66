// `gw admin inbox`: all that waits for a person, in one queue, with the command that is next.
import type { CallReply } from '../../../src/api/client/call.ts';
import {
  getAdminPayment,
  listAdminEvents,
  listAdminPayments,
  listContradictions,
  listObservers,
} from '../../../src/api/endpoints/admin.ts';
import type { Score } from '../../../src/candidates.ts';
import type { Command, Context } from '../../engine/command.ts';
import { GwError, usage } from '../../engine/errors.ts';
import { say } from '../../output/io.ts';
import { amountOf } from '../../output/money.ts';
import { meantBy, rankedCandidates } from '../../output/payment-card.ts';
import { shortId } from '../../output/value.ts';
import { printReply } from '../../output/view.ts';

/** Of so many payments a person sees at once what they could mean: each is a call. */
const SCORED = 10;
/** Calls under way at a time. */
const AT_ONCE = 5;
/** Invoices that a row of people's names of those that it could mean. */
const NAMED = 3;
/** The largest page the service gives: of each kind so many are listed. */
const PAGE = 200;
const WAITING = ['held', 'late', 'unmatched'] as const;

interface Item {
  kind: string;
  id: string | null;
  amount: string | null;
  currency: string | null;
  merchant: string | null;
  about: string;
  created_at: number | null;
  /** Open invoices that it could mean, the likeliest first; those of the payments beyond the first ones are not asked for. */
  candidates: readonly ScoredCandidate[];
  /** Events that one receiver of a merchant did not accept, the oldest first. */
  events: readonly string[];
  next: string;
}

type Invoice = CallReply<typeof getAdminPayment>['candidates'][number];

export interface ScoredCandidate
  extends Score,
    Pick<
      Invoice,
      'id' | 'external_ref' | 'status' | 'amount' | 'currency' | 'amount_usd' | 'memo' | 'created_at'
    > {
  /** Whether a payer claims the payment for it, which proves nothing. */
  claimed: boolean;
}

type Payment = CallReply<typeof listAdminPayments>['data'][number];

export const command: Command = {
  endpoints: [listAdminPayments, getAdminPayment, listContradictions, listObservers, listAdminEvents],
  flags: [
    {
      field: 'work',
      name: 'work',
      place: 'own',
      kind: 'boolean',
      help: 'go through it one by one: a preview, Enter books or resends, c credits, d closes without booking, n notes, s skips',
    },
  ],
  about:
    'Held, late and unmatched payments, contradictions, blockchains that cannot be read, and webhooks that failed: what has waited longest first, each with the command that is next. At most 200 of each kind; `has_more` says that there are others. With `--json`, `candidates` of an unmatched payment are the invoices that it could mean, the likeliest first, each with `amount_match`, `seconds_apart` and `memo_distance`; `events` are those that a receiver did not accept, one row for each merchant and receiver.',
  fields: [
    'kind',
    'id',
    'amount',
    'currency',
    'merchant',
    'about',
    'created_at',
    'candidates',
    'events',
    'next',
  ],
  examples: ['gw admin inbox', 'gw admin inbox --work', 'gw admin inbox --json kind,id,next'],
  async run(context) {
    const { own } = await context.input();
    const { io } = context;
    if (own.work === true && !io.prompts)
      throw usage('--work needs a terminal', 'gw admin inbox --json, then gw admin resolve');
    // Programs have the candidates of all, where they want them; the preview asks for its own.
    const isAsked = io.json === true || (io.json !== false && io.json.includes('candidates'));
    const scored = isAsked ? Number.POSITIVE_INFINITY : io.json === false && own.work !== true ? SCORED : 0;
    const { data, has_more } = await inboxOf(context, io.stdout.isTTY === true || isAsked ? scored : 0);
    if (own.work === true) return (await import('../parts/inbox-work.ts')).workThrough(context, data);
    if (io.json !== false || io.stdout.isTTY !== true)
      return printReply(
        io,
        { data, count: data.length, has_more },
        {
          list: 'data',
          columns: ['kind', 'id', 'amount', 'currency', 'created_at', 'about', 'next', 'merchant'],
        },
      );
    const { printInbox } = await import('../parts/inbox.ts');
    printInbox(io, data, ['kind', 'id', 'amount', 'currency', 'created_at', 'merchant'], (item) => ({
      about: item.about,
      meant: meantBy(item).slice(0, NAMED),
      steps: [{ command: item.next }],
    }));
    if (data.length > 0) say(io, 'One by one, with a preview of each booking: gw admin inbox --work');
    if (has_more) say(io, `More than ${PAGE} of a kind wait: gw admin payments --status late --all`);
  },
};

/** What the payments could mean that have waited longest, `most` of them. */
async function addCandidates({ call }: Context, items: readonly Item[], most: number): Promise<void> {
  const open = items.filter(({ kind }) => kind === 'unmatched').slice(0, most);
  for (let from = 0; from < open.length; from += AT_ONCE)
    await Promise.all(
      open.slice(from, from + AT_ONCE).map(async (item) => {
        item.candidates = await call(getAdminPayment, { params: { invoice_id: String(item.id) } }).then(
          (detail) =>
            rankedCandidates(detail).map((one) => ({
              id: one.id,
              external_ref: one.external_ref,
              status: one.status,
              amount: one.amount,
              currency: one.currency,
              amount_usd: one.amount_usd,
              memo: one.memo,
              created_at: one.created_at,
              amount_match: one.amount_match,
              seconds_apart: one.seconds_apart,
              memo_distance: one.memo_distance,
              claimed: detail.claims.some(({ invoice_id }) => invoice_id === one.id),
            })),
          (error) => {
            // It was dealt with meanwhile.
            if (error instanceof GwError && error.kind === 'not_found') return [];
            throw error;
          },
        );
      }),
    );
}

/** The queue: what has waited longest first; of `scored` unmatched payments, what they could mean. */
export async function inboxOf(
  context: Context,
  scored: number,
): Promise<{ data: Item[]; has_more: boolean }> {
  const { call } = context;
  const [undelivered, observers, contradictions, ...payments] = await Promise.all([
    call(listAdminEvents, { query: { undelivered: true, limit: PAGE } }),
    call(listObservers),
    call(listContradictions, { query: { limit: PAGE } }),
    ...WAITING.map((status) => call(listAdminPayments, { query: { status, limit: PAGE } })),
  ]);
  const none = { id: null, amount: null, currency: null, merchant: null, candidates: [], events: [] };
  const data: Item[] = [
    ...payments.flatMap((page, index) => page.data.map((row) => itemOf(WAITING[index] ?? 'held', row))),
    ...contradictions.data.map(({ id, kind, blockchain, created_at, invoice_id, details }) => ({
      ...none,
      kind: 'contradiction',
      id,
      about: [
        `${kind.replaceAll('_', ' ')} on ${blockchain}`,
        invoice_id && `invoice ${shortId(invoice_id)}`,
        ...Object.entries(details).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value ?? '–'}`),
      ]
        .filter(Boolean)
        .join(', '),
      created_at,
      next: `gw admin close-contradiction ${shortId(id)} --note WHY`,
    })),
    ...observers.observers
      .filter(({ unavailable_since }) => unavailable_since !== null)
      .map(({ blockchain, unavailable_since }) => ({
        ...none,
        kind: 'blind',
        about: `${blockchain} cannot be read`,
        created_at: unavailable_since,
        next: 'gatewayd doctor',
      })),
  ];
  data.push(...webhookItems(undelivered.data));
  data.sort((one, other) => (one.created_at ?? Infinity) - (other.created_at ?? Infinity));
  await addCandidates(context, data, scored);
  const has_more =
    undelivered.has_more ||
    payments.some((page) => page.has_more) ||
    contradictions.data.length < contradictions.open;
  return { data, has_more };
}

type Event = CallReply<typeof listAdminEvents>['data'][number];

/** A receiver that is down is one thing to do, however many events it did not take. */
function webhookItems(events: readonly Event[]): Item[] {
  const byReceiver = new Map<string, [Event, ...Event[]]>();
  for (const event of events.toReversed()) {
    const { url = '' } = event.deliveries.at(-1) ?? {};
    const key = `${event.owner_id} ${url}`;
    byReceiver.set(key, [...(byReceiver.get(key) ?? []), event] as [Event, ...Event[]]);
  }
  return [...byReceiver.values()].map((waiting): Item => {
    const [first] = waiting;
    const last = waiting.at(-1)?.deliveries.at(-1);
    const host = last && URL.canParse(last.url) ? new URL(last.url).host : (last?.url ?? 'its receiver');
    const why = last?.http_status == null ? (last?.error ?? last?.status) : `answered ${last.http_status}`;
    const { invoice } = first.data;
    const is_only = waiting.length === 1;
    return {
      kind: 'webhook',
      id: is_only ? first.id : null,
      amount: is_only ? (invoice?.amount ?? null) : null,
      currency: is_only ? (invoice?.currency ?? null) : null,
      merchant: first.owner_slug,
      about: `${is_only ? `${first.type} was` : `${waiting.length} events were`} not accepted by ${host}: ${why}`,
      created_at: Math.floor(Date.parse(first.timestamp) / 1000),
      candidates: [],
      events: waiting.map(({ id }) => id),
      next: is_only
        ? `gw event resend ${first.id}`
        : `gw admin events --undelivered${first.owner_id === null ? '' : ` --owner-id ${first.owner_id}`}`,
    };
  });
}

function itemOf(kind: string, row: Payment): Item {
  const {
    id,
    invoice_id,
    txid,
    candidates: count,
    claimed_invoice_id,
    owner_slug,
    currency,
    created_at,
    external_ref,
  } = row;
  const amount = row.received_amount ?? amountOf(row);
  const booked = `${shortId(invoice_id ?? 'INVOICE')} confirm${txid === null ? '' : ` --txid ${txid}`}`;
  // A payment that stands for itself came besides another one, which may have paid the invoice.
  const is_second = kind === 'late' && invoice_id !== null && invoice_id !== id;
  const about =
    kind === 'unmatched'
      ? claimed_invoice_id
        ? `the payer claims it for invoice ${shortId(claimed_invoice_id)}`
        : count === 0
          ? 'no open invoice could be meant'
          : `${count} open ${count === 1 ? 'invoice' : 'invoices'} could be meant`
      : `order ${external_ref ?? 'without name'}${is_second ? ', besides another payment' : ''}`;
  const next = {
    held: `gw admin credit ${shortId(row.owner_id ?? 'USER_ID')} USD`,
    late: is_second ? `gw admin payment ${shortId(id)}` : `gw admin resolve ${booked}`,
    unmatched: `gw admin payment ${shortId(id)}`,
  }[kind];
  return {
    kind,
    id,
    amount,
    currency,
    merchant: owner_slug,
    about,
    created_at,
    candidates: [],
    events: [],
    next: next ?? '',
  };
}
