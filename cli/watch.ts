// Following one invoice until it ends: a line for each change, or a screen on a terminal.
import { setTimeout as sleep } from 'node:timers/promises';
import { getPublicInvoice } from '../src/api/endpoints/buyer.ts';
import type { Context } from './command.ts';
import { GwError, milliseconds } from './errors.ts';
import type { Invoice } from './invoice-card.ts';
import { print, printJsonLine, say } from './io.ts';
import { isLive } from './live.ts';
import { clean } from './text.ts';
import { pick } from './view.ts';

export const DEFAULT_INTERVAL = '2s';
/** More often would only repeat what the observer has not read yet. */
const MIN_INTERVAL_MS = 200;
/** Failed readings in a row after which waiting ends. */
const MAX_FAILURES = 30;
const MAX_BACKOFF_MS = 15_000;

export const intervalOf = (own: Record<string, unknown>): number =>
  Math.max(MIN_INTERVAL_MS, milliseconds(String(own.interval ?? DEFAULT_INTERVAL), '--interval'));

export const hasEnded = ({ status }: Pick<Invoice, 'status'>): boolean => status !== 'created';

/** What makes an invoice look different to whoever follows it. */
const faceOf = (invoice: Invoice): string =>
  JSON.stringify([
    invoice.status,
    invoice.amount_match,
    invoice.received_amount,
    invoice.confirmations,
    invoice.txid,
  ]);

/** One look, which a signal ends though the answer is still awaited. */
function look(context: Context, invoice_id: string, ended: AbortSignal | undefined): Promise<Invoice> {
  const { signal } = context.callOptions(getPublicInvoice);
  const signals = [signal, ended].filter((one) => one !== undefined);
  return context.call(getPublicInvoice, { params: { invoice_id } }, { signal: AbortSignal.any(signals) });
}

/** Each state of the invoice that differs from the one before, the present one first; ends with the invoice. */
export async function* follow(
  context: Context,
  invoice_id: string,
  options: { interval_ms: number; signal?: AbortSignal },
): AsyncGenerator<Invoice, void> {
  let face = '';
  let failures = 0;
  while (!options.signal?.aborted) {
    try {
      const invoice = await look(context, invoice_id, options.signal);
      failures = 0;
      if (faceOf(invoice) !== face) yield invoice;
      face = faceOf(invoice);
      if (hasEnded(invoice)) return;
    } catch (error) {
      // Whoever waits no longer does not want to know why the last look failed.
      if (options.signal?.aborted) return;
      const passing = error instanceof GwError && (error.kind === 'unreachable' || error.kind === 'retry');
      if (!passing || ++failures >= MAX_FAILURES || face === '') throw error;
      say(context.io, `${error.message}; trying again`);
    }
    const wait = Math.min(
      options.interval_ms * 2 ** Math.min(failures, 8),
      Math.max(MAX_BACKOFF_MS, options.interval_ms),
    );
    await sleep(wait, undefined, options.signal ? { signal: options.signal } : {}).catch(() => {});
  }
}

/** Refuses with exit code 6 what ended without payment. */
export function requirePaid({ status, id }: Invoice): void {
  if (status === 'confirmed' || status === 'created') return;
  throw new GwError('ended', `the invoice is ${status}`, {
    code: `invoice_${status}`,
    hint: `gw payment get ${id} shows what was seen`,
  });
}

/** `gw invoice watch`: a screen on a terminal, a line for each change elsewhere. */
export async function watchInvoice(context: Context, { id }: { id: string }): Promise<void> {
  const { io } = context;
  const interval_ms = intervalOf(context.own);
  if (isLive(context)) {
    const { watchScreen } = await import('./screens/watch.tsx');
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
          `${invoice.confirmations} confirmations`,
          invoice.txid ?? '',
        ]
          .map((text) => clean(text))
          .join('\t'),
      );
  }
  if (last) requirePaid(last);
}
