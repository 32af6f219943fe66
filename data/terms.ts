// What an invoice asks for, and what it asked for before its buyer chose another coin: one set of terms for each coin.
import { type SqlBool, sql, type Updateable } from 'kysely';
import type { Dialect, Executor, Tx } from './db/database.ts';
import { question } from './db/prepared.ts';
import { words } from './db/words.ts';
import { toJson } from './schema/json.ts';
import { type FormerTermsRow, type InvoiceRow, type Tables, UNAPPLIED } from './schema/tables.ts';

/** More accounts than one Solana transaction can name. */
const REFERENCES_READ = 256;
/** Most offers that one amount is taken to mean: one of each account that uses the address. */
const RESERVED_READ = 100;

/** What changes with the coin. */
const names = [
  'chain',
  'blockchain',
  'currency',
  'network',
  'decimals',
  'min_confirmations',
  'confirm_seconds',
  'until_final',
  'amount_usd_fee_micros',
  'rate_usd_nanos',
  'amount_merchant_atomic',
  'amount_fee_atomic',
  'amount_atomic',
  'address',
  'address_key',
  'memo',
  'reference',
  'qr_payload',
  'exits',
  'offered_at',
  'reserved',
  'reserved_until',
] as const;

/** What an invoice asks for in one coin. */
export type Terms = Pick<InvoiceRow, (typeof names)[number]>;

const picked = (row: Terms): Terms =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as unknown as Terms;

const written = (row: Terms) => {
  const { exits, ...terms } = picked(row);
  return { ...terms, exits: toJson(exits) };
};

/** Of an invoice under other terms: the invoice as it would be with those. */
const underTerms = (invoice: InvoiceRow, terms: Terms): InvoiceRow => ({
  ...invoice,
  ...picked(terms),
});

/** What the invoice asked for before, in no order. */
export const formerTerms = (query: Executor, invoice_id: string): Promise<FormerTermsRow[]> =>
  query.selectFrom('former_terms').selectAll().where('invoice_id', '=', invoice_id).execute();

/** The invoice as it is asked for now, and as it was in each other coin before. */
export const everyOffer = async (query: Executor, invoice: InvoiceRow): Promise<InvoiceRow[]> =>
  invoice.switches === 0
    ? [invoice]
    : [invoice, ...(await formerTerms(query, invoice.id)).map((terms) => underTerms(invoice, terms))];

/** Of what `everyOffer` names, the invoice as it asks for this coin; as it does now where it never asked for that. */
export const inCoin = (offers: readonly InvoiceRow[], chain: string, now: InvoiceRow): InvoiceRow =>
  offers.find((offer) => offer.chain === chain) ?? now;

/** The invoice as it was asked for in this coin, now or before; undefined where it never was. */
export async function offeredIn(
  query: Executor,
  invoice: InvoiceRow,
  chain: string,
): Promise<InvoiceRow | undefined> {
  if (invoice.chain === chain) return invoice;
  return (await everyOffer(query, invoice)).find((offer) => offer.chain === chain);
}

/** The invoices of these terms, each as it was asked for then. */
async function offersOf(query: Executor, terms: readonly FormerTermsRow[]): Promise<InvoiceRow[]> {
  if (terms.length === 0) return [];
  const ids = terms.map(({ invoice_id }) => invoice_id);
  const rows = await query.selectFrom('invoices').selectAll().where('id', 'in', ids).execute();
  const invoices = new Map(rows.map((row) => [row.id, row]));
  return terms.flatMap((each) => {
    const invoice = invoices.get(each.invoice_id);
    return invoice ? [underTerms(invoice, each)] : [];
  });
}

type Place = { blockchain: string; address_key: string };

const byMemo = question(
  ['blockchain', 'address_key', 'memo'],
  (query, { blockchain, address_key, memo }: Place & { memo: string }) =>
    query
      .selectFrom('former_terms')
      .selectAll()
      .where('blockchain', '=', blockchain)
      .where('address_key', '=', address_key)
      .where('memo', '=', memo),
);

/** The invoice that once asked for payments with this memo at this address, as it did. */
export const formerByMemo = async (query: Executor, place: Place & { memo: string }): Promise<InvoiceRow[]> =>
  offersOf(query, await byMemo(query, place));

/** The invoices that these references named before. */
export async function formerByReference(
  query: Executor,
  references: readonly string[],
): Promise<InvoiceRow[]> {
  if (references.length === 0) return [];
  const terms = await query
    .selectFrom('former_terms')
    .selectAll()
    .where('reference', 'in', references)
    .limit(REFERENCES_READ)
    .execute();
  return offersOf(query, terms);
}

type AmountSlot = Place & { chain: string; amount_atomic: string };

const byAmount = question(
  ['blockchain', 'address_key', 'chain', 'amount_atomic'],
  (query, slot: AmountSlot) =>
    query
      .selectFrom('former_terms')
      .selectAll()
      .where('blockchain', '=', slot.blockchain)
      .where('address_key', '=', slot.address_key)
      .where('chain', '=', slot.chain)
      .where('amount_atomic', '=', slot.amount_atomic)
      .where('reserved', '=', sql.lit(1))
      .limit(RESERVED_READ),
);

/** The invoices that asked for exactly this amount before and still have it reserved, each as it did. */
export const formerByAmount = async (query: Executor, slot: AmountSlot): Promise<InvoiceRow[]> =>
  offersOf(query, await byAmount(query, slot));

/** Which of these amounts any invoice at the address has reserved, now or before: in one statement, so that none slips between the two. */
export async function amountsAsked(
  query: Executor,
  { blockchain, address_key, chain }: Place & { chain: string },
  amounts: readonly string[],
): Promise<Set<string>> {
  if (amounts.length === 0) return new Set();
  const of = (table: 'invoices' | 'former_terms') =>
    query
      .selectFrom(table)
      .select('amount_atomic')
      .where('blockchain', '=', blockchain)
      .where('address_key', '=', address_key)
      .where('chain', '=', chain)
      .where('amount_atomic', 'in', amounts)
      .where('reserved', '=', sql.lit(1));
  const rows = await of('invoices').unionAll(of('former_terms')).execute();
  return new Set(rows.map(({ amount_atomic }) => amount_atomic));
}

/** Which of these memos name an invoice at the address, now or before; likewise. */
export async function memosAsked(
  query: Executor,
  { blockchain, address_key }: Place,
  memos: readonly string[],
): Promise<Set<string | null>> {
  if (memos.length === 0) return new Set();
  const of = (table: 'invoices' | 'former_terms') =>
    query
      .selectFrom(table)
      .select('memo')
      .where('blockchain', '=', blockchain)
      .where('address_key', '=', address_key)
      .where('memo', 'in', memos);
  const rows = await of('invoices').unionAll(of('former_terms')).execute();
  return new Set(rows.map(({ memo }) => memo));
}

/** Open invoices at one address that one slice compares dust with: those below so little are few. */
const SMALL_READ = 1_000;

/** The amounts below `below` that open invoices ask for at an address. */
export async function smallAmountsOpen(
  query: Executor,
  dialect: Dialect,
  { address_key, chain }: Pick<Place, 'address_key'> & { chain: string },
  below: bigint,
): Promise<bigint[]> {
  const rows = await query
    .selectFrom('invoices')
    .select('amount_atomic')
    .where('address_key', '=', address_key)
    .where('chain', '=', chain)
    .where('status', '=', sql.lit('created'))
    .where(sql.raw<SqlBool>(words[dialect].less('amount_atomic', `'${below}'`)))
    .limit(SMALL_READ)
    .execute();
  return rows.map(({ amount_atomic }) => BigInt(amount_atomic));
}

/** What is written of an invoice besides its terms when its coin changes. */
type Changed = Partial<
  Pick<
    InvoiceRow,
    | 'due_at'
    | 'expires_at'
    | 'first_expires_at'
    | 'watch_until'
    | 'switches'
    | 'payment_id'
    | 'amount_match'
    | 'received_atomic'
    | 'txid'
    | 'confirmations'
  >
>;

/**
 * Puts an invoice under other terms and stores those that it leaves; under its lock. `returns`: whether they are terms that
 * it had before.
 */
export async function putTerms(
  tx: Tx,
  invoice: InvoiceRow,
  { terms, returns, changed }: { terms: Terms; returns: boolean; changed: Changed },
): Promise<InvoiceRow> {
  const { id: invoice_id, owner_id, watch_until, created_at } = invoice;
  const left = { ...written(invoice), offered_at: invoice.offered_at ?? created_at, watch_until };
  const values = { ...written(terms), ...changed } as Updateable<Tables['invoices']>;
  // An amount is never reserved by both at once, nor by neither for another to see: it is one transaction.
  if (returns)
    await tx
      .updateTable('former_terms')
      .set(left)
      .where('invoice_id', '=', invoice_id)
      .where('chain', '=', terms.chain)
      .execute();
  else
    await tx
      .insertInto('former_terms')
      .values({ ...left, invoice_id, owner_id })
      .execute();
  await tx.updateTable('invoices').set(values).where('id', '=', invoice_id).execute();
  return { ...underTerms(invoice, terms), ...changed };
}

/** Of an invoice that has ended: how long its former terms are watched, and their amounts reserved. Unix seconds. */
export async function endTerms(
  tx: Tx,
  invoice_id: string,
  { watch_until, reserved_until }: { watch_until: number; reserved_until: number },
): Promise<void> {
  await tx
    .updateTable('former_terms')
    .set({
      watch_until,
      reserved_until: sql<number | null>`case when reserved = 1 then cast(${reserved_until} as bigint) end`,
    })
    .where('invoice_id', '=', invoice_id)
    .execute();
}

/** Gives an open invoice more time, with links that say so. */
export async function prolong(
  tx: Tx,
  invoice: Pick<
    InvoiceRow,
    | 'id'
    | 'expires_at'
    | 'first_expires_at'
    | 'prolonged_at'
    | 'due_at'
    | 'watch_until'
    | 'qr_payload'
    | 'exits'
  >,
): Promise<void> {
  const { id, exits, ...times } = invoice;
  const { expires_at, first_expires_at, prolonged_at, due_at, watch_until, qr_payload } = times;
  await tx
    .updateTable('invoices')
    .set({
      expires_at,
      first_expires_at,
      prolonged_at,
      due_at,
      watch_until,
      qr_payload,
      exits: toJson(exits),
    })
    .where('id', '=', id)
    .execute();
  await watchTerms(tx, id, watch_until);
}

/** Until when payments under former terms of an invoice are searched, Unix seconds. */
export async function watchTerms(tx: Tx, invoice_id: string, watch_until: number): Promise<void> {
  await tx.updateTable('former_terms').set({ watch_until }).where('invoice_id', '=', invoice_id).execute();
}

/** The main payment of an open invoice follows its coin: nothing has come for it in that one yet. */
export async function movePaymentTo(
  tx: Tx,
  { id, chain, blockchain, currency, decimals }: InvoiceRow,
): Promise<void> {
  await tx
    .updateTable('payments')
    .set({ chain, blockchain, currency, decimals, ...NOTHING_CAME, received_atomic: '0' })
    .where('invoice_id', '=', id)
    .where('main', '=', 1)
    .execute();
}

/** What an invoice shows that nothing has come for. */
export const NOTHING_CAME = {
  amount_match: 'none',
  received_atomic: null,
  txid: null,
  confirmations: 0,
} as const;

/** The main payment of an ended invoice becomes one among its others, in its own coin. */
export async function unseatPayment(tx: Tx, invoice: InvoiceRow, now: number): Promise<void> {
  await tx
    .updateTable('payments')
    .set({ main: null, listed_as: `${UNAPPLIED}_${invoice.kind}`, listed_at: now })
    .where('invoice_id', '=', invoice.id)
    .where('main', '=', 1)
    .execute();
}

/** Until when payments under former terms may come through each gateway, Unix seconds. */
export async function formerChainsWatched(query: Executor, now: number): Promise<Map<string, number>> {
  const rows = await query
    .selectFrom('former_terms')
    .select((of) => ['chain', of.fn.max('watch_until').as('until')])
    .where('watch_until', '>=', now)
    .groupBy('chain')
    .execute();
  return new Map(rows.map(({ chain, until }) => [chain, Number(until)]));
}

/** What wallets show next to a payment of this invoice, as when it was made. */
export async function labelOf(query: Executor, invoice: InvoiceRow): Promise<string> {
  const row = await query
    .selectFrom('invoices')
    .leftJoin('merchants', 'merchants.id', 'invoices.owner_id')
    .leftJoin('units', 'units.id', 'invoices.unit_id')
    .select(['units.title', 'merchants.slug'])
    .where('invoices.id', '=', invoice.id)
    .executeTakeFirst();
  return invoice.shop?.title || row?.title || row?.slug || 'gatewayd';
}
