// A chain that left its readers behind: reorganised deeper than they follow, or reset; and the command that has it read again.
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { reread } from '../../daemon/commands/reread.ts';
import { lockDatabase } from '../../daemon/process/instance-lock.ts';
import { getCursor } from '../../data/cursors.ts';
import { createDatabase, hasPostgres } from '../helpers/postgres.ts';
import { hasLitecoind, type Litecoind, startLitecoind } from './utxo-chain.ts';
import { type Invoice, openUtxoShop, type UtxoShop } from './utxo-shop.ts';

const CHAIN = 'litecoin';
const DEEP = 3;
/** What the largest sum waits for: nothing is asked of a transfer that is so deep. */
const FINAL = 24;
const COMMAND = 'gatewayd reread litecoin';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs the command on the shop's database; answers what it prints. */
async function run(shop: UtxoShop, options: { since?: string; dryRun?: boolean } = {}): Promise<string> {
  const printed: string[] = [];
  const write = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => printed.push(String(text)) > 0);
  try {
    await reread(CHAIN, { databaseUrl: shop.database_url, secret: 'a secret for tests only', ...options });
  } finally {
    write.mockRestore();
  }
  return printed.join('');
}

describe.skipIf(!hasLitecoind).each(['core', 'esplora'] as const)('through %s', (provider) => {
  async function begin(database_url?: string): Promise<{ node: Litecoind; shop: UtxoShop }> {
    const node = await startLitecoind();
    onTestFinished(() => node.stop());
    const shop = await openUtxoShop({ provider, node, ...(database_url ? { database_url } : {}) });
    onTestFinished(() => shop.stop());
    return { node, shop };
  }

  async function sell(shop: UtxoShop): Promise<{ invoice: Invoice; txid: string; hex: string }> {
    const { node } = shop.front;
    const invoice = await shop.invoice();
    await shop.read();
    await shop.pass(30);
    const { txid, hex } = await node.send([{ script: invoice.script, amount: invoice.amount }]);
    await node.mine(DEEP);
    await shop.read();
    await shop.read();
    expect(await shop.status(invoice)).toBe('confirmed');
    return { invoice, txid, hex };
  }

  /** So deep that the node itself forgets the payment; its sender sends it again. */
  async function reorganise(node: Litecoind, depth: number, hex: string): Promise<void> {
    await node.reorg(depth, 'left out');
    await node.rpc('sendrawtransaction', hex);
    await node.mine(DEEP);
  }

  const transferOf = (shop: UtxoShop, txid: string) =>
    shop.test.app.db.query
      .selectFrom('transfers')
      .select(['state', 'height', 'block_hash', 'confirmations'])
      .where('txid', '=', txid)
      .executeTakeFirstOrThrow();

  const lastError = async (shop: UtxoShop) => (await getCursor(shop.test.app.db.query, CHAIN))?.last_error;

  test('a reorganisation deeper than the ring is named with its remedy, and repaired by it', async () => {
    const { node, shop } = await begin();
    const { txid, hex } = await sell(shop);
    const before = await transferOf(shop, txid);
    await node.mine(120);
    expect(await shop.read()).toBe(true);
    await reorganise(node, 124, hex);
    expect(await shop.read()).toBe(false);
    expect(await lastError(shop)).toContain(COMMAND);
    const running = lockDatabase(shop.database_url);
    await expect(run(shop)).rejects.toThrow(/another gatewayd is running/);
    running.release();

    await shop.restart(async () => {
      const planned = await run(shop, { dryRun: true });
      expect(planned).toMatch(/^litecoin would be read again from 20\S+Z on, below 1 watched addresses\n/);
      expect(planned).toContain('1 transfers in blocks since then would be asked for again');
      expect(await run(shop, { dryRun: true })).toBe(planned);
      expect(await run(shop)).toBe(
        planned.replaceAll(' would be read', ' is read').replaceAll('would be', 'were'),
      );
    });
    await node.mine(FINAL);
    for (let read = 0; read < 3; read++) expect(await shop.read()).toBe(true);
    const after = await transferOf(shop, txid);
    expect(after.state).toBe('final');
    expect(after.block_hash).not.toBe(before.block_hash);
    expect(await node.rpc('getblockhash', after.height)).toBe(after.block_hash);
    await sell(shop);
    expect(await shop.listed('unmatched')).toEqual([]);
  }, 60_000);

  test.each(['shorter', 'longer'] as const)(
    'a chain that was reset and is %s now is read again, and what it lacks loses its block',
    async (length) => {
      const { node, shop } = await begin();
      const { invoice, txid } = await sell(shop);
      const reset = await startLitecoind();
      onTestFinished(() => reset.stop());
      await reset.rpc('setmocktime', shop.now());
      if (length === 'longer') await reset.mine(20);
      expect(Math.sign((await reset.height()) - (await node.height()))).toBe(length === 'longer' ? 1 : -1);
      shop.front.node = reset;
      expect(await shop.read()).toBe(false);
      expect(await lastError(shop)).toContain(COMMAND);

      await shop.restart(async () => void (await run(shop)));
      await shop.read();
      await shop.read();
      expect(await transferOf(shop, txid)).toMatchObject({
        state: 'pending',
        height: null,
        block_hash: null,
      });
      expect(await shop.status(invoice)).toBe('confirmed');
      await sell(shop);
    },
    60_000,
  );

  test.runIf(hasPostgres && provider === 'core')(
    'while a daemon runs on PostgreSQL, which reads again with its next reading',
    async () => {
      const database = await createDatabase();
      onTestFinished(() => database.drop());
      const { node, shop } = await begin(database.url);
      const { txid, hex } = await sell(shop);
      await node.mine(110);
      await shop.read();
      await reorganise(node, 114, hex);
      expect(await shop.read()).toBe(false);
      await run(shop);
      await node.mine(FINAL);
      for (let read = 0; read < 3; read++) expect(await shop.read()).toBe(true);
      const after = await transferOf(shop, txid);
      expect([after.state, await node.rpc('getblockhash', after.height)]).toEqual([
        'final',
        after.block_hash,
      ]);
      await sell(shop);
    },
    60_000,
  );

  test('from a time that is named', async () => {
    const { shop } = await begin();
    await sell(shop);
    const since = shop.now() - 5000;
    await shop.restart(async () => {
      expect(await run(shop, { since: String(since) })).toContain(
        `from ${new Date(since * 1000).toISOString().replace('.000', '')} on`,
      );
      await expect(run(shop, { since: 'yesterday' })).rejects.toThrow(/--since yesterday: use a time/);
      await expect(run(shop, { since: '2200-01-01' })).rejects.toThrow(/is in the future/);
    });
    expect(await shop.read()).toBe(true);
  });
});

test('a blockchain that is unknown and a database that is not there are refused', async () => {
  const options = { databaseUrl: 'sqlite:/nowhere/gatewayd.db', secret: 'a secret for tests only' };
  await expect(reread('dogecoin', options)).rejects.toThrow(/use one of ton, solana, bitcoin, litecoin/);
  await expect(reread(CHAIN, options)).rejects.toThrow(/there is no database/);
});
