// A database in which all there is has happened, made by the daemon's own code: what breaks a law in it was not the daemon.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { assertSecretMatches } from '../../../daemon/process/data-dir.ts';
import type { Dialect } from '../../../data/db/open.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { type Database, newDatabase } from '../../helpers/database.ts';
import {
  create,
  credit,
  follow,
  invoiceRow,
  newTxid,
  observe,
  pendingAt,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { until } from '../../helpers/until.ts';

const USD = 1_000_000n;
const OPERATOR_WALLET = `0:${'99'.repeat(32)}`;
export const SOUND_SETTINGS = { 'wallets.ton': OPERATOR_WALLET };

export interface SoundBooks {
  dialect: Dialect;
  url: string;
  /** Of the machine when the last of it happened, Unix seconds. */
  now: number;
  /** Has the daemon's secret in its configuration. */
  config: TestApp['app']['config'];
  remove(): Promise<void>;
}

/** The database of a daemon that has stopped, with every kind of invoice, payment, entry and event. */
export async function makeSoundBooks(database: Database): Promise<SoundBooks> {
  const { url, remove } = await newDatabase(database);
  const clock = testClock();
  const service = await startApp({ database, database_url: url, clock, settings: SOUND_SETTINGS });
  const { app } = service;
  const { config } = app;
  await assertSecretMatches(app.db, app.secrets, config.data_dir);
  const receiver = createServer((request, response) =>
    response.writeHead(request.url === '/broken' ? 500 : 200).end('thanks'),
  );
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  await live(service, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`);
  await service.stop();
  receiver.close();
  return {
    dialect: database,
    url,
    now: clock.now(),
    config,
    remove,
  };
}

async function live(service: TestApp, receiver_url: string): Promise<void> {
  const { clock, app } = service;
  const rich = await service.merchant('rich@example.com');
  const poor = await service.merchant('poor@example.com');
  const operator = await service.superuser();
  await account(service, rich, { webhook_url: `${receiver_url}/hook`, webhook_secret: 'a secret of hooks' });
  await credit(service, rich.id, 100n * USD);
  await service.fetch('POST', `/api/v1/admin/merchants/${rich.id}/credit`, {
    token: operator.token,
    body: { prepaid_usd: 5, note: 'by hand' },
    headers: { 'idempotency-key': 'credit-once' },
  });
  const unit = await service.fetch('POST', '/api/v1/merchant/units', {
    token: rich.token,
    body: { title: 'A shop', amount_usd: 7, currencies: ['TON'] },
    headers: { 'idempotency-key': 'unit-once' },
  });
  expect(unit.status, unit.text).toBe(200);
  const pay = (invoice: InvoiceRow, parts: object = {}) =>
    observe(service, invoice.blockchain, [transferTo(service, invoice, { final: true, ...parts })]);

  await pay(await create(service, rich, 'ton'));
  await pay(await create(service, rich, 'bitcoin'));
  await pay(await create(service, rich, 'bitcoin', { callback_url: `${receiver_url}/broken` }));
  await pay(await create(service, rich, 'ton-usdt', { external_ref: 'in two parts' }), {
    amount_atomic: 10_000_001n,
  });
  const parts = await create(service, rich, 'ton');
  await pay(parts, { amount_atomic: 1_000_000_000n });
  await pay(parts, { amount_atomic: 1_500_000_000n });
  clock.advance(7);
  await simulated(service, poor);
  await refilled(service, poor);
  await ofTheHouse(service, operator.token, pay);
  await held(service, poor, pay);
  await unapplied(service, rich);
  await resolved(service, rich, operator.token);
  await create(service, rich, 'ton', {});
  await switched(service, rich, pay);
  await unwatched(service, rich);
  await held(service, poor, pay);
  app.webhooks.kick();
  await until('every webhook was tried', async () => {
    const left = app.db.query.selectFrom('deliveries').select('id');
    return (await left.where('status', 'in', ['pending', 'sending']).executeTakeFirst()) ? undefined : true;
  });
  // Feeds are given their positions when they are read.
  await service.fetch('GET', '/api/v1/merchant/events', { token: rich.token });
  for (const blockchain of ['ton', 'bitcoin']) await readThrough(service, blockchain);
  await create(service, rich, 'ton');
  await create(service, rich, 'bitcoin');
  for (const [from, to] of CHANGES) await changed(service, rich, from, to);
}

const CHANGES = [
  ['ton', 'bitcoin'],
  ['bitcoin', 'ton'],
] as const;

/** An invoice whose buyer has changed its coin, as it asked before. */
async function changed(
  service: TestApp,
  merchant: TestMerchant,
  from: string,
  to: string,
): Promise<InvoiceRow> {
  const old = await create(service, merchant, from, { payable_with: [to] });
  const reply = await service.fetch('POST', `/v1/invoices/${old.id}/switch`, { body: { chain: to } });
  expect(reply.status, reply.text).toBe(200);
  return old;
}

/** Paid in its former coin, in its present one, in both, and ended in two coins without money. */
async function switched(
  service: TestApp,
  merchant: TestMerchant,
  pay: (invoice: InvoiceRow) => Promise<unknown>,
): Promise<void> {
  for (const [from, to] of CHANGES) {
    await pay(await changed(service, merchant, from, to));
    const both = await changed(service, merchant, from, to);
    await pay(await invoiceRow(service, both.id));
    await pay(both);
    const { id } = await changed(service, merchant, from, to);
    await service.fetch('POST', `/v1/invoices/${id}/cancel`, { key: merchant.key });
  }
}

async function account(service: TestApp, { token }: TestMerchant, body: object): Promise<void> {
  expect((await service.fetch('PATCH', '/api/v1/merchant/account', { token, body })).status).toBe(200);
}

async function simulated(service: TestApp, merchant: TestMerchant): Promise<void> {
  const { id } = await create(service, merchant, 'ton');
  const { key } = merchant;
  expect((await service.fetch('POST', `/v1/invoices/${id}/simulate`, { key })).status).toBe(200);
}

async function refilled(service: TestApp, { token }: TestMerchant): Promise<void> {
  for (const pays of [true, false]) {
    const { json } = await service.fetch('POST', '/api/v1/merchant/refill', {
      token,
      body: { chain: 'ton', amount: 0.3 },
    });
    const row = await invoiceRow(service, json.id);
    if (pays) await observe(service, 'ton', [transferTo(service, row, { final: true })]);
  }
}

/** The operator's own shop sells without a balance, and is one like any other afterwards. */
async function ofTheHouse(
  service: TestApp,
  token: string,
  pay: (invoice: InvoiceRow) => Promise<unknown>,
): Promise<void> {
  const shop = await service.merchant('house@example.com');
  for (const house of [true, false]) {
    const path = `/api/v1/admin/merchants/${shop.id}/house`;
    expect((await service.fetch('PUT', path, { token, body: { house } })).status).toBe(200);
    await pay(await create(service, shop, 'ton'));
  }
}

/** The limit covers some, and one waits for more. */
async function held(
  service: TestApp,
  merchant: TestMerchant,
  pay: (invoice: InvoiceRow) => Promise<unknown>,
): Promise<void> {
  const made: InvoiceRow[] = [];
  for (let each = 0; each < 4; each++) made.push(await create(service, merchant, 'ton'));
  for (const invoice of made) await pay(invoice);
  const { query } = service.app.db;
  const waiting = query.selectFrom('payments').select('id').where('status', '=', 'held');
  expect((await waiting.execute()).length).toBeGreaterThan(0);
}

/** Late, unmatched, vanished, too little, in no block yet, expired and cancelled. */
async function unapplied(service: TestApp, merchant: TestMerchant): Promise<void> {
  const { clock } = service;
  const late = await create(service, merchant, 'bitcoin');
  const gone = await create(service, merchant, 'bitcoin');
  const gone_late = await create(service, merchant, 'bitcoin');
  const cancelled = await create(service, merchant, 'ton');
  const short = await create(service, merchant, 'ton');
  await observe(service, 'ton', [
    transferTo(service, short, { amount_atomic: 5n, final: true }),
    transferTo(service, short, { memo: 'of no invoice', final: true }),
    transferTo(service, short, { memo: null, final: true }),
    transferTo(service, short, { memo: 'dust of no invoice', amount_atomic: 3n, final: true }),
    transferTo(service, short, { memo: null, amount_atomic: 4n, final: true }),
  ]);
  await service.fetch('POST', `/v1/invoices/${cancelled.id}/cancel`, { key: merchant.key });
  await vanish(service, gone);
  clock.advance(4_000);
  for (const blockchain of ['ton', 'bitcoin']) await readThrough(service, blockchain);
  expect((await invoiceRow(service, gone.id)).status).toBe('expired');
  await observe(service, 'bitcoin', [transferTo(service, late)]);
  await observe(service, 'ton', [transferTo(service, cancelled, { final: true })]);
  await vanish(service, gone_late);
  const seen = await create(service, merchant, 'bitcoin');
  await observe(service, 'bitcoin', [transferTo(service, seen, unconfirmed)]);
}

/** A payment is seen, and a conflicting spend takes it away. */
async function vanish(service: TestApp, invoice: InvoiceRow): Promise<void> {
  const transfer = transferTo(service, invoice, unconfirmed);
  await observe(service, invoice.blockchain, [transfer]);
  const asked = (await pendingAt(service, invoice.blockchain)).filter(({ txid }) => txid === transfer.txid);
  const { txid, index } = transfer;
  const place = { confirmations: 0, height: null, block_hash: null };
  await follow(
    service,
    invoice.blockchain,
    [{ txid, index, state: 'gone', ...place, reason: 'its inputs were spent otherwise' }],
    asked,
  );
}

/** By the operator: expired, failed, a late payment taken, and two booked by force of which the chain shows one. */
async function resolved(service: TestApp, merchant: TestMerchant, token: string): Promise<void> {
  const call = async (path: string, body: object) => {
    const reply = await service.fetch('POST', `/api/v1/admin/${path}`, { token, body });
    expect(reply.status, reply.text).toBe(200);
  };
  const resolve = (id: string, body: object) => call(`payments/${id}/resolve`, body);
  await resolve((await create(service, merchant, 'ton')).id, { action: 'expire' });
  await resolve((await create(service, merchant, 'ton')).id, { action: 'fail' });
  const late = await create(service, merchant, 'ton');
  await resolve(late.id, { action: 'expire' });
  const paid = transferTo(service, late, { final: true });
  await observe(service, 'ton', [paid]);
  await resolve(late.id, { action: 'confirm', txid: paid.txid });
  const force = { action: 'confirm', force: true, note: 'seen on the explorer' };
  await resolve((await create(service, merchant, 'ton')).id, force);
  await resolve((await create(service, merchant, 'ton')).id, { ...force, txid: newTxid() });
  const shown = await create(service, merchant, 'ton');
  const differs = transferTo(service, shown, { amount_atomic: 7n, memo: null, final: true });
  await resolve(shown.id, { ...force, txid: differs.txid });
  await observe(service, 'ton', [differs]);
  const open = service.app.db.query.selectFrom('contradictions').select('id').where('closed_at', 'is', null);
  for (const { id } of await open.execute())
    await call(`contradictions/${id}/close`, { note: 'checked, and right' });
}

/** What no one waits for any more: ended long ago, amounts given back. */
async function unwatched(service: TestApp, merchant: TestMerchant): Promise<void> {
  const { key } = merchant;
  const old = await create(service, merchant, 'bitcoin', { amount: '31' });
  await service.fetch('POST', `/v1/invoices/${old.id}/cancel`, { key });
  service.clock.advance(90_000);
  for (const blockchain of ['ton', 'bitcoin']) await readThrough(service, blockchain);
  await service.app.observer.tick();
}
