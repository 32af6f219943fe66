// Every statement that is run, from wherever: for budgets and plans.
import { type CompiledQuery, DefaultQueryExecutor } from 'kysely';

/** What only opens and closes transactions costs no look at any row. */
const CONTROL = /^\s*(begin|commit|rollback|savepoint|release)\b/i;

export interface Recording {
  /** Since the start or the last `take`, in order; without those that only open and close transactions. */
  take(): CompiledQuery[];
  stop(): void;
}

/** Listens to all databases of this process. */
export function recordStatements(): Recording {
  const { prototype } = DefaultQueryExecutor;
  const original = prototype.executeQuery;
  let seen: CompiledQuery[] = [];
  prototype.executeQuery = function (this: DefaultQueryExecutor, query, ...rest) {
    if (!CONTROL.test(query.sql)) seen.push(query);
    return original.call(this, query, ...rest);
  } as typeof original;
  return {
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    stop() {
      prototype.executeQuery = original;
    },
  };
}
