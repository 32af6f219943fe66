// How many confirmations a payment waits for, by the value of its invoice.
import { parseDecimal, USD_DECIMALS } from './money.ts';

/** Invoices below `below_usd` wait for `blocks` confirmations; the last step has no bound. */
export interface ConfirmationStep {
  /** A plain decimal of USD; absent in the last step. */
  below_usd?: string;
  blocks: number;
}

/** More would be no steps any more. */
const MAX_STEPS = 10;
/** The most confirmations that a setting may ask for. */
export const MAX_CONFIRMATIONS = 10_000;
const USD = /^\d{1,9}(\.\d{1,6})?$/;

/** The steps of a setting, or as a text what is wrong with it. */
export function readSteps(value: unknown): ConfirmationStep[] | string {
  if (!Array.isArray(value) || value.length === 0)
    return 'must be a list like [{ "below_usd": 1000, "blocks": 1 }, { "blocks": 3 }]';
  if (value.length > MAX_STEPS) return `must have at most ${MAX_STEPS} steps`;
  const steps: ConfirmationStep[] = [];
  for (const [at, member] of value.entries()) {
    const step = readStep(member, at === value.length - 1);
    const fault = typeof step === 'string' ? step : faultAfter(steps.at(-1), step);
    if (fault !== null) return `step ${at + 1}: ${fault}`;
    steps.push(step as ConfirmationStep);
  }
  return steps;
}

function readStep(member: unknown, is_last: boolean): ConfirmationStep | string {
  if (typeof member !== 'object' || member === null || Array.isArray(member))
    return 'must be an object like { "below_usd": 1000, "blocks": 1 }';
  const { below_usd, blocks, ...others } = member as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `unknown member ${unknown}: it has below_usd and blocks`;
  if (!Number.isInteger(blocks) || (blocks as number) < 1 || (blocks as number) > MAX_CONFIRMATIONS)
    return `blocks must be a whole number from 1 to ${MAX_CONFIRMATIONS}`;
  if (below_usd === undefined)
    return is_last ? { blocks: blocks as number } : 'below_usd is missing; only the last step has none';
  if (is_last) return 'the last step is for all larger invoices: it has no below_usd';
  const text = typeof below_usd === 'number' ? String(below_usd) : below_usd;
  if (typeof text !== 'string' || !USD.test(text) || micros(text) === 0n)
    return 'below_usd must be a plain decimal number above 0';
  return { below_usd: text, blocks: blocks as number };
}

function faultAfter(before: ConfirmationStep | undefined, step: ConfirmationStep): string | null {
  if (!before) return null;
  if (step.below_usd !== undefined && micros(step.below_usd) <= micros(before.below_usd ?? '0'))
    return 'below_usd must grow from step to step';
  return step.blocks < before.blocks ? 'blocks must not fall from step to step' : null;
}

/** What an invoice of this volume (USD micros) waits for; `least` where there are no steps, and never fewer. */
export function blocksFor(steps: readonly ConfirmationStep[], usd_micros: bigint, least: number): number {
  const step = steps.find(({ below_usd }) => below_usd === undefined || usd_micros < micros(below_usd));
  return Math.max(least, step?.blocks ?? least);
}

const micros = (usd: string): bigint => parseDecimal(usd, USD_DECIMALS) ?? 0n;
