// Amounts that tell invoices apart, against those who would use them up or take them from others; on both databases.
import { bech32 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { releaseAmounts } from '../../../data/reservations.ts';
import { type Reply, startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { credit, invoiceRow, observe, readThrough, transferTo } from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

/** A satoshi, in BTC. */
const STEP = 1e-8;
/** $10 at the tests' rate of $100,000: 10,000 satoshi, and so 101 amounts within 1 %. */
const PRICE = 0.0001;
const SLOTS = 101;

let made_addresses = 0;
/** A receive address on Bitcoin's test chains that none has yet. */
function newAddress(): string {
  const program = new Uint8Array(20);
  new DataView(program.buffer).setUint32(0, ++made_addresses);
  return bech32.encode('tb', [0, ...bech32.toWords(program)]);
}

describe.each(databases)('unique amounts on %s', (database) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({
      database,
      settings: { trust_proxy: true, demo: false, 'gateways.tron-usdt.enabled': 'true' },
    });
  });
  afterAll(() => test.stop());

  /** A merchant who is paid to this address; with `limit`, as USD, he has prepaid for so much. */
  async function shopAt(address: string, { limit = 0n } = {}): Promise<TestMerchant> {
    const merchant = await test.merchant(`shop${++shops}-${database}@example.com`);
    await setWallet(test.app, merchant.id, 'bitcoin', address);
    if (limit > 0n) await credit(test, merchant.id, limit * 10_000n);
    return merchant;
  }
  let shops = 0;

  const ask = ({ key }: TestMerchant, amount = '10', chain = 'bitcoin') =>
    test.fetch('POST', '/v1/invoices', { key, body: { chain, amount } });
  const make = async (merchant: TestMerchant, count: number, amount = '10') => {
    const made: Reply[] = [];
    for (let each = 0; each < count; each++) made.push(await ask(merchant, amount));
    return made;
  };
  /** How many steps above the price an answer asks. */
  const stepsOf = ({ json, text, status }: Reply, price = PRICE): number => {
    expect(status, text).toBe(200);
    return Math.round((Number(json.amount) - price) / STEP);
  };
  const pay = async ({ json }: Reply) => {
    const invoice = await invoiceRow(test, json.id);
    await observe(test, 'bitcoin', [transferTo(test, invoice)]);
  };
  const statusOf = async ({ json }: Reply) => (await invoiceRow(test, json.id)).status;
  const balanceOf = async ({ id }: TestMerchant): Promise<bigint> => {
    const merchants = test.app.db.query.selectFrom('merchants').select('prepaid_micros');
    return BigInt((await merchants.where('id', '=', id).executeTakeFirstOrThrow()).prepaid_micros);
  };
  /** A confirmed sale of so many USD, and none of it reserved any more. */
  const sell = async (merchant: TestMerchant, amount = '10') => {
    const [sold] = await make(merchant, 1, amount);
    await pay(sold as Reply);
    expect(await statusOf(sold as Reply)).toBe('confirmed');
    return sold as Reply;
  };

  it('are the nearest, one step above the other', async () => {
    verifies('amount-nearest', 'amount-tail');
    const merchant = await shopAt(newAddress());
    const made = await make(merchant, 12, '120');
    expect(made.map((reply) => stepsOf(reply, 0.0012))).toEqual(Array.from({ length: 12 }, (_, at) => at));
  });

  it('take no more than 20 of one who has sold nothing, and more of one who has and has a limit', async () => {
    verifies('amount-quota');
    const merchant = await shopAt(newAddress(), { limit: 50n });
    const refused = (await make(merchant, 21)).at(-1) as Reply;
    expect([refused.status, refused.json.code]).toEqual([429, 'too_many_unpaid']);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    // Of whatever chain, also where the requests come at once.
    expect((await ask(merchant, '10', 'litecoin')).status).toBe(429);
    const first = await test.app.db.query
      .selectFrom('invoices')
      .select('id')
      .where('owner_id', '=', merchant.id)
      .executeTakeFirstOrThrow();
    await observe(test, 'bitcoin', [transferTo(test, await invoiceRow(test, first.id))]);
    // 100, and one for each of 40 USD that are left of the limit.
    const answers = await make(merchant, 122, '500');
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(140 - 19);
  });

  it('are counted once, however many ask at the same time', async () => {
    const merchant = await shopAt(newAddress());
    const answers = await Promise.all(
      Array.from({ length: 36 }, (_, at) => ask(merchant, '10', at % 2 ? 'bitcoin' : 'litecoin')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    for (const { status } of answers) expect([200, 429]).toContain(status);
  });

  describe('at an address of several', () => {
    it('cannot be used up by one who only names it, though he has sold elsewhere and came first', async () => {
      verifies('address-shared', 'amount-quota');
      const address = newAddress();
      const attacker = await shopAt(newAddress(), { limit: 10_000n });
      await sell(attacker);
      await setWallet(test.app, attacker.id, 'bitcoin', address);
      const taken = await make(attacker, SLOTS);
      expect(taken.filter(({ status }) => status === 200).length).toBe(20);
      const victim = await shopAt(address, { limit: 100n });
      const [asked] = await make(victim, 1);
      // Of an address that another has asked at, too, it is any amount within 1 %.
      expect(stepsOf(asked as Reply)).toBeLessThan(SLOTS);
      await pay(asked as Reply);
      expect(await statusOf(asked as Reply)).toBe('confirmed');
      expect(await Promise.all(taken.slice(0, 20).map(statusOf))).toEqual(Array(20).fill('created'));
    });

    it('cannot be used up by many who only name it, and a payment is his who sells there', async () => {
      const address = newAddress();
      const victim = await shopAt(address, { limit: 1_000n });
      await sell(victim);
      for (let fake = 0; fake < 6; fake++) await make(await shopAt(address), 20);
      const [asked] = await make(victim, 1);
      expect(stepsOf(asked as Reply)).toBeLessThanOrEqual(50);
      await pay(asked as Reply);
      expect(await statusOf(asked as Reply)).toBe('confirmed');
    });

    it('are not taken from one who sells there by one who has paid him a little, nor his payments', async () => {
      const address = newAddress();
      const attacker = await shopAt(address, { limit: 1_000n });
      await sell(attacker, '1');
      const victim = await shopAt(address, { limit: 1_000n });
      await sell(victim, '20');
      // He may have a quarter, since the other has sold more; and none of the other's.
      const [open] = await make(victim, 1);
      const taken = await make(attacker, SLOTS);
      const amounts = taken.filter(({ status }) => status === 200).map(({ json }) => json.amount);
      expect(amounts).toHaveLength(25);
      expect(taken.at(-1)?.json.code).toBe('too_many_unpaid');
      expect(amounts).not.toContain(open?.json.amount);
      await pay(open as Reply);
      expect(await statusOf(open as Reply)).toBe('confirmed');
      const [next] = await make(victim, 1);
      expect(stepsOf(next as Reply)).toBeLessThanOrEqual(50);
    });

    it('are given to two shops of one person, each its own, however many ask at the same time', async () => {
      verifies('address-shared');
      const address = newAddress();
      const both = [await shopAt(address, { limit: 100n }), await shopAt(address, { limit: 100n })];
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, at) => ask(both[at % 2] as TestMerchant)),
      );
      const amounts = answers.map(({ status, json, text }) => {
        expect(status, text).toBe(200);
        return json.amount;
      });
      expect(new Set(amounts).size).toBe(30);
      const [first, second] = answers as [Reply, Reply];
      await pay(second);
      await pay(first);
      expect([await statusOf(first), await statusOf(second)]).toEqual(['confirmed', 'confirmed']);
    });

    it('are no one else’s where refills are paid, and few of one merchant', async () => {
      // Without a chain to read, refills are made in demo mode alone.
      Object.assign(test.app.config, { demo: true });
      const { token } = await test.superuser();
      const address = newAddress();
      const body = { chain: 'bitcoin', address };
      await test.fetch('PUT', '/api/v1/admin/refill-wallets', { token, body });
      const refill = (merchant: TestMerchant) =>
        test.fetch('POST', '/api/v1/merchant/refill', {
          token: merchant.token,
          body: { chain: 'bitcoin', amount: '10' },
        });
      const [rich, poor] = [await shopAt(newAddress(), { limit: 1_000n }), await test.merchant()];
      const paid = await refill(rich);
      await pay(paid);
      const open = await refill(poor);
      const answers: Reply[] = [];
      for (let each = 0; each < 6; each++) answers.push(await refill(rich));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
      const amounts = [open, ...answers.slice(0, 5)].map(({ json }) => json.amount);
      expect(new Set(amounts).size).toBe(6);
      await pay(open);
      expect(await statusOf(open)).toBe('confirmed');
      Object.assign(test.app.config, { demo: false });
      // Refills make no merchant a user of the deployment's address.
      const observers = await test.fetch('GET', '/api/v1/admin/observers', { token });
      const bitcoin = observers.json.observers.find(
        ({ blockchain }: { blockchain: string }) => blockchain === 'bitcoin',
      );
      const shared = bitcoin.shared_addresses.map(({ address_key }: { address_key: string }) => address_key);
      expect(shared).not.toContain((await invoiceRow(test, open.json.id)).address_key);
    });
  });

  describe('that someone else may choose', () => {
    /** 10,000 satoshi a dozen times over: $10 and its 1 % are 101 amounts, and as many nearest ones would be 0 to 11. */
    const COUNT = 12;
    const areNearest = (steps: readonly number[]) =>
      [...steps].sort((a, b) => a - b).every((step, at) => step === at);
    const withinOnePercent = (steps: readonly number[]) => {
      for (const step of steps) expect(step >= 0 && step < SLOTS, `${step} steps`).toBe(true);
      expect(new Set(steps).size).toBe(steps.length);
      expect(areNearest(steps), steps.join(' ')).toBe(false);
    };
    const operatorAt = async (chain: string, address: string) => {
      const { token } = await test.superuser();
      await test.fetch('PUT', '/api/v1/admin/refill-wallets', { token, body: { chain, address } });
    };
    const refill = ({ token }: TestMerchant, body: Record<string, unknown>) =>
      test.fetch('POST', '/api/v1/merchant/refill', { token, body });

    it('are drawn for refills, whose credit stays what was asked for', async () => {
      verifies('amount-drawn', 'amount-tail');
      Object.assign(test.app.config, { demo: true });
      await operatorAt('bitcoin', newAddress());
      const merchants = [await test.merchant(), await test.merchant(), await test.merchant()];
      const made: Reply[] = [];
      for (let at = 0; at < COUNT; at++)
        made.push(await refill(merchants[at % 3] as TestMerchant, { chain: 'bitcoin', amount: '10' }));
      Object.assign(test.app.config, { demo: false });
      withinOnePercent(made.map((reply) => stepsOf(reply)));
      const before = await balanceOf(merchants[0] as TestMerchant);
      await pay(made[0] as Reply);
      expect(await statusOf(made[0] as Reply)).toBe('confirmed');
      expect((await balanceOf(merchants[0] as TestMerchant)) - before).toBe(10_000_000n);
    });

    it('are drawn from a hundred for a refill however small it is', async () => {
      verifies('amount-drawn');
      Object.assign(test.app.config, { demo: true });
      await operatorAt('bitcoin', newAddress());
      const steps: number[] = [];
      for (const merchant of [await test.merchant(), await test.merchant()])
        for (let each = 0; each < 5; each++)
          steps.push(stepsOf(await refill(merchant, { chain: 'bitcoin', amount: '0.01' }), 1e-7));
      Object.assign(test.app.config, { demo: false });
      for (const step of steps) expect(step).toBeLessThan(100);
      expect(areNearest(steps), steps.join(' ')).toBe(false);
    });

    it('are drawn for what buyers ask for, and for the coin that they change to', async () => {
      verifies('amount-drawn');
      const merchant = await shopAt(newAddress());
      const body = { title: 'Tea', amount_usd: 10, currencies: ['bitcoin', 'ton'] };
      const unit = await test.fetch('POST', '/api/v1/merchant/units', { token: merchant.token, body });
      const from = (ip: string) => ({ 'x-forwarded-for': ip });
      const bought: number[] = [];
      for (let at = 0; at < COUNT; at++) {
        const request = { body: { chain: 'bitcoin' }, headers: from(`192.0.2.${at + 1}`) };
        bought.push(stepsOf(await test.fetch('POST', `/v1/units/${unit.json.id}/checkout`, request)));
      }
      withinOnePercent(bought);
      const other = await shopAt(newAddress());
      const changed: number[] = [];
      for (let at = 0; at < COUNT; at++) {
        const asked = { chain: 'ton', amount: '10', payable_with: ['bitcoin'] };
        const { json } = await test.fetch('POST', '/v1/invoices', { key: other.key, body: asked });
        const request = { body: { chain: 'bitcoin' }, headers: from(`192.0.2.${at + 1}`) };
        changed.push(stepsOf(await test.fetch('POST', `/v1/invoices/${json.id}/switch`, request)));
      }
      withinOnePercent(changed);
    });

    it('are drawn at an address of the operator, or of another, until one sells most there', async () => {
      verifies('amount-drawn', 'amount-nearest', 'address-shared');
      const operators = newAddress();
      await operatorAt('bitcoin', operators);
      const thief = await shopAt(operators, { limit: 1_000n });
      withinOnePercent((await make(thief, COUNT)).map((reply) => stepsOf(reply)));
      const address = newAddress();
      const [first, second] = [await shopAt(address, { limit: 1_000n }), await shopAt(address)];
      expect(stepsOf(await ask(first))).toBe(0);
      withinOnePercent((await make(second, COUNT)).map((reply) => stepsOf(reply)));
      await sell(first, '50');
      const steps = (await make(first, 3, '40')).map((reply) => stepsOf(reply, 0.0004));
      expect(steps).toEqual([0, 1, 2]);
    });

    it('are not those of a payment that was on its way when they are asked for, on chains without a pool to read', async () => {
      verifies('amount-before', 'amount-drawn');
      const wallet = 'TBXSw8fM4jpQkGc6zZjsVABFpVN7UvXPdV';
      Object.assign(test.app.config, { demo: true });
      await operatorAt('tron', wallet);
      const thief = await test.merchant();
      const made: Reply[] = [];
      for (let each = 0; each < 5; each++)
        made.push(await refill(thief, { chain: 'tron-usdt', amount: '50000.1234', amount_unit: 'native' }));
      Object.assign(test.app.config, { demo: false });
      const row = await invoiceRow(test, made[0]?.json.id);
      // It was sent before, and its block is of after.
      test.clock.advance(3);
      const on_its_way = transferTo(test, row, { amount_atomic: 50_000_123_400n, memo: null });
      await observe(test, 'tron', [on_its_way]);
      expect(await Promise.all(made.map(statusOf))).toEqual(Array(5).fill('created'));
      const listed = await test.app.db.query
        .selectFrom('payments')
        .select(['status', 'owner_id'])
        .where('txid', '=', on_its_way.txid)
        .execute();
      expect(listed).toEqual([{ status: 'unmatched', owner_id: null }]);
    });
  });

  describe('of buyers without credentials', () => {
    const checkout = (unit_id: string, ip: string) =>
      test.fetch('POST', `/v1/units/${unit_id}/checkout`, {
        body: { chain: 'bitcoin' },
        headers: { 'x-forwarded-for': ip },
      });

    it('are five for each, and never so many that the merchant himself is refused', async () => {
      verifies('amount-quota');
      const merchant = await shopAt(newAddress());
      const unit = await test.fetch('POST', '/api/v1/merchant/units', {
        token: merchant.token,
        body: { title: 'Tea', amount_usd: 33, currencies: ['bitcoin'] },
      });
      const from = async (ip: string, count: number) => {
        const answers: Reply[] = [];
        for (let each = 0; each < count; each++) answers.push(await checkout(unit.json.id, ip));
        return answers.map(({ status }) => status);
      };
      expect(await from('192.0.2.1', 6)).toEqual([200, 200, 200, 200, 200, 429]);
      // One who cancels what he asked for has not given it back, but may ask again, up to twice as often.
      const mine = await test.app.db.query
        .selectFrom('invoices')
        .select('id')
        .where('unit_id', '=', unit.json.id)
        .execute();
      for (const { id } of mine) await test.fetch('POST', `/v1/invoices/${id}/cancel`);
      expect(await from('192.0.2.1', 6)).toEqual([200, 200, 200, 200, 200, 429]);
      // An IPv6 customer is one caller, whatever his last 64 bits are.
      expect(await from('2001:db8::1', 3)).toEqual(Array(3).fill(200));
      expect(await from('2001:db8::2', 3)).toEqual([200, 200, 429]);
      expect(await from('198.51.100.1', 1)).toEqual([429]);
      expect(await make(merchant, 6, '33').then((made) => made.map(({ status }) => status))).toEqual([
        200, 200, 200, 200, 200, 429,
      ]);
    });
  });

  describe('are given back', () => {
    const reserved = async ({ json }: Reply) => (await invoiceRow(test, json.id)).reserved === 1;
    const lapse = async (seconds: number) => {
      test.clock.advance(seconds);
      await readThrough(test, 'bitcoin');
    };
    const housekeep = () => releaseAmounts(test.app.db, test.clock.now());

    it('an hour after an unpaid end, and a day after one where money came', async () => {
      verifies('amount-given-back');
      const merchant = await shopAt(newAddress(), { limit: 1_000n });
      const [unpaid, cancelled, paid] = (await make(merchant, 3)) as [Reply, Reply, Reply];
      await test.fetch('POST', `/v1/invoices/${cancelled.json.id}/cancel`);
      await pay(paid);
      await lapse(3601);
      expect(await Promise.all([unpaid, cancelled, paid].map(statusOf))).toEqual([
        'expired',
        'cancelled',
        'confirmed',
      ]);
      await housekeep();
      expect(await Promise.all([unpaid, cancelled, paid].map(reserved))).toEqual([true, false, true]);
      await lapse(3601);
      await housekeep();
      expect(await Promise.all([unpaid, paid].map(reserved))).toEqual([false, true]);
      await lapse(86_400);
      await housekeep();
      expect(await reserved(paid)).toBe(false);
    });

    it('not before the chain is proved read so far, so that who paid late has not paid for another', async () => {
      verifies('amount-given-back');
      const merchant = await shopAt(newAddress(), { limit: 1_000n });
      const [late] = (await make(merchant, 1)) as [Reply];
      const row = await invoiceRow(test, late.json.id);
      await lapse(3601);
      expect(await statusOf(late)).toBe('expired');
      // The provider is away for two hours; meanwhile the buyer pays, ten minutes late.
      const paid_at = test.clock.now() + 600;
      test.clock.advance(2 * 3600);
      await housekeep();
      const [other] = (await make(merchant, 1)) as [Reply];
      expect(other.json.amount).not.toBe(late.json.amount);
      const seen = { earliest_at: paid_at - 700, latest_at: test.clock.now() };
      await observe(test, 'bitcoin', [transferTo(test, row, seen)]);
      expect(await statusOf(other)).toBe('created');
      const payments = await test.app.db.query
        .selectFrom('payments')
        .select(['status', 'invoice_id'])
        .where('invoice_id', 'in', [row.id, other.json.id])
        .execute();
      expect(payments).toEqual([{ status: 'late', invoice_id: row.id }]);
    });

    it('after a quarter of an hour where a quota is used up, but not by a clock that is wrong', async () => {
      verifies('amount-given-back');
      const merchant = await shopAt(newAddress());
      const made = await make(merchant, 20);
      for (const { json } of made) await test.fetch('POST', `/v1/invoices/${json.id}/cancel`);
      expect((await ask(merchant)).status).toBe(429);
      test.clock.step(86_400);
      expect((await ask(merchant)).status).toBe(429);
      test.clock.step(-86_400);
      test.clock.advance(901);
      expect((await ask(merchant)).status).toBe(429);
      await readThrough(test, 'bitcoin');
      expect(stepsOf(await ask(merchant))).toBe(0);
      expect((await make(merchant, 19)).every(({ status }) => status === 200)).toBe(true);
      expect((await ask(merchant)).status).toBe(429);
    });

    it('the one that ended first where a price has none left, unpaid ones before others', async () => {
      const merchant = await shopAt(newAddress(), { limit: 10_000n });
      await sell(merchant, '50');
      // $0.30 is 300 satoshi: four amounts.
      const made = (await make(merchant, 4, '0.3')) as [Reply, Reply, Reply, Reply];
      expect((await ask(merchant, '0.3')).json.code).toBe('no_free_amount');
      await pay(made[0]);
      await test.fetch('POST', `/v1/invoices/${made[2].json.id}/cancel`);
      expect((await ask(merchant, '0.3')).json.code).toBe('no_free_amount');
      await lapse(901);
      const [next, last, none] = (await make(merchant, 3, '0.3')) as [Reply, Reply, Reply];
      expect([next.json.amount, last.json.amount]).toEqual([made[2].json.amount, made[0].json.amount]);
      expect([none.status, none.json.code]).toEqual([409, 'no_free_amount']);
    });
  });

  it('refuses a sixth watched address of one who has sold nothing', async () => {
    verifies('amount-quota');
    const merchant = await test.merchant(`many-${database}@example.com`);
    for (let at = 0; at < 6; at++) {
      const reply = await test.fetch('PUT', '/api/v1/merchant/wallets', {
        token: merchant.token,
        body: { blockchain: 'bitcoin', address: newAddress() },
      });
      expect(reply.status, reply.text).toBe(200);
      const { status, json } = await ask(merchant, '77');
      expect([status, at < 5 ? null : json.code]).toEqual(at < 5 ? [200, null] : [429, 'too_many_unpaid']);
    }
  });
});
