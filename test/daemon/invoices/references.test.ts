// One Solana transaction that pays several invoices carries the reference of each: what names an invoice beyond doubt pays it.
import { describe, expect, test } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { create, fundedMerchant, invoiceRow, newTxid, observe, transferTo } from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';

describe.each(databases)('references of several invoices on %s', (database) => {
  async function shop() {
    const service = await startApp({ database });
    const merchant = await fundedMerchant(service);
    const other = await fundedMerchant(service, `other-${database}@example.com`);
    await setWallet(service.app, other.id, 'solana', '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM');
    const statusOf = async (id: string) => (await invoiceRow(service, id)).status;
    return { service, merchant, other, statusOf };
  }

  test('are each of one address only, where the invoices are of two', async () => {
    const { service, merchant, other, statusOf } = await shop();
    const [one, two] = [await create(service, merchant, 'solana'), await create(service, other, 'solana')];
    expect(one.address_key).not.toBe(two.address_key);
    const txid = newTxid();
    const references = [one.reference ?? '', two.reference ?? ''];
    await observe(service, 'solana', [
      transferTo(service, one, { txid, references, index: `${one.address_key}:SOL:0`, memo: null }),
      transferTo(service, two, { txid, references, index: `${two.address_key}:SOL:0`, memo: null }),
    ]);
    expect([await statusOf(one.id), await statusOf(two.id)]).toEqual(['confirmed', 'confirmed']);
    await service.stop();
  });

  test('leave each memo its own invoice, and pay none without a memo', async () => {
    const { service, merchant, statusOf } = await shop();
    const made = [];
    for (let count = 0; count < 3; count++) made.push(await create(service, merchant, 'solana'));
    const [one, two, three] = made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]];
    const references = made.map(({ reference }) => reference ?? '');
    const txid = newTxid();
    await observe(service, 'solana', [
      transferTo(service, one, { txid, references, index: 'a:0' }),
      transferTo(service, two, { txid, references, index: 'a:1' }),
    ]);
    await observe(service, 'solana', [transferTo(service, three, { references, memo: null })]);
    const states = [await statusOf(one.id), await statusOf(two.id), await statusOf(three.id)];
    expect(states).toEqual(['confirmed', 'confirmed', 'created']);
    await service.stop();
  });
});
