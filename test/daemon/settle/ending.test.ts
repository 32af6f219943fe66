// How invoices end whose payment vanished or was waited for in vain, and what their log says; on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GRACE_SECONDS } from '../../../src/invoice.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  create,
  follow,
  fundedMerchant,
  invoiceRow,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

const gone = { index: '0', state: 'gone', confirmations: 0, height: null, block_hash: null } as const;

describe.each(databases)('an invoice that ends on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  let operator: { token: string };
  beforeAll(async () => {
    service = await startApp({ database });
    merchant = await fundedMerchant(service);
    operator = await service.superuser();
    // The outer bound ends nothing before there was time to read since the start.
    service.clock.advance(700);
  });
  afterAll(() => service.stop());

  const paymentOf = async (id: string) => (await service.fetch('GET', `/v1/invoices/${id}/payment`)).json;
  const status = async (id: string) => (await invoiceRow(service, id)).status;
  /** Beyond the outer bound; whether it was read is the test's business. */
  async function outlive(expires_at: number): Promise<void> {
    service.clock.set(expires_at + GRACE_SECONDS + 120);
    await service.app.observer.tick();
  }

  test('when the last transfer turns out to be gone has an orphaned payment', async () => {
    const invoice = await create(service, merchant, 'bitcoin', { amount: '41' });
    const seen = transferTo(service, invoice, unconfirmed);
    await observe(service, 'bitcoin', [seen]);
    expect((await paymentOf(invoice.id)).payment.status).toBe('detected');
    service.clock.set(invoice.expires_at + 60);
    await readThrough(service, 'bitcoin');
    expect(await status(invoice.id)).toBe('created');
    await follow(service, 'bitcoin', [{ ...gone, txid: seen.txid, reason: 'another spends the same' }]);
    expect(await status(invoice.id)).toBe('expired');
    const { payment, logs } = await paymentOf(invoice.id);
    expect(payment.status).toBe('orphaned');
    expect(logs.at(-1)).toMatchObject({ from_status: 'detected', to_status: 'orphaned' });
    expect(JSON.stringify(logs)).toContain('another spends the same');
  });

  test('before its transfer is gone has an orphaned payment from then on', async () => {
    for (const action of ['expire', 'fail']) {
      const invoice = await create(service, merchant, 'bitcoin', { amount: '42' });
      const seen = transferTo(service, invoice, unconfirmed);
      await observe(service, 'bitcoin', [seen]);
      const path = `/api/v1/admin/payments/${invoice.id}/resolve`;
      await service.fetch('POST', path, { token: operator.token, body: { action } });
      expect((await paymentOf(invoice.id)).payment.status).toBe('late');
      await follow(service, 'bitcoin', [{ ...gone, txid: seen.txid }]);
      expect((await paymentOf(invoice.id)).payment.status).toBe('orphaned');
    }
  });

  test('of whose transfers one is left has a late payment', async () => {
    const invoice = await create(service, merchant, 'litecoin', { amount: '43' });
    const parts = { amount_atomic: BigInt(invoice.amount_atomic), memo: null };
    const [one, other] = [
      transferTo(service, invoice, { ...parts, ...unconfirmed }),
      transferTo(service, invoice, { ...parts, confirmations: 1 }),
    ];
    await observe(service, 'litecoin', [one, other]);
    await follow(service, 'litecoin', [{ ...gone, txid: one.txid }]);
    const path = `/api/v1/admin/payments/${invoice.id}/resolve`;
    await service.fetch('POST', path, { token: operator.token, body: { action: 'fail' } });
    expect((await paymentOf(invoice.id)).payment.status).toBe('late');
  });

  test('by the outer bound says so, and what it still waited for', async () => {
    verifies('grace-in-log');
    const unread = await create(service, merchant, 'ton', { amount: '44' });
    const pending = await create(service, merchant, 'bitcoin', { amount: '44' });
    await observe(service, 'bitcoin', [transferTo(service, pending, unconfirmed)]);
    const poor = await service.merchant();
    const held = await create(service, poor, 'ton', { amount: '44' });
    await observe(service, 'ton', [transferTo(service, held)]);
    await outlive(Math.max(unread.expires_at, pending.expires_at, held.expires_at));
    const noteOf = async (id: string) => (await paymentOf(id)).logs.at(-1);
    expect(await noteOf(unread.id)).toMatchObject({
      to_status: 'expired',
      actor: 'clock',
      note: 'ended by the outer bound of 24 hours: its account was not proved read past its end',
    });
    expect(await noteOf(pending.id)).toMatchObject({
      to_status: 'late',
      note: 'ended by the outer bound of 24 hours: its payment was not final',
    });
    expect(await noteOf(held.id)).toMatchObject({
      to_status: 'late',
      note: expect.stringMatching(/^ended by the outer bound of 24 hours: the limit did not cover/),
    });
    for (const { id } of [unread, pending, held]) expect(await status(id)).toBe('expired');
  });

  test('by proof says nothing of a bound', async () => {
    verifies('grace-in-log');
    const invoice = await create(service, merchant, 'solana', { amount: '45' });
    service.clock.set(invoice.expires_at + 1);
    await readThrough(service, 'solana');
    expect(await status(invoice.id)).toBe('expired');
    expect((await paymentOf(invoice.id)).logs.at(-1)).toMatchObject({ to_status: 'expired', note: null });
  });
});
