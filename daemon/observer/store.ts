// Stores what was read: transfers matched, late or unmatched, cursors and ranges, in one transaction per page.
import { addRange, moveCursor, putAccountCursors } from '../../data/cursors.ts';
import {
  invoiceByAmount,
  invoiceByMemo,
  invoicesByReference,
  lockInvoice,
  makeDue,
} from '../../data/invoices.ts';
import type { Tx } from '../../data/open.ts';
import { insertLog } from '../../data/payments.ts';
import type { InvoiceRow, TransferRow } from '../../data/tables.ts';
import {
  findTransfer,
  insertTransfer,
  lockTransfer,
  orphanBlocks,
  placeTransfers,
  type TransferProgress,
  updateTransfer,
} from '../../data/transfers.ts';
import type { Gateway, Page, PendingTransfer, Transfer, TransferUpdate } from '../../src/chains/chain.ts';
import { type Match, match, placeAt } from '../../src/match.ts';
import { followStray, recordLate, recordUnmatched } from '../settle/late.ts';
import { MANUAL_INDEX } from '../settle/manual.ts';
import type { SettleApp } from '../settle.ts';

export interface StoreContext {
  app: SettleApp;
  blockchain: string;
  /** Gateways of the blockchain that are read. */
  gateways: readonly Gateway[];
  /** Unix seconds. */
  now: number;
}

interface Storing extends StoreContext {
  tx: Tx;
  /** Invoices whose transfers changed. */
  touched: Set<string>;
}

/** Another reader moved the cursor meanwhile; what this one read is read again. */
export class CursorMoved extends Error {
  override name = 'CursorMoved';
}

/** Stores one page. Returns the cursor's new version and the invoices to look at. Throws CursorMoved when `version` is old. */
export async function storePage(
  context: StoreContext,
  version: number,
  page: Page,
): Promise<{ version: number; touched: string[] }> {
  const moves = page.cursor !== undefined || page.tip !== undefined;
  return context.app.db.transaction(async (tx) => {
    const storing: Storing = { ...context, tx, touched: new Set() };
    if (moves && !(await moveCursor(tx, context.blockchain, version, page))) throw new CursorMoved();
    await storeOrphans(storing, page.orphaned_blocks ?? []);
    for (const group of groupByTransaction(page.transfers)) await storeTransfers(storing, group);
    await putAccountCursors(tx, context.blockchain, page.accounts ?? [], context.now);
    for (const range of page.ranges ?? []) await addRange(tx, context.blockchain, range, context.now);
    for (const id of storing.touched) await makeDue(tx, id);
    return { version: moves ? version + 1 : version, touched: [...storing.touched] };
  });
}

/**
 * Stores what became of pending transfers, as they were when they were `asked` about; returns the invoices to look at.
 * What another daemon has read of one meanwhile is newer, and its block would not be read again.
 */
export async function storeUpdates(
  context: StoreContext,
  updates: readonly TransferUpdate[],
  asked: readonly PendingTransfer[],
): Promise<string[]> {
  const before = new Map(asked.map((each) => [keyOf(each), each]));
  return context.app.db.transaction(async (tx) => {
    const storing: Storing = { ...context, tx, touched: new Set() };
    for (const update of updates) {
      const known = await lockTransfer(context.app.db, tx, context.blockchain, update.txid, update.index);
      const then = before.get(keyOf(update));
      if (known?.state !== 'pending') continue;
      if (then?.height !== known.height || then.block_hash !== known.block_hash) continue;
      const { confirmations, height, block_hash } = update;
      const state =
        update.state === 'pending'
          ? settledState(storing, known.chain, { confirmations, height })
          : update.state;
      await progress(storing, known, { state, confirmations, height, block_hash });
    }
    for (const id of storing.touched) await makeDue(tx, id);
    return [...storing.touched];
  });
}

const keyOf = ({ txid, index }: { txid: string; index: string }): string => `${txid} ${index}`;

/** Credits of one transaction to one address in one asset are matched together. */
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

async function storeTransfers(storing: Storing, group: Transfer[]): Promise<void> {
  const fresh: Transfer[] = [];
  for (const transfer of group) {
    const { txid, index } = transfer;
    const known = await lockTransfer(storing.app.db, storing.tx, storing.blockchain, txid, index);
    if (known) await refresh(storing, known, transfer);
    else fresh.push(transfer);
  }
  if (fresh.length === 0) return;
  const booked = await findTransfer(storing.tx, storing.blockchain, fresh[0]?.txid ?? '', MANUAL_INDEX);
  const matches = await matchGroup(storing, fresh);
  const names = (found: Match<InvoiceRow>) => found.disposition !== 'unmatched' && found.invoice.id;
  // Where one output names the invoice that was meant, those that name others are theirs.
  const isShared = booked && matches.some((found) => names(found) === booked.invoice_id);
  for (const [at, transfer] of fresh.entries()) {
    const found = matches[at] as Match<InvoiceRow>;
    const isBooked = booked?.address_key === transfer.address_key && booked.chain === transfer.chain;
    const isOther = isShared && names(found) && names(found) !== booked.invoice_id;
    if (isBooked && !isOther)
      await insertTransfer(
        storing.tx,
        storing.blockchain,
        transfer,
        'final',
        bookedPlace(booked),
        storing.now,
      );
    else await insertMatched(storing, transfer, found);
  }
}

/** A transaction that an operator booked by hand before it was read belongs to that invoice. */
const bookedPlace = (booked: TransferRow) => ({
  disposition: 'matched' as const,
  invoice_id: booked.invoice_id,
  payment_id: booked.payment_id,
  booked_invoice_id: booked.booked_invoice_id,
});

async function insertMatched(storing: Storing, transfer: Transfer, found: Match<InvoiceRow>): Promise<void> {
  const { tx, app, now } = storing;
  const state = settledState(storing, transfer.chain, transfer);
  const insert = (disposition: TransferRow['disposition'], invoice_id: string | null) => {
    const place = { disposition, invoice_id, payment_id: null };
    return insertTransfer(tx, storing.blockchain, transfer, state, place, now);
  };
  const stray = { app, tx, now };
  if (found.disposition === 'unmatched') {
    const row = await insert('unmatched', null);
    if (row) await recordUnmatched(stray, gatewayOf(storing, transfer.chain), row, found.reason);
    return;
  }
  // Locked, because it may be ending at this moment: a payment must never hang on an invoice that looks no more.
  const invoice = (await lockInvoice(app.db, tx, found.invoice.id)) ?? found.invoice;
  const disposition = placeAt(transfer, invoice);
  const row = await insert(disposition, invoice.id);
  if (!row) return;
  if (disposition === 'late') await recordLate(stray, invoice, row);
  else storing.touched.add(invoice.id);
}

/** Matches each by itself; what stays unmatched may match as a sum of the outputs of one transaction. */
async function matchGroup(storing: Storing, group: readonly Transfer[]): Promise<Match<InvoiceRow>[]> {
  const matches: Match<InvoiceRow>[] = [];
  for (const transfer of group) matches.push(await matchOne(storing, transfer));
  const first = group[0];
  if (first && group.length > 1 && matches.every((found) => found.disposition === 'unmatched')) {
    const amount_atomic = group.reduce((sum, transfer) => sum + transfer.amount_atomic, 0n);
    const found = await matchOne(storing, { ...first, amount_atomic });
    if (found.disposition !== 'unmatched') return group.map(() => found);
  }
  return matches;
}

async function matchOne({ tx, blockchain }: Storing, transfer: Transfer): Promise<Match<InvoiceRow>> {
  const { address_key, chain, memo } = transfer;
  const amount_atomic = transfer.amount_atomic.toString();
  const [by_reference, another] = await invoicesByReference(tx, transfer.references);
  if (another) return { disposition: 'unmatched', reason: 'carries the references of several invoices' };
  return match(transfer, {
    by_memo: memo === null ? undefined : await invoiceByMemo(tx, blockchain, address_key, memo),
    by_reference,
    by_amount: await invoiceByAmount(tx, { blockchain, address_key, chain, amount_atomic }),
  });
}

async function refresh(storing: Storing, known: TransferRow, transfer: Transfer): Promise<void> {
  if (known.amount_atomic !== transfer.amount_atomic.toString()) alertContradicted(storing, known, transfer);
  if (known.state === 'final') return;
  const chain_time = Math.min(known.chain_time, transfer.time);
  // A provider that is behind may still show as unconfirmed what was mined: only a reorganisation takes a block away.
  if (transfer.height === null && known.height !== null) return;
  await progress(storing, known, {
    state: settledState(storing, transfer.chain, transfer),
    confirmations: transfer.confirmations,
    height: transfer.height,
    block_hash: transfer.block_hash,
    chain_time,
  });
}

async function progress(storing: Storing, known: TransferRow, next: TransferProgress): Promise<void> {
  const { app, tx, now } = storing;
  const same =
    known.state === next.state &&
    known.confirmations === next.confirmations &&
    known.block_hash === next.block_hash &&
    known.height === next.height;
  if (same) return;
  await updateTransfer(tx, known.id, next, now);
  const row = { ...known, ...next };
  if (row.booked_invoice_id !== null && row.state === 'gone') await alertVanished(storing, row);
  if (row.disposition !== 'matched' || row.invoice_id === null) await followStray({ app, tx, now }, row);
  else if (known.state === 'gone') await revive(storing, row, row.invoice_id);
  else storing.touched.add(row.invoice_id);
}

/** A transaction that is back may find that its invoice has ended meanwhile: then it is late. */
async function revive(storing: Storing, row: TransferRow, invoice_id: string): Promise<void> {
  const { app, tx, now } = storing;
  const invoice = await lockInvoice(app.db, tx, invoice_id);
  if (!invoice || invoice.status === 'created' || row.booked_invoice_id !== null) {
    storing.touched.add(invoice_id);
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

/** A transaction never changes: what was stored first stays, and the operator is told that a provider lies. */
function alertContradicted({ app }: Storing, known: TransferRow, { txid, amount_atomic }: Transfer): void {
  app.log.error(
    {
      alert: 'transfer_contradicted',
      blockchain: known.blockchain,
      txid,
      stored_atomic: known.amount_atomic,
      read_atomic: amount_atomic.toString(),
    },
    'a transaction was read with another amount than before',
  );
}

/** After confirmation nothing is taken back silently: the operator is told, the invoice keeps its status. */
async function alertVanished({ app, tx, now }: Storing, row: TransferRow): Promise<void> {
  const invoice_id = row.booked_invoice_id;
  app.log.error(
    { alert: 'confirmed_payment_vanished', invoice_id, txid: row.txid, blockchain: row.blockchain },
    'a confirmed payment left the chain',
  );
  await insertLog(tx, {
    payment_id: row.payment_id,
    invoice_id,
    from_status: 'confirmed',
    to_status: 'confirmed',
    txid: row.txid,
    confirmations: 0,
    note: 'ALERT: the transaction left the chain after confirmation; the invoice stays confirmed',
    actor: 'observer',
    created_at: now,
  });
}

async function storeOrphans(storing: Storing, hashes: readonly string[]): Promise<void> {
  for (const before of await orphanBlocks(storing.tx, storing.blockchain, hashes, storing.now)) {
    if (before.disposition === 'matched' && before.invoice_id !== null)
      storing.touched.add(before.invoice_id);
  }
}

/** `final` by the chain's own word or by the gateway's number of confirmations; one that was switched off has no number. */
function settledState(
  { gateways }: Storing,
  chain: string,
  at: { final?: boolean; confirmations: number; height: number | null },
): 'pending' | 'final' {
  const gateway = gateways.find((one) => one.chain === chain);
  const enough = gateway && at.height !== null && at.confirmations >= gateway.min_confirmations;
  return at.final || enough ? 'final' : 'pending';
}

function gatewayOf({ gateways }: Storing, chain: string): Gateway {
  const gateway = gateways.find((one) => one.chain === chain);
  if (!gateway) throw new Error(`a transfer of ${chain} was read, which is not read`);
  return gateway;
}
