// Stores what was read of a chain: transfers with what they pay, proofs and cursors, one transaction a page.
import { noteContradiction, settleContradiction } from '../../data/contradictions.ts';
import { addRanges, moveCursor, putAccountCursors } from '../../data/cursors.ts';
import { afterCommit } from '../../data/db/after-commit.ts';
import { Overtaken } from '../../data/db/failures.ts';
import type { Tx } from '../../data/db/open.ts';
import { lockInvoices, makeDue } from '../../data/invoices.ts';
import { dropProofs, putProofs, putUnreadable } from '../../data/proofs.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import { offeredIn } from '../../data/terms.ts';
import {
  insertTransfer,
  lockTransfers,
  type TransferProgress,
  transfersOfBlocks,
  transfersOfTransactions,
  updateTransfer,
  wholeDepth,
} from '../../data/transfers.ts';
import { isDeepForAll } from '../../src/chains/catalogue.ts';
import type { Gateway, Page, PendingTransfer, Transfer, TransferUpdate } from '../../src/chains/family.ts';
import type { Depth } from '../../src/confirmations.ts';
import { MADE_BEFORE, type Match, placeAt } from '../../src/match.ts';
import { findGroups, type Group, keyOf, txidsOf } from './match.ts';
import {
  alertBookedGone,
  alertFinalLeft,
  inItsCoin,
  noteGone,
  restoreReorged,
  unplaceReorged,
} from './reorg.ts';
import type { ReadScope, Recording, SettleDeps } from './step.ts';
import { followUnapplied, recordLate, recordUnmatched } from './unapplied.ts';

/** Another reader moved the cursor meanwhile; what this one read is read again. */
export class CursorMoved extends Error {
  override name = 'CursorMoved';
}

/**
 * Stores one page. Returns the cursor's new version and the invoices to evaluate. Throws CursorMoved when `version` is
 * old. Locks in the one order that all writers keep: merchant, then invoices, then transfers.
 */
export async function recordPage(
  deps: SettleDeps,
  scope: ReadScope,
  version: number,
  page: Page,
): Promise<{ version: number; touched: string[] }> {
  const { blockchain, now } = scope;
  const moves = page.cursor !== undefined || page.tip !== undefined || page.pace !== undefined;
  return deps.db.transaction(async (tx) => {
    if (moves && !(await moveCursor(tx, blockchain, version, page))) throw new CursorMoved();
    const groups = await findGroups(deps.db, tx, blockchain, page.transfers.map(seenAt(now)));
    groups.push(...(await findUnread(deps, tx, scope, page.orphaned_transfers ?? [])));
    const reorged = await transfersOfBlocks(tx, blockchain, page.orphaned_blocks ?? []);
    const updated = await transfersOfTransactions(tx, blockchain, txidsOf(page.updates ?? []));
    const recording = await lock({ deps, tx, ...scope }, groups, [...reorged, ...updated]);
    if (page.final_left) await alertFinalLeft(recording, page.final_left);
    await unplaceReorged(recording, reorged);
    for (const group of groups) await recordGroup(recording, group);
    for (const update of page.updates ?? []) await recordUpdate(recording, update);
    await putAccountCursors(tx, blockchain, page.accounts ?? [], now);
    await putProofs(tx, blockchain, page.proofs ?? [], now);
    await dropProofs(tx, blockchain, page.caught_up ?? []);
    if (page.unreadable) await putUnreadable(tx, blockchain, page.unreadable, now);
    await addRanges(tx, blockchain, page.ranges ?? [], now);
    for (const id of recording.touched) await makeDue(tx, id);
    return { version: moves ? version + 1 : version, touched: [...recording.touched] };
  });
}

/** Of transfers that something else than reading has shown, those that are not stored: the others were read at their time. */
async function findUnread(
  { db }: SettleDeps,
  tx: Tx,
  { blockchain }: ReadScope,
  transfers: readonly Transfer[],
): Promise<Group[]> {
  const groups = await findGroups(db, tx, blockchain, transfers);
  return groups.map((group) => ({ ...group, known: [] }));
}

/** Where a transfer stands that no reading has shown in a block. */
const UNPLACED = { height: null, block_hash: null, confirmations: 0, depth_seconds: null } as const;

const unreadIn = ({ is_looked_up }: Recording): 1 | null => (is_looked_up ? 1 : null);

/** What is seen now, Unix seconds of our clock, was not made later, however far ahead its chain's time is. */
const seenAt =
  (now: number) =>
  (transfer: Transfer): Transfer =>
    transfer.earliest_at <= now ? transfer : { ...transfer, earliest_at: now };

/**
 * Stores what became of pending transfers, as they were while `pending`; returns the invoices to evaluate.
 * What another daemon has read of one meanwhile is newer, and its block would not be read again.
 */
export async function recordUpdates(
  deps: SettleDeps,
  scope: ReadScope,
  updates: readonly TransferUpdate[],
  pending: readonly PendingTransfer[],
): Promise<string[]> {
  const before = new Map(pending.map((each) => [keyOf(each), each]));
  return deps.db.transaction(async (tx) => {
    // What was replaced itself, by what it replaces now, is back.
    const replacing = updates.flatMap(({ replaced_by }) => replaced_by ?? []);
    const groups = await findGroups(deps.db, tx, scope.blockchain, replacing);
    const known = await transfersOfTransactions(tx, scope.blockchain, txidsOf(updates));
    const recording = await lock({ deps, tx, ...scope }, groups, known);
    for (const group of groups) await recordGroup(recording, group);
    for (const update of updates) await recordUpdate(recording, update, before.get(keyOf(update)));
    for (const id of recording.touched) await makeDue(tx, id);
    return [...recording.touched];
  });
}

/**
 * Stores what a transaction that somebody named has paid by the word of one provider: as seen, in no block, whatever that
 * one says of its place. Only a reading confirms it. Returns the invoices to evaluate.
 */
export const recordNamed = (
  deps: SettleDeps,
  scope: ReadScope,
  transfers: readonly Transfer[],
): Promise<string[]> =>
  recordTransfers(
    deps,
    { ...scope, is_looked_up: true },
    transfers.map((each) => ({ ...each, ...UNPLACED, final: false })),
  );

/** Stores what was only looked up before, and stands in a block of the chain that was read. */
export const recordRead = (
  deps: SettleDeps,
  scope: ReadScope,
  transfers: readonly Transfer[],
): Promise<string[]> => recordTransfers(deps, scope, transfers);

async function recordTransfers(
  deps: SettleDeps,
  scope: ReadScope & Pick<Recording, 'is_looked_up'>,
  transfers: readonly Transfer[],
): Promise<string[]> {
  return deps.db.transaction(async (tx) => {
    const groups = await findGroups(deps.db, tx, scope.blockchain, transfers.map(seenAt(scope.now)));
    const recording = await lock({ deps, tx, ...scope }, groups, []);
    for (const group of groups) await recordGroup(recording, group);
    for (const id of recording.touched) await makeDue(tx, id);
    return [...recording.touched];
  });
}

async function lock(
  context: Omit<Recording, 'invoices' | 'transfers' | 'touched'>,
  groups: readonly Group[],
  rows: readonly TransferRow[],
): Promise<Recording> {
  const { tx } = context;
  const { db } = context.deps;
  const ids = [
    ...groups.flatMap(({ invoice_ids }) => invoice_ids),
    ...groups.flatMap(({ booked }) => booked?.invoice_id ?? []),
    ...groups.flatMap(({ matches }) =>
      matches.flatMap((found) => (found.disposition === 'unmatched' ? [] : found.invoice.id)),
    ),
    ...rows.flatMap(({ invoice_id }) => invoice_id ?? []),
  ];
  const invoices = await lockInvoices(db, tx, ids);
  const transfers = await lockTransfers(db, tx, [
    ...groups.flatMap(({ known }) => known.map(({ id }) => id)),
    ...rows.map(({ id }) => id),
  ]);
  for (const { invoice_id } of transfers.values())
    if (invoice_id !== null && !invoices.has(invoice_id))
      throw new Overtaken(`another gave it to ${invoice_id}`);
  return { ...context, invoices, transfers, touched: new Set() };
}

async function recordGroup(recording: Recording, { known, fresh, matches, booked }: Group): Promise<void> {
  const { tx, blockchain, now } = recording;
  for (const { id, transfer } of known) {
    const row = recording.transfers.get(id);
    if (row) await refresh(recording, row, transfer);
  }
  const names = (found: Match<InvoiceRow>) => found.disposition !== 'unmatched' && found.invoice.id;
  // Where one output names the invoice that was meant, those that name others are theirs.
  const isShared = booked && matches.some((found) => names(found) === booked.invoice_id);
  // Several outputs of one transaction are one payment.
  const broughtTo = (found: Match<InvoiceRow>): bigint =>
    fresh.reduce((sum, { amount_atomic }, at) => {
      const other = matches[at];
      return other && names(other) === names(found) ? sum + amount_atomic : sum;
    }, 0n);
  const given: Transfer[] = [];
  for (const [at, transfer] of fresh.entries()) {
    const found = matches[at] as Match<InvoiceRow>;
    const isOther = isShared && names(found) && names(found) !== booked.invoice_id;
    if (booked && !isOther) {
      // What an operator booked is held against what was read, and against nothing less.
      if (recording.is_looked_up) continue;
      await insertTransfer(tx, blockchain, transfer, 'final', bookedPlace(booked), now);
      given.push(transfer);
    } else await insertMatched(recording, transfer, found, broughtTo(found));
  }
  if (booked && given.length > 0) await compareBooked(recording, booked, given);
}

/** A transaction that an operator booked by hand before it was read belongs to that invoice. */
const bookedPlace = (booked: TransferRow) => ({
  disposition: 'matched' as const,
  invoice_id: booked.invoice_id,
  payment_id: booked.payment_id,
  booked_invoice_id: booked.booked_invoice_id,
});

/** What was booked by an operator's word is compared with what the chain has. */
async function compareBooked(
  { deps, tx, blockchain, now }: Recording,
  booked: TransferRow,
  given: readonly Transfer[],
): Promise<void> {
  const read = given.reduce((sum, transfer) => sum + transfer.amount_atomic, 0n).toString();
  const { txid, invoice_id } = booked;
  const subject = { blockchain, kind: 'booking_differs', subject: booked.id } as const;
  if (read === booked.amount_atomic)
    return settleContradiction(tx, subject, 'read from the chain, with the amount that was booked', now);
  const details = { booked_atomic: booked.amount_atomic, read_atomic: read };
  deps.log.error(
    { alert: 'booking_differs', blockchain, txid, invoice_id, ...details },
    'a transaction that an operator booked paid another amount',
  );
  await noteContradiction(
    tx,
    { blockchain, kind: 'booking_differs', subject: booked.id, txid, invoice_id, details },
    now,
  );
}

async function insertMatched(
  recording: Recording,
  transfer: Transfer,
  found: Match<InvoiceRow>,
  brings: bigint,
): Promise<void> {
  const { tx, deps, now, blockchain } = recording;
  const state = stateOf(recording, transfer.chain, transfer);
  const insert = async (disposition: TransferRow['disposition'], invoice_id: string | null) => {
    const place = { disposition, invoice_id, payment_id: null, unread: unreadIn(recording) };
    const row = await insertTransfer(tx, blockchain, transfer, state, place, now);
    const waited_seconds = now - transfer.earliest_at;
    if (row) afterCommit(tx, () => deps.metrics.payment_seen_seconds.observe([blockchain], waited_seconds));
    return row;
  };
  const context = { deps, tx, now };
  const unmatched = async (reason: string) => {
    const row = await insert('unmatched', null);
    if (row) await recordUnmatched(context, gatewayOf(recording, transfer.chain), row, reason);
  };
  if (found.disposition === 'unmatched') return unmatched(found.reason);
  // As it is now that it is locked: a payment must never belong to an invoice that waits no more.
  const locked = recording.invoices.get(found.invoice.id) ?? found.invoice;
  const place = placeAt(transfer, (await offeredIn(tx, locked, transfer.chain)) ?? locked);
  if (place === 'before') return unmatched(MADE_BEFORE);
  const invoice = await inItsCoin(recording, locked, { chain: transfer.chain, brings, place });
  const is_late = place === 'late' || invoice.chain !== transfer.chain;
  const row = await insert(is_late ? 'late' : 'matched', invoice.id);
  if (!row) return;
  if (is_late) await recordLate(context, invoice, row);
  else recording.touched.add(invoice.id);
}

async function refresh(recording: Recording, known: TransferRow, transfer: Transfer): Promise<void> {
  if (known.amount_atomic !== transfer.amount_atomic.toString()) await contradict(recording, known, transfer);
  if (known.state === 'final') return;
  // Of what is stored, a look-up says nothing new, but that what was given up is there all the same.
  if (recording.is_looked_up && known.state !== 'gone') return;
  // A provider that is behind may still show as unconfirmed what was mined: only a reorganisation takes a block away.
  if (transfer.height === null && known.height !== null) return;
  await progress(recording, known, {
    state: stateOf(recording, transfer.chain, transfer),
    unread: unreadIn(recording),
    confirmations: transfer.confirmations,
    depth_seconds: wholeDepth(transfer),
    height: transfer.height,
    block_hash: transfer.block_hash,
    earliest_at: Math.min(known.earliest_at, transfer.earliest_at),
    // What pays an invoice was dated by the clock that dated the invoice: one that drifts dates it earlier the next time.
    ...(known.disposition === 'matched' ? {} : { latest_at: Math.min(known.latest_at, transfer.latest_at) }),
  });
}

async function recordUpdate(
  recording: Recording,
  update: TransferUpdate,
  pending?: PendingTransfer,
): Promise<void> {
  const known = [...recording.transfers.values()].find(
    ({ txid, idx }) => txid === update.txid && idx === update.index,
  );
  if (known?.state !== 'pending') return;
  // How deep a block is, that no reading has shown it in, tells nothing of it.
  if (known.unread === 1 && update.state !== 'gone') return;
  if (pending && (pending.height !== known.height || pending.block_hash !== known.block_hash)) return;
  const { confirmations, height, block_hash, reason } = update;
  const depth_seconds = wholeDepth(update);
  const at = { confirmations, depth_seconds, height };
  const state = update.state === 'pending' ? stateOf(recording, known.chain, at) : update.state;
  const { unread } = known;
  await progress(recording, known, { state, unread, ...at, block_hash }, reason);
}

async function progress(
  recording: Recording,
  known: TransferRow,
  next: TransferProgress,
  reason?: string,
): Promise<void> {
  const { deps, tx, now } = recording;
  // Of what is booked no one asks how deep it is: it may stay pending for long where only the chain's own word ends that.
  const isAsDeep =
    known.booked_invoice_id !== null ||
    (known.confirmations === next.confirmations && known.depth_seconds === next.depth_seconds);
  const same =
    known.state === next.state &&
    known.unread === next.unread &&
    isAsDeep &&
    known.block_hash === next.block_hash &&
    known.height === next.height;
  if (same) return;
  await updateTransfer(tx, known.id, next, now);
  const row = { ...known, ...next };
  recording.transfers.set(row.id, row);
  if (row.booked_invoice_id !== null && row.state === 'gone') await alertBookedGone(recording, row, reason);
  if (row.disposition !== 'matched' || row.invoice_id === null)
    await followUnapplied({ deps, tx, now }, row, reason);
  else if (known.state === 'gone') await restoreReorged(recording, row, row.invoice_id);
  else {
    if (row.state === 'gone') await noteGone(recording, row, reason);
    recording.touched.add(row.invoice_id);
  }
}

/** A transaction never changes: what was stored first stays, and the operator is shown that a provider lies. */
async function contradict(
  { deps, tx, blockchain, now }: Recording,
  known: TransferRow,
  { txid, amount_atomic }: Transfer,
): Promise<void> {
  const details = { stored_atomic: known.amount_atomic, read_atomic: amount_atomic.toString() };
  deps.log.error(
    { alert: 'transfer_contradicted', blockchain, txid, ...details },
    'a transaction was read with another amount than before',
  );
  const { invoice_id } = known;
  await noteContradiction(
    tx,
    { blockchain, kind: 'transfer_amount', subject: known.id, txid, invoice_id, details },
    now,
  );
}

/**
 * `final` as the chain says, or as deep as the most that any invoice of the gateway asks for: from then on it is
 * not asked about any more. One whose gateway was switched off has no number.
 */
function stateOf(
  { gateways }: Recording,
  chain: string,
  at: Depth & { final?: boolean },
): 'pending' | 'final' {
  const gateway = gateways.find((one) => one.chain === chain);
  return at.final || (gateway && isDeepForAll(gateway, at)) ? 'final' : 'pending';
}

function gatewayOf({ gateways }: Recording, chain: string): Gateway {
  const gateway = gateways.find((one) => one.chain === chain);
  if (!gateway) throw new Error(`a transfer of ${chain} was read, which is not read`);
  return gateway;
}
