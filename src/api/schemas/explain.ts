// What became of whatever a person has of a payment, and what waits for a merchant.
import { z } from 'zod';
import { matchedBy, matchKinds } from '../../explain.ts';
import { count, decimalString, shape, unixSeconds } from '../describe/shape.ts';
import { Dismissal, DustSum, InvoicePublic, PaymentPublic } from './resources.ts';

const match = {
  kind: z.enum(matchKinds),
  id: z.string().describe('Taken by every command and call that asks for one of this kind'),
  by: z.enum(matchedBy).describe('What of it the text was found to be'),
  status: z.string().nullable(),
  amount: decimalString().nullable().describe('Asked for, or what came where nothing was asked for'),
  currency: z.string().nullable(),
  about: z.string().nullable().describe('Its order, type, title or address'),
  owner_id: z.uuid().nullable().describe('Null for the platform key, and where no account is known'),
  owner_slug: z.string().nullable(),
  created_at: unixSeconds().nullable(),
};

export const ExplainMatch = shape('ExplainMatch', match, 'Something that a text names.');

const NextStep = z.object({ command: z.string(), why: z.string() });

export const ExplainStory = shape(
  'ExplainStory',
  {
    summary: z.string().describe('What became of it, in one sentence'),
    invoice: InvoicePublic.nullable(),
    payment: PaymentPublic.nullable().describe('The payment that the invoice shows, or that was asked about'),
    candidates: z.array(ExplainMatch).describe('Open invoices that it may be meant for, the likeliest first'),
    moments: z
      .array(
        z.object({
          at: unixSeconds(),
          kind: z.enum([
            'made',
            'seen',
            'status',
            'booked',
            'webhook',
            'claim',
            'contradiction',
            'account',
            'end',
          ]),
          text: z.string(),
          by: z.string().nullable().describe('Who did it, where it is known'),
        }),
      )
      .describe('What happened, oldest first'),
    next: z.array(NextStep).describe('What who asks may do now, as commands of `gw`'),
  },
  'One thing from its beginning to now.',
);

export const Explanation = shape('Explanation', {
  query: z.string(),
  searched: z.array(z.enum(matchedBy)).describe('As what the text was searched'),
  matches: z.array(ExplainMatch).describe('At most 20'),
  has_more: z.boolean(),
  story: ExplainStory.nullable().describe('Of the only match; null where there is none or several'),
  next: z.array(NextStep).describe('Where there is no story: how to come to one'),
});

const InboxCandidate = shape(
  'InboxCandidate',
  {
    ...match,
    amount_match: z
      .enum(['exact', 'under', 'over'])
      .nullable()
      .describe('How what came compares with what the invoice asks for'),
    seconds_apart: count().describe('Between the making of the invoice and the payment'),
    memo_distance: count()
      .nullable()
      .describe('Characters in which the memos differ; null where one of them has none'),
    claimed: z.boolean().describe('Whether a payer claims the payment for it, which proves nothing'),
  },
  'An open invoice that a payment may mean.',
);

export const InboxItem = shape(
  'InboxItem',
  {
    kind: z
      .enum(['held', 'late', 'unmatched', 'webhook', 'blind'])
      .describe(
        '`held`: the prepaid limit does not cover it. `late`: it came after its invoice had ended. `unmatched`: it names no invoice. `webhook`: no receiver accepted the event. `blind`: a blockchain cannot be read, so nothing is seen there',
      ),
    id: z.string().nullable().describe('Of the invoice, payment or event'),
    amount: decimalString().nullable(),
    currency: z.string().nullable(),
    chain: z.string().nullable(),
    external_ref: z.string().nullable(),
    about: z.string(),
    candidates: z
      .array(InboxCandidate)
      .describe('Your open invoices that an unmatched payment may mean, the likeliest first'),
    created_at: unixSeconds().nullable().describe('Since when it waits'),
    next: z.array(NextStep),
  },
  'Something that waits for a person.',
);

export const Inbox = shape('Inbox', {
  data: z.array(InboxItem).describe('What has waited longest first'),
  has_more: z.boolean(),
  dust: z
    .array(DustSum)
    .describe(
      'Nothing to do about: the days of the last 30 on which dust came to addresses that are yours alone; at most 50',
    ),
});

export const PaymentRemark = shape(
  'PaymentRemark',
  { payment: PaymentPublic, dismissed: Dismissal.nullable().describe('Null while it waits') },
  'A payment after a note was written.',
);
