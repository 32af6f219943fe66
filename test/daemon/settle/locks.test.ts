// Writers that meet on PostgreSQL: merchant, then invoices, then transfers, so that none waits for another in a circle.
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { apply, reevaluateInvoices } from '../../../daemon/settle/settle.ts';
import type { Tx } from '../../../data/db/open.ts';
import { lockInvoices } from '../../../data/invoices.ts';
import { releaseAmounts } from '../../../data/reservations.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import type { Transfer } from '../../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { verifyChain } from '../../helpers/books.ts';
import { create, credit, follow, invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const HELD = 60;
const CREDITS = 8;

describe.runIf(hasPostgres)('writers on postgres', () => {
  let service: TestApp;
  afterEach(() => service.stop());

  /** How many circles of waiting the server had to break in this database. */
  const deadlocks = async (): Promise<number> => {
    const { query } = service.app.db;
    // What the connections have counted is handed in when they are idle for a moment.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await sql`select pg_stat_clear_snapshot()`.execute(query);
    const { rows } = await sql<{ deadlocks: number }>`
      select deadlocks from pg_stat_database where datname = current_database()`.execute(query);
    return rows[0]?.deadlocks ?? -1;
  };

  const invoices = async (who: TestMerchant, count: number, chain = 'ton') => {
    const made: InvoiceRow[] = [];
    for (let each = 0; each < count; each++) made.push(await create(service, who, chain));
    return made;
  };

  test('eight credits book sixty held payments at once, without waiting for each other in a circle', async () => {
    verifies('one-lock-order', 'limit-held-books');
    service = await startApp({ database: 'postgres' });
    const who = await service.merchant();
    const operator = await service.superuser();
    const made = await invoices(who, HELD);
    await observe(
      service,
      'ton',
      made.map((invoice) => transferTo(service, invoice)),
    );
    const held = service.app.db.query.selectFrom('payments').select('id').where('status', '=', 'held');
    expect(await held.execute()).toHaveLength(HELD);
    const ticking = service.app.observer.tick();
    const replies = await Promise.all(
      Array.from({ length: CREDITS }, () =>
        service.fetch('POST', `/api/v1/admin/merchants/${who.id}/credit`, {
          token: operator.token,
          body: { prepaid_usd: 1 },
        }),
      ),
    );
    await ticking;
    expect(replies.map(({ status }) => status)).toEqual(Array(CREDITS).fill(200));
    expect(await held.execute()).toEqual([]);
    for (const { id } of made) expect((await invoiceRow(service, id)).status).toBe('confirmed');
    expect(await verifyChain(service, who.id)).toBe(CREDITS + HELD);
    expect(await deadlocks()).toBe(0);
  });

  test('an invoice that waits for its merchant holds up those of no other', async () => {
    verifies('one-lock-order');
    service = await startApp({ database: 'postgres' });
    const [one, other] = [await service.merchant(), await service.merchant()];
    // Each address is watched from now on: what follows writes invoices and their events alone.
    for (const who of [one, other]) await create(service, who, 'ton');
    let waiting: Promise<InvoiceRow> | undefined;
    await service.app.db.transaction(async (tx) => {
      // As a rotation of its key does.
      await tx.selectFrom('merchants').select('id').where('id', '=', one.id).forUpdate().execute();
      waiting = create(service, one, 'ton');
      for (let each = 0; each < 3; each++) await create(service, other, 'ton');
      const rows = service.app.db.query.selectFrom('invoices').select('id').where('owner_id', '=', one.id);
      expect(await rows.execute()).toHaveLength(1);
    });
    expect((await waiting)?.owner_id).toBe(one.id);
  });

  test('pages of a blockchain, its invoices, credits and the operator do not block each other', async () => {
    verifies('one-lock-order');
    service = await startApp({ database: 'postgres' });
    const who = await service.merchant();
    await credit(service, who.id, 300_000n);
    const made = await invoices(who, 40, 'solana');
    const ended = await invoices(who, 10, 'solana');
    for (const { id } of ended) await apply(service.app, id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    const page = [...made, ...ended].map((invoice) => transferTo(service, invoice));
    const at = (confirmations: number, transfers: Transfer[] = page) =>
      transfers.map((transfer) => ({ ...transfer, confirmations, block_hash: null }));
    await observe(service, 'solana', at(1));
    const ids = made.map(({ id }) => id);
    const reading = async () => {
      // Two daemons may read one blockchain: each has another order.
      for (let depth = 2; depth < 8; depth++)
        await Promise.all([
          observe(service, 'solana', at(depth)),
          observe(service, 'solana', at(depth + 1, page.toReversed())),
        ]);
      await observe(service, 'solana', at(64));
    };
    const evaluating = async (order: string[]) => {
      for (let round = 0; round < 3; round++) await reevaluateInvoices(service.app, order);
    };
    const crediting = async () => {
      for (let each = 0; each < 10; each++) await credit(service, who.id, 500_000n, { wake: each % 2 === 0 });
    };
    const resolving = async () => {
      for (const [each, { id }] of ended.entries()) {
        const txid = page[made.length + each]?.txid ?? '';
        const fact = { kind: 'resolve', action: 'confirm' } as const;
        await apply(service.app, ids[each] as string, { fact, actor: 'operator:1', txid });
        await apply(service.app, id, { fact, actor: 'operator:1', txid });
        await releaseAmounts(service.app.db, service.clock.now() + 10 * 86_400);
      }
    };
    await Promise.all([reading(), evaluating(ids), evaluating(ids.toReversed()), crediting(), resolving()]);
    await reevaluateInvoices(service.app, ids);
    for (const id of ids) expect((await invoiceRow(service, id)).status).toBe('confirmed');
    await verifyChain(service, who.id);
    expect(await deadlocks()).toBe(0);
  });

  /** Runs `work` while invoices are locked by another, then lets that one continue, with everything it asks for. */
  const alongside = async (
    ids: string[],
    work: () => Promise<unknown>,
    then: (tx: Tx) => Promise<unknown> = async () => undefined,
  ) => {
    const { db } = service.app;
    let working: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await lockInvoices(db, tx, ids);
      working = work();
      await until('it waits for the lock', async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db.query);
        return rows.length > 0 || undefined;
      });
      await then(tx);
    });
    return working;
  };

  test('who raises a limit waits for held invoices in their order', async () => {
    verifies('one-lock-order');
    service = await startApp({ database: 'postgres' });
    const who = await service.merchant();
    const made = await invoices(who, 5);
    // Found in the opposite order of their ids.
    for (const invoice of made.toReversed()) {
      service.clock.advance(1);
      await observe(service, 'ton', [transferTo(service, invoice)]);
    }
    const ids = made.map(({ id }) => id).sort();
    await alongside(
      ids.slice(0, 1),
      () => credit(service, who.id, 300_000n, { wake: true }),
      (tx) => lockInvoices(service.app.db, tx, ids.slice(1)),
    );
    expect(await deadlocks()).toBe(0);
    const { confirmed } = await statuses(made);
    expect(confirmed).toBe(3);
  });

  test('a merchant whose invoices are locked keeps no other from being settled, and is settled in their order', async () => {
    verifies('one-lock-order');
    service = await startApp({ database: 'postgres' });
    const [held, free] = [await service.merchant(), await service.merchant()];
    for (const { id } of [held, free]) await credit(service, id, 10_000_000n);
    const [first, second] = (await invoices(held, 2)) as [InvoiceRow, InvoiceRow];
    const [other] = (await invoices(free, 1)) as [InvoiceRow];
    const made = [first, second, other];
    const { db } = service.app;
    let observed: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await sql`select 1 from merchants where id = ${held.id} for update`.execute(tx);
      observed = observe(
        service,
        'ton',
        made.map((invoice) => transferTo(service, invoice)),
      );
      await until('the other is settled', async () =>
        (await invoiceRow(service, other.id)).status === 'confirmed' ? true : undefined,
      );
      expect((await invoiceRow(service, first.id)).status).toBe('created');
    });
    await observed;
    expect(await statuses(made)).toEqual({ confirmed: 3 });
    const { rows } = await sql<{ invoice_id: string }>`
      select invoice_id from ledger where merchant_id = ${held.id} and kind = 'fee' order by seq`.execute(
      db.query,
    );
    expect(rows.map(({ invoice_id }) => invoice_id)).toEqual([first.id, second.id]);
  });

  const statuses = async (made: InvoiceRow[]): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const { id } of made) {
      const { status } = await invoiceRow(service, id);
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  };

  test('a transfer that another gave to an invoice meanwhile is followed under the lock of that invoice', async () => {
    verifies('one-lock-order');
    service = await startApp({ database: 'postgres' });
    const who = await service.merchant();
    await credit(service, who.id, 1_000_000n);
    const [waiting, named] = (await invoices(who, 2, 'solana')) as [InvoiceRow, InvoiceRow];
    const shallow = { confirmations: 1, height: 9, block_hash: null };
    const seen = [
      transferTo(service, waiting, shallow),
      transferTo(service, named, { ...shallow, memo: 'UNKNOWN' }),
    ];
    await observe(service, 'solana', seen);
    const updates = seen.map(({ txid, index }) => ({
      txid,
      index,
      state: 'final' as const,
      ...shallow,
      confirmations: 40,
    }));
    await alongside(
      [waiting.id],
      () => follow(service, 'solana', updates),
      () =>
        apply(service.app, named.id, {
          fact: { kind: 'resolve', action: 'confirm' },
          actor: 'operator:1',
          txid: seen[1]?.txid ?? null,
        }),
    );
    expect(await statuses([waiting, named])).toEqual({ confirmed: 2 });
    const rows = await service.app.db.query
      .selectFrom('transfers')
      .select(['state', 'confirmations'])
      .execute();
    expect(rows).toEqual(Array(2).fill({ state: 'final', confirmations: 40 }));
    expect(await deadlocks()).toBe(0);
  });
});
