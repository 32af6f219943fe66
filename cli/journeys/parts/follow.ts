// Following one invoice until it ends: each state that differs from the one before.
import { setTimeout as sleep } from 'node:timers/promises';
import { getPublicInvoice } from '../../../src/api/endpoints/buyer.ts';
import type { Context, Own } from '../../engine/command.ts';
import { GwError, milliseconds } from '../../engine/errors.ts';
import type { Flag } from '../../engine/flag.ts';
import type { Invoice } from '../../output/invoice-card.ts';
import { say } from '../../output/io.ts';

const DEFAULT_INTERVAL = '2s';
/** More often would only repeat what the observer has not read yet. */
const MIN_INTERVAL_MS = 200;
/** Failed readings in a row after which waiting ends. */
const MAX_FAILURES = 30;
const MAX_BACKOFF_MS = 15_000;

/** `--interval`, as `intervalOf` reads it. */
export const intervalFlag: Flag = {
  field: 'interval',
  name: 'interval',
  place: 'own',
  kind: 'text',
  value: 'duration',
  help: `how often to check (default: ${DEFAULT_INTERVAL})`,
};

export const intervalOf = (own: Own): number =>
  Math.max(MIN_INTERVAL_MS, milliseconds(String(own.interval ?? DEFAULT_INTERVAL), '--interval'));

export const hasEnded = ({ status }: Pick<Invoice, 'status'>): boolean => status !== 'created';

/** What changes for a person who follows an invoice. */
const stateOf = (invoice: Invoice): string =>
  JSON.stringify([
    invoice.status,
    invoice.amount_match,
    invoice.received_amount,
    invoice.confirmations,
    invoice.txid,
  ]);

/** One reading, which a signal ends though the answer is still awaited. */
function read(context: Context, invoice_id: string, ended: AbortSignal | undefined): Promise<Invoice> {
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
  let state = '';
  let failures = 0;
  while (!options.signal?.aborted) {
    try {
      const invoice = await read(context, invoice_id, options.signal);
      failures = 0;
      if (stateOf(invoice) !== state) yield invoice;
      state = stateOf(invoice);
      if (hasEnded(invoice)) return;
    } catch (error) {
      // Nothing waits any longer: why the last reading failed does not matter.
      if (options.signal?.aborted) return;
      const passing = error instanceof GwError && (error.kind === 'unreachable' || error.kind === 'retry');
      if (!passing || ++failures >= MAX_FAILURES || state === '') throw error;
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
