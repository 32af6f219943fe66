// Laws that the database keeps itself: each is broken here with plain SQL, as anyone who may write could try, and refused.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../data/db/open.ts';
import { insertInvoice, type NewInvoice } from '../../data/invoices.ts';
import { invoiceStatuses, paymentStatuses } from '../../src/api/schemas/resources.ts';
import { testLedger } from '../helpers/books.ts';
import { databases, type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { addMerchant, insertAll, newInvoice, newPayment, newTransfer, START } from '../helpers/rows.ts';
import { verifies } from '../requirements.ts';

/** From → to, as decisions allow it; everything else is refused. */
const invoiceMoves: Record<string, string[]> = {
  created: ['confirmed', 'expired', 'cancelled', 'failed'],
  confirmed: [],
  expired: ['confirmed', 'failed'],
  cancelled: ['confirmed'],
  failed: ['confirmed', 'expired'],
};
const paymentMoves: Record<string, string[]> = {
  detected: ['confirming', 'held', 'confirmed', 'orphaned', 'late'],
  confirming: ['detected', 'held', 'confirmed', 'orphaned', 'late'],
  held: ['detected', 'confirming', 'confirmed', 'orphaned', 'late'],
  confirmed: [],
  orphaned: ['detected', 'confirming', 'held', 'confirmed', 'late', 'unmatched'],
  late: ['confirmed', 'orphaned'],
  unmatched: ['confirmed', 'orphaned'],
};

describe.each(databases)('laws on %s', (database) => {
  let fresh: OpenDatabase;
  let db: Db;
  let merchant_id: string;
  beforeAll(async () => {
    fresh = await openDatabase(database);
    db = fresh.db;
    merchant_id = await addMerchant(db, 'shop');
  });
  afterAll(() => fresh.stop());

  const run = (text: string) => sql.raw(text).execute(db.query);
  const refused = async (text: string, why: RegExp) => {
    const error = await run(text).then(
      () => 'it was done',
      (failure: Error) => failure.message,
    );
    expect(error, text).toMatch(why);
  };
  const invoice = async (values: object = {}) => {
    const row = newInvoice({ owner_id: merchant_id, ...values });
    expect(await insertInvoice(db.query, row)).toBe(true);
    return row.id;
  };
  const transfer = async (values: object = {}) => {
    const row = newTransfer({ txid: randomUUID(), ...values });
    await insertAll(db, 'transfers', [row]);
    return row.id;
  };
  const credit = (amount_micros: bigint) =>
    db.transaction((tx) =>
      testLedger(db).post(tx, {
        merchant_id,
        kind: 'credit',
        amount_micros,
        invoice_id: null,
        note: null,
        actor: 'test',
        now: START,
      }),
    );

  test('an invoice goes only the ways there are', async () => {
    verifies('laws-in-schema');
    for (const from of invoiceStatuses)
      for (const to of invoiceStatuses) {
        const id = await invoice({ status: from });
        const open = to === 'created';
        const move = `update invoices set status = '${to}', paid_at = ${to === 'confirmed' ? START : 'null'},
          due_at = ${open ? START : 'null'} where id = '${id}'`;
        if (from === to || invoiceMoves[from]?.includes(to)) await run(move);
        else await refused(move, /an invoice cannot move/);
      }
  });

  test.each([
    { kind: 'gift' },
    { status: 'paid' },
    { amount_match: 'nearly' },
    { reserved: 0 },
    { amount_usd_micros: 0n },
    { amount_usd_fee_micros: -1n },
    { paid_at: START },
    { status: 'confirmed', paid_at: null },
    { due_at: null },
    { status: 'expired', due_at: START },
  ])('no invoice is of %o', async (values) => {
    const row = { ...newInvoice({ owner_id: merchant_id }), ...values } as NewInvoice;
    await expect(insertInvoice(db.query, row)).rejects.toThrow(/check constraint/i);
  });

  test('a payment goes only the ways there are', async () => {
    verifies('laws-in-schema');
    for (const from of paymentStatuses)
      for (const to of paymentStatuses) {
        const payment = newPayment({ status: from });
        await insertAll(db, 'payments', [payment]);
        const move = `update payments set status = '${to}' where id = '${payment.id}'`;
        if (from === to || paymentMoves[from]?.includes(to)) await run(move);
        else await refused(move, /a payment cannot move/);
      }
  });

  test.each(['id', 'blockchain', 'txid', 'idx', 'chain', 'address_key', 'amount_atomic'])(
    '%s of a transfer never changes',
    async (column) => {
      verifies('laws-in-schema');
      const id = await transfer();
      await refused(
        `update transfers set ${column} = 'another' where id = '${id}'`,
        /what a transfer is never changes/,
      );
      await run(`update transfers set ${column} = ${column}, confirmations = 5 where id = '${id}'`);
    },
  );

  test('a transfer is booked once, for ever', async () => {
    verifies('laws-in-schema', 'output-books-once');
    const [one, other] = [await invoice({ status: 'confirmed' }), await invoice({ status: 'confirmed' })];
    const id = await transfer({ invoice_id: one, disposition: 'matched' });
    const book = (booked: string | null, matched = booked) =>
      `update transfers set booked_invoice_id = ${booked && `'${booked}'`}, disposition = 'matched',
        invoice_id = ${matched && `'${matched}'`} where id = '${id}'`;
    await run(book(one));
    await run(book(one));
    await refused(book(other), /booked once/);
    await refused(book(null, one), /booked once/);
    expect(await booked(id)).toEqual({ booked_invoice_id: one, invoice_id: one });
  });

  const booked = (id: string) =>
    db.query
      .selectFrom('transfers')
      .select(['booked_invoice_id', 'invoice_id'])
      .where('id', '=', id)
      .executeTakeFirst();

  test('a transfer is booked as matched to the confirmed invoice that it is booked for', async () => {
    verifies('laws-in-schema');
    const confirmed = await invoice({ status: 'confirmed' });
    const another = await invoice({ status: 'confirmed' });
    const why = /booked as matched to the confirmed invoice/;
    const open = await invoice();
    for (const status of ['expired', 'cancelled', 'failed'])
      await refused(
        `update transfers set disposition = 'matched', invoice_id = i.id, booked_invoice_id = i.id
          from (select id from invoices where status = '${status}' limit 1) i
          where transfers.id = '${await transfer()}'`,
        why,
      );
    const wrong: [string, Record<string, string | null>][] = [
      ['of an open invoice', { disposition: 'matched', invoice_id: open, booked_invoice_id: open }],
      ['as late', { disposition: 'late', invoice_id: confirmed, booked_invoice_id: confirmed }],
      ['as unmatched', { disposition: 'unmatched', invoice_id: confirmed, booked_invoice_id: confirmed }],
      ['for another', { disposition: 'matched', invoice_id: another, booked_invoice_id: confirmed }],
      ['for none', { disposition: 'matched', invoice_id: null, booked_invoice_id: confirmed }],
    ];
    for (const [how, values] of wrong) {
      const set = Object.entries(values).map(([name, value]) => `${name} = ${value && `'${value}'`}`);
      await refused(`update transfers set ${set} where id = '${await transfer()}'`, why);
      await expect(transfer(values), how).rejects.toThrow(why);
    }
    // What is booked stays what it is.
    const right = { disposition: 'matched', invoice_id: confirmed, booked_invoice_id: confirmed };
    const id = await transfer(right);
    for (const set of [`disposition = 'late'`, `invoice_id = '${another}'`, 'invoice_id = null'])
      await refused(`update transfers set ${set} where id = '${id}'`, why);
  });

  test('an invoice that is confirmed after the booking in one transaction is no way around it', async () => {
    verifies('laws-in-schema');
    const id = await invoice();
    const transfer_id = await transfer();
    const attempt = db.transaction(async (tx) => {
      await tx
        .updateTable('transfers')
        .set({ disposition: 'matched', invoice_id: id, booked_invoice_id: id })
        .where('id', '=', transfer_id)
        .execute();
      await tx
        .updateTable('invoices')
        .set({ status: 'confirmed', paid_at: START, due_at: null })
        .where('id', '=', id)
        .execute();
    });
    await expect(attempt).rejects.toThrow(/booked as matched/);
    expect(await booked(transfer_id)).toEqual({ booked_invoice_id: null, invoice_id: null });
  });

  test('a balance is what the newest entry of the ledger says, and nothing else moves it', async () => {
    verifies('laws-in-schema', 'limit-never-negative');
    await credit(5_000_000n);
    await credit(1_000_000n);
    const why = /the balance of a merchant is what the newest entry/;
    const set = (values: string) =>
      refused(`update merchants set ${values} where id = '${merchant_id}'`, why);
    await set('prepaid_micros = 7000000');
    await set('prepaid_micros = 5000000');
    await set('ledger_seq = 1');
    await set('ledger_seq = 3');
    await set(`ledger_hash = '${'f'.repeat(64)}'`);
    // Back to the entry before.
    await set(`(prepaid_micros, ledger_seq, ledger_hash) =
      (select balance_micros, seq, hash from ledger where merchant_id = '${merchant_id}' and seq = 1)`);
    await run(
      `update merchants set slug = 'renamed', prepaid_micros = prepaid_micros where id = '${merchant_id}'`,
    );
    const begun = [{ prepaid_micros: 1n }, { ledger_seq: 1 }, { ledger_hash: 'f'.repeat(64) }];
    for (const [at, values] of begun.entries())
      await expect(addMerchant(db, `begun-${at}`, values)).rejects.toThrow(/begins with an empty ledger/);
    expect(await head()).toMatchObject({ prepaid_micros: 6_000_000n, ledger_seq: 2 });
  });

  const head = () =>
    db.query
      .selectFrom('merchants')
      .select(['prepaid_micros', 'ledger_seq', 'ledger_hash'])
      .where('id', '=', merchant_id)
      .executeTakeFirstOrThrow();

  test('an entry follows from the head of its chain, and the head follows it', async () => {
    verifies('laws-in-schema', 'ledger-hash-chain');
    await credit(2_000_000n);
    const { prepaid_micros, ledger_seq, ledger_hash } = await head();
    const right = {
      kind: 'credit',
      seq: ledger_seq + 1,
      amount: 3n,
      balance: prepaid_micros + 3n,
      previous: ledger_hash,
      version: 2,
    };
    const insert = (values: Partial<typeof right>) => {
      const { kind, seq, amount, balance, previous, version } = { ...right, ...values };
      return `insert into ledger (id, merchant_id, seq, kind, debit_account, credit_account, amount_micros,
        balance_micros, actor, created_at, previous_hash, hash, hash_version) values ('${randomUUID()}',
        '${merchant_id}', ${seq}, '${kind}', 'a', 'b', ${amount}, ${balance}, 'x', 1, '${previous}', 'h', ${version})`;
    };
    const why = /follows from the head/;
    await refused(insert({ seq: ledger_seq + 2 }), why);
    await refused(insert({ seq: ledger_seq }), why);
    await refused(insert({ previous: '0'.repeat(64) }), why);
    await refused(insert({ balance: prepaid_micros + 4n }), why);
    await refused(insert({ kind: 'fee' }), why);
    await refused(insert({ version: 1 }), why);
    await run(insert({ kind: 'fee', balance: prepaid_micros - 3n }));
    expect(await head()).toEqual({
      prepaid_micros: prepaid_micros - 3n,
      ledger_seq: ledger_seq + 1,
      ledger_hash: 'h',
    });
  });

  test('what was seen and asked for is never deleted', async () => {
    verifies('laws-in-schema');
    const id = await invoice();
    const payment = newPayment();
    await insertAll(db, 'payments', [payment]);
    await refused(`delete from invoices where id = '${id}'`, /never deleted/);
    await refused(`delete from transfers where id = '${await transfer()}'`, /never deleted/);
    await refused(`delete from payments where id = '${payment.id}'`, /never deleted/);
    await run(
      `insert into ledger_seals (merchant_id, seq, hash, seal) values ('${merchant_id}', 1, 'h', 's')`,
    );
    await refused(`update ledger_seals set seal = 'another'`, /append-only/);
    await refused('delete from ledger_seals', /append-only/);
  });

  test.runIf(database === 'postgres')('a place in a feed never changes', async () => {
    verifies('laws-in-schema', 'events-never-overtaken');
    await run(
      `insert into event_positions (merchant_id, position, event_seq) values ('${merchant_id}', 1, 1)`,
    );
    await refused('update event_positions set position = 2', /append-only/);
    await refused('delete from event_positions', /append-only/);
  });
});
