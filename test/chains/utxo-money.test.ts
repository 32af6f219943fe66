// Payers, thieves and outages on a real node, through the whole daemon: what was paid in time is never late, what is older never pays.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseDecimal } from '../../src/money.ts';
import { verifies } from '../requirements.ts';
import { copyBlocks, hasLitecoind, type Litecoind, startLitecoind } from './utxo-chain.ts';
import { freshScript } from './utxo-observer.ts';
import { type Invoice, openUtxoShop, type ShopOptions, type UtxoShop } from './utxo-shop.ts';

const COIN = 100_000_000n;
/** What confirms a payment. */
const DEEP = 3;

describe.skipIf(!hasLitecoind).each(['core', 'esplora'] as const)('through %s', (provider) => {
  let node: Litecoind;
  let other: Litecoind;

  beforeAll(async () => {
    [node, other] = await Promise.all([startLitecoind(), startLitecoind({ blocks: 0, txindex: false })]);
  });
  afterAll(async () => {
    await Promise.all([node?.stop(), other?.stop()]);
  });

  async function open(options: Partial<ShopOptions> = {}): Promise<UtxoShop> {
    const shop = await openUtxoShop({ provider, node, ...options });
    onTestFinished(async () => {
      shop.front.node = node;
      shop.front.choose = undefined;
      // What a test leaves unconfirmed would meet the next one.
      await node.mine(1);
      await shop.stop();
    });
    return shop;
  }

  /** The other host knows all blocks of this one, and hears of nothing more. */
  async function follow(shop: UtxoShop): Promise<void> {
    await node.mine(1);
    await other.rpc('setmocktime', shop.now());
    await copyBlocks(node, other, await node.height());
  }

  async function settle(shop: UtxoShop): Promise<void> {
    await node.mine(DEEP);
    await shop.pass(20);
    await shop.read();
    await shop.read();
  }

  describe('a refill is not paid by what is older than it', () => {
    test('that waits in the mempool when it is made', async () => {
      const shop = await open();
      const limit = await shop.limit();
      const { txid } = await node.send([{ script: shop.refill_script, amount: 12_345_678n }]);
      await shop.pass(10);
      expect((await shop.refill('0.12345678')).status).toBe(200);
      await settle(shop);
      expect(await shop.limit()).toBe(limit);
      expect(await shop.listed('unmatched')).toEqual([txid]);
    });

    test('that waits in the mempool of a provider that is read for others', async () => {
      const shop = await open();
      const limit = await shop.limit();
      await shop.invoice();
      await shop.read();
      const { txid } = await node.send([{ script: shop.refill_script, amount: 22_345_678n }]);
      for (let read = 0; read < 3; read++) {
        await shop.pass(20);
        await shop.read();
      }
      expect((await shop.refill('0.22345678')).status).toBe(200);
      await settle(shop);
      expect(await shop.limit()).toBe(limit);
      expect(await shop.listed('unmatched')).toEqual([txid]);
    });

    test('and was mined before anything was listed', async () => {
      const shop = await open();
      const limit = await shop.limit();
      await node.send([{ script: shop.refill_script, amount: 32_345_678n }]);
      await node.mine(1);
      await shop.pass(30);
      expect((await shop.refill('0.32345678')).status).toBe(200);
      await settle(shop);
      expect(await shop.limit()).toBe(limit);
    });

    test('and was mined before its wallet was watched, and again after a fork', async () => {
      const shop = await open();
      const limit = await shop.limit();
      await shop.invoice();
      await shop.read();
      const { txid } = await node.send([{ script: shop.refill_script, amount: 62_345_678n }]);
      await node.mine(1);
      await shop.pass(20);
      await shop.read();
      expect((await shop.refill('0.62345678')).status).toBe(200);
      await node.reorg(1, 'mined again');
      await settle(shop);
      expect(await shop.limit()).toBe(limit);
      expect(await shop.listed('unmatched')).toEqual([txid]);
    });

    test('during an outage, when none is made', async () => {
      const shop = await open();
      const limit = await shop.limit();
      shop.front.fail('unavailable', /./, 1000);
      const { txid } = await node.send([{ script: shop.refill_script, amount: 42_345_678n }]);
      const refused = await shop.refill('0.42345678');
      expect([refused.status, refused.json.code]).toEqual([503, 'provider_unavailable']);
      shop.front.heal();
      await shop.pass(60);
      expect((await shop.refill('0.42345678')).status).toBe(200);
      await settle(shop);
      expect(await shop.limit()).toBe(limit);
      expect(await shop.listed('unmatched')).toEqual([txid]);
    });

    test('behind sixty others that a list does not show', async () => {
      const shop = await open();
      const limit = await shop.limit();
      const script = shop.refill_script;
      const { txid } = await node.send([{ script, amount: 52_345_678n }]);
      const many = Array.from({ length: 60 }, () => ({
        script: freshScript('litecoin'),
        amount: COIN / 10n,
      }));
      const { scriptPubKey } = await node.rpc<{ scriptPubKey: string }>(
        'getaddressinfo',
        await node.rpc('getnewaddress', '', 'bech32'),
      );
      const funds = await node.send(many.map(({ amount }) => ({ script: scriptPubKey, amount })));
      await node.mineOnly([funds.hex]);
      for (let vout = 0; vout < 60; vout++)
        await node.send([{ script, amount: 100_000n + BigInt(vout) }], {
          txid: funds.txid,
          vout,
          amount: COIN / 10n,
        });
      let made = await shop.refill('0.52345678');
      for (let attempt = 0; attempt < 10 && made.status === 503; attempt++) {
        await shop.pass(60);
        made = await shop.refill('0.52345678');
      }
      expect(made.status).toBe(200);
      await settle(shop);
      expect(await shop.limit()).toBe(limit);
      expect(await shop.listed('unmatched')).toContain(txid);
    });

    test('while what comes after it raises the limit', async () => {
      const shop = await open();
      const limit = Number(await shop.limit());
      const { json } = await shop.refill('0.1');
      await shop.pass(5);
      await node.send([{ script: shop.refill_script, amount: parseDecimal(json.amount, 8) as bigint }]);
      await settle(shop);
      expect(await shop.status(json)).toBe('confirmed');
      // At 100 USD a coin.
      expect(Number(await shop.limit())).toBe(limit + 1000);
    });

    test('but in demo mode refills are made without a provider', async () => {
      const shop = await open({ demo: true });
      shop.front.fail('unavailable', /./, 1000);
      expect((await shop.refill('0.1')).status).toBe(200);
    });
  });

  describe('paid in time is confirmed', () => {
    /** Seconds until the end of an invoice. */
    const until = (shop: UtxoShop, { expires_at }: { expires_at: number }) => expires_at - shop.now();

    test('though the fee is raised after the end, twice, across a restart', async () => {
      verifies('time-replacement');
      const shop = await open();
      const invoice = await shop.invoice();
      await shop.read();
      await shop.pass(until(shop, invoice) - 60);
      const { script, amount } = invoice;
      const first = await node.send([{ script, amount }]);
      await shop.read();
      await shop.pass(300);
      await shop.read();
      const second = await node.replace(first, [{ script, amount }]);
      await shop.read();
      await shop.restart();
      await shop.pass(300);
      await shop.read();
      const third = await node.replace(second, [{ script, amount }]);
      await shop.read();
      expect(await shop.listed('late')).toEqual([]);
      await settle(shop);
      expect(await shop.status(invoice)).toBe('confirmed');
      expect(await shop.listed('late')).toEqual([]);
      expect(third.txid).not.toBe(first.txid);
    });

    test('though the raised fee is first seen in its block, after a restart', async () => {
      const shop = await open();
      const invoice = await shop.invoice();
      await shop.read();
      await shop.pass(until(shop, invoice) - 60);
      const { script, amount } = invoice;
      const first = await node.send([{ script, amount }]);
      await shop.read();
      await shop.pass(300);
      await shop.read();
      await node.replace(first, [{ script, amount }]);
      await shop.restart();
      await settle(shop);
      expect(await shop.status(invoice)).toBe('confirmed');
      expect(await shop.listed('late')).toEqual([]);
    });

    test('though the provider was away, and a block after the end shows it first', async () => {
      const shop = await open();
      const invoice = await shop.invoice();
      await shop.read();
      await shop.pass(until(shop, invoice) - 120);
      await shop.read();
      shop.front.fail('unavailable', /./, 1000);
      await shop.pass(60);
      await node.send([{ script: invoice.script, amount: invoice.amount }]);
      for (let at = 0; at < 5; at++) {
        expect(await shop.read()).toBe(false);
        await shop.pass(120);
      }
      await node.mine(1);
      shop.front.heal();
      await settle(shop);
      expect(await shop.status(invoice)).toBe('confirmed');
      expect(await shop.listed('late')).toEqual([]);
    });

    test('though the daemon was down, and a block after the end shows it first', async () => {
      const shop = await open();
      const invoice = await shop.invoice();
      await shop.read();
      await shop.pass(until(shop, invoice) - 60);
      await shop.read();
      await node.send([{ script: invoice.script, amount: invoice.amount }]);
      await shop.pass(400);
      await node.mine(1);
      await shop.restart();
      await shop.read();
      await settle(shop);
      expect(await shop.status(invoice)).toBe('confirmed');
      expect(await shop.listed('late')).toEqual([]);
    });

    test('though no provider showed it for hours', async () => {
      verifies('gone-needs-proof');
      const shop = await open();
      const invoice = await shop.invoice();
      await follow(shop);
      await shop.read();
      await shop.pass(600);
      await node.send([{ script: invoice.script, amount: invoice.amount }]);
      await shop.read();
      expect(await shop.paymentOf(invoice)).toBe('detected');
      shop.front.node = other;
      for (const seconds of [10, 61, 600, 3600, 3600, 3600]) {
        await shop.pass(seconds);
        expect(await shop.read()).toBe(true);
      }
      expect([await shop.status(invoice), await shop.paymentOf(invoice)]).toEqual(['created', 'detected']);
      shop.front.node = node;
      await shop.pass(0);
      await settle(shop);
      expect(await shop.status(invoice)).toBe('confirmed');
    });

    test.runIf(provider === 'esplora')(
      'though one of the hosts behind the name lags, in the mempool and in blocks',
      async () => {
        const shop = await open();
        const invoice = await shop.invoice();
        await follow(shop);
        await shop.read();
        await shop.pass(until(shop, invoice) - 10);
        await node.send([{ script: invoice.script, amount: invoice.amount }]);
        // Every second list comes from a host that has not heard of the payment.
        let lists = 0;
        shop.front.choose = (path) => (path.endsWith('/mempool') && lists++ % 2 === 0 ? other : node);
        for (let at = 0; at < 12; at++) {
          await shop.pass(15);
          await shop.read();
        }
        expect([await shop.status(invoice), await shop.paymentOf(invoice)]).toEqual(['created', 'detected']);
        // Then every fourth answer or so, whatever is asked, comes from one that has not heard of its block.
        let random = 1;
        shop.front.choose = () => {
          random = (random * 48_271) % 2_147_483_647;
          return random % 4 === 0 ? other : node;
        };
        await node.mine(DEEP);
        for (let at = 0; at < 20; at++) {
          await shop.pass(15);
          await shop.read();
        }
        expect(await shop.status(invoice)).toBe('confirmed');
        expect(await shop.listed('late')).toEqual([]);
      },
    );

    test.runIf(provider === 'core')(
      'though a host that lags lists it, and one that has it in a block has nothing to read it by',
      async () => {
        const shop = await open();
        const invoice = await shop.invoice();
        await follow(shop);
        await shop.read();
        await shop.pass(until(shop, invoice) - 10);
        const { hex } = await node.send([{ script: invoice.script, amount: invoice.amount }]);
        const height = await node.height();
        await other.mineOnly([hex]);
        await shop.pass(200);
        await shop.restart();
        // The lists of both in turn; blocks come from the one that lags, transactions from the other one.
        let lists = 0;
        shop.front.choose = (request) => {
          if (request.includes('getrawmempool')) return lists++ % 2 === 0 ? node : other;
          return request.includes('getrawtransaction') ? other : node;
        };
        for (let at = 0; at < 6; at++) {
          await shop.pass(15);
          await other.rpc('setmocktime', shop.now());
          expect(await shop.read()).toBe(true);
        }
        expect([lists, await node.height(), await shop.status(invoice)]).toEqual([6, height, 'created']);
        shop.front.choose = undefined;
        await copyBlocks(other, node, height + 1);
        await settle(shop);
        expect(await shop.status(invoice)).toBe('confirmed');
        expect(await shop.listed('late')).toEqual([]);
      },
    );
  });

  describe('of forty invoices at forty addresses', () => {
    test('the one paid at the last moment is confirmed, the others end soon, and none unread', async () => {
      verifies('end-proved');
      const shop = await open();
      const invoices: Invoice[] = [];
      for (let at = 0; at < 40; at++) invoices.push(await shop.invoice(await shop.open()));
      for (let read = 0; read < 6; read++) {
        await shop.read();
        await shop.pass(20);
      }
      const paid = invoices[33] as Invoice;
      const last = Math.max(...invoices.map(({ expires_at }) => expires_at));
      await shop.pass(paid.expires_at - shop.now() - 5);
      await shop.read();
      await node.send([{ script: paid.script, amount: paid.amount }]);
      // No one listed it before the block after the end.
      await shop.pass(last + 10 - shop.now());
      await node.mine(1);
      await shop.read();
      await shop.pass(21);
      let reads = 0;
      const open40 = async () => {
        const statuses = await Promise.all(invoices.map(shop.status));
        return statuses.filter((status) => status === 'created').length;
      };
      while ((await open40()) > 1 && reads < 30) {
        await shop.read();
        await shop.pass(20);
        reads++;
      }
      expect(reads).toBeLessThanOrEqual(provider === 'core' ? 2 : 10);
      await settle(shop);
      expect(await shop.status(paid)).toBe('confirmed');
      expect(await shop.listed('late')).toEqual([]);
      expect(await open40()).toBe(0);
    });
  });

  test('what was sold by a clock that was ahead is paid, though the clock is right after the next start', async () => {
    verifies('clock-alert');
    const shop = await open();
    await shop.restart(async () => shop.step(1200));
    const invoice = await shop.invoice();
    await shop.restart(async () => shop.step(-1200));
    await node.send([{ script: invoice.script, amount: invoice.amount }]);
    await shop.read();
    expect(await shop.paymentOf(invoice)).toBe('detected');
    await settle(shop);
    expect(await shop.status(invoice)).toBe('confirmed');
  });

  test('what a clock that is ahead has sold is paid by what is first seen in a block, by the first reading of a process', async () => {
    verifies('clock-alert');
    const shop = await open();
    await shop.restart(async () => shop.step(1500));
    const invoice = await shop.invoice();
    await shop.restart(async () => {
      await node.send([{ script: invoice.script, amount: invoice.amount }]);
      await node.mine(1);
    });
    await shop.read();
    expect(await shop.paymentOf(invoice)).toBe('confirming');
    await settle(shop);
    expect(await shop.status(invoice)).toBe('confirmed');
  });

  test('a conflict that only a host shows which fails then takes no payment away', async () => {
    const shop = await open();
    const invoice = await shop.invoice();
    await follow(shop);
    await shop.read();
    await shop.pass(600);
    const sent = await node.send([{ script: invoice.script, amount: invoice.amount }]);
    await other.rpc('sendrawtransaction', sent.hex);
    await shop.read();
    const conflict = await node.replace(sent, [{ script: freshScript('litecoin'), amount: COIN }]);
    // Its list is read, and nothing after it.
    shop.front.choose = (request) => {
      if (/getblockchaininfo|tip/.test(request)) throw new Error('away');
      return node;
    };
    await shop.pass(20);
    await shop.read().catch(() => undefined);
    shop.front.choose = undefined;
    shop.front.node = other;
    await shop.pass(20);
    await shop.read();
    expect(await shop.paymentOf(invoice), conflict.txid).toBe('detected');
    shop.front.node = node;
  });

  test('what was booked in a block that left the chain is gone where the other branch spends its money elsewhere', async () => {
    const shop = await open();
    const invoice = await shop.invoice();
    await shop.read();
    const sent = await node.send([{ script: invoice.script, amount: invoice.amount }]);
    await settle(shop);
    expect(await shop.status(invoice)).toBe('confirmed');
    await shop.restart();
    await node.rpc('invalidateblock', await node.rpc('getblockhash', (await node.height()) - DEEP + 1));
    await node.replace(sent, [{ script: freshScript('litecoin'), amount: COIN }]);
    await node.mine(DEEP + 1);
    await shop.pass(20);
    await shop.read();
    await shop.read();
    const { token } = await shop.test.superuser();
    const detail = await shop.test.fetch('GET', `/api/v1/admin/payments/${invoice.id}`, { token });
    expect(detail.json.transfers.map(({ state }: { state: string }) => state)).toEqual(['gone']);
  });

  test('a fee bump that no list shows yet, when it is found to spend the same, is the payment, past the end too', async () => {
    const shop = await open();
    const invoice = await shop.invoice();
    await follow(shop);
    await shop.read();
    const sent = await node.send([{ script: invoice.script, amount: invoice.amount }]);
    await shop.read();
    await shop.pass(invoice.expires_at - shop.now() + 60);
    await shop.read();
    const bumped = await node.replace(sent, [{ script: invoice.script, amount: invoice.amount }]);
    // The host that lists has heard of neither; another says what spends the money.
    shop.front.choose = (request) => (/getrawmempool|\/txs/.test(request) ? other : node);
    await shop.pass(20);
    await shop.read();
    expect([await shop.status(invoice), await shop.paymentOf(invoice)]).toEqual(['created', 'detected']);
    shop.front.choose = undefined;
    await settle(shop);
    expect(await shop.status(invoice)).toBe('confirmed');
    expect(await shop.listed('late')).not.toContain(bumped.txid);
  });

  test('a conflict that vanishes again gives the first payment back', async () => {
    const shop = await open();
    const invoice = await shop.invoice();
    await follow(shop);
    await shop.read();
    await shop.pass(600);
    const sent = await node.send([{ script: invoice.script, amount: invoice.amount }]);
    await other.rpc('sendrawtransaction', sent.hex);
    await shop.read();
    const elsewhere = freshScript('litecoin');
    const conflict = await node.replace(sent, [{ script: elsewhere, amount: COIN }]);
    await shop.pass(20);
    await shop.read();
    expect(await shop.paymentOf(invoice)).toBe('orphaned');
    const { token } = await shop.test.superuser();
    const detail = await shop.test.fetch('GET', `/api/v1/admin/payments/${invoice.id}`, { token });
    expect(JSON.stringify(detail.json)).toContain(`transaction ${conflict.txid} spends the same`);
    // Another host still has the first one, and it is the one that is mined.
    shop.front.node = other;
    await shop.pass(20);
    await shop.read();
    expect(await shop.paymentOf(invoice)).toBe('detected');
    await other.mineOnly([sent.hex]);
    await other.mineOnly([]);
    await other.mineOnly([]);
    await shop.pass(20);
    await shop.read();
    expect(await shop.status(invoice)).toBe('confirmed');
    // Both hosts end on one chain again.
    await other.rpc('invalidateblock', await other.rpc('getblockhash', (await other.height()) - DEEP + 1));
  });
});
