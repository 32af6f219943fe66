// Booking by an operator's word: the chain is asked first, and what he says alongside it is listed; on both databases.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { ProviderError, type Transfer } from '../../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { doubleFamily, namedRpc } from '../../helpers/family.ts';
import {
  create as createFor,
  fundedMerchant,
  invoiceRow,
  newTxid,
  observe,
  transferRow,
  transferTo,
} from '../../helpers/payments.ts';
import { sourceOf, unreachable } from '../../helpers/reading.ts';
import { verifies } from '../../requirements.ts';

const TON = 1_000_000_000n;

describe.each(databases)("an operator's confirmation on %s", (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  let operator: { id: string; token: string };
  let source = sourceOf(namedRpc('double'));
  beforeAll(async () => {
    const delegate = { ...source };
    delegate.use = (work) => source.use(work);
    service = await startApp({ database, source: (id) => (id === 'ton' ? delegate : undefined) });
    merchant = await fundedMerchant(service);
    operator = await service.superuser();
  });
  afterAll(() => service.stop());

  /** The chain has these transactions, and no other. */
  function chainWith(...transfers: Transfer[]): void {
    const double = doubleFamily('ton');
    double.lookUp = async (_, { txid, address_key, gateway }) =>
      transfers.filter(
        (one) => one.txid === txid && one.address_key === address_key && one.chain === gateway.chain,
      );
  }
  const call = (method: string, path: string, body?: unknown) =>
    service.fetch(method, `/api/v1/admin/${path}`, { token: operator.token, body });
  const confirm = (id: string, body: object) =>
    call('POST', `payments/${id}/resolve`, { action: 'confirm', ...body });
  const shown = (id: string, txid: string) =>
    call('GET', `payments/${id}/transactions/${encodeURIComponent(txid)}`);
  /** An invoice of 2.5 TON. */
  const create = (): Promise<InvoiceRow> => createFor(service, merchant, 'ton');
  const incomeOf = async (...invoices: InvoiceRow[]) => {
    const rows = await service.app.db.query
      .selectFrom('income')
      .select('amount_atomic')
      .where(
        'invoice_id',
        'in',
        invoices.map(({ id }) => id),
      )
      .execute();
    return rows.reduce((sum, row) => sum + BigInt(row.amount_atomic), 0n);
  };
  const contradictionsOf = async ({ id }: InvoiceRow) =>
    (await call('GET', 'contradictions?open=false&limit=200')).json.data.filter(
      ({ invoice_id }: { invoice_id: string }) => invoice_id === id,
    );

  test('needs a transaction that has paid the invoice, and books what it paid', async () => {
    verifies('resolve-looks-up', 'resolve-confirm');
    const invoice = await create();
    const paid = transferTo(service, invoice, { memo: null, amount_atomic: 2n * TON });
    const elsewhere = { ...paid, txid: newTxid(), address_key: 'somewhere else' };
    chainWith(paid, elsewhere);
    for (const txid of [newTxid(), elsewhere.txid, 'what the buyer wrote']) {
      const { status, json } = await confirm(invoice.id, { txid });
      expect([status, json.code], txid).toEqual([409, 'transaction_unknown']);
      expect(json.hint).toContain('force');
    }
    expect((await invoiceRow(service, invoice.id)).status).toBe('created');
    const { json } = await confirm(invoice.id, { txid: paid.txid.toUpperCase() });
    expect(json.invoice).toMatchObject({
      status: 'confirmed',
      txid: paid.txid,
      received_amount: '2',
      amount_match: 'under',
    });
    expect(json.income).toMatchObject({ amount: '2', txid: paid.txid });
    expect(await contradictionsOf(invoice)).toEqual([]);
  });

  test('is shown first what the transaction paid, and nothing is stored by that', async () => {
    verifies('resolve-looks-up');
    const invoice = await create();
    const paid = transferTo(service, invoice, { memo: null, amount_atomic: 2n * TON });
    chainWith(paid);
    const { status, json } = await shown(invoice.id, paid.txid.toUpperCase());
    expect([status, json]).toEqual([
      200,
      {
        txid: paid.txid,
        source: 'chain',
        found: true,
        currency: 'TON',
        amount: '2.5',
        received_amount: '2',
        amount_match: 'under',
        booked_invoice_ids: [],
        transfers: [{ index: '0', amount: '2', memo: null, sender: 'payer', height: 100, confirmations: 64 }],
      },
    ]);
    const rows = await service.app.db.query
      .selectFrom('transfers')
      .select('id')
      .where('txid', '=', paid.txid)
      .execute();
    expect(rows).toEqual([]);
    expect((await shown(invoice.id, newTxid())).json).toMatchObject({ found: false, transfers: [] });
    await confirm(invoice.id, { txid: paid.txid });
    expect((await shown(invoice.id, paid.txid)).json.booked_invoice_ids).toEqual([invoice.id]);
  });

  test('books a transaction under the id of its credit, whichever id of it is named', async () => {
    const invoice = await create();
    const paid = transferTo(service, invoice, { memo: null });
    const double = doubleFamily('ton');
    double.lookUp = async () => [paid];
    const { json } = await confirm(invoice.id, { txid: newTxid() });
    expect(json.invoice).toMatchObject({ status: 'confirmed', txid: paid.txid });
    await observe(service, 'ton', [paid]);
    expect(await incomeOf(invoice)).toBe(2_500_000_000n);
    const other = await create();
    expect((await confirm(other.id, { txid: newTxid() })).json.code).toBe('transfer_booked');
  });

  test('never makes 5 TON of income from 2.5 TON that came', async () => {
    verifies('resolve-looks-up', 'output-books-once');
    const [first, second] = [await create(), await create()];
    const came = transferTo(service, first, { memo: null });
    chainWith(came);
    // Written wrongly for one invoice, and rightly for another.
    expect((await confirm(first.id, { txid: `f${came.txid.slice(1)}` })).status).toBe(409);
    expect((await confirm(second.id, { txid: came.txid })).status).toBe(200);
    await observe(service, 'ton', [came]);
    expect((await confirm(first.id, { txid: came.txid })).json.code).toBe('transfer_booked');
    expect((await confirm(first.id, { txid: came.txid, force: true, note: 'I am sure' })).json.code).toBe(
      'transfer_booked',
    );
    expect(await incomeOf(first, second)).toBe(2_500_000_000n);
  });

  test('leaves a transaction to the invoice that its memo names', async () => {
    const [named, other] = [await create(), await create()];
    const came = transferTo(service, named);
    chainWith(came);
    expect((await confirm(other.id, { txid: came.txid })).json.code).toBe('transfer_booked');
    // Asking has found the payment of the other, which one provider's word does not confirm.
    expect(await transferRow(service, came)).toMatchObject({ invoice_id: named.id, unread: 1 });
    expect((await invoiceRow(service, named.id)).status).toBe('created');
    await observe(service, 'ton', [came]);
    expect((await invoiceRow(service, named.id)).status).toBe('confirmed');
    expect(await incomeOf(named, other)).toBe(2_500_000_000n);
  });

  test('by force needs a note, books once, and is listed until the chain has it', async () => {
    verifies('resolve-looks-up');
    chainWith();
    const invoice = await create();
    const txid = newTxid();
    for (const note of [undefined, null, '  ']) {
      const { status, json } = await confirm(invoice.id, { txid, force: true, note });
      expect([status, json.code]).toEqual([400, 'bad_request']);
    }
    const note = 'the buyer has shown it on an explorer';
    const forced = await confirm(invoice.id, { txid, force: true, note });
    expect(forced.json.invoice).toMatchObject({ status: 'confirmed', txid, received_amount: '2.5' });
    expect(forced.json.logs.at(-1)).toMatchObject({
      actor: `operator:${operator.id}`,
      note: `confirmed by the operator: ${note}`,
    });
    verifies('log-names-operator');
    const shown = await service.fetch('GET', `/v1/invoices/${invoice.id}/payment`);
    expect(shown.json.logs.at(-1)).toMatchObject({ actor: 'operator', note: 'confirmed by the operator' });
    expect(shown.text).not.toContain(operator.id);
    expect(await contradictionsOf(invoice)).toMatchObject([
      { kind: 'booking_differs', txid, closed_at: null, details: { read_atomic: null } },
    ]);
    await observe(service, 'ton', [transferTo(service, invoice, { txid, memo: null })]);
    expect(await contradictionsOf(invoice)).toMatchObject([{ closed_by: 'observer' }]);
    expect(await incomeOf(invoice)).toBe(2_500_000_000n);
  });

  test('by force, of which the chain later has less, is a contradiction and no second booking', async () => {
    verifies('resolve-looks-up');
    chainWith();
    const invoice = await create();
    const txid = newTxid();
    await confirm(invoice.id, { txid, force: true, note: 'trust me' });
    await observe(service, 'ton', [
      transferTo(service, invoice, { txid, memo: null, amount_atomic: 1n * TON }),
    ]);
    const listed = await contradictionsOf(invoice);
    expect(listed).toMatchObject([
      {
        kind: 'booking_differs',
        closed_at: null,
        count: 2,
        details: { booked_atomic: '2500000000', read_atomic: '1000000000' },
      },
    ]);
    expect(await incomeOf(invoice)).toBe(2_500_000_000n);
    const closed = await call('POST', `contradictions/${listed[0].id}/close`, { note: 'refunded' });
    expect(closed.json).toMatchObject({ closed_by: `operator:${operator.id}`, note: 'refunded' });
    expect((await call('POST', `contradictions/${listed[0].id}/close`, { note: null })).status).toBe(404);
  });

  test('without a transaction books what came, and by force what did not, which is listed', async () => {
    chainWith();
    const [some, none] = [await create(), await create()];
    await observe(service, 'ton', [transferTo(service, some, { amount_atomic: 1n * TON })]);
    expect((await confirm(some.id, {})).json.income).toMatchObject({ amount: '1' });
    const refused = await confirm(none.id, { txid: '' });
    expect([refused.status, refused.json.code]).toEqual([409, 'transaction_unknown']);
    expect((await confirm(none.id, { force: true, note: 'paid in cash' })).json.income).toMatchObject({
      amount: '2.5',
    });
    expect(await contradictionsOf(none)).toMatchObject([{ kind: 'booking_differs', txid: null }]);
    expect(await contradictionsOf(some)).toEqual([]);
  });

  test('while the chain cannot be asked takes what was read before, and else only force', async () => {
    const had = source;
    source = unreachable;
    onTestFinished(() => {
      source = had;
    });
    const invoice = await create();
    const read = transferTo(service, invoice, { memo: null });
    for (const reply of [await confirm(invoice.id, { txid: read.txid }), await shown(invoice.id, read.txid)])
      expect([reply.status, reply.json.code]).toEqual([503, 'provider_unavailable']);
    await observe(service, 'ton', [read]);
    expect((await shown(invoice.id, read.txid)).json).toMatchObject({ source: 'stored', found: true });
    expect((await confirm(invoice.id, { txid: read.txid })).json.invoice.status).toBe('confirmed');
    const other = await create();
    const forced = await confirm(other.id, { txid: newTxid(), force: true, note: 'seen elsewhere' });
    expect(forced.json.invoice.status).toBe('confirmed');
  });

  test('is not fooled by a provider that names another asset or address', async () => {
    const invoice = await create();
    const other = transferTo(service, invoice, { chain: 'ton-usdt', memo: null });
    const double = doubleFamily('ton');
    double.lookUp = async () => [other, { ...other, chain: 'ton', address_key: 'another' }];
    expect((await confirm(invoice.id, { txid: other.txid })).json.code).toBe('transaction_unknown');
    double.lookUp = async () => {
      throw new ProviderError('bad_answer', 'not what was asked');
    };
    expect((await confirm(invoice.id, { txid: other.txid })).status).toBe(503);
  });
});
