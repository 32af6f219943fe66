// The connection breaks between a commit and its answer: the caller is asked to come again, and what is sent again under the same key is made once.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { creditMerchant } from '../../../daemon/admin/credit.ts';
import type { UserContext } from '../../../daemon/http/handler.ts';
import { createInvoice } from '../../../daemon/invoices/create.ts';
import { newId } from '../../../data/db/ids.ts';
import { openDb, type Tx } from '../../../data/db/open.ts';
import { insertInvoice } from '../../../data/invoices.ts';
import type { UserRow } from '../../../data/schema/tables.ts';
import { getUser } from '../../../data/users.ts';
import type { Gateway } from '../../../src/chains/family.ts';
import { Refusal } from '../../../src/errors.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { type Line, openLine } from '../../helpers/line.ts';
import { wallets } from '../../helpers/people.ts';
import { createDatabase, hasPostgres, type TestDatabase } from '../../helpers/postgres.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

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
      const [made, announced] = [await count(table), await count('events')];
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
      expect(await count('events')).toBe(table === 'invoices' ? announced + 1 : announced);
    });
  });

  /** Sends it under the id of a request that is still at its commit, and lets that end once this one waits for it. */
  async function sendAlongside(
    id: string,
    first: (tx: Tx) => Promise<unknown>,
    second: () => Promise<unknown>,
  ) {
    const near = await openDb(database.url);
    try {
      let sent: Promise<unknown> = Promise.resolve();
      await near.transaction(async (tx) => {
        await first(tx);
        sent = second().catch((error: unknown) => error);
        await until(`somebody waits for ${id}`, async () => {
          const waiting = await sql`select 1 from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(near.query);
          return waiting.rows.length > 0 || undefined;
        });
      });
      return await sent;
    } finally {
      await near.close();
    }
  }

  test('that comes again while the first is at its commit finds the credit, and waits for the invoice', async () => {
    verifies('exactly-once');
    const { app } = world;
    const id = newId();
    const entry = { merchant_id: shop.id, kind: 'credit', amount_micros: 7n, invoice_id: null } as const;
    const user = (await getUser(app.db.query, shop.id)) as UserRow;
    const booked = await count('ledger');
    const context = { app, user, log: app.log, request: { resource_id: id } } as unknown as UserContext;
    const answer = await sendAlongside(
      id,
      (tx) => app.ledger.post(tx, { ...entry, id, note: null, actor: 'first', now: 1 }),
      () => creditMerchant(context, shop.id, { prepaid_usd: '1', note: null }),
    );
    expect(answer).toMatchObject({ entry: { id } });
    expect(await count('ledger')).toBe(booked + 1);

    const wallet = { address: wallets.ton as string, address_key: wallets.ton as string };
    const request = {
      id: newId(),
      owner_id: shop.id,
      kind: 'sale',
      seller: null,
      gateway: app.gateways.find(({ chain }) => chain === 'ton') as Gateway,
      amount: '1',
      amount_unit: 'usd',
      wallet,
      ttl_seconds: 60,
      external_ref: null,
      callback_url: null,
      unit_id: null,
      caller: null,
      request_id: 'request',
      label: 'shop',
    } as const;
    const made = await createInvoice(app, { ...request, id: newId() });
    const refused = await sendAlongside(
      request.id,
      (tx) => insertInvoice(tx, { ...made, id: request.id, memo: 'ANOTHER' }),
      () => createInvoice(app, request),
    );
    expect(refused).toMatchObject({ code: 'idempotency_in_progress', retry_after: 1 });
    expect((await createInvoice(app, request)).memo).toBe('ANOTHER');
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
