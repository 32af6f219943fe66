// What a text names, for who asks: each way it can be meant is searched, whether or not another has found something.

import { listDaemons } from '../../data/daemons.ts';
import { getEvents } from '../../data/events.ts';
import { merchantBySlug } from '../../data/merchants.ts';
import {
  type AddressUse,
  idsByPart,
  idWhole,
  invoicesByMemos,
  invoicesByOrder,
  type ReferencedTable,
  type Scope,
  type TransferKeys,
  transfersByMemos,
  transfersByTxids,
  usesOfAddress,
} from '../../data/references.ts';
import { usersByEmail } from '../../data/users.ts';
import { eventIdsOf, type Subject } from '../../data/views/admin-detail.ts';
import { mainPaymentInvoices } from '../../data/views/admin-list.ts';
import { emailError, normalizeEmail } from '../../src/api/describe/identifiers.ts';
import { AddressError } from '../../src/chains/family.ts';
import { findTxid } from '../../src/claim.ts';
import { cleanText } from '../../src/clean.ts';
import {
  digitsOf,
  type MatchedBy,
  type MatchKind,
  readId,
  TAIL,
  type WantedKind,
} from '../../src/explain.ts';
import type { App } from '../context.ts';

/** Matches that one answer has. */
export const MATCHES_SHOWN = 20;
const MORE = MATCHES_SHOWN + 1;

export interface Found {
  kind: MatchKind;
  id: string;
  by: MatchedBy;
  /** Of an address. */
  use?: AddressUse;
}

export interface Search {
  found: Found[];
  searched: MatchedBy[];
}

type Searching = Pick<App, 'db' | 'config'>;

const kindOf: Record<ReferencedTable, MatchKind> = {
  invoices: 'invoice',
  payments: 'payment',
  events: 'event',
  units: 'unit',
  merchants: 'merchant',
  contradictions: 'contradiction',
};

/** The tables that hold what is wanted, or what leads to it. */
const tablesFor: Record<WantedKind, readonly ReferencedTable[]> = {
  invoice: ['invoices', 'payments', 'events'],
  payment: ['invoices', 'payments', 'events'],
  event: ['events', 'invoices', 'payments'],
  unit: ['units'],
  merchant: ['merchants'],
  contradiction: ['contradictions'],
  daemon: [],
};
const everyTable = Object.keys(kindOf) as ReferencedTable[];

/** Everything that the text names, each once, in the kinds that are wanted. */
export async function findAll(
  app: Searching,
  { q, as }: { q: string; as?: WantedKind | undefined },
  scope: Scope,
): Promise<Search> {
  const text = cleanText(q);
  const search: Search = { found: [], searched: [] };
  const isOfMoney = as === undefined || ['invoice', 'payment', 'event'].includes(as);
  const isOfAccounts = as === undefined || as === 'merchant';
  await byId(app, { text, tables: as === undefined ? everyTable : tablesFor[as], scope }, search);
  if (as === 'daemon' && scope === undefined) await byDaemon(app, text, search);
  if (isOfMoney) {
    await byWords(app, text, scope, search);
    await byTransaction(app, text, scope, search);
  }
  if (as === undefined) await byAddress(app, text, scope, search);
  if (isOfAccounts) await byAccount(app, text, scope, search);
  search.found = onceEach(await shownAs(app, search.found, as));
  return search;
}

async function byId(
  { db }: Searching,
  { text, tables, scope }: { text: string; tables: readonly ReferencedTable[]; scope: Scope },
  { found, searched }: Search,
): Promise<void> {
  const { whole, part } = readId(text);
  const by: MatchedBy = whole === undefined ? 'part_of_id' : 'id';
  if (whole !== undefined || part !== undefined) searched.push(by);
  for (const table of tables) {
    const isEvent = table === 'events';
    const ids =
      whole !== undefined
        ? whole.startsWith('evt_') === isEvent
          ? await db.readList((on) => idWhole(on, table, whole, scope))
          : []
        : part !== undefined
          ? await db.readList((on) => idsByPart(on, table, part, scope))
          : [];
    const fitting = ids.filter((id) => part === undefined || fits(id, part));
    found.push(...fitting.slice(0, MORE).map((id) => ({ kind: kindOf[table], id, by })));
  }
}

const fits = (id: string, part: string): boolean =>
  digitsOf(id).endsWith(part) || digitsOf(id).startsWith(part);

async function byDaemon({ db }: Searching, text: string, { found }: Search): Promise<void> {
  const wanted = digitsOf(text.toLowerCase());
  if (wanted.length < TAIL) return;
  const daemons = await listDaemons(db.query);
  found.push(
    ...daemons
      .filter(({ id }) => fits(id, wanted))
      .map(({ id }) => ({ kind: 'daemon' as const, id, by: 'part_of_id' as const })),
  );
}

/** As the order of the shop, and as the memo of an invoice or of a payment that named none. */
async function byWords(
  { db }: Searching,
  text: string,
  scope: Scope,
  { found, searched }: Search,
): Promise<void> {
  searched.push('order', 'memo');
  // Two in any case: how many differ would be another statement.
  const memos = [text, text.toUpperCase()];
  const orders = await db.readList(({ query }) => invoicesByOrder(query, text, scope, MORE));
  const named = await db.readList(({ query }) => invoicesByMemos(query, memos, scope));
  const written = await db.readList(({ query }) => transfersByMemos(query, memos, scope));
  found.push(
    ...orders.map((id) => ({ kind: 'invoice' as const, id, by: 'order' as const })),
    ...named.map((id) => ({ kind: 'invoice' as const, id, by: 'memo' as const })),
    ...belongingTo(written, 'memo'),
  );
}

async function byTransaction(
  { db, config }: Searching,
  text: string,
  scope: Scope,
  { found, searched }: Search,
): Promise<void> {
  const { blockchains } = config.chains;
  const txids = new Set(
    blockchains.flatMap(({ family }) => findTxid(text, (id) => family.normalizeTxid(id)) ?? []),
  );
  if (txids.size === 0) return;
  searched.push('transaction');
  const places = { blockchains: blockchains.map(({ id }) => id), txids: [...txids] };
  const keys = await db.readList(({ query }) => transfersByTxids(query, places, scope));
  found.push(...belongingTo(keys, 'transaction'));
}

const belongingTo = (keys: readonly TransferKeys[], by: MatchedBy): Found[] =>
  keys.flatMap(({ invoice_id, payment_id }): Found[] => {
    if (payment_id !== null) return [{ kind: 'payment', id: payment_id, by }];
    return invoice_id === null ? [] : [{ kind: 'invoice', id: invoice_id, by }];
  });

async function byAddress(
  { db, config }: Searching,
  text: string,
  scope: Scope,
  { found, searched }: Search,
): Promise<void> {
  const places = config.chains.blockchains.flatMap(({ id: blockchain, family }) => {
    try {
      return [{ blockchain, address_key: family.normalizeAddress(text, config.network).key }];
    } catch (error) {
      if (error instanceof AddressError) return [];
      throw error;
    }
  });
  if (places.length === 0) return;
  searched.push('address');
  const uses = await db.readList(({ query }) => usesOfAddress(query, places, scope));
  found.push(
    ...uses.map((use) => ({
      kind: 'address' as const,
      id: `${use.blockchain} ${use.address_key} ${use.owner_id ?? ''}`.trim(),
      by: 'address' as const,
      use,
    })),
  );
}

/** By the mail address or the name of an account. */
async function byAccount(
  { db }: Searching,
  text: string,
  scope: Scope,
  { found, searched }: Search,
): Promise<void> {
  const isMail = emailError(normalizeEmail(text)) === null;
  searched.push(isMail ? 'email' : 'name');
  const ids = isMail
    ? (await usersByEmail(db.query, normalizeEmail(text))).map(({ id }) => id)
    : [await merchantBySlug(db.query, text.toLowerCase())].flatMap((merchant) => merchant?.id ?? []);
  const own = ids.filter((id) => scope === undefined || id === scope);
  found.push(
    ...own.map((id) => ({
      kind: 'merchant' as const,
      id,
      by: isMail ? ('email' as const) : ('name' as const),
    })),
  );
}

/** In the kind that is wanted: a payment that its invoice shows is that invoice, and what has an invoice leads to it. */
async function shownAs(
  { db }: Searching,
  found: readonly Found[],
  as: WantedKind | undefined,
): Promise<Found[]> {
  const idsOf = (kind: MatchKind) => found.filter((each) => each.kind === kind).map(({ id }) => id);
  const shown = await mainPaymentInvoices(db.query, idsOf('payment'));
  const things = found.map((each): Found => {
    const of = each.kind === 'payment' ? shown.get(each.id) : undefined;
    return of?.invoice_id && (of.is_main || as === 'invoice' || as === 'event')
      ? { ...each, kind: 'invoice', id: of.invoice_id }
      : each;
  });
  if (as === undefined) return things;
  if (as === 'event') {
    const subjects = onceEach(things).flatMap(({ kind, id }): Subject[] => {
      if (kind === 'invoice') return [{ invoice_id: id }];
      return kind === 'payment' ? [{ payment_id: id }] : [];
    });
    const events = await eventIdsOf(db.query, subjects, MORE);
    return [
      ...things.filter(({ kind }) => kind === 'event'),
      ...events.map((id) => ({ kind: 'event' as const, id, by: things[0]?.by ?? 'id' })),
    ];
  }
  const events = as === 'invoice' || as === 'payment' ? await getEvents(db.query, idsOf('event')) : [];
  const led = things.map((each): Found => {
    const event = each.kind === 'event' ? events.find(({ id }) => id === each.id) : undefined;
    if (event?.invoice_id) return { ...each, kind: 'invoice', id: event.invoice_id };
    return event?.payment_id ? { ...each, kind: 'payment', id: event.payment_id } : each;
  });
  return led.filter(({ kind }) => kind === as || (as === 'payment' && kind === 'invoice'));
}

function onceEach(found: readonly Found[]): Found[] {
  const known = new Set<string>();
  return found.filter(({ kind, id }) => {
    const key = `${kind} ${id}`;
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}
