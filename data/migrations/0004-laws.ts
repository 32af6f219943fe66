// Laws that the database itself enforces; a feed of events that no reader can overtake; sealed books.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

const words: Record<Dialect, Record<string, string>> = {
  sqlite: { INT8: 'integer', OPTIONS: 'strict' },
  postgres: { INT8: 'bigint', OPTIONS: '' },
};

/** A change that is refused where `holds` is false; texts are SQL over `new` and `old`, and never null. */
interface Law {
  name: string;
  on: string;
  /** Whether the change is judged at all, by its own values alone. */
  when: string;
  holds: string;
  /** What the writer is answered. */
  says: string;
}

/** From → to. What is confirmed stays confirmed. */
const invoiceMoves: Record<string, readonly string[]> = {
  created: ['confirmed', 'expired', 'cancelled', 'failed'],
  expired: ['confirmed', 'failed'],
  failed: ['confirmed', 'expired'],
  cancelled: ['confirmed'],
};

const waiting = ['detected', 'confirming', 'held', 'orphaned'];
const paymentMoves: Record<string, readonly string[]> = {
  detected: [...waiting, 'confirmed', 'late'],
  confirming: [...waiting, 'confirmed', 'late'],
  held: [...waiting, 'confirmed', 'late'],
  orphaned: [...waiting, 'confirmed', 'late', 'unmatched'],
  late: ['orphaned', 'confirmed'],
  unmatched: ['orphaned', 'confirmed'],
};

const moves = (allowed: Record<string, readonly string[]>): string =>
  Object.entries(allowed)
    .map(([from, to]) => `(old.status = '${from}' and new.status in ('${to.join("', '")}'))`)
    .join(' or ');

const changed = (...columns: string[]): string =>
  columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ');

const FIXED = ['id', 'blockchain', 'txid', 'idx', 'chain', 'address_key', 'amount_atomic'];
const HEAD = ['prepaid_micros', 'ledger_seq', 'ledger_hash'];
/** What a merchant's chain begins with. */
const GENESIS = '0'.repeat(64);

/** A booking names a confirmed invoice; that never leaves its status, so what held once holds for ever. */
const booked = {
  when: 'new.booked_invoice_id is not null',
  holds: `new.disposition = 'matched' and new.invoice_id is not distinct from new.booked_invoice_id
    and exists (select 1 from invoices where id = new.booked_invoice_id and status = 'confirmed')`,
  says: 'a transfer is booked as matched to the confirmed invoice that it is booked for',
};

const laws: Law[] = [
  {
    name: 'invoice_moves',
    on: 'update of status on invoices',
    when: 'old.status <> new.status',
    holds: moves(invoiceMoves),
    says: 'an invoice cannot move from its status to this one',
  },
  {
    name: 'payment_moves',
    on: 'update of status on payments',
    when: 'old.status <> new.status',
    holds: moves(paymentMoves),
    says: 'a payment cannot move from its status to this one',
  },
  {
    name: 'transfer_fixed',
    on: `update of ${FIXED.join(', ')} on transfers`,
    when: changed(...FIXED),
    holds: 'false',
    says: 'what a transfer is never changes',
  },
  {
    name: 'transfer_booked_once',
    on: 'update of booked_invoice_id on transfers',
    when: `old.booked_invoice_id is not null and (${changed('booked_invoice_id')})`,
    holds: 'false',
    says: 'a transfer is booked once, for ever',
  },
  { name: 'transfer_booked_new', on: 'insert on transfers', ...booked },
  {
    name: 'transfer_booked_right',
    on: 'update of booked_invoice_id, disposition, invoice_id on transfers',
    ...booked,
  },
  {
    name: 'merchant_empty',
    on: 'insert on merchants',
    when: `new.prepaid_micros <> 0 or new.ledger_seq <> 0 or new.ledger_hash <> '${GENESIS}'`,
    holds: 'false',
    says: 'a merchant begins with an empty ledger',
  },
  {
    name: 'merchant_head',
    on: `update of ${HEAD.join(', ')} on merchants`,
    when: changed(...HEAD),
    holds: `new.ledger_seq = old.ledger_seq + 1 and exists (select 1 from ledger
      where merchant_id = new.id and seq = new.ledger_seq
        and balance_micros = new.prepaid_micros and hash = new.ledger_hash)`,
    says: 'the balance of a merchant is what the newest entry of the ledger says',
  },
  {
    name: 'ledger_chain',
    on: 'insert on ledger',
    when: 'true',
    holds: `new.hash_version = 2 and exists (select 1 from merchants
      where id = new.merchant_id and new.seq = ledger_seq + 1 and new.previous_hash = ledger_hash
        and new.balance_micros = prepaid_micros
          + case new.kind when 'fee' then -new.amount_micros else new.amount_micros end)`,
    says: 'an entry of the ledger follows from the head of its chain',
  },
];

/** Money that was seen, and what was asked for it, is never dropped. */
const UNDELETABLE = ['invoices', 'payments', 'transfers', 'income'];

const guards: Record<Dialect, (law: Law) => string[]> = {
  sqlite: ({ name, on, when, holds, says }) => [
    `create trigger law_${name} before ${on} for each row when (${when}) and not (${holds})
     begin select raise(abort, '${says}'); end`,
  ],
  postgres: ({ name, on, when, holds, says }) => [
    `create function law_${name}() returns trigger language plpgsql as $$ begin
       if not (${holds}) then raise exception '${says}' using errcode = 'check_violation'; end if;
       return new;
     end $$`,
    `create trigger law_${name} before ${on} for each row when (${when}) execute function law_${name}()`,
  ],
};

const undeletable: Record<Dialect, (table: string) => string[]> = {
  sqlite: (table) => [
    `create trigger ${table}_no_delete before delete on ${table}
     begin select raise(abort, '${table} are never deleted'); end`,
  ],
  postgres: (table) => [
    `create trigger ${table}_no_delete before delete on ${table}
     for each row execute function refuse_delete()`,
  ],
};

const refuseDelete = `create function refuse_delete() returns trigger language plpgsql as
  $$ begin raise exception '% are never deleted', tg_table_name using errcode = 'check_violation'; end $$`;

const appendOnly: Record<Dialect, (table: string) => string[]> = {
  sqlite: (table) =>
    ['update', 'delete'].map(
      (verb) =>
        `create trigger ${table}_no_${verb} before ${verb} on ${table}
         begin select raise(abort, '${table} is append-only'); end`,
    ),
  postgres: (table) => [
    `create trigger ${table}_append_only before update or delete on ${table}
     for each row execute function refuse_change()`,
  ],
};

const moveHead = `update merchants set prepaid_micros = new.balance_micros, ledger_seq = new.seq,
  ledger_hash = new.hash where id = new.merchant_id;`;

/** The head moves with the entry, in one statement: neither is ever there without the other. */
const headFollows: Record<Dialect, string[]> = {
  sqlite: [`create trigger ledger_head after insert on ledger for each row begin ${moveHead} end`],
  postgres: [
    `create function ledger_head() returns trigger language plpgsql as $$ begin ${moveHead} return null; end $$`,
    'create trigger ledger_head after insert on ledger for each row execute function ledger_head()',
  ],
};

/** Version 1 is a plain SHA-256, which anybody can compute; the head of what has it is sealed once with the key. */
const ledger = [
  `alter table ledger add column hash_version integer not null default 1 check (hash_version in (1, 2))`,
  `create table ledger_seals (
    merchant_id text primary key references merchants (id),
    seq INT8 not null check (seq > 0),
    hash text not null,
    seal text not null
  ) OPTIONS`,
];

const running = [`alter table idempotency add column holder text`];

/**
 * Transactions commit in another order than they take numbers, so an event's number is no position in a feed: a reader
 * that is past it would miss what commits later with a lower one. What is committed and has no position yet stands in
 * `unplaced_events`; positions are given when the feed is read, one reader of a merchant at a time. SQLite has one
 * writer: there the number is the position.
 */
const feed: Record<Dialect, string[]> = {
  sqlite: [`alter table events drop column xid`],
  postgres: [
    `alter table events drop column xid`,
    `create table unplaced_events (
      merchant_id text not null,
      event_seq bigint not null,
      primary key (merchant_id, event_seq)
    )`,
    `create table event_positions (
      merchant_id text not null,
      position bigint not null,
      event_seq bigint not null unique,
      primary key (merchant_id, position)
    )`,
    `create function event_unplaced() returns trigger language plpgsql as $$ begin
       insert into unplaced_events (merchant_id, event_seq) values (new.merchant_id, new.seq);
       return null;
     end $$`,
    `create trigger event_unplaced after insert on events for each row
     when (new.merchant_id is not null) execute function event_unplaced()`,
    `insert into unplaced_events (merchant_id, event_seq)
     select merchant_id, seq from events where merchant_id is not null`,
    // Pages are read by position.
    `drop index events_by_merchant`,
    // Each statement of it sees what was committed when it begins: the lock is held before anything is counted.
    `create function place_events(whose text, most integer) returns integer language plpgsql as $$
     declare placed integer; begin
       if not exists (select 1 from unplaced_events where merchant_id = whose) then return 0; end if;
       perform pg_advisory_xact_lock(hashtextextended('events ' || whose, 0));
       with taken as (
         delete from unplaced_events where merchant_id = whose and event_seq in (
           select event_seq from unplaced_events where merchant_id = whose order by event_seq limit most)
         returning event_seq)
       insert into event_positions (merchant_id, position, event_seq)
       select whose, row_number() over (order by event_seq) + coalesce((
           select position from event_positions where merchant_id = whose order by position desc limit 1), 0),
         event_seq
       from taken order by event_seq;
       get diagnostics placed = row_count;
       return placed;
     end $$`,
    ...appendOnly.postgres('event_positions'),
  ],
};

export const compatible = false;

export async function up(query: Kysely<never>, dialect: Dialect): Promise<void> {
  const translate = (text: string): string =>
    text.replace(/\b(INT8|OPTIONS)\b/g, (word) => words[dialect][word] ?? word);
  const statements = [
    ...ledger.map(translate),
    ...appendOnly[dialect]('ledger_seals'),
    ...laws.flatMap(guards[dialect]),
    ...headFollows[dialect],
    ...(dialect === 'postgres' ? [refuseDelete] : []),
    ...UNDELETABLE.flatMap(undeletable[dialect]),
    ...running,
    ...feed[dialect],
  ];
  for (const statement of statements) await sql.raw(statement).execute(query);
}
