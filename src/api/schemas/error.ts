// The bodies of refusals.
import { z } from 'zod';
import { decimalString, shape } from '../describe/shape.ts';

const body = {
  detail: z.string().describe('What is wrong, for people'),
  code: z.string().describe('What is wrong, for programs; stable'),
  request_id: z.string().describe('The `X-Request-Id` of this answer'),
  hint: z.string().optional().describe('How to resolve it'),
  next: z
    .object({
      operation: z.string().describe('operationId'),
      method: z.string(),
      path: z.string().describe('Parameters in braces'),
    })
    .optional()
    .describe('The call that resolves it, to be made before this one is made again'),
};

export const ErrorBody = shape('ErrorBody', body, 'Every refusal but a validation error.');

export const LimitExhausted = shape(
  'LimitExhausted',
  {
    ...body,
    code: z.literal('limit_exhausted'),
    required_usd: decimalString().describe('Volume of the invoice'),
    remaining_usd: decimalString().describe('What the limit still covers'),
    refill: z
      .object({
        method: z.literal('POST'),
        url: z.string(),
        chains: z.array(z.string()).describe('Gateway ids that a refill can be paid with'),
        amount_usd: decimalString().describe('The smallest refill that covers this invoice'),
      })
      .describe('The call that resolves it'),
  },
  'The prepaid limit does not cover the invoice; its payment is held until it does.',
);

export const ValidationErrorEntry = shape('ValidationError', {
  loc: z
    .array(z.union([z.string(), z.int()]))
    .describe('Where: `path`, `query`, `header` or `body`, then names'),
  msg: z.string(),
  type: z.string(),
  input: z
    .unknown()
    .optional()
    .describe('What was sent; left out for secrets and what looks like one, cut at 1 kB'),
  ctx: z.record(z.string(), z.unknown()).optional(),
});

export const HTTPValidationError = shape('HTTPValidationError', {
  detail: z.array(ValidationErrorEntry).describe('All errors at once'),
});
