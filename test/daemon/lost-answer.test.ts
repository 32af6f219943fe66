// The connection breaks between a commit and its answer: the caller is told to come again, and what is sent again under the same key is made once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { type Line, openLine } from '../helpers/line.ts';
import { createDatabase, hasPostgres, type TestDatabase } from '../helpers/postgres.ts';
import { verifies } from '../requirements.ts';

/** Commits of one request: of its key, and of what it makes. */
const COMMITS = [1, 2];

describe.skipIf(!hasPostgres)('a request with an Idempotency-Key', () => {
  let database: TestDatabase;
  let line: Line;
  let world: TestApp;
  let shop: TestMerchant;
  let operator: { token: string };
  beforeAll(async () => {
    database = await createDatabase();
    line = await openLine(database.url);
    const settings = { 'wallets.ton': `0:${'22'.repeat(32)}` };
    world = await startApp({ database: 'postgres', database_url: line.url, settings });
    shop = await world.merchant();
    operator = await world.superuser();
  });
  afterAll(async () => {
    await world.stop();
    await line.close();
    await database.drop();
  });

  const count = async (table: 'invoices' | 'ledger' | 'units' | 'events'): Promise<number> => {
    const { count } = await world.app.db.query
      .selectFrom(table)
      .select((of) => of.fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  };

  const requests = {
    'an invoice': () => ({
      path: '/v1/invoices',
      call: { key: shop.key, body: { chain: 'ton', amount: '1' } },
      table: 'invoices' as const,
    }),
    'a refill': () => ({
      path: '/api/v1/merchant/refill',
      call: { token: shop.token, body: { chain: 'ton', amount: '1' } },
      table: 'invoices' as const,
    }),
    'a credit': () => ({
      path: `/api/v1/admin/merchants/${shop.id}/credit`,
      call: { token: operator.token, body: { prepaid_usd: '1' } },
      table: 'ledger' as const,
    }),
    'a unit': () => ({
      path: '/api/v1/merchant/units',
      call: { token: shop.token, body: { title: 'Tea', amount_usd: '1', currencies: ['ton'] } },
      table: 'units' as const,
    }),
  };

  /** Sends it; of its `lost`th commit the answer does not arrive. */
  async function sendLosing(lost: number, send: () => ReturnType<TestApp['fetch']>) {
    let commits = 0;
    line.sending = (text) => (text.includes('commit\0') && ++commits === lost ? 'lose answer' : 'pass');
    try {
      return await send();
    } finally {
      line.sending = () => 'pass';
    }
  }

  describe.each(Object.entries(requests))('for %s', (name, request) => {
    test.each(COMMITS)('is made once, whose commit %i was not answered', async (lost) => {
      verifies('idempotency-replay', 'exactly-once');
      const { path, call, table } = request();
      const send = () =>
        world.fetch('POST', path, { ...call, headers: { 'idempotency-key': `${name} ${lost}` } });
      const [made, told] = [await count(table), await count('events')];
      const first = await sendLosing(lost, send);
      expect([first.status, first.json.code, first.headers.get('retry-after')]).toEqual([
        503,
        'database_busy',
        '1',
      ]);
      const second = await send();
      expect([second.status, second.text]).toEqual([200, expect.any(String)]);
      const third = await send();
      expect(third.headers.get('idempotency-replayed')).toBe('true');
      expect(third.json).toEqual(second.json);
      expect(await count(table)).toBe(made + 1);
      expect(await count('events')).toBe(table === 'invoices' ? told + 1 : told);
    });
  });

  test('keeps its id over a refusal that comes between: what was made first is found afterwards', async () => {
    verifies('exactly-once');
    const send = () =>
      world.fetch('POST', '/v1/invoices', {
        key: shop.key,
        body: { chain: 'ton', amount: '2' },
        headers: { 'idempotency-key': 'refused between' },
      });
    const made = await count('invoices');
    expect((await sendLosing(2, send)).status).toBe(503);
    const { rates } = world.app;
    const { rate } = rates;
    rates.rate = () => {
      throw new Refusal('no_rate', { retry_after: 1 });
    };
    const refused = await send();
    rates.rate = rate;
    expect([refused.status, refused.json.code]).toEqual([503, 'no_rate']);
    expect((await send()).status).toBe(200);
    expect(await count('invoices')).toBe(made + 1);
  });
});
