// What a person says of a payment without booking it: a note, that it waits no longer, or that it waits again.
import { accountsAt, standingsOf } from '../../data/addresses.ts';
import { countLogsBy, dismissPayment, getPayment, insertLog, reopenPayment } from '../../data/payments.ts';
import type { PaymentRow } from '../../data/schema/tables.ts';
import { lockTransfers, transfersOfPayment } from '../../data/transfers.ts';
import { Refusal } from '../../src/errors.ts';
import { seconds } from '../clock.ts';
import type { SettleDeps } from './step.ts';

export interface Remark {
  note: string;
  /** True: it waits no longer. False: it waits again. Absent: as it is. */
  dismissed?: boolean | undefined;
}

/** Who says it; `owner_id` where it is the merchant, who may say something of what is his alone. */
export interface Speaker {
  actor: string;
  owner_id: string | null;
}

/** The log is read by others too, within a limit: no merchant fills it. */
const REMARKS_OF_MERCHANT = 50;

const actionOf = (dismissed: boolean | undefined): string =>
  dismissed === undefined ? 'noted' : dismissed ? 'closed without booking' : 'waits again';

/**
 * Writes it into the log of the payment, with who wrote it; neither books nor balances change. Where it stands so already
 * nothing is written. False then. Refuses with `payment_not_found`, `payment_not_waiting`, `operator_decides` or `bad_request`.
 */
export async function remark(
  { db, clock, config }: Pick<SettleDeps, 'db' | 'clock' | 'config'>,
  payment_id: string,
  { note, dismissed }: Remark,
  { actor, owner_id }: Speaker,
): Promise<boolean> {
  if (note.trim() === '') throw new Refusal('bad_request', { detail: 'Say why in `note`' });
  const now = seconds(clock);
  return db.transaction(async (tx) => {
    const transfers = await transfersOfPayment(tx, payment_id);
    // Locked, so that its log has one order, and nothing of it is booked meanwhile.
    await lockTransfers(
      db,
      tx,
      transfers.map(({ id }) => id),
    );
    const known = await getPayment(tx, payment_id);
    if (!known) throw new Refusal('payment_not_found');
    const isSo = dismissed === (known.dismissed === 1);
    if (isSo) return false;
    if (owner_id !== null) {
      if (dismissed !== undefined)
        for (const { blockchain, address_key } of transfers) {
          const blockchains = [blockchain, ...config.chains.sharingAddresses(blockchain)];
          refuseShared(standingsOf(await accountsAt(tx, { blockchains, address_key })), owner_id);
        }
      if ((await countLogsBy(tx, payment_id, actor)) >= REMARKS_OF_MERCHANT)
        throw new Refusal('bad_request', {
          detail: `A payment takes at most ${REMARKS_OF_MERCHANT} notes of its merchant`,
        });
    }
    const payment =
      dismissed === undefined
        ? known
        : dismissed
          ? await dismissPayment(tx, payment_id, { by: actor, note, now })
          : await reopenPayment(tx, payment_id, { by: owner_id === null ? null : actor, now });
    if (!payment) throw new Refusal(dismissed ? 'payment_not_waiting' : 'operator_decides');
    await insertLog(tx, logOf(payment, { note: `${actionOf(dismissed)}: ${note}`, actor, now }));
    return true;
  });
}

/** Another account that is paid at the address may be the one that was paid: no account decides alone. */
function refuseShared(owners: readonly { owner_id: string | null }[], owner_id: string): void {
  if (owners.some((other) => other.owner_id !== owner_id))
    throw new Refusal('operator_decides', { detail: 'Another account is paid at this address too' });
}

const logOf = (
  { id, invoice_id, status, txid, confirmations }: PaymentRow,
  { note, actor, now }: { note: string; actor: string; now: number },
) => ({
  payment_id: id,
  invoice_id,
  from_status: status,
  to_status: status,
  txid,
  confirmations,
  note,
  actor,
  created_at: now,
});
