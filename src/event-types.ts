// The kinds of events: written by settlement, listed by the API, posted by webhooks.

export const eventTypes = [
  'invoice.created',
  'payment.detected',
  'payment.confirming',
  'invoice.confirmed',
  'invoice.expired',
  'invoice.cancelled',
  'invoice.failed',
  'payment.late',
  'payment.unmatched',
  'limit.exhausted',
  'invoice.switched',
] as const;

export type EventType = (typeof eventTypes)[number];
