// What an open invoice asks for: changed by its buyer, taken back when money comes for its former coin, longer for a part.
import { noteAddress } from '../../data/addresses.ts';
import type { Tx } from '../../data/db/open.ts';
import { lockInvoice, watchAddress } from '../../data/invoices.ts';
import { insertLog, mainPayment } from '../../data/payments.ts';
import { holderOf } from '../../data/reservations.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import {
  everyOffer,
  formerTerms,
  labelOf,
  movePaymentTo,
  NOTHING_CAME,
  offeredIn,
  prolong,
  putTerms,
  type Terms,
  unseatPayment,
  watchTerms,
} from '../../data/terms.ts';
import { placeTransfers, transfersOfInvoice } from '../../data/transfers.ts';
import { GRACE_SECONDS, prolongedUntil, switchedUntil } from '../../src/invoice.ts';
import { seconds } from '../clock.ts';
import { writeEvent } from './event.ts';
import type { SettleDeps, Step } from './step.ts';
import { recordLate } from './unapplied.ts';

/** Coins that one invoice may be asked for in, one after the other: each reserves an amount or a memo. */
const MAX_COINS = 5;
/** Changes of one invoice, back and forth: each writes an event. */
const MAX_SWITCHES = 10;

interface Switched {
  invoice: InvoiceRow;
  /** Then nothing was changed. */
  refused?: 'invoice_ended' | 'payment_detected' | 'too_many_unpaid';
}

interface SwitchRequest {
  invoice_id: string;
  chain: string;
  /** Terms in a coin that it was not asked for in before, for an invoice that expires then; reserves what they need. */
  draw(tx: Tx, invoice: InvoiceRow, expires_at: number): Promise<Terms>;
}

/**
 * Puts an open invoice that nothing has come for under terms in another coin. Its former ones are stored: what is still
 * paid under them counts, see `takeBack`. Undefined where there is no such invoice.
 */
export async function switchCoin(deps: SettleDeps, request: SwitchRequest): Promise<Switched | undefined> {
  const { invoice_id, chain, draw } = request;
  return deps.db.transaction(async (tx): Promise<Switched | undefined> => {
    const invoice = await lockInvoice(deps.db, tx, invoice_id);
    if (!invoice) return undefined;
    const now = seconds(deps.clock);
    const refused = await whyNot(tx, invoice, { chain, now });
    if (refused) return { invoice, refused };
    if (invoice.chain === chain) return { invoice };
    const expires_at = switchedUntil(invoice, now);
    const before = await offeredIn(tx, invoice, chain);
    const terms = before
      ? await relinked(deps, tx, { ...before, expires_at })
      : { ...(await draw(tx, invoice, expires_at)), offered_at: now };
    const changed = { ...laterBy(invoice, expires_at), switches: invoice.switches + 1, buyer: null };
    const moved = await putTerms(tx, invoice, { terms, returns: before !== undefined, changed });
    await watchOffers(tx, moved);
    await noteAddress(deps.db, tx, { ...moved, owner_id: holderOf(moved), now });
    await noteSwitch(deps, tx, moved, { from: invoice.chain, actor: 'buyer', now });
    return { invoice: moved };
  });
}

async function whyNot(
  tx: Tx,
  invoice: InvoiceRow,
  { chain, now }: { chain: string; now: number },
): Promise<Switched['refused'] | null> {
  if (invoice.status !== 'created') return 'invoice_ended';
  // Also what has left the chain again may come back.
  const is_paid = invoice.payment_id !== null || (await transfersOfInvoice(tx, invoice.id)).length > 0;
  if (is_paid) return 'payment_detected';
  if (now >= invoice.expires_at) return 'invoice_ended';
  if (invoice.chain === chain) return null;
  if (invoice.switches >= MAX_SWITCHES) return 'too_many_unpaid';
  const former = invoice.switches === 0 ? [] : await formerTerms(tx, invoice.id);
  const is_new = former.every((each) => each.chain !== chain);
  return is_new && former.length + 1 >= MAX_COINS ? 'too_many_unpaid' : null;
}

/** The times of an open invoice that expires then; those of one that does already stay. */
function laterBy(invoice: InvoiceRow, expires_at: number) {
  if (expires_at === invoice.expires_at) return {};
  return {
    expires_at,
    first_expires_at: invoice.first_expires_at ?? invoice.expires_at,
    // What is due at once stays due.
    due_at: invoice.due_at === invoice.expires_at ? expires_at : invoice.due_at,
    watch_until: Math.max(invoice.watch_until, expires_at + 2 * GRACE_SECONDS),
  };
}

/** Each address that an invoice was ever to be paid at is watched as long as the invoice. */
export async function watchOffers(
  tx: Tx,
  invoice: InvoiceRow,
  open_until = invoice.expires_at + GRACE_SECONDS,
): Promise<void> {
  const { id, created_at, watch_until } = invoice;
  const offers = await everyOffer(tx, invoice);
  for (const { blockchain, address_key, address, offered_at } of offers)
    await watchAddress(tx, {
      blockchain,
      address_key,
      address,
      since: offered_at ?? created_at,
      open_until,
      watch_until,
    });
  if (offers.length > 1) await watchTerms(tx, id, watch_until);
}

/** Terms whose links say when the invoice expires now; as they were where the gateway is gone from the settings. */
async function relinked({ config }: SettleDeps, tx: Tx, invoice: InvoiceRow): Promise<InvoiceRow> {
  const { chains, network, gateways, blockchains } = config;
  const known = [
    ...chains.enabled(network, gateways, blockchains),
    ...chains.disabled(network, gateways, blockchains),
  ];
  const gateway = known.find(({ chain }) => chain === invoice.chain);
  if (!gateway) return invoice;
  const { address, memo, reference, expires_at } = invoice;
  const amount_atomic = BigInt(invoice.amount_atomic);
  const label = await labelOf(tx, invoice);
  const order = { gateway, address, amount_atomic, memo, reference, label, expires_at };
  const { uri, exits } = gateway.family.paymentLinks(order);
  return { ...invoice, qr_payload: uri, exits };
}

interface Coming {
  chain: string;
  /** How much one transaction brings of it; `named`: an operator's word says that it is what pays. */
  brings: bigint | 'named';
  now: number;
  /** The transfer that came, where it is stored already. */
  except?: string | undefined;
  actor?: string;
}

/**
 * The invoice under the terms that it had in this coin, for money has come that was asked for by them: a frozen quote of the
 * same sale. Null where anything else counts for the invoice, which then stays as it is; a part does not count against all
 * of it, and is listed. Under the lock of the invoice.
 */
export async function takeBack(
  deps: SettleDeps,
  tx: Tx,
  invoice: InvoiceRow,
  { chain, brings, now, except, actor = 'observer' }: Coming,
): Promise<InvoiceRow | null> {
  if (invoice.status === 'confirmed') return null;
  const before = await offeredIn(tx, invoice, chain);
  if (!before || before.chain === invoice.chain) return null;
  const own = (await transfersOfInvoice(tx, invoice.id)).filter(
    ({ id, state }) => id !== except && state !== 'gone',
  );
  const parts = own.filter(({ disposition }) => disposition === 'matched');
  if (brings !== 'named' && own.length > 0 && !outweighs(invoice, before, { brings, parts })) return null;
  const is_open = invoice.status === 'created';
  const terms = await relinked(deps, tx, before);
  const changed = is_open ? NOTHING_CAME : { ...NOTHING_CAME, payment_id: null };
  const moved = await putTerms(tx, invoice, { terms, returns: true, changed });
  if (is_open) await movePaymentTo(tx, moved);
  else await unseatPayment(tx, moved, now);
  await noteSwitch(deps, tx, moved, { from: invoice.chain, actor, now });
  for (const part of parts) {
    await placeTransfers(tx, [part.id], { disposition: 'late' }, now);
    await recordLate({ deps, tx, now }, moved, part, `a part in ${part.chain}; all of it came in ${chain}`);
  }
  return moved;
}

/** Whether what came is all that was asked for in its coin, and what came before is a part. */
function outweighs(
  invoice: InvoiceRow,
  before: InvoiceRow,
  { brings, parts }: { brings: bigint; parts: readonly TransferRow[] },
): boolean {
  const received = parts.reduce((sum, row) => sum + BigInt(row.amount_atomic), 0n);
  const is_part = received < BigInt(invoice.amount_atomic);
  return invoice.status === 'created' && is_part && brings >= BigInt(before.amount_atomic);
}

async function noteSwitch(
  deps: SettleDeps,
  tx: Tx,
  invoice: InvoiceRow,
  { from, actor, now }: { from: string; actor: string; now: number },
): Promise<void> {
  const { id, status, chain, owner_id: merchant_id } = invoice;
  const why = actor === 'buyer' ? 'its buyer chose it' : 'it was paid as asked for before';
  await insertLog(tx, {
    payment_id: null,
    invoice_id: id,
    from_status: status,
    to_status: status,
    txid: null,
    confirmations: 0,
    note: `to be paid in ${chain}, no longer in ${from}: ${why}`,
    actor,
    created_at: now,
  });
  const payment = (await mainPayment(tx, id)) ?? null;
  await writeEvent(deps, tx, 'invoice.switched', { merchant_id, invoice, payment, now });
}

/** The step with an invoice that a part, paid in time, has given more time; once. */
export async function prolongForPart(step: Step, transfers: readonly TransferRow[]): Promise<Step> {
  const { deps, tx, invoice, now, actor } = step;
  const received = transfers.reduce((sum, row) => sum + BigInt(row.amount_atomic), 0n);
  const amount_atomic = BigInt(invoice.amount_atomic);
  const expires_at = prolongedUntil({ ...invoice, amount_atomic }, { received, now });
  if (expires_at === null) return step;
  const later = { ...invoice, ...laterBy(invoice, expires_at), prolonged_at: now };
  const moved = await relinked(deps, tx, later);
  await prolong(tx, moved);
  await watchOffers(tx, moved);
  await insertLog(tx, {
    payment_id: null,
    invoice_id: invoice.id,
    from_status: invoice.status,
    to_status: invoice.status,
    txid: transfers.at(-1)?.txid ?? null,
    confirmations: 0,
    note: `${expires_at - invoice.expires_at} seconds more for the rest: a part was paid in time`,
    actor,
    created_at: now,
  });
  return { ...step, invoice: moved };
}
