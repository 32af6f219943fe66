// Tills: several on one account, distinguished by the order reference of their sales, and what each has sold in a day.
import type { CallReply, ClientCall } from '../../../src/api/client/call.ts';
import { listInvoices } from '../../../src/api/endpoints/invoices.ts';
import { formatUsd, parseDecimal, USD_DECIMALS } from '../../../src/money.ts';
import { usage } from '../../engine/errors.ts';

type Invoice = CallReply<typeof listInvoices>['data'][number];

const PREFIX = 'pos';
const NAME = /^[A-Za-z0-9._-]{1,24}$/;
const PAGE = 200;
/** Invoices are listed by when they were made: one of yesterday may have been paid today. */
const LONGEST_SALE_SECONDS = 24 * 3600;
const SECOND_MS = 1000;

/** A sale of a till that was paid. */
export interface Sale {
  id: string;
  till: string;
  micros: bigint;
}

export interface Total {
  till: string;
  sales: number;
  amount_usd: string;
}

export function tillName(text: string): string {
  if (NAME.test(text)) return text;
  throw usage(`--till takes up to 24 letters, digits, dots, dashes and underscores, not “${text}”`);
}

/** The order reference of a new sale; no two are the same. */
export const saleReference = (till: string, unique: string): string => `${PREFIX}/${till}/${unique}`;

/** The till that made a sale; null for what no till has sold. */
export function tillOf(external_ref: string | null): string | null {
  const [prefix, till = '', ...rest] = external_ref?.split('/') ?? [];
  return prefix === PREFIX && rest.length === 1 && NAME.test(till) ? till : null;
}

/** Where the day of the till began, Unix seconds: midnight of this machine. */
export function dayBegan(now = new Date()): number {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  return Math.floor(midnight.getTime() / SECOND_MS);
}

/** Paid sales of all tills since a moment. `known` were read before: reading ends where it has all of a page. */
export async function readSales(
  call: ClientCall,
  since: number,
  known: ReadonlyMap<string, Sale> = new Map(),
): Promise<Map<string, Sale>> {
  const sales = new Map(known);
  for (let after: string | undefined; ; ) {
    const page = await call(listInvoices, { query: { status: 'confirmed', limit: PAGE, after } });
    const found = page.data.flatMap((invoice) => saleOf(invoice, since) ?? []);
    const isKnown = found.length > 0 && found.every(({ id }) => known.has(id));
    for (const sale of found) sales.set(sale.id, sale);
    const oldest = page.data.at(-1)?.created_at ?? 0;
    if (!page.has_more || isKnown || oldest < since - LONGEST_SALE_SECONDS) return sales;
    after = page.next ?? undefined;
  }
}

function saleOf({ id, external_ref, amount_usd, paid_at }: Invoice, since: number): Sale | null {
  const till = tillOf(external_ref);
  const micros = parseDecimal(amount_usd, USD_DECIMALS);
  return till !== null && micros !== null && (paid_at ?? 0) >= since ? { id, till, micros } : null;
}

const totalOf = (till: string, sales: readonly Sale[]): Total => ({
  till,
  sales: sales.length,
  amount_usd: formatUsd(sales.reduce((sum, { micros }) => sum + micros, 0n)),
});

/** Of each till by name, of the one in `till` in any case; and of all. */
export function totalsOf(sales: ReadonlyMap<string, Sale>, till: string): { tills: Total[]; all: Total } {
  const list = [...sales.values()];
  const names = [...new Set([till, ...list.map((sale) => sale.till)])].sort();
  const tills = names.map((name) =>
    totalOf(
      name,
      list.filter((sale) => sale.till === name),
    ),
  );
  return { tills, all: totalOf('all', list) };
}
