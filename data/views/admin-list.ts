// The operator's list: invoices, and payments that no invoice shows, in one order, newest first, without ever
// sorting or counting all of them.
import { type RawBuilder, sql } from 'kysely';
import type { InvoiceStatus, PaymentStatus } from '../../src/invoice.ts';
import type { Dialect, Executor, Reader } from '../db/database.ts';
import { type InvoiceRow, type PaymentRow, UNAPPLIED } from '../schema/tables.ts';
import { COUNT_LIMIT, countRows, type Total } from '../totals.ts';

/** Most open invoices that an unmatched transfer is reported to mean. */
export const CANDIDATES_SHOWN = 20;
/** Newest open invoices at an address among which the likeliest are searched. */
const CANDIDATES_READ = 1_000;

export interface EntryFilter {
  /**
   * Of an invoice or of a payment; another word finds nothing. `late` and `unmatched` are those that wait, DISMISSED the
   * others.
   */
  status?: string | undefined;
  /** `sale` or `refill`; another word finds nothing. */
  kind?: string | undefined;
  chain?: string | undefined;
  owner_id?: string | undefined;
  skip: number;
  limit: number;
}

const listedInvoice = [
  'id',
  'owner_id',
  'kind',
  'chain',
  'currency',
  'decimals',
  'status',
  'payment_id',
  'amount_atomic',
  'amount_usd_micros',
  'received_atomic',
  'amount_match',
  'txid',
  'confirmations',
  'external_ref',
  'memo',
  'created_at',
  'expires_at',
  'paid_at',
] as const satisfies readonly (keyof InvoiceRow)[];

export type ListedInvoice = Pick<InvoiceRow, (typeof listedInvoice)[number]>;

/** An invoice with the payment it shows, or a payment that none shows (`unapplied`). */
export interface AdminEntry {
  unapplied: boolean;
  /** An unapplied late payment names its invoice too. */
  invoice: ListedInvoice | null;
  payment: PaymentRow | null;
  owner_slug: string | null;
  /** Open invoices that an unmatched transfer could mean, at most CANDIDATES_SHOWN. */
  candidates: number;
  /** The invoice that a payer claimed an unapplied payment for first; null where no one did. */
  claimed_invoice_id: string | null;
}

type Kind = 'sale' | 'refill';

const invoiceStatuses: Record<InvoiceStatus, true> = {
  created: true,
  confirmed: true,
  expired: true,
  cancelled: true,
  failed: true,
};
const kinds: Record<Kind, true> = { sale: true, refill: true };

const alongside = [`${UNAPPLIED}_sale`, `${UNAPPLIED}_refill`] as const;

/** As what payments of a status can stand in the list. Confirmed ones are their invoices' affair. */
const places: Record<Exclude<PaymentStatus, 'confirmed'>, readonly PaymentRow['listed_as'][]> = {
  detected: ['sale', 'refill'],
  confirming: ['sale', 'refill'],
  held: ['sale', 'refill'],
  late: ['sale', 'refill', ...alongside],
  unmatched: [UNAPPLIED],
  orphaned: ['sale', 'refill', ...alongside, UNAPPLIED],
};

/** What is asked for to see late and unmatched payments that were dismissed; no status of its own. */
const DISMISSED = 'dismissed';
const dismissible = ['late', 'unmatched'] as const;
type Flags = readonly (0 | 1)[];

const isUnapplied = (place: PaymentRow['listed_as']): boolean => place.startsWith(UNAPPLIED);
const keysOf = <K extends string>(of: Record<K, unknown>): K[] => Object.keys(of) as K[];
const isKeyOf = <K extends string>(of: Record<K, unknown>, key: string): key is K => Object.hasOwn(of, key);

/** A part of the list that one index holds in the list's order. */
interface Part {
  table: 'invoices' | 'payments';
  index: string;
  /** The index's columns before the order of the list, with what they must be. */
  fixed: [column: string, value: RawBuilder<unknown>][];
  /** The same of those after it: rows are passed over by them. */
  filters: [column: string, value: RawBuilder<unknown>][];
  /** The condition of a partial index, which is used only where it is seen. */
  condition: string;
}

/** The parts that together are the list. */
function partsOf({ status, kind, chain, owner_id }: EntryFilter): Part[] {
  if (kind !== undefined && !isKeyOf(kinds, kind)) return [];
  const of_owner: Part['fixed'] = owner_id === undefined ? [] : [['owner_id', sql`${owner_id}`]];
  const of_chain: Part['fixed'] = chain === undefined ? [] : [['chain', sql`${chain}`]];
  const given = [...of_owner, ...of_chain];
  const by = `${owner_id === undefined ? '' : '_owner'}${chain === undefined ? '' : '_chain'}`;
  const open: Part = {
    table: 'invoices',
    index: `invoices_open${owner_id === undefined ? '' : '_by_owner'}`,
    fixed: of_owner,
    filters: kind === undefined ? of_chain : [...of_chain, ['kind', sql.lit(kind)]],
    condition: `status = 'created'`,
  };
  const invoices = (statuses: InvoiceStatus[]): Part[] =>
    statuses.flatMap((of) =>
      of === 'created'
        ? open
        : (kind === undefined ? keysOf(kinds) : [kind]).map((one) => ({
            table: 'invoices',
            index: `invoices_by${by === '_owner' ? '_owner_status' : by || '_status'}`,
            fixed: [...given, ['status', sql.lit(of)], ['kind', sql.lit(one)]],
            filters: [],
            condition: `status <> 'created'`,
          })),
    );
  const payments = (
    statuses: readonly (keyof typeof places)[],
    { alone, dismissed }: { alone: boolean; dismissed: Flags },
  ): Part[] =>
    statuses.flatMap((of) =>
      places[of]
        .filter((place) => (!alone || isUnapplied(place)) && (kind === undefined || place.endsWith(kind)))
        .flatMap((place) =>
          dismissed.map(
            (flag): Part => ({
              table: 'payments',
              index: `payments_by${by || '_status'}`,
              fixed: [
                ...given,
                ['status', sql.lit(of)],
                ['dismissed', sql.lit(flag)],
                ['listed_as', sql.lit(place)],
              ],
              filters: [],
              condition: `status <> 'confirmed'`,
            }),
          ),
        ),
    );
  if (status === DISMISSED) return payments(dismissible, { alone: false, dismissed: [1] });
  if (status !== undefined && isKeyOf(places, status))
    return payments([status], { alone: false, dismissed: [0] });
  if (status !== undefined) return isKeyOf(invoiceStatuses, status) ? invoices([status]) : [];
  return [
    ...invoices(keysOf(invoiceStatuses)),
    ...payments(keysOf(places), { alone: true, dismissed: [0] }),
    ...payments(dismissible, { alone: true, dismissed: [1] }),
  ];
}

/**
 * SQLite is given the index to read, and merges the parts lazily. PostgreSQL takes no such word: there the last fixed
 * column is asked for as a range and ordered by, which no index but the right one can do.
 */
function selectPart(
  dialect: Dialect,
  { table, index, fixed, filters, condition }: Part,
  bound: number,
): RawBuilder<unknown> {
  const at = sql.ref(table === 'invoices' ? 'created_at' : 'listed_at');
  const last = dialect === 'postgres' ? fixed.at(-1) : undefined;
  const where = [...fixed.slice(0, last ? -1 : undefined), ...filters].map(
    ([column, value]) => sql`${sql.ref(column)} = ${value}`,
  );
  if (last) where.push(sql`${sql.ref(last[0])} >= ${last[1]} and ${sql.ref(last[0])} <= ${last[1]}`);
  where.push(sql.raw(condition));
  const select = sql`select id, ${at} as created_at, ${sql.lit(table === 'payments' ? 1 : 0)} as unapplied
    from ${sql.table(table)}${dialect === 'sqlite' ? sql` indexed by ${sql.ref(index)}` : sql``}
    where ${sql.join(where, sql` and `)}`;
  if (dialect === 'sqlite') return select;
  const order = [...(last ? [sql.ref(last[0])] : []), at, sql.ref('id')].map((column) => sql`${column} desc`);
  return sql`(${select} order by ${sql.join(order)} limit ${bound})`;
}

/** The page as ids, in order: what its plan is tested with. Null where the filter can find nothing. */
export function entryKeys(
  dialect: Dialect,
  filter: EntryFilter,
): RawBuilder<{ id: string; unapplied: number }> | null {
  const parts = partsOf(filter);
  if (parts.length === 0) return null;
  const { skip, limit } = filter;
  const selects = parts.map((part) => selectPart(dialect, part, skip + limit));
  const all = sql`${sql.join(selects, sql` union all `)}`;
  return sql`${dialect === 'sqlite' ? all : sql`select id, created_at, unapplied from (${all}) as parts`}
    order by created_at desc, id desc limit ${limit} offset ${skip}`;
}

/** A page of the list, newest first. */
export async function listEntries({ query, dialect }: Reader, filter: EntryFilter): Promise<AdminEntry[]> {
  const statement = entryKeys(dialect, filter);
  if (!statement) return [];
  const { rows } = await statement.execute(query);
  const idsOf = (unapplied: number) => rows.filter((row) => row.unapplied === unapplied).map((row) => row.id);
  const invoices = await entriesOfInvoices(query, idsOf(0));
  const payments = await entriesOfPayments(query, idsOf(1));
  const byId = new Map([
    ...invoices.map((entry) => [entry.invoice?.id, entry] as const),
    ...payments.map((entry) => [entry.payment?.id, entry] as const),
  ]);
  return rows.flatMap((row) => byId.get(row.id) ?? []);
}

/** How many the list has; `skip` and `limit` aside. */
export async function countEntries({ query, dialect }: Reader, filter: EntryFilter): Promise<Total> {
  const statement = entryKeys(dialect, { ...filter, skip: 0, limit: COUNT_LIMIT });
  return statement ? countRows(query, statement) : { total: 0, total_is_more: false };
}

type WithSlug = { owner_slug: string | null };

/** Invoices with the payments they show, in no order. */
export async function entriesOfInvoices(query: Executor, ids: readonly string[]): Promise<AdminEntry[]> {
  if (ids.length === 0) return [];
  const invoices: (ListedInvoice & WithSlug)[] = await query
    .selectFrom('invoices')
    .leftJoin('merchants', 'merchants.id', 'invoices.owner_id')
    .select(listedInvoice.map((column) => `invoices.${column}` as const))
    .select('merchants.slug as owner_slug')
    .where('invoices.id', 'in', ids)
    .execute();
  const payments = await query
    .selectFrom('payments')
    .selectAll()
    .where('invoice_id', 'in', ids)
    .where('main', '=', sql.lit(1))
    .execute();
  const byInvoice = new Map(payments.map((payment) => [payment.invoice_id, payment]));
  return invoices.map(({ owner_slug, ...invoice }) => ({
    unapplied: false,
    invoice,
    payment: byInvoice.get(invoice.id) ?? null,
    owner_slug,
    candidates: 0,
    claimed_invoice_id: null,
  }));
}

/** Payments with the invoices they belong to, in no order. */
export async function entriesOfPayments(query: Executor, ids: readonly string[]): Promise<AdminEntry[]> {
  if (ids.length === 0) return [];
  const payments: (PaymentRow & WithSlug & Pick<AdminEntry, 'candidates' | 'claimed_invoice_id'>)[] =
    await query
      .selectFrom('payments')
      .leftJoin('merchants', 'merchants.id', 'payments.owner_id')
      .selectAll('payments')
      .select([
        'merchants.slug as owner_slug',
        candidateCount.as('candidates'),
        firstClaimed.as('claimed_invoice_id'),
      ])
      .where('payments.id', 'in', ids)
      .execute();
  const invoice_ids = payments.flatMap((payment) => payment.invoice_id ?? []);
  const invoices: ListedInvoice[] =
    invoice_ids.length === 0
      ? []
      : await query.selectFrom('invoices').select(listedInvoice).where('id', 'in', invoice_ids).execute();
  const byId = new Map(invoices.map((invoice) => [invoice.id, invoice]));
  return payments.map(({ owner_slug, candidates, claimed_invoice_id, ...payment }) => ({
    unapplied: isUnapplied(payment.listed_as),
    invoice: byId.get(payment.invoice_id ?? '') ?? null,
    payment,
    owner_slug,
    candidates,
    claimed_invoice_id,
  }));
}

/** The invoices of these payments, and whether they show them. */
export async function mainPaymentInvoices(
  query: Executor,
  ids: readonly string[],
): Promise<Map<string, { invoice_id: string | null; is_main: boolean }>> {
  if (ids.length === 0) return new Map();
  const rows = await query
    .selectFrom('payments')
    .select(['id', 'invoice_id', 'main'])
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map(({ id, invoice_id, main }) => [id, { invoice_id, is_main: main === 1 }]));
}

/** Open invoices of the asset at the address, made before the transfer was seen. */
const candidateCount = sql<number>`(select count(*) from (
    select 1 as one from transfers t, invoices i
    where payments.status = 'unmatched' and t.payment_id = payments.id
      and i.blockchain = t.blockchain and i.address_key = t.address_key and i.chain = t.chain
      and i.status = 'created' and i.created_at <= t.first_seen_at
    limit ${sql.lit(CANDIDATES_SHOWN)}) as bounded)`;

const firstClaimed = sql<string | null>`(select claims.invoice_id from claims
    where claims.payment_id = payments.id order by claims.id limit 1)`;

export interface CandidateSearch {
  blockchain: string;
  address_key: string;
  chain: string;
  amount_atomic: string;
  /** Unix seconds. */
  first_seen_at: number;
}

/**
 * The open invoices that a transfer could mean: nearest amount first, then newest; at most CANDIDATES_SHOWN. With an owner
 * (null is the deployment) only that one's.
 */
export async function candidatesFor(
  query: Executor,
  transfer: CandidateSearch,
  owner_id?: string | null,
): Promise<InvoiceRow[]> {
  let select = query
    .selectFrom('invoices')
    .select(['id', 'amount_atomic'])
    .where('blockchain', '=', transfer.blockchain)
    .where('address_key', '=', transfer.address_key)
    .where('chain', '=', transfer.chain)
    .where('status', '=', sql.lit('created'))
    .where('created_at', '<=', transfer.first_seen_at);
  if (owner_id !== undefined) select = select.where('owner_id', owner_id === null ? 'is' : '=', owner_id);
  const open = await select
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(CANDIDATES_READ)
    .execute();
  const distance = (amount: string): bigint => {
    const difference = BigInt(amount) - BigInt(transfer.amount_atomic);
    return difference < 0n ? -difference : difference;
  };
  const nearest = open
    .map((row) => ({ id: row.id, distance: distance(row.amount_atomic) }))
    .sort((a, b) => Number(a.distance > b.distance) - Number(a.distance < b.distance))
    .slice(0, CANDIDATES_SHOWN)
    .map((row) => row.id);
  if (nearest.length === 0) return [];
  const rows = await query.selectFrom('invoices').selectAll().where('id', 'in', nearest).execute();
  return rows.sort((a, b) => nearest.indexOf(a.id) - nearest.indexOf(b.id));
}

/** The latest late or unmatched payments of a blockchain that wait. */
export async function latestUnapplied(
  query: Executor,
  blockchain: string,
  status: 'late' | 'unmatched',
  limit: number,
): Promise<AdminEntry[]> {
  const rows = await query
    .selectFrom('payments')
    .select('id')
    .where('blockchain', '=', blockchain)
    .where('status', '=', sql.lit(status))
    .where(sql<boolean>`status in ('late', 'unmatched') and dismissed = 0`)
    .orderBy('listed_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.id);
  const entries = await entriesOfPayments(query, ids);
  return entries.sort((a, b) => ids.indexOf(a.payment?.id ?? '') - ids.indexOf(b.payment?.id ?? ''));
}
