// Work that is done again and again: one run after the other until it is stopped, or at each call, never twice at once.
import type { Runtime } from './process/runtime.ts';

export interface Repeat {
  runtime: Pick<Runtime, 'sleep'>;
  signal: AbortSignal;
  /** Takes what a run threw; returns how long to wait before the next, milliseconds. Without it a failure is the end. */
  onError?(error: unknown): number;
}

/** Runs `work` until the signal aborts, each time so many milliseconds after the last run as that returned. */
export async function repeat(
  work: () => Promise<number>,
  { runtime, signal, onError }: Repeat,
): Promise<void> {
  while (!signal.aborted) {
    const wait_ms = await (onError ? work().catch(onError) : work());
    await runtime.sleep(wait_ms, signal);
  }
}

/** Resolves when the work has ended, however it ended, or after so long; never rejects. */
export async function settledWithin(
  ms: number,
  work: Promise<unknown>,
  runtime: Pick<Runtime, 'sleep'>,
): Promise<void> {
  const done = new AbortController();
  const ended = work.then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([ended, runtime.sleep(ms, done.signal)]);
  done.abort();
}

/** Calls during a run share one further run that begins after it, with what all of them ask for. */
export function coalesce<T>(
  work: (items: readonly T[]) => Promise<void>,
): (items?: readonly T[]) => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let waiting: T[] = [];
  const begin = (): Promise<void> => {
    const items = waiting;
    waiting = [];
    current = work(items).finally(() => {
      current = undefined;
    });
    return current;
  };
  return (items = []) => {
    waiting.push(...items);
    if (!current) return begin();
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
}

/** What is waited for, by name: where that takes too long, the log can name it. */
export interface Waits {
  on<T>(name: string, work: Promise<T>): Promise<T>;
  names(): string[];
}

export function openWaits(): Waits {
  const names = new Set<string>();
  return {
    on: (name, work) => {
      names.add(name);
      return work.finally(() => names.delete(name));
    },
    names: () => [...names],
  };
}
