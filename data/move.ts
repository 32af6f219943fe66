// The rows of a SQLite database on their way to PostgreSQL, and digests by which both sides are held against each other.
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { LEFT_OUT, rowsInPages } from './backup.ts';
import type { Executor } from './db/database.ts';

/** No event waits for its place in a feed there, because each gets one on the way. */
const NOT_MOVED: readonly string[] = [...LEFT_OUT, 'unplaced_events'];
/** On SQLite the number of an event is its place in the feed; PostgreSQL counts the events of each merchant, those removed included. */
const MADE: Readonly<Record<string, RawBuilder<unknown>>> = {
  event_positions: sql`select e.merchant_id, e.seq as event_seq,
      coalesce(r.count, 0) + row_number() over (partition by e.merchant_id order by e.seq) as position
    from events e left join removals r on r.name = 'events' and r.merchant_id = e.merchant_id
    where e.merchant_id is not null`,
  removals: sql`select name, merchant_id, through_at, count,
      case when name = 'events' and merchant_id <> '' then count else through_position end as through_position
    from removals`,
};
/** Of each type of PostgreSQL, the one of SQLite that holds the same values. */
const SAME_TYPE: Readonly<Record<string, string>> = { bigint: 'integer', integer: 'integer', text: 'text' };
const DIGEST_BITS = 256;

/** What a table holds: as many rows, and one number that any change of any of them changes. */
export interface TableDigest {
  table: string;
  rows: number;
  /** In hexadecimal. The order of the rows changes nothing. */
  digest: string;
}

export interface MovedTable {
  table: string;
  columns: readonly string[];
}

type Column = { of_table: string; name: string; type: string };

/** What one of the databases has and the other lacks: tables, and columns with their types. None where every row can be moved. */
export async function schemaDifferences(sqlite: Executor, postgres: Executor): Promise<string[]> {
  const { rows: here } = await sql<Column>`select t.name as of_table, c.name, lower(c.type) as type
    from sqlite_schema t join pragma_table_info(t.name) c
    where t.type = 'table' and t.name not like 'sqlite\\_%' escape '\\'
      and t.name not in (${sql.join(NOT_MOVED)})`.execute(sqlite);
  const there = (await columnsOf(postgres)).filter(
    ({ of_table }) => !(of_table in MADE) || here.some((one) => one.of_table === of_table),
  );
  const keyOf = ({ of_table, name, type }: Column) => `${of_table}.${name} (${type})`;
  const keys_here = new Set(here.map(keyOf));
  const keys_there = new Set(there.map((one) => keyOf({ ...one, type: SAME_TYPE[one.type] ?? one.type })));
  return [...keys_here, ...keys_there].filter((key) => !(keys_here.has(key) && keys_there.has(key))).sort();
}

async function columnsOf(postgres: Executor): Promise<Column[]> {
  const { rows } = await sql<Column>`select table_name as of_table, column_name as name, data_type as type
    from information_schema.columns join pg_tables on schemaname = table_schema and tablename = table_name
    where table_schema = current_schema() and table_name not in (${sql.join(NOT_MOVED)})
    order by 1, ordinal_position`.execute(postgres);
  return rows;
}

/** The tables of PostgreSQL that get rows. */
export async function movedTables(postgres: Executor): Promise<MovedTable[]> {
  const columns = await columnsOf(postgres);
  return [...new Set(columns.map(({ of_table }) => of_table))].map((table) => ({
    table,
    columns: columns.filter(({ of_table }) => of_table === table).map(({ name }) => name),
  }));
}

interface Reading {
  /** Called with what each table holds, once it was read to its end. */
  onTable(digest: TableDigest): void;
  signal?: AbortSignal | undefined;
}

/** Every row of a SQLite database, in lines as a backup of PostgreSQL has them. `sqlite` must show one state throughout. */
export async function* linesFromSqlite(
  sqlite: Executor,
  tables: readonly MovedTable[],
  { onTable, signal }: Reading,
): AsyncGenerator<string> {
  for (const { table, columns } of tables) {
    yield JSON.stringify(table);
    const digest = createDigest();
    const rows = sqlite
      .selectFrom(
        sql<Record<string, never>>`(${MADE[table] ?? sql`select * from ${sql.table(table)}`})`.as('rows_of'),
      )
      .select(columns.map((name, at) => asText(name).as(`v${at}`)))
      .stream();
    for await (const row of rows) {
      signal?.throwIfAborted();
      const values = valuesOf(row, columns.length);
      digest.add(values);
      yield JSON.stringify(Object.fromEntries(columns.map((name, at) => [name, values[at]])));
    }
    onTable({ table, ...digest.end() });
  }
}

/** What tables of PostgreSQL hold, in a transaction of its caller. */
export async function digestsOf(
  postgres: Executor,
  tables: readonly MovedTable[],
  { onTable, signal }: Reading,
): Promise<void> {
  for (const { table, columns } of tables) {
    const digest = createDigest();
    const list = sql.join(columns.map((name, at) => sql`${asText(name)} as ${sql.ref(`v${at}`)}`));
    const pages = rowsInPages<Record<string, string | null>>(
      postgres,
      sql`select ${list} from ${sql.table(table)}`,
    );
    for await (const page of pages) {
      signal?.throwIfAborted();
      for (const row of page) digest.add(valuesOf(row, columns.length));
    }
    onTable({ table, ...digest.end() });
  }
}

/** Both databases write integers and texts alike, so that equal texts are equal values. */
const asText = (column: string) => sql<string | null>`cast(${sql.ref(column)} as text)`;

type Values = readonly (string | null)[];

const valuesOf = (row: Record<string, string | null>, count: number): Values =>
  Array.from({ length: count }, (_, at) => row[`v${at}`] ?? null);

function createDigest(): { add(values: Values): void; end(): Omit<TableDigest, 'table'> } {
  let rows = 0;
  let sum = 0n;
  return {
    add(values) {
      rows++;
      // Sums, unlike rows in their order, are the same whatever order a database reads in.
      sum += BigInt(`0x${createHash('sha256').update(JSON.stringify(values)).digest('hex')}`);
    },
    end: () => ({
      rows,
      digest: BigInt.asUintN(DIGEST_BITS, sum)
        .toString(16)
        .padStart(DIGEST_BITS / 4, '0'),
    }),
  };
}
