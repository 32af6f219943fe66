// An invoice whose buyer pays in another coin: what comes for the old one, the new one or both, and who else moves it meanwhile.
import { bech32 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { switchInvoice } from '../../../daemon/invoices/switch.ts';
import { apply } from '../../../daemon/settle/settle.ts';
import { verifyInput } from '../../../daemon/verify/books.ts';
import { releaseAmounts } from '../../../data/reservations.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { formerTerms } from '../../../data/terms.ts';
import { verifyLaws } from '../../../data/verify/verify.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  confirmByOperator,
  create as createFor,
  follow,
  fundedMerchant,
  invoiceRow,
  newTxid,
  observe,
  paymentsOf,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const COINS = ['ton', 'ton-usdt', 'bitcoin', 'solana', 'litecoin', 'solana-usdc'];

describe.each(databases)('another coin on %s', (database) => {
  let test: TestApp;
  let merchant: TestMerchant;

  beforeAll(async () => {
    test = await startApp({ database, settings: { trust_proxy: true } });
    merchant = await fundedMerchant(test);
  });
  afterAll(() => test.stop());

  const create = (chain: string, body: Record<string, unknown> = {}) =>
    createFor(test, merchant, chain, { payable_with: COINS, ...body });
  const switched = (invoice: InvoiceRow, chain: string) => switchInvoice(test.app, invoice.id, chain);
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => 'allowed',
      (error) => error.code,
    );
  const now = (invoice: InvoiceRow) => invoiceRow(test, invoice.id);

  const booked = async ({ id }: InvoiceRow) => {
    const of = (table: 'income' | 'ledger' | 'events') =>
      test.app.db.query.selectFrom(table).selectAll().where('invoice_id', '=', id).execute();
    const events = (await of('events')) as { type: string }[];
    const transfers = await test.app.db.query
      .selectFrom('transfers')
      .selectAll()
      .where('invoice_id', '=', id)
      .execute();
    const { status, chain } = await invoiceRow(test, id);
    return {
      status,
      chain,
      income: (await of('income')).map((row) => (row as { chain: string }).chain),
      fees: (await of('ledger')).length,
      confirmations: events.filter(({ type }) => type === 'invoice.confirmed').length,
      late: (await paymentsOf(test, id))
        .filter((row) => row.status === 'late')
        .map((row) => `${row.chain} ${row.currency}`),
      booked: transfers.filter((row) => row.booked_invoice_id !== null).length,
    };
  };
  const once = (chain: string, late: string[] = []) => ({
    status: 'confirmed',
    chain,
    income: [chain],
    fees: 1,
    confirmations: 1,
    late,
    booked: 1,
  });

  it('keeps id, price and order, asks for the new coin, and is paid in it', async () => {
    verifies('switch-coin', 'switch-log');
    const invoice = await create('ton', { external_ref: 'order-9' });
    test.clock.advance(60);
    const reply = await test.fetch('POST', `/v1/invoices/${invoice.id}/switch`, {
      body: { chain: 'bitcoin' },
    });
    expect(reply.status).toBe(200);
    expect(reply.json).toMatchObject({
      id: invoice.id,
      chain: 'bitcoin',
      currency: 'BTC',
      amount_usd: '10',
      external_ref: 'order-9',
      memo: null,
      expires_at: invoice.expires_at + 60,
    });
    expect(reply.json.qr_payload).toMatch(/^bitcoin:/);
    const pay = await now(invoice);
    expect(pay).toMatchObject({ reserved: 1, switches: 1, first_expires_at: invoice.expires_at });
    const log = await test.fetch('GET', `/v1/invoices/${invoice.id}/payment`);
    expect(log.json.logs.at(-1)).toMatchObject({
      to_status: 'created',
      actor: 'buyer',
      note: 'to be paid in bitcoin, no longer in ton: its buyer chose it',
    });
    await observe(test, 'bitcoin', [transferTo(test, pay)]);
    expect(await booked(pay)).toEqual(once('bitcoin'));
  });

  it('takes the old coin back when that is what is paid, and lists the new one that comes after it', async () => {
    verifies('switch-former-counts', 'switch-both-once');
    const old = await create('ton');
    const fresh = await switched(old, 'bitcoin');
    await observe(test, 'ton', [transferTo(test, old)]);
    expect(await booked(old)).toEqual(once('ton'));
    expect(await now(old)).toMatchObject({ memo: old.memo, amount_atomic: old.amount_atomic });
    await observe(test, 'bitcoin', [transferTo(test, fresh)]);
    expect(await booked(old)).toEqual(once('ton', ['bitcoin BTC']));
  });

  it('lists the old coin that comes after the new one, before and after that is final', async () => {
    verifies('switch-both-once');
    const old = await create('ton');
    const fresh = await switched(old, 'bitcoin');
    const seen = transferTo(test, fresh, unconfirmed);
    await observe(test, 'bitcoin', [seen]);
    await observe(test, 'ton', [transferTo(test, old)]);
    expect(await booked(old)).toMatchObject({
      status: 'created',
      chain: 'bitcoin',
      late: ['ton TON'],
      booked: 0,
    });
    await observe(test, 'bitcoin', [{ ...seen, height: 7, block_hash: 'b7', confirmations: 6, final: true }]);
    await observe(test, 'ton', [transferTo(test, old)]);
    expect(await booked(old)).toEqual(once('bitcoin', ['ton TON', 'ton TON']));
  });

  it('counts one of two coins of one address that come in the same block', async () => {
    verifies('switch-both-once');
    const old = await create('ton');
    const fresh = await switched(old, 'ton-usdt');
    await observe(test, 'ton', [transferTo(test, old), transferTo(test, fresh)]);
    expect(await booked(old)).toEqual(once('ton', ['ton-usdt USDT']));
    // By the memo of one coin and in the other: it is the same sale.
    const other = await create('ton');
    const now_usdt = await switched(other, 'ton-usdt');
    await observe(test, 'ton', [transferTo(test, now_usdt, { memo: other.memo })]);
    expect(await booked(other)).toEqual(once('ton-usdt'));
  });

  it('counts by the time that each coin was asked for in: what came before it is not for it', async () => {
    verifies('switch-former-counts');
    const old = await create('ton');
    test.clock.advance(100);
    const fresh = await switched(old, 'bitcoin');
    const before = transferTo(test, fresh, { time: test.clock.now() - 50 });
    await observe(test, 'bitcoin', [before]);
    expect(await booked(old)).toMatchObject({ status: 'created', chain: 'bitcoin', booked: 0, late: [] });
    test.clock.advance(fresh.expires_at - test.clock.now() + 1);
    await observe(test, 'ton', [transferTo(test, old)]);
    expect(await booked(old)).toMatchObject({ status: 'created', late: ['ton TON'], booked: 0 });
  });

  it('waits for what the old chain has not shown yet, and then counts it', async () => {
    verifies('switch-waits-for-former');
    const old = await create('ton');
    const fresh = await switched(old, 'bitcoin');
    const paid = transferTo(test, old);
    test.clock.advance(fresh.expires_at - test.clock.now() + 5);
    await readThrough(test, 'bitcoin');
    expect((await now(old)).status).toBe('created');
    await observe(test, 'ton', [paid]);
    expect(await booked(old)).toEqual(once('ton'));
    const unpaid = await create('ton');
    const wanted = await switched(unpaid, 'bitcoin');
    test.clock.advance(wanted.expires_at - test.clock.now() + 5);
    await readThrough(test, 'ton');
    await readThrough(test, 'bitcoin');
    expect((await now(unpaid)).status).toBe('expired');
    // Late in the old coin: the invoice shows that coin, and its operator can book it.
    const late = transferTo(test, unpaid);
    await observe(test, 'ton', [late]);
    expect(await booked(unpaid)).toMatchObject({ status: 'expired', chain: 'ton', late: ['ton TON'] });
    await confirmByOperator(test, unpaid.id, { txid: late.txid });
    expect(await booked(unpaid)).toEqual(once('ton'));
  });

  it('never adds two coins up when what was gone is back', async () => {
    verifies('switch-both-once');
    const old = await create('bitcoin');
    const fresh = await switched(old, 'litecoin');
    const amount_atomic = BigInt(old.amount_atomic);
    const first = transferTo(test, old, { ...unconfirmed, amount_atomic });
    await observe(test, 'bitcoin', [first]);
    expect(await now(old)).toMatchObject({ chain: 'bitcoin', amount_match: 'exact' });
    const gone = { txid: first.txid, index: first.index, confirmations: 0, height: null, block_hash: null };
    await follow(test, 'bitcoin', [{ ...gone, state: 'gone', reason: 'replaced' }]);
    expect(await now(old)).toMatchObject({ chain: 'bitcoin', received_atomic: null });
    expect(await refusal(switched(old, 'litecoin'))).toBe('payment_detected');
    // The buyer pays the other coin: it counts, in the payment that was orphaned.
    const second = transferTo(test, fresh, unconfirmed);
    await observe(test, 'litecoin', [second]);
    expect(await now(old)).toMatchObject({ chain: 'litecoin', received_atomic: fresh.amount_atomic });
    expect(await paymentsOf(test, old.id)).toMatchObject([{ chain: 'litecoin', currency: 'LTC', main: 1 }]);
    await observe(test, 'bitcoin', [
      { ...first, height: 9, block_hash: 'b9', confirmations: 6, final: true },
    ]);
    await observe(test, 'litecoin', [
      { ...second, height: 9, block_hash: 'l9', confirmations: 12, final: true },
    ]);
    expect(await booked(old)).toEqual(once('litecoin', ['bitcoin BTC']));
  });

  it('counts what is paid in full, whatever part came in another coin before it', async () => {
    verifies('switch-full-first');
    const old = await create('ton');
    const fresh = await switched(old, 'bitcoin');
    // Who knows the memo sends next to nothing.
    await observe(test, 'ton', [transferTo(test, old, { amount_atomic: 1n })]);
    expect((await now(old)).chain).toBe('ton');
    await observe(test, 'bitcoin', [transferTo(test, fresh, unconfirmed)]);
    expect(await now(old)).toMatchObject({ chain: 'bitcoin', received_atomic: fresh.amount_atomic });
    expect(await booked(old)).toMatchObject({ status: 'created', late: ['ton TON'], booked: 0 });
    const next = await create('ton');
    const paid = await switched(next, 'bitcoin');
    await observe(test, 'ton', [transferTo(test, next, { amount_atomic: 1n })]);
    await observe(test, 'bitcoin', [transferTo(test, paid)]);
    expect(await booked(next)).toEqual(once('bitcoin', ['ton TON']));
    // Several outputs of one transaction are one payment, also where their sum alone tells whose it is.
    const asked = await create('bitcoin');
    const with_memo = await switched(asked, 'ton');
    await observe(test, 'ton', [transferTo(test, with_memo, { amount_atomic: 1n })]);
    const [one, txid] = [BigInt(asked.amount_atomic) / 3n, newTxid()];
    const outputs = [one, BigInt(asked.amount_atomic) - one].map((amount_atomic, at) =>
      transferTo(test, asked, { txid, index: `${at}`, amount_atomic }),
    );
    await observe(test, 'bitcoin', outputs);
    expect(await booked(asked)).toEqual({ ...once('bitcoin', ['ton TON']), booked: 2 });
    // A part, whichever coin it is in, displaces nothing.
    const both = await create('ton');
    const usdt = await switched(both, 'ton-usdt');
    await observe(test, 'ton', [transferTo(test, both, { amount_atomic: 5n })]);
    await observe(test, 'ton', [transferTo(test, usdt, { amount_atomic: 5n })]);
    expect(await now(both)).toMatchObject({ chain: 'ton', received_atomic: '5' });
  });

  it('lets the operator book what came in an old coin, whatever the invoice shows', async () => {
    verifies('switch-operator-books');
    const old = await create('ton');
    const fresh = await switched(old, 'bitcoin');
    test.clock.advance(fresh.expires_at - test.clock.now() + 5);
    const late = transferTo(test, old);
    await observe(test, 'ton', [late]);
    await readThrough(test, 'bitcoin');
    await readThrough(test, 'ton');
    expect(await booked(old)).toMatchObject({ status: 'expired', chain: 'bitcoin', late: ['ton TON'] });
    await confirmByOperator(test, old.id, { txid: late.txid });
    expect(await booked(old)).toEqual(once('ton'));
  });

  it('shows each payment in its own coin when what was late is gone, and is back', async () => {
    verifies('switch-operator-books');
    const old = await create('bitcoin');
    const fresh = await switched(old, 'litecoin');
    test.clock.advance(fresh.expires_at - test.clock.now() + 5);
    await readThrough(test, 'bitcoin');
    await readThrough(test, 'litecoin');
    const first = transferTo(test, fresh, unconfirmed);
    await observe(test, 'litecoin', [first]);
    const gone = { txid: first.txid, index: first.index, confirmations: 0, height: null, block_hash: null };
    await follow(test, 'litecoin', [{ ...gone, state: 'gone', reason: 'replaced' }]);
    const second = transferTo(test, old);
    await observe(test, 'bitcoin', [second]);
    await observe(test, 'litecoin', [first]);
    const listed = (await paymentsOf(test, old.id)).map(
      ({ chain, currency, status, txid, received_atomic }) =>
        [chain, currency, status, txid, received_atomic].join(' '),
    );
    expect(listed.sort()).toEqual([
      `bitcoin BTC late ${second.txid} ${old.amount_atomic}`,
      `litecoin LTC late ${first.txid} ${fresh.amount_atomic}`,
    ]);
    await confirmByOperator(test, old.id, { txid: first.txid });
    expect(await booked(old)).toEqual(once('litecoin', ['bitcoin BTC']));
  });

  it('settles one way, who comes first: a payment, a cancellation, the end or another choice', async () => {
    verifies('switch-both-once', 'switch-refused');
    for (let round = 0; round < 4; round++) {
      const old = await create('ton');
      await switched(old, 'bitcoin');
      const work = [
        () => observe(test, 'ton', [transferTo(test, old)]),
        () => refusal(switched(old, 'litecoin')),
        () => refusal(switched(old, 'ton')),
        () => apply(test.app, old.id, { fact: { kind: 'evaluate' }, actor: 'clock' }),
      ];
      await Promise.all([...work.slice(round), ...work.slice(0, round)].map((each) => each()));
      expect(await booked(old)).toEqual(once('ton'));
    }
    const old = await create('ton');
    const [cancelled, chosen] = await Promise.all([
      apply(test.app, old.id, { fact: { kind: 'cancel' }, actor: 'buyer' }),
      refusal(switched(old, 'bitcoin')),
    ]);
    expect(cancelled?.invoice.status).toBe('cancelled');
    expect(['allowed', 'invoice_ended']).toContain(chosen);
    expect((await now(old)).status).toBe('cancelled');
  });

  it('refuses what is paid, over, fixed or changed too often', async () => {
    verifies('switch-refused');
    const fixed = await create('ton', { payable_with: null });
    expect(await refusal(switched(fixed, 'bitcoin'))).toBe('chain_not_accepted');
    const some = await create('ton', { payable_with: ['BTC'] });
    expect(await refusal(switched(some, 'solana'))).toBe('chain_not_accepted');
    expect(await refusal(switched(some, 'nothing'))).toBe('unknown_chain');
    const paid = await create('ton');
    await observe(test, 'ton', [transferTo(test, paid, { amount_atomic: 1n })]);
    expect(await refusal(switched(paid, 'bitcoin'))).toBe('payment_detected');
    const over = await create('ton');
    test.clock.advance(over.expires_at - test.clock.now());
    expect(await refusal(switched(over, 'bitcoin'))).toBe('invoice_ended');
    const often = await create('ton');
    const back = await switched(often, 'bitcoin');
    for (const chain of ['ton', 'bitcoin', 'solana', 'litecoin', 'ton-usdt']) await switched(often, chain);
    expect(await refusal(switched(often, 'solana-usdc'))).toBe('too_many_unpaid');
    for (const chain of ['bitcoin', 'ton', 'bitcoin', 'ton']) await switched(often, chain);
    expect(await refusal(switched(often, 'bitcoin'))).toBe('too_many_unpaid');
    expect(await now(often)).toMatchObject({ memo: often.memo, amount_atomic: often.amount_atomic });
    const former = await formerTerms(test.app.db.query, often.id);
    expect(former.find(({ chain }) => chain === 'bitcoin')?.amount_atomic).toBe(back.amount_atomic);
    // All its changes together have added its usual time at most.
    const { expires_at, created_at } = await now(often);
    expect(expires_at - created_at).toBeLessThanOrEqual(2 * (often.expires_at - created_at));
  });

  it('gives no one else the amount of the old coin until nothing is awaited for it any more', async () => {
    verifies('switch-amount-safe');
    const old = await create('bitcoin', { amount: '77' });
    await switched(old, 'ton');
    const amounts = async () => (await create('bitcoin', { amount: '77' })).amount_atomic;
    expect(await amounts()).not.toBe(old.amount_atomic);
    await apply(test.app, old.id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    const release = async (seconds: number) => {
      test.clock.advance(seconds);
      for (const blockchain of ['bitcoin', 'ton']) await readThrough(test, blockchain);
      await releaseAmounts(test.app.db, test.clock.now());
    };
    await release(3600 - 60);
    expect(await amounts()).not.toBe(old.amount_atomic);
    await release(3600);
    expect(await amounts()).toBe(old.amount_atomic);
    const [terms] = await formerTerms(test.app.db.query, old.id);
    expect(terms).toMatchObject({ chain: 'bitcoin', reserved: null, reserved_until: null });
  });

  /** A shop that has sold nothing, and what buyers at an address ask of it. */
  async function smallShop() {
    const shop = await fundedMerchant(test, `small${++shops}-${database}@example.com`);
    const program = bech32.toWords(new Uint8Array(20).fill(shops));
    await setWallet(test.app, shop.id, 'bitcoin', bech32.encode('tb', [0, ...program]));
    await setWallet(test.app, shop.id, 'litecoin', bech32.encode('tltc', [0, ...program]));
    const currencies = ['bitcoin', 'litecoin'];
    const body = { title: 'Tea', amount_usd: 44, currencies };
    const unit = await test.fetch('POST', '/api/v1/merchant/units', { token: shop.token, body });
    const buy = async (ip: string) => {
      const request = { body: { chain: 'bitcoin' }, headers: { 'x-forwarded-for': ip } };
      const { json } = await test.fetch('POST', `/v1/units/${unit.json.id}/checkout`, request);
      return json.id ? invoiceRow(test, json.id) : (json.code as string);
    };
    return { shop, buy };
  }
  let shops = 0;
  const readAll = async () => {
    for (const blockchain of ['bitcoin', 'litecoin']) await readThrough(test, blockchain);
  };

  it('lets no three addresses hold the amounts of a shop for longer than its invoices are open', async () => {
    verifies('switch-amount-back', 'switch-amount-safe');
    const { shop, buy } = await smallShop();
    const held: InvoiceRow[] = [];
    for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
      for (;;) {
        const invoice = await buy(ip);
        if (typeof invoice === 'string') break;
        held.push(invoice);
        await refusal(switched(invoice, 'litecoin'));
      }
    // Five amounts for each, in whichever coin: two for an invoice that was changed.
    expect(held).toHaveLength(9);
    expect(await buy('192.0.2.4')).toBe('too_many_unpaid');
    // The merchant himself is not refused, and what a buyer does with his invoices counts as a buyer's.
    const own = await createFor(test, shop, 'bitcoin', { payable_with: ['litecoin'], amount: '44' });
    expect(await refusal(switched(own, 'litecoin'))).toBe('too_many_unpaid');
    const ends = (await Promise.all(held.map(now))).map(({ expires_at }) => expires_at);
    test.clock.advance(Math.max(...ends) + 1 - test.clock.now());
    await readAll();
    expect((await now(held[0] as InvoiceRow)).status).toBe('expired');
    expect(await buy('192.0.2.4')).toBe('too_many_unpaid');
    test.clock.advance(901);
    // Nothing is given back of a chain that is not read so far.
    expect(await buy('192.0.2.4')).toBe('too_many_unpaid');
    await readAll();
    expect(await buy('192.0.2.4')).toMatchObject({ chain: 'bitcoin', status: 'created' });
  });

  it('gives no former amount back that money may still come for, and takes it when that came in time', async () => {
    verifies('switch-amount-back', 'switch-former-counts');
    const { shop } = await smallShop();
    const ask = (chain: string) => createFor(test, shop, chain, { payable_with: ['litecoin'], amount: '44' });
    const old = await ask('bitcoin');
    const fresh = await switched(old, 'litecoin');
    for (let each = 0; each < 18; each++) await ask('litecoin');
    const paid = transferTo(test, old);
    for (const seconds of [fresh.expires_at - test.clock.now() + 1, 901]) {
      test.clock.advance(seconds);
      await readThrough(test, 'litecoin');
    }
    // Bitcoin is not read: the amount is not given to another, though all are used up and its time is over.
    expect((await now(old)).status).toBe('created');
    const other = await ask('bitcoin');
    expect(other.amount_atomic).not.toBe(old.amount_atomic);
    await observe(test, 'bitcoin', [paid]);
    expect(await booked(old)).toEqual(once('bitcoin'));
    expect((await now(other)).status).toBe('created');
  });

  it('gives more time once for a part of at least a half, and says until when', async () => {
    verifies('part-prolongs');
    const usual = 300;
    const small = await create('ton');
    await observe(test, 'ton', [
      transferTo(test, small, { amount_atomic: BigInt(small.amount_atomic) / 2n - 1n }),
    ]);
    expect((await now(small)).expires_at).toBe(small.expires_at);
    const invoice = await create('ton');
    const part = (BigInt(invoice.amount_atomic) + 1n) / 2n;
    await observe(test, 'ton', [transferTo(test, invoice, { amount_atomic: part })]);
    const longer = await now(invoice);
    expect(longer).toMatchObject({
      expires_at: invoice.expires_at + usual,
      due_at: invoice.expires_at + usual,
    });
    expect(longer.qr_payload).toContain(`exp=${longer.expires_at}`);
    const shown = await test.fetch('GET', `/v1/public/invoices/${invoice.id}`);
    expect(shown.json.expires_at).toBe(longer.expires_at);
    await observe(test, 'ton', [transferTo(test, invoice, { amount_atomic: 1n })]);
    expect((await now(invoice)).expires_at).toBe(longer.expires_at);
    test.clock.advance(usual + 100);
    await readThrough(test, 'ton');
    expect((await now(small)).status).toBe('expired');
    const rest = BigInt(invoice.amount_atomic) - part - 1n;
    await observe(test, 'ton', [transferTo(test, invoice, { amount_atomic: rest })]);
    expect((await now(invoice)).status).toBe('confirmed');
  });

  it('leads from the page of an invoice to its other coins, and back', async () => {
    verifies('switch-page');
    const invoice = await create('ton', { payable_with: ['bitcoin', 'litecoin'] });
    const page = await test.fetch('GET', `/pay/${invoice.id}`);
    expect(page.text).toContain(`/pay/${invoice.id}/coins?lang=en`);
    const coins = await test.fetch('GET', `/pay/${invoice.id}/coins?lang=de`);
    expect(coins.status).toBe(200);
    expect(coins.text.match(/name="chain" value="[a-z-]+"/g)).toHaveLength(2);
    expect(coins.text).toContain('Anders bezahlen');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const choose = (chain: string) =>
      test.fetch('POST', `/pay/${invoice.id}/coins?lang=de`, { headers: form, body: `chain=${chain}` });
    expect((await choose('solana')).status).toBe(400);
    const chosen = await choose('litecoin');
    expect([chosen.status, chosen.headers.get('location')]).toEqual([303, `/pay/${invoice.id}?lang=de`]);
    expect((await test.fetch('GET', `/pay/${invoice.id}`)).text).toContain('litecoin:');
    const fixed = await create('ton', { payable_with: null });
    expect((await test.fetch('GET', `/pay/${fixed.id}`)).text).not.toContain('/coins');
    const own = await test.fetch('GET', `/pay/${fixed.id}/coins`);
    expect([own.status, own.text.includes(`data-invoice="${fixed.id}"`)]).toEqual([200, true]);
  });

  it('shows its owner and the operator what it asked for before, and each payment in its own coin', async () => {
    verifies('switch-shown');
    const old = await create('ton', { payable_with: ['bitcoin'] });
    test.clock.advance(60);
    const fresh = await switched(old, 'bitcoin');
    const before = {
      ...{ chain: 'ton', currency: 'TON', amount: '2.5', address: old.address, memo: old.memo },
      ...{ from: old.created_at, until: fresh.expires_at, reserved: false },
    };
    const read = async (path: string, auth: object) => (await test.fetch('GET', path, auth)).json;
    const { token } = await test.superuser();
    const { key } = merchant;
    expect((await read(`/v1/invoices/${old.id}`, { key })).asked_before).toEqual([before]);
    expect(await read(`/v1/public/invoices/${old.id}`, {})).not.toHaveProperty('asked_before');
    const paid = [transferTo(test, fresh), transferTo(test, old)] as const;
    await observe(test, 'bitcoin', [paid[0]]);
    await observe(test, 'ton', [paid[1]]);
    const ended = { ...before, until: test.clock.now() };
    const detail = await read(`/api/v1/admin/payments/${old.id}`, { token });
    expect(detail.invoice).toMatchObject({ chain: 'bitcoin', asked_before: [ended] });
    const late = { currency: 'TON', amount: '2.5', received_amount: '2.5' };
    expect(detail.payments).toMatchObject([{ currency: 'BTC' }, late]);
    expect(detail.transfers.find(({ chain }: { chain: string }) => chain === 'ton')).toMatchObject({
      ...{ amount: '2.5', currency: 'TON' },
    });
    const { story } = await read(`/v1/explain?q=${old.id}`, { key });
    expect(story.invoice.asked_before).toEqual([ended]);
    const texts = story.moments.map(({ text }: { text: string }) => text).join('\n');
    expect(texts).toMatch(/^invoice made: 2.5 TON on ton/);
    expect(texts).toContain('2.5 TON seen on the chain, after the end');
  });

  it('leaves books that break no law', async () => {
    verifies('verify-laws');
    const { app, clock } = test;
    const books = { ...app.db, damages: undefined };
    const input = await verifyInput(books, app.config, clock.now());
    const laws = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 17];
    const found = (await verifyLaws({ ...input, clock_trusted: false }, { laws })).filter(
      ({ broken }) => broken.length > 0,
    );
    expect(found).toEqual([]);
  });
});
