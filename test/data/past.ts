// Databases as an earlier version left them: written as scripts, which bring them back as they were.
import { sql } from 'kysely';
import pg from 'pg';
import { ledgerKey } from '../../daemon/process/ledger-key.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import {
  addRange,
  ensureCursor,
  getCursor,
  holdLease,
  moveCursor,
  putAccountCursors,
} from '../../data/cursors.ts';
import { sqlite } from '../../data/db/driver.ts';
import { openDb } from '../../data/db/open.ts';
import { sealHeads } from '../../data/ledger.ts';
import { postgresStatements } from '../../data/migrations/migrate.ts';

import { putProofs, putUnreadable } from '../../data/proofs.ts';
import { makeSoundBooks } from '../daemon/helpers/sound-books.ts';
import type { Database } from '../helpers/database.ts';

/** The tables in which the migrator records what it has done; they are not made by a migration. */
const MIGRATOR = [
  'create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)',
  'create table kysely_migration_lock (id varchar(255) primary key, is_locked integer not null default 0)',
];

/** A sound database of this version, with rows in all tables, as a script; its first line is when it was made, Unix seconds. */
export async function writePast(database: Database): Promise<string> {
  const books = await makeSoundBooks(database);
  const { now, url, config } = books;
  const db = await openDb(url);
  const key = await ledgerKey(db.query, createSecrets(config.secret ?? ''));
  await db.transaction(async (tx) => {
    if (key) await sealHeads(tx, key);
    await ensureCursor(tx, 'litecoin');
    const version = (await getCursor(tx, 'litecoin'))?.version ?? 0;
    await moveCursor(tx, 'litecoin', version, {
      cursor: { height: 7 },
      tip: { height: 7, hash: 'hash', time: now },
    });
    await addRange(tx, 'litecoin', { scope: 'height', from: 1, to: 7 }, now);
    await putAccountCursors(tx, 'solana', [['account', { slot: 7 }]], now);
    const account = { address_key: 'wallet', chain: 'solana-usdc', account: 'account' };
    await putProofs(
      tx,
      'solana',
      [{ ...account, read_through: now, trouble: 'not answered', failed: true }],
      now,
    );
    await putUnreadable(tx, 'solana', [{ chain: 'solana-usdt', reason: 'not answered' }], now);
    await holdLease(tx, 'solana', 'daemon', now * 1000, 1000);
  });
  await sql`update merchants set enabled_currencies = '["TON"]' where webhook_url is not null`.execute(
    db.query,
  );
  await db.close();
  const script = database === 'sqlite' ? dumpSqlite(url.slice('sqlite:'.length)) : await dumpPostgres(url);
  await books.remove();
  return `-- ${now}\n${script}`;
}

const listed = (names: readonly string[]): string => names.join(', ');

/** A SQLite file as a script: its tables, their rows, then what would have changed or refused them. */
function dumpSqlite(file: string): string {
  const database = new (sqlite())(file, { readonly: true });
  try {
    const items = database
      .prepare<[], { type: string; name: string; sql: string }>(
        "select type, name, sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\' order by rowid",
      )
      .all();
    const tables = items.filter(({ type }) => type === 'table');
    const others = items.filter(({ type }) => type !== 'table');
    const rows = tables.flatMap(({ name }) => {
      const columns = (database.pragma(`table_info(${name})`) as { name: string }[]).map(({ name }) => name);
      const quoted = columns.map((column) => `quote(${column})`);
      return database
        .prepare(`select ${listed(quoted)} from ${name} order by rowid`)
        .raw()
        .all()
        .map((values) => `insert into ${name} (${listed(columns)}) values (${listed(values as string[])})`);
    });
    return scriptOf([...tables.map(({ sql }) => sql), ...rows, ...others.map(({ sql }) => sql)]);
  } finally {
    database.close();
  }
}

/** The same of a database of PostgreSQL, whose schema is that of the migrations of this program. */
async function dumpPostgres(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: columns } = await client.query<{
      name: string;
      columns: string[];
      identity: string | null;
    }>(
      `select table_name as name, json_agg(column_name order by ordinal_position) as columns,
         max(case when is_identity = 'YES' then column_name end) as identity
       from information_schema.columns where table_schema = current_schema() group by table_name order by table_name`,
    );
    const rows: string[] = [];
    for (const { name, columns: names, identity } of columns) {
      const quoted = names.map((column) => `quote_nullable(${column}::text)`);
      const found = await client.query<{ text: string }>(
        `select concat_ws(', ', ${listed(quoted)}) as text from ${name} order by 1`,
      );
      const over = identity === null ? '' : ' overriding system value';
      rows.push(
        ...found.rows.map(({ text }) => `insert into ${name} (${listed(names)})${over} values (${text})`),
      );
      if (identity !== null)
        rows.push(
          `select setval(pg_get_serial_sequence('${name}', '${identity}'), (select coalesce(max(${identity}), 0) + 1 from ${name}), false)`,
        );
    }
    return scriptOf([
      // No trigger sees what is written: each row is as it was, and so are the sums that triggers made.
      'set session_replication_role = replica',
      ...MIGRATOR,
      ...(await postgresStatements()),
      `truncate ${listed(columns.map(({ name }) => name))}`,
      ...rows,
      'reset session_replication_role',
    ]);
  } finally {
    await client.end();
  }
}

const scriptOf = (statements: readonly string[]): string =>
  statements.map((statement) => `${statement.trim()};\n`).join('');

/** Runs such a script on an empty database. */
export async function restorePast(url: string, script: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const database = new (sqlite())(url.slice('sqlite:'.length));
    // One commit: each waits for the disk.
    database.exec(`begin;\n${script}commit;\n`);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(script);
  await client.end();
}
