// Invoices that can never be settled: they are tried again and again, and hide no other from the clock.
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reevaluateInvoices } from '../../../daemon/settle/settle.ts';
import { ensureCursor } from '../../../data/cursors.ts';
import { noteReading } from '../../../data/proofs.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { type Database, databases } from '../../helpers/database.ts';
import { create, invoiceRow, readThrough } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

/** As many as the clock takes at a time. */
const BATCH = 200;
const BROKEN = 'never to be settled';
const GRACE_SECONDS = 24 * 3600;
/** Hundreds of invoices, on a machine that may be busy. */
const TIMEOUT_MS = 180_000;

/** The database refuses every change of the invoices with this reference, as a disk that is full or a law that is broken does. */
async function breakInvoices({ app }: TestApp, database: Database): Promise<void> {
  const { query } = app.db;
  if (database === 'sqlite') {
    await sql`create trigger broken before update on invoices when old.external_ref = ${sql.lit(BROKEN)}
      begin select raise(abort, 'this invoice is broken'); end`.execute(query);
    return;
  }
  await sql`create function broken() returns trigger language plpgsql as $$
    begin raise exception 'this invoice is broken'; end $$`.execute(query);
  await sql`create trigger broken before update on invoices for each row
    when (old.external_ref = ${sql.lit(BROKEN)}) execute function broken()`.execute(query);
}

describe.each(databases)('invoices that always fail on %s', { timeout: TIMEOUT_MS }, (database) => {
  async function world() {
    const test = await startApp({ database });
    onTestFinished(() => test.stop());
    const merchant = await test.merchant();
    const broken: InvoiceRow[] = [];
    for (let made = 0; made < BATCH; made++)
      broken.push(await create(test, merchant, 'ton', { external_ref: BROKEN }));
    test.clock.advance(1);
    const after = await create(test, merchant, 'ton');
    await breakInvoices(test, database);
    const statusOf = async ({ id }: InvoiceRow) => (await invoiceRow(test, id)).status;
    return { test, broken, after, statusOf };
  }

  it('hide none that is due after them, however many they are, and are tried again', async () => {
    verifies('account-own-trouble');
    const { test, broken, after, statusOf } = await world();
    const failures = () => test.log.filter((line) => line.includes('could not be settled')).length;
    test.clock.set(after.expires_at + 1);
    await readThrough(test, 'ton');
    await test.app.observer.tick();
    expect(await statusOf(after)).toBe('expired');
    expect(await statusOf(broken[0] as InvoiceRow)).toBe('created');
    expect(failures()).toBeGreaterThanOrEqual(BATCH);
    const before = failures();
    await test.app.observer.tick();
    expect(failures()).toBeGreaterThanOrEqual(before + BATCH);
    await sql`drop trigger broken ${database === 'postgres' ? sql`on invoices` : sql``}`.execute(
      test.app.db.query,
    );
    await test.app.observer.tick();
    expect(await Promise.all(broken.map(statusOf))).toEqual(broken.map(() => 'expired'));
  });

  it('are left as they are by a daemon that is asked to stop in the middle of many, and settled by the next', async () => {
    verifies('stop-in-time');
    const test = await startApp({ database });
    onTestFinished(() => test.stop());
    const merchant = await test.merchant();
    const made: InvoiceRow[] = [];
    for (let each = 0; each < 60; each++) made.push(await create(test, merchant, 'ton'));
    test.clock.set((made.at(-1) as InvoiceRow).expires_at + 1);
    const { app } = test;
    await ensureCursor(app.db.query, 'ton');
    await noteReading(app.db.query, 'ton', { started_at: test.clock.now(), read_through: test.clock.now() });
    const ended = async () => {
      const rows = await Promise.all(made.map((each) => invoiceRow(test, each.id)));
      return rows.filter(({ status }) => status === 'expired').length;
    };
    expect(await ended()).toBe(0);
    const stopping = new AbortController();
    const { transaction } = app.db;
    let begun = 0;
    app.db.transaction = async (work) => {
      if (++begun === 3) stopping.abort();
      return transaction(work);
    };
    const ids = made.map(({ id }) => id);
    await reevaluateInvoices({ ...app, stopping: stopping.signal }, ids);
    expect(await ended()).toBeGreaterThan(0);
    expect(await ended()).toBeLessThan(40);
    await app.observer.tick();
    expect(await ended()).toBe(made.length);
  });

  it('undo nothing of those that share a commit with them', async () => {
    verifies('account-own-trouble');
    const test = await startApp({ database });
    onTestFinished(() => test.stop());
    const merchant = await test.merchant();
    const made: InvoiceRow[] = [];
    for (const external_ref of ['first', BROKEN, 'third', 'fourth'])
      made.push(await create(test, merchant, 'ton', { external_ref }));
    await breakInvoices(test, database);
    const { app } = test;
    const { transaction } = app.db;
    let [open, most] = [0, 0];
    app.db.transaction = async (work) => {
      most = Math.max(most, ++open);
      return transaction(work).finally(() => open--);
    };
    test.clock.advance(GRACE_SECONDS);
    await readThrough(test, 'ton');
    const statuses = await Promise.all(made.map(async ({ id }) => (await invoiceRow(test, id)).status));
    expect(statuses).toEqual(['expired', 'created', 'expired', 'expired']);
    // PostgreSQL would run them in any order: there each waits for the one before.
    expect(most).toBe(database === 'sqlite' ? made.length : 1);
  });

  it('hide none that the grace ends although its chain was never read', async () => {
    verifies('account-own-trouble');
    const { test, after, statusOf } = await world();
    await test.app.observer.tick();
    // As time goes by: nothing ends in the first minutes of a daemon without having been read.
    test.clock.advance(GRACE_SECONDS + (after.expires_at - after.created_at) + 1);
    await test.app.observer.tick();
    test.clock.advance(3600);
    await test.app.observer.tick();
    expect(await statusOf(after)).toBe('expired');
  });
});
