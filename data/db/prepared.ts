// Questions that nearly every request asks: built and compiled once for each database.
import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { Db } from './database.ts';

/**
 * A question for at most one row by the values that `build` binds, each once and in their order. It reads what is
 * committed, so it is not for what must be seen inside a transaction.
 */
export function lookup<Values extends string[], Row>(
  build: (query: Kysely<Tables>, ...values: Values) => Compilable<Row>,
): (db: Db, ...values: Values) => Promise<Row | undefined> {
  const compiled = new WeakMap<Db, CompiledQuery>();
  return (db, ...values) => {
    let question = compiled.get(db);
    if (!question) {
      question = build(db.query, ...values).compile();
      if (question.parameters.length !== values.length)
        throw new Error(`a lookup binds its own values and no others: ${question.sql}`);
      compiled.set(db, question);
    }
    return db.first(question, values) as Promise<Row | undefined>;
  };
}
