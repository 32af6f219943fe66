// What left the chain, and what came back: transfers of lost blocks, payments that are gone, bookings that no longer stand.
import { noteContradiction, settleContradiction } from '../../data/contradictions.ts';
import { getPayment, insertLog } from '../../data/payments.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import { orphanTransfers, placeTransfers } from '../../data/transfers.ts';
import { followDust } from './dust.ts';
import type { Recording } from './step.ts';
import { takeBack } from './terms.ts';
import { recordLate, sayBack } from './unapplied.ts';

/** Transfers of blocks that left the chain are pending again, in no block. */
export async function unplaceReorged(recording: Recording, rows: readonly TransferRow[]): Promise<void> {
  const { tx, now, touched, transfers } = recording;
  await orphanTransfers(
    tx,
    rows.map(({ id }) => id),
    now,
  );
  for (const { id } of rows) {
    const row = transfers.get(id);
    if (!row) continue;
    const nowhere: TransferRow = {
      ...row,
      state: 'pending',
      height: null,
      block_hash: null,
      confirmations: 0,
      depth_seconds: null,
      placed_version: null,
    };
    transfers.set(id, nowhere);
    await followDust(recording, row, nowhere);
    if (row.disposition === 'matched' && row.invoice_id !== null) touched.add(row.invoice_id);
  }
}

/** What took a payment's money away is written into its log; its status follows when the invoice is evaluated. */
export async function noteGone(
  { tx, now, invoices }: Recording,
  row: TransferRow,
  reason?: string,
): Promise<void> {
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

/**
 * The invoice that a transfer in this coin is for: again under the terms that asked for it, where nothing else counts for
 * it; else as it is. While it is open, what came after its time waits in the list: the coin that is asked for now may still come.
 */
export async function inItsCoin(
  recording: Recording,
  invoice: InvoiceRow,
  {
    chain,
    brings,
    place,
    except,
  }: {
    chain: string;
    brings: bigint;
    place: 'matched' | 'late';
    except?: string;
  },
): Promise<InvoiceRow> {
  if (invoice.chain === chain || (place === 'late' && invoice.status === 'created')) return invoice;
  const { deps, tx, now } = recording;
  const back = await takeBack(deps, tx, invoice, { chain, brings, now, except });
  if (!back) return invoice;
  recording.invoices.set(back.id, back);
  return back;
}

/** A transaction that is back may find that its invoice has ended meanwhile: then it is late. */
export async function restoreReorged(
  recording: Recording,
  row: TransferRow,
  invoice_id: string,
): Promise<void> {
  const { deps, tx, now } = recording;
  const locked = recording.invoices.get(invoice_id);
  const brings = BigInt(row.amount_atomic);
  const asked = { chain: row.chain, brings, place: 'matched', except: row.id } as const;
  const invoice =
    locked && row.booked_invoice_id === null ? await inItsCoin(recording, locked, asked) : locked;
  const waits = invoice?.status === 'created' && invoice.chain === row.chain;
  if (!invoice || waits || row.booked_invoice_id !== null) {
    recording.touched.add(invoice_id);
    return;
  }
  await placeTransfers(tx, [row.id], { disposition: 'late' }, now);
  await recordLate(
    { deps, tx, now },
    invoice,
    row,
    invoice.status === 'created'
      ? `${sayBack(row)} when the invoice was paid in ${invoice.chain}`
      : `${sayBack(row)} when the invoice was ${invoice.status}`,
  );
}

/**
 * A booked payment that stands in no block any more may be mined again, and whether it will be can take long to know: the
 * operator hears of it at once, and what becomes of it settles that.
 */
export async function followBooked(
  recording: Recording,
  before: TransferRow,
  row: TransferRow,
): Promise<void> {
  if (row.booked_invoice_id === null) return;
  if (row.state === 'gone')
    return settleLeft(recording, row, 'it is gone: that stands on its own as booked_gone');
  if (before.block_hash === null && row.block_hash !== null)
    return settleLeft(recording, row, `it is back, in block ${row.height}`);
  if (before.block_hash !== null && row.block_hash === null) await alertBookedLeft(recording, before);
}

const settleLeft = ({ tx, blockchain, now }: Recording, { id }: TransferRow, note: string): Promise<void> =>
  settleContradiction(tx, { blockchain, kind: 'booked_left', subject: id }, note, now);

async function alertBookedLeft(
  { deps, tx, now, blockchain }: Recording,
  { id, txid, height, block_hash, booked_invoice_id: invoice_id }: TransferRow,
): Promise<void> {
  deps.log.error(
    { alert: 'confirmed_payment_left_its_block', invoice_id, txid, blockchain, height },
    'the block of a confirmed payment left the chain; the payment may be mined again',
  );
  await noteContradiction(
    tx,
    { blockchain, kind: 'booked_left', subject: id, txid, invoice_id, details: { height, block_hash } },
    now,
  );
}

/** After confirmation nothing is taken back silently: the operator is alerted, the invoice stays confirmed. */
export async function alertBookedGone(
  { deps, tx, now, blockchain }: Recording,
  row: TransferRow,
  reason: string | undefined,
): Promise<void> {
  const { txid, booked_invoice_id: invoice_id } = row;
  deps.log.error(
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

/** A chain that takes back what it had called final may do so again: what is booked of it may be gone with no one's fault here. */
export async function alertFinalLeft(
  { deps, tx, now, blockchain }: Recording,
  { from, to }: { from: number; to: number },
): Promise<void> {
  deps.log.error(
    { alert: 'final_left', blockchain, from, to },
    'blocks that the chain had called final left it: check what was delivered for the latest payments',
  );
  await noteContradiction(
    tx,
    {
      blockchain,
      kind: 'final_left',
      subject: `${from} to ${to}`,
      txid: null,
      invoice_id: null,
      details: { from, to },
    },
    now,
  );
}
