// Money that comes on the wrong network, or in a token of the same name: listed with the reason, never matched, never dropped.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RpcSource } from '../../daemon/observer/providers/rpc.ts';
import { verifyChains } from '../../daemon/verify/chain.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import { lookAlikes, tokens } from '../../src/chains/evm/contracts.ts';
import { networks } from '../../src/chains/evm/networks.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { create, credit, invoiceRow } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront } from './evm-front.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const USDC = tokens.base.USDC.mainnet.toLowerCase();
const [BRIDGED, USDBC] = lookAlikes.base.map(({ contract }) => contract.toLowerCase()) as [string, string];

describe.runIf(hasAnvil)('a token of the same name on the main network', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    const all = [USDC, BRIDGED, USDBC].map((address) => ({ address }));
    chain = await startAnvil({ chain_id: 8453, block_seconds: 2, tokens: all, history: 5 });
  });
  afterAll(() => chain?.stop());

  const open = (contract = USDC) => {
    const gateway = gatewayOf(networks.base, { chain: 'base-usdc', token_contract: contract });
    const front = createFront(chain.ask);
    const options = { network: networks.base, gateways: [gateway], rpc: front.rpc, now: () => chain.now() };
    return createEvmObserver({ ...options, side: 'mainnet' });
  };

  it('is read as a payment of its own that says what it is', async () => {
    verifies('look-alikes');
    const observer = open();
    const to = observer.watch();
    await observer.read();
    await chain.payToken(USDC, to, 1n);
    await chain.payToken(USDBC, to, 2n);
    await chain.payToken(BRIDGED, to, 3n);
    await chain.mine();
    await observer.read();
    const [genuine, usdbc, bridged] = observer.to(to);
    expect(genuine).toMatchObject({ amount_atomic: 1n });
    expect(genuine?.ambiguous).toBeUndefined();
    expect(usdbc).toMatchObject({
      amount_atomic: 2n,
      ambiguous: expect.stringContaining('paid in USDbC (0xd9aA'),
    });
    expect(bridged?.ambiguous).toContain('paid in bridged USDT (0xfde4');
    expect(await observer.lookUp(usdbc?.txid ?? '', to)).toMatchObject([{ ambiguous: usdbc?.ambiguous }]);
  });

  it('is an ordinary token where the settings name it as the one to take', async () => {
    const observer = open(USDBC);
    const to = observer.watch();
    await observer.read();
    await chain.payToken(USDBC, to, 5n);
    await chain.payToken(USDC, to, 6n);
    await chain.mine();
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ amount_atomic: 5n }]);
    expect(observer.to(to)[0]?.ambiguous).toBeUndefined();
  });
});

const MICROS = 1_000_000_000_000n;
const BSC = tokens.bsc.USDC.testnet.toLowerCase();
const BASE = tokens.base.USDC.testnet.toLowerCase();

describe.runIf(hasAnvil).each(databases)('the daemon on %s', (database) => {
  let test: TestApp;
  let base: EvmChain;
  let bsc: EvmChain;
  let sources: Map<string, RpcSource>;
  const start = async () => {
    base = await startAnvil({ chain_id: 84_532, block_seconds: 2, tokens: [{ address: BASE }], history: 3 });
    bsc = await startAnvil({
      chain_id: 97,
      block_seconds: 2,
      tokens: [{ address: BSC, decimals: 18 }],
      history: 3,
    });
    sources = new Map([
      ['base', sourceOf(createFront(base.ask).rpc)],
      ['bsc', sourceOf(createFront(bsc.ask).rpc)],
    ]);
    test = await startApp({
      database,
      settings: { 'gateways.base-usdc.enabled': 'true', 'gateways.bsc-usdc.enabled': 'true' },
      source: (id) => sources.get(id),
    });
    test.clock.set(base.now());
    onTestFinished(async () => {
      await test.stop();
      await base.stop();
      await bsc.stop();
    });
  };
  /** Time passes on both chains, and what is new is read. */
  const pass = async (blocks = 1) => {
    await base.mine(blocks);
    await bsc.mine(blocks);
    test.clock.set(base.now());
    for (const id of ['base', 'bsc']) await test.app.observer.poll(id);
    await test.app.observer.tick();
  };
  /** What verify --chain says of an invoice's address, on all chains. */
  const verified = async ({ address_key }: { address_key: string }) => {
    const books = await openSnapshot(test.app.config.database_url);
    try {
      const { config, clock } = test.app;
      const balances = await verifyChains(books, {
        config,
        clock: { ms: clock.ms, monotonic_ms: () => performance.now() },
        source: (id) => sources.get(id),
        since: null,
        sleep: async () => {
          for (const chain of [base, bsc]) await chain.mine(1, 10);
          test.clock.set(base.now());
        },
        patience_ms: 5_000,
      });
      return balances
        .filter((each) => each.address_key === address_key)
        .sort((one, other) => (one.chain < other.chain ? -1 : 1));
    } finally {
      await books.close();
    }
  };
  const notes = async () =>
    test.app.db.query
      .selectFrom('payments')
      .innerJoin('payment_logs', 'payment_logs.payment_id', 'payments.id')
      .select([
        'payments.status',
        'payments.chain',
        'payments.owner_id',
        'payments.txid',
        'payment_logs.note',
      ])
      .where('payments.status', '=', 'unmatched')
      .execute();

  it('lists what is sent on another network of the family, for whom it was meant, and books nothing', async () => {
    verifies('wrong-network');
    await start();
    const merchant = await test.merchant();
    await credit(test, merchant.id, MICROS);
    await setWallet(test.app, merchant.id, 'base', freshAddress());
    const invoice = await create(test, merchant, 'base-usdc');
    await pass();
    // The same amount, where it is counted in units a trillion times smaller; and another amount.
    const amount = BigInt(invoice.amount_atomic);
    const wrong = await bsc.payToken(BSC, invoice.address_key, amount * 10n ** 12n);
    await bsc.payToken(BSC, invoice.address_key, amount * 10n ** 12n + 1n);
    await pass(20);
    expect((await invoiceRow(test, invoice.id)).status).toBe('created');
    const listed = await notes();
    expect(listed).toHaveLength(2);
    const both = amount * 10n ** 12n * 2n + 1n;
    const here = { ok: true, unread: null, faults: [], difference: 0n };
    expect(await verified(invoice)).toMatchObject([
      { ...here, chain: 'base-usdc', on_chain: 0n },
      { ...here, chain: 'bsc-usdc', on_chain: both, unmatched: both },
    ]);
    expect(listed).toContainEqual({
      status: 'unmatched',
      chain: 'bsc-usdc',
      owner_id: merchant.id,
      txid: wrong,
      note: `sent on bsc-usdc; invoice ${invoice.id} expects it on base-usdc`,
    });
    expect(listed).toContainEqual(
      expect.objectContaining({
        owner_id: merchant.id,
        note: 'no memo and no invoice of exactly this amount',
      }),
    );
    await base.payToken(BASE, invoice.address_key, amount);
    await pass(20);
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
  });

  it('says nothing of it to a stranger who set the address on that network and asked for something there', async () => {
    verifies('unmatched-notified', 'address-shared');
    await start();
    const address = freshAddress();
    const victim = await test.merchant();
    const stranger = await test.merchant();
    for (const [{ id }, blockchain] of [[victim, 'base'] as const, [stranger, 'bsc'] as const]) {
      await credit(test, id, MICROS);
      await setWallet(test.app, id, blockchain, address);
    }
    await create(test, stranger, 'bsc-usdc', { amount: '3' });
    const invoice = await create(test, victim, 'base-usdc');
    await pass();
    const wrong = await bsc.payToken(BSC, invoice.address_key, BigInt(invoice.amount_atomic) * 10n ** 12n);
    await pass(20);
    const note = `sent on bsc-usdc; invoice ${invoice.id} expects it on base-usdc`;
    expect(await notes()).toMatchObject([{ txid: wrong, owner_id: victim.id, note }]);
    const read = (path: string, token: string) => test.fetch('GET', path, { token });
    for (const path of ['/api/v1/merchant/events', '/api/v1/merchant/payments', '/v1/inbox'])
      expect((await read(path, stranger.token)).text, path).not.toContain(wrong);
    expect((await read('/v1/inbox', victim.token)).json.data).toMatchObject([{ kind: 'unmatched' }]);
    const { token } = await test.superuser();
    const admin = await read('/api/v1/admin/payments?status=unmatched', token);
    expect(admin.json.data).toMatchObject([{ txid: wrong, owner_id: victim.id }]);
    expect(admin.text).not.toContain(stranger.id);
  });

  it('is as the chain has it when it is verified, also where an operator books it', async () => {
    verifies('wrong-network', 'verify-chain');
    await start();
    const merchant = await test.merchant();
    await credit(test, merchant.id, MICROS);
    const address = freshAddress();
    await setWallet(test.app, merchant.id, 'base', address);
    const invoice = await create(test, merchant, 'base-usdc');
    await pass();
    const amount = BigInt(invoice.amount_atomic) * 10n ** 12n;
    const wrong = await bsc.payToken(BSC, invoice.address_key, amount);
    await pass(20);
    const operator = await test.superuser();
    const body = { action: 'confirm', txid: wrong, force: true, note: 'it came on the other network' };
    const path = `/api/v1/admin/payments/${invoice.id}/resolve`;
    expect((await test.fetch('POST', path, { token: operator.token, body })).status).toBe(200);
    expect((await invoiceRow(test, invoice.id)).status).toBe('confirmed');
    const by_hand = BigInt(invoice.amount_atomic);
    const booked = [
      { ok: true, on_chain: 0n, matched: by_hand, exclusions: { booked_by_hand: -by_hand } },
      { ok: true, on_chain: amount, unmatched: amount, faults: [] },
    ];
    expect(await verified(invoice)).toMatchObject(booked);
    // From now on it is asked for there, too: what came before belongs to it as it did.
    await setWallet(test.app, merchant.id, 'bsc', address);
    await create(test, merchant, 'bsc-usdc');
    await pass(20);
    expect(await verified(invoice)).toMatchObject(booked);
  });

  it('that was made a moment before it is asked for there is listed all the same', async () => {
    verifies('wrong-network');
    await start();
    const merchant = await test.merchant();
    await credit(test, merchant.id, MICROS);
    const address = freshAddress();
    for (const id of ['base', 'bsc']) await setWallet(test.app, merchant.id, id, address);
    const invoice = await create(test, merchant, 'base-usdc');
    await pass();
    const wrong = await bsc.payToken(BSC, invoice.address_key, BigInt(invoice.amount_atomic) * 10n ** 12n);
    await bsc.mine(20);
    await base.mine(20);
    test.clock.set(base.now());
    await create(test, merchant, 'bsc-usdc');
    await pass(20);
    expect(await notes()).toMatchObject([{ status: 'unmatched', txid: wrong }]);
  });

  it('pays the invoice of the network that it came on, where both have one', async () => {
    await start();
    const merchant = await test.merchant();
    await credit(test, merchant.id, MICROS);
    const address = freshAddress();
    for (const id of ['base', 'bsc']) await setWallet(test.app, merchant.id, id, address);
    const [on_base, on_bsc] = [
      await create(test, merchant, 'base-usdc'),
      await create(test, merchant, 'bsc-usdc'),
    ];
    expect(on_base.address).toBe(on_bsc.address);
    await pass();
    await bsc.payToken(BSC, on_bsc.address_key, BigInt(on_bsc.amount_atomic));
    await pass(20);
    expect((await invoiceRow(test, on_bsc.id)).status).toBe('confirmed');
    expect((await invoiceRow(test, on_base.id)).status).toBe('created');
    expect(await notes()).toEqual([]);
  });
});
