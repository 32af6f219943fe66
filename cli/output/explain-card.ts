// What became of something, for a person: the sentence, the facts, what happened in time, and the command to type next.
import type { CallReply } from '../../src/api/client/call.ts';
import type { explain } from '../../src/api/endpoints/invoices.ts';
import type { Card, Section } from './card.ts';
import { rowsBefore } from './invoice-card.ts';
import { coins, deep, dollars } from './money.ts';
import { relative, shortId } from './value.ts';

export type Explanation = CallReply<typeof explain>;
type Match = Explanation['matches'][number];
type Story = NonNullable<Explanation['story']>;
type Step = Explanation['next'][number];

const IDS = /(?:evt_[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f])/gi;

/** A command with its ids as short as a person types them. */
export const shortCommand = (command: string): string => command.replaceAll(IDS, (id) => shortId(id));

/** `2026-11-23 07:01:46  3m ago`. */
const timeOf = (at: number, now_s: number): string =>
  `${new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ')}  ${relative(at, now_s)}`;

const moneyOf = ({ amount, currency }: Match): string =>
  amount === null ? '' : currency === 'USD' ? dollars(amount) : coins(amount, currency ?? '');

/** What tells a match from others: status, amount, order. */
export const matchLine = (match: Match, now_s: number): string =>
  [
    match.status ?? '',
    moneyOf(match),
    match.about ?? '',
    match.created_at === null ? '' : relative(match.created_at, now_s),
  ]
    .filter(Boolean)
    .join(' ');

/** Command and reason, on lines of their own: a command is copied. */
export const stepRows = (steps: readonly Step[]): [string, string][] =>
  steps.flatMap(({ command, why }): [string, string][] => [
    ['→', shortCommand(command)],
    ['', why],
  ]);

const found: Record<Match['by'], string> = {
  id: 'an id',
  part_of_id: 'part of an id',
  order: 'an order',
  memo: 'a memo',
  transaction: 'a transaction',
  address: 'an address',
  email: 'a mail address',
  name: 'the name of an account',
};

/** The card of a match with its story, of several to choose from, or of none. */
export function explainCard(
  { matches, has_more, story, searched, next, query }: Explanation,
  now_s: number,
): Card {
  const [only] = matches;
  if (story && only) return storyCard(story, only, now_s);
  if (matches.length === 0)
    return {
      headline: `nothing found for ${query}`,
      status: '',
      sections: [
        { title: 'searched as', rows: searched.map((by) => ['', found[by]]) },
        { title: 'next', rows: stepRows(next) },
      ],
    };
  const width = Math.max(...matches.map(({ kind }) => kind.length));
  return {
    headline: `${matches.length}${has_more ? ' and more' : ''} are named by ${query}`,
    status: '',
    sections: [
      {
        title: '',
        rows: matches.map((match) => [
          `${match.kind.padEnd(width)}  ${shortId(match.id)}`,
          matchLine(match, now_s),
        ]),
      },
      { title: 'next', rows: stepRows(next) },
    ],
  };
}

function storyCard(story: Story, match: Match, now_s: number): Card {
  const { summary, invoice, payment, moments, candidates, next } = story;
  const optional = (label: string, text: string | null | undefined): [string, string][] =>
    text ? [[label, text]] : [];
  const facts: Section['rows'] = [
    [match.kind, match.kind === 'address' ? (match.about ?? '') : match.id],
    ...optional('found as', match.by === 'id' || match.by === 'part_of_id' ? null : found[match.by]),
    ...optional('merchant', match.owner_slug),
    ...(invoice
      ? [
          ...optional('order', invoice.external_ref),
          [
            'asks for',
            `${coins(invoice.amount, invoice.currency)}   ${dollars(invoice.amount_usd)}   ${invoice.chain}`,
          ] as [string, string],
          ...optional('address', invoice.address),
          ...optional('memo', invoice.memo),
        ]
      : []),
    ...(payment
      ? [
          [
            'received',
            `${coins(payment.received_amount, payment.currency)}   ${payment.status}   ${deep(payment.confirmations)}`,
          ] as [string, string],
        ]
      : []),
    ...optional('txid', payment?.txid ?? invoice?.txid),
  ];
  return {
    headline: summary,
    status: payment?.status ?? invoice?.status ?? match.status ?? '',
    sections: [
      { title: '', rows: facts },
      { title: 'asked for before', rows: rowsBefore(invoice ?? {}, now_s) },
      {
        title: 'what happened, in UTC',
        rows: moments.map(({ at, text, by }) => [
          timeOf(at, now_s),
          by === null ? text : `${text}, by ${by}`,
        ]),
      },
      {
        title: 'could be meant',
        rows: candidates.map((open) => [shortId(open.id), matchLine(open, now_s)]),
      },
      { title: 'next', rows: stepRows(next) },
    ],
  };
}
