// The figures and bookings of an account, or of the deployment.
import type { z } from 'zod';
import { countInvoices } from '../../data/invoices.ts';
import { getMerchant } from '../../data/merchants.ts';
import { countTable } from '../../data/totals.ts';
import { ledgerEntries, salesByDay, salesByDayOf } from '../../data/views/desk.ts';
import { rollups } from '../../data/views/rollups.ts';
import type { Figures, LedgerList } from '../../src/api/schemas/figures.ts';
import { invoiceStatuses } from '../../src/api/schemas/resources.ts';
import type { InvoiceStatus } from '../../src/invoice.ts';
import { limitOf } from '../../src/ledger.ts';
import { formatUsd } from '../../src/money.ts';
import { presentLedgerEntry } from '../admin/present.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { withoutOperator } from './export.ts';

/** Whose: undefined is everyone's, null the platform key's. */
type Scope = string | null | undefined;

const DAYS = 30;
const DAY_SECONDS = 86_400;

const dayOf = (days: number): string => new Date(days * DAY_SECONDS * 1000).toISOString().slice(0, 10);

/** Figures. */
export async function figuresOf(app: App, scope: Scope): Promise<z.output<typeof Figures>> {
  const now = seconds(app.clock);
  const today = Math.floor(now / DAY_SECONDS);
  const first = today - DAYS + 1;
  const { query } = app.db;
  const known =
    scope === undefined
      ? await salesByDay(query, first)
      : scope === null
        ? []
        : await salesByDayOf(query, scope, dayOf(first));
  return {
    generated_at: now,
    days: Array.from({ length: DAYS }, (_, index) => {
      const day = dayOf(first + index);
      const of = known.find((each) => each.day === day);
      return {
        day,
        sales: of?.count ?? 0,
        volume_usd: formatUsd(of?.volume_micros ?? 0n),
      };
    }),
    invoices: scope === undefined ? await allInvoices(app) : await invoicesOf(app, scope),
    limit_of_payments: scope == null ? null : await limitLeft(app, scope),
  };
}

type ByStatus = Record<InvoiceStatus, number>;

async function allInvoices({ db }: App): Promise<ByStatus> {
  const sums = await rollups(db.query, ['invoices']);
  const counts = invoiceStatuses.map((status) => [
    status,
    Number(sums.find(({ key }) => key === status)?.count ?? 0),
  ]);
  return Object.fromEntries(counts) as ByStatus;
}

async function invoicesOf({ db }: App, owner_id: string | null): Promise<ByStatus> {
  const counts: [InvoiceStatus, number][] = [];
  for (const status of invoiceStatuses) {
    const { total } = await db.readList(({ query }) =>
      countInvoices(query, { owner_id, status, external_ref: undefined }),
    );
    counts.push([status, total]);
  }
  return Object.fromEntries(counts) as ByStatus;
}

async function limitLeft({ db }: App, merchant_id: string): Promise<string | null> {
  const merchant = await getMerchant(db.query, merchant_id);
  return merchant && merchant.house_since === null ? formatUsd(limitOf(merchant.prepaid_micros)) : null;
}

interface PageOf {
  owner_id?: string | undefined;
  after?: string | undefined;
  limit: number;
  /** Whether all are counted. */
  count?: boolean | undefined;
}

/** LedgerList. Which operator booked only operators read. */
export async function ledgerPage(
  { db }: App,
  scope: Scope,
  { owner_id, after, limit, count }: PageOf,
): Promise<z.output<typeof LedgerList>> {
  const of = scope === undefined ? owner_id : scope;
  const rows =
    of === null
      ? []
      : await db.readList(({ query }) => ledgerEntries(query, { owner_id: of, after, limit: limit + 1 }));
  const data = rows.slice(0, limit).map((row) => ({
    ...presentLedgerEntry(row),
    ...(scope === undefined ? {} : { actor: withoutOperator(row.actor) }),
    owner_id: row.merchant_id,
    owner_slug: row.owner_slug,
  }));
  const counting = count && of !== null;
  const total = counting
    ? await db.readList(({ query }) =>
        countTable(query, 'ledger', of === undefined ? null : ['merchant_id', of]),
      )
    : count
      ? { total: 0, total_is_more: false }
      : {};
  return { data, has_more: rows.length > limit, next: data.at(-1)?.id ?? null, ...total };
}
