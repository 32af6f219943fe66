// A payer's own claim: what it finds, what it must not show, and what it leaves for shop and operator; on both databases.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { switchInvoice } from '../../daemon/invoices/switch.ts';
import { removeClaims } from '../../data/retention.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { ProviderError, type Transfer } from '../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { doubleFamily, namedRpc } from '../helpers/family.ts';
import {
  confirmByOperator,
  create as createFor,
  fundedMerchant,
  invoiceRow,
  newTxid,
  observe,
  readThrough,
  transferRow,
  transferTo,
  unconfirmed,
} from '../helpers/payments.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';

const TON = 1_000_000_000n;
const HOUR = 3600;
const FREE = {
  'limits.claim_per_address': '0',
  'limits.claim_per_invoice': '0',
  'limits.claim_per_blockchain': '0',
};

describe.each(databases)("a payer's claim on %s", (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  let operator: { id: string; token: string };
  beforeAll(async () => {
    const source = sourceOf(namedRpc('double'));
    service = await startApp({
      database,
      settings: FREE,
      source: (id) => (id === 'ton' || id === 'bitcoin' ? source : undefined),
    });
    merchant = await fundedMerchant(service);
    operator = await service.superuser();
  });
  afterAll(() => service.stop());

  /** The chain has these transactions, which no reading has shown; how often it is asked. */
  function chainWith(...transfers: Transfer[]) {
    const double = doubleFamily('ton');
    const asked: string[] = [];
    double.lookUp = async (_, { txid, address_key, gateway }) => {
      asked.push(`${gateway.chain} ${txid}`);
      return transfers.filter(
        (one) => one.txid === txid && one.address_key === address_key && one.chain === gateway.chain,
      );
    };
    // What stands in a block stands on the chain that is read, and has the depth that this chain gives it.
    double.recheck = async (_, pending) =>
      pending.flatMap(({ txid, index, height, block_hash }) => {
        const { confirmations = 0 } = transfers.find((one) => one.txid === txid) ?? {};
        return height === null || confirmations === 0
          ? []
          : [{ txid, index, state: 'pending' as const, confirmations, height, block_hash }];
      });
    return { double, asked };
  }
  /** An invoice of 2.5 TON. */
  const create = (): Promise<InvoiceRow> => createFor(service, merchant, 'ton');
  const claim = async (invoice: Pick<InvoiceRow, 'id'>, txid: string | null = null) =>
    service.fetch('POST', `/v1/invoices/${invoice.id}/claim`, { body: { txid } });
  const claimsOf = async (invoice: InvoiceRow, key = merchant.key) =>
    (await service.fetch('GET', '/v1/claims?limit=200', { key })).json.data.filter(
      ({ invoice_id }: { invoice_id: string }) => invoice_id === invoice.id,
    );
  const admin = (path: string) => service.fetch('GET', `/api/v1/admin/${path}`, { token: operator.token });
  const expire = async (...invoices: InvoiceRow[]) => {
    service.clock.advance(HOUR);
    await readThrough(service, 'ton');
    for (const { id } of invoices) expect((await invoiceRow(service, id)).status).toBe('expired');
  };
  /** All that money rests on, of an invoice and a transfer. */
  const books = async (invoice: InvoiceRow, transfer: Transfer) => {
    const { updated_at: _, ...row } = await transferRow(service, transfer);
    return [await invoiceRow(service, invoice.id), row];
  };
  const nothing = {
    found: 'not_found',
    reason: null,
    chain: null,
    currency: null,
    amount: null,
    seen_at: null,
  };

  test("neither shows nor moves another's money, though both pay one address the same amount", async () => {
    verifies('claim-shows-own', 'claim-books-nothing');
    const [ann, bob] = [await create(), await create()];
    expect([ann.address_key, ann.amount_atomic]).toEqual([bob.address_key, bob.amount_atomic]);
    const paid = transferTo(service, ann, unconfirmed);
    const { asked } = chainWith(paid);
    const bobClaims = async () => {
      const { status, json, text } = await claim(bob, paid.txid);
      expect([status, json]).toMatchObject([200, { ...nothing, txid: paid.txid, invoice_id: bob.id }]);
      for (const secret of [ann.id, ann.memo ?? '', '2.5']) expect(text).not.toContain(secret);
      expect((await invoiceRow(service, bob.id)).status).toBe(bob.status);
    };
    // Named before it is read: it is stored as what it is, a payment of Ann's.
    await bobClaims();
    expect(await transferRow(service, paid)).toMatchObject({ disposition: 'matched', invoice_id: ann.id });
    asked.length = 0;
    const before = await books(ann, paid);
    await bobClaims();
    expect(await books(ann, paid)).toEqual(before);
    await observe(service, 'ton', [{ ...paid, height: 100, block_hash: 'block-100', confirmations: 64 }]);
    expect((await invoiceRow(service, ann.id)).status).toBe('confirmed');
    await bobClaims();
    // What is on record is answered without asking anyone.
    expect(asked).toEqual([]);
    expect((await claim(ann, paid.txid)).json).toMatchObject({ found: 'confirmed', amount: '2.5' });
    // The shop, whose invoices both are, reads what was claimed.
    expect(await claimsOf(bob)).toMatchObject([{ ...nothing, txid: paid.txid, times: 3, payment_id: null }]);
    const { json } = await service.fetch('GET', '/v1/claims', { key: (await service.merchant()).key });
    expect(json.data).toEqual([]);
  });

  test('confirms nothing by the word of one provider, however deep that calls it', async () => {
    verifies('claim-reads');
    const invoice = await create();
    const paid = transferTo(service, invoice, { final: true, confirmations: 1_000_000 });
    const { double } = chainWith(paid);
    double.recheck = async () => [];
    const found = await claim(invoice, paid.txid);
    expect(found.json).toMatchObject({ found: 'confirming', confirmations: 0 });
    const stored = { state: 'pending', unread: 1, height: null, block_hash: null, confirmations: 0 };
    expect(await transferRow(service, paid)).toMatchObject(stored);
    // Nor by what a family says of the depth of its block alone, while no reading has the transaction.
    double.lookUp = async () => [];
    const final = { state: 'final' as const, confirmations: 64, height: 100, block_hash: 'block-100' };
    const { txid, index } = paid;
    double.recheck = async () => [{ txid, index, ...final }];
    await service.app.observer.poll('ton');
    expect(await transferRow(service, paid)).toMatchObject(stored);
    expect((await invoiceRow(service, invoice.id)).status).toBe('created');
    // A second look-up, of an operator's, says no more than the first.
    const looked = chainWith(paid).double;
    looked.recheck = async () => [];
    await admin(`payments/${invoice.id}/transactions/${paid.txid}`);
    expect(await transferRow(service, paid)).toMatchObject(stored);
    looked.recheck = async () => [{ txid, index, ...final }];
    await service.app.observer.poll('ton');
    expect(await transferRow(service, paid)).toMatchObject({ state: 'final', unread: null, height: 100 });
    expect((await invoiceRow(service, invoice.id)).status).toBe('confirmed');
  });

  test('that the provider which is read does not have is given up after a day, and read all the same', async () => {
    verifies('claim-reads');
    const invoice = await create();
    const paid = transferTo(service, invoice, { memo: null });
    chainWith(paid).double.recheck = async () => [];
    await claim(invoice, paid.txid);
    const { payment_id } = await transferRow(service, paid);
    const logs = async () => (await admin(`payments/${payment_id}`)).json.logs;
    expect((await logs())[0].note).toMatch(/no reading of the chain has shown it yet$/);
    const away = chainWith().double;
    const later = async () => {
      service.clock.advance(12 * HOUR + 1);
      await service.app.observer.poll('ton');
      return (await transferRow(service, paid)).state;
    };
    expect(await later()).toBe('pending');
    away.lookUp = async () => {
      throw new ProviderError('bad_answer', 'it knows nothing of this block');
    };
    expect(await later()).toBe('pending');
    chainWith();
    expect(await later()).toBe('gone');
    expect((await admin(`payments/${payment_id}`)).json.payment.status).toBe('orphaned');
    await observe(service, 'ton', [paid]);
    expect(await transferRow(service, paid)).toMatchObject({ state: 'final', unread: null });
    expect((await admin(`payments/${payment_id}`)).json.payment.status).toBe('unmatched');
  });

  test('nor what came too late for another, nor what an operator booked for another', async () => {
    verifies('claim-shows-own');
    const [ann, bob, cid] = [await create(), await create(), await create()];
    chainWith();
    const unnamed = transferTo(service, ann, { memo: null });
    await observe(service, 'ton', [unnamed]);
    expect((await confirmByOperator(service, cid.id, { txid: unnamed.txid }))?.invoice.status).toBe(
      'confirmed',
    );
    await expire(ann, bob);
    const late = transferTo(service, ann);
    await observe(service, 'ton', [late]);
    for (const { txid } of [unnamed, late]) expect((await claim(bob, txid)).json).toMatchObject(nothing);
    expect((await claim(ann, late.txid)).json).toMatchObject({
      found: 'late',
      amount: '2.5',
      currency: 'TON',
    });
    expect((await claim(ann)).json).toMatchObject({ found: 'late', seen_at: late.latest_at });
  });

  test('finds money without its memo, and names it first where it is booked', async () => {
    verifies('claim-listed', 'claim-answers');
    const [ann, bob] = [await create(), await create()];
    const paid = transferTo(service, ann, { memo: null });
    chainWith(paid);
    const link = `https://explorer.example/tx/${paid.txid.toUpperCase()}?tab=all`;
    const { json } = await claim(ann, link);
    expect(json).toEqual({
      invoice_id: ann.id,
      txid: paid.txid,
      found: 'unmatched',
      reason: 'memo_missing',
      chain: 'ton',
      currency: 'TON',
      amount: '2.5',
      seen_at: paid.latest_at,
      confirmations: 64,
      min_confirmations: ann.min_confirmations,
    });
    expect(await invoiceRow(service, ann.id)).toEqual(ann);
    const { payment_id } = await transferRow(service, paid);
    expect(await claimsOf(ann)).toMatchObject([
      { found: 'unmatched', payment_id, invoice_status: 'created' },
    ]);
    expect((await claim(bob, paid.txid)).json).toMatchObject({ found: 'unmatched' });
    await claim(ann, paid.txid);
    await expire(ann, bob);
    const later = await create();
    const { json: detail } = await admin(`payments/${payment_id}`);
    expect(detail.candidates.map(({ id }: { id: string }) => id).slice(0, 2)).toEqual([ann.id, bob.id]);
    expect(detail.candidates.map(({ id }: { id: string }) => id)).not.toContain(later.id);
    expect(detail.claims).toMatchObject([
      { invoice_id: ann.id, times: 2, owner_slug: expect.any(String) },
      { invoice_id: bob.id, times: 1 },
    ]);
    expect(detail.payment.claimed_invoice_id).toBe(ann.id);
    expect(detail.logs.slice(1)).toMatchObject([
      { actor: 'buyer', note: `the payer claims it for invoice ${ann.id}`, to_status: 'unmatched' },
      { actor: 'buyer', note: `the payer claims it for invoice ${bob.id}`, to_status: 'unmatched' },
    ]);
    const { json: listed } = await admin('claims?limit=2');
    expect(listed).toMatchObject({ data: [{ invoice_id: bob.id }, { invoice_id: ann.id, payment_id }] });
    expect((await admin(`claims?limit=200&after=${listed.data[1].id}`)).json.data).not.toContainEqual(
      expect.objectContaining({ payment_id }),
    );
    await confirmByOperator(service, ann.id, { txid: paid.txid });
    expect((await claim(bob, paid.txid)).json).toMatchObject(nothing);
    expect((await claim(ann, paid.txid)).json).toMatchObject({ found: 'confirmed', reason: null });
    expect(await claimsOf(ann)).toMatchObject([
      { found: 'confirmed', invoice_status: 'confirmed', times: 3 },
    ]);
  });

  test('says why money counts for nothing, by the claimed invoice alone', async () => {
    verifies('claim-answers');
    const invoice = await create();
    const reasons: [Partial<Transfer>, string][] = [
      [{ memo: 'another' }, 'memo_other'],
      [{ chain: 'ton-usdt', memo: null }, 'other_asset'],
      [{ memo: null, ambiguous: 'another token of the same name' }, 'look_alike'],
    ];
    for (const [parts, reason] of reasons) {
      const paid = transferTo(service, invoice, parts);
      chainWith(paid);
      const { json } = await claim(invoice, paid.txid);
      expect(json, reason).toMatchObject({ found: 'unmatched', reason, txid: paid.txid });
    }
    // Of one transaction the claimed invoice's asset comes first, and only that is added up.
    const parts = [1n, 2n].map((amount, at) =>
      transferTo(service, invoice, {
        txid: 'cd'.repeat(32),
        index: `${at}`,
        memo: null,
        amount_atomic: amount * TON,
      }),
    );
    const dust = transferTo(service, invoice, {
      txid: 'cd'.repeat(32),
      index: '9',
      chain: 'ton-usdt',
      memo: null,
    });
    await observe(service, 'ton', [dust, ...parts]);
    expect((await claim(invoice, 'cd'.repeat(32))).json).toMatchObject({
      ...{ found: 'unmatched', reason: 'memo_missing', currency: 'TON', amount: '3' },
    });
    // Where the blocks say it is the buyer's own and too little, that is what he reads.
    await observe(service, 'ton', [transferTo(service, invoice, { amount_atomic: TON })]);
    expect((await claim(invoice)).json).toMatchObject({ found: 'partial', amount: '1' });
  });

  test('finds nothing older than the invoice, nothing paid elsewhere, nothing that is no transaction', async () => {
    verifies('claim-shows-own', 'claim-limits');
    const before = transferTo(service, await create(), { memo: null });
    const stored = transferTo(service, await create(), { memo: null });
    await observe(service, 'ton', [stored]);
    service.clock.advance(HOUR);
    const invoice = await create();
    const elsewhere = transferTo(service, invoice, { address_key: 'somewhere else' });
    const { asked } = chainWith(before, elsewhere);
    for (const { txid } of [before, stored, elsewhere])
      expect((await claim(invoice, txid)).json).toMatchObject(nothing);
    for (const txid of [before.txid, elsewhere.txid])
      expect(
        await service.app.db.query.selectFrom('transfers').select('id').where('txid', '=', txid).execute(),
      ).toEqual([]);
    asked.length = 0;
    for (const text of ['I paid!', '../../admin', '-1', `${'a'.repeat(60)}/..`, '%00', "' or 1=1 --"])
      expect((await claim(invoice, text)).json, text).toMatchObject({
        found: 'not_found',
        reason: 'not_an_id',
      });
    expect((await claim(invoice, 'x'.repeat(600))).status).toBe(422);
    expect((await claim({ id: crypto.randomUUID() }, newTxid())).json.code).toBe('invoice_not_found');
    expect(asked).toEqual([]);
    expect(await claimsOf(invoice)).toHaveLength(3);
  });

  test('reads the chain at once, and says so where that fails', async () => {
    verifies('claim-answers');
    const invoice = await create();
    const { double } = chainWith();
    expect((await claim(invoice)).json).toMatchObject({ ...nothing, txid: null });
    const coming = transferTo(service, invoice, unconfirmed);
    double.read = async () => [{ transfers: [coming] }];
    expect((await claim(invoice)).json).toMatchObject({
      found: 'confirming',
      confirmations: 0,
      amount: '2.5',
    });
    const other = await create();
    double.read = async () => {
      throw new ProviderError('unreachable', 'away');
    };
    for (const txid of [null, newTxid()])
      expect((await claim(other, txid)).json).toMatchObject({ found: 'not_readable', amount: null });
    double.read = async () => [];
    double.lookUp = async () => {
      throw new ProviderError('bad_answer', 'odd');
    };
    expect((await claim(other, newTxid())).json).toMatchObject({ found: 'not_readable' });
    // One row for those that name no transaction, however often.
    expect(await claimsOf(invoice)).toMatchObject([{ found: 'confirming', txid: null, times: 2 }]);
  });

  test('is dated by what reading has proved, where the chain does not say when', async () => {
    verifies('claim-books-nothing');
    const invoice = await create();
    service.clock.advance(invoice.expires_at - service.clock.now() + 60);
    const paid = transferTo(service, invoice, { ...unconfirmed, earliest_at: invoice.created_at });
    const { double } = chainWith(paid);
    double.read = async (context) => [{ transfers: [], read_through: context.now() }];
    expect((await claim(invoice, paid.txid)).json).toMatchObject({ found: 'late' });
  });

  /** Asked for in TON, and now in bitcoin, where the chain shows nothing. */
  const switched = async () => {
    const old = await createFor(service, merchant, 'ton', { payable_with: ['bitcoin', 'ton-usdt'] });
    const double = doubleFamily('bitcoin');
    double.read = async () => [];
    double.lookUp = async () => [];
    return { old, fresh: await switchInvoice(service.app, old.id, 'bitcoin') };
  };

  test('finds what was paid for a coin that the invoice asked for before, and speaks of that coin', async () => {
    verifies('claim-former-coin', 'claim-shows-own');
    const { old } = await switched();
    const paid = transferTo(service, old);
    const { double } = chainWith(paid);
    double.read = async () => [];
    const ton = { chain: 'ton', currency: 'TON', amount: '2.5', min_confirmations: old.min_confirmations };
    // In time and in full: the invoice asks for that coin again.
    expect((await claim(old, paid.txid)).json).toMatchObject({ ...ton, found: 'confirmed', reason: null });
    const other = await switched();
    const nameless = transferTo(service, other.old, { memo: null });
    chainWith(nameless);
    const answer = { ...ton, found: 'unmatched', reason: 'memo_missing', txid: nameless.txid };
    expect((await claim(other.old, nameless.txid)).json).toMatchObject(answer);
    const { payment_id } = await transferRow(service, nameless);
    expect(await claimsOf(other.old)).toMatchObject([{ currency: 'TON', amount: '2.5', payment_id }]);
    // Too late, without naming it: what is listed in the former coin is spoken of, not the present one.
    const third = await switched();
    service.clock.advance(third.fresh.expires_at - service.clock.now() + 60);
    const late = transferTo(service, third.old);
    chainWith().double.read = async () => [{ transfers: [late] }];
    expect((await claim(third.old)).json).toMatchObject({ ...ton, found: 'late', seen_at: late.latest_at });
    expect((await invoiceRow(service, third.old.id)).chain).toBe('bitcoin');
    // Another's money in that coin is not there.
    expect((await claim(other.old, late.txid)).json).toMatchObject(nothing);
  });

  test('counts once for each blockchain of its coins, and asks no more than for one', async () => {
    verifies('claim-former-coin', 'claim-limits');
    const { old } = await switched();
    await switchInvoice(service.app, old.id, 'ton-usdt');
    const { asked, double } = chainWith();
    double.read = async () => [];
    const counted = vi.spyOn(service.app.claims, 'mayAsk');
    onTestFinished(() => counted.mockRestore());
    expect((await claim(old, newTxid())).json.found).toBe('not_found');
    expect(counted.mock.calls.map(([blockchain]) => blockchain)).toEqual(['ton', 'bitcoin']);
    expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
    // Where one of them may be asked no more, the others are, and the answer is not that there is nothing.
    counted.mockResolvedValueOnce(false);
    asked.length = 0;
    expect((await claim(old, newTxid())).json.found).toBe('not_readable');
    expect(asked).toEqual([]);
  });

  test('leaves few rows for one invoice, and what found something stays', async () => {
    verifies('claim-limits');
    const invoice = await create();
    const paid = transferTo(service, invoice, { memo: null });
    chainWith(paid);
    await claim(invoice, paid.txid);
    for (let each = 0; each < 25; each++) await claim(invoice, newTxid());
    const rows = await claimsOf(invoice);
    expect(rows).toHaveLength(20);
    expect(rows).toContainEqual(expect.objectContaining({ txid: paid.txid, found: 'unmatched' }));
  });

  test('leaves with what is old, but not before its invoice has ended', async () => {
    verifies('claim-listed');
    const invoice = await create();
    chainWith();
    await claim(invoice, newTxid());
    const { db } = service.app;
    const remove = () => removeClaims(db, service.clock.now() + 1);
    while ((await remove()) > 0);
    expect(await claimsOf(invoice)).toHaveLength(1);
    await expire(invoice);
    expect(await remove()).toBeGreaterThan(0);
    expect(await claimsOf(invoice)).toEqual([]);
  });
});

describe.each(databases)('claims on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    const source = sourceOf(namedRpc('double'));
    const settings = {
      trust_proxy: true,
      'limits.claim_per_address': '8',
      'limits.claim_per_invoice': '3',
      'limits.claim_per_blockchain': '3',
    };
    service = await startApp({ database, settings, source: (id) => (id === 'ton' ? source : undefined) });
    merchant = await fundedMerchant(service);
  });
  afterAll(() => service.stop());

  test('are counted for an invoice, an address and a blockchain, and never asked twice at once', async () => {
    verifies('claim-limits');
    const double = doubleFamily('ton');
    const invoices: InvoiceRow[] = [];
    for (let each = 0; each < 3; each++) invoices.push(await createFor(service, merchant, 'ton'));
    const claim = (at: number) =>
      service.fetch('POST', `/v1/invoices/${invoices[at]?.id}/claim`, {
        headers: { 'x-forwarded-for': '198.51.100.1' },
        body: { txid: newTxid() },
      });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const begun = new Promise<void>((resolve) => {
      double.lookUp = async () => {
        resolve();
        await held;
        return [];
      };
    });
    const first = claim(0);
    await begun;
    const second = await claim(0);
    expect([second.status, second.json.code]).toEqual([429, 'rate_limited']);
    release();
    expect((await first).json.found).toBe('not_found');
    await claim(0);
    expect((await claim(0)).status).toBe(429);
    for (let each = 0; each < 2; each++) expect((await claim(1)).json.found).toBe('not_found');
    // The fifth that would have the blockchain asked within a minute; this address had the one that each has besides.
    expect((await claim(2)).json.found).toBe('not_readable');
    await claim(2);
    const last = await claim(1);
    expect([last.status, last.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    service.clock.advance(61);
    expect((await claim(1)).json.found).toBe('not_found');
  });
});

describe('a claim of money on another network', () => {
  test('finds it where the address is the same, read or not, and says which network it was', async () => {
    verifies('claim-answers');
    const source = sourceOf(namedRpc('double'));
    const [asked, sent] = ['base', 'polygon'];
    const settings = { ...FREE, 'gateways.base-usdc.enabled': true, 'gateways.polygon-usdc.enabled': true };
    const service = await startApp({
      settings,
      source: (id) => (id === asked || id === sent ? source : undefined),
    });
    onTestFinished(() => service.stop());
    doubleFamily(asked);
    const double = doubleFamily(sent);
    const merchant = await fundedMerchant(service);
    const wallet = { blockchain: asked, address: `0x${'12'.repeat(20)}` };
    await service.fetch('PUT', '/api/v1/merchant/wallets', { token: merchant.token, body: wallet });
    const invoice = await createFor(service, merchant, 'base-usdc');
    const elsewhere = () =>
      transferTo(service, invoice, { chain: 'polygon-usdc', txid: `0x${newTxid()}`, memo: null });
    const [read, unread] = [elsewhere(), elsewhere()];
    await observe(service, sent, [read]);
    double.lookUp = async (_, { txid }) => (txid === unread.txid ? [unread] : []);
    for (const { txid } of [read, unread]) {
      const { json } = await service.fetch('POST', `/v1/invoices/${invoice.id}/claim`, { body: { txid } });
      expect(json).toMatchObject({
        found: 'unmatched',
        reason: 'other_network',
        chain: 'polygon-usdc',
        txid,
      });
    }
    double.lookUp = async () => {
      throw new ProviderError('unreachable', 'away');
    };
    // Not that there is nothing, where one of the networks cannot say.
    const body = { txid: `0x${newTxid()}` };
    const { json } = await service.fetch('POST', `/v1/invoices/${invoice.id}/claim`, { body });
    expect(json).toMatchObject({ found: 'not_readable', chain: null });
  });
});
