// A database of PostgreSQL as lines of JSON, read from one snapshot, and the same lines put into an empty one.
import { type RawBuilder, sql } from 'kysely';
import type { Executor } from './db/database.ts';

/** Rows that are fetched, and put back, in one statement. */
const ROWS_PER_STATEMENT = 500;
/** Counts of calls in the last minutes, and what was written to see whether it can be: worth nothing later. The migrator writes its own. */
export const LEFT_OUT: readonly string[] = [
  'call_windows',
  'kysely_migration',
  'kysely_migration_lock',
  'write_probes',
];

async function tablesOf(query: Executor, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = ${schema} order by 1`.execute(query);
  return rows.map(({ name }) => name);
}

/** The schema of tables that are named without one. */
export async function presentSchema(query: Executor): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(query);
  return rows[0]?.name ?? '';
}

/** Whether a database of PostgreSQL has no table in its schema. */
export const hasNoTables = async (query: Executor): Promise<boolean> =>
  (await tablesOf(query, await presentSchema(query))).length === 0;

/** Every row, in lines: the name of a table as JSON text, then its rows as objects. `query` must show one state throughout. */
export async function* linesOfRows(query: Executor): AsyncGenerator<string> {
  const tables = await tablesOf(query, await presentSchema(query));
  for (const table of tables.filter((name) => !LEFT_OUT.includes(name))) {
    yield `${JSON.stringify(table)}\n`;
    const lines = sql`select row_to_json(of_table)::text as line from ${sql.table(table)} of_table`;
    for await (const rows of rowsInPages<{ line: string }>(query, lines))
      yield rows.map(({ line }) => `${line}\n`).join('');
  }
}

/** All that `select` finds, page by page, in a transaction of its caller. */
export async function* rowsInPages<Row>(query: Executor, select: RawBuilder<unknown>): AsyncGenerator<Row[]> {
  await sql`declare rows_in_pages no scroll cursor for ${select}`.execute(query);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(ROWS_PER_STATEMENT)} from rows_in_pages`.execute(query);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_PER_STATEMENT) break;
  }
  await sql`close rows_in_pages`.execute(query);
}

/**
 * Puts the rows of `lines` into the tables of a schema that was just made, and of no other, whatever the connection calls its
 * own by then. Runs in a transaction of its caller; throws where a row does not fit, or points at nothing, with the name of its
 * `table`.
 */
export async function loadRows(query: Executor, schema: string, lines: AsyncIterable<string>): Promise<void> {
  const tables = (await tablesOf(query, schema)).filter((name) => !LEFT_OUT.includes(name));
  const tableOf = (name: string) => sql.id(schema, name);
  // What migrations have put there is in the backup, too; what triggers would write, likewise.
  await sql`truncate ${sql.join(tables.map(tableOf))}`.execute(query);
  for (const table of tables) await sql`alter table ${tableOf(table)} disable trigger user`.execute(query);
  // Rows come in the order of their tables' names: what points at others is held against them when all are there.
  const references = await dropReferences(query, schema);
  await insertLines(query, schema, { lines, known: new Set(tables) });
  for (const { of_table, name, text } of references)
    await sql`alter table ${tableOf(of_table)} add constraint ${sql.ref(name)} ${sql.raw(text)}`.execute(
      query,
    );
  for (const table of tables) await sql`alter table ${tableOf(table)} enable trigger user`.execute(query);
  await continueSequences(query, schema);
  // What is asked next, the laws first, is planned by what is there now.
  await sql`analyze ${sql.join(tables.map(tableOf))}`.execute(query);
}

interface Reference {
  of_table: string;
  name: string;
  /** As SQL. */
  text: string;
}

async function dropReferences(query: Executor, schema: string): Promise<Reference[]> {
  const { rows } = await sql<Reference>`
    select t.relname as of_table, c.conname as name, pg_get_constraintdef(c.oid) as text
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_namespace n on n.oid = c.connamespace
    where n.nspname = ${schema} and c.contype = 'f'`.execute(query);
  for (const { of_table, name } of rows)
    await sql`alter table ${sql.id(schema, of_table)} drop constraint ${sql.ref(name)}`.execute(query);
  return rows;
}

async function insertLines(
  query: Executor,
  schema: string,
  { lines, known }: { lines: AsyncIterable<string>; known: Set<string> },
): Promise<void> {
  let table = '';
  let rows: string[] = [];
  const insert = async () => {
    const into = sql.id(schema, table);
    if (rows.length > 0)
      await sql`insert into ${into} overriding system value
        select * from json_populate_recordset(null::${into}, ${`[${rows.join(',')}]`}::json)`
        .execute(query)
        .catch((error: unknown) => {
          throw Object.assign(error as Error, { table });
        });
    rows = [];
  };
  for await (const line of lines) {
    if (line.startsWith('{')) rows.push(line);
    else {
      await insert();
      table = JSON.parse(line) as string;
      if (!known.has(table)) throw new Error(`table ${table} is not of the schema that the backup names`);
    }
    if (rows.length === ROWS_PER_STATEMENT) await insert();
  }
  await insert();
}

/** Numbers that are held elsewhere of rows that may be gone: an address is sent no notice with a number that it was sent before. */
const HELD_ELSEWHERE: Readonly<Record<string, (schema: string) => RawBuilder<unknown>>> = {
  notices: (schema) => sql`select max(sent_through) from ${sql.id(schema, 'notice_targets')}`,
};

/** Numbers that the database gives continue after those that are there, or are held elsewhere. */
async function continueSequences(query: Executor, schema: string): Promise<void> {
  const { rows } = await sql<{ of_table: string; of_column: string }>`
    select table_name as of_table, column_name as of_column from information_schema.columns
    where table_schema = ${schema} and is_identity = 'YES'`.execute(query);
  for (const { of_table, of_column } of rows)
    await sql`select setval(pg_get_serial_sequence(format('%I.%I', ${schema}::text, ${of_table}::text), ${of_column}),
      greatest((select max(${sql.ref(of_column)}) from ${sql.id(schema, of_table)}),
        (${HELD_ELSEWHERE[of_table]?.(schema) ?? sql`select 0`}), 0) + 1, false)`.execute(query);
}
