// What a text finds: things by the end or the beginning of their ids, by order, memo, transaction or address, each by an index.
import { type RawBuilder, sql } from 'kysely';
import { TAIL } from '../src/explain.ts';
import type { Executor, Reader } from './db/database.ts';

/** Whose things are found: a merchant's, the platform key's (null), or everyone's (absent). */
export type Scope = string | null | undefined;

/** Things that an exact text finds at most, of whichever account. */
const EXACT_READ = 200;
/** Ids of one minute that are searched for a beginning. */
const PREFIX_READ = 1_000;

/** Tables of things with ids, and the column that says whose they are; null: the operator's alone. */
const tables = {
  invoices: 'owner_id',
  payments: 'owner_id',
  events: 'merchant_id',
  units: 'merchant_id',
  merchants: 'id',
  contradictions: null,
} as const;
export type ReferencedTable = keyof typeof tables;

interface OwnedRow {
  id: string;
  owner_id: string | null;
}

const isOf =
  (scope: Scope) =>
  ({ owner_id }: Pick<OwnedRow, 'owner_id'>): boolean =>
    scope === undefined || owner_id === scope;

const ownerOf = (table: ReferencedTable): RawBuilder<unknown> => {
  const column = tables[table];
  return column === null ? sql`null` : sql.ref(column);
};

/** The table's things that are not the operator's alone, or all where everyone's are asked for. */
const isHidden = (table: ReferencedTable, scope: Scope): boolean =>
  tables[table] === null && scope !== undefined;

/** The thing with this id. */
export async function idWhole(
  { query }: Pick<Reader, 'query'>,
  table: ReferencedTable,
  id: string,
  scope: Scope,
): Promise<string[]> {
  if (isHidden(table, scope)) return [];
  const { rows } = await sql<OwnedRow>`select id, ${ownerOf(table)} as owner_id from ${sql.table(table)}
    where id = ${id}`.execute(query);
  return rows.filter(isOf(scope)).map((row) => row.id);
}

/** Things whose ids end or begin with these digits. Whose they are is compared afterwards: what is others' costs the same. */
export async function idsByPart(
  { query, dialect }: Reader,
  table: ReferencedTable,
  digits: string,
  scope: Scope,
): Promise<string[]> {
  if (isHidden(table, scope)) return [];
  const tail = digits.slice(-TAIL);
  const ending = dialect === 'sqlite' ? sql`substr(id, -8)` : sql`right(id, 8)`;
  const begin = table === 'events' ? `evt_${digits}` : dashed(digits);
  const select = sql`select id, ${ownerOf(table)} as owner_id from ${sql.table(table)}`;
  const { rows: ended } = await sql<OwnedRow>`${select} where ${ending} = ${tail}
    limit ${EXACT_READ}`.execute(query);
  // Behind all digits.
  const { rows: begun } = await sql<OwnedRow>`${select} where id >= ${begin} and id < ${`${begin}g`}
    order by id limit ${PREFIX_READ}`.execute(query);
  const ids = [...ended, ...begun].filter(isOf(scope)).map(({ id }) => id);
  return [...new Set(ids)];
}

/** Digits as an id begins with them: `0199aabbccdd` → `0199aabb-ccdd`. */
function dashed(digits: string): string {
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(0, -1)
    .map((cut, index) => digits.slice(cut, cuts[index + 1]))
    .filter((piece) => piece !== '')
    .join('-');
}

/** Invoices with this order, the newest of each account first. */
export async function invoicesByOrder(
  query: Executor,
  external_ref: string,
  scope: Scope,
  limit: number,
): Promise<string[]> {
  let select = query.selectFrom('invoices').select('id').where('external_ref', '=', external_ref);
  if (scope !== undefined) select = select.where('owner_id', scope === null ? 'is' : '=', scope);
  const rows = await select
    .orderBy('external_ref', 'desc')
    .orderBy('owner_id', 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Invoices with one of these memos. */
export async function invoicesByMemos(
  query: Executor,
  memos: readonly string[],
  scope: Scope,
): Promise<string[]> {
  let select = query.selectFrom('invoices').select('id').where('memo', 'in', memos);
  if (scope !== undefined) select = select.where('owner_id', scope === null ? 'is' : '=', scope);
  const rows = await select.limit(EXACT_READ).execute();
  return rows.map(({ id }) => id);
}

/** What transfers belong to. */
export interface TransferKeys {
  invoice_id: string | null;
  payment_id: string | null;
}

/** Whose a transfer is: before rows are counted, so that what others were paid hides nothing. */
const ownerOfTransfer = sql<string | null>`case when transfers.invoice_id is not null
  then invoices.owner_id else payments.owner_id end`;

function belonging(query: Executor, scope: Scope) {
  const select = query
    .selectFrom('transfers')
    .leftJoin('invoices', 'invoices.id', 'transfers.invoice_id')
    .leftJoin('payments', 'payments.id', 'transfers.payment_id')
    .select(['transfers.invoice_id', 'transfers.payment_id']);
  return scope === undefined ? select : select.where(ownerOfTransfer, scope === null ? 'is' : '=', scope);
}

/** Credits that came late or pay nothing, whose payers wrote one of these. */
export async function transfersByMemos(
  query: Executor,
  memos: readonly string[],
  scope: Scope,
): Promise<TransferKeys[]> {
  return belonging(query, scope)
    .where('transfers.memo', 'in', memos)
    .where(sql<boolean>`transfers.disposition <> 'matched'`)
    .limit(EXACT_READ)
    .execute();
}

/** Credits of these transactions. */
export async function transfersByTxids(
  query: Executor,
  { blockchains, txids }: { blockchains: readonly string[]; txids: readonly string[] },
  scope: Scope,
): Promise<TransferKeys[]> {
  return belonging(query, scope)
    .where('transfers.blockchain', 'in', blockchains)
    .where('transfers.txid', 'in', txids)
    .limit(EXACT_READ)
    .execute();
}

/** An address as accounts have it: as their wallet, or because an invoice asked for payments there. */
export interface AddressUse {
  blockchain: string;
  address_key: string;
  /** Null is the deployment. */
  owner_id: string | null;
  since: number;
  first_sale_at: number | null;
}

/** Who uses an address, oldest first; `places` are the same text on the blockchains where it is an address. */
export async function usesOfAddress(
  query: Executor,
  places: readonly { blockchain: string; address_key: string }[],
  scope: Scope,
): Promise<AddressUse[]> {
  const blockchains = places.map(({ blockchain }) => blockchain);
  const keys = [...new Set(places.map(({ address_key }) => address_key))];
  let asked = query
    .selectFrom('address_accounts')
    .select(['blockchain', 'address_key', 'owner_id', 'since', 'first_sale_at'])
    .where('blockchain', 'in', blockchains)
    .where('address_key', 'in', keys);
  // The deployment is the empty text there.
  if (scope !== undefined) asked = asked.where('owner_id', '=', scope ?? '');
  let held = query
    .selectFrom('wallets')
    .select(['blockchain', 'address_key', 'merchant_id as owner_id', 'updated_at as since'])
    .where('blockchain', 'in', blockchains)
    .where('address_key', 'in', keys);
  if (scope !== undefined) held = held.where('merchant_id', '=', scope ?? '');
  const used = await asked.limit(EXACT_READ).execute();
  const wallets = await held.limit(EXACT_READ).execute();
  const isUsed = (wallet: (typeof wallets)[number]) =>
    used.some(
      (use) =>
        use.blockchain === wallet.blockchain &&
        use.address_key === wallet.address_key &&
        use.owner_id === wallet.owner_id,
    );
  return [
    ...used.map((use) => ({ ...use, owner_id: use.owner_id === '' ? null : use.owner_id })),
    ...wallets.filter((wallet) => !isUsed(wallet)).map((wallet) => ({ ...wallet, first_sale_at: null })),
  ].sort((one, other) => one.since - other.since);
}

/** Open invoices of an owner at an address, newest first. */
export async function openInvoicesAt(
  query: Executor,
  {
    address_key,
    chains,
    owner_id,
    limit,
  }: { address_key: string; chains: readonly string[]; owner_id: string | null; limit: number },
): Promise<string[]> {
  const ids: { id: string; created_at: number }[] = [];
  for (const chain of chains)
    ids.push(
      ...(await query
        .selectFrom('invoices')
        .select(['id', 'created_at'])
        .where('address_key', '=', address_key)
        .where('chain', '=', chain)
        .where('status', '=', sql.lit('created'))
        .where('owner_id', owner_id === null ? 'is' : '=', owner_id)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()),
    );
  return ids
    .sort((one, other) => other.created_at - one.created_at)
    .slice(0, limit)
    .map(({ id }) => id);
}
