// Whatever happens in whatever order: every credit stays accounted for, every invoice settles once.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apply, remark } from '../../../daemon/settle/settle.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import type { Transfer } from '../../../src/chains/family.ts';
import { Refusal } from '../../../src/errors.ts';
import { type Fact, GRACE_SECONDS } from '../../../src/invoice.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  create,
  credit,
  follow,
  newTxid,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';

/** Histories of each chain. */
const RUNS = 15;
/** The same histories each time; another number plays others. */
const SEED = 20_261_120;
const LIMIT_MS = 120_000;
const INVOICES = 3;

type Move =
  | {
      kind: 'pay';
      invoice: number;
      part: number;
      alongside: boolean;
      state: 'unconfirmed' | 'mined' | 'final';
    }
  | { kind: 'follow'; transfer: number; to: 'gone' | 'mined' | 'final' | 'unconfirmed' }
  | { kind: 'say'; invoice: number; fact: Fact; transfer: number | null }
  | { kind: 'remark'; transfer: number; dismissed: boolean }
  | { kind: 'reorganise' }
  | { kind: 'credit'; micros: number }
  | { kind: 'wait'; seconds: number; read: boolean };

const at = fc.nat({ max: INVOICES - 1 });
const facts: Fact[] = [
  { kind: 'cancel' },
  { kind: 'simulate' },
  { kind: 'resolve', action: 'confirm' },
  { kind: 'resolve', action: 'expire' },
  { kind: 'resolve', action: 'fail' },
];
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      invoice: at,
      part: fc.constantFrom(1, 2, 2, 3),
      alongside: fc.boolean(),
      state: fc.constantFrom('unconfirmed' as const, 'mined' as const, 'final' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('follow' as const),
      transfer: fc.nat({ max: 7 }),
      to: fc.constantFrom('gone' as const, 'mined' as const, 'final' as const, 'unconfirmed' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      invoice: at,
      fact: fc.constantFrom(...facts),
      transfer: fc.option(fc.nat({ max: 7 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remark' as const),
      transfer: fc.nat({ max: 7 }),
      dismissed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reorganise' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('credit' as const), micros: fc.constantFrom(100_000, 200_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      seconds: fc.constantFrom(60, 300, GRACE_SECONDS),
      read: fc.boolean(),
    }),
  },
);

describe.each(databases)('random histories on %s', (database) => {
  let test: TestApp;
  let serial = 0;

  beforeAll(async () => {
    test = await startApp({ database });
  });
  afterAll(() => test.stop());

  const block = { height: 100, block_hash: 'block-100' };
  const places = {
    unconfirmed,
    mined: { ...block, confirmations: 1 },
    final: { ...block, confirmations: 64 },
  };

  async function play(merchant: TestMerchant, invoices: InvoiceRow[], made: Transfer[], one: Move) {
    const blockchain = invoices[0]?.blockchain ?? '';
    const invoice =
      one.kind === 'pay' || one.kind === 'say' ? (invoices[one.invoice] as InvoiceRow) : undefined;
    if (one.kind === 'pay' && invoice) {
      const amount_atomic = (BigInt(invoice.amount_atomic) * BigInt(one.part)) / 2n;
      const last = made.at(-1);
      const txid = one.alongside && last ? last.txid : newTxid();
      const transfer = transferTo(test, invoice, {
        txid,
        index: String(made.length),
        amount_atomic,
        ...places[one.state],
      });
      made.push(transfer);
      await observe(test, blockchain, [transfer]);
    } else if (one.kind === 'follow') {
      const transfer = made[one.transfer];
      if (!transfer) return;
      const { txid, index } = transfer;
      if (one.to === 'gone') {
        const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null } as const;
        await follow(test, blockchain, [{ txid, index, ...gone }]);
      } else await observe(test, blockchain, [{ ...transfer, ...places[one.to] }]);
    } else if (one.kind === 'say' && invoice) {
      const { fact } = one;
      const txid = one.transfer === null ? null : (made[one.transfer]?.txid ?? newTxid());
      const named = fact.kind === 'resolve' && fact.action === 'confirm' ? txid : null;
      await apply(test.app, invoice.id, { fact, actor: 'operator:1', txid: named });
    } else if (one.kind === 'remark') await say(made[one.transfer]?.txid ?? '', one.dismissed);
    else if (one.kind === 'reorganise')
      await observe(test, blockchain, [], { orphaned_blocks: [block.block_hash] });
    else if (one.kind === 'credit') await credit(test, merchant.id, BigInt(one.micros), { wake: true });
    else if (one.kind === 'wait') {
      test.clock.advance(one.seconds);
      if (one.read) await readThrough(test, blockchain);
      else await test.app.observer.tick();
    }
  }

  /** Closes what came by a transaction, or has it wait again; what does not wait is refused. */
  async function say(txid: string, dismissed: boolean) {
    const rows = await test.app.db.query
      .selectFrom('transfers')
      .select('payment_id')
      .where('txid', '=', txid)
      .execute();
    for (const { payment_id } of rows)
      await remark(
        test.app,
        payment_id ?? '',
        { note: 'a test', dismissed },
        { actor: 'operator:1', owner_id: null },
      ).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
      });
  }

  async function audit(merchant: TestMerchant, ids: string[], txids: string[]) {
    const { query } = test.app.db;
    const invoices = await query.selectFrom('invoices').selectAll().where('id', 'in', ids).execute();
    const statusOf = new Map(invoices.map(({ id, status }) => [id, status]));
    const transfers = await query.selectFrom('transfers').selectAll().where('txid', 'in', txids).execute();
    const listed = transfers.flatMap(({ payment_id }) => payment_id ?? []);
    const payments = await query
      .selectFrom('payments')
      .selectAll()
      .where((or) => or.or([or('invoice_id', 'in', ids), or('id', 'in', ['', ...listed])]))
      .execute();
    for (const row of transfers.filter(
      ({ state, booked_invoice_id }) => state !== 'gone' || booked_invoice_id,
    )) {
      if (row.booked_invoice_id) expect(statusOf.get(row.booked_invoice_id)).toBe('confirmed');
      else if (row.disposition === 'matched') expect(statusOf.get(row.invoice_id ?? '')).toBe('created');
      else {
        const payment = payments.find(({ id }) => id === row.payment_id);
        expect(payment?.status, JSON.stringify(row)).toBe(row.disposition);
        const of = transfers.filter(
          ({ payment_id, state }) => payment_id === row.payment_id && state !== 'gone',
        );
        const sum = of.reduce((total, each) => total + BigInt(each.amount_atomic), 0n);
        expect(payment?.received_atomic).toBe(sum.toString());
      }
    }
    for (const invoice of invoices) {
      const confirmed = invoice.status === 'confirmed' ? 1 : 0;
      const where = (table: 'income' | 'ledger' | 'events') =>
        query.selectFrom(table).selectAll().where('invoice_id', '=', invoice.id).execute() as Promise<
          { kind?: string; type?: string }[]
        >;
      expect(await where('income')).toHaveLength(confirmed);
      expect((await where('ledger')).filter(({ kind }) => kind === 'fee')).toHaveLength(confirmed);
      expect((await where('events')).filter(({ type }) => type === 'invoice.confirmed')).toHaveLength(
        confirmed,
      );
      if (invoice.payment_id === null) continue;
      const shown = payments.find(({ id }) => id === invoice.payment_id);
      expect(shown).toMatchObject({ invoice_id: invoice.id, main: 1 });
      expect(shown?.status === 'confirmed').toBe(confirmed === 1);
      if (shown?.status === 'held') expect(invoice.status).toBe('created');
    }
    for (const payment of payments) {
      if (payment.dismissed) expect(['late', 'unmatched']).toContain(payment.status);
      const log = await query
        .selectFrom('payment_logs')
        .select('to_status')
        .where('payment_id', '=', payment.id)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      expect(log?.to_status).toBe(payment.status);
    }
    const { prepaid_micros } = await query
      .selectFrom('merchants')
      .select('prepaid_micros')
      .where('id', '=', merchant.id)
      .executeTakeFirstOrThrow();
    expect(prepaid_micros).toBeGreaterThanOrEqual(0n);
  }

  it.each(['ton', 'litecoin'])(
    'keep the books of %s',
    async (chain) => {
      await fc.assert(
        fc.asyncProperty(fc.array(move, { minLength: 3, maxLength: 14 }), async (moves) => {
          const merchant = await test.merchant(`random-${++serial}@example.com`);
          const invoices: InvoiceRow[] = [];
          for (let count = 0; count < INVOICES; count++)
            invoices.push(await create(test, merchant, chain, { callback_url: 'https://example.com/hook' }));
          const made: Transfer[] = [];
          for (const one of moves) {
            await play(merchant, invoices, made, one);
            const ids = invoices.map(({ id }) => id);
            await audit(merchant, ids, ['', ...made.map(({ txid }) => txid)]);
          }
        }),
        { numRuns: RUNS, seed: SEED },
      );
    },
    LIMIT_MS,
  );
});
