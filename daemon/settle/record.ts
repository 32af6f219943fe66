// Stores what was read of a chain: transfers with what they pay, reorganisations, proofs and cursors, one transaction a page.
import { noteContradiction, settleContradiction } from '../../data/contradictions.ts';
import { addRanges, moveCursor, putAccountCursors } from '../../data/cursors.ts';
import { Overtaken } from '../../data/db/failures.ts';
import type { Db, Tx } from '../../data/db/open.ts';
import { lockInvoices, makeDue } from '../../data/invoices.ts';
import { getPayment, insertLog } from '../../data/payments.ts';
import { dropProofs, putProofs, putUnreadable } from '../../data/proofs.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import {
  insertTransfer,
  lockTransfers,
  orphanTransfers,
  placeTransfers,
  type ReplacedTransfer,
  replacedTransfers,
  type TransferProgress,
  transfersOfBlocks,
  transfersOfTransactions,
  updateTransfer,
} from '../../data/transfers.ts';
import type { Gateway, Page, PendingTransfer, Transfer, TransferUpdate } from '../../src/chains/family.ts';
import { MADE_BEFORE, type Match, placeAt } from '../../src/match.ts';
import { matchGroup } from './matching.ts';
import { MANUAL_INDEX } from './operator.ts';
import type { SettleApp } from './settle.ts';
import { followStray, recordLate, recordUnmatched } from './unapplied.ts';

/** How far back a transaction is looked for that a new one replaces: mempools forget after two weeks. */
const REPLACED_WITHIN_SECONDS = 15 * 24 * 3600;

export interface RecordContext {
  app: SettleApp;
  blockchain: string;
  /** Gateways of the blockchain that are read. */
  gateways: readonly Gateway[];
  /** Unix seconds. */
  now: number;
}

interface Recording extends RecordContext {
  tx: Tx;
  /** Locked, as they are now. */
  invoices: ReadonlyMap<string, InvoiceRow>;
  /** The same, by id. */
  transfers: Map<string, TransferRow>;
  /** Invoices whose transfers changed. */
  touched: Set<string>;
}

/** Another reader moved the cursor meanwhile; what this one read is read again. */
export class CursorMoved extends Error {
  override name = 'CursorMoved';
}

/**
 * Stores one page. Returns the cursor's new version and the invoices to evaluate. Throws CursorMoved when `version` is
 * old. Locks in the one order that all writers keep: merchant, then invoices, then transfers.
 */
export async function recordPage(
  context: RecordContext,
  version: number,
  page: Page,
): Promise<{ version: number; touched: string[] }> {
  const { app, blockchain, now } = context;
  const moves = page.cursor !== undefined || page.tip !== undefined;
  return app.db.transaction(async (tx) => {
    if (moves && !(await moveCursor(tx, blockchain, version, page))) throw new CursorMoved();
    const groups = await findGroups(context, tx, page.transfers);
    const orphans = await transfersOfBlocks(tx, blockchain, page.orphaned_blocks ?? []);
    const updated = await transfersOfTransactions(tx, blockchain, txidsOf(page.updates ?? []));
    const recording = await lock(context, tx, groups, [...orphans, ...updated]);
    await recordOrphans(recording, orphans);
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

/**
 * Stores what became of pending transfers, as they were when they were `asked` about; returns the invoices to evaluate.
 * What another daemon has read of one meanwhile is newer, and its block would not be read again.
 */
export async function recordUpdates(
  context: RecordContext,
  updates: readonly TransferUpdate[],
  asked: readonly PendingTransfer[],
): Promise<string[]> {
  const before = new Map(asked.map((each) => [keyOf(each), each]));
  return context.app.db.transaction(async (tx) => {
    const known = await transfersOfTransactions(tx, context.blockchain, txidsOf(updates));
    const recording = await lock(context, tx, [], known);
    for (const update of updates) await recordUpdate(recording, update, before.get(keyOf(update)));
    for (const id of recording.touched) await makeDue(tx, id);
    return [...recording.touched];
  });
}

/** Stores what a transaction that somebody named has paid, as if it had been read; returns the invoices to evaluate. */
export async function recordNamed(context: RecordContext, transfers: readonly Transfer[]): Promise<string[]> {
  return context.app.db.transaction(async (tx) => {
    const groups = await findGroups(context, tx, transfers);
    const recording = await lock(context, tx, groups, []);
    for (const group of groups) await recordGroup(recording, group);
    for (const id of recording.touched) await makeDue(tx, id);
    return [...recording.touched];
  });
}

const keyOf = ({ txid, index }: { txid: string; index: string }): string => `${txid} ${index}`;
const txidsOf = (of: readonly { txid: string }[]): string[] => [...new Set(of.map(({ txid }) => txid))];

/** Credits of one transaction to one address in one asset, which are matched together. */
interface Group {
  /** Those stored before, with what is read of them now. */
  known: { id: string; transfer: Transfer }[];
  fresh: Transfer[];
  matches: Match<InvoiceRow>[];
  /** A row that keeps this transaction for the invoice that an operator booked with it before it was read. */
  booked: TransferRow | undefined;
  /** Invoices of what is stored. */
  invoice_ids: string[];
}

/** Looks without locks; what was found is judged again once it is locked. */
async function findGroups(
  { app, blockchain }: RecordContext,
  tx: Tx,
  transfers: readonly Transfer[],
): Promise<Group[]> {
  const stored = new Map<string, TransferRow>();
  const rows = await transfersOfTransactions(tx, blockchain, txidsOf(transfers));
  for (const row of rows) stored.set(keyOf({ txid: row.txid, index: row.idx }), row);
  const groups: Group[] = [];
  for (const group of groupByTransaction(transfers)) {
    const known: Group['known'] = [];
    const fresh: Transfer[] = [];
    const invoice_ids: string[] = [];
    for (const transfer of group) {
      const row = stored.get(keyOf(transfer));
      if (row?.invoice_id) invoice_ids.push(row.invoice_id);
      if (row) known.push({ id: row.id, transfer });
      else fresh.push(transfer);
    }
    const manual = stored.get(keyOf({ txid: group[0]?.txid ?? '', index: MANUAL_INDEX }));
    const booked =
      manual?.address_key === group[0]?.address_key && manual?.chain === group[0]?.chain ? manual : undefined;
    groups.push({ known, ...(await matchFresh(app.db, tx, blockchain, fresh)), booked, invoice_ids });
  }
  return groups;
}

function groupByTransaction(transfers: readonly Transfer[]): Transfer[][] {
  const groups = new Map<string, Transfer[]>();
  for (const transfer of transfers) {
    const key = `${transfer.txid} ${transfer.address_key} ${transfer.chain}`;
    const group = groups.get(key) ?? [];
    // Listed twice is paid once: it must not add up with itself.
    if (!group.some(({ index }) => index === transfer.index)) groups.set(key, [...group, transfer]);
  }
  return [...groups.values()];
}

/**
 * A replacement that spends the same to the same address is the same payment: it is as old as what it replaces, and where
 * that paid the same and no invoice, it pays none either.
 */
async function matchFresh(
  db: Db,
  tx: Tx,
  blockchain: string,
  transfers: readonly Transfer[],
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
    latest_at: Math.min(transfer.latest_at, latest),
  }));
  const matches = await matchGroup(tx, blockchain, fresh);
  if (!replacesUnmatched(replaced, transfers)) return { fresh, matches };
  return { fresh, matches: matches.map(() => ({ disposition: 'unmatched', reason: MADE_BEFORE })) };
}

/** Whether one of the replaced transactions paid the same altogether, and nothing of it was meant for an invoice. */
function replacesUnmatched(replaced: readonly ReplacedTransfer[], transfers: readonly Transfer[]): boolean {
  const paid = transfers.reduce((sum, { amount_atomic }) => sum + amount_atomic, 0n);
  return txidsOf(replaced).some((txid) => {
    const rows = replaced.filter((row) => row.txid === txid);
    const was_paid = rows.reduce((sum, { amount_atomic }) => sum + BigInt(amount_atomic), 0n);
    return was_paid === paid && rows.every(({ disposition }) => disposition === 'unmatched');
  });
}

async function lock(
  context: RecordContext,
  tx: Tx,
  groups: readonly Group[],
  rows: readonly TransferRow[],
): Promise<Recording> {
  const { db } = context.app;
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
  return { ...context, tx, invoices, transfers, touched: new Set() };
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
  const given: Transfer[] = [];
  for (const [at, transfer] of fresh.entries()) {
    const found = matches[at] as Match<InvoiceRow>;
    const isOther = isShared && names(found) && names(found) !== booked.invoice_id;
    if (booked && !isOther) {
      await insertTransfer(tx, blockchain, transfer, 'final', bookedPlace(booked), now);
      given.push(transfer);
    } else await insertMatched(recording, transfer, found);
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

/** What was booked on an operator's word is held against what the chain has. */
async function compareBooked(
  { app, tx, blockchain, now }: Recording,
  booked: TransferRow,
  given: readonly Transfer[],
): Promise<void> {
  const read = given.reduce((sum, transfer) => sum + transfer.amount_atomic, 0n).toString();
  const { txid, invoice_id } = booked;
  const subject = { blockchain, kind: 'booking_differs', subject: booked.id } as const;
  if (read === booked.amount_atomic)
    return settleContradiction(tx, subject, 'read from the chain, with the amount that was booked', now);
  const details = { booked_atomic: booked.amount_atomic, read_atomic: read };
  app.log.error(
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
): Promise<void> {
  const { tx, app, now, blockchain } = recording;
  const state = settledState(recording, transfer.chain, transfer);
  const insert = (disposition: TransferRow['disposition'], invoice_id: string | null) => {
    const place = { disposition, invoice_id, payment_id: null };
    return insertTransfer(tx, blockchain, transfer, state, place, now);
  };
  const stray = { app, tx, now };
  const unmatched = async (reason: string) => {
    const row = await insert('unmatched', null);
    if (row) await recordUnmatched(stray, gatewayOf(recording, transfer.chain), row, reason);
  };
  if (found.disposition === 'unmatched') return unmatched(found.reason);
  // As it is now that it is locked: a payment must never hang on an invoice that waits no more.
  const invoice = recording.invoices.get(found.invoice.id) ?? found.invoice;
  const place = placeAt(transfer, invoice);
  if (place === 'before') return unmatched(MADE_BEFORE);
  const row = await insert(place, invoice.id);
  if (!row) return;
  if (place === 'late') await recordLate(stray, invoice, row);
  else recording.touched.add(invoice.id);
}

async function refresh(recording: Recording, known: TransferRow, transfer: Transfer): Promise<void> {
  if (known.amount_atomic !== transfer.amount_atomic.toString()) await contradict(recording, known, transfer);
  if (known.state === 'final') return;
  // A provider that is behind may still show as unconfirmed what was mined: only a reorganisation takes a block away.
  if (transfer.height === null && known.height !== null) return;
  await progress(recording, known, {
    state: settledState(recording, transfer.chain, transfer),
    confirmations: transfer.confirmations,
    height: transfer.height,
    block_hash: transfer.block_hash,
    earliest_at: Math.min(known.earliest_at, transfer.earliest_at),
    latest_at: Math.min(known.latest_at, transfer.latest_at),
  });
}

async function recordUpdate(
  recording: Recording,
  update: TransferUpdate,
  asked?: PendingTransfer,
): Promise<void> {
  const known = [...recording.transfers.values()].find(
    ({ txid, idx }) => txid === update.txid && idx === update.index,
  );
  if (known?.state !== 'pending') return;
  if (asked && (asked.height !== known.height || asked.block_hash !== known.block_hash)) return;
  const { confirmations, height, block_hash, reason } = update;
  const state =
    update.state === 'pending'
      ? settledState(recording, known.chain, { confirmations, height })
      : update.state;
  await progress(recording, known, { state, confirmations, height, block_hash }, reason);
}

async function progress(
  recording: Recording,
  known: TransferRow,
  next: TransferProgress,
  reason?: string,
): Promise<void> {
  const { app, tx, now } = recording;
  const same =
    known.state === next.state &&
    known.confirmations === next.confirmations &&
    known.block_hash === next.block_hash &&
    known.height === next.height;
  if (same) return;
  await updateTransfer(tx, known.id, next, now);
  const row = { ...known, ...next };
  recording.transfers.set(row.id, row);
  if (row.booked_invoice_id !== null && row.state === 'gone') await bookedGone(recording, row, reason);
  if (row.disposition !== 'matched' || row.invoice_id === null)
    await followStray({ app, tx, now }, row, reason);
  else if (known.state === 'gone') await restore(recording, row, row.invoice_id);
  else {
    if (row.state === 'gone') await noteGone(recording, row, reason);
    recording.touched.add(row.invoice_id);
  }
}

/** What took a payment's money away is written into its log; its status follows when the invoice is evaluated. */
async function noteGone({ tx, now, invoices }: Recording, row: TransferRow, reason?: string): Promise<void> {
  const payment_id = invoices.get(row.invoice_id ?? '')?.payment_id;
  const payment = payment_id ? await getPayment(tx, payment_id) : undefined;
  if (!payment || !reason || row.booked_invoice_id !== null) return;
  await insertLog(tx, {
    payment_id: payment.id,
    invoice_id: row.invoice_id,
    from_status: payment.status,
    to_status: payment.status,
    txid: row.txid,
    confirmations: 0,
    note: `gone: ${reason}`,
    actor: 'observer',
    created_at: now,
  });
}

/** A transaction that is back may find that its invoice has ended meanwhile: then it is late. */
async function restore(recording: Recording, row: TransferRow, invoice_id: string): Promise<void> {
  const { app, tx, now } = recording;
  const invoice = recording.invoices.get(invoice_id);
  if (!invoice || invoice.status === 'created' || row.booked_invoice_id !== null) {
    recording.touched.add(invoice_id);
    return;
  }
  await placeTransfers(tx, [row.id], { disposition: 'late' }, now);
  await recordLate(
    { app, tx, now },
    invoice,
    row,
    `back on the chain when the invoice was ${invoice.status}`,
  );
}

/** A transaction never changes: what was stored first stays, and the operator is shown that a provider lies. */
async function contradict(
  { app, tx, blockchain, now }: Recording,
  known: TransferRow,
  { txid, amount_atomic }: Transfer,
): Promise<void> {
  const details = { stored_atomic: known.amount_atomic, read_atomic: amount_atomic.toString() };
  app.log.error(
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

/** After confirmation nothing is taken back silently: the operator is told, the invoice keeps its status. */
async function bookedGone(
  { app, tx, now, blockchain }: Recording,
  row: TransferRow,
  reason: string | undefined,
): Promise<void> {
  const { txid, booked_invoice_id: invoice_id } = row;
  app.log.error(
    { alert: 'confirmed_payment_vanished', invoice_id, txid, blockchain },
    'a confirmed payment left the chain',
  );
  await noteContradiction(
    tx,
    {
      blockchain,
      kind: 'booked_gone',
      subject: row.id,
      txid,
      invoice_id,
      details: { booked_atomic: row.amount_atomic, reason: reason ?? null },
    },
    now,
  );
  await insertLog(tx, {
    payment_id: row.payment_id,
    invoice_id,
    from_status: 'confirmed',
    to_status: 'confirmed',
    txid,
    confirmations: 0,
    note: 'ALERT: the transaction left the chain after confirmation; the invoice stays confirmed',
    actor: 'observer',
    created_at: now,
  });
}

async function recordOrphans(
  { tx, now, touched, transfers }: Recording,
  orphans: readonly TransferRow[],
): Promise<void> {
  await orphanTransfers(
    tx,
    orphans.map(({ id }) => id),
    now,
  );
  for (const { id } of orphans) {
    const row = transfers.get(id);
    if (!row) continue;
    transfers.set(id, { ...row, state: 'pending', height: null, block_hash: null, confirmations: 0 });
    if (row.disposition === 'matched' && row.invoice_id !== null) touched.add(row.invoice_id);
  }
}

/**
 * `final` by the chain's own word, or as deep as the most that any invoice of the gateway asks for: from then on nobody
 * asks for it any more. One whose gateway was switched off has no number.
 */
function settledState(
  { gateways }: Recording,
  chain: string,
  at: { final?: boolean; confirmations: number; height: number | null },
): 'pending' | 'final' {
  const gateway = gateways.find((one) => one.chain === chain);
  const enough = gateway && at.height !== null && at.confirmations >= gateway.min_confirmations;
  return at.final || enough ? 'final' : 'pending';
}

function gatewayOf({ gateways }: Recording, chain: string): Gateway {
  const gateway = gateways.find((one) => one.chain === chain);
  if (!gateway) throw new Error(`a transfer of ${chain} was read, which is not read`);
  return gateway;
}
