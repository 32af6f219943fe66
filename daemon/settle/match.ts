// Finds the invoice that each credit of a transaction pays: by memo, by reference, by its reserved amount, or by their sum.
import { ownersAt } from '../../data/addresses.ts';
import type { Db, Executor, Tx } from '../../data/db/open.ts';
import { getInvoice, invoiceByMemo, invoicesByAmount, invoicesByReference } from '../../data/invoices.ts';
import { holderOf } from '../../data/reservations.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import {
  amountsAsked,
  formerByAmount,
  formerByMemo,
  formerByReference,
  memosAsked,
  offeredIn,
} from '../../data/terms.ts';
import {
  MANUAL_INDEX,
  type ReplacedTransfer,
  replacedTransfers,
  storedTransfers,
} from '../../data/transfers.ts';
import type { Transfer } from '../../src/chains/family.ts';
import { MADE_BEFORE, type Match, match } from '../../src/match.ts';

/** How far back a transaction is searched that a new one replaces: mempools forget after two weeks. */
const REPLACED_WITHIN_SECONDS = 15 * 24 * 3600;

export const keyOf = ({ txid, index }: { txid: string; index: string }): string => `${txid} ${index}`;
export const txidsOf = (of: readonly { txid: string }[]): string[] => [
  ...new Set(of.map(({ txid }) => txid)),
];

/** Credits of one transaction to one address in one asset: together they may pay one invoice, where they are not too many. */
export interface Bundle {
  transfers: readonly Transfer[];
  adds_up: boolean;
}

interface Known {
  id: string;
  transfer: Transfer;
}

/** The same with what is known of them. */
export interface Group {
  /** Those stored before, with what is read of them now. */
  known: Known[];
  /** Those that a look-up had shown otherwise than they are read now: they are among the fresh ones, too. */
  misstated: Known[];
  fresh: Transfer[];
  matches: Found[];
  /** A row that keeps this transaction for the invoice that an operator booked with it before it was read. */
  booked: TransferRow | undefined;
  /** Invoices of what is stored. */
  invoice_ids: string[];
}

/** `names`: whether its memo, references or amount are of any invoice, also where it must not pay that one. */
export type Found = Match<InvoiceRow> & { names: boolean };

/** Reads without locks; what was found is judged again once it is locked. `is_read`: whether it is more than looked up. */
export async function findGroups(
  db: Db,
  tx: Tx,
  blockchain: string,
  { bundles, is_read }: { bundles: readonly Bundle[]; is_read: boolean },
): Promise<Group[]> {
  const stored = new Map<string, TransferRow>();
  const rows = await storedTransfers(
    tx,
    blockchain,
    bundles.flatMap(({ transfers }) => transfers),
  );
  for (const row of rows) stored.set(keyOf({ txid: row.txid, index: row.idx }), row);
  const read = bundles.map(({ transfers, adds_up }) => {
    const known: Known[] = [];
    const fresh: Transfer[] = [];
    const invoice_ids: string[] = [];
    for (const transfer of transfers) {
      const row = stored.get(keyOf(transfer));
      if (row?.invoice_id) invoice_ids.push(row.invoice_id);
      if (!row) fresh.push(transfer);
      else if (is_read && isWord(row)) fresh.push(knownSince(row.first_seen_at, transfer));
      else known.push({ id: row.id, transfer });
    }
    const [first] = transfers;
    const manual = stored.get(keyOf({ txid: first?.txid ?? '', index: MANUAL_INDEX }));
    const booked =
      manual?.address_key === first?.address_key && manual?.chain === first?.chain ? manual : undefined;
    return { known, fresh: { transfers: fresh, adds_up }, booked, invoice_ids };
  });
  const asked = await findAsked(
    tx,
    blockchain,
    read.map(({ fresh }) => fresh),
  );
  const groups: Group[] = [];
  for (const { fresh, ...group } of read) {
    const matched = await matchFresh(db, tx, blockchain, { ...fresh, asked });
    groups.push(withStated({ ...group, ...matched, misstated: [] }, stored));
  }
  return groups;
}

/** Whether a stored transfer is what one provider stated when it was named, and no one has booked it since. */
export const isWord = ({ unread, booked_invoice_id }: TransferRow): boolean =>
  unread === 1 && booked_invoice_id === null;

/** It was made by the time when somebody named it, whatever anyone says of its time. */
const knownSince = (first_seen_at: number, transfer: Transfer): Transfer => ({
  ...transfer,
  earliest_at: Math.min(transfer.earliest_at, first_seen_at),
  latest_at: Math.min(transfer.latest_at, first_seen_at),
});

/** What is read as it was stated is known; what is read otherwise takes the place of that. */
function withStated(group: Group, stored: ReadonlyMap<string, TransferRow>): Group {
  const known = [...group.known];
  const misstated: Known[] = [];
  const fresh: Transfer[] = [];
  const matches: Found[] = [];
  for (const [at, transfer] of group.fresh.entries()) {
    const found = group.matches[at] as Found;
    const row = stored.get(keyOf(transfer));
    if (row && isAsStated(row, transfer, found)) {
      known.push({ id: row.id, transfer });
      continue;
    }
    if (row) misstated.push({ id: row.id, transfer });
    fresh.push(transfer);
    matches.push(found);
  }
  return { ...group, known, misstated, fresh, matches };
}

/** Whether a transfer pays what it was taken to pay by the word of one provider. */
function isAsStated(row: TransferRow, transfer: Transfer, found: Found): boolean {
  const pays = found.disposition === 'unmatched' ? null : found.invoice.id;
  const was_late =
    row.disposition === 'late' && found.disposition === 'matched' && transfer.earliest_at < row.earliest_at;
  return (
    row.chain === transfer.chain &&
    row.address_key === transfer.address_key &&
    row.amount_atomic === transfer.amount_atomic.toString() &&
    row.memo === transfer.memo &&
    row.invoice_id === pays &&
    !was_late
  );
}

/** Which memos and amounts any invoice asks for: most of what is dust is asked about no further. */
interface Asked {
  memo(transfer: Transfer): boolean;
  amount(transfer: Transfer): boolean;
}

async function findAsked(tx: Tx, blockchain: string, bundles: readonly Bundle[]): Promise<Asked> {
  const amounts = new Map<string, { slot: Transfer; values: Set<string> }>();
  const memos = new Map<string, Set<string>>();
  const note = (slot: Transfer, amount_atomic: bigint) => {
    const key = slotOf(slot);
    const known = amounts.get(key) ?? { slot, values: new Set() };
    amounts.set(key, known);
    known.values.add(amount_atomic.toString());
  };
  for (const { transfers, adds_up } of bundles) {
    const [first] = transfers;
    for (const transfer of transfers) {
      note(transfer, transfer.amount_atomic);
      if (transfer.memo === null) continue;
      const known = memos.get(transfer.address_key);
      if (known) known.add(transfer.memo);
      else memos.set(transfer.address_key, new Set([transfer.memo]));
    }
    if (first && adds_up) note(first, sumOf(transfers));
  }
  const asked = new Map<string, Set<string | null>>();
  for (const [key, { slot, values }] of amounts)
    asked.set(key, await amountsAsked(tx, { ...slot, blockchain }, [...values]));
  for (const [address_key, values] of memos)
    asked.set(address_key, await memosAsked(tx, { blockchain, address_key }, [...values]));
  return {
    memo: ({ address_key, memo }) => asked.get(address_key)?.has(memo) === true,
    amount: (transfer) => asked.get(slotOf(transfer))?.has(transfer.amount_atomic.toString()) === true,
  };
}

const slotOf = ({ address_key, chain }: Transfer): string => `${address_key} ${chain}`;
const sumOf = (transfers: readonly Transfer[]): bigint =>
  transfers.reduce((sum, { amount_atomic }) => sum + amount_atomic, 0n);

/**
 * A replacement that spends the same to the same address is the same payment: it is as old as what it replaces, and where
 * that paid the same and no invoice, it pays none either.
 */
async function matchFresh(
  db: Db,
  tx: Tx,
  blockchain: string,
  { transfers, adds_up, asked }: Bundle & { asked: Asked },
): Promise<Pick<Group, 'fresh' | 'matches'>> {
  const [first] = transfers;
  if (!first) return { fresh: [], matches: [] };
  const { txid, address_key, inputs } = first;
  const since = first.latest_at - REPLACED_WITHIN_SECONDS;
  const spending =
    inputs.length === 0 ? [] : await replacedTransfers(db, tx, { blockchain, address_key, inputs, since });
  const replaced = spending.filter((row) => row.txid !== txid);
  const least = (of: 'earliest_at' | 'latest_at') =>
    replaced.reduce((time, row) => Math.min(time, row[of]), Number.POSITIVE_INFINITY);
  const [earliest, latest] = [least('earliest_at'), least('latest_at')];
  const fresh = transfers.map((transfer) => ({
    ...transfer,
    earliest_at: Math.min(transfer.earliest_at, earliest),
    // Also where our clock was set back since.
    latest_at: replaced.length === 0 ? transfer.latest_at : latest,
  }));
  const matches = await matchGroup(tx, blockchain, { transfers: fresh, adds_up, asked });
  if (!replacesUnmatched(replaced, transfers)) return { fresh, matches };
  return {
    fresh,
    matches: matches.map(({ names }) => ({ disposition: 'unmatched', reason: MADE_BEFORE, names })),
  };
}

/** Whether one of the replaced transactions paid the same altogether, and nothing of it was meant for an invoice. */
function replacesUnmatched(replaced: readonly ReplacedTransfer[], transfers: readonly Transfer[]): boolean {
  const paid = sumOf(transfers);
  return txidsOf(replaced).some((txid) => {
    const rows = replaced.filter((row) => row.txid === txid);
    const was_paid = rows.reduce((sum, { amount_atomic }) => sum + BigInt(amount_atomic), 0n);
    return was_paid === paid && rows.every(({ disposition }) => disposition === 'unmatched');
  });
}

/** Matches each on its own; what stays unmatched may match as a sum of the outputs of one transaction. */
async function matchGroup(
  query: Executor,
  blockchain: string,
  { transfers, adds_up, asked }: Bundle & { asked: Asked },
): Promise<Found[]> {
  const matches: Found[] = [];
  for (const transfer of transfers) matches.push(await matchOne(query, blockchain, transfer, asked));
  const first = transfers[0];
  // What must not be matched on its own, another token of the same name, adds nothing to a sum either.
  const may_add_up = adds_up && transfers.length > 1 && transfers.every(({ ambiguous }) => !ambiguous);
  if (first && may_add_up && matches.every((found) => found.disposition === 'unmatched')) {
    const found = await matchOne(query, blockchain, { ...first, amount_atomic: sumOf(transfers) }, asked);
    if (found.disposition !== 'unmatched') return transfers.map(() => found);
  }
  return matches;
}

async function matchOne(
  query: Executor,
  blockchain: string,
  transfer: Transfer,
  asked: Asked,
): Promise<Found> {
  const { address_key, chain, memo } = transfer;
  const inCoin = async (found: InvoiceRow): Promise<InvoiceRow> => {
    if (found.chain === chain || found.switches === 0) return found;
    const invoice = await getInvoice(query, found.id);
    return (invoice && (await offeredIn(query, invoice, chain))) ?? found;
  };
  const memoed =
    memo === null || !asked.memo(transfer)
      ? undefined
      : await byMemo(query, { blockchain, address_key, memo });
  // A memo of one coin names the invoice in each coin that it was asked for in.
  const by_memo = memoed && (await inCoin(memoed));
  const named: InvoiceRow[] = [];
  for (const found of await byReferences(query, transfer.references)) named.push(await inCoin(found));
  // One transaction may pay several invoices, and carries the references of all: this credit can mean its own only.
  const payable = named.filter((each) => each.address_key === address_key && each.chain === chain);
  const meant = payable.find(({ id }) => id === by_memo?.id);
  if (payable.length > 1 && !meant)
    return { disposition: 'unmatched', reason: 'carries the references of several invoices', names: true };
  const by_amount = asked.amount(transfer) ? await reservedFor(query, blockchain, transfer) : [];
  const found = match(transfer, { by_memo, by_reference: meant ?? payable[0] ?? named[0], by_amount });
  return { ...found, names: by_memo !== undefined || named.length > 0 || by_amount.length > 0 };
}

type Search<T> = () => Promise<T[]>;

/** Under present and former terms. What becomes present again between the two is found by asking once more. */
async function eitherOf<T>(present: Search<T>, former: Search<T>): Promise<T[]> {
  const found = [...(await present()), ...(await former())];
  return found.length > 0 ? found : present();
}

async function byMemo(
  query: Executor,
  place: { blockchain: string; address_key: string; memo: string },
): Promise<InvoiceRow | undefined> {
  const present = async () => {
    const found = await invoiceByMemo(query, place.blockchain, place.address_key, place.memo);
    return found ? [found] : [];
  };
  const [found] = await eitherOf(present, () => formerByMemo(query, place));
  return found;
}

const byReferences = async (query: Executor, references: readonly string[]): Promise<InvoiceRow[]> =>
  references.length === 0
    ? []
    : eitherOf(
        () => invoicesByReference(query, references),
        () => formerByReference(query, references),
      );

/** Invoices that have reserved the amount: where several accounts use the address, those first that go before the others. */
async function reservedFor(
  query: Executor,
  blockchain: string,
  { address_key, chain, amount_atomic }: Transfer,
): Promise<InvoiceRow[]> {
  const slot = { blockchain, address_key, chain, amount_atomic: amount_atomic.toString() };
  const found = await eitherOf(
    () => invoicesByAmount(query, slot),
    () => formerByAmount(query, slot),
  );
  if (found.length < 2) return found;
  const order = await ownersAt(query, slot);
  const rank = (invoice: InvoiceRow) => {
    const holder = holderOf(invoice);
    const at = order.findIndex(({ owner_id }) => owner_id === holder);
    return at < 0 ? order.length : at;
  };
  return found.sort((a, b) => rank(a) - rank(b));
}
