// Replacements of unconfirmed payments: the same payment in another transaction, whatever else comes to its address.
import { describe, expect, test } from 'vitest';
import type { Transfer } from '../../../src/chains/family.ts';
import { startApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  create,
  follow,
  fundedMerchant,
  invoiceRow,
  newTxid,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';

describe.each(databases)('replaced payments on %s', (database) => {
  async function shop() {
    const service = await startApp({ database });
    const merchant = await fundedMerchant(service);
    return { service, merchant, now: () => service.clock.now() };
  }

  test('a fee bump after the end is in time, whatever strangers have sent to the address since', async () => {
    const { service, merchant, now } = await shop();
    const invoice = await create(service, merchant, 'bitcoin', { amount: '20' });
    const inputs = [`${'aa'.repeat(32)}:0`];
    await observe(service, 'bitcoin', [transferTo(service, invoice, { ...unconfirmed, inputs })]);
    service.clock.advance(30);
    const txid = newTxid();
    const dust = Array.from({ length: 1100 }, (_, index) =>
      transferTo(service, invoice, {
        ...unconfirmed,
        txid,
        index: String(index),
        amount_atomic: 300n,
        inputs: [`${'bb'.repeat(32)}:1`],
      }),
    );
    await observe(service, 'bitcoin', dust);
    service.clock.set(invoice.expires_at + 60);
    const bumped = {
      height: 7,
      block_hash: 'b7',
      confirmations: 6,
      inputs: [...inputs, `${'cc'.repeat(32)}:2`],
    };
    await observe(service, 'bitcoin', [transferTo(service, invoice, { ...bumped, time: now() })]);
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
    await service.stop();
  }, 60_000);

  test('a fee bump of what was on its way pays no invoice made in the second in which it was seen', async () => {
    const { service, merchant } = await shop();
    const template = await create(service, merchant, 'litecoin', { amount: '20' });
    // Paid at the same address as the first.
    await fundedMerchant(service, `other-${database}@example.com`);
    const amount_atomic = 12_345_678n;
    const inputs = [`${'dd'.repeat(32)}:0`];
    const seen = transferTo(service, template, { ...unconfirmed, amount_atomic, inputs });
    await observe(service, 'litecoin', [seen]);
    // By anyone who has seen it on its way, in the same second.
    const invoice = await create(service, merchant, 'litecoin', {
      amount: '0.12345678',
      amount_unit: 'native',
    });
    expect(invoice).toMatchObject({ amount_atomic: '12345678', created_at: seen.latest_at });
    service.clock.advance(60);
    const mined = { height: 7, block_hash: 'b7', confirmations: 6 };
    await observe(service, 'litecoin', [transferTo(service, invoice, { ...mined, inputs })]);
    expect((await invoiceRow(service, invoice.id)).status).toBe('created');
    // What pays it, pays it.
    await observe(service, 'litecoin', [
      transferTo(service, invoice, { ...mined, inputs: [`${'ee'.repeat(32)}:0`] }),
    ]);
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
    await service.stop();
  });

  test('a fee bump is as old as what it replaces, though our clock was set back to before its invoice', async () => {
    const { service, merchant } = await shop();
    const invoice = await create(service, merchant, 'litecoin', { amount: '20' });
    const inputs = [`${'ab'.repeat(32)}:0`];
    await observe(service, 'litecoin', [transferTo(service, invoice, { ...unconfirmed, inputs })]);
    const bumped = { height: 7, block_hash: 'b7', confirmations: 6, inputs };
    const time = invoice.created_at - 306;
    await observe(service, 'litecoin', [transferTo(service, invoice, { ...bumped, time })]);
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
    await service.stop();
  });

  test('a fee bump after the end is in time while a node that is behind shows the first in a block that was left', async () => {
    const { service, merchant, now } = await shop();
    const invoice = await create(service, merchant, 'litecoin', { amount: '20' });
    const first = { txid: newTxid(), inputs: [`${'ac'.repeat(32)}:0`] };
    const left = { height: 7, block_hash: 'b7', confirmations: 2 };
    await observe(service, 'litecoin', [transferTo(service, invoice, { ...left, ...first })]);
    service.clock.set(invoice.expires_at + 60);
    const second = { txid: newTxid(), inputs: first.inputs, time: now() };
    await observe(service, 'litecoin', [transferTo(service, invoice, { ...unconfirmed, ...second })]);
    // Neither is deep enough, and they are one payment.
    expect((await invoiceRow(service, invoice.id)).status).toBe('created');
    const mined = { height: 8, block_hash: 'b8', confirmations: 6 };
    await observe(service, 'litecoin', [transferTo(service, invoice, { ...mined, ...second })]);
    expect(await invoiceRow(service, invoice.id)).toMatchObject({ status: 'confirmed', txid: second.txid });
    await service.stop();
  });

  test('a fee bump and what it replaces take turns where nodes differ, and one of them is always the payment', async () => {
    const { service, merchant, now } = await shop();
    const invoice = await create(service, merchant, 'litecoin', { amount: '20' });
    const inputs = [`${'ad'.repeat(32)}:0`];
    const first = transferTo(service, invoice, { ...unconfirmed, inputs });
    await observe(service, 'litecoin', [first]);
    service.clock.set(invoice.expires_at + 60);
    const second = transferTo(service, invoice, { ...unconfirmed, inputs, time: now() });
    const turns = async (gone: Transfer, back: Transfer) => {
      const { txid, index } = gone;
      const nowhere = { confirmations: 0, height: null, block_hash: null };
      const seen = { ...back, earliest_at: now(), latest_at: now() };
      await follow(service, 'litecoin', [{ txid, index, ...nowhere, state: 'gone', replaced_by: [seen] }]);
      await readThrough(service, 'litecoin');
      return (await invoiceRow(service, invoice.id)).status;
    };
    expect(await turns(first, second)).toBe('created');
    expect(await turns(second, first)).toBe('created');
    expect(await turns(first, second)).toBe('created');
    const mined = { ...second, height: 8, block_hash: 'b8', confirmations: 6 };
    await observe(service, 'litecoin', [mined]);
    expect(await invoiceRow(service, invoice.id)).toMatchObject({ status: 'confirmed', txid: second.txid });
    await service.stop();
  });

  test('a replacement that corrects the amount pays', async () => {
    const { service, merchant } = await shop();
    const invoice = await create(service, merchant, 'litecoin', { amount: '20' });
    const inputs = [`${'ff'.repeat(32)}:0`];
    await observe(service, 'litecoin', [
      transferTo(service, invoice, {
        ...unconfirmed,
        amount_atomic: 1n + BigInt(invoice.amount_atomic),
        inputs,
      }),
    ]);
    await observe(service, 'litecoin', [transferTo(service, invoice, { inputs })]);
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
    await service.stop();
  });
});
