// Settlement at its edges: what seldom happens, and still must book right, on both databases.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apply } from '../../daemon/settle.ts';
import { post } from '../../data/ledger.ts';
import type { InvoiceRow } from '../../data/tables.ts';
import { databases, startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { invoiceRow, observe, readThrough, transferTo } from '../helpers/payments.ts';

describe.each(databases)('settlement at its edges on %s', (database) => {
  let test: TestApp;
  let merchant: TestMerchant;

  beforeAll(async () => {
    test = await startApp({ database });
    merchant = await test.merchant();
    await credit(merchant.id, 1_000_000_000n);
  });
  afterAll(() => test.stop());

  const credit = (merchant_id: string, amount_micros: bigint) =>
    test.app.db.transaction((tx) =>
      post(test.app.db, tx, {
        merchant_id,
        kind: 'credit',
        amount_micros,
        invoice_id: null,
        note: null,
        actor: 'test',
        now: test.clock.now(),
      }),
    );

  async function create(chain: string, amount = '10', of = merchant): Promise<InvoiceRow> {
    const reply = await test.fetch('POST', '/v1/invoices', { key: of.key, body: { chain, amount } });
    expect(reply.status, reply.text).toBe(200);
    return invoiceRow(test, reply.json.id);
  }

  const paymentsOf = (invoice_id: string) =>
    test.app.db.query.selectFrom('payments').selectAll().where('invoice_id', '=', invoice_id).execute();

  it('keeps a late payment listed that was read together with the one in time', async () => {
    const invoice = await create('ton');
    test.clock.set(invoice.expires_at + 10);
    const inTime = transferTo(test, invoice, { time: invoice.expires_at - 1 });
    const late = transferTo(test, invoice, { time: invoice.expires_at + 1 });
    await observe(test, 'ton', [inTime, late]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'confirmed', txid: inTime.txid });
    const payments = await paymentsOf(invoice.id);
    expect(payments.map(({ status, txid }) => `${status} ${txid}`).sort()).toEqual(
      [`confirmed ${inTime.txid}`, `late ${late.txid}`].sort(),
    );
  });

  it('keeps a late payment listed while its invoice still waits for the chain to be read', async () => {
    const invoice = await create('solana');
    test.clock.set(invoice.expires_at + 10);
    const late = transferTo(test, invoice, { time: invoice.expires_at + 1 });
    await observe(test, 'solana', [late]);
    await apply(test.app, invoice.id, { fact: { kind: 'look' }, actor: 'merchant' });
    expect((await paymentsOf(invoice.id)).map((row) => row.status)).toEqual(['late']);
    await readThrough(test, 'solana');
    expect((await invoiceRow(test, invoice.id)).status).toBe('expired');
    expect((await paymentsOf(invoice.id)).map((row) => row.status)).toEqual(['late']);
  });
});
