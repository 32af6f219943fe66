// Finds the invoice that each credit of a transaction pays: by memo, by reference, by its reserved amount, or by their sum.
import { ownersAt } from '../../data/addresses.ts';
import type { Executor } from '../../data/db/open.ts';
import { invoiceByMemo, invoicesByAmount, invoicesByReference } from '../../data/invoices.ts';
import { holderOf } from '../../data/reservations.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { Transfer } from '../../src/chains/family.ts';
import { type Match, match } from '../../src/match.ts';

/** Matches each by itself; what stays unmatched may match as a sum of the outputs of one transaction. */
export async function matchGroup(
  query: Executor,
  blockchain: string,
  group: readonly Transfer[],
): Promise<Match<InvoiceRow>[]> {
  const matches: Match<InvoiceRow>[] = [];
  for (const transfer of group) matches.push(await matchOne(query, blockchain, transfer));
  const first = group[0];
  if (first && group.length > 1 && matches.every((found) => found.disposition === 'unmatched')) {
    const amount_atomic = group.reduce((sum, transfer) => sum + transfer.amount_atomic, 0n);
    const found = await matchOne(query, blockchain, { ...first, amount_atomic });
    if (found.disposition !== 'unmatched') return group.map(() => found);
  }
  return matches;
}

async function matchOne(query: Executor, blockchain: string, transfer: Transfer): Promise<Match<InvoiceRow>> {
  const { address_key, chain, memo } = transfer;
  const by_memo = memo === null ? undefined : await invoiceByMemo(query, blockchain, address_key, memo);
  const named = await invoicesByReference(query, transfer.references);
  // One transaction may pay several invoices, and carries the references of all: this credit can mean its own only.
  const payable = named.filter((each) => each.address_key === address_key && each.chain === chain);
  const meant = payable.find(({ id }) => id === by_memo?.id);
  if (payable.length > 1 && !meant)
    return { disposition: 'unmatched', reason: 'carries the references of several invoices' };
  return match(transfer, {
    by_memo,
    by_reference: meant ?? payable[0] ?? named[0],
    by_amount: await reservedFor(query, blockchain, transfer),
  });
}

/** Invoices that have reserved the amount: where several accounts use the address, those first that go before the others. */
async function reservedFor(
  query: Executor,
  blockchain: string,
  { address_key, chain, amount_atomic }: Transfer,
): Promise<InvoiceRow[]> {
  const slot = { blockchain, address_key, chain, amount_atomic: amount_atomic.toString() };
  const found = await invoicesByAmount(query, slot);
  if (found.length < 2) return found;
  const order = await ownersAt(query, slot);
  const rank = (invoice: InvoiceRow) => {
    const holder = holderOf(invoice);
    const at = order.findIndex(({ owner_id }) => owner_id === holder);
    return at < 0 ? order.length : at;
  };
  return found.sort((a, b) => rank(a) - rank(b));
}
