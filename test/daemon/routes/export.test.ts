// GET merchant/export: every row of one merchant in exactly one page, none of another, and nothing that is secret.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueAccessToken } from '../../../daemon/http/tokens.ts';
import { getMerchant } from '../../../data/merchants.ts';
import { usersByEmail } from '../../../data/users.ts';
import { exportTables } from '../../../src/api/schemas/merchant.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases } from '../../helpers/database.ts';
import { keyOf } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';
import { makeSoundBooks, SOUND_SETTINGS, type SoundBooks } from '../helpers/sound-books.ts';

const MINUTE_MS = 60_000;
type Row = Record<string, unknown>;

describe.each(databases)('an export on %s', (database) => {
  let books: SoundBooks;
  let service: TestApp;
  beforeAll(async () => {
    books = await makeSoundBooks(database);
    service = await startApp({
      database,
      database_url: books.url,
      clock: testClock(books.now),
      settings: SOUND_SETTINGS,
    });
  }, MINUTE_MS);
  afterAll(async () => {
    await service.stop();
    await books.remove();
  });

  async function everything(email: string, limit: number) {
    const [user] = await usersByEmail(service.app.db.query, email);
    if (!user) throw new Error(`no user ${email}`);
    const token = await issueAccessToken(service.app, user);
    const tables: Record<string, Row[]> = {};
    for (const table of exportTables) {
      const rows: Row[] = [];
      let after = '';
      do {
        const query = `?table=${table}&limit=${limit}${after && `&after=${encodeURIComponent(after)}`}`;
        const { status, json, text } = await service.fetch('GET', `/api/v1/merchant/export${query}`, {
          token,
        });
        expect(status, text).toBe(200);
        rows.push(...json.data);
        after = json.next ?? '';
      } while (after !== '');
      tables[table] = rows;
    }
    return { user, tables };
  }

  const count = async (text: string): Promise<number> => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.raw(text)}`.execute(
      service.app.db.query,
    );
    return Number(rows[0]?.n);
  };

  test('has every row of its merchant once, however it is cut into pages', async () => {
    verifies('account-export');
    const { user, tables } = await everything('rich@example.com', 500);
    const mine = `select id from invoices where owner_id = '${user.id}'`;
    const apart = `select id from payments where owner_id = '${user.id}' and invoice_id is null`;
    const expected: Record<string, string> = {
      invoices: `invoices where owner_id = '${user.id}'`,
      payments: `payments where owner_id = '${user.id}'`,
      transfers: `transfers where invoice_id in (${mine}) or payment_id in (${apart})`,
      logs: `payment_logs where invoice_id in (${mine}) or payment_id in (${apart})`,
      income: `income where merchant_id = '${user.id}'`,
      ledger: `ledger where merchant_id = '${user.id}'`,
      events: `events where merchant_id = '${user.id}'`,
      deliveries: `deliveries where merchant_id = '${user.id}'`,
      units: `units where merchant_id = '${user.id}'`,
      wallets: `wallets where merchant_id = '${user.id}'`,
      former_terms: `former_terms where owner_id = '${user.id}'`,
      balances: `balances where merchant_id = '${user.id}'`,
    };
    for (const [table, where] of Object.entries(expected)) {
      expect(tables[table]?.length, table).toBe(await count(where));
      expect(tables[table]?.length, table).toBeGreaterThan(0);
    }
    expect(tables.account).toMatchObject([{ email: 'rich@example.com', slug: 'rich', network: 'testnet' }]);
    const ledger = tables.ledger ?? [];
    for (const [index, entry] of ledger.entries())
      expect(entry.previous_hash).toBe(index === 0 ? '0'.repeat(64) : ledger[index - 1]?.hash);
    expect(ledger.at(-1)?.hash).toBe(tables.account?.[0]?.ledger_hash);
    const again = await everything('rich@example.com', 3);
    const sorted = (rows: Row[] = []) => rows.map((row) => JSON.stringify(row)).sort();
    for (const table of exportTables)
      expect(sorted(again.tables[table]), table).toEqual(sorted(tables[table]));
    // What a row names is there, too.
    const invoices = new Set(tables.invoices?.map(({ id }) => id));
    for (const table of ['payments', 'transfers', 'income', 'events', 'logs', 'former_terms'])
      for (const { invoice_id } of tables[table] ?? [])
        if (invoice_id !== null) expect(invoices.has(invoice_id), table).toBe(true);
  });

  test('has nothing that is secret, of another, or the name of an operator', async () => {
    verifies('account-export');
    const { app } = service;
    const rich = await everything('rich@example.com', 500);
    const poor = await everything('poor@example.com', 500);
    const text = JSON.stringify(rich.tables);
    const merchant = await getMerchant(app.db.query, rich.user.id);
    const secrets = [
      await keyOf(app, rich.user.id),
      merchant?.api_key_hash ?? '',
      merchant?.api_key_sealed ?? '',
      merchant?.webhook_secret_sealed ?? '',
      'a secret of hooks',
      poor.user.id,
    ];
    for (const secret of secrets) expect(text.includes(secret), secret).toBe(false);
    expect(text).not.toMatch(/"actor":"operator:|"caller"|token_version/);
    expect(text).toContain('"actor":"operator"');
    const mixed = await service.fetch(
      'GET',
      `/api/v1/merchant/export?table=invoices&after=${poor.tables.invoices?.[0]?.id}`,
      { token: await issueAccessToken(app, rich.user) },
    );
    expect(mixed.json).toEqual({ table: 'invoices', data: [], next: null });
    expect((await service.fetch('GET', '/api/v1/merchant/export?table=users')).status).toBe(401);
  });
});
