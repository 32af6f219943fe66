// `gw admin inbox`: all that waits for a person, in one queue, with the command that is next.
import type { CallReply } from '../../../src/api/client/call.ts';
import {
  getAdminDashboard,
  listAdminPayments,
  listContradictions,
  listObservers,
} from '../../../src/api/endpoints/admin.ts';
import type { Command, Context } from '../../engine/command.ts';
import { usage } from '../../engine/errors.ts';
import { say } from '../../output/io.ts';
import { amountOf } from '../../output/money.ts';
import { shortId } from '../../output/value.ts';
import { printReply } from '../../output/view.ts';

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
  next: string;
}

type Payment = CallReply<typeof listAdminPayments>['data'][number];

export const command: Command = {
  endpoints: [listAdminPayments, listContradictions, listObservers, getAdminDashboard],
  flags: [
    {
      field: 'work',
      name: 'work',
      place: 'own',
      kind: 'boolean',
      help: 'go through the payments one by one: a preview, Enter books, c credits, n notes, s skips',
    },
  ],
  about:
    'Held, late and unmatched payments, contradictions, blockchains that cannot be read, and webhooks that failed: what has waited longest first, each with the command that is next. At most 200 of each kind; `has_more` says that there are others.',
  fields: ['kind', 'id', 'amount', 'currency', 'merchant', 'about', 'created_at', 'next'],
  examples: ['gw admin inbox', 'gw admin inbox --work', 'gw admin inbox --json kind,id,next'],
  async run(context) {
    const { own } = await context.input();
    const { io } = context;
    if (own.work === true && !io.prompts)
      throw usage('--work needs a terminal', 'gw admin inbox --json, then gw admin resolve');
    const { data, has_more } = await inboxOf(context);
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
    printInbox(
      io,
      data,
      ['kind', 'id', 'amount', 'currency', 'created_at', 'merchant'],
      ({ about, next }) => ({
        about,
        meant: [],
        steps: [{ command: next }],
      }),
    );
    if (data.some(({ kind }) => (WAITING as readonly string[]).includes(kind)))
      say(io, 'One by one, with a preview of each booking: gw admin inbox --work');
    if (has_more) say(io, `More than ${PAGE} of a kind wait: gw admin payments --status late --all`);
  },
};

/** The queue: what has waited longest first. */
export async function inboxOf({ call }: Context): Promise<{ data: Item[]; has_more: boolean }> {
  const [dashboard, observers, contradictions, ...payments] = await Promise.all([
    call(getAdminDashboard),
    call(listObservers),
    call(listContradictions, { query: { limit: PAGE } }),
    ...WAITING.map((status) => call(listAdminPayments, { query: { status, limit: PAGE } })),
  ]);
  const none = { id: null, amount: null, currency: null, merchant: null };
  const data: Item[] = [
    ...payments.flatMap((page, index) => page.data.map((row) => itemOf(WAITING[index] ?? 'held', row))),
    ...contradictions.data.map(({ id, kind, blockchain, created_at }) => ({
      ...none,
      kind: 'contradiction',
      id,
      about: `${kind.replaceAll('_', ' ')} on ${blockchain}`,
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
  const { webhooks_failed } = dashboard.attention;
  if (webhooks_failed > 0)
    data.push({
      ...none,
      kind: 'webhooks',
      about: `${webhooks_failed} ${webhooks_failed === 1 ? 'confirmation' : 'confirmations'} that no receiver accepted`,
      created_at: null,
      next: 'gw admin events --undelivered',
    });
  data.sort((one, other) => (one.created_at ?? Infinity) - (other.created_at ?? Infinity));
  const has_more = payments.some((page) => page.has_more) || contradictions.data.length < contradictions.open;
  return { data, has_more };
}

function itemOf(kind: string, row: Payment): Item {
  const {
    id,
    invoice_id,
    txid,
    candidates,
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
        : candidates === 0
          ? 'no open invoice could be meant'
          : `${candidates} open ${candidates === 1 ? 'invoice' : 'invoices'} could be meant`
      : `order ${external_ref ?? 'without name'}${is_second ? ', besides another payment' : ''}`;
  const next = {
    held: `gw admin credit ${shortId(row.owner_id ?? 'USER_ID')} USD`,
    late: is_second ? `gw admin payment ${shortId(id)}` : `gw admin resolve ${booked}`,
    unmatched: `gw admin payment ${shortId(id)}`,
  }[kind];
  return { kind, id, amount, currency, merchant: owner_slug, about, created_at, next: next ?? '' };
}
