// What the facts of several views are made of.
import { parseDecimal } from '../../../src/money.ts';
import type { Section } from '../../output/card.ts';

/** No coin has more. */
const DECIMALS = 18;

/** For sorting: more is more, and what has no amount is least. */
export const byAmount = (amount: string | null | undefined): bigint =>
  parseDecimal(amount ?? '', DECIMALS) ?? -1n;

export const facts = (rows: Section['rows'], title = ''): Section => ({ title, rows });

export const optional = (label: string, text: string | null | undefined): [string, string][] =>
  text === null || text === undefined || text === '' ? [] : [[label, text]];

/** Lines under a title; without lines nothing is shown. */
export const listed = (title: string, texts: readonly string[]): Section => ({
  title,
  rows: texts.map((text) => ['', text]),
});
