// What a person has of a payment, read as all that it may be; and what became of the payment in one sentence, with the command that is next.
import { cleanText } from './clean.ts';
import type { InvoiceStatus, PaymentStatus } from './invoice.ts';

/** Longest text that is explained: a link to an explorer, a page or an order. */
export const MAX_REFERENCE = 512;
/** Characters by which screens show an id, and the fewest that find one. */
export const TAIL = 8;

/** What a command may ask a reference to name. */
export const wantedKinds = [
  'invoice',
  'payment',
  'unit',
  'event',
  'merchant',
  'contradiction',
  'daemon',
] as const;
export type WantedKind = (typeof wantedKinds)[number];

export const matchKinds = [...wantedKinds, 'address'] as const;
export type MatchKind = (typeof matchKinds)[number];

export const matchedBy = [
  'id',
  'part_of_id',
  'order',
  'memo',
  'transaction',
  'address',
  'email',
  'name',
] as const;
export type MatchedBy = (typeof matchedBy)[number];

/** A text as an id: whole, or a part of it in hexadecimal digits without dashes; both absent where it is none. */
export interface IdText {
  whole?: string;
  part?: string;
}

const UUID = /(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/i;
const EVENT = /evt_[0-9a-f]{32}(?![0-9a-f])/i;
const PART = /^(?:evt_|…)?([0-9a-f-]{8,36})$/i;

/** A whole id stands anywhere, so that links to pages are taken; a part of one stands alone. */
export function readId(text: string): IdText {
  const whole = (EVENT.exec(text) ?? UUID.exec(text))?.[0];
  if (whole !== undefined) return { whole: whole.toLowerCase() };
  const part = PART.exec(cleanText(text))?.[1]?.replaceAll('-', '').toLowerCase();
  return part !== undefined && part.length >= TAIL ? { part } : {};
}

/** The digits of an id, by which parts are compared. */
export const digitsOf = (id: string): string => id.replace('evt_', '').replaceAll('-', '');

/** Whether a note names an invoice or a payment, which may be another account's. */
export const namesAnId = (note: string): boolean => UUID.test(note);

/** What is known of an invoice, or of a payment that no invoice shows. */
export interface Case {
  /** Null where no invoice is known. */
  invoice_id: string | null;
  invoice_status: InvoiceStatus | null;
  payment_id: string | null;
  payment_status: PaymentStatus | null;
  is_refill: boolean;
  /** With their tickers. */
  asked: string | null;
  received: string | null;
  confirmations: number;
  min_confirmations: number;
  txid: string | null;
  owner_id: string | null;
  usd: string | null;
  /** An event that no receiver accepted, and what went wrong last. */
  failed_event: { id: string; why: string } | null;
  candidates: readonly string[];
  /** Who has closed it without booking it, as who asks may read it; null where it was not closed. */
  dismissed: { by: string; note: string | null } | null;
}

export interface NextStep {
  command: string;
  why: string;
}

/** `Closed by the merchant: sent back by hand`. */
export const closedBy = ({ by, note }: { by: string; note: string | null }): string =>
  `Closed by the ${by}${note === null ? '' : `: ${note}`}`;

/** What became of it, in one sentence. */
export function summaryOf(story: Case): string {
  const { invoice_status, payment_status, asked, received, dismissed } = story;
  const closed = dismissed === null ? '' : ` ${closedBy(dismissed)}.`;
  const failed = `${closed}${
    story.failed_event === null ? '' : ` Its webhook was not delivered: ${story.failed_event.why}.`
  }`;
  switch (payment_status) {
    case 'unmatched':
      return `${received} came, and no open invoice is named by it.${failed}`;
    case 'late':
      return `${received} came after the invoice had ended, and is not booked.${failed}`;
    case 'orphaned':
      return `Its transaction left the chain: the money did not arrive.${failed}`;
    case 'held':
      return `${received} is here, and held: the prepaid limit does not cover ${story.usd ?? 'it'}.${failed}`;
    default:
  }
  if (invoice_status === 'confirmed') return `Paid and booked: ${received ?? asked}.${failed}`;
  if (invoice_status !== 'created')
    return `It ended (${invoice_status ?? 'unknown'}) ${received === null ? 'without a payment' : `with ${received} of ${asked}`}.${failed}`;
  if (payment_status === null) return `No payment was seen yet; it waits for ${asked}.${failed}`;
  return `${received} of ${asked} was seen: ${story.confirmations} of ${story.min_confirmations} confirmations.${failed}`;
}

/** What who asks may do now, the most useful first. */
export function nextSteps(story: Case, reader: 'merchant' | 'operator'): NextStep[] {
  const { failed_event } = story;
  const steps = reader === 'operator' ? operatorSteps(story) : merchantSteps(story);
  if (failed_event === null) return steps;
  return [
    ...steps,
    { command: `gw event resend ${failed_event.id}`, why: 'post the webhook again' },
    ...(reader === 'operator' && story.owner_id !== null
      ? [{ command: `gw admin merchant ${story.owner_id}`, why: 'see where its webhooks are posted' }]
      : []),
  ];
}

function operatorSteps(story: Case): NextStep[] {
  const { invoice_id, payment_id, payment_status, owner_id, txid } = story;
  const by = txid === null ? '' : ` --txid ${txid}`;
  const close = {
    command: `gw admin note ${payment_id} WHY --dismissed`,
    why: 'close it without booking it, where it was dealt with elsewhere',
  };
  if (story.dismissed !== null)
    return [{ command: `gw admin note ${payment_id} WHY --no-dismissed`, why: 'have it wait again' }];
  switch (payment_status) {
    case 'held':
      return owner_id === null
        ? []
        : [{ command: `gw admin credit ${owner_id} USD`, why: 'raise the limit: it is booked at once' }];
    case 'late':
      return [
        { command: `gw admin resolve ${invoice_id} confirm${by}`, why: 'book it for its invoice' },
        close,
      ];
    case 'unmatched':
      return [
        ...story.candidates.slice(0, 1).map((id) => ({
          command: `gw admin resolve ${id} confirm${by}`,
          why: 'book it for the likeliest invoice',
        })),
        { command: `gw admin payment ${payment_id}`, why: 'see all that it may mean' },
        close,
      ];
    default:
  }
  if (story.invoice_status === 'created')
    return [{ command: `gw admin resolve ${invoice_id} recheck`, why: 'have the chain read now' }];
  return story.invoice_status === 'confirmed'
    ? []
    : [
        {
          command: `gw admin resolve ${invoice_id} confirm --txid TXID`,
          why: 'book it where the buyer shows a transaction',
        },
      ];
}

function merchantSteps(story: Case): NextStep[] {
  const { invoice_id, payment_id, payment_status, dismissed } = story;
  if (dismissed !== null)
    return dismissed.by === 'operator'
      ? []
      : [{ command: `gw payment note ${payment_id} WHY --no-dismissed`, why: 'have it wait again' }];
  switch (payment_status) {
    case 'held':
      return [
        {
          command: 'gw refill create',
          why: 'refill the prepaid limit: what is held is then booked, oldest first',
        },
      ];
    case 'late':
    case 'unmatched':
      return [
        {
          command: `gw explain ${payment_id} --json`,
          why: 'give this to the operator, who can book it; or send the money back from your wallet',
        },
        {
          command: `gw payment note ${payment_id} WHY --dismissed`,
          why: 'close it where you have dealt with it',
        },
      ];
    default:
  }
  if (story.invoice_status === 'created')
    return [{ command: `gw invoice check ${invoice_id}`, why: 'have the chain read now' }];
  return story.invoice_status === 'confirmed'
    ? []
    : [{ command: `gw claim list`, why: 'see whether its payer says to have paid' }];
}
