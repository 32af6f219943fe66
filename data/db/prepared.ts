// Statements that nearly every request runs: built and compiled once for each database, and planned once by PostgreSQL.
import type { Compilable, CompiledQuery, DialectAdapter, Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { Batch, Db, Executor } from './database.ts';
import { gathered } from './gather.ts';
import { nameStatement } from './named.ts';

/** Asks for at most one row. */
export interface Lookup<Values, Row> {
  (db: Db, ...values: Extract<Values, unknown[]>): Promise<Row | undefined>;
  /** The same without waiting, where the database can (`db.firstNow`). */
  now(db: Db, ...values: Extract<Values, unknown[]>): Row | undefined;
}

/**
 * A question for at most one row by the values that `build` binds, each once and in their order. It reads what is
 * committed, so it is not for what must be seen inside a transaction.
 */
export function lookup<Values extends (string | number)[], Row>(
  build: (query: Kysely<Tables>, ...values: Values) => Compilable<Row>,
): Lookup<Values, Row> {
  const compiled = new WeakMap<Db, CompiledQuery>();
  const questionOf = (db: Db, values: Values) => {
    let question = compiled.get(db);
    if (!question) {
      question = build(db.query, ...values).compile();
      if (question.parameters.length !== values.length)
        throw new Error(`a lookup binds its own values and no others: ${question.sql}`);
      nameStatement(question.sql, 'read');
      compiled.set(db, question);
    }
    return question;
  };
  return Object.assign(
    (db: Db, ...values: Values) => db.first(questionOf(db, values), values) as Promise<Row | undefined>,
    { now: (db: Db, ...values: Values) => db.firstNow?.(questionOf(db, values), values) as Row | undefined },
  );
}

/** Of each lookup. */
const MOST_CACHED = 1_000;
/** Other processes write too, now and then (`gatewayd admin`): so soon is seen what they changed. */
const CACHED_MS = 100;

/**
 * The same, whose rows are given again until something in the database may have changed: what nearly every request asks for alike. Where
 * that is not known, those who ask alike while an answer is under way share the next one, which is asked for after all of
 * them. Not for rows that a batch adds to.
 */
export function cached<Values extends unknown[], Row>(
  asked: (db: Db, ...values: Values) => Promise<Row | undefined>,
): (db: Db, ...values: Values) => Promise<Row | undefined> {
  const shared = gathered(
    Number.POSITIVE_INFINITY,
    async (db, alike: readonly Values[]) => {
      const row = await asked(db, ...(alike[0] as Values));
      return alike.map(() => row && Object.freeze(row));
    },
    keyOf,
  );
  const all = new WeakMap<Db, { changes: number; until: number; rows: Map<string, Row> }>();
  return async (db, ...values) => {
    if (!db.changes) return shared(db, values);
    const [changes, now] = [db.changes(), performance.now()];
    let known = all.get(db);
    if (known?.changes !== changes || known.until < now) {
      known = { changes, until: now + CACHED_MS, rows: new Map() };
      all.set(db, known);
    }
    const { rows } = known;
    const key = keyOf(values);
    const row = rows.get(key) ?? (await asked(db, ...values));
    if (row && rows.size < MOST_CACHED) rows.set(key, Object.freeze(row));
    return row;
  };
}

const keyOf = (values: readonly unknown[]): string => values.join('\n');

/** Stands for the value of this name while a statement is compiled. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

type Build<Values, Row> = (query: Executor, place: Values) => Compilable<Row>;
interface Run<Values, Row> {
  (on: Executor, values: Partial<Values>): Promise<Row[]>;
  /** The statement with these values, as a part of a batch. */
  bound(on: Executor, values: Partial<Values>): Batch[number];
}

/** A statement that writes the values of these names; `build` binds each wherever it is needed, and nothing else. */
export const writer = <Values extends object, Row>(
  names: readonly (keyof Values & string)[],
  build: Build<Values, Row>,
): Run<Values, Row> => prepared('write', names, build);

/** The same of a question that is asked inside transactions, and sees what they see. */
export const question = <Values extends object, Row>(
  names: readonly (keyof Values & string)[],
  build: Build<Values, Row>,
): Run<Values, Row> => prepared('read', names, build);

function prepared<Values extends object, Row>(
  does: 'read' | 'write',
  names: readonly (keyof Values & string)[],
  build: Build<Values, Row>,
): Run<Values, Row> {
  const place = Object.fromEntries(names.map((name) => [name, new Parameter(name)])) as unknown as Values;
  // A transaction has the adapter of the database that it is of.
  const compiled = new WeakMap<DialectAdapter, { statement: CompiledQuery<Row>; order: string[] }>();
  const bind = (on: Executor, values: Partial<Values>) => {
    const { adapter } = on.getExecutor();
    let known = compiled.get(adapter);
    if (!known) {
      const statement = build(on, place).compile();
      nameStatement(statement.sql, does);
      known = { statement, order: statement.parameters.map(nameOf) };
      compiled.set(adapter, known);
    }
    const { statement, order } = known;
    return { statement, parameters: order.map((name) => values[name as keyof Values] ?? null) };
  };
  return Object.assign(
    async (on: Executor, values: Partial<Values>) => {
      const { statement, parameters } = bind(on, values);
      return (await on.executeQuery<Row>({ ...statement, parameters })).rows;
    },
    {
      bound(on: Executor, values: Partial<Values>) {
        const { statement, parameters } = bind(on, values);
        return { text: statement.sql, values: parameters as Batch[number]['values'] };
      },
    },
  );
}

function nameOf(parameter: unknown): string {
  if (parameter instanceof Parameter) return parameter.name;
  throw new Error('a prepared statement binds its own values and no others');
}
