// A payer's claim: what he is answered, and what shop and operator read of it.
import { z } from 'zod';
import { claimFindings, claimReasons } from '../../claim.ts';
import { count, decimalString, shape, totals, unixSeconds } from '../describe/shape.ts';
import { invoiceStatuses } from './resources.ts';

const found = () =>
  z
    .enum(claimFindings)
    .describe(
      '`confirmed`, `confirming`, `processing`: it counts for the invoice. `partial`: it counts, and is less than asked. `late`: it came after the invoice had ended. `unmatched`: it is there and counts for no invoice. `not_found`: no such money was sent for this invoice to its address. `not_readable`: the chain cannot be asked now',
    );
const reason = () =>
  z
    .enum(claimReasons)
    .nullable()
    .describe(
      'With `unmatched`, why. `not_an_id` with `not_found`: what was entered names no transaction; nothing was asked',
    );

export const ClaimFound = shape(
  'ClaimFound',
  {
    invoice_id: z.uuid(),
    txid: z.string().nullable().describe('As it is stored, regardless of how it was entered'),
    found: found(),
    reason: reason(),
    chain: z.string().nullable().describe('Gateway id of what was found'),
    currency: z.string().nullable(),
    amount: decimalString().nullable().describe('What was found, of this asset alone'),
    seen_at: unixSeconds().nullable().describe('When it was made or first seen'),
    confirmations: count(),
    min_confirmations: count(),
  },
  'What was found of what a payer says that he has paid.',
);

const claim = {
  id: z.uuid(),
  invoice_id: z.uuid(),
  invoice_status: z.enum(invoiceStatuses),
  external_ref: z.string().nullable(),
  txid: z.string().nullable().describe('Null where the payer named none'),
  found: found(),
  reason: reason(),
  chain: z.string().nullable(),
  currency: z.string().nullable(),
  amount: decimalString().nullable(),
  seen_at: unixSeconds().nullable(),
  payment_id: z.uuid().nullable().describe('The late or unmatched payment of yours that it names'),
  times: count().describe('How often it was claimed'),
  created_at: unixSeconds(),
  updated_at: unixSeconds(),
};

const page = <Item extends z.ZodType>(item: Item) => ({
  data: z.array(item).describe('Newest first'),
  has_more: z.boolean(),
  next: z.uuid().nullable().describe('Pass it as `after` for the next page'),
  ...totals(),
});

export const ClaimPublic = shape(
  'ClaimPublic',
  claim,
  'What a payer says that he has paid, and what was found of it last. It proves nothing: anyone can name a transaction.',
);
export const ClaimList = shape('ClaimList', page(ClaimPublic));

export const AdminClaim = shape('AdminClaim', {
  ...claim,
  payment_id: z.uuid().nullable().describe('The late or unmatched payment that it names'),
  owner_id: z.uuid().nullable().describe('Null for the platform key'),
  owner_slug: z.string().nullable(),
});
export const AdminClaims = shape('AdminClaims', page(AdminClaim));
