// Large invoices and the word of a second provider: that it agrees, differs, lacks the payment, is down, or is not there.
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RpcSource } from '../../../daemon/observer/providers/rpc.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { type Page, ProviderError, type Transfer } from '../../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { doubleFamily, namedRpc } from '../../helpers/family.ts';
import { create, credit, invoiceRow, transferTo } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

/** Above which the invoices of these tests need two. */
const ABOVE_USD = '100';
const LARGE = { amount: '100.01' };
const SMALL = { amount: '100' };
const TWO_URLS = 'https://one.example https://two.example';
const FINAL = { final: true } as const;

interface World {
  test: TestApp;
  merchant: TestMerchant;
  /** What the first provider lists with the next reading. */
  listed: Transfer[];
  /** What the second one has; throws what is put here instead. */
  second: { has: Transfer[]; fails: ProviderError | null; asked: number };
  read(): Promise<void>;
  statusOf(invoice: InvoiceRow): Promise<string>;
  contradictions(): Promise<{ kind: string; closed_at: number | null; details: Record<string, unknown> }[]>;
}

async function openWorld(
  database: (typeof databases)[number],
  { urls = TWO_URLS, micros = 100_000_000_000n } = {},
): Promise<World> {
  const second: World['second'] = { has: [], fails: null, asked: 0 };
  const source: RpcSource = {
    use: (work) => work(namedRpc('one'), 'one'),
    askOther: async (label, work) => {
      expect(label).toBe('one');
      if (second.fails) throw second.fails;
      return work(namedRpc('two'), 'two');
    },
    retryAt: () => 0,
    status: () => [],
    close: async () => {},
  };
  const test = await startApp({
    database,
    source: (id) => (id === 'bitcoin' ? source : undefined),
    settings: { 'blockchains.bitcoin.urls': urls, quorum_above_usd: ABOVE_USD },
  });
  onTestFinished(() => test.stop());
  const merchant = await test.merchant();
  await credit(test, merchant.id, micros);
  const double = doubleFamily('bitcoin');
  const listed: Transfer[] = [];
  double.read = async (): Promise<Page[]> => [{ transfers: listed.splice(0) }];
  double.lookUp = async ({ rpc }, { txid }) => {
    expect(rpc.provider).toBe('two');
    second.asked++;
    return second.has.filter((one) => one.txid === txid);
  };
  return {
    test,
    merchant,
    listed,
    second,
    read: () => test.app.observer.poll('bitcoin'),
    statusOf: async ({ id }) => (await invoiceRow(test, id)).status,
    contradictions: async () =>
      test.app.db.query.selectFrom('contradictions').selectAll().orderBy('created_at').execute(),
  };
}

const alerts = ({ log }: TestApp) => log.filter((line) => line.includes('"alert":"provider_differs"')).length;

describe.each(databases)('a large payment on %s', (database) => {
  it('waits until a second provider has it too, in the same block and as deep; a small one does not', async () => {
    verifies('quorum');
    const world = await openWorld(database);
    const { test, merchant, listed, second, read, statusOf } = world;
    const large = await create(test, merchant, 'bitcoin', LARGE);
    const small = await create(test, merchant, 'bitcoin', SMALL);
    const paid = transferTo(test, large, FINAL);
    listed.push(paid, transferTo(test, small, FINAL));
    await read();
    expect([await statusOf(large), await statusOf(small)]).toEqual(['created', 'confirmed']);
    // Seen and not deep, or deep in another block: neither is the same.
    for (const differs of [
      { height: null, block_hash: null, confirmations: 0, final: false },
      { block_hash: 'another-block' },
    ]) {
      second.has = [{ ...paid, ...differs }];
      await read();
      expect(await statusOf(large)).toBe('created');
    }
    second.has = [paid];
    await read();
    expect(await statusOf(large)).toBe('confirmed');
    const { asked } = second;
    await read();
    expect(second.asked).toBe(asked);
    expect(await world.contradictions()).toEqual([]);
  });

  it('of which a second provider has another amount is listed as a contradiction, and waits', async () => {
    verifies('quorum');
    const world = await openWorld(database);
    const { test, merchant, listed, second, read, statusOf } = world;
    const invoice = await create(test, merchant, 'bitcoin', LARGE);
    const paid = transferTo(test, invoice, FINAL);
    listed.push(paid);
    second.has = [{ ...paid, amount_atomic: 1n }];
    await read();
    await read();
    expect(await statusOf(invoice)).toBe('created');
    expect(await world.contradictions()).toMatchObject([
      {
        kind: 'provider_differs',
        txid: paid.txid,
        invoice_id: invoice.id,
        count: 2,
        closed_at: null,
        details: { stored_atomic: String(paid.amount_atomic), read_atomic: '1', provider: 'two' },
      },
    ]);
    expect(alerts(test)).toBe(1);
    const { token } = await test.superuser();
    const { json } = await test.fetch('GET', '/api/v1/admin/contradictions', { token });
    expect(json.data).toMatchObject([{ kind: 'provider_differs', invoice_id: invoice.id }]);
    // What the second one corrects is settled.
    second.has = [paid];
    await read();
    expect(await statusOf(invoice)).toBe('confirmed');
    expect(await world.contradictions()).toMatchObject([{ closed_by: 'observer' }]);
  });

  it('that a second provider still lacks after ten minutes is a contradiction; before, it is only late', async () => {
    verifies('quorum');
    const world = await openWorld(database);
    const { test, merchant, listed, read, statusOf } = world;
    const invoice = await create(test, merchant, 'bitcoin', LARGE);
    listed.push(transferTo(test, invoice, FINAL));
    await read();
    test.clock.advance(599);
    await read();
    expect(await world.contradictions()).toEqual([]);
    test.clock.advance(1);
    await read();
    expect(await world.contradictions()).toMatchObject([
      { kind: 'provider_differs', details: { read_atomic: null, provider: 'two' } },
    ]);
    expect(await statusOf(invoice)).toBe('created');
  });

  it('waits while the second provider is down, and the others are confirmed meanwhile', async () => {
    verifies('quorum');
    const { test, merchant, listed, second, read, statusOf } = await openWorld(database);
    const large = await create(test, merchant, 'bitcoin', LARGE);
    const small = await create(test, merchant, 'bitcoin', SMALL);
    second.fails = new ProviderError('unreachable', 'two cannot be reached');
    const paid = transferTo(test, large, FINAL);
    listed.push(paid, transferTo(test, small, FINAL));
    await read();
    expect([await statusOf(large), await statusOf(small)]).toEqual(['created', 'confirmed']);
    test.clock.advance(7200);
    await test.app.observer.tick();
    expect(await statusOf(large)).toBe('created');
    second.fails = null;
    second.has = [paid];
    await read();
    expect(await statusOf(large)).toBe('confirmed');
  });

  it('that a second provider cannot answer for keeps no other from being asked for', async () => {
    verifies('quorum', 'account-own-trouble');
    const { test, merchant, listed, second, read, statusOf } = await openWorld(database);
    const invoices: InvoiceRow[] = [];
    for (let made = 0; made < 12; made++)
      invoices.push(await create(test, merchant, 'bitcoin', { amount: String(200 - made) }));
    const paid = invoices.map((invoice) => transferTo(test, invoice, FINAL));
    listed.push(...paid);
    // It lacks the eleven largest.
    second.has = paid.slice(-1);
    await read();
    await read();
    expect(await statusOf(invoices.at(-1) as InvoiceRow)).toBe('confirmed');
    expect(await statusOf(invoices[0] as InvoiceRow)).toBe('created');
    second.has = paid;
    await read();
    await read();
    expect(await Promise.all(invoices.map(statusOf))).toEqual(invoices.map(() => 'confirmed'));
  });

  it('is witnessed again after its block has left the chain', async () => {
    verifies('quorum');
    const { test, merchant, listed, second, read, statusOf } = await openWorld(database, { micros: 1n });
    const invoice = await create(test, merchant, 'bitcoin', LARGE);
    const paid = transferTo(test, invoice);
    listed.push(paid);
    second.has = [paid];
    const witnesses = async () =>
      (await test.app.db.query.selectFrom('transfers').select('witness').execute()).map(
        ({ witness }) => witness,
      );
    await read();
    expect(await witnesses()).toEqual(['two']);
    doubleFamily('bitcoin').read = async () => [{ transfers: [], orphaned_blocks: ['block-100'] }];
    await read();
    expect(await witnesses()).toEqual([null]);
    expect(await statusOf(invoice)).toBe('created');
  });

  it('is confirmed on the word of one where only one is configured', async () => {
    verifies('quorum');
    const { test, merchant, listed, second, read, statusOf } = await openWorld(database, {
      urls: 'https://one.example',
    });
    const invoice = await create(test, merchant, 'bitcoin', LARGE);
    listed.push(transferTo(test, invoice, FINAL));
    await read();
    expect(await statusOf(invoice)).toBe('confirmed');
    expect(second.asked).toBe(0);
  });
});
