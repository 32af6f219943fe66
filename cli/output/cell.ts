// One member of a reply for a person: money with its sign, times in words, objects without braces.
import { amountOf, coins, dollars } from './money.ts';
import { clean } from './text.ts';
import { isRow, memberOf, moment, type Row, relative, shortId, show } from './value.ts';

/** How much room a value may take: whole, or short, as a table needs it where not all has room; ids before times. */
export type Size = 'whole' | 'short ids' | 'short';

const ID = /(^|[._])id$/;
const DOLLARS = /(^|_)usd$|^(limit_of_payments|fee_charged)$/;
const COINS = /^(amount|received_amount|amount_merchant|amount_fee)$/;
const ISO = /^\d{4}-\d\d-\d\dT/;

const lastOf = (name: string): string => name.replace(/^.*\./, '');
const parentOf = (row: unknown, name: string): unknown =>
  name.includes('.') ? memberOf(row, name.replace(/\.[^.]*$/, '')) : row;

/** Whether its values stand at the right: money and counts. */
export const isNumeric = (name: string, values: readonly unknown[]): boolean =>
  DOLLARS.test(lastOf(name)) ||
  COINS.test(lastOf(name)) ||
  (!name.endsWith('_at') && values.length > 0 && values.every((value) => typeof value === 'number'));

/** The members to show: a currency stands with its amount. */
export const shownNames = (names: readonly string[]): readonly string[] =>
  names.filter(
    (name) =>
      lastOf(name) !== 'currency' || !names.some((other) => other === name.replace(/currency$/, 'amount')),
  );

/** A member, by its dotted name, as one line. */
export function cell(row: unknown, name: string, size: Size, now_s: number): string {
  const value = memberOf(row, name);
  const last = lastOf(name);
  const at = momentOf(last, value);
  if (at !== undefined) return size === 'short' ? relative(at, now_s) : moment(at, now_s);
  const parent = parentOf(row, name);
  if (COINS.test(last) && isRow(parent) && typeof parent.currency === 'string') {
    const amount = (last === 'amount' ? amountOf(parent) : value) as string | null;
    return parent.currency === 'USD' ? dollars(amount) : coins(amount, parent.currency);
  }
  if (DOLLARS.test(last) && typeof value === 'string') return dollars(value);
  if (ID.test(name) && typeof value === 'string') return clean(size === 'whole' ? value : shortId(value));
  return phrase(last, value);
}

/** Unix seconds of a time, whichever way it is written. */
const momentOf = (name: string, value: unknown): number | undefined =>
  typeof value === 'number' && name.endsWith('_at')
    ? value
    : typeof value === 'string' && /(^|_)(at|timestamp)$/.test(name) && ISO.test(value)
      ? Math.floor(Date.parse(value) / 1000)
      : undefined;

/** Objects as their members in words; a list of them by what tells them apart. */
export function phrase(name: string, value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0
      ? '–'
      : value.map((item) => (isRow(item) ? valuesOf(item) : phrase('', item))).join(', ');
  if (!isRow(value)) return show(name, value, true);
  return Object.entries(value)
    .filter(([, member]) => member !== null)
    .map(([key, member]) => `${clean(key.replaceAll('_', ' '))} ${phrase(key, member)}`)
    .join(', ');
}

/** What an object holds, on one line, without names. */
export const valuesOf = (row: Row): string =>
  Object.entries(row)
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => phrase(name, value))
    .join('  ');
