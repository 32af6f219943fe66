// Booking where transactions, payments and invoices do not go one to one, on both databases.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apply } from '../../../daemon/settle/settle.ts';
import { logsOfInvoice } from '../../../data/payments.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import type { Transfer } from '../../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  confirmByOperator,
  create as createFor,
  follow,
  fundedMerchant,
  invoiceRow,
  newTxid,
  observe,
  paymentsOf,
  pendingAt,
  readThrough,
  transferRow,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';

describe.each(databases)('booking on %s', (database) => {
  let test: TestApp;
  let merchant: TestMerchant;

  beforeAll(async () => {
    test = await startApp({ database });
    merchant = await fundedMerchant(test);
  });
  afterAll(() => test.stop());

  const create = (chain: string, amount = '10', of = merchant) => createFor(test, of, chain, { amount });

  const notesOf = async (invoice_id: string) =>
    (await logsOfInvoice(test.app.db.query, invoice_id)).map(({ note }) => note);

  /** Books though the chain has no such transaction yet. */
  const force = (id: string, txid: string) => confirmByOperator(test, id, { txid, force: true });

  /** An expired invoice with two payments that it lists as one late one. */
  async function expiredWithTwo(parts: Partial<Transfer> = {}): Promise<[InvoiceRow, Transfer, Transfer]> {
    const invoice = await create('ton');
    const time = test.clock.now();
    const first = transferTo(test, invoice, { amount_atomic: 3n, time, ...parts });
    const second = transferTo(test, invoice, { amount_atomic: 5n, time: time + 1 });
    await observe(test, 'ton', [first, second]);
    test.clock.set(invoice.expires_at + 24 * 3600);
    await readThrough(test, 'ton');
    const late = (await paymentsOf(test, invoice.id)).map(({ status, received_atomic }) => [
      status,
      received_atomic,
    ]);
    expect(late).toEqual([['late', '8']]);
    return [invoice, first, second];
  }

  it('books the real payment that waits for the limit when its invoice is simulated', async () => {
    const poor = await test.merchant(`held-simulated-${database}@example.com`);
    const invoice = await create('ton', '12.34', poor);
    const transfer = transferTo(test, invoice);
    await observe(test, 'ton', [transfer]);
    expect((await paymentsOf(test, invoice.id)).map(({ status }) => status)).toEqual(['held']);
    const reply = await test.fetch('POST', `/v1/invoices/${invoice.id}/simulate`, { key: poor.key });
    expect(reply.json, reply.text).toMatchObject({ status: 'confirmed', txid: transfer.txid });
    expect((await paymentsOf(test, invoice.id)).map(({ status, txid }) => [status, txid])).toEqual([
      ['confirmed', transfer.txid],
    ]);
    expect((await transferRow(test, transfer)).booked_invoice_id).toBe(invoice.id);
    expect((await notesOf(invoice.id)).join()).not.toContain('no coin moved');
    const { prepaid_micros } = await test.app.db.query
      .selectFrom('merchants')
      .select('prepaid_micros')
      .where('id', '=', poor.id)
      .executeTakeFirstOrThrow();
    expect(prepaid_micros).toBe(0n);
  });

  it('says why a payment is late, and names it in the event', async () => {
    const cancelled = await create('ton');
    await apply(test.app, cancelled.id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    await observe(test, 'ton', [transferTo(test, cancelled)]);
    expect(await notesOf(cancelled.id)).toContain('found when the invoice was cancelled');
    const { body } = await test.app.db.query
      .selectFrom('events')
      .select('body')
      .where('invoice_id', '=', cancelled.id)
      .where('type', '=', 'payment.late')
      .executeTakeFirstOrThrow();
    const { invoice, payment } = JSON.parse(body).data;
    expect(invoice.payment_id).toBe(payment.id);
    expect((await invoiceRow(test, cancelled.id)).payment_id).toBe(payment.id);

    const paid = await create('ton');
    const alongside = transferTo(test, paid, unconfirmed);
    await observe(test, 'ton', [alongside, transferTo(test, paid)]);
    expect(await notesOf(paid.id)).toContain('the invoice was confirmed without it');
  });

  it('keeps a late payment listed of which only one of two transactions vanished', async () => {
    const [invoice, first, second] = await expiredWithTwo(unconfirmed);
    const { txid, index } = first;
    const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;
    await follow(test, 'ton', [{ txid, index, ...gone }]);
    expect((await paymentsOf(test, invoice.id))[0]).toMatchObject({
      status: 'late',
      received_atomic: '5',
      txid: second.txid,
    });
    await observe(test, 'ton', [first]);
    expect((await paymentsOf(test, invoice.id))[0]).toMatchObject({ status: 'late', received_atomic: '8' });
  });

  it('keeps listed what the operator did not name of a late payment', async () => {
    const [expired, first, second] = await expiredWithTwo();
    const invoice = await create('ton');
    expect((await confirmByOperator(test, invoice.id, { txid: first.txid }))?.invoice.status).toBe(
      'confirmed',
    );
    expect((await transferRow(test, first)).booked_invoice_id).toBe(invoice.id);
    expect(await paymentsOf(test, expired.id)).toMatchObject([
      { status: 'late', received_atomic: '5', txid: second.txid },
    ]);
    const other = await create('ton');
    expect((await confirmByOperator(test, other.id, { txid: second.txid }))?.invoice.status).toBe(
      'confirmed',
    );
    expect(await paymentsOf(test, expired.id)).toEqual([]);
  });

  it('keeps a late payment listed when its invoice is confirmed by another transaction', async () => {
    const [expired, first, second] = await expiredWithTwo(unconfirmed);
    const { txid, index } = first;
    const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;
    await follow(test, 'ton', [{ txid, index, ...gone }]);
    const other = newTxid();
    expect((await confirmByOperator(test, expired.id, { txid: other }))?.verdict).toMatchObject({
      code: 'transaction_unknown',
    });
    expect((await force(expired.id, other))?.invoice).toMatchObject({ status: 'confirmed', txid: other });
    const listed = async () =>
      (await paymentsOf(test, expired.id)).map((row) => `${row.status} ${row.txid}`).sort();
    expect(await listed()).toEqual([`confirmed ${other}`, `late ${second.txid}`].sort());
    await observe(test, 'ton', [first]);
    expect(await listed()).toEqual(
      [`confirmed ${other}`, `late ${first.txid}`, `late ${second.txid}`].sort(),
    );
  });

  it('leaves to another invoice what pays it in a transaction that was named before it was read', async () => {
    const [first, second] = [await create('bitcoin', '610'), await create('bitcoin', '620')];
    const txid = newTxid();
    expect((await force(first.id, txid))?.invoice.status).toBe('confirmed');
    const outputs = [
      transferTo(test, first, { txid, index: '0' }),
      transferTo(test, second, { txid, index: '1' }),
    ];
    await observe(test, 'bitcoin', outputs);
    expect(await invoiceRow(test, second.id)).toMatchObject({ status: 'confirmed', txid });
    const booked = await Promise.all(outputs.map((output) => transferRow(test, output)));
    expect(booked.map((row) => row.booked_invoice_id)).toEqual([first.id, second.id]);
    const income = await test.app.db.query
      .selectFrom('income')
      .select('invoice_id')
      .where('invoice_id', 'in', [first.id, second.id])
      .execute();
    expect(income).toHaveLength(2);
  });

  it('keeps a payment whose block was read while another reader found it missing', async () => {
    const invoice = await create('litecoin', '650');
    const transfer = transferTo(test, invoice, unconfirmed);
    await observe(test, 'litecoin', [transfer]);
    const asked = await pendingAt(test, 'litecoin');
    const mined = { ...transfer, height: 500, block_hash: 'block-500', confirmations: 1 };
    await observe(test, 'litecoin', [mined]);
    const { txid, index } = transfer;
    const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;
    await follow(test, 'litecoin', [{ txid, index, ...gone }], asked);
    expect(await transferRow(test, transfer)).toMatchObject({ state: 'pending', height: 500 });
    await follow(test, 'litecoin', [{ ...mined, state: 'pending', confirmations: 12 }]);
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
  });

  it('refuses to confirm with a transaction that brought another asset for another invoice', async () => {
    const [paid, waiting, unpaid] = [await create('ton-usdt'), await create('ton-usdt'), await create('ton')];
    const booked = transferTo(test, paid);
    const part = transferTo(test, waiting, { amount_atomic: 5n });
    await observe(test, 'ton', [booked, part]);
    expect((await invoiceRow(test, paid.id)).status).toBe('confirmed');
    for (const { txid } of [booked, part])
      expect((await confirmByOperator(test, unpaid.id, { txid }))?.verdict).toMatchObject({
        code: 'transfer_booked',
      });
    expect((await invoiceRow(test, unpaid.id)).status).toBe('created');
  });

  it('books a transaction of one output nowhere else once it was named for an invoice', async () => {
    const [first, second] = [await create('bitcoin', '630'), await create('bitcoin', '640')];
    const txid = newTxid();
    await force(first.id, txid);
    await observe(test, 'bitcoin', [transferTo(test, second, { txid })]);
    expect((await invoiceRow(test, second.id)).status).toBe('created');
  });
});
