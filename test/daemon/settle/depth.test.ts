// What protects money is time: depth in seconds as it is waited for, frozen and shown, whatever the pace; on both databases.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyInput } from '../../../daemon/verify/books.ts';
import { unwitnessedTransfers } from '../../../data/transfers.ts';
import { verifyLaws } from '../../../data/verify/verify.ts';
import type { Transfer } from '../../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  create,
  credit,
  follow,
  fundedMerchant,
  invoiceRow,
  observe,
  transferTo,
} from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

describe.each(databases)('depth in seconds on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({ database, settings: { 'gateways.base-usdc.enabled': true } });
    merchant = await fundedMerchant(service);
    await credit(service, merchant.id, 1_000_000_000n);
    await setWallet(service.app, merchant.id, 'base', WALLET);
  });
  afterAll(async () => {
    const { app, clock } = service;
    const input = await verifyInput({ ...app.db, damages: undefined }, app.config, clock.now());
    const laws = await verifyLaws(input, { laws: [5, 6, 7, 8, 9] });
    expect(laws.filter(({ ok }) => !ok)).toEqual([]);
    await service.stop();
  });

  const sell = (amount: string) => create(service, merchant, 'base-usdc', { amount });
  const payment = async (id: string) =>
    (await service.fetch('GET', `/v1/invoices/${id}/payment`)).json.payment;
  const read = (transfer: Transfer) => observe(service, 'base', [transfer]);
  const broken = async () => {
    const { app, clock } = service;
    const input = await verifyInput({ ...app.db, damages: undefined }, app.config, clock.now());
    return (await verifyLaws(input, { laws: [7, 8] })).filter(({ ok }) => !ok);
  };

  test('blocks that come ten times as fast confirm nothing before its time', async () => {
    verifies('seconds-decide');
    const invoice = await sell('10');
    expect(invoice).toMatchObject({ confirm_seconds: 30, until_final: 0 });
    const paid = transferTo(service, invoice, { confirmations: 16, depth_seconds: 3 });
    await read(paid);
    expect(await invoiceRow(service, invoice.id)).toMatchObject({ status: 'created' });
    await read({ ...paid, confirmations: 148, depth_seconds: 29.9 });
    const waiting = await payment(invoice.id);
    expect(waiting).toMatchObject({ status: 'confirming', min_confirmations: invoice.min_confirmations });
    expect(waiting.confirmations).toBeLessThan(waiting.min_confirmations);
    expect(await broken()).toEqual([]);
    await follow(service, 'base', [{ ...paid, state: 'pending', confirmations: 150, depth_seconds: 30 }]);
    const done = await payment(invoice.id);
    expect(done.status).toBe('confirmed');
    expect(done.confirmations).toBeGreaterThanOrEqual(done.min_confirmations);
  });

  test('blocks that come ten times as slowly keep no payment longer', async () => {
    verifies('seconds-decide');
    const invoice = await sell('11');
    await read(transferTo(service, invoice, { confirmations: 2, depth_seconds: 40 }));
    const done = await payment(invoice.id);
    expect(done.status).toBe('confirmed');
    expect(done.confirmations).toBe(done.min_confirmations);
  });

  test('an age that is not known confirms nothing; what the chain calls final counts', async () => {
    verifies('seconds-decide');
    const invoice = await sell('12');
    const paid = transferTo(service, invoice, { confirmations: 9_000, depth_seconds: null });
    await read(paid);
    expect((await invoiceRow(service, invoice.id)).status).toBe('created');
    await read({ ...paid, final: true });
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
  });

  test('a large payment on Base waits until its chain calls the block final', async () => {
    verifies('steps-by-default');
    const invoice = await sell('1000');
    expect(invoice).toMatchObject({ until_final: 1 });
    const paid = transferTo(service, invoice, { confirmations: 9_000, depth_seconds: 5_000 });
    await read(paid);
    const waiting = await payment(invoice.id);
    expect(waiting.status).toBe('confirming');
    expect(waiting.confirmations).toBe(waiting.min_confirmations - 1);
    expect(await broken()).toEqual([]);
    await follow(service, 'base', [{ ...paid, state: 'final', confirmations: 9_001, depth_seconds: 5_001 }]);
    expect((await payment(invoice.id)).status).toBe('confirmed');
  });

  test('a block that leaves its chain takes its age with it', async () => {
    verifies('seconds-decide');
    const invoice = await sell('13');
    const paid = transferTo(service, invoice, { confirmations: 100, depth_seconds: 20, block_hash: 'left' });
    await read(paid);
    await observe(service, 'base', [], { orphaned_blocks: ['left'] });
    expect(await payment(invoice.id)).toMatchObject({ status: 'detected', confirmations: 0 });
    await read({ ...paid, block_hash: 'new', confirmations: 1, depth_seconds: 0 });
    expect(await payment(invoice.id)).toMatchObject({ status: 'confirming', confirmations: 1 });
  });

  test('a second provider is asked about what is old enough, and not about what has blocks alone', async () => {
    verifies('quorum');
    const [young, old] = [await sell('14'), await sell('15')];
    // Held by no limit but by nothing: both wait, so that both are candidates.
    await service.app.db.query
      .updateTable('invoices')
      .set({ confirm_seconds: 1_000 })
      .where('id', 'in', [young.id, old.id])
      .execute();
    await read(transferTo(service, young, { confirmations: 9_000, depth_seconds: 20 }));
    await read(transferTo(service, old, { confirmations: 5, depth_seconds: 25 }));
    await service.app.db.query
      .updateTable('invoices')
      .set({ confirm_seconds: 25 })
      .where('id', 'in', [young.id, old.id])
      .execute();
    const asked = await unwitnessedTransfers(service.app.db.query, ['base-usdc'], 100);
    expect(asked.map(({ transfer }) => transfer.invoice_id)).toEqual([old.id]);
    await service.app.db.query
      .updateTable('invoices')
      .set({ confirm_seconds: 1_000 })
      .where('id', 'in', [young.id, old.id])
      .execute();
  });

  test('the pace that was measured makes the integers that are shown, and gateways show both', async () => {
    verifies('seconds-decide');
    verifies('steps-by-default');
    await observe(service, 'base', [], { pace: { recent_seconds: 0.1, hour_seconds: null } });
    await service.app.pace.refresh();
    const invoice = await sell('16');
    expect(invoice).toMatchObject({ min_confirmations: 300, confirm_seconds: 30 });
    const { json } = await service.fetch('GET', '/v1/gateways');
    const shown = json.data.find(({ chain }: { chain: string }) => chain === 'base-usdc');
    expect(shown).toMatchObject({
      confirm_seconds: 30,
      confirmations: [
        { below_usd: '1000', blocks: 300, seconds: 30, until: null },
        { below_usd: null, blocks: 12_000, seconds: null, until: 'finalized' },
      ],
      min_confirmations: 12_000,
    });
  });
});
