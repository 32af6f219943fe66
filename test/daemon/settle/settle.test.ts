// Settlement through the one door: what each fact, observed or requested, books, on both databases.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apply } from '../../../daemon/settle/settle.ts';
import { GRACE_SECONDS } from '../../../src/invoice.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  confirmByOperator,
  create as createFor,
  credit,
  follow,
  fundedMerchant,
  invoiceRow,
  newTxid,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

const DAY = 24 * 3600;

describe.each(databases)('settlement on %s', (database) => {
  let test: TestApp;
  let merchant: TestMerchant;

  beforeAll(async () => {
    test = await startApp({ database });
    merchant = await fundedMerchant(test);
  });
  afterAll(() => test.stop());

  const create = (chain: string, amount = '10', of = merchant) => createFor(test, of, chain, { amount });

  const rowsOf = async (invoice_id: string) => {
    const { query } = test.app.db;
    const of = (table: 'income' | 'events' | 'payments' | 'payment_logs' | 'ledger') =>
      query
        .selectFrom(table)
        .selectAll()
        .where('invoice_id', '=', invoice_id)
        .orderBy(table === 'payments' ? 'created_at' : 'seq')
        .execute() as Promise<Record<string, unknown>[]>;
    return {
      income: await of('income'),
      fees: (await of('ledger')).filter((row) => row.kind === 'fee'),
      confirmations: (await of('events')).filter((row) => row.type === 'invoice.confirmed'),
      events: (await of('events')).map((row) => row.type),
      payments: await of('payments'),
      logs: (await of('payment_logs')).map((row) => row.to_status),
    };
  };

  const expectSettledOnce = async (invoice_id: string) => {
    const rows = await rowsOf(invoice_id);
    expect(rows.income).toHaveLength(1);
    expect(rows.fees).toHaveLength(1);
    expect(rows.confirmations).toHaveLength(1);
    return rows;
  };

  const expectNothingBooked = async (invoice_id: string) => {
    const rows = await rowsOf(invoice_id);
    expect(rows.income).toEqual([]);
    expect(rows.fees).toEqual([]);
    expect(rows.confirmations).toEqual([]);
    return rows;
  };

  it('confirms a final payment with its memo, once, however often it is read', async () => {
    verifies('state-confirm', 'state-confirm-effects', 'service-fee', 'exactly-once', 'service-match');
    const invoice = await create('ton');
    const transfer = transferTo(test, invoice);
    for (let read = 0; read < 3; read++) await observe(test, 'ton', [transfer]);
    const after = await invoiceRow(test, invoice.id);
    expect(after).toMatchObject({ status: 'confirmed', txid: transfer.txid, amount_match: 'exact' });
    expect(after.received_atomic).toBe(invoice.amount_atomic);
    const { income, fees } = await expectSettledOnce(invoice.id);
    expect(income[0]).toMatchObject({ txid: transfer.txid, fee_charged_micros: 100_000n });
    expect(fees[0]).toMatchObject({ amount_micros: 100_000n });
  });

  it('books once when a hundred evaluate the same payment at the same time', async () => {
    verifies('exactly-once', 'one-door', 'state-confirm-by-check');
    const invoice = await create('ton');
    const transfer = transferTo(test, invoice);
    await Promise.all(
      Array.from({ length: 100 }, async (_, at) => {
        if (at % 10 === 0) await observe(test, 'ton', [transfer]);
        else await apply(test.app, invoice.id, { fact: { kind: 'evaluate' }, actor: 'merchant' });
      }),
    );
    await apply(test.app, invoice.id, { fact: { kind: 'evaluate' }, actor: 'merchant' });
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
    await expectSettledOnce(invoice.id);
  });

  it('adds an underpayment and its top-up together', async () => {
    verifies('sum-of-transfers', 'underpaid');
    const invoice = await create('ton');
    const half = BigInt(invoice.amount_atomic) / 2n;
    await observe(test, 'ton', [transferTo(test, invoice, { amount_atomic: half })]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({
      status: 'created',
      amount_match: 'under',
      received_atomic: half.toString(),
    });
    await expectNothingBooked(invoice.id);
    const rest = transferTo(test, invoice, { amount_atomic: BigInt(invoice.amount_atomic) - half });
    await observe(test, 'ton', [rest]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'confirmed', amount_match: 'exact' });
    await expectSettledOnce(invoice.id);
  });

  it('confirms an overpayment as over with what was received', async () => {
    verifies('overpaid');
    const invoice = await create('solana-usdc');
    const amount_atomic = BigInt(invoice.amount_atomic) + 5n;
    await observe(test, 'solana', [transferTo(test, invoice, { amount_atomic, final: true })]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({
      status: 'confirmed',
      amount_match: 'over',
      received_atomic: amount_atomic.toString(),
    });
  });

  it('lists a second payment to one memo as late and books it nowhere', async () => {
    verifies('late-listed');
    const invoice = await create('ton');
    await observe(test, 'ton', [transferTo(test, invoice)]);
    await observe(test, 'ton', [transferTo(test, invoice)]);
    const { payments, events } = await expectSettledOnce(invoice.id);
    expect(payments.map((row) => row.status).sort()).toEqual(['confirmed', 'late']);
    expect(events).toContain('payment.late');
    expect((await invoiceRow(test, invoice.id)).received_atomic).toBe(invoice.amount_atomic);
  });

  it('never books a wrong, an absent or another asset’s memo, and lists each as unmatched', async () => {
    verifies('memo-unknown', 'unmatched-listed', 'memo-exact');
    const invoice = await create('ton');
    const unmatching = [
      transferTo(test, invoice, { memo: 'WRONGMEMO2' }),
      transferTo(test, invoice, { memo: null }),
      transferTo(test, invoice, { memo: invoice.memo?.toLowerCase() ?? '' }),
      transferTo(test, invoice, { chain: 'ton-usdt' }),
      transferTo(test, invoice, { ambiguous: 'two memos' }),
    ];
    await observe(test, 'ton', unmatching);
    expect((await invoiceRow(test, invoice.id)).status).toBe('created');
    await expectNothingBooked(invoice.id);
    const unmatched = await test.app.db.query
      .selectFrom('payments')
      .selectAll()
      .where('status', '=', 'unmatched')
      .where(
        'txid',
        'in',
        unmatching.map((other) => other.txid),
      )
      .execute();
    expect(unmatched).toHaveLength(unmatching.length);
  });

  it('matches a Solana payment by its reference without a memo', async () => {
    verifies('solana-reference');
    const invoice = await create('solana');
    const references = ['unrelated', invoice.reference ?? ''];
    await observe(test, 'solana', [transferTo(test, invoice, { memo: null, references })]);
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
  });

  it('waits for confirmations and says how far it is', async () => {
    verifies('payment-statuses', 'payment-log');
    const invoice = await create('litecoin');
    const transfer = transferTo(test, invoice, unconfirmed);
    await observe(test, 'litecoin', [transfer]);
    const seen = await invoiceRow(test, invoice.id);
    expect(seen).toMatchObject({
      status: 'created',
      amount_match: 'exact',
      txid: transfer.txid,
      confirmations: 0,
    });
    const { txid, index } = transfer;
    const mined = { height: 5, block_hash: 'b5', state: 'pending' } as const;
    await follow(test, 'litecoin', [{ txid, index, ...mined, confirmations: 2 }]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'created', confirmations: 2 });
    await follow(test, 'litecoin', [{ txid, index, ...mined, confirmations: 3 }]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'confirmed', confirmations: 3 });
    const { logs, events } = await expectSettledOnce(invoice.id);
    expect(logs).toEqual(['detected', 'confirming', 'confirmed']);
    expect(events).toEqual([
      'invoice.created',
      'payment.detected',
      'payment.confirming',
      'invoice.confirmed',
    ]);
  });

  it('forgets a replaced payment and takes the one that replaced it', async () => {
    verifies('payment-statuses', 'assets-utxo');
    const invoice = await create('bitcoin');
    const first = transferTo(test, invoice, unconfirmed);
    await observe(test, 'bitcoin', [first]);
    await follow(test, 'bitcoin', [
      { txid: first.txid, index: '0', state: 'gone', confirmations: 0, height: null, block_hash: null },
    ]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({
      status: 'created',
      amount_match: 'none',
      received_atomic: null,
      txid: null,
    });
    const second = transferTo(test, invoice, { confirmations: 1 });
    await observe(test, 'bitcoin', [second]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'confirmed', txid: second.txid });
    expect((await expectSettledOnce(invoice.id)).logs).toEqual(['detected', 'orphaned', 'confirmed']);
  });

  it('lists as late what vanished, came back and found its invoice ended', async () => {
    const invoice = await create('bitcoin', '777');
    const transfer = transferTo(test, invoice, unconfirmed);
    await observe(test, 'bitcoin', [transfer]);
    const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;
    await follow(test, 'bitcoin', [{ txid: transfer.txid, index: '0', ...gone }]);
    await apply(test.app, invoice.id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    await observe(test, 'bitcoin', [{ ...transfer, height: 12, block_hash: 'b12', confirmations: 1 }]);
    const { payments } = await expectNothingBooked(invoice.id);
    expect(payments.map((row) => row.status).sort()).toEqual(['late', 'orphaned']);
  });

  it('keeps the block of a payment that a lagging provider still shows without one', async () => {
    const invoice = await create('litecoin', '778');
    const transfer = transferTo(test, invoice, { height: 30, block_hash: 'b30', confirmations: 2 });
    await observe(test, 'litecoin', [transfer]);
    await observe(test, 'litecoin', [{ ...transfer, ...unconfirmed }]);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ confirmations: 2 });
  });

  it('returns a payment to detected when its block leaves the chain before it counted', async () => {
    const invoice = await create('litecoin');
    const transfer = transferTo(test, invoice, { height: 9, block_hash: 'b9', confirmations: 1 });
    await observe(test, 'litecoin', [transfer]);
    await observe(test, 'litecoin', [], { orphaned_blocks: ['b9'] });
    const { payments } = await expectNothingBooked(invoice.id);
    expect(payments[0]).toMatchObject({ status: 'detected', confirmations: 0 });
    await observe(test, 'litecoin', [{ ...transfer, height: 10, block_hash: 'b10', confirmations: 3 }]);
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
  });

  it('tells the operator when a confirmed payment vanishes, and takes no money back', async () => {
    verifies('vanished-alert');
    const invoice = await create('litecoin');
    const transfer = transferTo(test, invoice, { height: 20, block_hash: 'b20', confirmations: 3 });
    await observe(test, 'litecoin', [transfer]);
    await observe(test, 'litecoin', [], { orphaned_blocks: ['b20'] });
    await follow(test, 'litecoin', [
      { txid: transfer.txid, index: '0', state: 'gone', confirmations: 0, height: null, block_hash: null },
    ]);
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
    const { logs } = await expectSettledOnce(invoice.id);
    expect(logs.at(-1)).toBe('confirmed');
    expect(test.log.join('')).toContain('confirmed_payment_vanished');
  });

  describe('the block of a confirmed payment leaves the chain', () => {
    const listed = ({ id }: { id: string }) =>
      test.app.db.query
        .selectFrom('contradictions')
        .select(['kind', 'blockchain', 'txid', 'details', 'closed_by', 'note'])
        .where('invoice_id', '=', id)
        .orderBy('created_at')
        .orderBy('kind')
        .execute();
    const alerts = ({ id }: { id: string }) =>
      test.log.filter((line) => line.includes('"confirmed_payment_left_its_block"') && line.includes(id));
    const place = { height: 40, confirmations: 64, final: true };
    const nowhere = { state: 'pending', confirmations: 0, height: null, block_hash: null } as const;
    const confirmed = async (chain: string) => {
      const invoice = await create(chain);
      const transfer = transferTo(test, invoice, { ...place, block_hash: `left ${invoice.id}` });
      await observe(test, chain, [transfer]);
      expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
      const leave = () => observe(test, chain, [], { orphaned_blocks: [`left ${invoice.id}`] });
      return { invoice, transfer, leave };
    };

    it.each(['ton', 'solana', 'bitcoin', 'litecoin'])(
      'of %s: it is reported to the operator at once',
      async (chain) => {
        verifies('booked-left');
        const { invoice, transfer, leave } = await confirmed(chain);
        await leave();
        const about = { kind: 'booked_left', blockchain: chain, txid: transfer.txid };
        const details = { height: 40, block_hash: `left ${invoice.id}` };
        expect(await listed(invoice)).toMatchObject([{ ...about, details, closed_by: null }]);
        expect(alerts(invoice)).toHaveLength(1);
        await leave();
        expect(await listed(invoice)).toHaveLength(1);
        await observe(test, chain, [{ ...transfer, height: 41, block_hash: `new ${invoice.id}` }]);
        expect(await listed(invoice)).toMatchObject([
          { ...about, closed_by: 'observer', note: 'it is back, in block 41' },
        ]);
        await expectSettledOnce(invoice.id);
      },
    );

    it('and another one in the same reading has it: it is listed as closed', async () => {
      const { invoice, transfer } = await confirmed('litecoin');
      const again = { ...transfer, height: 41, block_hash: `new ${invoice.id}` };
      await observe(test, 'litecoin', [again], { orphaned_blocks: [`left ${invoice.id}`] });
      expect(await listed(invoice)).toMatchObject([{ kind: 'booked_left', closed_by: 'observer' }]);
    });

    it('and it is gone for good: that is listed instead', async () => {
      verifies('booked-left', 'vanished-alert');
      const { invoice, transfer, leave } = await confirmed('litecoin');
      await leave();
      const { txid, index } = transfer;
      await follow(test, 'litecoin', [{ ...nowhere, txid, index, state: 'gone', reason: 'spent elsewhere' }]);
      expect(await listed(invoice)).toMatchObject([
        { kind: 'booked_gone', closed_by: null, details: { reason: 'spent elsewhere' } },
        { kind: 'booked_left', closed_by: 'observer' },
      ]);
    });

    it('by the word of who was asked about it, while more blocks may still come', async () => {
      verifies('booked-left');
      const invoice = await create('litecoin', '10');
      const transfer = transferTo(test, invoice, { height: 40, block_hash: 'young', confirmations: 3 });
      await observe(test, 'litecoin', [transfer]);
      expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
      const { txid, index } = transfer;
      await follow(test, 'litecoin', [{ ...nowhere, txid, index }]);
      expect(await listed(invoice)).toMatchObject([{ kind: 'booked_left', closed_by: null }]);
    });

    it('is nothing to tell before it was booked', async () => {
      const invoice = await create('litecoin');
      await observe(test, 'litecoin', [transferTo(test, invoice, { confirmations: 1, block_hash: 'early' })]);
      await observe(test, 'litecoin', [], { orphaned_blocks: ['early'] });
      expect(await listed(invoice)).toEqual([]);
    });
  });

  it('matches an amount chain by the exact amount only', async () => {
    verifies('amount-exact-only');
    const invoice = await create('bitcoin', '250');
    const exact = BigInt(invoice.amount_atomic);
    await observe(test, 'bitcoin', [
      transferTo(test, invoice, { amount_atomic: exact + 1n }),
      transferTo(test, invoice, { amount_atomic: exact - 1n }),
    ]);
    await expectNothingBooked(invoice.id);
    await observe(test, 'bitcoin', [transferTo(test, invoice)]);
    await expectSettledOnce(invoice.id);
  });

  it('adds nothing that must not be matched to a sum: the genuine part of a transaction stays a part', async () => {
    verifies('look-alikes');
    const invoice = await create('bitcoin', '271');
    const amount = BigInt(invoice.amount_atomic);
    const txid = newTxid();
    const ambiguous = 'paid in another token';
    const parts = [
      transferTo(test, invoice, { txid, index: '0', amount_atomic: amount / 2n }),
      transferTo(test, invoice, { txid, index: '1', amount_atomic: amount - amount / 2n, ambiguous }),
    ];
    await observe(test, 'bitcoin', parts);
    expect((await invoiceRow(test, invoice.id)).status).toBe('created');
    const listed = await test.app.db.query
      .selectFrom('transfers')
      .select('disposition')
      .where('txid', '=', txid)
      .execute();
    expect(listed.map(({ disposition }) => disposition)).toEqual(['unmatched', 'unmatched']);
    await observe(test, 'bitcoin', [transferTo(test, invoice, { ambiguous })]);
    expect((await invoiceRow(test, invoice.id)).status).toBe('created');
  });

  it('adds two outputs of one transaction to one address, and books each output once', async () => {
    verifies('output-books-once', 'sum-of-transfers');
    const invoice = await create('bitcoin', '270');
    const txid = newTxid();
    const half = BigInt(invoice.amount_atomic) / 2n;
    const outputs = [
      transferTo(test, invoice, { txid, index: '0', amount_atomic: half }),
      transferTo(test, invoice, { txid, index: '1', amount_atomic: BigInt(invoice.amount_atomic) - half }),
    ];
    await observe(test, 'bitcoin', outputs);
    expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'confirmed', amount_match: 'exact' });
    await expectSettledOnce(invoice.id);
  });

  describe('time', () => {
    it('expires an invoice at its time once the chain was read past it, not before', async () => {
      verifies('state-expire', 'expire-not-while-blind');
      const invoice = await create('ton');
      await readThrough(test, 'ton');
      test.clock.set(invoice.expires_at + 10);
      await test.app.observer.tick();
      expect((await invoiceRow(test, invoice.id)).status).toBe('created');
      await readThrough(test, 'ton');
      expect((await invoiceRow(test, invoice.id)).status).toBe('expired');
      await readThrough(test, 'ton');
      expect((await rowsOf(invoice.id)).events).toEqual(['invoice.created', 'invoice.expired']);
    });

    it('takes a payment made a second before expiry and read after it', async () => {
      verifies('expire-not-while-blind');
      const invoice = await create('ton');
      test.clock.set(invoice.expires_at + 600);
      await observe(test, 'ton', [transferTo(test, invoice, { time: invoice.expires_at - 1 })]);
      expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
    });

    it('lists a payment made a second after expiry as late', async () => {
      verifies('late-listed');
      const invoice = await create('ton');
      test.clock.set(invoice.expires_at + 5);
      await observe(test, 'ton', [transferTo(test, invoice, { time: invoice.expires_at + 1 })]);
      await readThrough(test, 'ton');
      expect((await invoiceRow(test, invoice.id)).status).toBe('expired');
      const { payments } = await expectNothingBooked(invoice.id);
      expect(payments.map((row) => row.status)).toEqual(['late']);
    });

    it('waits past expiry for confirmations, at most a day', async () => {
      verifies('expire-not-while-paid');
      const invoice = await create('bitcoin', '310');
      const other = await create('bitcoin', '320');
      for (const each of [invoice, other])
        await observe(test, 'bitcoin', [transferTo(test, each, unconfirmed)]);
      test.clock.set(invoice.expires_at + 3600);
      await readThrough(test, 'bitcoin');
      expect((await invoiceRow(test, invoice.id)).status).toBe('created');
      const { txid } = await invoiceRow(test, invoice.id);
      await follow(test, 'bitcoin', [
        { txid: txid ?? '', index: '0', state: 'pending', confirmations: 1, height: 7, block_hash: 'b7' },
      ]);
      expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
      test.clock.set(other.expires_at + GRACE_SECONDS);
      await readThrough(test, 'bitcoin');
      expect((await invoiceRow(test, other.id)).status).toBe('expired');
      expect((await rowsOf(other.id)).payments.map((row) => row.status)).toEqual(['late']);
    });

    it('ends an invoice a day after its time even where the provider never answers', async () => {
      verifies('expire-not-while-blind');
      const invoice = await create('solana');
      test.clock.set(invoice.expires_at + DAY - 1);
      await test.app.observer.tick();
      expect((await invoiceRow(test, invoice.id)).status).toBe('created');
      test.clock.advance(61);
      await test.app.observer.tick();
      expect((await invoiceRow(test, invoice.id)).status).toBe('expired');
    });

    it('lets an underpaid invoice expire and keeps its money listed', async () => {
      verifies('late-listed');
      const invoice = await create('ton');
      await observe(test, 'ton', [transferTo(test, invoice, { amount_atomic: 5n })]);
      test.clock.set(invoice.expires_at + 1);
      await readThrough(test, 'ton');
      expect(await invoiceRow(test, invoice.id)).toMatchObject({
        status: 'expired',
        amount_match: 'under',
        received_atomic: '5',
      });
      expect((await expectNothingBooked(invoice.id)).payments.map((row) => row.status)).toEqual(['late']);
    });
  });

  describe('the limit', () => {
    it('holds a confirmed payment, answers 402, and books it when credit comes', async () => {
      verifies('limit-held', 'service-limit-402');
      const poor = await test.merchant(`poor-${database}@example.com`);
      const invoice = await create('ton', '10', poor);
      await observe(test, 'ton', [transferTo(test, invoice)]);
      expect(await invoiceRow(test, invoice.id)).toMatchObject({ status: 'created', amount_match: 'exact' });
      expect((await expectNothingBooked(invoice.id)).payments.map((row) => row.status)).toEqual(['held']);
      await credit(test, poor.id, 100_000n, { wake: true });
      expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
      await expectSettledOnce(invoice.id);
    });

    it('never lets fifty payments at once overdraw the balance', async () => {
      verifies('limit-never-negative');
      const poor = await test.merchant(`fifty-${database}@example.com`);
      await credit(test, poor.id, 300_000n);
      const invoices = [];
      for (let count = 0; count < 20; count++) invoices.push(await create('ton', '10', poor));
      await Promise.all(invoices.map((invoice) => observe(test, 'ton', [transferTo(test, invoice)])));
      const states = await Promise.all(invoices.map(({ id }) => invoiceRow(test, id)));
      expect(states.filter((row) => row.status === 'confirmed')).toHaveLength(3);
      const { prepaid_micros } = await test.app.db.query
        .selectFrom('merchants')
        .select('prepaid_micros')
        .where('id', '=', poor.id)
        .executeTakeFirstOrThrow();
      expect(prepaid_micros).toBe(0n);
    });
  });

  describe('requests', () => {
    it('simulates through the same door, crediting what the limit lacks', async () => {
      verifies('state-simulate', 'simulate-demo-credit', 'one-door', 'ended-simulate');
      const fresh = await test.merchant(`fresh-${database}@example.com`);
      const invoice = await create('ton', '12.34', fresh);
      const reply = await test.fetch('POST', `/v1/invoices/${invoice.id}/simulate`, { key: fresh.key });
      expect(reply.json, reply.text).toMatchObject({ status: 'confirmed', amount_match: 'exact' });
      const again = await test.fetch('POST', `/v1/invoices/${invoice.id}/simulate`, { key: fresh.key });
      expect(again.json).toEqual(reply.json);
      await expectSettledOnce(invoice.id);
      const kinds = await test.app.db.query
        .selectFrom('ledger')
        .select('kind')
        .where('invoice_id', '=', invoice.id)
        .orderBy('seq')
        .execute();
      expect(kinds.map((row) => row.kind)).toEqual(['demo_credit', 'fee']);
    });

    it('refuses to cancel once a payment was seen, and cancels before', async () => {
      verifies('cancel-detected-409', 'state-cancel', 'ended-cancel');
      const seen = await create('bitcoin', '410');
      await observe(test, 'bitcoin', [transferTo(test, seen, unconfirmed)]);
      const cancel = (id: string) => apply(test.app, id, { fact: { kind: 'cancel' }, actor: 'buyer' });
      expect((await cancel(seen.id))?.verdict).toMatchObject({
        verdict: 'refused',
        code: 'payment_detected',
      });
      const free = await create('ton');
      expect((await cancel(free.id))?.invoice.status).toBe('cancelled');
      expect((await cancel(free.id))?.verdict.verdict).toBe('unchanged');
      await observe(test, 'ton', [transferTo(test, free)]);
      expect((await expectNothingBooked(free.id)).payments.map((row) => row.status)).toEqual(['late']);
    });

    it('never both cancels and confirms', async () => {
      verifies('one-door');
      for (let round = 0; round < 20; round++) {
        const invoice = await create('ton');
        await Promise.all([
          apply(test.app, invoice.id, { fact: { kind: 'cancel' }, actor: 'buyer' }),
          observe(test, 'ton', [transferTo(test, invoice)]),
        ]);
        const { status } = await invoiceRow(test, invoice.id);
        const { income, payments } = await rowsOf(invoice.id);
        expect(income).toHaveLength(status === 'confirmed' ? 1 : 0);
        expect(payments.map((row) => row.status)).toEqual([status === 'confirmed' ? 'confirmed' : 'late']);
      }
    });

    it('lets an operator book a late payment once, and refuses its transaction a second time', async () => {
      verifies('resolve-confirm', 'output-books-once');
      const invoice = await create('ton');
      const transfer = transferTo(test, invoice);
      await apply(test.app, invoice.id, { fact: { kind: 'cancel' }, actor: 'buyer' });
      await observe(test, 'ton', [transfer]);
      expect((await confirmByOperator(test, invoice.id))?.invoice).toMatchObject({
        status: 'confirmed',
        txid: transfer.txid,
      });
      await expectSettledOnce(invoice.id);
      const other = await create('ton');
      expect((await confirmByOperator(test, other.id, { txid: transfer.txid }))?.verdict).toMatchObject({
        code: 'transfer_booked',
      });
      const unknown = newTxid();
      expect((await confirmByOperator(test, other.id, { txid: unknown }))?.verdict).toMatchObject({
        code: 'transaction_unknown',
      });
      await expectNothingBooked(other.id);
      expect(
        (await confirmByOperator(test, other.id, { txid: unknown, force: true }))?.invoice,
      ).toMatchObject({
        status: 'confirmed',
        txid: unknown,
      });
      const third = await create('ton');
      for (const force of [false, true])
        expect((await confirmByOperator(test, third.id, { txid: unknown, force }))?.verdict).toMatchObject({
          code: 'transfer_booked',
        });
      await observe(test, 'ton', [transferTo(test, other, { txid: unknown, memo: third.memo })]);
      await expectNothingBooked(third.id);
    });

    it('leaves no trace of a resolution that was refused', async () => {
      verifies('resolve-pays-fee');
      const poor = await test.merchant(`refused-${database}@example.com`);
      const invoice = await create('ton', '10', poor);
      const txid = newTxid();
      const outcome = await apply(test.app, invoice.id, {
        fact: { kind: 'resolve', action: 'confirm' },
        actor: 'operator:1',
        txid,
        force: true,
      });
      expect(outcome?.verdict).toMatchObject({ code: 'limit_exhausted' });
      const rows = await test.app.db.query
        .selectFrom('transfers')
        .select('id')
        .where('txid', '=', txid)
        .execute();
      expect(rows).toEqual([]);
    });
  });

  it('finds the invoice that a crashed request made when the request is repeated under its key', async () => {
    const headers = { 'idempotency-key': `crash-${database}` };
    const body = { chain: 'ton', amount: '3' };
    const send = () => test.fetch('POST', '/v1/invoices', { key: merchant.key, body, headers });
    const first = await send();
    await test.app.db.query
      .updateTable('idempotency')
      .set({ status: null, body: null, created_at: test.clock.now() - 61 })
      .where('key', '=', headers['idempotency-key'])
      .execute();
    const second = await send();
    expect(second.status, second.text).toBe(200);
    expect(second.json.id).toBe(first.json.id);
    expect((await rowsOf(first.json.id)).events).toEqual(['invoice.created']);
  });

  it('refuses to change or delete what was written to the ledger', async () => {
    verifies('ledger-append-only');
    await expect(
      test.app.db.query
        .updateTable('ledger')
        .set({ note: 'x' } as never)
        .execute(),
    ).rejects.toThrow(/append-only/);
    await expect(test.app.db.query.deleteFrom('ledger').execute()).rejects.toThrow(/append-only/);
  });

  it('accounts for every credit of a watched address as matched, late or unmatched', async () => {
    const { query } = test.app.db;
    const transfers = await query.selectFrom('transfers').selectAll().execute();
    const other = transfers.filter((row) => row.disposition !== 'matched' && row.payment_id === null);
    expect(other).toEqual([]);
    const matchedNowhere = transfers.filter(
      (row) => row.disposition === 'matched' && row.invoice_id === null,
    );
    expect(matchedNowhere).toEqual([]);
  });
});
