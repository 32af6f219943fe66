// What screens show of an account or of all: figures by day, bookings, events, units.
import { z } from 'zod';
import { count, decimalString, shape, totals, unixSeconds } from '../describe/shape.ts';
import { LedgerEntryPublic } from './admin.ts';
import { EventPublic } from './event.ts';
import { invoiceStatuses } from './resources.ts';

const owner = {
  owner_id: z.uuid().nullable().describe('Null for the platform key'),
  owner_slug: z.string().nullable(),
};

const page = {
  has_more: z.boolean(),
  next: z.string().nullable().describe('Pass it as `after` for the next page'),
  ...totals(),
};

export const Figures = shape('Figures', {
  generated_at: unixSeconds(),
  days: z
    .array(
      z.object({
        day: z.iso.date(),
        sales: count().describe('Confirmed sales'),
        volume_usd: decimalString(),
      }),
    )
    .describe('The last 30 days, UTC, oldest first, today last'),
  invoices: z
    .record(z.enum(invoiceStatuses), count())
    .describe('Invoices by status; of one account each is counted up to 10,000'),
  limit_of_payments: decimalString()
    .nullable()
    .describe('USD volume that can still be confirmed; null where nothing limits it'),
});

export const OwnedLedgerEntry = LedgerEntryPublic.extend(owner).meta({ id: 'OwnedLedgerEntry' });

export const LedgerList = shape('LedgerList', {
  data: z.array(OwnedLedgerEntry).describe('Newest first'),
  ...page,
});

export const AdminEvent = EventPublic.extend(owner).meta({ id: 'AdminEvent' });

export const AdminEvents = shape('AdminEvents', {
  data: z.array(AdminEvent).describe('Newest first'),
  ...page,
});

export const AdminUnit = shape('AdminUnit', {
  id: z.uuid(),
  owner_id: z.uuid(),
  owner_slug: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  amount_usd: decimalString(),
  currencies: z.array(z.string()).describe('Gateway ids and tickers, as they were sent'),
  wait_seconds: count(),
  active: z.boolean(),
  listed: z.boolean(),
  page_url: z.string(),
  created_at: unixSeconds(),
  updated_at: unixSeconds(),
});

export const AdminUnits = shape('AdminUnits', {
  data: z.array(AdminUnit).describe('Newest first'),
  ...page,
});
