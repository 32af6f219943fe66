// What happens once a transaction is durable, and not where it came to nothing.
import type { Db, Tx } from './database.ts';

const followers = new WeakMap<Tx, (() => void)[]>();

/** Calls `work`, which must not throw, when this transaction is durable: for what no one else must hear of before. */
export function afterCommit(tx: Tx, work: () => void): void {
  followers.get(tx)?.push(work);
}

/** The same transactions, each followed by what it asked for. */
export function followed(transaction: Db['transaction']): Db['transaction'] {
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
