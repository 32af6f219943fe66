// A daemon that freezes in the middle of its work holds up no other, and books nothing twice when it continues.
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { openDb } from '../../data/db/open.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { nanoOf } from './payer.ts';
import { createInvoice, credit, openShop, openStand, readInvoice, signIn, tonSettings } from './stand.ts';

/** The shortest of the leases by which others know that a daemon lives. */
const LEASE_MS = 9_000;
/** The lease of a blockchain runs out after 15 s. */
const TAKE_OVER_MS = 25_000;

it.skipIf(!hasPostgres)(
  'a daemon frozen inside a transaction: others wait no longer than its lease, and it rolls back when it continues',
  async () => {
    verifies('freeze-bounded', 'exactly-once', 'one-door');
    const stand = await openStand('postgres');
    onTestFinished(() => stand.close());
    const frozen = await stand.start();
    const other = await stand.start(tonSettings(stand.gate.url));
    const shop = await openShop(stand, other.url);
    await credit(other.url, shop, '10');
    const invoice = await createInvoice(other.url, shop);
    const db = await openDb(stand.database_url);
    onTestFinished(() => db.close());
    const statesOf = async (state: string) =>
      (
        await sql<{ pid: number }>`select pid from pg_stat_activity where datname = current_database()
          and pid <> pg_backend_pid() and application_name = '' and ${sql.raw(state)}`.execute(db.query)
      ).rows;

    // It is about to book when it freezes: its transaction waits for the merchant, gets it, and does nothing more.
    const token = await signIn(frozen.url, 'operator@example.com');
    const book = () =>
      fetch(`${frozen.url}/api/v1/admin/merchants/${shop.id}/credit`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': 'frozen',
        },
        body: '{"prepaid_usd":"5"}',
      });
    let interrupted: Promise<Response> | undefined;
    await db.transaction(async (tx) => {
      await sql`select 1 from merchants where id = ${shop.id} for no key update`.execute(tx);
      interrupted = book();
      await until('it waits for the merchant', async () => (await statesOf(`wait_event_type = 'Lock'`))[0]);
      frozen.signal('SIGSTOP');
    });
    await until('it holds the merchant', async () => (await statesOf(`state = 'idle in transaction'`))[0]);

    const began = Date.now();
    await credit(other.url, shop, '7');
    expect(Date.now() - began).toBeLessThan(LEASE_MS);
    await stand.payer.pay({ amount: nanoOf(invoice), memo: invoice.memo });
    await until(
      'the other reads the chain',
      async () => ((await readInvoice(other.url, invoice.id)).status === 'confirmed' ? true : undefined),
      TAKE_OVER_MS,
    );

    frozen.signal('SIGCONT');
    expect([200, 503]).toContain((await interrupted)?.status);
    const again = await book();
    expect(again.status).toBe(200);
    const credits = await stand.inspect(({ query }) =>
      query
        .selectFrom('ledger')
        .select('amount_micros')
        .where('kind', '=', 'credit')
        .orderBy('seq')
        .execute(),
    );
    expect(credits.map(({ amount_micros }) => amount_micros)).toEqual([10_000_000n, 7_000_000n, 5_000_000n]);
    expect(await wrongBooks(stand)).toEqual([]);
    const alive = await createInvoice(frozen.url, shop);
    expect(alive.status).toBe('created');
  },
  90_000,
);
