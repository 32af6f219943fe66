// Money that a person has dealt with elsewhere: closed without booking, by those who may, and bookable all the same.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transfer } from '../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { verifyChain } from '../helpers/books.ts';
import { databases } from '../helpers/database.ts';
import {
  confirmByOperator,
  create,
  follow,
  fundedMerchant,
  observe,
  transferTo,
  unconfirmed,
} from '../helpers/payments.ts';
import { verifies } from '../requirements.ts';

const NOTE = 'sent back: \u001b[31m<b>red</b>';

describe.each(databases)('payments that are closed without booking on %s', (database) => {
  let service: TestApp;
  let ann: TestMerchant;
  let operator: { id: string; token: string };
  beforeAll(async () => {
    service = await startApp({ database });
    ann = await fundedMerchant(service);
    operator = await service.superuser();
  });
  afterAll(() => service.stop());

  type Who = { token?: string; key?: string };
  const call = (method: string, path: string, who: Who, body?: unknown) =>
    service.fetch(method, path, { ...who, body });
  const admin = async (path: string) => (await call('GET', `/api/v1/admin/${path}`, operator)).json;
  const listed = async (status: string): Promise<string[]> =>
    (await admin(`payments?status=${status}`)).data.map(({ id }: { id: string }) => id);
  const inbox = async (): Promise<string[]> =>
    (await call('GET', '/v1/inbox', ann)).json.data.map(({ id }: { id: string }) => id);
  const asOperator = (id: string, body: unknown) =>
    call('POST', `/api/v1/admin/payments/${id}/note`, operator, body);
  const asAnn = (id: string, body: unknown) => call('POST', `/v1/payments/${id}/note`, ann, body);
  const waiting = async (): Promise<number> => {
    const { attention } = await admin('dashboard');
    return attention.unmatched + attention.late;
  };
  const eventsOf = async (type: string): Promise<unknown[]> =>
    (await call('GET', `/api/v1/merchant/events?type=${type}&limit=200`, ann)).json.data;
  /** A payment to the address of an invoice of Ann that names none, with that invoice. */
  async function nameless(at: Partial<Transfer> = { final: true }) {
    const invoice = await create(service, ann, 'ton');
    const transfer = transferTo(service, invoice, { memo: null, ...at });
    await observe(service, 'ton', [transfer]);
    const { data } = await admin('payments?status=unmatched');
    const { id } = data.find(({ txid }: { txid: string }) => txid === transfer.txid);
    return { id: id as string, invoice, transfer };
  }

  test('are exported without what an operator wrote of them', async () => {
    verifies('payment-dismiss');
    const { id } = await nameless();
    await asOperator(id, { note: 'suspected of fraud', dismissed: true });
    for (const table of ['payments', 'logs']) {
      let [text, after] = ['', ''];
      do {
        const path = `/api/v1/merchant/export?table=${table}${after && `&after=${encodeURIComponent(after)}`}`;
        const page = await call('GET', path, { token: ann.token });
        text += page.text;
        after = page.json.next ?? '';
      } while (after !== '');
      expect(text).toContain(id);
      expect(text).not.toContain('fraud');
      expect(text).not.toContain(operator.id);
    }
  });

  test('wait no longer, are found all the same, and wait again where that is asked for', async () => {
    verifies('payment-dismiss', 'payment-reopen');
    const { id } = await nameless();
    const [before, books] = [await waiting(), await verifyChain(service, ann.id)];
    expect((await asOperator(id, { note: ' ', dismissed: true })).json.code).toBe('bad_request');
    const closed = await asOperator(id, { note: NOTE, dismissed: true });
    expect(closed.json.payment).toMatchObject({
      status: 'unmatched',
      dismissed: { by: `operator:${operator.id}`, note: NOTE, at: service.clock.now() },
    });
    expect(closed.json.logs.at(-1)).toMatchObject({
      note: `closed without booking: ${NOTE}`,
      actor: `operator:${operator.id}`,
    });
    expect([await waiting(), await listed('unmatched'), await inbox()]).toEqual([
      before - 1,
      expect.not.arrayContaining([id]),
      expect.not.arrayContaining([id]),
    ]);
    expect(await listed('dismissed')).toContain(id);
    expect((await admin('payments')).data.map((row: { id: string }) => row.id)).toContain(id);
    // Asked again, nothing is written.
    const again = await asOperator(id, { note: 'another', dismissed: true });
    expect(again.json.logs).toEqual(closed.json.logs);
    // The merchant reads that it was closed, not by whom and why; he may not undo it.
    const { story } = (await call('GET', `/v1/explain?q=${id}`, ann)).json;
    expect(story.summary).toMatch(/Closed by the operator\.$/);
    expect(JSON.stringify(story)).not.toContain('red');
    expect((await asAnn(id, { note: 'mine', dismissed: false })).json.code).toBe('operator_decides');
    const reopened = await asOperator(id, { note: 'no, it was not', dismissed: false });
    expect(reopened.json.payment.dismissed).toBeNull();
    expect([await waiting(), await listed('dismissed'), await inbox()]).toEqual([
      before,
      expect.not.arrayContaining([id]),
      expect.arrayContaining([id]),
    ]);
    expect(await verifyChain(service, ann.id)).toEqual(books);
  });

  test('are closed by their merchant where they are his alone', async () => {
    verifies('payment-dismiss-own');
    const { id } = await nameless();
    const eve = await fundedMerchant(service);
    for (const who of [{ key: eve.key }, { token: eve.token }]) {
      const stolen = await call('POST', `/v1/payments/${id}/note`, who, { note: 'mine', dismissed: true });
      expect([stolen.status, stolen.json.code]).toEqual([404, 'payment_not_found']);
    }
    const closed = await asAnn(id, { note: NOTE, dismissed: true });
    expect(closed.json).toMatchObject({
      payment: { id, status: 'unmatched' },
      dismissed: { by: 'merchant', note: NOTE },
    });
    expect(await inbox()).not.toContain(id);
    const { story } = (await call('GET', `/v1/explain?q=${id.slice(-8)}`, ann)).json;
    expect(story.summary).toBe(
      `2.5 TON came, and no open invoice is named by it. Closed by the merchant: ${NOTE}.`,
    );
    expect(story.moments.at(-1)).toMatchObject({ text: `closed without booking: ${NOTE}`, by: 'merchant' });
    expect(story.next).toMatchObject([{ command: `gw payment note ${id} WHY --no-dismissed` }]);
    expect((await asAnn(id, { note: 'after all', dismissed: false })).json.dismissed).toBeNull();
    // A note alone leaves it where it is; of them there is an end.
    let last = { status: 200 };
    for (let each = 0; each < 60 && last.status === 200; each += 1) last = await asAnn(id, { note: 'again' });
    expect(last.status).toBe(400);
    expect(await inbox()).toContain(id);
    // Another account that is paid there may be the one that was paid.
    const other = await nameless();
    await create(service, eve, 'ton');
    expect((await asAnn(other.id, { note: 'mine', dismissed: true })).json.code).toBe('operator_decides');
    expect((await asOperator(other.id, { note: 'a test', dismissed: true })).status).toBe(200);
  });

  test('are late ones too, by the invoice that shows them, and nothing else', async () => {
    verifies('payment-dismiss');
    const invoice = await create(service, ann, 'ton');
    expect((await asOperator(invoice.id, { note: 'x', dismissed: true })).json.code).toBe(
      'payment_not_waiting',
    );
    await call('POST', `/v1/invoices/${invoice.id}/cancel`, ann);
    await observe(service, 'ton', [transferTo(service, invoice, { final: true })]);
    expect(await listed('late')).toContain(invoice.id);
    const closed = await asOperator(invoice.id, { note: NOTE, dismissed: true });
    expect(closed.json.payment).toMatchObject({ id: invoice.id, dismissed: { note: NOTE } });
    expect([await listed('late'), await listed('dismissed')]).toEqual([
      expect.not.arrayContaining([invoice.id]),
      expect.arrayContaining([invoice.id]),
    ]);
    // What buyers may read says what was done, not who did it and why.
    const { logs } = (await service.fetch('GET', `/v1/invoices/${invoice.id}/payment`)).json;
    expect(logs.at(-1)).toMatchObject({ actor: 'operator', note: 'closed without booking' });
    const paid = await create(service, ann, 'ton');
    await observe(service, 'ton', [transferTo(service, paid, { final: true })]);
    expect((await asOperator(paid.id, { note: 'x', dismissed: true })).json.code).toBe('payment_not_waiting');
  });

  test('can be booked later, which ends the dismissal, also at the same moment', async () => {
    verifies('payment-dismiss-booked');
    for (const isClosedFirst of [true, false, false, false]) {
      const { id, invoice, transfer } = await nameless();
      const before = await waiting();
      const close = () => asOperator(id, { note: 'a test', dismissed: true });
      if (isClosedFirst) await close();
      const [booked, closed] = await Promise.all([
        confirmByOperator(service, invoice.id, { txid: transfer.txid }),
        isClosedFirst ? undefined : close(),
      ]);
      expect(booked?.verdict.verdict).toBe('moved');
      if (closed) expect([200, 409]).toContain(closed.status);
      const { payment } = await admin(`payments/${id}`);
      expect([payment.payment_status, payment.dismissed]).toEqual(['confirmed', null]);
      expect(await waiting()).toBe(before - 1);
      expect(await listed('dismissed')).not.toContain(id);
    }
  });

  test('wait again once their transaction has left the chain and is back', async () => {
    verifies('payment-dismiss-reorg');
    const { id, transfer } = await nameless(unconfirmed);
    await asOperator(id, { note: 'a test', dismissed: true });
    const before = await waiting();
    const { txid, index } = transfer;
    const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;
    await follow(service, 'ton', [{ txid, index, ...gone }]);
    const orphaned = await admin(`payments/${id}`);
    expect(orphaned.payment).toMatchObject({ status: 'orphaned', dismissed: null });
    expect(await waiting()).toBe(before);
    await observe(service, 'ton', [
      { ...transfer, height: 101, block_hash: 'block-101', confirmations: 64, final: true },
    ]);
    expect((await admin(`payments/${id}`)).payment).toMatchObject({ status: 'unmatched', dismissed: null });
    expect(await waiting()).toBe(before + 1);
    // The note is still read.
    const { logs } = await admin(`payments/${id}`);
    expect(logs.map(({ note }: { note: string }) => note)).toContain('closed without booking: a test');
  });

  test('are no part of what a confirmation books that names no transaction, and stay closed alongside it', async () => {
    verifies('payment-dismiss-named');
    const invoice = await create(service, ann, 'ton');
    await call('POST', `/v1/invoices/${invoice.id}/cancel`, ann);
    const [back, paid] = [1, 2].map(() => transferTo(service, invoice, { final: true })) as [
      Transfer,
      Transfer,
    ];
    await observe(service, 'ton', [back]);
    await asOperator(invoice.id, { note: 'sent back by hand', dismissed: true });
    const resolve = (body: object) =>
      call('POST', `/api/v1/admin/payments/${invoice.id}/resolve`, operator, { action: 'confirm', ...body });
    expect((await resolve({})).json.code).toBe('transaction_unknown');
    await observe(service, 'ton', [paid]);
    const before = [await waiting(), (await eventsOf('payment.late')).length];
    expect((await resolve({})).status).toBe(200);
    const booked = (await call('GET', `/v1/invoices/${invoice.id}`, ann)).json;
    expect(booked).toMatchObject({ status: 'confirmed', amount_match: 'exact', txid: paid.txid });
    // The one that came late waits no more, and the other not again; no event of it is written once more.
    expect([await waiting(), (await eventsOf('payment.late')).length]).toEqual([
      Number(before[0]) - 1,
      before[1],
    ]);
    const { data } = await admin('payments?status=dismissed');
    const closed = data.find(({ txid }: { txid: string }) => txid === back.txid);
    expect((await admin(`payments/${closed.id}`)).payment.dismissed).toMatchObject({
      note: 'sent back by hand',
      by: `operator:${operator.id}`,
    });
    // By its name it is booked all the same, for another.
    const other = await create(service, ann, 'ton');
    expect((await confirmByOperator(service, other.id, { txid: back.txid }))?.verdict.verdict).toBe('moved');
  });

  test('of several parts wait again where a part leaves, comes back or is booked', async () => {
    verifies('payment-dismiss-reorg');
    const invoice = await create(service, ann, 'ton');
    const half = BigInt(invoice.amount_atomic) / 4n;
    const [one, two] = [1, 2].map(() =>
      transferTo(service, invoice, { amount_atomic: half, ...unconfirmed }),
    ) as [Transfer, Transfer];
    await observe(service, 'ton', [one, two]);
    await call('POST', `/api/v1/admin/payments/${invoice.id}/resolve`, operator, { action: 'expire' });
    const isClosed = async () => (await admin(`payments/${invoice.id}`)).payment.dismissed !== null;
    const close = () => asOperator(invoice.id, { note: 'sent back', dismissed: true });
    const deep = { height: 101, block_hash: 'block-101', confirmations: 64, final: true } as const;
    const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;
    expect((await close()).status).toBe(200);
    await follow(service, 'ton', [{ txid: one.txid, index: one.index, ...gone }]);
    expect(await isClosed()).toBe(false);
    await close();
    await observe(service, 'ton', [
      { ...one, ...deep },
      { ...two, ...deep },
    ]);
    expect(await isClosed()).toBe(false);
    await close();
    const other = await create(service, ann, 'ton');
    await confirmByOperator(service, other.id, { txid: two.txid });
    expect(await isClosed()).toBe(false);
  });

  test('are no business of him at whose address they came once they were booked for another', async () => {
    verifies('payment-dismiss-own');
    const bob = await fundedMerchant(service);
    await create(service, ann, 'ton');
    const invoice = await create(service, bob, 'ton', { external_ref: 'order of Bob' });
    const transfer = transferTo(service, invoice, { memo: null, final: true });
    await observe(service, 'ton', [transfer]);
    const { data } = await admin('payments?status=unmatched');
    const { id } = data.find(({ txid }: { txid: string }) => txid === transfer.txid);
    await confirmByOperator(service, invoice.id, { txid: transfer.txid });
    expect((await asAnn(id, { note: 'refund to me' })).json.code).toBe('payment_not_found');
    const asked = await call('GET', `/v1/explain?q=${id}`, ann);
    expect(asked.text).not.toContain('order of Bob');
    const { story } = (await call('GET', `/v1/explain?q=${invoice.id}`, bob)).json;
    expect(JSON.stringify(story)).not.toContain('refund to me');
  });
});
