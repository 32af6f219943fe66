// Laws of the books that the rows alone must keep, whatever happened.
import { GENESIS_HASH, platformFee } from '../../src/ledger.ts';
import type { Books } from './books.ts';

export interface Broken {
  law: string;
  text: string;
}

interface Question {
  law: string;
  text: string;
  /** Rows that break the law, each with an `id`. */
  rows: string;
}

const questions: readonly Question[] = [
  {
    law: 'booked-is-confirmed',
    text: 'transfer is booked for an invoice that is not confirmed, or is not matched to it',
    rows: `select t.id from transfers t join invoices i on i.id = t.booked_invoice_id
      where i.status <> 'confirmed' or t.disposition <> 'matched' or t.invoice_id <> i.id
        or t.chain <> i.chain or t.address_key <> i.address_key`,
  },
  {
    law: 'sale-books-once',
    text: 'confirmed sale has not exactly one income and one confirmed event',
    rows: `select i.id from invoices i where i.status = 'confirmed' and i.kind = 'sale' and i.owner_id is not null and (
      (select count(*) from income where invoice_id = i.id) <> 1 or
      (select count(*) from events where invoice_id = i.id and type = 'invoice.confirmed') <> 1)`,
  },
  {
    law: 'sale-books-once',
    text: 'invoice that is not confirmed has income, an entry or a confirmed event',
    rows: `select i.id from invoices i where i.status <> 'confirmed' and (
      exists (select 1 from income where invoice_id = i.id) or
      exists (select 1 from ledger where invoice_id = i.id) or
      exists (select 1 from events where invoice_id = i.id and type = 'invoice.confirmed'))`,
  },
  {
    law: 'refill-books-once',
    text: 'confirmed refill has not exactly one entry of its amount',
    rows: `select i.id from invoices i where i.status = 'confirmed' and i.kind = 'refill' and
      (select coalesce(sum(amount_micros), 0) from ledger where invoice_id = i.id and kind = 'refill') <> i.amount_usd_micros`,
  },
  {
    law: 'created-event',
    text: 'invoice has not exactly one created event',
    rows: `select i.id from invoices i where
      (select count(*) from events where invoice_id = i.id and type = 'invoice.created') <> 1`,
  },
  {
    law: 'ended-at',
    text: 'invoice has ended without a time, or has a time and has not ended',
    rows: `select id from invoices where (status = 'created') <> (ended_at is null)`,
  },
  {
    law: 'strays-are-listed',
    text: 'transfer that is not matched has no payment',
    rows: `select id from transfers where disposition <> 'matched' and state <> 'gone' and payment_id is null`,
  },
  {
    law: 'matched-is-open-or-booked',
    text: 'transfer is matched to an invoice that has ended without it',
    rows: `select t.id from transfers t join invoices i on i.id = t.invoice_id
      where t.disposition = 'matched' and t.state <> 'gone' and t.booked_invoice_id is null and i.status <> 'created'`,
  },
  {
    law: 'payment-log',
    text: 'payment has another status than its last log',
    rows: `select p.id from payments p where p.status <>
      (select to_status from payment_logs where payment_id = p.id order by seq desc limit 1)`,
  },
  {
    law: 'payment-of-ended',
    text: 'payment of an invoice that has ended still waits',
    rows: `select p.id from payments p join invoices i on i.id = p.invoice_id
      where p.main = 1 and i.status <> 'created' and p.status in ('detected', 'confirming', 'held')`,
  },
  {
    law: 'one-delivery',
    text: 'event has more than one automatic delivery, or one that confirms nothing',
    rows: `select e.id from events e join deliveries d on d.event_id = e.id and d.kind = 'automatic'
      group by e.id, e.type having count(*) > 1 or e.type <> 'invoice.confirmed'`,
  },
  {
    law: 'booked-in-time',
    text: 'transfer was booked although it was made before the invoice or after its end',
    rows: `select t.id from transfers t join invoices i on i.id = t.booked_invoice_id
      where (t.latest_at < i.created_at or t.earliest_at > i.expires_at) and not exists (
        select 1 from payment_logs l where l.invoice_id = i.id and l.actor like 'operator:%')`,
  },
  {
    law: 'no-cursor-in-the-future',
    text: 'two read ranges of one scope overlap or leave a gap',
    rows: `select a.scope as id from read_ranges a join read_ranges b on a.blockchain = b.blockchain and a.scope = b.scope
      and a.from_position < b.from_position and b.from_position <= a.to_position`,
  },
];

interface EntryRow {
  merchant_id: string;
  seq: bigint;
  balance_micros: bigint;
  amount_micros: bigint;
  debit_account: string;
  credit_account: string;
  previous_hash: string;
  hash: string;
  kind: string;
  invoice_id: string | null;
}

/** Sentences, none where all is well. */
export function brokenLaws(books: Books): Broken[] {
  const broken = questions.flatMap(({ law, text, rows }) =>
    books.rows<{ id: string }>(rows).map(({ id }) => ({ law, text: `${id}: ${text}` })),
  );
  return [...broken, ...brokenLedgers(books), ...brokenSums(books)];
}

/** Every chain of entries is whole, and its fold is the balance. */
function brokenLedgers(books: Books): Broken[] {
  const broken: Broken[] = [];
  const say = (text: string) => broken.push({ law: 'ledger', text });
  const merchants = books.rows<{
    id: string;
    ledger_seq: bigint;
    prepaid_micros: bigint;
    ledger_hash: string;
  }>('select id, ledger_seq, prepaid_micros, ledger_hash from merchants');
  for (const merchant of merchants) {
    const prepaid = `merchant:${merchant.id}:prepaid`;
    let [seq, balance, hash] = [0n, 0n, GENESIS_HASH];
    const entries = books.rows<EntryRow>(
      'select * from ledger where merchant_id = ? order by seq',
      merchant.id,
    );
    for (const entry of entries) {
      seq++;
      if (entry.credit_account === prepaid) balance += entry.amount_micros;
      if (entry.debit_account === prepaid) balance -= entry.amount_micros;
      if (entry.seq !== seq) say(`entry ${entry.seq} of ${merchant.id} comes after ${seq - 1n}`);
      if (entry.previous_hash !== hash)
        say(`entry ${entry.seq} of ${merchant.id} does not follow the one before`);
      if (entry.balance_micros !== balance || balance < 0n)
        say(`entry ${entry.seq} of ${merchant.id} has the wrong balance`);
      hash = entry.hash;
    }
    if (
      merchant.ledger_seq !== seq ||
      merchant.prepaid_micros !== balance ||
      (seq > 0n && merchant.ledger_hash !== hash)
    )
      say(`the head of ${merchant.id} is not its last entry`);
  }
  return broken;
}

/** What an invoice says that it received is what was booked for it, and its fee is the fee of its volume. */
function brokenSums(books: Books): Broken[] {
  const booked = new Map<string, bigint>();
  for (const { id, amount } of books.rows<{ id: string; amount: string }>(
    'select booked_invoice_id as id, amount_atomic as amount from transfers where booked_invoice_id is not null',
  ))
    booked.set(id, (booked.get(id) ?? 0n) + BigInt(amount));
  const confirmed = books.rows<{
    id: string;
    kind: string;
    received_atomic: string | null;
    amount_usd_micros: bigint;
    fee: bigint | null;
  }>(
    `select i.id, i.kind, i.received_atomic, i.amount_usd_micros, n.fee_charged_micros as fee
      from invoices i left join income n on n.invoice_id = i.id where i.status = 'confirmed'`,
  );
  return confirmed.flatMap(({ id, kind, received_atomic, amount_usd_micros, fee }) => {
    const broken: Broken[] = [];
    if (booked.get(id) !== BigInt(received_atomic ?? 0))
      broken.push({
        law: 'received-is-booked',
        text: `${id}: ${received_atomic} received, ${booked.get(id)} booked`,
      });
    if (kind === 'sale' && fee !== platformFee(amount_usd_micros))
      broken.push({ law: 'fee', text: `${id}: the fee is ${fee}` });
    return broken;
  });
}
