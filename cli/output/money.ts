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
