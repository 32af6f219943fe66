// Questions compiled once: what they see, and that they agree with what the rest of the code reads.
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDb } from '../../data/db/open.ts';
import { lookup } from '../../data/db/prepared.ts';
import { invoiceState, stateOf } from '../../data/invoices.ts';
import { getMerchant, merchantByKeyHash, updateMerchant } from '../../data/merchants.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { MerchantRow } from '../../data/schema/tables.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { fundedMerchant, invoiceRow, observe, transferTo, unconfirmed } from '../helpers/payments.ts';
import { recordStatements } from '../helpers/statements.ts';

const fullName = lookup((query, id: string) =>
  query.selectFrom('users').select(['full_name', 'created_at']).where('id', '=', id),
);

describe.each(databases)('a lookup on %s', (database) => {
  let world: TestApp;
  beforeAll(async () => {
    world = await startApp({ database });
  });
  afterAll(() => world.stop());

  const rename = (id: string, full_name: string) =>
    world.app.db.query.updateTable('users').set({ full_name }).where('id', '=', id).execute();

  test('answers the row with numbers, and undefined where there is none', async () => {
    const { id } = await world.merchant();
    await rename(id, 'Ada');
    expect(await fullName(world.app.db, id)).toEqual({
      full_name: 'Ada',
      created_at: world.clock.now(),
    });
    expect(await fullName(world.app.db, 'no one')).toBeUndefined();
  });

  test('reads what is committed, also while a transaction is open', async () => {
    const { id } = await world.merchant();
    await rename(id, 'before');
    await world.app.db.transaction(async (tx) => {
      await tx.updateTable('users').set({ full_name: 'after' }).where('id', '=', id).execute();
      expect((await fullName(world.app.db, id))?.full_name).toBe('before');
    });
    expect((await fullName(world.app.db, id))?.full_name).toBe('after');
  });

  test('refuses a question that binds more than its values', () => {
    const wrong = lookup((query, id: string) =>
      query.selectFrom('users').select('id').where('id', '=', id).where('is_active', '=', 1),
    );
    expect(() => wrong(world.app.db, 'x')).toThrow('binds its own values');
  });

  test('the state of an invoice is that of its row, and what its buyer is shown follows it', async () => {
    const merchant = await fundedMerchant(world);
    const { key } = merchant;
    const body = { chain: 'solana', amount: '5' };
    const { id } = (await world.fetch('POST', '/v1/invoices', { key, body })).json;
    const transfer = transferTo(world, await invoiceRow(world, id));
    const seen: string[] = [];
    const compare = async () => {
      const now = await invoiceRow(world, id);
      expect((await invoiceState(world.app.db, id))?.state).toBe(stateOf(now));
      const { json } = await world.fetch('GET', `/v1/public/invoices/${id}`);
      expect(json).toMatchObject({
        status: now.status,
        amount_match: now.amount_match,
        confirmations: now.confirmations,
        txid: now.txid,
        payment_id: now.payment_id,
        paid_at: now.paid_at,
      });
      seen.push(`${json.status} ${json.amount_match} ${json.confirmations}`);
    };
    await compare();
    await observe(world, 'solana', [{ ...transfer, ...unconfirmed }]);
    await compare();
    await observe(world, 'solana', [{ ...transfer, confirmations: 3 }]);
    await compare();
    await observe(world, 'solana', [transfer]);
    await compare();
    expect(seen).toEqual(['created none 0', 'created exact 0', 'created exact 3', 'confirmed exact 64']);
  });
});

describe.each(databases)('what was written on %s', (database) => {
  test('is what every daemon answers by at once: wallet, name, state, key, and whether its owner may act', async () => {
    const first = await startApp({ database });
    const { database_url } = first.app.config;
    const second = database === 'postgres' ? await startApp({ database, database_url }) : first;
    const { id: user_id, token, key } = await first.merchant();
    const operator = (await first.superuser()).token;
    const body = { chain: 'ton', amount: '5' };
    const create = async (key: string) => (await second.fetch('POST', '/v1/invoices', { key, body })).json;
    const before = await create(key);
    const address = `0:${'22'.repeat(32)}`;
    await first.fetch('PUT', '/api/v1/merchant/wallets', { token, body: { blockchain: 'ton', address } });
    expect((await create(key)).address).not.toBe(before.address);

    const page = async () => (await second.fetch('GET', `/pay/${before.id}`)).text;
    const shown = async () => (await second.fetch('GET', `/v1/public/invoices/${before.id}`)).json.status;
    expect([(await page()).includes('Ada Lovelace'), await shown()]).toEqual([false, 'created']);
    await first.fetch('PATCH', '/api/v1/users/me', { token, body: { full_name: 'Ada Lovelace' } });
    expect(await page()).toContain('Ada Lovelace');
    await first.fetch('POST', `/v1/invoices/${before.id}/cancel`);
    expect(await page()).toContain('data-state="cancelled"');
    expect(await shown()).toBe('cancelled');

    const rotated = await first.fetch('POST', '/api/v1/merchant/account/rotate-key', { token });
    const { api_key } = rotated.json;
    expect((await create(key)).code).toBe('invalid_api_key');
    expect((await create(api_key)).status).toBe('created');
    const user = `/api/v1/users/${user_id}`;
    await first.fetch('PATCH', user, { token: operator, body: { is_active: false } });
    expect((await create(api_key)).code).toBe('account_inactive');
    await first.fetch('DELETE', user, { token: operator });
    expect((await create(api_key)).code).toBe('invalid_api_key');
    if (second !== first) await second.stop();
    await first.stop();
  });
});

describe.each(databases)('those who ask alike on %s', (database) => {
  test('share an answer on PostgreSQL that is asked for after all of them, and sees what was committed before', async () => {
    const world = await startApp({ database, single: true });
    const { db } = world.app;
    const { id } = await world.merchant();
    const other = await world.merchant();
    const { api_key_hash: hash } = (await getMerchant(db.query, id)) as MerchantRow;
    const { api_key_hash: other_hash } = (await getMerchant(db.query, other.id)) as MerchantRow;
    const statements = recordStatements();
    const asked = Array.from({ length: 12 }, () => merchantByKeyHash(db, hash));
    expect((await merchantByKeyHash(db, other_hash))?.id).toBe(other.id);
    expect((await Promise.all(asked)).map((found) => found?.id)).toEqual(Array(12).fill(id));
    statements.stop();
    // One for the first of them and one for the others; and that of the other key, which waits for none.
    if (database === 'postgres') expect(statements.take()).toHaveLength(3);

    // The first is under way when the key is replaced.
    const before = merchantByKeyHash(db, hash);
    await updateMerchant(db.query, id, { api_key_hash: 'ab'.repeat(32) });
    expect(await merchantByKeyHash(db, hash)).toBeUndefined();
    await before;
    await world.stop();
  });
});

describe('a file that is read on a connection of its own', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-data-'));
  const url = `sqlite:${join(directory, 'test.db')}`;
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('is alone again when it is closed, also after nothing but lookups', async () => {
    const db = await openDb(url);
    await migrate(db);
    expect(await fullName(db, 'no one')).toBeUndefined();
    await db.close();
    expect(readdirSync(directory)).toEqual(['test.db']);
    const again = await openDb(url);
    expect(await fullName(again, 'no one')).toBeUndefined();
    await again.close();
    expect(readdirSync(directory)).toEqual(['test.db']);
  });

  test.skipIf(!existsSync('/proc/self/fd'))('is let go of where it cannot be used', async () => {
    writeFileSync(join(directory, 'test.db'), 'no database at all '.repeat(1000));
    const open = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory);
        } catch {
          // It was closed meanwhile, as the one that lists them.
          return false;
        }
      });
    await expect(openDb(url)).rejects.toThrow('cannot be used');
    expect(open()).toEqual([]);
  });
});
