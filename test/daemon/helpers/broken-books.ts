// Sound books that are broken by hand, law by law, as who can write the database could: what refuses it is switched off.
import { createHmac } from 'node:crypto';
import { copyFileSync, rmSync } from 'node:fs';
import { sql } from 'kysely';
import { ledgerKey } from '../../../daemon/process/ledger-key.ts';
import { createSecrets } from '../../../daemon/process/secrets.ts';
import { type Db, openDb } from '../../../data/db/open.ts';
import { createLedger } from '../../../data/ledger.ts';
import { entryText, GENESIS_HASH } from '../../../src/ledger.ts';
import type { Database } from '../../helpers/database.ts';
import { copyDatabase } from '../../helpers/postgres.ts';
import type { SoundBooks } from './sound-books.ts';

/** A database that is being broken. */
export interface Forger {
  db: Db;
  /** Of the books, Unix seconds. */
  now: number;
  run(statement: string): Promise<void>;
  /** Gives a merchant's entries the hashes that the daemon would have given them. */
  rehash(merchant_id: string): Promise<void>;
  /** An entry that the daemon itself posts. */
  credit(merchant_id: string, amount_micros: bigint): Promise<void>;
  id(question: string): Promise<string>;
}

export interface Break {
  law: number;
  /** Part of what verify says. */
  says: string;
  on?: Database;
  by: string | ((forger: Forger) => Promise<void>);
  /** What is switched off stays so. */
  is_left_open?: boolean;
}

const one = (from: string): string => `(select id from ${from} limit 1)`;
const first = (table: string, where: string): string =>
  `(select id from ${table} where ${where} order by id limit 1)`;
const RICH = `(select merchant_id from ledger where kind = 'credit' order by created_at limit 1)`;
/** Booked without an operator. */
const BOOKED = first(
  'transfers',
  `booked_invoice_id is not null and blockchain = 'bitcoin' and idx <> 'manual'`,
);
const OPEN = first(
  'invoices',
  `status = 'created' and due_at > 1 and memo is not null and payment_id is null`,
);
const OPEN_BITCOIN = first(
  'invoices',
  `status = 'created' and blockchain = 'bitcoin' and payment_id is null`,
);
/** What open invoices asked for before their buyers changed the coin. */
const FORMER = `invoice_id in (select id from invoices where status = 'created')`;
const HELD = `(select invoice_id from payments where status = 'held' and main = 1 order by id limit 1)`;
const UNMATCHED = first('payments', `status = 'unmatched'`);
const ALIVE = '(select max(last_ok_at) from cursors)';
const proof = (address: string, account: string): string =>
  `insert into account_proofs (blockchain, address_key, chain, account, failures, updated_at)
   values ('ton', ${address}, 'ton-usdt', ${account}, 0, 1)`;

export const breaks: Break[] = [
  {
    law: 1,
    says: 'does not follow',
    by: `update ledger set balance_micros = balance_micros + 1 where seq = 1`,
  },
  { law: 1, says: 'does not follow', by: `update ledger set note = 'another' where seq = 1` },
  {
    law: 1,
    says: 'does not follow',
    by: `update ledger set seq = seq + 100 where merchant_id = ${RICH} and seq > 3`,
  },
  {
    law: 1,
    says: 'not what the newest entry',
    by: `update merchants set prepaid_micros = prepaid_micros + 5 where id = ${RICH}`,
  },
  {
    law: 1,
    says: 'not what was sealed',
    by: `insert into ledger_seals (merchant_id, seq, hash, seal)
      select merchant_id, seq, hash, 'forged' from ledger where merchant_id = ${RICH} and seq = 1`,
  },
  { law: 1, says: 'anyone can compute', by: `update ledger set hash_version = 1 where seq = 2` },
  {
    law: 2,
    says: 'two accounts',
    async by({ run, id, rehash }) {
      await run(
        `update ledger set debit_account = 'platform:elsewhere' where merchant_id = ${RICH} and seq = 1`,
      );
      await rehash(await id(RICH));
    },
  },
  {
    law: 2,
    says: 'does not belong to the invoice',
    async by({ run, id, rehash }) {
      await run(`update ledger set invoice_id = ${first('invoices', `status = 'expired'`)}
        where merchant_id = ${RICH} and kind = 'credit' and seq = 1`);
      await rehash(await id(RICH));
    },
  },
  {
    law: 3,
    says: 'its income, fee or refill',
    by: `update invoices set amount_usd_micros = amount_usd_micros + 1 where kind = 'refill' and status = 'confirmed'`,
  },
  {
    law: 3,
    says: 'its income, fee or refill',
    by: `update income set chain = 'solana' where id = ${one('income')}`,
  },
  { law: 3, says: 'its income, fee or refill', by: `update income set house = 0 where house = 1` },
  {
    law: 4,
    says: 'what its invoice received',
    by: `update income set txid = 'another' where id = ${one('income')}`,
  },
  { law: 4, says: 'not the sum of it', by: `update balances set amount_atomic = '1' where currency = 'TON'` },
  { law: 4, says: 'income of a day', by: `update income_totals set count = count + 1` },
  {
    law: 4,
    says: 'income of a day',
    by: `insert into income_totals (merchant_id, day, currency, decimals, count, amount_atomic, amount_usd_micros,
      fee_charged_micros) values (${RICH}, '2020-01-01', 'TON', 9, 1, '1', 1, 1)`,
  },
  { law: 4, says: 'a running sum', by: `update tallies set count = count + 1 where name = 'invoices'` },
  {
    law: 5,
    says: 'not matched to the confirmed',
    by: `update transfers set chain = 'ton-usdt' where id = ${BOOKED}`,
  },
  {
    law: 5,
    says: 'not matched to the confirmed',
    by: `update transfers set invoice_id = ${first('invoices', `status = 'confirmed' and chain = 'ton'`)}
      where id = ${BOOKED}`,
  },
  { law: 6, says: 'has not received', by: `update transfers set amount_atomic = '1' where id = ${BOOKED}` },
  {
    law: 6,
    says: 'no contradiction is noted',
    by: `delete from contradictions where kind = 'booking_differs'`,
  },
  {
    law: 7,
    says: 'not made in its time',
    by: `update transfers set earliest_at = 5, latest_at = 10 where id = ${BOOKED}`,
  },
  {
    law: 7,
    says: 'not made in its time',
    async by({ run }) {
      await run(`update invoices set confirmations = 0 where id =
        (select booked_invoice_id from transfers where id = ${BOOKED})`);
      await run(`update transfers set state = 'pending', confirmations = 0 where id = ${BOOKED}`);
    },
  },
  { law: 8, says: 'says it has received', by: `update invoices set confirmations = 3 where id = ${OPEN}` },
  {
    law: 8,
    says: 'which asks for another coin',
    by: `update transfers set chain = 'ton-usdt' where disposition = 'matched' and invoice_id = ${HELD}`,
  },
  {
    law: 9,
    says: 'no invoice takes and no payment lists',
    by: `update transfers set payment_id = null where disposition = 'late'`,
  },
  {
    law: 9,
    says: 'not the sum of its transfers',
    by: `update payments set received_atomic = '1' where id = ${UNMATCHED}`,
  },
  {
    law: 9,
    says: 'a day of dust that is not the sum',
    by: `update dust set amount_atomic = '8'`,
  },
  {
    law: 9,
    says: 'a day of dust that is not the sum',
    by: `update dust set count = count + 1`,
  },
  {
    law: 9,
    says: 'counted as dust and is listed',
    by: `update transfers set disposition = 'late' where dust_day is not null`,
  },
  {
    law: 9,
    says: 'another payment than its own',
    by: `update invoices set payment_id = null where id = ${first('invoices', `status = 'confirmed'`)}`,
  },
  {
    law: 10,
    says: 'the limit covers it',
    by: `update merchants set house_since = 1 where id in (select owner_id from payments where status = 'held')`,
  },
  {
    law: 10,
    says: 'does not go with its own',
    async by({ run, id }) {
      const payment = await id(first('payments', `status = 'late' and main = 1`));
      await run(`update payments set status = 'confirming' where id = '${payment}'`);
      await run(`insert into payment_logs (id, payment_id, from_status, to_status, confirmations, actor, created_at)
        values ('forged', '${payment}', 'late', 'confirming', 0, 'forger', 1)`);
    },
  },
  {
    law: 10,
    says: 'though the limit covers it',
    async by({ credit, id }) {
      const merchant =
        await id(`(select i.owner_id as id from payments p join invoices i on i.id = p.invoice_id
        where p.status = 'held' limit 1)`);
      await credit(merchant, 50_000_000n);
    },
  },
  {
    law: 11,
    says: 'does not begin where',
    by: `update payment_logs set from_status = 'held' where from_status is null and payment_id = ${UNMATCHED}`,
  },
  {
    law: 11,
    says: 'than its log ends with',
    by: `update payment_logs set to_status = 'held' where payment_id = ${UNMATCHED}`,
  },
  {
    law: 12,
    says: 'without saying when',
    by: `update invoices set ended_at = null where status = 'expired'`,
  },
  {
    law: 12,
    says: 'read past its end',
    by: `update invoices set expires_at = ${ALIVE} - 2000 where id = ${OPEN}`,
  },
  {
    law: 12,
    says: 'read past its end',
    by: `update invoices set expires_at = ${ALIVE} - 2000 where status = 'created'
      and id in (select invoice_id from former_terms)`,
  },
  {
    law: 12,
    says: 'a day after its time',
    by: `update invoices set expires_at = ${ALIVE} - 100000 where id = ${OPEN_BITCOIN}`,
  },
  {
    law: 13,
    says: 'without exactly one event',
    by: `delete from events where id = ${first('events', `type = 'invoice.created'`)}`,
  },
  {
    law: 13,
    says: 'without exactly one event',
    by: `update events set body = replace(body, invoice_id, 'another') where type = 'invoice.confirmed'`,
  },
  {
    law: 13,
    says: 'does not say which payment',
    by: `update events set payment_id = null where type = 'payment.unmatched'`,
  },
  {
    law: 13,
    on: 'postgres',
    says: 'its feed never shows',
    by: `delete from event_positions where position = 2`,
  },
  {
    law: 14,
    says: 'that is no confirmation',
    by: `update deliveries set event_id = ${first('events', `type = 'invoice.created'`)} where status = 'failed'`,
  },
  {
    law: 14,
    says: 'another webhook status',
    by: `update income set webhook_status = 'unknown' where webhook_status = 'delivered'`,
  },
  {
    law: 14,
    says: 'under way for too long',
    by: `update deliveries set status = 'sending', claimed_at = ${ALIVE} - 1000 where status = 'failed'`,
  },
  {
    law: 15,
    says: 'not reserved though nothing else',
    by: `update invoices set reserved = null where id = ${OPEN_BITCOIN}`,
  },
  {
    law: 15,
    says: 'not reserved though nothing else',
    by: `update former_terms set reserved = null where blockchain = 'bitcoin' and ${FORMER}`,
  },
  {
    law: 15,
    says: 'reserved for two',
    async by({ run, id }) {
      const other = await id(OPEN_BITCOIN);
      const of = (column: string) => `${column} = (select ${column} from invoices where id = '${other}')`;
      const columns = ['amount_merchant_atomic', 'amount_fee_atomic', 'amount_atomic'];
      await run(
        `update former_terms set ${columns.map(of).join(', ')} where blockchain = 'bitcoin' and ${FORMER}`,
      );
    },
  },
  {
    law: 15,
    says: 'not made here',
    by: `update former_terms set memo = 'lower case' where blockchain = 'ton' and ${FORMER}`,
  },
  {
    law: 15,
    says: 'longer than it had to be',
    by: `update invoices set reserved = 1, reserved_until = ${ALIVE} - 5000
      where status = 'cancelled' and blockchain = 'bitcoin'`,
  },
  {
    law: 15,
    says: 'longer than it had to be',
    by: `update former_terms set reserved = 1, reserved_until = ${ALIVE} - 5000 where blockchain = 'bitcoin'
      and invoice_id in (select id from invoices where status = 'cancelled')`,
  },
  { law: 15, says: 'not made here', by: `update invoices set memo = 'lower case' where id = ${OPEN}` },
  {
    law: 16,
    says: 'no integer of at least zero',
    by: `update invoices set rate_usd_nanos = '0' || rate_usd_nanos where id = ${OPEN}`,
  },
  {
    law: 16,
    says: 'another amount than its price',
    by: `update invoices set amount_merchant_atomic = '9000000000', amount_atomic = '9000000000' where id = ${OPEN}`,
  },
  {
    law: 16,
    says: 'another amount than its price',
    by: `update invoices set amount_merchant_atomic = '2499999999', amount_fee_atomic = '1' where id = ${OPEN}`,
  },
  {
    law: 16,
    says: 'no integer of at least zero',
    by: `update former_terms set rate_usd_nanos = '0' || rate_usd_nanos where blockchain = 'ton' and ${FORMER}`,
  },
  {
    law: 16,
    says: 'another amount than its price',
    by: `update former_terms set amount_merchant_atomic = '9000000000', amount_atomic = '9000000000'
      where blockchain = 'ton' and ${FORMER}`,
  },
  {
    law: 17,
    says: 'is not watched',
    by: `update former_terms set offered_at = offered_at - 1000000 where ${FORMER}`,
  },
  { law: 17, says: 'is not watched', by: `delete from watches where blockchain = 'bitcoin'` },
  { law: 17, says: 'is not watched', by: `update watches set since = since + 1000000` },
  {
    law: 18,
    says: 'in the future',
    by: ({ run, now }) => run(`update cursors set tip_time = ${now + 100_000} where blockchain = 'bitcoin'`),
  },
  {
    law: 18,
    says: 'further than the last complete reading',
    by: `update cursors set last_ok_at = last_ok_at - 1000 where blockchain = 'bitcoin'`,
  },
  {
    law: 18,
    says: 'overlap',
    by: `insert into read_ranges (blockchain, scope, from_position, to_position, updated_at)
      values ('bitcoin', '*', 1, 5, 1), ('bitcoin', '*', 4, 9, 1)`,
  },
  {
    law: 18,
    says: 'a gap between them',
    by: ({ run, now }) =>
      run(`insert into read_ranges (blockchain, scope, from_position, to_position, updated_at)
        values ('bitcoin', '*', 1, 5, ${now}), ('bitcoin', '*', 7, 9, ${now})`),
  },
  {
    law: 19,
    says: 'read as two',
    async by({ run }) {
      await run(proof(`'0:aa'`, `'0:cc'`));
      await run(proof(`'0:bb'`, `'0:cc'`));
    },
  },
  {
    law: 19,
    says: 'watched as an address',
    by: proof(`'0:aa'`, `(select address_key from watches where blockchain = 'ton' limit 1)`),
  },
  {
    law: 20,
    says: 'has closed',
    by: `update contradictions set closed_at = null, closed_by = null where id = ${one('contradictions')}`,
  },
  {
    law: 20,
    says: 'the chain has not shown',
    by: `update payment_logs set note = 'confirmed by the operator' where note like 'confirmed by the operator: %'`,
  },
  { law: 21, says: 'part of the schema', by: 'select 1', is_left_open: true },
  { law: 21, on: 'sqlite', says: 'part of the schema', by: 'drop index invoices_reserved_refill' },
  {
    law: 21,
    on: 'sqlite',
    says: 'part of the schema',
    by: 'create trigger forged after insert on ledger begin delete from meta; end',
  },
  {
    law: 21,
    says: 'point at nothing',
    async by({ run, db }) {
      const is_sqlite = db.dialect === 'sqlite';
      await run(is_sqlite ? 'pragma foreign_keys = off' : 'alter table wallets disable trigger all');
      await run(`insert into wallets (merchant_id, blockchain, address, address_key, updated_at)
        values ('no one', 'ton', 'a', 'a', 1)`);
      await run(is_sqlite ? 'pragma foreign_keys = on' : 'alter table wallets enable trigger all');
    },
  },
  {
    law: 21,
    says: 'cannot be opened',
    by: `update merchants set api_key_sealed = (select api_key_sealed from merchants where id = ${RICH})`,
  },
  {
    law: 21,
    says: 'never made',
    by: `update idempotency set resource_id = 'nothing' where key = 'credit-once'`,
  },
];

/** A copy of the books with one law broken; `remove` it. */
export async function breakBooks(books: SoundBooks, { by, is_left_open = false }: Break) {
  const copy = await copyOf(books);
  const db = await openDb(copy.url);
  try {
    const restore = await switchOff(db);
    const forger = forgerOf(books, db);
    await (typeof by === 'string' ? forger.run(by) : by(forger));
    if (!is_left_open) await restore();
  } finally {
    await db.close();
  }
  return copy;
}

async function copyOf({ dialect, url }: SoundBooks): Promise<{ url: string; remove(): Promise<void> }> {
  if (dialect === 'postgres') {
    const copy = await copyDatabase(url);
    return { url: copy.url, remove: copy.drop };
  }
  const file = url.slice('sqlite:'.length);
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  return {
    url: `sqlite:${copy}`,
    remove: async () => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
    },
  };
}

/** Without the triggers that refuse; those that count stay. Returns what puts them back. */
async function switchOff({ dialect, query }: Db): Promise<() => Promise<void>> {
  const run = (text: string) => sql.raw(text).execute(query);
  if (dialect === 'sqlite') {
    const { rows } = await sql<{ name: string; text: string }>`select name, sql as text from sqlite_schema
      where type = 'trigger' and sql like '%raise(abort%'`.execute(query);
    for (const { name } of rows) await run(`drop trigger ${name}`);
    return async () => {
      for (const { text } of rows) await run(text);
    };
  }
  const { rows } = await sql<{ name: string; on: string }>`
    select t.tgname as name, t.tgrelid::regclass::text as on from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal and p.prosrc like '%raise exception%'`.execute(query);
  for (const { name, on } of rows) await run(`alter table ${on} disable trigger ${name}`);
  return async () => {
    for (const { name, on } of rows) await run(`alter table ${on} enable trigger ${name}`);
  };
}

function forgerOf({ config, now }: SoundBooks, db: Db): Forger {
  const run = async (statement: string) => void (await sql.raw(statement).execute(db.query));
  const keyOf = async () => {
    const key = await ledgerKey(db.query, createSecrets(config.secret ?? ''));
    if (!key) throw new Error('the ledger has no key');
    return key;
  };
  return {
    db,
    now,
    run,
    async id(question) {
      const { rows } = await sql<{ id: string }>`select ${sql.raw(question)} as id`.execute(db.query);
      if (!rows[0]?.id) throw new Error(`there is nothing to break: ${question}`);
      return rows[0].id;
    },
    async rehash(merchant_id) {
      const key = await keyOf();
      const entries = db.query.selectFrom('ledger').selectAll().where('merchant_id', '=', merchant_id);
      let previous_hash = GENESIS_HASH;
      for (const { hash: _, ...entry } of await entries.orderBy('seq').execute()) {
        const hash = createHmac('sha256', key)
          .update(entryText({ ...entry, previous_hash }))
          .digest('hex');
        await run(
          `update ledger set previous_hash = '${previous_hash}', hash = '${hash}' where id = '${entry.id}'`,
        );
        previous_hash = hash;
      }
      await run(`update merchants set ledger_hash = '${previous_hash}' where id = '${merchant_id}'`);
    },
    async credit(merchant_id, amount_micros) {
      const ledger = createLedger(db, await keyOf());
      await db.transaction((tx) =>
        ledger.post(tx, {
          merchant_id,
          kind: 'credit',
          amount_micros,
          invoice_id: null,
          note: null,
          actor: 'forger',
          now,
        }),
      );
    },
  };
}
