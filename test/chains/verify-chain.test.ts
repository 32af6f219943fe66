// `gatewayd verify --chain` against a real node: what is on the chain is in the books, or is named.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyChains } from '../../daemon/verify/chain.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';
import { createTestRpc } from './rpc.ts';
import { hasLitecoind, type Litecoind, startLitecoind } from './utxo-chain.ts';
import { type Invoice, openUtxoShop, type UtxoShop } from './utxo-shop.ts';

const BLOCKS_TO_FINAL = 3;

describe.skipIf(!hasLitecoind).each(['core', 'esplora'] as const)('verify --chain with %s', (provider) => {
  let node: Litecoind;
  let shop: UtxoShop;
  beforeAll(async () => {
    node = await startLitecoind();
  });
  beforeEach(async () => {
    shop = await openUtxoShop({ provider, node });
  });
  afterEach(() => shop.stop());
  afterAll(() => node.stop());

  const pay = ({ script }: Invoice, amount: bigint) => node.send([{ script, amount }]);
  const mine = async (blocks = BLOCKS_TO_FINAL) => {
    for (let block = 0; block < blocks; block++) {
      await shop.pass(150);
      await node.mine(1);
    }
    expect(await shop.read()).toBe(true);
  };
  /** The merchant's own address, and the whole answer. */
  const check = async (invoice: Invoice) => {
    const books = await openSnapshot(shop.database_url);
    try {
      const { config, clock } = shop.test.app;
      const source = sourceOf(createTestRpc({ provider, url: shop.front.url }));
      const balances = await verifyChains(books, {
        config,
        clock: { ms: clock.ms, monotonic_ms: () => performance.now() },
        source: (blockchain) => (blockchain === 'litecoin' ? source : undefined),
        since: null,
        sleep: () => shop.pass(1),
        patience_ms: 5_000,
      });
      const found = balances.find(
        ({ chain, address_key }) => chain === 'litecoin' && address_key === invoice.script,
      );
      return found ?? expect.fail('it was not read again');
    } finally {
      await books.close();
    }
  };
  const forge = async (statement: string) => {
    const { query } = shop.test.app.db;
    const { rows } = await sql<{ name: string; text: string }>`select name, sql as text from sqlite_schema
      where type = 'trigger' and tbl_name in ('transfers', 'payments')`.execute(query);
    for (const { name } of rows) await sql.raw(`drop trigger ${name}`).execute(query);
    await sql.raw(statement).execute(query);
  };
  const none = { before_the_watch: 0n, not_proved_yet: 0n, in_no_block: 0n, booked_by_hand: 0n };

  test('what came in is matched, late or unmatched, and nothing else', async () => {
    verifies('verify-chain');
    const paid = await shop.invoice();
    await pay(paid, paid.amount);
    const late = await shop.invoice();
    await mine();
    expect(await shop.status(paid)).toBe('confirmed');
    await shop.pass(late.expires_at - shop.now() + 600);
    await mine(1);
    await shop.read();
    await pay(late, late.amount);
    await pay(paid, 12_345n);
    await mine();
    expect(await check(paid)).toMatchObject({
      ok: true,
      unread: null,
      faults: [],
      matched: paid.amount,
      late: late.amount,
      unmatched: 12_345n,
      on_chain: paid.amount + late.amount + 12_345n,
      exclusions: none,
      difference: 0n,
    });
  });

  test('what may vanish, and what was mined after the last reading, is named', async () => {
    verifies('verify-chain');
    const invoice = await shop.invoice();
    await pay(invoice, 50_000n);
    await mine();
    await pay(invoice, 70_000n);
    await shop.pass(150);
    await node.mine(1);
    await shop.pass(150);
    await pay(invoice, 60_000n);
    expect(await check(invoice)).toMatchObject({
      ok: true,
      on_chain: 180_000n,
      exclusions: { ...none, not_proved_yet: 70_000n, in_no_block: 60_000n },
    });
  });

  test('a payment that the books lack, and one of another amount, are named by their transactions', async () => {
    verifies('verify-chain');
    const invoice = await shop.invoice();
    const lost = await pay(invoice, 5_000n);
    const changed = await pay(invoice, 7_000n);
    await mine();
    await forge(`delete from transfers where txid = '${lost.txid}'`);
    await forge(`update transfers set amount_atomic = '7001' where txid = '${changed.txid}'`);
    // As if it had been watched for longer: what is in a block about as old as the watch might be older.
    await forge('update watches set since = since - 3600');
    const found = await check(invoice);
    expect(found).toMatchObject({ ok: false, unread: null, on_chain: 12_000n, difference: 4_999n });
    expect(found.faults.map(({ fault, txid }) => [fault, txid]).sort()).toEqual([
      ['another amount', changed.txid],
      ['missing in the books', lost.txid],
    ]);
  });

  test('a booked payment that is not on the chain any more is named', async () => {
    verifies('verify-chain');
    const invoice = await shop.invoice();
    const sent = await pay(invoice, invoice.amount);
    await mine();
    expect(await shop.status(invoice)).toBe('confirmed');
    await forge('update watches set since = since - 3600');
    await node.reorg(BLOCKS_TO_FINAL, 'left out');
    await shop.pass(700);
    await node.doubleSpend(sent, [{ script: shop.refill_script, amount: 1_000n }]);
    const found = await check(invoice);
    expect(found).toMatchObject({ ok: false, on_chain: 0n, matched: invoice.amount });
    expect(found.faults).toMatchObject([
      { fault: 'not on the chain', txid: sent.txid, booked_invoice_id: invoice.id },
    ]);
  });

  test('a provider that is away leaves it unchecked', async () => {
    const invoice = await shop.invoice();
    await pay(invoice, invoice.amount);
    await mine();
    await shop.front.stop();
    const found = await check(invoice);
    expect(found.ok).toBe(false);
    expect(found.unread).toMatch(/./);
  });
});
