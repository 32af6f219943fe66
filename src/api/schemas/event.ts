// Events, their deliveries and the body of a webhook.
import { z } from 'zod';
import { eventTypes } from '../../event-types.ts';
import { count, shape, totals, unixSeconds } from '../describe/shape.ts';
import { InvoicePublic, PaymentPublic } from './resources.ts';

export const deliveryStatuses = ['pending', 'sending', 'delivered', 'failed', 'unknown'] as const;

export const DeliveryPublic = shape('DeliveryPublic', {
  id: z.uuid(),
  kind: z.enum(['automatic', 'manual']),
  url: z.string(),
  status: z.enum(deliveryStatuses),
  http_status: z.int().nullable(),
  error: z.string().nullable(),
  duration_ms: count().nullable(),
  created_at: unixSeconds(),
  finished_at: unixSeconds().nullable(),
});

/** The invoice of an event; those written before there were kinds have none. */
const EventInvoice = shape('EventInvoice', {
  ...InvoicePublic.shape,
  kind: z
    .enum(['sale', 'refill'])
    .optional()
    .describe('`refill`: it raises your own prepaid limit, and sells nothing'),
});

const eventBody = {
  type: z.enum(eventTypes),
  timestamp: z.iso.datetime({ offset: true }),
  api_version: z.string(),
  data: z.object({ invoice: EventInvoice.nullable(), payment: PaymentPublic.nullable() }),
};

export const WebhookBody = shape('WebhookBody', eventBody, 'What is posted to a webhook address.');

export const EventPublic = shape(
  'EventPublic',
  {
    id: z.string().describe('Also the `webhook-id` of every delivery'),
    ...eventBody,
    deliveries: z.array(DeliveryPublic).describe('Oldest first'),
  },
  'What happened. Recorded as it was, whether or not it was delivered.',
);

export const EventList = shape('EventList', {
  data: z.array(EventPublic).describe('Oldest first'),
  has_more: z.boolean().describe('Whether there are later ones already'),
  next: z.string().nullable().describe('Pass it as `after` to continue; null where there is no event at all'),
  ...totals(),
});
