// An order that ended long ago: its link says no more than how it ended, while shop and operator read all of it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkoutStates } from '../../../src/checkout.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { invoiceRow } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';
import { createInvoice, everyState } from './states.ts';

const DAY = 86_400;
const BROWSER = { accept: 'text/html,*/*;q=0.8', 'accept-language': 'de' };
const REFERENCE = 'order-of-the-buyer-4711';
const OPEN = ['waiting', 'closing', 'orphaned', 'underpaid', 'seen', 'processing'];
const ended = checkoutStates.filter((state) => !OPEN.includes(state));

/** All that answers by the id of an invoice without credentials. */
const reads = (id: string): string[] => [
  `/v1/public/invoices/${id}`,
  `/v1/invoices/${id}/payment`,
  `/v1/invoices/${id}/transaction`,
  `/v1/exits/${id}/web`,
  `/v1/exits/${id}/tg`,
  `/v1/pay/${id}/qr.svg`,
  `/v1/pay/${id}/qr.png`,
  `/v1/pay/${id}/events`,
  `/v1/pay/${id}/div`,
  `/v1/pay/${id}/page`,
  `/pay/${id}`,
  `/pay/${id}/coins`,
];
const writes = (id: string): [string, unknown][] => [
  [`/v1/invoices/${id}/cancel`, {}],
  [`/v1/invoices/${id}/switch`, { chain: 'ton' }],
  [`/v1/invoices/${id}/claim`, {}],
  [`/v1/invoices/${id}/transaction`, { account: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk' }],
];

describe.each(databases)('public_days on %s', (database) => {
  let world: TestApp;
  let merchant: TestMerchant;
  let ids: Awaited<ReturnType<typeof everyState>>;
  /** Of each ended invoice, all that its row says of the buyer and his money. */
  const secrets = new Map<string, string[]>();

  beforeAll(async () => {
    world = await startApp({ database });
    merchant = await world.merchant();
    ids = await everyState({
      test: world,
      merchant,
      order: { external_ref: REFERENCE, title: 'Blue kettle' },
    });
    for (const state of ended) {
      const row = await invoiceRow(world, ids[state]);
      const { address, memo, qr_payload, txid, external_ref } = row;
      const shown = [address, memo, qr_payload, txid, external_ref, 'Blue kettle', merchant.user.email];
      secrets.set(
        ids[state],
        shown.filter((value): value is string => !!value),
      );
      expect(row.ended_at, state).not.toBeNull();
      // What is cached while it is public must not outlast its time.
      for (const path of reads(ids[state]))
        expect((await world.fetch('GET', path, { headers: BROWSER })).status, `${state} ${path}`).toBe(200);
      await world.fetch('GET', `/pay/${ids[state]}/receipt`, { headers: BROWSER });
    }
    const row = await invoiceRow(world, ids.failed);
    world.clock.set((row.ended_at ?? 0) + 29 * DAY);
    expect((await world.fetch('GET', `/v1/public/invoices/${ids.failed}`)).status).toBe(200);
    world.clock.advance(2 * DAY);
  });
  afterAll(() => world.stop());

  test('programs are refused with 410, the state it ended in, and nothing else of it', async () => {
    verifies('public-days');
    for (const state of ended) {
      const id = ids[state];
      const row = await invoiceRow(world, id);
      const calls = [
        ...reads(id).map((path) => ({ method: 'GET', path, body: undefined })),
        ...writes(id).map(([path, body]) => ({ method: 'POST', path, body })),
      ];
      for (const { method, path, body } of calls) {
        const reply = await world.fetch(method, path, { body });
        const at = `${state}: ${method} ${path} ${reply.text}`;
        expect(reply.status, at).toBeGreaterThanOrEqual(400);
        if (method === 'GET') {
          expect(reply.status, at).toBe(410);
          expect(reply.json, at).toMatchObject({ code: 'invoice_withheld', invoice_status: row.status });
        }
        for (const secret of secrets.get(id) ?? []) expect(reply.text, at).not.toContain(secret);
      }
    }
  });

  test('people read on every page that it is over, in their language, and the same of its receipt', async () => {
    for (const state of ended) {
      const id = ids[state];
      const { status } = await invoiceRow(world, id);
      const pages = [`/pay/${id}`, `/v1/pay/${id}/page?size=mobile`, `/pay/${id}/coins`];
      if (status === 'confirmed') pages.push(`/pay/${id}/receipt`);
      for (const path of pages) {
        const { status: answered, text } = await world.fetch('GET', path, { headers: BROWSER });
        expect(answered, path).toBe(410);
        expect(text, path).toContain('zeigt die Einzelheiten dieser Bestellung nicht mehr an');
        for (const secret of secrets.get(id) ?? []) expect(text, path).not.toContain(secret);
      }
    }
  });

  test('its owner reads it as before, and so does the operator', async () => {
    const operator = await world.superuser();
    for (const state of ended) {
      const row = await invoiceRow(world, ids[state]);
      if (row.owner_id !== merchant.id) continue;
      const own = await world.fetch('GET', `/v1/invoices/${ids[state]}`, { key: merchant.key });
      expect(own.json).toMatchObject({ status: row.status, address: row.address, external_ref: REFERENCE });
      const seen = await world.fetch('GET', `/api/v1/admin/payments/${ids[state]}`, {
        token: operator.token,
      });
      expect(seen.status).toBe(200);
      expect(seen.text).toContain(row.address);
    }
  });

  test('what is sent once more without asking a route ends with its time too', async () => {
    const id = await createInvoice({ test: world, merchant });
    await world.fetch('POST', `/v1/invoices/${id}/cancel`);
    const { again } = await world.app.public_invoices.get(id);
    if (database === 'sqlite') expect(again?.()).toBe(true);
    world.clock.advance(31 * DAY);
    expect(again?.() ?? false).toBe(false);
    await expect(world.app.public_invoices.get(id)).rejects.toMatchObject({ code: 'invoice_withheld' });
  });

  test('an order that is open is public, however old it is', async () => {
    const id = await createInvoice({ test: world, merchant });
    world.clock.advance(100 * DAY);
    const { status, json } = await world.fetch('GET', `/v1/public/invoices/${id}`);
    expect({ status, state: json.status }).toEqual({ status: 200, state: 'created' });
  });
});

test('public_days 0 shows every order for ever, and another number counts', async () => {
  for (const [days, expected] of [
    ['0', 200],
    ['90', 200],
    ['7', 410],
  ] as const) {
    const world = await startApp({ settings: { public_days: days } });
    const merchant = await world.merchant();
    const id = await createInvoice({ test: world, merchant });
    await world.fetch('POST', `/v1/invoices/${id}/cancel`);
    world.clock.advance(60 * DAY);
    expect((await world.fetch('GET', `/v1/public/invoices/${id}`)).status, days).toBe(expected);
    await world.stop();
  }
});
