// Every statement that is run, from wherever: for budgets and plans.
import { AsyncLocalStorage } from 'node:async_hooks';
import { type CompiledQuery, DefaultQueryExecutor } from 'kysely';

/** What only opens and closes transactions reads no row. */
const CONTROL = /^\s*(begin|commit|rollback|savepoint|release)\b/i;

export interface Recording {
  /** Since the start or the last `take`, in order; without those that only open and close transactions. */
  take(): CompiledQuery[];
  /** What `work` and what it calls run; loops that happen to run meanwhile are not counted. */
  during(work: () => Promise<unknown>): Promise<CompiledQuery[]>;
  stop(): void;
}

/** Listens to all databases of this process. */
export function recordStatements(): Recording {
  const { prototype } = DefaultQueryExecutor;
  const original = prototype.executeQuery;
  let seen: CompiledQuery[] = [];
  const own = new AsyncLocalStorage<CompiledQuery[]>();
  prototype.executeQuery = function (this: DefaultQueryExecutor, query, ...rest) {
    if (!CONTROL.test(query.sql)) {
      seen.push(query);
      own.getStore()?.push(query);
    }
    return original.call(this, query, ...rest);
  } as typeof original;
  return {
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    async during(work) {
      const queries: CompiledQuery[] = [];
      await own.run(queries, work);
      return [...queries];
    },
    stop() {
      prototype.executeQuery = original;
    },
  };
}
