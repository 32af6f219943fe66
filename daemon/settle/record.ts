// Stores what was read of a chain: transfers with what they pay, proofs and cursors, one transaction a page.
import { noteContradiction, settleContradiction } from '../../data/contradictions.ts';
import { addRanges, moveCursor, putAccountCursors, wholeVersion } from '../../data/cursors.ts';
import { afterCommit } from '../../data/db/after-commit.ts';
import { Overtaken } from '../../data/db/failures.ts';
import type { Executor, Tx } from '../../data/db/open.ts';
import { lockInvoices, makeDue } from '../../data/invoices.ts';
import { dropProofs, putProofs, putUnreadable } from '../../data/proofs.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import { offeredIn } from '../../data/terms.ts';
import {
  freeIndex,
  insertTransfer,
  lockTransfers,
  storedTransfers,
  type TransferProgress,
  transfersOfBlocks,
  transfersPlacedAfter,
  updateTransfer,
  wholeDepth,
} from '../../data/transfers.ts';
import { isDeepForAll } from '../../src/chains/catalogue.ts';
import type { Gateway, Page, PendingTransfer, Transfer, TransferUpdate } from '../../src/chains/family.ts';
import type { Depth } from '../../src/confirmations.ts';
import { MADE_BEFORE, type Match, placeAt } from '../../src/match.ts';
import { inTurns } from '../process/in-turns.ts';
import { followDust, isOneTooMany, storeDust, type Unnamed } from './dust.ts';
import { type Found, findGroups, type Group, isWord, keyOf } from './match.ts';
import {
  alertBookedGone,
  alertFinalLeft,
  followBooked,
  inItsCoin,
  noteGone,
  restoreReorged,
  unplaceReorged,
} from './reorg.ts';
import { ROWS_PER_SLICE, type Slice, slicesOf } from './slices.ts';
import type { ReadScope, Recording, SettleDeps } from './step.ts';
import { followUnapplied, recordLate, recordUnmatched } from './unapplied.ts';

/** Another reader moved the cursor meanwhile; what this one read is read again. */
export class CursorMoved extends Error {
  override name = 'CursorMoved';
}

/**
 * Stores one page, slice by slice: the cursor and all that says how far was read move with the last. Who is interrupted
 * before has stored transfers whose blocks the cursor does not know: the next page of all takes them out of those first.
 * Returns the cursor's new version and the invoices to evaluate. Throws CursorMoved when `version` is old.
 */
export async function recordPage(
  deps: SettleDeps,
  scope: ReadScope,
  version: number,
  page: Page,
): Promise<{ version: number; touched: string[] }> {
  const { blockchain, now } = scope;
  const moves = page.cursor !== undefined || page.tip !== undefined || page.pace !== undefined;
  const storing = openStoring(deps, scope, moves ? version : null);
  const hashes = page.orphaned_blocks ?? [];
  if (moves) await takeBackUnfinished(storing, version);
  // What is dust loses its block before; all that may be a payment with the cursor that no longer has the block.
  if (hashes.length > 0)
    await unplaceAll(storing, (tx) => transfersOfBlocks(tx, blockchain, hashes, { dust: ROWS_PER_SLICE }));
  const cutting = slicesOf({
    transfers: page.transfers.map(seenAt(now)),
    unread: page.orphaned_transfers ?? [],
    updates: page.updates ?? [],
  });
  const slices = await inTurns(cutting, deps.runtime);
  const last = slices.pop() as Slice;
  for (const slice of slices) await storing.store(slice);
  await storing.store(last, {
    moves: page,
    rows: (tx) => transfersOfBlocks(tx, blockchain, hashes, { dust: null }),
    async before(recording, reorged) {
      if (page.final_left) await alertFinalLeft(recording, page.final_left);
      for (const row of reorged) await followBooked(recording, row, { ...row, block_hash: null });
    },
    after: (tx) => putReading(tx, scope, page),
  });
  return { version: storing.version ?? version, touched: [...storing.touched] };
}

/** How far was read, of the blockchain and of its accounts. */
async function putReading(tx: Tx, { blockchain, now }: ReadScope, page: Page): Promise<void> {
  await putAccountCursors(tx, blockchain, page.accounts ?? [], now);
  await putProofs(tx, blockchain, page.proofs ?? [], now);
  await dropProofs(tx, blockchain, page.caught_up ?? []);
  if (page.unreadable) await putUnreadable(tx, blockchain, page.unreadable, now);
  await addRanges(tx, blockchain, page.ranges ?? [], now);
}

/** What the last slice of a page stores besides its own; all of it in one transaction. */
interface Ending {
  /** The cursor, tip and pace that it moves. */
  moves?: Pick<Page, 'cursor' | 'tip' | 'pace'>;
  /** Transfers that lose their block. */
  rows?: (tx: Tx) => Promise<TransferRow[]>;
  before?: (recording: Recording, reorged: readonly TransferRow[]) => Promise<void>;
  after?: (tx: Tx) => Promise<void>;
  /** What updates are of, as it was when it was asked about. */
  asked?: ReadonlyMap<string, PendingTransfer>;
}

/** Slices of what was read, one after the other, at a cursor that no one else moves meanwhile. */
interface Storing {
  scope: ReadScope;
  deps: SettleDeps;
  /** Of the cursor; null where none stands behind what is stored. */
  version: number | null;
  touched: Set<string>;
  store(slice: Slice, ending?: Ending): Promise<void>;
}

function openStoring(deps: SettleDeps, scope: ReadScope, version: number | null): Storing {
  const { blockchain } = scope;
  const small_open: Recording['small_open'] = new Map();
  let small_named: Recording['small_named'] = new Map();
  return {
    scope,
    deps,
    version,
    touched: new Set(),
    async store(slice, ending) {
      const at = this.version;
      const is_whole = ending?.moves !== undefined;
      let named = small_named;
      const touched = await deps.db.transaction(async (tx) => {
        // A transaction that is begun once more counts what it stores once.
        named = new Map(small_named);
        const { cursor, tip, pace } = ending?.moves ?? {};
        const isOurs = at === null || (await moveCursor(tx, blockchain, at, { cursor, tip, pace }, is_whole));
        if (!isOurs) throw new CursorMoved();
        const placed_version = at === null || is_whole ? null : at + 1;
        return storeSlice(
          { deps, tx, ...scope, placed_version, small_open, small_named: named },
          slice,
          ending ?? {},
        );
      });
      if (at !== null) this.version = at + 1;
      small_named = named;
      for (const id of touched) this.touched.add(id);
    },
  };
}

async function storeSlice(
  context: Omit<Recording, 'invoices' | 'transfers' | 'touched'>,
  slice: Slice,
  { rows, before, after, asked }: Ending,
): Promise<Set<string>> {
  const { deps, tx, blockchain } = context;
  const groups = await findGroups(deps.db, tx, blockchain, {
    bundles: slice.transfers,
    is_read: !context.is_looked_up,
  });
  // Of what something else than reading has shown, that which is not stored: the others were read at their time.
  const unread = await findGroups(deps.db, tx, blockchain, { bundles: slice.unread, is_read: false });
  groups.push(...unread.map((group) => ({ ...group, known: [] })));
  const reorged = (await rows?.(tx)) ?? [];
  const updated = await storedTransfers(tx, blockchain, slice.updates);
  const recording = await lock(context, groups, [...reorged, ...updated]);
  await before?.(recording, reorged);
  await unplaceReorged(recording, reorged);
  await recordGroups(recording, groups);
  const known = new Map(updated.map(({ id, txid, idx }) => [keyOf({ txid, index: idx }), id]));
  for (const update of slice.updates) {
    const row = recording.transfers.get(known.get(keyOf(update)) ?? '');
    if (row) await recordUpdate(recording, row, update, asked?.get(keyOf(update)));
  }
  await after?.(tx);
  for (const id of recording.touched) await makeDue(tx, id);
  return recording.touched;
}

/** Takes transfers out of their blocks, slice by slice, until there are no more such. */
async function unplaceAll(storing: Storing, find: (tx: Executor) => Promise<TransferRow[]>): Promise<void> {
  while ((await find(storing.deps.db.query)).length > 0) {
    await storing.store(NOTHING, { rows: find });
  }
}

const NOTHING: Slice = { transfers: [], unread: [], updates: [] };

/** What a page has placed in blocks that was not stored to its end: the branch that is read next may not have those. */
async function takeBackUnfinished(storing: Storing, version: number): Promise<void> {
  const { scope, deps } = storing;
  const whole = await wholeVersion(deps.db.query, scope.blockchain);
  if (whole >= version) return;
  await unplaceAll(storing, (query) => transfersPlacedAfter(query, scope.blockchain, whole, ROWS_PER_SLICE));
}

/** Where a transfer stands that no reading has shown in a block. */
const UNPLACED = { height: null, block_hash: null, confirmations: 0, depth_seconds: null } as const;

const ONE_OF_MANY = 'one of very many below a cent that name the same invoice';

const MISSTATED = 'it is read otherwise than a provider had stated it';

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
  const asked = new Map(pending.map((each) => [keyOf(each), each]));
  const storing = openStoring(deps, scope, null);
  // What was replaced itself, by what it replaces now, is back.
  const transfers = updates.flatMap(({ replaced_by }) => replaced_by ?? []);
  const slices = await inTurns(slicesOf({ transfers, updates }), deps.runtime);
  for (const slice of slices) await storing.store(slice, { asked });
  return [...storing.touched];
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
  const storing = openStoring(deps, scope, null);
  const cutting = slicesOf({ transfers: transfers.map(seenAt(scope.now)) });
  for (const slice of await inTurns(cutting, deps.runtime)) await storing.store(slice);
  return [...storing.touched];
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
    ...groups.flatMap(({ known, misstated }) => [...known, ...misstated].map(({ id }) => id)),
    ...rows.map(({ id }) => id),
  ]);
  for (const { invoice_id } of transfers.values())
    if (invoice_id !== null && !invoices.has(invoice_id))
      throw new Overtaken(`another gave it to ${invoice_id}`);
  return { ...context, invoices, transfers, touched: new Set() };
}

async function recordGroups(recording: Recording, groups: readonly Group[]): Promise<void> {
  const unnamed: Unnamed[] = [];
  for (const group of groups) unnamed.push(...(await recordGroup(recording, group)));
  for (const { transfer, reason } of await storeDust(recording, unnamed))
    await insertUnmatched(recording, transfer, reason);
}

/** Returns what names no invoice: whether it is listed is decided for all of them together. */
async function recordGroup(
  recording: Recording,
  { known, misstated, fresh, matches, booked }: Group,
): Promise<Unnamed[]> {
  const { tx, blockchain, now } = recording;
  for (const { id, transfer } of misstated) {
    const row = recording.transfers.get(id);
    if (row) await setAside(recording, row, transfer);
  }
  for (const { id, transfer } of known) {
    const row = recording.transfers.get(id);
    if (row) await refresh(recording, row, transfer);
  }
  const nameOf = (found: Found) => (found.disposition === 'unmatched' ? null : found.invoice.id);
  // Where one output names the invoice that was meant, those that name others are theirs.
  const isShared = booked && matches.some((found) => nameOf(found) === booked.invoice_id);
  // Several outputs of one transaction are one payment.
  const brought = new Map<string | null, bigint>();
  for (const [at, { amount_atomic }] of fresh.entries()) {
    const name = nameOf(matches[at] as Found);
    brought.set(name, (brought.get(name) ?? 0n) + amount_atomic);
  }
  const given: Transfer[] = [];
  const unnamed: Unnamed[] = [];
  for (const [at, transfer] of fresh.entries()) {
    const found = matches[at] as Found;
    const name = nameOf(found);
    const isOther = isShared && name !== null && name !== booked.invoice_id;
    if (booked && !isOther) {
      // What an operator booked is held against what was read, and against nothing less.
      if (recording.is_looked_up) continue;
      await insertTransfer(tx, blockchain, transfer, 'final', bookedPlace(recording, booked), now);
      given.push(transfer);
      continue;
    }
    const reason = found.disposition === 'unmatched' ? found.reason : ONE_OF_MANY;
    const one = { transfer, gateway: gatewayOf(recording, transfer.chain), reason };
    if (!found.names || (await isOneTooMany(recording, one, name))) unnamed.push(one);
    else await insertMatched(recording, transfer, found, brought.get(name) ?? 0n);
  }
  if (booked && given.length > 0) await compareBooked(recording, booked, given);
  return unnamed;
}

/** A transaction that an operator booked by hand before it was read belongs to that invoice. */
const bookedPlace = ({ placed_version }: Recording, booked: TransferRow) => ({
  placed_version,
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

async function insertPlaced(
  recording: Recording,
  transfer: Transfer,
  disposition: TransferRow['disposition'],
  invoice_id: string | null,
): Promise<TransferRow | undefined> {
  const { tx, deps, now, blockchain, placed_version } = recording;
  const state = stateOf(recording, transfer.chain, transfer);
  const place = { disposition, invoice_id, payment_id: null, placed_version, unread: unreadIn(recording) };
  const row = await insertTransfer(tx, blockchain, transfer, state, place, now);
  const waited_seconds = now - transfer.earliest_at;
  if (row) afterCommit(tx, () => deps.metrics.payment_seen_seconds.observe([blockchain], waited_seconds));
  return row;
}

async function insertUnmatched(recording: Recording, transfer: Transfer, reason: string): Promise<void> {
  const row = await insertPlaced(recording, transfer, 'unmatched', null);
  if (row) await recordUnmatched(recording, gatewayOf(recording, transfer.chain), row, reason);
}

async function insertMatched(
  recording: Recording,
  transfer: Transfer,
  found: Match<InvoiceRow>,
  brings: bigint,
): Promise<void> {
  const { tx } = recording;
  if (found.disposition === 'unmatched') return insertUnmatched(recording, transfer, found.reason);
  // As it is now that it is locked: a payment must never belong to an invoice that waits no more.
  const locked = recording.invoices.get(found.invoice.id) ?? found.invoice;
  const place = placeAt(transfer, (await offeredIn(tx, locked, transfer.chain)) ?? locked);
  if (place === 'before') return insertUnmatched(recording, transfer, MADE_BEFORE);
  const invoice = await inItsCoin(recording, locked, { chain: transfer.chain, brings, place });
  const is_late = place === 'late' || invoice.chain !== transfer.chain;
  const row = await insertPlaced(recording, transfer, is_late ? 'late' : 'matched', invoice.id);
  if (!row) return;
  if (is_late) await recordLate(recording, invoice, row);
  else recording.touched.add(invoice.id);
}

/** What one provider stated of a transaction is not what is read of it: that is stored, and the statement confirms nothing any more. */
async function setAside(recording: Recording, stated: TransferRow, read: Transfer): Promise<void> {
  if (!isWord(stated)) throw new Overtaken('another has read it, or booked it');
  if (stated.amount_atomic !== read.amount_atomic.toString()) await contradict(recording, stated, read);
  await progress(recording, stated, { ...UNPLACED, state: 'gone', unread: 1 }, MISSTATED);
  await freeIndex(recording.tx, stated.id, recording.now);
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
  known: TransferRow,
  update: TransferUpdate,
  pending?: PendingTransfer,
): Promise<void> {
  if (known.state !== 'pending') return;
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
  found: TransferProgress,
  reason?: string,
): Promise<void> {
  const { deps, tx, now, placed_version } = recording;
  const isPlaced = found.block_hash !== null && found.block_hash !== known.block_hash;
  // No one waits for dust to be deep.
  const isEnough = known.dust_day !== null && found.state === 'pending' && found.height !== null;
  const next: TransferProgress = {
    ...found,
    ...(isEnough ? { state: 'final' } : {}),
    ...(isPlaced ? { placed_version } : {}),
  };
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
  await followBooked(recording, known, row);
  if (row.booked_invoice_id !== null && row.state === 'gone') await alertBookedGone(recording, row, reason);
  if (row.dust_day !== null) await followDust(recording, known, row);
  else if (row.disposition !== 'matched' || row.invoice_id === null)
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
