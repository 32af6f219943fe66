// Law 21: the database itself: its files, its schema with the laws that it keeps, its sealed columns, its answers.
import { sql } from 'kysely';
import type { Executor } from '../db/database.ts';
import { openDb } from '../db/open.ts';
import { findMeta } from '../meta.ts';
import { migrate, postgresStatements } from '../migrations/migrate.ts';
import { SECRET_CHECK } from '../secret.ts';
import { bySql, type Check, collector, type Found, plain, ROWS_SHOWN, type VerifyContext } from './law.ts';

/** Rows opened in one step. */
const ROWS_PER_READ = 1_000;

const RESTORE_SCHEMA =
  'what the schema forbids may have been written meanwhile: see the other laws, then restore a backup, or the statement of the migration';

interface Item {
  type: string;
  name: string;
  text: string;
}

/** What SQLite says of its schema; triggers, indexes and tables that it made itself are left out. */
async function sqliteItems(query: Executor): Promise<Item[]> {
  const { rows } = await sql<Item>`select type, name, sql as text from sqlite_schema
    where sql is not null and name not like 'sqlite\\_%' escape '\\'`.execute(query);
  return rows;
}

/** The schema as the migrations make it. */
async function freshSqliteItems(): Promise<Item[]> {
  const db = await openDb('sqlite::memory:');
  try {
    await migrate(db);
    return await sqliteItems(db.query);
  } finally {
    await db.close();
  }
}

const postgresItems: Record<string, RegExp> = {
  table: /^\s*create (?:unlogged )?table (\w+)/,
  index: /^\s*create (?:unique )?index (\w+)/,
  trigger: /^\s*create trigger (\w+)/,
  function: /^\s*create function (\w+)\([^)]*\)[^$]*\$\$([\s\S]*)\$\$/,
};

/** The same of PostgreSQL; of a function the text is its body, of the rest there is none. */
async function freshPostgresItems(): Promise<Item[]> {
  const items = new Map<string, Item>();
  for (const statement of await postgresStatements()) {
    const dropped = /^\s*drop (\w+) (\w+)/.exec(statement);
    if (dropped) items.delete(`${dropped[1]} ${dropped[2]}`);
    for (const [type, pattern] of Object.entries(postgresItems)) {
      const [, name, text = ''] = pattern.exec(statement) ?? [];
      if (name) items.set(`${type} ${name}`, { type, name, text });
    }
  }
  return [...items.values()];
}

async function storedPostgresItems(query: Executor): Promise<Item[]> {
  const { rows } = await sql<Item>`
    select 'table' as type, tablename as name, '' as text from pg_tables where schemaname = current_schema()
    union all select 'index', c.relname, '' from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relnamespace = current_schema()::regnamespace and i.indisvalid
    union all select 'trigger', t.tgname, '' from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace = current_schema()::regnamespace and not t.tgisinternal and t.tgenabled in ('O', 'A')
    union all select 'function', p.proname, p.prosrc from pg_proc p
      where p.pronamespace = current_schema()::regnamespace`.execute(query);
  return rows;
}

const schema: Check = {
  law: 21,
  says: 'a part of the schema that is missing, changed or switched off, or a trigger that is not ours',
  advice: RESTORE_SCHEMA,
  async find({ query, dialect }) {
    const is_sqlite = dialect === 'sqlite';
    const expected = await (is_sqlite ? freshSqliteItems() : freshPostgresItems());
    const stored = await (is_sqlite ? sqliteItems(query) : storedPostgresItems(query));
    const keyOf = ({ type, name }: Item) => `${type} ${name}`;
    const there = new Map(stored.map((item) => [keyOf(item), item]));
    const ours = new Set(expected.map(keyOf));
    const found = collector();
    for (const item of expected) {
      const now = there.get(keyOf(item));
      const fault = now === undefined ? 'missing' : now.text !== item.text ? 'changed' : null;
      if (fault !== null) found.add({ type: item.type, name: item.name, fault });
    }
    for (const item of stored)
      if (item.type === 'trigger' && !ours.has(keyOf(item)))
        found.add({ type: item.type, name: item.name, fault: 'not ours' });
    return found;
  },
};

/** Of PostgreSQL: constraints that hold only for what was written since, or whose rows were written past them. */
async function looseConstraints(query: Executor): Promise<Found> {
  const found = collector();
  const { rows } = await sql<{
    name: string;
    child: string;
    parent: string;
    columns: string[];
    keys: string[];
    valid: boolean;
  }>`
    select c.conname as name, c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent,
      c.convalidated as valid,
      array(select a.attname::text from unnest(c.conkey) k join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k) as columns,
      array(select a.attname::text from unnest(c.confkey) k join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k) as keys
    from pg_constraint c where c.connamespace = current_schema()::regnamespace and c.contype in ('f', 'c')`.execute(
    query,
  );
  for (const { name, child, parent, columns, keys, valid } of rows) {
    if (!valid) found.add({ constraint: name, fault: 'not valid' });
    const [column] = columns;
    const [key] = keys;
    if (!column || !key || columns.length > 1) continue;
    const { rows: lost } = await sql<Record<string, unknown>>`
      select ${sql.lit(name)} as constraint, c.${sql.ref(column)} as missing from ${sql.table(child)} c
      where c.${sql.ref(column)} is not null
        and not exists (select 1 from ${sql.table(parent)} p where p.${sql.ref(key)} = c.${sql.ref(column)})
      limit ${sql.lit(ROWS_SHOWN)}`.execute(query);
    for (const row of lost) found.add(plain(row));
  }
  return found;
}

async function damagesOf({ query, damages }: VerifyContext): Promise<Found> {
  const found = collector();
  const ask = async (name: string) =>
    (await sql<Record<string, unknown>>`${sql.raw(`pragma ${name}`)}`.execute(query)).rows;
  const rows = damages
    ? await damages()
    : [...(await ask('integrity_check')), ...(await ask('foreign_key_check'))];
  for (const row of rows) if (row.integrity_check !== 'ok') found.add(plain(row));
  return found;
}

const integrity: Check = {
  law: 21,
  says: 'damage of the database, or rows that point at nothing',
  advice: 'stop the daemon, keep the files as they are, and restore a backup',
  find: (context) => (context.dialect === 'sqlite' ? damagesOf(context) : looseConstraints(context.query)),
};

const sealed: Check = {
  law: 21,
  says: 'a secret, or a value that it seals, that cannot be opened or is not what it was',
  advice:
    'set the secret that this database was created with, or rotated to since (a backup: that of its time); a key that is lost is replaced by its merchant with `gw account rotate-key`',
  async find({ query, secrets }) {
    if ('missing' in secrets) return { unchecked: secrets.missing };
    const found = collector();
    if ((await findMeta(query, SECRET_CHECK)) !== secrets.check) {
      found.add({ name: 'secret', fault: 'the secret is not the one that this database was created with' });
      return found;
    }
    for (let after = ''; ; ) {
      const rows = await query
        .selectFrom('merchants')
        .select([
          'id',
          'api_key_hash',
          'api_key_sealed',
          'webhook_secret_sealed',
          'previous_webhook_secret_sealed',
        ])
        .where('id', '>', after)
        .orderBy('id')
        .limit(ROWS_PER_READ)
        .execute();
      for (const row of rows) {
        const fault = faultOf(row, secrets);
        if (fault !== null) found.add({ merchant_id: row.id, fault });
      }
      if (rows.length < ROWS_PER_READ) return found;
      after = rows.at(-1)?.id ?? '';
    }
  },
};

function faultOf(
  row: {
    id: string;
    api_key_hash: string;
    api_key_sealed: string;
    webhook_secret_sealed: string | null;
    previous_webhook_secret_sealed: string | null;
  },
  secrets: Exclude<VerifyContext['secrets'], { missing: string }>,
): string | null {
  try {
    const key = secrets.open(row.api_key_sealed, secrets.api_key_purpose(row.id));
    if (secrets.hash_key(key) !== row.api_key_hash) return 'its key is found by another hash';
  } catch {
    return 'its key cannot be opened';
  }
  try {
    if (row.webhook_secret_sealed !== null)
      secrets.open(row.webhook_secret_sealed, secrets.webhook_secret_purpose(row.id));
  } catch {
    return 'its webhook secret cannot be opened';
  }
  try {
    if (row.previous_webhook_secret_sealed !== null)
      secrets.open(row.previous_webhook_secret_sealed, secrets.previous_webhook_secret_purpose(row.id));
  } catch {
    return 'its previous webhook secret cannot be opened';
  }
  return null;
}

export const schemaLaws: Check[] = [
  schema,
  integrity,
  sealed,
  bySql(
    21,
    'an answer stored for a key, of something that was never made',
    'its caller was answered with a success that is not there; ask it what it has done since',
    ({ at }) => `select caller, key, resource_id from idempotency
      where status = 200
        and not exists (select 1 from invoices i where i.id = idempotency.resource_id)
        and not exists (select 1 from ledger l where l.id = idempotency.resource_id)
        and not exists (select 1 from units u where u.id = idempotency.resource_id)
        ${/* A unit may have been deleted since. */ ''}
        and ${at('body', `'"wait_seconds"'`)} = 0`,
  ),
];
