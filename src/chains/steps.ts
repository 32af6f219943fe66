// Work on answers of any size, in steps: between two of them others may have their turn.
/** Ends with a value; each step before takes a moment at most. */
export type Steps<T> = Generator<void, T>;

/** A connection that gives others their turn between the steps of what is done with an answer; absent: all steps at once. */
export interface Turns {
  inTurns?<T>(steps: Steps<T>): Promise<T>;
}

/** All steps, one right after the other. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same, with turns for others in between where the connection gives them. */
export const inTurns = async <T>({ inTurns: give }: Turns, steps: Steps<T>): Promise<T> =>
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
