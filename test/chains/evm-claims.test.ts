// What a payer claims, and an operator names, against two real EVM nodes whose chains have parted: only what was read confirms.
import { afterEach, describe, expect, it } from 'vitest';
import type { RpcSource } from '../../daemon/observer/providers/rpc.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { networks } from '../../src/chains/evm/networks.ts';
import type { Rpc } from '../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { create, credit, invoiceRow } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type EvmFront, omitting } from './evm-front.ts';
import { freshAddress } from './evm-observer.ts';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const DEEP = 40;
const FREE = {
  'limits.claim_per_address': '0',
  'limits.claim_per_invoice': '0',
  'limits.claim_per_blockchain': '0',
};

describe.runIf(hasAnvil).each(databases)('a claim on Base, on %s', (database) => {
  let test: TestApp;
  let chain: EvmChain;
  let branch: EvmChain;
  let front: EvmFront;
  let merchant: TestMerchant;
  afterEach(async () => {
    await test.stop();
    await Promise.all([chain.stop(), branch.stop()]);
  });

  /** Two nodes with one past; readings are answered by the first one, and look-ups by whichever `lookedUpAt` says. */
  let lookedUpAt: () => Rpc;
  async function open(): Promise<void> {
    const chain_id = networks.base.chain_ids.testnet;
    const options = { chain_id, block_seconds: 2, tokens: [{ address: USDC }], history: 100 };
    [chain, branch] = await Promise.all([startAnvil(options), startAnvil(options)]);
    front = createFront(chain.ask);
    const bad = createFront(branch.ask);
    lookedUpAt = () => bad.rpc;
    // A transaction is looked up by its receipt first: every question of that use goes to the host that was asked then.
    const routed = (): Rpc => {
      let host: Rpc | undefined;
      const of = (method: string | undefined): Rpc =>
        (host ??= method === 'eth_getTransactionReceipt' ? lookedUpAt() : front.rpc);
      return {
        ...front.rpc,
        call: (method, params) => of(method).call(method, params),
        batch: (calls) => of(calls[0]?.method).batch(calls),
      };
    };
    const source: RpcSource = {
      use: (work) => work(routed(), 'provider'),
      askOther: (_, work) => work(front.rpc, 'another provider'),
      retryAt: () => 0,
      status: () => [],
      close: async () => {},
    };
    test = await startApp({
      database,
      settings: { ...FREE, 'gateways.base-usdc.enabled': 'true' },
      source: (id) => (id === 'base' ? source : undefined),
    });
    test.clock.set(chain.now());
    merchant = await test.merchant();
    await credit(test, merchant.id, 1_000_000_000_000n);
    await setWallet(test.app, merchant.id, 'base', freshAddress());
  }

  async function read(): Promise<void> {
    test.clock.set(chain.now());
    await test.app.observer.poll('base');
    await test.app.observer.tick();
  }
  async function pass(seconds: number): Promise<void> {
    await Promise.all([chain, branch].map((each) => each.grow(Math.ceil(seconds / 2), seconds)));
    await read();
  }
  const invoice = () => create(test, merchant, 'base-usdc');
  const payOn = async (node: EvmChain, { address_key, amount_atomic }: InvoiceRow) => {
    const payer = node.freshPayer();
    const txid = await node.payToken(USDC, address_key, BigInt(amount_atomic), payer);
    await node.mine();
    return { txid, payer };
  };
  const claim = async ({ id }: InvoiceRow, txid: string) =>
    (await test.fetch('POST', `/v1/invoices/${id}/claim`, { body: { txid } })).json;
  const statusOf = async ({ id }: InvoiceRow) => (await invoiceRow(test, id)).status;
  const transfers = (txid: string) =>
    test.app.db.query.selectFrom('transfers').selectAll().where('txid', '=', txid).execute();
  const income = () => test.app.db.query.selectFrom('income').select('invoice_id').execute();
  const events = async ({ id }: InvoiceRow) => {
    const rows = await test.app.db.query.selectFrom('events').select(['type', 'invoice_id']).execute();
    return rows.flatMap(({ type, invoice_id }) => (invoice_id === id ? [type] : []));
  };

  it('confirms nothing from a block that was never read, and is gone when the true chain has another', async () => {
    verifies('claim-reads');
    await open();
    const paid = await invoice();
    await read();
    expect(await chain.ask('eth_getBlockByNumber', '0x5', false)).toMatchObject({
      hash: (await branch.ask<{ hash: string }>('eth_getBlockByNumber', '0x5', false)).hash,
    });
    const { txid, payer } = await payOn(branch, paid);
    // The chain that is read has other blocks at that height, and is as deep.
    await chain.payCoin(freshAddress(), 1n);
    await chain.mine();
    await pass(2 * DEEP);
    const answer = await claim(paid, txid);
    expect(answer).toMatchObject({ found: 'confirming', confirmations: 0, txid });
    for (let minute = 0; minute < 3; minute++) {
      await pass(60);
      expect(await claim(paid, txid)).toMatchObject({ confirmations: 0 });
      expect(await statusOf(paid)).toBe('created');
    }
    expect(await transfers(txid)).toMatchObject([
      { state: 'pending', height: null, block_hash: null, unread: 1 },
    ]);
    expect(await income()).toEqual([]);
    expect(await events(paid)).not.toContain('invoice.confirmed');
    // On the true chain its sender has used its number for something else.
    await chain.send({ from: payer, to: freshAddress(), value: 1n });
    await chain.mine();
    for (let minute = 0; minute < 4; minute++) await pass(60);
    expect(await transfers(txid)).toMatchObject([{ state: 'gone', booked_invoice_id: null }]);
    expect(await statusOf(paid)).toBe('created');
    await pass(paid.expires_at - chain.now() + 200);
    await pass(200);
    expect(await statusOf(paid)).toBe('expired');
    expect(await income()).toEqual([]);
  });

  it('confirms what was passed by, at once where the block is held and where it is long ago', async () => {
    verifies('claim-reads');
    await open();
    const [soon, later] = [await invoice(), await invoice()];
    await read();
    // An index that never lists it: receipts and blocks are there.
    front.add(omitting(() => true));
    lookedUpAt = () => front.rpc;
    const first = await payOn(chain, soon);
    const second = await payOn(chain, later);
    await pass(2 * DEEP);
    expect(await statusOf(soon)).toBe('created');
    expect(await claim(soon, first.txid)).toMatchObject({ found: 'confirmed' });
    expect(await statusOf(soon)).toBe('confirmed');
    // So many blocks later its hash is held no more.
    await pass(400);
    expect(await claim(later, second.txid)).toMatchObject({ found: 'confirmed' });
    expect(await transfers(second.txid)).toMatchObject([{ state: 'final', unread: null }]);
    expect(await income()).toHaveLength(2);
  });

  it('is booked by an operator by his own word, which the chain is held against', async () => {
    verifies('resolve-looks-up');
    await open();
    const paid = await invoice();
    await read();
    const { txid, payer } = await payOn(branch, paid);
    await chain.payCoin(freshAddress(), 1n);
    await chain.mine();
    await pass(2 * DEEP);
    const { token } = await test.superuser();
    const resolve = await test.fetch('POST', `/api/v1/admin/payments/${paid.id}/resolve`, {
      token,
      body: { action: 'confirm', txid },
    });
    expect(resolve.status).toBe(200);
    expect(await statusOf(paid)).toBe('confirmed');
    expect(await transfers(txid)).toMatchObject([
      { state: 'pending', unread: 1, booked_invoice_id: paid.id },
    ]);
    await chain.send({ from: payer, to: freshAddress(), value: 1n });
    await chain.mine();
    for (let minute = 0; minute < 4; minute++) await pass(60);
    expect(await transfers(txid)).toMatchObject([{ state: 'gone' }]);
    const noted = await test.app.db.query
      .selectFrom('contradictions')
      .select(['kind', 'invoice_id'])
      .execute();
    expect(noted).toContainEqual({ kind: 'booked_gone', invoice_id: paid.id });
  });
});
