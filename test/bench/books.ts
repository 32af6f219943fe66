// Whole books for benches: each invoice with its payment, transfer, log, events, income and ledger entry, as the daemon leaves them.
import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../data/db/open.ts';
import type { LedgerRow } from '../../data/schema/tables.ts';
import { entryText, GENESIS_HASH, nextEntry } from '../../src/ledger.ts';
import { MEMO_ALPHABET } from '../../src/memo.ts';

/** Invoices written in one transaction. */
const STEP = 20_000;
/** Of each hundred invoices so many are open, and so many have ended unpaid; the rest is confirmed. */
const OPEN = 5;
const EXPIRED = 20;
/** What an event says alongside the ids of what it is about, in bytes. */
const BODY_BYTES = 900;
const USD_MICROS = 10_000_000n;
const CREDIT_MICROS = 1_000_000_000_000n;
const CREATED_WITHIN_SECONDS = 30 * 24 * 3600;
const TTL_SECONDS = 300;
const WATCHED_SECONDS = 24 * 3600;
/** Rows of a ledger in one statement. */
const ENTRIES_PER_STATEMENT = 500;

export interface Books {
  /** Accounts that are there already. */
  merchant_ids: readonly string[];
  count: number;
  ledger_key: Uint8Array;
  /** Unix seconds; a daemon reads at this moment. */
  now: number;
}

/** Fills an empty database; what refuses or counts is switched off meanwhile, and sums are written at the end. */
export async function fillBooks(db: Db, books: Books): Promise<void> {
  const restore = await withoutTriggers(db);
  for (let from = 0; from < books.count; from += STEP)
    await inStep(db, async (run) => {
      for (const statement of rowsOf(db, books, from, Math.min(books.count, from + STEP)))
        await run(statement);
    });
  await fillLedger(db, books);
  await inStep(db, async (run) => {
    for (const statement of sumsOf(db, books.now)) await run(statement);
  });
  await restore();
  await sql.raw('analyze').execute(db.schema);
}

type Run = (statement: string) => Promise<unknown>;

const inStep = (db: Db, work: (run: Run) => Promise<void>): Promise<void> =>
  db.schema.connection().execute(async (connection) => {
    const run: Run = (statement) => sql.raw(statement).execute(connection);
    await run('begin');
    if (db.dialect === 'postgres') await run('set local session_replication_role = replica');
    await work(run);
    await run('commit');
  });

/** PostgreSQL switches them off for a transaction, SQLite has them dropped; returns what puts them back. */
async function withoutTriggers({ dialect, query }: Db): Promise<() => Promise<void>> {
  if (dialect === 'postgres') return async () => {};
  const { rows } = await sql<{ name: string; text: string }>`
    select name, sql as text from sqlite_schema where type = 'trigger'`.execute(query);
  for (const { name } of rows) await sql.raw(`drop trigger ${name}`).execute(query);
  return async () => {
    for (const { text } of rows) await sql.raw(text).execute(query);
  };
}

interface Words {
  hex(number: string, width: number): string;
  memo(number: string): string;
}

/** Digits of a number as letters of a memo: those that it has not are the last of its alphabet. */
const letters = MEMO_ALPHABET.slice(-2);
const words: Record<Db['dialect'], Words> = {
  sqlite: {
    hex: (number, width) => `printf('%0${width}x', ${number})`,
    memo: (number) =>
      `replace(replace(printf('%010X', ${number}), '0', '${letters[0]}'), '1', '${letters[1]}')`,
  },
  postgres: {
    hex: (number, width) => `lpad(to_hex(${number}), ${width}, '0')`,
    memo: (number) => `translate(upper(lpad(to_hex(${number}), 10, '0')), '01', '${letters}')`,
  },
};

const addressOf = (at: string, { hex }: Words): string => `'0:' || ${hex(at, 64)}`;

function rowsOf({ dialect }: Db, { merchant_ids, count, now }: Books, from: number, to: number): string[] {
  const is = words[dialect];
  const id = (kind: string, at = 'i') => `${is.hex(at, 8)} || '-0000-4000-8${kind}-' || ${is.hex(at, 12)}`;
  const merchants = merchant_ids.length;
  const owner = `case i % ${merchants} ${merchant_ids.map((each, at) => `when ${at} then '${each}'`).join(' ')} end`;
  const status = `case when i % 100 < ${OPEN} then 'created' when i % 100 < ${OPEN + EXPIRED} then 'expired' else 'confirmed' end`;
  // Those that are open were made just now.
  const made = `case when i % 100 < ${OPEN} then ${now} - 5 else ${now - CREATED_WITHIN_SECONDS} + cast(i as bigint) * ${CREATED_WITHIN_SECONDS - 4000} / ${count} end`;
  const numbers = `with recursive n(i) as (select ${from} union all select i + 1 from n where i + 1 < ${to}),
    made as (select i, ${id('000')} as id, ${id('001')} as payment_id, ${owner} as owner_id, ${status} as status,
      ${made} as created_at, ${addressOf(`i % ${merchants} + 1`, is)} as address, ${is.hex('i', 64)} as txid,
      ${is.memo('i')} as memo from n)`;
  const paid = `from made where status = 'confirmed'`;
  const end = `created_at + ${TTL_SECONDS}`;
  const body = (type: string, payment: string) =>
    `'{"type":"${type}","timestamp":"2026-11-20T08:00:00Z","data":{"invoice":{"id":"' || id || '","text":"${'x'.repeat(BODY_BYTES)}"},"payment":' || ${payment} || '}}'`;
  const event = (kind: string, type: string, payment: string, text: string, where: string) =>
    `${numbers} insert into events (id, merchant_id, type, invoice_id, payment_id, body, created_at)
      select ${id(kind)}, owner_id, '${type}', id, ${payment}, ${body(type, text)}, created_at from made ${where} order by i`;
  return [
    `${numbers} insert into invoices (id, owner_id, kind, chain, blockchain, currency, network, decimals, min_confirmations,
      amount_usd_micros, amount_usd_fee_micros, rate_usd_nanos, amount_merchant_atomic, amount_fee_atomic, amount_atomic,
      address, address_key, memo, qr_payload, exits, status, payment_id, amount_match, received_atomic, txid,
      confirmations, created_at, expires_at, paid_at, ended_at, due_at, watch_until)
      select id, owner_id, 'sale', 'ton', 'ton', 'TON', 'testnet', 9, 1, ${USD_MICROS}, 0, '4000000000', '2500000000', '0',
      '2500000000', address, address, memo, 'ton://transfer/' || address, '{}', status,
      case status when 'confirmed' then payment_id end, case status when 'confirmed' then 'exact' else 'none' end,
      case status when 'confirmed' then '2500000000' end, case status when 'confirmed' then txid end,
      case status when 'confirmed' then 1 else 0 end, created_at, ${end},
      case status when 'confirmed' then created_at + 60 end, case status when 'created' then null else ${end} end,
      case status when 'created' then ${end} end, ${end} + ${WATCHED_SECONDS} from made`,
    `${numbers} insert into payments (id, invoice_id, main, owner_id, chain, blockchain, currency, decimals, status, txid,
      received_atomic, amount_match, confirmations, listed_as, listed_at, created_at, updated_at)
      select payment_id, id, 1, owner_id, 'ton', 'ton', 'TON', 9, 'confirmed', txid, '2500000000', 'exact', 1, 'sale',
      created_at, created_at, created_at ${paid}`,
    `${numbers} insert into payment_logs (id, payment_id, invoice_id, from_status, to_status, txid, confirmations, actor, created_at)
      select ${id('002')}, payment_id, id, null, 'confirmed', txid, 1, 'observer', created_at ${paid} order by i`,
    `${numbers} insert into transfers (id, blockchain, txid, idx, chain, address_key, amount_atomic, memo, reference_keys, sender,
      height, block_hash, earliest_at, latest_at, confirmations, state, disposition, invoice_id, payment_id,
      booked_invoice_id, first_seen_at, updated_at)
      select ${id('003')}, 'ton', txid, 'ton:' || address, 'ton', address, '2500000000', memo, '[]', 'payer', i, null,
      created_at + 30, created_at + 31, 1, 'final', 'matched', id, payment_id, id, created_at + 40, created_at + 40 ${paid}`,
    `${numbers} insert into income (id, merchant_id, invoice_id, chain, currency, amount_atomic, decimals, amount_usd_micros,
      fee_charged_micros, txid, webhook_status, created_at)
      select ${id('004')}, owner_id, id, 'ton', 'TON', '2500000000', 9, ${USD_MICROS}, ${USD_MICROS / 100n}, txid,
      'delivered', created_at ${paid} order by i`,
    event('005', 'invoice.created', 'null', `'null'`, ''),
    event(
      '006',
      'invoice.confirmed',
      'payment_id',
      `'{"id":"' || payment_id || '"}'`,
      `where status = 'confirmed'`,
    ),
    `${numbers} insert into deliveries (id, event_id, merchant_id, url, host, kind, status, finished_at, created_at)
      select ${id('007')}, ${id('006')}, owner_id, 'https://shop.example/hook', 'shop.example:443', 'automatic',
      'delivered', created_at, created_at ${paid}`,
  ];
}

/** One chain of entries for each merchant: a credit, then the fee of each sale. */
async function fillLedger(db: Db, { merchant_ids, ledger_key, now }: Books): Promise<void> {
  for (const merchant_id of merchant_ids) {
    const { rows } = await sql<{ invoice_id: string; created_at: number }>`
      select invoice_id, created_at from income where merchant_id = ${merchant_id}`.execute(db.schema);
    let head = { prepaid_micros: 0n, ledger_seq: 0, ledger_hash: GENESIS_HASH };
    const entries: LedgerRow[] = [];
    const post = (
      request: Pick<LedgerRow, 'id' | 'kind' | 'amount_micros' | 'invoice_id' | 'created_at'>,
    ) => {
      const made = nextEntry(head, { ...request, merchant_id, note: null, actor: 'bench' }, NO_KEY);
      if (!made) throw new Error('the credit is used up');
      const { hash: _, ...entry } = made;
      const hash = createHmac('sha256', ledger_key).update(entryText(entry)).digest('hex');
      head = { prepaid_micros: entry.balance_micros, ledger_seq: entry.seq, ledger_hash: hash };
      entries.push({ ...entry, hash });
    };
    post({
      id: `credit-${merchant_id}`,
      kind: 'credit',
      amount_micros: CREDIT_MICROS,
      invoice_id: null,
      created_at: now - CREATED_WITHIN_SECONDS,
    });
    for (const { invoice_id, created_at } of rows)
      post({
        id: `fee-${invoice_id}`,
        kind: 'fee',
        amount_micros: USD_MICROS / 100n,
        invoice_id,
        created_at: Number(created_at),
      });
    await inStep(db, async (run) => {
      for (let at = 0; at < entries.length; at += ENTRIES_PER_STATEMENT)
        await run(`insert into ledger (id, merchant_id, seq, kind, debit_account, credit_account, amount_micros,
          balance_micros, invoice_id, note, actor, created_at, previous_hash, hash, hash_version) values
          ${entries
            .slice(at, at + ENTRIES_PER_STATEMENT)
            .map(valuesOf)
            .join(', ')}`);
      await run(`update merchants set prepaid_micros = ${head.prepaid_micros}, ledger_seq = ${head.ledger_seq},
        ledger_hash = '${head.ledger_hash}' where id = '${merchant_id}'`);
    });
  }
}

/** The hash that it makes is replaced by one that is made faster. */
const NO_KEY = new Uint8Array(32);

function valuesOf(row: LedgerRow): string {
  const { id, merchant_id, seq, kind, debit_account, credit_account, amount_micros, balance_micros } = row;
  const { invoice_id, actor, created_at, previous_hash, hash, hash_version } = row;
  const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);
  return `(${[id, merchant_id].map(text)}, ${seq}, ${[kind, debit_account, credit_account].map(text)}, ${amount_micros},
    ${balance_micros}, ${text(invoice_id)}, null, ${text(actor)}, ${created_at}, ${text(previous_hash)}, ${text(hash)},
    ${hash_version})`;
}

/** What triggers and bookings would have added up, what is watched, and that it is read. */
function sumsOf({ dialect }: Db, now: number): string[] {
  const day =
    dialect === 'sqlite'
      ? `date(created_at, 'unixepoch')`
      : `to_char(to_timestamp(created_at) at time zone 'UTC', 'YYYY-MM-DD')`;
  const tally = (name: string, key: string, of_day: string, sums: string, from: string) =>
    `insert into tallies (name, key, day, shard, count, amount_micros, fee_micros)
      select ${name}, ${key}, ${of_day}, 0, count(*), ${sums} from ${from}`;
  return [
    tally(`'invoices'`, 'status', '0', '0, 0', 'invoices group by status'),
    tally(`'owner_invoices'`, 'owner_id', '0', '0, 0', 'invoices group by owner_id'),
    tally(
      `'sales'`,
      'currency',
      'paid_at / 86400',
      'sum(amount_usd_micros), 0',
      `invoices where status = 'confirmed' group by currency, paid_at / 86400`,
    ),
    tally(
      `'ledger'`,
      'kind',
      'created_at / 86400',
      'sum(amount_micros), 0',
      'ledger group by kind, created_at / 86400',
    ),
    tally(
      `'owner_income'`,
      'merchant_id',
      '0',
      'sum(amount_usd_micros), sum(fee_charged_micros)',
      'income group by merchant_id',
    ),
    `insert into balances (merchant_id, currency, decimals, amount_atomic)
      select merchant_id, currency, 9, cast(count(*) * cast(2500000000 as bigint) as text) from income
      group by merchant_id, currency`,
    `insert into income_totals (merchant_id, day, currency, decimals, count, amount_atomic, amount_usd_micros, fee_charged_micros)
      select merchant_id, ${day}, currency, 9, count(*), cast(count(*) * cast(2500000000 as bigint) as text),
      sum(amount_usd_micros), sum(fee_charged_micros) from income group by merchant_id, ${day}, currency`,
    `insert into watches (blockchain, address_key, address, since, open_until, watch_until)
      select blockchain, address_key, address_key, min(created_at), max(expires_at) + ${WATCHED_SECONDS},
      max(watch_until) from invoices group by blockchain, address_key`,
    `insert into address_accounts (blockchain, address_key, owner_id, since, sold_micros)
      select blockchain, address_key, owner_id, min(created_at), 0 from invoices
      group by blockchain, address_key, owner_id`,
    `insert into cursors (blockchain, cursor, version, tip_height, tip_time, last_ok_at, read_through)
      values ('ton', '{}', 1, 1, ${now}, ${now}, ${now})`,
    ...(dialect === 'postgres'
      ? [
          `insert into event_positions (merchant_id, position, event_seq)
            select merchant_id, row_number() over (partition by merchant_id order by seq), seq from events`,
        ]
      : []),
  ];
}
