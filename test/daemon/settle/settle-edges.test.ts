// Settlement at its edges: what seldom happens, and still must book right, on both databases.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apply, recordUpdates } from '../../../daemon/settle/settle.ts';
import { ensureCursor } from '../../../data/cursors.ts';
import { watchedAddresses } from '../../../data/invoices.ts';
import { noteReading } from '../../../data/proofs.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  confirmByOperator,
  create as createFor,
  fundedMerchant,
  invoiceRow,
  newTxid,
  observe,
  paymentsOf,
  pendingAt,
  readThrough,
  transferRow,
  transferTo,
} from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

const DAY = 24 * 3600;

describe.each(databases)('settlement at its edges on %s', (database) => {
  let test: TestApp;
  let merchant: TestMerchant;

  beforeAll(async () => {
    test = await startApp({ database });
    merchant = await fundedMerchant(test);
  });
  afterAll(() => test.stop());

  const create = (chain: string, amount = '10', of = merchant) => createFor(test, of, chain, { amount });

  it('blocks that left the chain though they were final are listed, and what they paid waits again', async () => {
    verifies('final-left');
    const invoice = await create('ton', '7');
    const transfer = transferTo(test, invoice, { final: true, block_hash: 'final one', height: 200 });
    await observe(test, 'ton', [transfer]);
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
    await observe(test, 'ton', [], { orphaned_blocks: ['final one'], final_left: { from: 200, to: 210 } });
    const { token } = await test.superuser();
    const { json } = await test.fetch('GET', '/api/v1/admin/contradictions', { token });
    const listed = json.data.toSorted((one: { kind: string }, other: { kind: string }) =>
      one.kind.localeCompare(other.kind),
    );
    expect(listed).toMatchObject([
      { kind: 'booked_left', blockchain: 'ton', txid: transfer.txid, invoice_id: invoice.id },
      { kind: 'final_left', blockchain: 'ton', txid: null, details: { from: 200, to: 210 } },
    ]);
    expect(test.log.filter((line) => line.includes('"alert":"final_left"'))).toHaveLength(1);
    expect(await transferRow(test, transfer)).toMatchObject({ state: 'pending', block_hash: null });
    // It is booked: nothing is taken back silently.
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
  });

  /** Books though the chain has no such transaction yet. */
  const force = (id: string, txid: string) => confirmByOperator(test, id, { txid, force: true });

  describe('held payments', () => {
    it('all follow a refill that covers them, however many there are', async () => {
      const poor = await test.merchant(`many-held-${database}@example.com`);
      const invoices: InvoiceRow[] = [];
      for (let count = 0; count < 105; count++) invoices.push(await create('ton', '1', poor));
      await observe(
        test,
        'ton',
        invoices.map((invoice) => transferTo(test, invoice)),
      );
      await setRefillWallet();
      const reply = await test.fetch('POST', '/api/v1/merchant/refill', {
        token: poor.token,
        body: { chain: 'ton', amount: 5 },
      });
      expect(reply.status, reply.text).toBe(200);
      await observe(test, 'ton', [transferTo(test, await invoiceRow(test, reply.json.id))]);
      for (let tick = 0; tick < 5; tick++) await test.app.observer.tick();
      const states = await Promise.all(invoices.map(({ id }) => invoiceRow(test, id)));
      expect(states.filter((row) => row.status === 'confirmed')).toHaveLength(105);
    }, 120_000);

    it('are booked oldest first by a refill that covers only some, whatever their chain', async () => {
      const poor = await test.merchant(`oldest-held-${database}@example.com`);
      const older = await create('litecoin', '10', poor);
      await observe(test, 'litecoin', [transferTo(test, older)]);
      test.clock.advance(2);
      const newer = await create('ton', '10', poor);
      await observe(test, 'ton', [transferTo(test, newer)]);
      await setRefillWallet();
      const reply = await test.fetch('POST', '/api/v1/merchant/refill', {
        token: poor.token,
        body: { chain: 'ton', amount: '0.1' },
      });
      await observe(test, 'ton', [transferTo(test, await invoiceRow(test, reply.json.id))]);
      await test.app.observer.tick();
      expect((await invoiceRow(test, older.id)).status).toBe('confirmed');
      expect((await invoiceRow(test, newer.id)).status).toBe('created');
    });
  });

  async function setRefillWallet(): Promise<void> {
    const { token } = await operator();
    const body = { chain: 'ton', address: `0:${'22'.repeat(32)}` };
    const reply = await test.fetch('PUT', '/api/v1/admin/refill-wallets', { token, body });
    expect(reply.status, reply.text).toBe(200);
  }

  let known: { id: string; token: string } | undefined;
  const operator = async () => {
    known ??= await test.superuser();
    return known;
  };

  it('keeps a late payment listed that was read together with the one in time', async () => {
    const invoice = await create('ton');
    test.clock.set(invoice.expires_at + 10);
    const inTime = transferTo(test, invoice, { time: invoice.expires_at - 1 });
    const late = transferTo(test, invoice, { time: invoice.expires_at + 1 });
    await observe(test, 'ton', [inTime, late]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'confirmed', txid: inTime.txid });
    const payments = await paymentsOf(test, invoice.id);
    expect(payments.map(({ status, txid }) => `${status} ${txid}`).sort()).toEqual(
      [`confirmed ${inTime.txid}`, `late ${late.txid}`].sort(),
    );
  });

  it('takes what is seen before the end for made in time, though the time of its chain is ahead', async () => {
    const invoice = await create('solana');
    test.clock.set(invoice.expires_at - 2);
    const ahead = { earliest_at: invoice.expires_at + 1, latest_at: invoice.expires_at + 12 };
    const paid = transferTo(test, invoice, ahead);
    await observe(test, 'solana', [paid]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'confirmed', txid: paid.txid });
    expect(await transferRow(test, paid)).toMatchObject({
      earliest_at: invoice.expires_at - 2,
      latest_at: invoice.expires_at + 12,
    });
  });

  it('does not date what pays an invoice to before it, should a clock that drifts date it earlier the next time', async () => {
    const invoice = await create('solana');
    const { created_at } = invoice;
    const seen = { earliest_at: created_at - 1, latest_at: created_at + 1, final: false, confirmations: 1 };
    const paid = transferTo(test, invoice, seen);
    await observe(test, 'solana', [paid]);
    await observe(test, 'solana', [{ ...paid, confirmations: 2, latest_at: created_at - 1 }]);
    expect(await transferRow(test, paid)).toMatchObject({ confirmations: 2, latest_at: created_at + 1 });
    await observe(test, 'solana', [{ ...paid, confirmations: 3, final: true, latest_at: created_at - 2 }]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'confirmed' });
  });

  it('keeps a late payment listed while its invoice still waits for the chain to be read', async () => {
    const invoice = await create('solana');
    test.clock.set(invoice.expires_at + 10);
    const late = transferTo(test, invoice, { time: invoice.expires_at + 1 });
    await observe(test, 'solana', [late]);
    await apply(test.app, invoice.id, { fact: { kind: 'evaluate' }, actor: 'merchant' });
    expect((await paymentsOf(test, invoice.id)).map((row) => row.status)).toEqual(['late']);
    await readThrough(test, 'solana');
    expect((await invoiceRow(test, invoice.id)).status).toBe('expired');
    expect((await paymentsOf(test, invoice.id)).map((row) => row.status)).toEqual(['late']);
  });

  describe("an operator's confirmation", () => {
    it('leaves to another open invoice what the same transaction pays it', async () => {
      const [first, second] = [await create('bitcoin', '510'), await create('bitcoin', '520')];
      const txid = newTxid();
      const pending = { height: null, block_hash: null, confirmations: 0 };
      await observe(test, 'bitcoin', [
        transferTo(test, first, { txid, index: '0', ...pending }),
        transferTo(test, second, { txid, index: '1', ...pending }),
      ]);
      const outcome = await confirmByOperator(test, first.id, { txid });
      expect(outcome?.invoice).toMatchObject({ status: 'confirmed', amount_match: 'exact' });
      expect(await invoiceRow(test, second.id)).toMatchObject({ status: 'created', amount_match: 'exact' });
      await observe(test, 'bitcoin', [
        transferTo(test, second, { txid, index: '1', height: 7, block_hash: 'b7', confirmations: 1 }),
      ]);
      expect((await invoiceRow(test, second.id)).status).toBe('confirmed');
    });

    it('refuses a transaction that pays another open invoice', async () => {
      const [first, second] = [await create('ton'), await create('ton')];
      const half = transferTo(test, second, { amount_atomic: 5n });
      await observe(test, 'ton', [half]);
      expect((await confirmByOperator(test, first.id, { txid: half.txid }))?.verdict).toMatchObject({
        code: 'transfer_booked',
      });
      expect(await invoiceRow(test, second.id)).toMatchObject({ status: 'created', received_atomic: '5' });
    });

    it('adds a transaction that lacked its memo to what the invoice has received', async () => {
      const invoice = await create('ton');
      const whole = BigInt(invoice.amount_atomic);
      const part = transferTo(test, invoice, { amount_atomic: whole - 7n });
      const rest = transferTo(test, invoice, { amount_atomic: 7n, memo: null });
      await observe(test, 'ton', [part, rest]);
      const outcome = await confirmByOperator(test, invoice.id, { txid: rest.txid });
      expect(outcome?.invoice).toMatchObject({
        status: 'confirmed',
        amount_match: 'exact',
        received_atomic: whole.toString(),
        txid: rest.txid,
      });
      for (const each of [part, rest])
        expect((await transferRow(test, each)).booked_invoice_id).toBe(invoice.id);
    });

    it('takes the late payment of another invoice, also where both have one to show', async () => {
      const other = await create('ton');
      await apply(test.app, other.id, { fact: { kind: 'cancel' }, actor: 'buyer' });
      const late = transferTo(test, other);
      await observe(test, 'ton', [late]);
      const invoice = await create('ton');
      await observe(test, 'ton', [transferTo(test, invoice, { amount_atomic: 3n })]);
      const outcome = await confirmByOperator(test, invoice.id, { txid: late.txid });
      expect(outcome?.invoice).toMatchObject({ status: 'confirmed', txid: late.txid });
      expect((await transferRow(test, late)).booked_invoice_id).toBe(invoice.id);
      expect((await invoiceRow(test, other.id)).payment_id).toBeNull();
      expect((await paymentsOf(test, other.id)).filter((row) => row.status === 'late')).toEqual([]);
    });

    it('books a transaction once that two name at the same time', async () => {
      const [first, second] = [await create('ton'), await create('ton')];
      const txid = newTxid();
      const outcomes = await Promise.all([force(first.id, txid), force(second.id, txid)]);
      expect(outcomes.map((outcome) => outcome?.verdict.verdict).sort()).toEqual(['moved', 'refused']);
    });
  });

  it('books a late payment once that is given to two invoices at the same time', async () => {
    const other = await create('ton');
    await apply(test.app, other.id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    const late = transferTo(test, other);
    await observe(test, 'ton', [late]);
    const takers = await Promise.all([create('ton'), create('ton'), create('ton'), create('ton')]);
    const outcomes = await Promise.all(
      takers.map(({ id }) => confirmByOperator(test, id, { txid: late.txid })),
    );
    expect(outcomes.filter((outcome) => outcome?.verdict.verdict === 'moved')).toHaveLength(1);
  });

  it('lists what was still unconfirmed alongside a transaction that the operator named', async () => {
    const invoice = await create('litecoin', '530');
    const pending = transferTo(test, invoice, { height: null, block_hash: null, confirmations: 0 });
    await observe(test, 'litecoin', [pending]);
    const replacement = newTxid();
    expect((await force(invoice.id, replacement))?.invoice).toMatchObject({
      status: 'confirmed',
      amount_match: 'exact',
      txid: replacement,
    });
    expect((await paymentsOf(test, invoice.id)).map((row) => row.status).sort()).toEqual([
      'confirmed',
      'late',
    ]);
  });

  it('keeps what an expired invoice had received when the operator fails it', async () => {
    const invoice = await create('ton');
    const part = transferTo(test, invoice, { amount_atomic: 5n });
    await observe(test, 'ton', [part]);
    test.clock.set(invoice.expires_at + 1);
    await readThrough(test, 'ton');
    const fact = { kind: 'resolve', action: 'fail' } as const;
    await apply(test.app, invoice.id, { fact, actor: 'operator:1' });
    expect(await invoiceRow(test, invoice.id)).toMatchObject({
      status: 'failed',
      amount_match: 'under',
      received_atomic: '5',
      txid: part.txid,
    });
    expect(await paymentsOf(test, invoice.id)).toMatchObject([{ status: 'late', received_atomic: '5' }]);
  });

  it('continues with a blockchain of which a gateway was switched off under a payment', async () => {
    const invoice = await create('solana-usdc');
    const pending = { height: 9, block_hash: null, confirmations: 3 };
    const transfer = transferTo(test, invoice, pending);
    await observe(test, 'solana', [transfer]);
    const { app, clock } = test;
    const gateways = app.gateways.filter(({ chain }) => chain === 'solana');
    const scope = { blockchain: 'solana', gateways, now: clock.now() };
    const { txid, index } = transfer;
    const asked = await pendingAt(test, 'solana');
    await recordUpdates(app, scope, [{ txid, index, ...pending, state: 'pending', confirmations: 5 }], asked);
    await recordUpdates(app, scope, [{ txid, index, ...pending, state: 'final', confirmations: 32 }], asked);
    await apply(app, invoice.id, { fact: { kind: 'evaluate' }, actor: 'observer' });
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
  });

  it('answers 409 to a cancellation that finds the time over', async () => {
    const invoice = await create('litecoin');
    test.clock.set(invoice.expires_at + 5);
    await ensureCursor(test.app.db.query, 'litecoin');
    const now = test.clock.now();
    await noteReading(test.app.db.query, 'litecoin', { started_at: now, read_through: now });
    const reply = await test.fetch('POST', `/v1/invoices/${invoice.id}/cancel`);
    expect((await invoiceRow(test, invoice.id)).status).toBe('expired');
    expect(reply.status, reply.text).toBe(409);
    expect(reply.json.code).toBe('invoice_ended');
  });

  it('watches for late payments a day from the end, also of an invoice that outlived its daemon', async () => {
    const invoice = await create('solana-usdc');
    test.clock.set(invoice.expires_at + 5 * DAY);
    await test.app.observer.tick();
    expect((await invoiceRow(test, invoice.id)).status).toBe('expired');
    const watched = await watchedAddresses(test.app.db.query, 'solana', test.clock.now());
    expect(watched.map((watch) => watch.address_key)).toContain(invoice.address_key);
    expect(watched[0]?.since).toBeLessThanOrEqual(invoice.created_at);
  });
});
