// Every kind of event there is, as the merchant lists them, each from what brings it about.
import { describe, expect, onTestFinished, test } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  invoiceRow,
  newTxid,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('events on %s', (database) => {
  test('tell of invoices and payments in the order in which it happened', async () => {
    verifies('events-kinds', 'events-cursor', 'res-payment', 'late-listed', 'unmatched-listed', 'watch-24h');
    const service = await startApp({ database });
    onTestFinished(() => service.stop());
    const [operator, merchant] = [await service.superuser(), await service.merchant()];
    const create = async (chain: string) => {
      const body = { chain, amount: '10' };
      const { json } = await service.fetch('POST', '/v1/invoices', { key: merchant.key, body });
      return invoiceRow(service, json.id);
    };
    const admin = (path: string, body: object) =>
      service.fetch('POST', `/api/v1/admin/${path}`, { token: operator.token, body });
    await admin(`merchants/${merchant.id}/credit`, { prepaid_usd: 1 });

    const paid = await create('litecoin');
    const transfer = transferTo(service, paid, unconfirmed);
    await observe(service, 'litecoin', [transfer]);
    const mined = { ...transfer, height: 5, block_hash: 'block' };
    await observe(service, 'litecoin', [{ ...mined, confirmations: 1 }]);
    await observe(service, 'litecoin', [{ ...mined, confirmations: 3 }]);
    const cancelled = await create('ton');
    await service.fetch('POST', `/v1/invoices/${cancelled.id}/cancel`);
    // Its address is watched on, so that money on its way is not lost.
    await observe(service, 'ton', [transferTo(service, cancelled)]);
    await observe(service, 'ton', [transferTo(service, cancelled, { memo: 'NO-ONES', txid: newTxid() })]);
    const failed = await create('ton');
    await admin(`payments/${failed.id}/resolve`, { action: 'fail' });
    const expired = await create('ton');
    service.clock.set(expired.expires_at + 1);
    await readThrough(service, 'ton');

    const listed = async () => {
      const { json } = await service.fetch('GET', '/api/v1/merchant/events?limit=100', {
        token: merchant.token,
      });
      return json.data.map(({ type, data }: { type: string; data: { invoice: { id: string } | null } }) => [
        type,
        data.invoice?.id ?? null,
      ]);
    };
    // On PostgreSQL events wait for whatever transaction is open on the server, other tests' too.
    await expect.poll(listed, { timeout: 10_000 }).toEqual([
      ['invoice.created', paid.id],
      ['payment.detected', paid.id],
      ['payment.confirming', paid.id],
      ['invoice.confirmed', paid.id],
      ['invoice.created', cancelled.id],
      ['invoice.cancelled', cancelled.id],
      ['payment.late', cancelled.id],
      ['payment.unmatched', null],
      ['invoice.created', failed.id],
      ['invoice.failed', failed.id],
      ['invoice.created', expired.id],
      ['invoice.expired', expired.id],
    ]);
  });
});
