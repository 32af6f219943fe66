// One source whose providers are exchanged while it is in use: what has begun with the ones before ends with them.
import { settledWithin } from '../../loop.ts';
import type { Runtime } from '../../process/runtime.ts';
import type { RpcSource } from './rpc.ts';

/** What has begun is given so long: a request that is not answered fails before. */
const ENDING_MS = 60_000;

export interface SwitchedSource extends RpcSource {
  /** From the next question on this one is asked; the one before is closed when what it is asked for has ended. */
  replace(next: RpcSource): void;
}

export function switched(first: RpcSource, runtime: Pick<Runtime, 'sleep'>): SwitchedSource {
  let now = first;
  /** What is under way, by source. */
  const asked = new Map<RpcSource, Set<Promise<unknown>>>();
  const closing = new Set<RpcSource>();

  function underWay<T>(source: RpcSource, work: Promise<T>): Promise<T> {
    const all = asked.get(source) ?? new Set();
    asked.set(source, all.add(work));
    return work.finally(() => all.delete(work));
  }

  return {
    use: (work) => underWay(now, now.use(work)),
    askOther: (label, work) => underWay(now, now.askOther(label, work)),
    retryAt: () => now.retryAt(),
    status: () => now.status(),
    async close() {
      await Promise.all([now, ...closing].map((source) => source.close()));
    },
    replace(next) {
      const before = now;
      now = next;
      closing.add(before);
      const left = Promise.allSettled(asked.get(before) ?? []);
      void settledWithin(ENDING_MS, left, runtime)
        .then(() => before.close())
        .finally(() => {
          closing.delete(before);
          asked.delete(before);
        });
    },
  };
}
