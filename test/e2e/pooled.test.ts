// Daemons behind PgBouncer in transaction mode: they take payments, share the work, and wake each other where they may listen.
import { expect, it, onTestFinished } from 'vitest';
import { startPgbouncer } from '../helpers/pgbouncer.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { hasPgbouncer } from '../helpers/software.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { nanoOf } from './payer.ts';
import { call, createInvoice, credit, openShop, openStand, readInvoice } from './stand.ts';

/** Fewer than one daemon opens to PgBouncer. */
const SERVER_CONNECTIONS = 6;
const INVOICES = 60;
const PAID = 8;
const POLLING = /"msg":"database_url leads through a pooler, which carries no notifications/g;

it.skipIf(!hasPostgres || !hasPgbouncer)(
  'two daemons behind PgBouncer take payments from the invoice to the webhook',
  async () => {
    verifies('pooled', 'both-databases', 'exactly-once', 'webhook-one-attempt');
    const stand = await openStand('postgres');
    onTestFinished(() => stand.close());
    const pooler = await startPgbouncer(stand.database_url, { connections: SERVER_CONNECTIONS });
    onTestFinished(() => pooler.stop());
    const through = { GATEWAYD_DATABASE_URL: pooler.urlOf(stand.database_url) };
    // On an empty database: whichever comes first migrates.
    const [deaf, hearing] = await Promise.all([
      stand.start(through),
      stand.start({ ...through, GATEWAYD_DATABASE_LISTEN_URL: stand.database_url }),
    ]);
    const urls = [deaf.url, hearing.url] as const;
    const shop = await openShop(stand, deaf.url);
    await credit(hearing.url, shop, '1000');

    const invoices = await Promise.all(
      Array.from({ length: INVOICES }, (_, at) => createInvoice(urls[at % 2 ? 1 : 0], shop)),
    );
    expect(new Set(invoices.map(({ memo }) => memo)).size).toBe(INVOICES);
    const paid = invoices.slice(0, PAID);
    await stand.payer.pay(...paid.map((invoice) => ({ amount: nanoOf(invoice), memo: invoice.memo })));
    for (const [at, { id }] of paid.entries())
      await until(`${id} is confirmed`, async () => {
        const { status } = await readInvoice(urls[at % 2 ? 0 : 1], id);
        return status === 'confirmed' || undefined;
      });
    await until('every webhook', async () => stand.receiver.hooks.length >= PAID || undefined);
    expect(stand.receiver.hooks.map(({ invoice_id }) => invoice_id).sort()).toEqual(
      paid.map(({ id }) => id).sort(),
    );
    for (const url of urls) {
      const listed = await call(url, 'GET', '/v1/invoices?limit=100', { shop });
      expect(listed.json.data).toHaveLength(INVOICES);
    }

    expect(deaf.stderr().match(POLLING)).toHaveLength(1);
    expect(hearing.stderr()).not.toMatch(POLLING);
    for (const daemon of [deaf, hearing]) daemon.signal('SIGTERM');
    for (const daemon of [deaf, hearing]) {
      const { code, stderr } = await daemon.ended;
      expect(code).toBe(0);
      expect(stderr).not.toMatch(/"level":50/);
    }
    expect(await wrongBooks(stand)).toEqual([]);
  },
  120_000,
);
