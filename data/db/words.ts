// The few words of SQL in which the databases differ. Amounts are texts of integers, of any length.
import type { Dialect } from './database.ts';

export interface Words {
  /** The sum of amounts, as a text; '0' of none. */
  sum(amount: string): string;
  plus(one: string, other: string): string;
  /** An amount with so many zeros behind it. */
  pad(amount: string, zeros: string): string;
  less(one: string, other: string): string;
  /** Whether a text is an integer of at least zero without leading zeros. */
  canonical(text: string): string;
  /** The day of Unix seconds, `YYYY-MM-DD`, UTC. */
  day(seconds: string): string;
  /** Where a text stands in another, from 1 on; 0 for nowhere. */
  at(text: string, part: string): string;
  /** Whether a text is of these characters, so many. */
  spelled(text: string, alphabet: string, length: number): string;
  /** Whether coin amounts are what a price is at a rate; see `quoteFits` of exact.ts. */
  quoteFits(of: QuoteColumns): string;
}

export interface QuoteColumns {
  usd: string;
  usd_fee: string;
  rate: string;
  decimals: string;
  /** Decimals that a buyer is asked to pay with. */
  payable: string;
  merchant: string;
  fee: string;
  /** Payable steps that the tail may have at least, however small the price. */
  steps: string;
}

const MOST_ZEROS = 40;

const sqlite: Words = {
  sum: (amount) => `exact_sum(${amount})`,
  plus: (one, other) => `exact_plus(${one}, ${other})`,
  pad: (amount, zeros) => `(${amount} || substr('${'0'.repeat(MOST_ZEROS)}', 1, max(0, ${zeros})))`,
  less: (one, other) =>
    `(length(${one}) < length(${other}) or (length(${one}) = length(${other}) and ${one} < ${other}))`,
  canonical: (text) =>
    `(${text} <> '' and ${text} not glob '*[^0-9]*' and (${text} = '0' or ${text} not glob '0*'))`,
  day: (seconds) => `date(${seconds}, 'unixepoch')`,
  at: (text, part) => `instr(${text}, ${part})`,
  spelled: (text, alphabet, length) =>
    `(length(${text}) = ${length} and ${text} not glob '*[^${alphabet}]*')`,
  quoteFits: ({ usd, usd_fee, rate, decimals, payable, merchant, fee, steps }) =>
    `(quote_fits(${[usd, usd_fee, rate, decimals, payable, merchant, fee, steps].join(', ')}) = 1)`,
};

const number = (text: string): string => `(${text})::numeric`;
/** 10 to the power of so many. */
const tenTo = (decimals: string): string => `('1' || repeat('0', (${decimals})::integer))::numeric`;
const upTo = (value: string, divisor: string): string => `div(${value} + ${divisor} - 1, ${divisor})`;

const postgres: Words = {
  sum: (amount) => `coalesce(sum(${number(amount)}), 0)::text`,
  plus: (one, other) => `(${number(one)} + ${number(other)})::text`,
  pad: (amount, zeros) => `(${amount} || repeat('0', ${zeros}))`,
  less: (one, other) => `(${number(one)} < ${number(other)})`,
  canonical: (text) => `(${text} ~ '^(0|[1-9][0-9]*)$')`,
  day: (seconds) => `to_char(to_timestamp(${seconds}) at time zone 'UTC', 'YYYY-MM-DD')`,
  at: (text, part) => `strpos(${text}, ${part})`,
  spelled: (text, alphabet, length) =>
    `(length(${text}) = ${length} and translate(${text}, '${alphabet}', '') = '')`,
  quoteFits({ usd, usd_fee, rate, decimals, payable, merchant, fee, steps }) {
    const scale = tenTo(`${decimals} + 3`);
    const step = tenTo(`${decimals} - ${payable}`);
    const least = upTo(`(${usd} - 1) * ${scale}`, number(rate));
    const most = `(${upTo(`(${usd} + 1) * ${scale}`, number(rate))} + ${step})`;
    const least_fee = upTo(`${usd_fee} * ${scale}`, number(rate));
    return `(case when ${number(rate)} <= 0 then false else
      ${number(merchant)} >= ${least} and ${number(merchant)} <= ${most} + greatest(div(${most} + ${number(fee)}, 100), (${steps}) * ${step})
      and ${number(fee)} >= ${least_fee}
      and ${number(fee)} <= case when ${usd_fee} = 0 then 0 else ${least_fee} + ${step} end end)`;
  },
};

export const words: Record<Dialect, Words> = { sqlite, postgres };
