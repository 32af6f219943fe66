// Amounts as a person reads them: dollars with their sign, coins with their ticker.
import { clean } from './text.ts';

const CENTS = 2;

/** `12.5` → `$12.50`, `-3` → `-$3.00`; a fraction of a cent keeps its digits. */
export function dollars(amount: string | null): string {
  if (amount === null) return '–';
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  return whole === '' ? clean(amount) : `${sign}$${whole}.${fraction.padEnd(CENTS, '0')}`;
}

/** `0.5 TON`. */
export const coins = (amount: string | null, currency: string): string =>
  amount === null ? '–' : clean(`${amount} ${currency}`);

/** `1 confirmation`, `32 confirmations`. */
export const deep = (confirmations: number): string =>
  `${confirmations} ${confirmations === 1 ? 'confirmation' : 'confirmations'}`;

/** Money that has come without being asked for, or when it was no longer: what came is what there is. */
const CAME: ReadonlySet<string> = new Set(['late', 'unmatched', 'orphaned']);

/** The amount of an invoice or a payment: what is asked for, or what has come where nothing is. */
export const amountOf = (row: {
  status?: string;
  amount?: string | null;
  received_amount?: string | null;
}): string | null =>
  CAME.has(row.status ?? '') && row.received_amount != null
    ? row.received_amount
    : (row.amount ?? row.received_amount ?? null);
