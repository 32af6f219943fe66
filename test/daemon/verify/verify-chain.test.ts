// `gatewayd verify --chain` where accounts are proved one by one: a real TON executor, and a model of a Solana node.
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RpcSource } from '../../../daemon/observer/providers/rpc.ts';
import { verifyChains } from '../../../daemon/verify/chain.ts';
import { openSnapshot } from '../../../data/db/snapshot.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { createTestRpc } from '../../chains/rpc.ts';
import { createModel } from '../../chains/solana-model.ts';
import { startTonChain } from '../../chains/ton-chain.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { type Database, databases } from '../../helpers/database.ts';
import { create, credit, invoiceRow } from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { createDatabase } from '../../helpers/postgres.ts';
import { sourceOf } from '../../helpers/reading.ts';
import { verifies } from '../../requirements.ts';

const CREDIT_MICROS = 1_000_000_000n;
const PAUSE_SECONDS = 8;
/** A day's payments are old enough for whatever an index may be behind. */
const SETTLED_SECONDS = 400;

/** Below a cent. */
const DUST: Record<string, bigint> = { ton: 1_000_000n, solana: 7n };

interface World {
  service: TestApp;
  merchant: TestMerchant;
  url: string;
  blockchain: string;
  token: string;
  source: RpcSource;
  pass(seconds: number): void;
  /** Pays this invoice so much, with its memo unless another is given; returns the txid. */
  pay(invoice: InvoiceRow, amount: bigint, memo?: string): Promise<string>;
}

async function urlOf(database: Database): Promise<string | undefined> {
  if (database === 'sqlite') return undefined;
  const server = await createDatabase();
  onTestFinished(() => server.drop());
  return server.url;
}

async function tonWorld(database: Database): Promise<World> {
  const chain = await startTonChain({ clock: 'manual' });
  onTestFinished(() => chain.stop());
  const master = gatewaysOf('testnet').find(({ chain: id }) => id === 'ton-usdt')?.token_contract ?? '';
  const jetton = await chain.deployJetton({ address: master });
  const [payer, shop] = [await chain.createWallet(), await chain.createWallet()];
  await chain.mintTo({ jetton, to: payer, amount: 1_000_000_000n });
  chain.advanceTime(600);
  const clock = testClock(chain.now());
  const settings = { 'blockchains.ton.url': chain.url, 'blockchains.ton.requests_per_second': '1000' };
  const database_url = await urlOf(database);
  const service = await startApp({ database, clock, settings, database_url });
  onTestFinished(() => service.stop());
  const merchant = await service.merchant();
  await setWallet(service.app, merchant.id, 'ton', shop.address);
  return {
    service,
    merchant,
    url: service.app.config.database_url,
    blockchain: 'ton',
    token: 'ton-usdt',
    source: sourceOf(createTestRpc({ provider: 'toncenter', url: chain.url })),
    pass(seconds) {
      chain.advanceTime(seconds);
      clock.set(chain.now());
    },
    async pay(invoice, amount, memo = invoice.memo ?? '') {
      const paid = { from: payer, to: shop, amount, comment: memo };
      const sent = invoice.chain === 'ton' ? chain.sendTon(paid) : chain.sendJetton({ ...paid, jetton });
      return (await sent).txid;
    },
  };
}

async function solanaWorld(database: Database): Promise<World> {
  const model = createModel(1_800_000_000);
  const mints = gatewaysOf('testnet').filter(({ blockchain }) => blockchain === 'solana');
  for (const { token_contract } of mints) if (token_contract) model.addMint(token_contract);
  const source = sourceOf(model.rpc());
  const database_url = await urlOf(database);
  const service = await startApp({
    database,
    database_url,
    source: (id) => (id === 'solana' ? source : undefined),
  });
  onTestFinished(() => service.stop());
  const merchant = await service.merchant();
  return {
    service,
    merchant,
    url: service.app.config.database_url,
    blockchain: 'solana',
    token: 'solana-usdc',
    source,
    pass(seconds) {
      model.now += seconds;
      service.clock.set(model.now);
    },
    async pay(invoice, amount, memo = invoice.memo ?? '') {
      const mint = mints.find(({ chain }) => chain === invoice.chain)?.token_contract;
      return model.pay({ to: invoice.address_key, amount, memo, ...(mint ? { mint } : {}) });
    },
  };
}

describe.each(databases)('verify --chain on %s', (database) => {
  test.each([
    ['TON', tonWorld],
    ['Solana', solanaWorld],
  ])(
    'of %s counts what came in for each asset, and names what the books lack',
    async (_, open) => {
      verifies('verify-chain');
      const world = await open(database);
      const { service, blockchain, token, pay } = world;
      const { query } = service.app.db;
      const { merchant } = world;
      await credit(service, merchant.id, CREDIT_MICROS);
      const observe = async (times = 4) => {
        for (let time = 0; time < times; time++) {
          world.pass(PAUSE_SECONDS);
          await service.app.observer.poll(blockchain);
          await service.app.observer.tick();
        }
      };
      const check = async () => {
        const books = await openSnapshot(world.url);
        try {
          const balances = await verifyChains(books, {
            config: service.app.config,
            clock: { ms: service.clock.ms, monotonic_ms: () => performance.now() },
            source: (id) => (id === blockchain ? world.source : undefined),
            since: null,
            sleep: async () => world.pass(PAUSE_SECONDS),
            patience_ms: 8_000,
          });
          return new Map(balances.map((each) => [each.chain, each]));
        } finally {
          await books.close();
        }
      };

      await observe();
      const coin = await create(service, merchant, blockchain);
      const late = await create(service, merchant, blockchain);
      const tokens = await create(service, merchant, token);
      await observe();
      await pay(coin, BigInt(coin.amount_atomic));
      await pay(tokens, BigInt(tokens.amount_atomic));
      const lost = await pay(coin, 7_777_777n, 'of no invoice');
      const dust = DUST[blockchain] ?? 0n;
      await pay(coin, dust, 'dust of no invoice');
      await observe();
      expect((await invoiceRow(service, tokens.id)).status).toBe('confirmed');
      world.pass(late.expires_at - service.clock.now() + 60);
      await observe();
      expect((await invoiceRow(service, late.id)).status).toBe('expired');
      await pay(late, BigInt(late.amount_atomic));
      await observe();
      world.pass(SETTLED_SECONDS);
      await observe();

      const sound = await check();
      expect(sound.get(blockchain)).toMatchObject({
        ok: true,
        unread: null,
        matched: BigInt(coin.amount_atomic),
        late: BigInt(late.amount_atomic),
        unmatched: 7_777_777n,
        dust,
        on_chain: BigInt(coin.amount_atomic) + BigInt(late.amount_atomic) + 7_777_777n + dust,
      });
      expect(sound.get(token)).toMatchObject({ ok: true, matched: BigInt(tokens.amount_atomic), late: 0n });

      await sql
        .raw(
          database === 'sqlite'
            ? 'drop trigger transfers_no_delete'
            : 'drop trigger transfers_no_delete on transfers',
        )
        .execute(query);
      await sql`delete from transfers where txid = ${lost}`.execute(query);
      const broken = await check();
      expect(broken.get(token)?.ok).toBe(true);
      expect(broken.get(blockchain)).toMatchObject({
        ok: false,
        difference: 7_777_777n,
        faults: [{ fault: 'missing in the books', txid: lost, chain_atomic: '7777777' }],
      });
    },
    60_000,
  );
});
