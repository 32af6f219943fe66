// How deep in its chain a payment must be, by the value of its invoice: in blocks, in seconds, or until the chain calls it final.
import { parseDecimal, USD_DECIMALS } from './money.ts';

/** What a step asks for; exactly one of them. */
export interface Measure {
  /** Where the work in blocks protects, or the operator counts them. */
  blocks?: number;
  /** Of the chain's own time: blocks get shorter by upgrades, and a number of them would protect less without any error. */
  seconds?: number;
  /** The chain's own word. */
  until?: 'finalized';
}

/** Invoices below `below_usd` wait for this; the last step has no bound. */
export interface ConfirmationStep extends Measure {
  /** A plain decimal of USD; absent in the last step. */
  below_usd?: string;
}

/** What an invoice waits for, frozen when it is made. What its chain itself calls final counts in any case. */
export interface Wait {
  /** Decides where there are no seconds; elsewhere it is what these were at the pace of then, and only shown. */
  min_confirmations: number;
  /** Null where blocks decide. */
  confirm_seconds: number | null;
  /** 1: nothing but the chain's own word counts; `confirm_seconds` is what that usually takes, and only shown. */
  until_final: 0 | 1;
}

/** Where a payment stands in its chain. */
export interface Depth {
  height: number | null;
  confirmations: number;
  /** As of a transfer; null or absent where it is not known. */
  depth_seconds?: number | null;
}

/** How fast a chain makes blocks, and how soon it calls one final. */
export interface Usual {
  block_seconds: number;
  /** Absent where the chain says so of no block, or of each at once. */
  final_seconds?: number;
}

/** More would be no steps any more. */
const MAX_STEPS = 10;
/** The most confirmations that a setting may ask for. */
export const MAX_CONFIRMATIONS = 10_000;
/** The most seconds that a setting may ask for: a payment is waited for no longer than a day. */
export const MAX_CONFIRM_SECONDS = 43_200;
/** A number that is shown for seconds has room for one that is not there yet. */
const LEAST_SHOWN = 2;
const QUOTIENT_SCALE = 1_000_000;
const USD = /^\d{1,9}(\.\d{1,6})?$/;
const LIKE = 'like [{ "below_usd": 1000, "blocks": 1 }, { "blocks": 3 }]';
const KINDS = ['blocks', 'seconds', 'until'] as const;

/** The steps of a setting, or as a text what is wrong with it. */
export function readSteps(value: unknown): ConfirmationStep[] | string {
  if (!Array.isArray(value) || value.length === 0) return `must be a list ${LIKE}`;
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
  const { below_usd, blocks, seconds, until, ...others } = member as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    return `unknown member ${unknown}: it has below_usd and one of ${KINDS.join(', ')}`;
  const measure = readMeasure({ blocks, seconds, until });
  if (typeof measure === 'string') return measure;
  if (below_usd === undefined) return is_last ? measure : 'below_usd is missing; only the last step has none';
  if (is_last) return 'the last step is for all larger invoices: it has no below_usd';
  const text = typeof below_usd === 'number' ? String(below_usd) : below_usd;
  if (typeof text !== 'string' || !USD.test(text) || micros(text) === 0n)
    return 'below_usd must be a plain decimal number above 0';
  return { below_usd: text, ...measure };
}

function readMeasure(given: Record<(typeof KINDS)[number], unknown>): Measure | string {
  const { blocks, seconds, until } = given;
  const [kind, another] = KINDS.filter((name) => given[name] !== undefined);
  if (another !== undefined) return `${kind} and ${another} are two measures: leave one of them out`;
  if (kind === 'until')
    return until === 'finalized' ? { until } : 'until must be "finalized", the word of the chain itself';
  if (kind === 'seconds')
    return isWhole(seconds, MAX_CONFIRM_SECONDS)
      ? { seconds }
      : `seconds must be a whole number from 1 to ${MAX_CONFIRM_SECONDS}`;
  return isWhole(blocks, MAX_CONFIRMATIONS)
    ? { blocks }
    : `blocks must be a whole number from 1 to ${MAX_CONFIRMATIONS}`;
}

const isWhole = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;

function faultAfter(before: ConfirmationStep | undefined, step: ConfirmationStep): string | null {
  if (!before) return null;
  if (step.below_usd !== undefined && micros(step.below_usd) <= micros(before.below_usd ?? '0'))
    return 'below_usd must grow from step to step';
  if (step.until) return null;
  if (before.until) return 'nothing waits longer than until "finalized"';
  if ((before.blocks === undefined) !== (step.blocks === undefined))
    return 'blocks and seconds cannot be compared: use one of them in all steps';
  const name = step.blocks === undefined ? 'seconds' : 'blocks';
  return (step[name] ?? 0) < (before[name] ?? 0) ? `${name} must not fall from step to step` : null;
}

/** What an invoice of this volume (USD micros) waits for; undefined where there are no steps. */
export const stepFor = (
  steps: readonly ConfirmationStep[],
  usd_micros: bigint,
): ConfirmationStep | undefined =>
  steps.find(({ below_usd }) => below_usd === undefined || usd_micros < micros(below_usd));

const micros = (usd: string): bigint => parseDecimal(usd, USD_DECIMALS) ?? 0n;

/** The same, and never less than the other; `block_seconds` is what a block counts where one has seconds and the other blocks. */
export function atLeast<T extends Measure>(step: T, least: Measure, block_seconds: number): T {
  if (step.until || (least.blocks === undefined && least.seconds === undefined)) return step;
  const { blocks, seconds: _, ...rest } = step;
  if (blocks !== undefined && least.seconds === undefined)
    return { ...rest, blocks: Math.max(blocks, least.blocks ?? 1) } as T;
  const seconds = Math.max(secondsOf(step, block_seconds), secondsOf(least, block_seconds));
  return { ...rest, seconds } as T;
}

const secondsOf = ({ blocks = 1, seconds }: Measure, block_seconds: number): number =>
  seconds ?? Math.ceil(blocks * block_seconds);

/** How many blocks these seconds are at this pace: what is shown, and never what decides. */
export const blocksIn = (seconds: number, block_seconds: number): number =>
  // A quotient such as 30 / 0.2 must not come out one block longer for its last binary digit.
  Math.max(LEAST_SHOWN, Math.ceil(Math.round((seconds / block_seconds) * QUOTIENT_SCALE) / QUOTIENT_SCALE));

/** What an invoice is to wait for, where blocks come at this pace. */
export function waitOf({ blocks, seconds, until }: Measure, usual: Usual): Wait {
  if (until) {
    const confirm_seconds = Math.max(1, Math.ceil(usual.final_seconds ?? 1));
    const min_confirmations = blocksIn(confirm_seconds, usual.block_seconds);
    return { min_confirmations, confirm_seconds, until_final: 1 };
  }
  return seconds === undefined
    ? { min_confirmations: blocks ?? 1, confirm_seconds: null, until_final: 0 }
    : { min_confirmations: blocksIn(seconds, usual.block_seconds), confirm_seconds: seconds, until_final: 0 };
}

/** Whether a payment is as deep as is asked for, whatever its chain says of it. What is in no block never is. */
export function isDeep(wait: Wait, { height, confirmations, depth_seconds }: Depth): boolean {
  if (height === null || wait.until_final === 1) return false;
  // A depth that is not known is none: blocks in its place would protect less where they have become shorter.
  return wait.confirm_seconds === null
    ? confirmations >= wait.min_confirmations
    : (depth_seconds ?? -1) >= wait.confirm_seconds;
}

/**
 * The confirmations that are shown next to `min_confirmations`. Where time decides they are its share of the seconds, so
 * that they reach that number when the payment counts, and not before, however fast blocks come meanwhile.
 */
export function shownConfirmations(wait: Wait, at: Depth, is_final: boolean): number {
  const { min_confirmations, confirm_seconds } = wait;
  if (confirm_seconds === null || at.confirmations === 0) return at.confirmations;
  if (is_final || isDeep(wait, at)) return Math.max(at.confirmations, min_confirmations);
  const share = Math.floor((min_confirmations * Math.max(0, at.depth_seconds ?? 0)) / confirm_seconds);
  return Math.max(1, Math.min(share, min_confirmations - 1));
}
