// Work on answers of any size, in steps: between two of them whoever does it may let others have their turn.
import type { Rpc } from './family.ts';

/** Ends with a value; each step before takes a moment at most. */
export type Steps<T> = Generator<void, T>;

/** All steps, one right after the other. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same, with turns for others in between where the connection gives them. */
export const inTurns = async <T>({ inTurns: give }: Pick<Rpc, 'inTurns'>, steps: Steps<T>): Promise<T> =>
  give ? give(steps) : atOnce(steps);

/** Elements after which a list is interrupted: each takes some microseconds. */
const PER_STEP = 100;

/** As `map`, in steps. */
export function* mapInSteps<T, U>(list: Iterable<T>, of: (element: T, at: number) => U): Steps<U[]> {
  const mapped: U[] = [];
  for (const element of list) {
    if (mapped.length % PER_STEP === PER_STEP - 1) yield;
    mapped.push(of(element, mapped.length));
  }
  return mapped;
}
