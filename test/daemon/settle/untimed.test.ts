// Invoices that are open while a version that counted blocks is replaced by one that counts seconds; on both databases.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyInput } from '../../../daemon/verify/books.ts';
import { findMeta, keepMeta } from '../../../data/meta.ts';
import { giveSeconds, UNTIMED_UNTIL, untimedTerms } from '../../../data/untimed.ts';
import { verifyLaws } from '../../../data/verify/verify.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases, type NewDatabase, newDatabase } from '../../helpers/database.ts';
import { create, credit, fundedMerchant, invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
/** Blocks that Base's gateways waited for, and what they took. */
const BLOCKS = 15;
const SECONDS = 30;
const SHARE_OF_ONE = 2;

describe.each(databases)('an upgrade on %s', (database) => {
  const clock = testClock();
  let own: NewDatabase;
  let before: TestApp;
  let merchant: TestMerchant;
  const settings = { 'gateways.base-usdc.enabled': true };
  const start = (more: Record<string, string | boolean> = {}) =>
    startApp({ database_url: own.url, clock, single: true, settings: { ...settings, ...more } });
  beforeAll(async () => {
    own = await newDatabase(database);
    before = await start();
    merchant = await fundedMerchant(before);
    await credit(before, merchant.id, 1_000_000_000_000n);
    await setWallet(before.app, merchant.id, 'base', WALLET);
  });
  afterAll(async () => {
    await before.stop();
    await own.remove();
  });

  /** As a version wrote it that knew blocks only. */
  async function former(amount: string, chain = 'base-usdc'): Promise<string> {
    const { id } = await create(before, merchant, chain, { amount });
    await before.app.db.query
      .updateTable('invoices')
      .set({ min_confirmations: BLOCKS, confirm_seconds: null, until_final: 0 })
      .where('id', '=', id)
      .execute();
    return id;
  }
  const upgraded = () => keepMeta(before.app.db.query, UNTIMED_UNTIL, String(clock.now()));
  const shown = async (service: TestApp, id: string) =>
    (await service.fetch('GET', `/v1/invoices/${id}/payment`)).json.payment;

  test('gives what is open the seconds of its gateway, before anything is read', async () => {
    verifies('seconds-decide');
    const [fresh, paid, large, done] = [
      await former('10'),
      await former('11'),
      await former('1000'),
      await former('12'),
    ];
    // Read by the former version: many blocks, and no seconds.
    const seen = transferTo(before, await invoiceRow(before, paid), { confirmations: 14 });
    await observe(before, 'base', [seen]);
    await observe(before, 'base', [
      transferTo(before, await invoiceRow(before, done), { confirmations: 15 }),
    ]);
    expect(await shown(before, paid)).toMatchObject({ status: 'confirming', confirmations: 14 });
    expect(await invoiceRow(before, done)).toMatchObject({ status: 'confirmed' });
    await upgraded();
    const service = await start();
    expect(await invoiceRow(service, fresh)).toMatchObject({
      min_confirmations: BLOCKS,
      confirm_seconds: SECONDS,
      until_final: 0,
    });
    expect(await invoiceRow(service, large)).toMatchObject({ until_final: 1 });
    // What is confirmed stays as it was confirmed.
    expect(await invoiceRow(service, done)).toMatchObject({ status: 'confirmed', confirm_seconds: null });
    await service.app.observer.tick();
    // Its age is not known yet: it shows as little as it has.
    expect(await shown(service, paid)).toMatchObject({ status: 'confirming', confirmations: 1 });
    // Sixteen blocks of the new pace are three seconds.
    const unsafe = { confirmations: 16, depth_seconds: 3 };
    await observe(service, 'base', [{ ...seen, ...unsafe }]);
    await observe(service, 'base', [transferTo(service, await invoiceRow(service, fresh), unsafe)]);
    for (const id of [paid, fresh]) expect((await invoiceRow(service, id)).status).toBe('created');
    await observe(service, 'base', [{ ...seen, confirmations: 150, depth_seconds: SECONDS }]);
    expect(await invoiceRow(service, paid)).toMatchObject({ status: 'confirmed', confirmations: 150 });
    const { app } = service;
    const input = await verifyInput({ ...app.db, damages: undefined }, app.config, clock.now());
    const laws = await verifyLaws(input, { laws: [5, 6, 7, 8, 9] });
    expect(laws.filter(({ ok }) => !ok)).toEqual([]);
    await service.stop();
  });

  test('leaves blocks where the settings ask for blocks, and is done once', async () => {
    verifies('seconds-decide');
    const id = await former('13');
    await upgraded();
    const counted = await start({ 'gateways.base-usdc.min_confirmations': '20' });
    expect(await invoiceRow(counted, id)).toMatchObject({ confirm_seconds: null });
    await counted.stop();
    expect(await findMeta(before.app.db.query, UNTIMED_UNTIL)).toBeUndefined();
    // What an invoice asks for is frozen from then on, whatever the settings say later.
    const timed = await start();
    expect(await invoiceRow(timed, id)).toMatchObject({ min_confirmations: BLOCKS, confirm_seconds: null });
    await timed.stop();
  });

  test('reads them by pages, what was asked for in another coin as well, and none that is newer', async () => {
    const { query } = before.app.db;
    const ids = [await former('14'), await former('15'), await former('16')].sort();
    const former_coin = await former('17');
    await sql`insert into former_terms (invoice_id, owner_id, chain, blockchain, currency, network, decimals,
        min_confirmations, amount_usd_fee_micros, rate_usd_nanos, amount_merchant_atomic, amount_fee_atomic,
        amount_atomic, address, address_key, qr_payload, exits, offered_at, watch_until)
      select id, owner_id, 'base', blockchain, 'ETH', network, 18, min_confirmations, amount_usd_fee_micros,
        rate_usd_nanos, amount_merchant_atomic, amount_fee_atomic, amount_atomic, address, address_key, qr_payload,
        exits, created_at, watch_until from invoices where id = ${former_coin}`.execute(query);
    const filter = { made_until: clock.now(), now: clock.now(), limit: SHARE_OF_ONE };
    const pages: string[][] = [];
    for (let after = { id: '', chain: '' }; ; ) {
      const page = await untimedTerms(query, 'invoices', { ...filter, chains: ['base-usdc'], after });
      pages.push(page.map((each) => each.id));
      const last = page.at(-1);
      if (page.length < SHARE_OF_ONE || !last) break;
      after = last;
    }
    expect(pages.flat()).toEqual(expect.arrayContaining(ids));
    expect(new Set(pages.flat()).size).toBe(pages.flat().length);
    const begin = { id: '', chain: '' };
    const terms = { ...filter, chains: ['base'], after: begin };
    const [other] = await untimedTerms(query, 'former_terms', terms);
    expect(other).toMatchObject({ id: former_coin, chain: 'base' });
    await before.app.db.transaction((tx) =>
      giveSeconds(tx, 'former_terms', other as never, {
        min_confirmations: 150,
        confirm_seconds: SECONDS,
        until_final: 0,
      }),
    );
    expect(await untimedTerms(query, 'former_terms', terms)).toEqual([]);
    const older = { ...filter, chains: ['base-usdc'], made_until: clock.now() - 1, after: begin };
    expect(await untimedTerms(query, 'invoices', older)).toEqual([]);
    const later = { ...filter, chains: ['base-usdc'], now: clock.now() + 1e9, after: begin };
    expect(await untimedTerms(query, 'invoices', later)).toEqual([]);
  });
});
