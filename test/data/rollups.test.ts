// The running sums equal what a count of the tables says, after anything that can happen to them, also at once.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../data/db/open.ts';
import { insertIncome } from '../../data/income.ts';
import { insertInvoice } from '../../data/invoices.ts';
import { deleteUser, getUser } from '../../data/users.ts';
import { rollups, rollupsSince } from '../../data/views/rollups.ts';
import type { PaymentStatus } from '../../src/invoice.ts';
import { testLedger } from '../helpers/books.ts';
import { databases, type OpenDatabase, openDatabase } from '../helpers/database.ts';
import { addMerchant, insertAll, newInvoice, newPayment, START } from '../helpers/rows.ts';

const DAY = 86_400;
const today = Math.floor(START / DAY);

/** Names and what a count of the tables says, in the same shape as the rollups. */
const truths = [
  sql`select 'users' as name, '' as key, count(*) as count, 0 as sum_micros from users where deleted_at is null`,
  sql`select 'merchants', '', count(*), 0 from merchants`,
  sql`select 'invoices', status, count(*), 0 from invoices group by status`,
  sql`select 'owner_invoices', owner_id, count(*), 0 from invoices where owner_id is not null group by owner_id`,
  sql`select 'sales', currency, count(*), sum(amount_usd_micros) from invoices
    where status = 'confirmed' and kind = 'sale' group by currency`,
  sql`select 'ledger', kind, count(*), sum(amount_micros) from ledger group by kind`,
  sql`select 'owner_income', merchant_id, count(*), sum(amount_usd_micros) from income group by merchant_id`,
  sql`select 'webhooks', webhook_status, count(*), 0 from income
    where webhook_status in ('failed', 'unknown') group by webhook_status`,
  sql`select 'payments:' || status, blockchain, count(*), 0 from payments
    where status in ('held', 'late', 'unmatched', 'orphaned') group by status, blockchain`,
];
const names = [
  ...['users', 'merchants', 'invoices', 'owner_invoices', 'sales', 'ledger', 'owner_income', 'webhooks'],
  ...['held', 'late', 'unmatched', 'orphaned'].map((status) => `payments:${status}`),
];

describe.each(databases)('rollups on %s', (dialect) => {
  let fresh: OpenDatabase;
  let db: Db;
  let owner: string;

  beforeAll(async () => {
    fresh = await openDatabase(dialect);
    db = fresh.db;
    owner = await addMerchant(db, 'a-shop');
  });
  afterAll(() => fresh.stop());

  async function expectTruth(): Promise<void> {
    const counted = await sql<{
      name: string;
      key: string;
      count: number | string;
      sum_micros: bigint | string;
    }>`
      ${sql.join(truths, sql` union all `)} order by 1, 2`.execute(db.query);
    const want = counted.rows
      .map((row) => [row.name, row.key, Number(row.count), Number(row.sum_micros)])
      .filter(([, , count]) => count !== 0);
    const have = (await rollups(db.query, names))
      .map((row) => [row.name, row.key, row.count, Number(row.amount_micros)])
      .filter(([, , count]) => count !== 0);
    expect(have.map((row) => row.join(' ')).sort()).toEqual(want.map((row) => row.join(' ')).sort());
  }

  const confirm = (id: string, at: number) =>
    db.query
      .updateTable('invoices')
      .set({ status: 'confirmed', paid_at: at, due_at: null })
      .where('id', '=', id)
      .execute();

  test('follow invoices, payments, ledger, income and users wherever they go', async () => {
    const invoices = Array.from({ length: 12 }, (_, each) =>
      newInvoice({
        owner_id: each % 4 === 0 ? null : owner,
        kind: each % 5 === 0 ? 'refill' : 'sale',
        currency: each % 2 === 0 ? 'TON' : 'BTC',
      }),
    );
    for (const invoice of invoices) await insertInvoice(db.query, invoice);
    await insertInvoice(db.query, invoices[0] as (typeof invoices)[number]);
    await expectTruth();
    for (const [each, { id }] of invoices.entries()) {
      if (each % 3 === 0) await confirm(id, START);
      else if (each % 3 === 1)
        await db.query
          .updateTable('invoices')
          .set({ status: 'expired', due_at: null })
          .where('id', '=', id)
          .execute();
    }
    await confirm(invoices[1]?.id ?? '', START + DAY);
    await insertAll(db, 'invoices', [newInvoice({ status: 'confirmed', owner_id: owner })]);
    await expectTruth();
    const began: PaymentStatus[] = ['detected', 'held', 'late', 'unmatched', 'orphaned', 'confirmed'];
    const payments = began.map((status) =>
      newPayment({ status, blockchain: status === 'held' ? 'bitcoin' : 'ton' }),
    );
    await insertAll(db, 'payments', payments);
    await expectTruth();
    const statuses: PaymentStatus[] = [
      'held',
      'confirmed',
      'orphaned',
      'confirmed',
      'unmatched',
      'confirmed',
    ];
    for (const [at, payment] of payments.entries())
      await db.query
        .updateTable('payments')
        .set({ status: statuses[at] ?? 'confirmed', confirmations: 3 })
        .where('id', '=', payment.id)
        .execute();
    await expectTruth();
    await db.transaction(async (tx) => {
      const entry = { merchant_id: owner, invoice_id: null, note: null, actor: 'test', now: START };
      await testLedger(db).post(tx, { ...entry, kind: 'credit', amount_micros: 5_000_000n });
      await testLedger(db).post(tx, { ...entry, kind: 'fee', amount_micros: 1_000_000n });
      for (const webhook_status of ['failed', 'pending', 'unknown'] as const)
        await insertIncome(tx, {
          merchant_id: owner,
          invoice_id: invoices[['failed', 'pending', 'unknown'].indexOf(webhook_status)]?.id ?? '',
          chain: 'ton',
          currency: 'TON',
          decimals: 9,
          amount_atomic: 1n,
          amount_usd_micros: 7_000_000n,
          fee_charged_micros: 70_000n,
          house: 0,
          txid: null,
          webhook_status,
          created_at: START,
        });
    });
    await expectTruth();
    await db.query
      .updateTable('income')
      .set({ webhook_status: 'delivered' })
      .where('webhook_status', '=', 'failed')
      .execute();
    await db.query
      .updateTable('income')
      .set({ webhook_status: 'failed' })
      .where('webhook_status', '=', 'pending')
      .execute();
    await expectTruth();
    const gone = await addMerchant(db, 'gone-shop');
    await db.transaction(async (tx) => {
      const user = await getUser(tx, gone);
      if (user) await deleteUser(tx, user, START);
    });
    await expectTruth();
  });

  test('a change that is rolled back was never counted', async () => {
    const before = await rollups(db.query, names);
    const undone = db.transaction(async (tx) => {
      await insertInvoice(tx, newInvoice({ owner_id: owner }));
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await rollups(db.query, names)).toEqual(before);
  });

  test('stay exact when many write at once, and no writer waits for another on PostgreSQL', async () => {
    const invoices = Array.from({ length: 60 }, () => newInvoice({ owner_id: owner }));
    await Promise.all(
      invoices.map(async (invoice, each) => {
        await db.transaction(async (tx) => {
          await insertInvoice(tx, invoice);
        });
        if (each % 2 === 0) await confirm(invoice.id, START);
      }),
    );
    await expectTruth();
    if (dialect !== 'postgres') return;
    // Two transactions that are both open have both written: one row of the sum for each connection.
    let inside = 0;
    let release: () => void = () => {};
    const all_inside = new Promise<void>((resolve) => {
      release = resolve;
    });
    await Promise.all(
      Array.from({ length: 4 }, () =>
        db.transaction(async (tx) => {
          await insertInvoice(tx, newInvoice({ owner_id: owner }));
          inside++;
          if (inside === 4) release();
          await all_inside;
        }),
      ),
    );
    await expectTruth();
  });

  test('are summed by days', async () => {
    const id = randomUUID();
    await insertAll(db, 'invoices', [
      newInvoice({ id, currency: 'DAYS', status: 'confirmed', created_at: START - 40 * DAY }),
      newInvoice({ currency: 'DAYS', status: 'confirmed', created_at: START - 5 * DAY }),
      newInvoice({ currency: 'DAYS', status: 'confirmed', created_at: today * DAY }),
    ]);
    const sums = await rollupsSince(db.query, ['sales'], [today, today - 6, today - 29]);
    expect(sums.find((row) => row.key === 'DAYS')).toMatchObject({
      count: 3,
      amount_micros: 30_000_000n,
      since_micros: [10_000_000n, 20_000_000n, 20_000_000n],
    });
  });
});
