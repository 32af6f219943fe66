// What happens once a transaction is durable, and not where it came to nothing.
import type { Executor } from './database.ts';

const followers = new WeakMap<Executor, (() => void)[]>();

/**
 * Calls `work`, which must not throw, when this transaction is durable: for what no one else must hear of before. At once
 * where it is none, after a statement that was its own transaction.
 */
export function afterCommit(on: Executor, work: () => void): void {
  const waiting = followers.get(on);
  if (waiting) waiting.push(work);
  else work();
}

/** The same transactions, each followed by what it asked for. */
export function followed<On extends Executor>(
  transaction: <T>(work: (tx: On) => Promise<T>) => Promise<T>,
): typeof transaction {
  return async (work) => {
    let wanted: (() => void)[] = [];
    const value = await transaction((tx) => {
      // Of this attempt alone, also where transactions share a connection one after the other.
      wanted = [];
      followers.set(tx, wanted);
      return work(tx);
    });
    for (const one of wanted) one();
    return value;
  };
}
