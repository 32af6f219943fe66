// Watching an invoice: a screen on a terminal, a line for each change elsewhere.
import type { Context, Own } from '../../engine/command.ts';
import type { Invoice } from '../../output/invoice-card.ts';
import { print, printJsonLine } from '../../output/io.ts';
import { deep } from '../../output/money.ts';
import { clean } from '../../output/text.ts';
import { pick } from '../../output/view.ts';
import { follow, intervalOf, requirePaid } from './follow.ts';
import { isLive } from './live.ts';

/** `gw invoice watch`: a screen on a terminal, a line for each change elsewhere. */
export async function watchInvoice(context: Context, { id }: { id: string }, own: Own): Promise<void> {
  const { io } = context;
  const interval_ms = intervalOf(own);
  if (isLive(io, own)) {
    const { watchScreen } = await import('../../screens/watch.tsx');
    return requirePaid(await watchScreen(context, id, interval_ms));
  }
  let last: Invoice | undefined;
  for await (const invoice of follow(context, id, { interval_ms })) {
    last = invoice;
    if (io.json !== false) printJsonLine(io, io.json === true ? invoice : pick(invoice, io.json));
    else
      print(
        io,
        [
          new Date().toISOString(),
          invoice.status,
          invoice.amount_match,
          deep(invoice.confirmations),
          invoice.txid ?? '',
        ]
          .map((text) => clean(text))
          .join('\t'),
      );
  }
  if (last) requirePaid(last);
}
