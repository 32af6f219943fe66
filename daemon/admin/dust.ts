// Sums of dust as operators and merchants read them.
import type { z } from 'zod';
import type { DustRow } from '../../data/schema/tables.ts';
import type { DustSum } from '../../src/api/schemas/resources.ts';
import { dateOf } from '../../src/dust.ts';
import { formatDecimal } from '../../src/money.ts';
import type { App } from '../context.ts';

/** Days of an address that one reply shows. */
export const DUST_SHOWN = 50;

export function presentDust(
  { config }: Pick<App, 'config'>,
  { chain, address_key, day, count, amount_atomic }: DustRow,
): z.output<typeof DustSum> {
  const { decimals = 0, asset } = config.chains.values.find((value) => value.chain === chain) ?? {};
  const amount = formatDecimal(BigInt(amount_atomic), decimals);
  return { chain, currency: asset?.currency ?? chain, address_key, day: dateOf(day), count, amount };
}
