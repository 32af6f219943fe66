// The whole daemon over a real EVM node: what is paid in time is never late, and no fork confirms or ends anything twice.
import { afterEach, describe, expect, it } from 'vitest';
import { verifyChains } from '../../daemon/verify/chain.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { networks } from '../../src/chains/evm/networks.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { create, credit, invoiceRow } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type EvmFront, omitting } from './evm-front.ts';
import { freshAddress } from './evm-observer.ts';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const PAUSE_SECONDS = 6;
const CREDIT_MICROS = 1_000_000_000_000n;
const FIVE_USD_MICROS = 5_000_000n;
/** What a default invoice waits for. */
const CONFIRMATIONS = 15;
/** After its end, an invoice that no one paid has ended by then: blocks are read twice, a minute apart. */
const ENDED_AFTER_SECONDS = 100;

describe.runIf(hasAnvil).each(databases)('a payment on Base, on %s', (database) => {
  let test: TestApp;
  let chain: EvmChain;
  let front: EvmFront;
  let merchant: TestMerchant;
  afterEach(async () => {
    await test.stop();
    await chain.stop();
  });

  async function open(settings: Record<string, string> = {}): Promise<void> {
    const chain_id = networks.base.chain_ids.testnet;
    chain = await startAnvil({ chain_id, block_seconds: 2, tokens: [{ address: USDC }], history: 100 });
    front = createFront(chain.ask);
    const source = sourceOf(front.rpc);
    test = await startApp({
      database,
      settings: { 'gateways.base-usdc.enabled': 'true', ...settings },
      source: (id) => (id === 'base' ? source : undefined),
    });
    test.clock.set(chain.now());
    merchant = await test.merchant();
    await credit(test, merchant.id, CREDIT_MICROS);
    await setWallet(test.app, merchant.id, 'base', freshAddress());
  }

  /** The daemon reads and lets the clock evaluate, as it does on its own. */
  async function read(): Promise<void> {
    test.clock.set(chain.now());
    await test.app.observer.poll('base');
    await test.app.observer.tick();
  }
  async function pass(seconds = PAUSE_SECONDS): Promise<void> {
    await chain.grow(Math.ceil(seconds / 2), seconds);
    await read();
  }
  async function passUntil(time: number, seconds = 60): Promise<void> {
    while (chain.now() < time) await pass(Math.min(seconds, time - chain.now()));
  }

  const invoice = () => create(test, merchant, 'base-usdc');
  const statusOf = async ({ id }: InvoiceRow) => (await invoiceRow(test, id)).status;
  const pay = async ({ address_key, amount_atomic }: InvoiceRow, more = 0n) => {
    const txid = await chain.payToken(USDC, address_key, BigInt(amount_atomic) + more, chain.freshPayer());
    await chain.mine();
    return txid;
  };
  /** Events of an invoice that a webhook is sent for. */
  const events = async ({ id }: InvoiceRow) => {
    const rows = await test.app.db.query.selectFrom('events').selectAll().execute();
    return rows.flatMap(({ type, invoice_id }) => (invoice_id === id ? [type] : []));
  };
  const listed = async (txid: string) =>
    (await test.app.db.query.selectFrom('payments').select('status').where('txid', '=', txid).execute()).map(
      ({ status }) => status,
    );

  it('is confirmed at its depth and not before; less, more and late are listed, and pay nothing', async () => {
    await open();
    const [paid, under, over, late] = [await invoice(), await invoice(), await invoice(), await invoice()];
    await read();
    const txid = await pay(paid);
    const others = [await pay(under, -1n), await pay(over, 1n)];
    await read();
    expect(await statusOf(paid)).toBe('created');
    await chain.grow(CONFIRMATIONS - 4);
    await read();
    expect(await statusOf(paid)).toBe('created');
    await chain.grow(2);
    await read();
    expect(await statusOf(paid)).toBe('confirmed');
    expect(await listed(txid)).toEqual(['confirmed']);
    for (const other of others) expect(await listed(other)).toEqual(['unmatched']);
    await passUntil(late.expires_at + ENDED_AFTER_SECONDS);
    for (const each of [under, over, late]) expect(await statusOf(each)).toBe('expired');
    const after = await pay(late);
    await pass();
    expect(await listed(after)).toEqual(['late']);
    expect(await statusOf(late)).toBe('expired');
    expect((await events(paid)).filter((type) => type === 'invoice.confirmed')).toHaveLength(1);
  });

  it('on its way to the operator pays no refill that someone asks for when he sees it in the pool', async () => {
    verifies('amount-drawn', 'amount-before');
    await open();
    const { token } = await test.superuser();
    const wallet = freshAddress();
    await test.fetch('PUT', '/api/v1/admin/refill-wallets', {
      token,
      body: { chain: 'base', address: wallet },
    });
    const thief = await test.merchant();
    await credit(test, thief.id, FIVE_USD_MICROS);
    const limit = async () =>
      (await test.fetch('GET', '/api/v1/merchant/account', { token: thief.token })).json.limit_of_payments;
    const before = await limit();
    await read();
    // Sent, and in no block yet.
    const txid = await chain.payToken(USDC, wallet, 77_123_400n, chain.freshPayer());
    const body = { chain: 'base-usdc', amount: '77.1234', amount_unit: 'native' };
    const asked = await test.fetch('POST', '/api/v1/merchant/refill', { token: thief.token, body });
    expect(asked.status).toBe(200);
    await chain.mine();
    for (let minute = 0; minute < 3; minute++) await pass(61);
    expect(await limit()).toBe(before);
    expect(await listed(txid)).toEqual(['unmatched']);
    const refill = await invoiceRow(test, asked.json.id);
    expect(refill.status).toBe('created');
    // Never less than was asked for, and at most a hundredth more; what it counts for stays.
    expect(BigInt(refill.amount_atomic)).toBeGreaterThan(77_123_400n);
    expect(BigInt(refill.amount_atomic)).toBeLessThanOrEqual(77_894_600n);
    expect(asked.json.amount_usd).toBe('77.1234');
    await pay(refill);
    for (let minute = 0; minute < 2; minute++) await pass(61);
    expect(await statusOf(refill)).toBe('confirmed');
    expect(await limit()).toBe('8212.34');
  });

  it('in the coin has its own position in what operators see, as figures', async () => {
    await open({ 'gateways.base.enabled': 'true' });
    await invoice();
    await read();
    await pass();
    const { token } = await test.superuser();
    const { json } = await test.fetch('GET', '/api/v1/admin/observers', { token });
    const of = (id: string) =>
      json.observers.find(({ blockchain }: { blockchain: string }) => blockchain === id);
    const { positions, cursor_height } = of('base');
    expect(positions).toEqual([{ chain: 'base', height: cursor_height, behind_seconds: 0 }]);
    expect(of('ton').positions).toEqual([]);
  });

  it('goes to a wallet that runs code only with a warning to who sets it', async () => {
    verifies('wallet-warned');
    await open();
    const { token } = await test.superuser();
    const set = async (address: string) =>
      (
        await test.fetch('PUT', '/api/v1/merchant/wallets', {
          token: merchant.token,
          body: { blockchain: 'base', address },
        })
      ).json;
    const setRefill = async (address: string) =>
      (await test.fetch('PUT', '/api/v1/admin/refill-wallets', { token, body: { chain: 'base', address } }))
        .json;
    const [plain, forwarder, delegated, delegate] = [
      freshAddress(),
      freshAddress(),
      freshAddress(),
      freshAddress(),
    ];
    await chain.ask('anvil_setCode', forwarder, `0x60006000600060003473${delegate.slice(2)}5af100`);
    await chain.ask('anvil_setCode', delegated, `0xef0100${delegate.slice(2)}`);
    for (const setting of [set, setRefill]) {
      expect((await setting(plain)).warning).toBeNull();
      expect((await setting(forwarder)).warning).toMatch(/On Base this address is a contract/);
      const warned = (await setting(delegated)).warning;
      expect(warned.toLowerCase()).toContain(`runs the code of ${delegate}`);
      expect(warned).toMatch(/searched for in whole blocks/);
    }
    expect(test.log.filter((line) => line.includes('"warning":"On Base'))).toHaveLength(4);
    front.add(async () => {
      throw new ProviderError('unreachable', 'evm is away');
    });
    expect(await set(forwarder)).toMatchObject({ warning: null, also: [] });
  });

  it('that its provider leaves out at first is found before its invoice could end', async () => {
    verifies('end-proved', 'expire-not-while-blind');
    await open();
    const [paid, unpaid] = [await invoice(), await invoice()];
    await passUntil(paid.expires_at - 10);
    const heal = front.add(omitting(() => true));
    await pay(paid);
    await pass();
    heal();
    while (chain.now() < paid.expires_at + ENDED_AFTER_SECONDS) {
      await pass();
      expect(await statusOf(paid)).toBeOneOf(['created', 'confirmed']);
    }
    expect([await statusOf(paid), await statusOf(unpaid)]).toEqual(['confirmed', 'expired']);
    expect(await events(paid)).not.toContain('invoice.expired');
  });

  it('is found again by who reads the chain from its beginning, and one that the books lack is named', async () => {
    verifies('verify-chain');
    await open();
    const [paid, missing] = [await invoice(), await invoice()];
    await read();
    const txid = await pay(paid);
    await chain.grow(CONFIRMATIONS);
    await read();
    for (let minute = 0; minute < 3; minute++) await pass(61);
    const check = async () => {
      const books = await openSnapshot(test.app.config.database_url);
      try {
        const { config, clock } = test.app;
        const balances = await verifyChains(books, {
          config,
          clock: { ms: clock.ms, monotonic_ms: () => performance.now() },
          source: (id) => (id === 'base' ? sourceOf(front.rpc) : undefined),
          since: null,
          sleep: async () => {
            await chain.mine(1, 10);
            test.clock.set(chain.now());
          },
          patience_ms: 20_000,
        });
        return balances.find(({ address_key }) => address_key === paid.address_key);
      } finally {
        await books.close();
      }
    };
    const amount = BigInt(paid.amount_atomic);
    expect(await check()).toMatchObject({ ok: true, unread: null, matched: amount, on_chain: amount });
    // What this daemon was never shown stands on the chain all the same.
    front.add(omitting(() => true));
    const unseen = await pay(missing);
    for (let minute = 0; minute < 3; minute++) await pass(61);
    front = createFront(chain.ask);
    const found = await check();
    expect(found?.faults).toMatchObject([{ fault: 'missing in the books', txid: unseen }]);
    expect(await listed(txid)).toEqual(['confirmed']);
  });

  it('that a fork puts elsewhere is confirmed once, and one that it drops is not', async () => {
    await open();
    const [stays, goes] = [await invoice(), await invoice()];
    await read();
    const txid = await pay(stays);
    const lost = await pay(goes);
    await pass();
    await chain.reorg(5, [[txid, 3]]);
    await read();
    expect([await statusOf(stays), await statusOf(goes)]).toEqual(['created', 'created']);
    await chain.grow(CONFIRMATIONS + 3);
    await read();
    expect([await statusOf(stays), await statusOf(goes)]).toEqual(['confirmed', 'created']);
    // What left the chain may still come back: its invoice waits for that, and is paid by it.
    await chain.reorg(3);
    await chain.grow(3);
    await read();
    expect([await statusOf(stays), await statusOf(goes)]).toEqual(['confirmed', 'created']);
    expect((await events(stays)).filter((type) => type === 'invoice.confirmed')).toHaveLength(1);
    const rows = await test.app.db.query.selectFrom('transfers').select(['txid', 'height']).execute();
    expect(rows.find((row) => row.txid === lost)?.height).toBeNull();
  });

  it('that leaves the chain after it was confirmed is reported to the operator, and takes nothing back', async () => {
    await open();
    const paid = await invoice();
    await read();
    const from = chain.freshPayer();
    await chain.payToken(USDC, paid.address_key, BigInt(paid.amount_atomic), from);
    await chain.mine();
    await chain.grow(CONFIRMATIONS);
    await read();
    expect(await statusOf(paid)).toBe('confirmed');
    const depth = CONFIRMATIONS + 1;
    await chain.reorg(depth, [[{ from, to: freshAddress(), value: 1n, nonce: 0 }, 0]]);
    const left = () =>
      test.app.db.query
        .selectFrom('contradictions')
        .select(['invoice_id', 'closed_by'])
        .where('kind', '=', 'booked_left')
        .execute();
    await read();
    await pass();
    // Nothing is proved yet.
    expect(await left()).toEqual([{ invoice_id: paid.id, closed_by: null }]);
    await pass(90);
    await pass(90);
    expect(await statusOf(paid)).toBe('confirmed');
    const found = await test.app.db.query
      .selectFrom('contradictions')
      .select(['kind', 'txid'])
      .orderBy('kind')
      .execute();
    expect(found).toMatchObject([{ kind: 'booked_gone' }, { kind: 'booked_left' }, { kind: 'final_left' }]);
    expect(await left()).toEqual([{ invoice_id: paid.id, closed_by: 'observer' }]);
    expect((await events(paid)).filter((type) => type === 'invoice.confirmed')).toHaveLength(1);
  });
});
