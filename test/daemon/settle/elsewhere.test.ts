// Who is notified of money that came on another network than its invoice asked for, at addresses that others set too; on both databases.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { create, fundedMerchant, invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

/** Networks with the same addresses; BNB Chain counts USDC in units a trillion times smaller. */
const NETWORKS = ['base', 'bsc', 'ethereum'] as const;
const BSC_UNITS = 10n ** 12n;

let made_addresses = 0;
const newAddress = () => `0x${(++made_addresses).toString(16).padStart(40, 'ab')}`;

describe.each(databases)('money on another network on %s', (database) => {
  let test: TestApp;
  beforeAll(async () => {
    const settings = Object.fromEntries(NETWORKS.map((id) => [`gateways.${id}-usdc.enabled`, 'true']));
    test = await startApp({ database, settings });
  });
  afterAll(() => test.stop());

  const shopAt = async (blockchain: string, address: string): Promise<TestMerchant> => {
    const merchant = await fundedMerchant(test);
    await setWallet(test.app, merchant.id, blockchain, address);
    return merchant;
  };
  const ask = (merchant: TestMerchant, blockchain: string, amount = '10') =>
    create(test, merchant, `${blockchain}-usdc`, { amount });
  /** What the invoice asks for comes on another network; `more` is beyond that, in units of the sixth decimal. */
  const payOn = async (invoice: InvoiceRow, blockchain: string, more = 0n) => {
    const amount = BigInt(invoice.amount_atomic) + more;
    const transfer = transferTo(test, invoice, {
      chain: `${blockchain}-usdc`,
      amount_atomic: blockchain === 'bsc' ? amount * BSC_UNITS : amount,
      memo: null,
    });
    await observe(test, blockchain, [transfer]);
    return transfer.txid;
  };
  /** The account that the payment is listed under, and each that has an event of it. */
  const noticeOf = async (txid: string) => {
    const { query } = test.app.db;
    const payments = query.selectFrom('payments').select(['id', 'status', 'owner_id', 'invoice_id']);
    const payment = await payments.where('txid', '=', txid).executeTakeFirstOrThrow();
    const events = await query
      .selectFrom('events')
      .select(['type', 'merchant_id'])
      .where('payment_id', '=', payment.id)
      .execute();
    expect(payment).toMatchObject({ status: 'unmatched', invoice_id: null });
    expect(events).toEqual([{ type: 'payment.unmatched', merchant_id: payment.owner_id }]);
    const logs = query.selectFrom('payment_logs').select('note').where('payment_id', '=', payment.id);
    return { id: payment.id, owner: payment.owner_id, note: (await logs.executeTakeFirstOrThrow()).note };
  };
  /** Whether a merchant finds anything of a payment, wherever he looks. */
  const findsIt = async ({ token, key }: TestMerchant, { id, txid }: { id: string; txid: string }) => {
    const read = async (path: string, who: { token?: string; key?: string }) =>
      (await test.fetch('GET', path, who)).text;
    const all = [
      await read('/v1/inbox', { key }),
      await read('/api/v1/merchant/payments', { token }),
      await read('/api/v1/merchant/events', { token }),
      await read(`/v1/payments/${id}`, { key }),
      JSON.stringify((await test.fetch('GET', `/v1/explain?q=${txid}`, { key })).json.matches),
    ];
    return all.some((text) => text.includes(id) || text.includes(txid));
  };

  it('is reported to whom it was meant for, and not to who set the address on the network where it came', async () => {
    verifies('unmatched-notified', 'wrong-network', 'address-shared');
    const address = newAddress();
    const victim = await shopAt('base', address);
    const invoice = await ask(victim, 'base');
    const stranger = await shopAt('bsc', address);
    await ask(stranger, 'bsc', '3');
    const txid = await payOn(invoice, 'bsc');
    const payment = await noticeOf(txid);
    expect(payment).toMatchObject({
      owner: victim.id,
      note: `sent on bsc-usdc; invoice ${invoice.id} expects it on base-usdc`,
    });
    expect(await findsIt(stranger, { id: payment.id, txid })).toBe(false);
    expect(await findsIt(victim, { id: payment.id, txid })).toBe(true);
    // He may not close it alone either: the address is another's too.
    const body = { note: 'mine', dismissed: true };
    const closed = await test.fetch('POST', `/v1/payments/${payment.id}/note`, { key: victim.key, body });
    expect(closed.json.code).toBe('operator_decides');
    expect((await invoiceRow(test, invoice.id)).status).toBe('created');
  });

  it('is reported to the operator alone where no invoice asked for it and several accounts have the address', async () => {
    verifies('unmatched-notified', 'address-shared');
    const address = newAddress();
    // The stranger was first, and has even sold there.
    const stranger = await shopAt('bsc', address);
    const own = await ask(stranger, 'bsc', '3');
    await observe(test, 'bsc', [transferTo(test, own)]);
    expect((await invoiceRow(test, own.id)).status).toBe('confirmed');
    test.clock.advance(1);
    const victim = await shopAt('base', address);
    const invoice = await ask(victim, 'base');
    for (const network of ['bsc', 'ethereum', 'base'])
      expect((await noticeOf(await payOn(invoice, network, 1n))).owner).toBe(null);
  });

  it('is reported to the account that alone has the address, on whichever network it came', async () => {
    verifies('unmatched-notified');
    const shop = await shopAt('base', newAddress());
    const invoice = await ask(shop, 'base');
    for (const network of ['bsc', 'ethereum', 'base'])
      expect((await noticeOf(await payOn(invoice, network, 1n))).owner).toBe(shop.id);
  });

  it('is reported to the operator alone where it comes to his wallet, though another set the address', async () => {
    verifies('unmatched-notified', 'address-shared');
    const { token } = await test.superuser();
    const address = newAddress();
    await test.fetch('PUT', '/api/v1/admin/refill-wallets', { token, body: { chain: 'base', address } });
    const stranger = await shopAt('bsc', address);
    const invoice = await ask(stranger, 'bsc', '3');
    for (const network of ['bsc', 'ethereum', 'base']) {
      const txid = await payOn(invoice, network, 1n);
      const { id, owner } = await noticeOf(txid);
      expect(owner).toBe(null);
      expect(await findsIt(stranger, { id, txid })).toBe(false);
    }
  });

  it('is reported to no account where several ask for just as much, and the log names what each asks for', async () => {
    verifies('unmatched-notified', 'address-shared');
    const address = newAddress();
    const stranger = await shopAt('ethereum', address);
    const bait = await ask(stranger, 'ethereum');
    const victim = await shopAt('base', address);
    let invoice = await ask(victim, 'base');
    // As if chance had drawn the same for both.
    await test.app.db.query
      .updateTable('invoices')
      .set({ amount_atomic: bait.amount_atomic, amount_merchant_atomic: bait.amount_atomic })
      .where('id', '=', invoice.id)
      .execute();
    invoice = await invoiceRow(test, invoice.id);
    const { owner, note } = await noticeOf(await payOn(invoice, 'bsc'));
    expect(owner).toBe(null);
    for (const { id, chain } of [invoice, bait])
      expect(note).toContain(`invoice ${id} expects it on ${chain}`);
    // In time for one of them alone, it is that one's.
    await test.fetch('POST', `/v1/invoices/${bait.id}/cancel`);
    expect((await noticeOf(await payOn(invoice, 'bsc'))).owner).toBe(victim.id);
  });

  it('is not what an invoice asks for that was made after it was sent', async () => {
    verifies('unmatched-notified', 'amount-before');
    const address = newAddress();
    const victim = await shopAt('base', address);
    await ask(victim, 'base');
    const sent_at = test.clock.now();
    test.clock.advance(60);
    const stranger = await shopAt('ethereum', address);
    const late = await ask(stranger, 'ethereum', '7');
    const transfer = transferTo(test, late, {
      chain: 'bsc-usdc',
      amount_atomic: BigInt(late.amount_atomic) * BSC_UNITS,
      time: sent_at,
      memo: null,
    });
    await observe(test, 'bsc', [transfer]);
    expect((await noticeOf(transfer.txid)).owner).toBe(null);
  });

  it('at an address of several is not reported by a token that only looks alike', async () => {
    verifies('unmatched-notified', 'look-alikes');
    const address = newAddress();
    const victim = await shopAt('base', address);
    const invoice = await ask(victim, 'base');
    const stranger = await shopAt('bsc', address);
    await ask(stranger, 'bsc', '3');
    const transfer = transferTo(test, invoice, {
      chain: 'bsc-usdc',
      amount_atomic: BigInt(invoice.amount_atomic) * BSC_UNITS,
      memo: null,
      ambiguous: 'paid in another token',
    });
    await observe(test, 'bsc', [transfer]);
    expect(await noticeOf(transfer.txid)).toMatchObject({ owner: null, note: 'paid in another token' });
  });

  it('is reported, of a refill, to who asked for that, and never to who set the operator’s address', async () => {
    verifies('unmatched-notified');
    const { token } = await test.superuser();
    const address = newAddress();
    await test.fetch('PUT', '/api/v1/admin/refill-wallets', { token, body: { chain: 'base', address } });
    const payer = await test.merchant();
    const body = { chain: 'base-usdc', amount: '25' };
    const { json } = await test.fetch('POST', '/api/v1/merchant/refill', { token: payer.token, body });
    const stranger = await shopAt('bsc', address);
    await ask(stranger, 'bsc', '3');
    expect((await noticeOf(await payOn(await invoiceRow(test, json.id), 'bsc'))).owner).toBe(payer.id);
  });
});
