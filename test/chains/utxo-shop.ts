// A shop on a real node: daemon, refills, buyers and miners on one clock, and restarts on the same database.
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { testClock } from '../helpers/clock.ts';
import { newDatabase } from '../helpers/database.ts';
import { credit } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { sourceOf } from '../helpers/reading.ts';
import { createTestRpc } from './rpc.ts';
import type { Litecoind } from './utxo-chain.ts';
import { startCoreFront, startEsploraFront, type UtxoFront } from './utxo-fronts.ts';
import { familyOf, freshAddress } from './utxo-observer.ts';

const CHAIN = 'litecoin';
const LIMIT_MICROS = 1_000_000_000n;
const starters = { core: startCoreFront, esplora: startEsploraFront };

export interface Invoice {
  id: string;
  script: string;
  amount: bigint;
  expires_at: number;
}

export interface UtxoShop {
  test: TestApp;
  front: UtxoFront;
  merchant: TestMerchant;
  /** Where refills are paid to. */
  refill_script: string;
  now(): number;
  /** Time passes, here and at the node. */
  pass(seconds: number): Promise<void>;
  /** Sets our clock alone. */
  step(seconds: number): void;
  /** One reading, then the clock. Answers false where the provider could not be read. */
  read(): Promise<boolean>;
  /** A merchant with a receive address of his own. */
  open(): Promise<TestMerchant>;
  invoice(merchant?: TestMerchant): Promise<Invoice>;
  /** Answers the HTTP reply: `amount` in whole coins. */
  refill(amount: string): ReturnType<TestApp['fetch']>;
  status(invoice: { id: string }): Promise<string>;
  /** The status of the payment that an invoice shows; undefined where it shows none. */
  paymentOf(invoice: { id: string }): Promise<string | undefined>;
  limit(): Promise<string>;
  /** Transactions that the operator is shown with this status. */
  listed(status: 'late' | 'unmatched'): Promise<string[]>;
  /** A new daemon on the same database; `between` is done while none runs. */
  restart(between?: () => Promise<void>): Promise<void>;
  database_url: string;
  stop(): Promise<void>;
}

export interface ShopOptions {
  provider: 'core' | 'esplora';
  node: Litecoind;
  demo?: boolean;
  /** An SQLite file of its own unless given. */
  database_url?: string;
}

export async function openUtxoShop({
  provider,
  node,
  demo = false,
  ...options
}: ShopOptions): Promise<UtxoShop> {
  const own = options.database_url ? undefined : await newDatabase('sqlite');
  const database_url = options.database_url ?? own?.url ?? '';
  const front = await starters[provider](node);
  // Not before what other tests have mined.
  const tip = await node.rpc<{ time: number }>('getblockheader', await node.rpc('getbestblockhash'));
  const clock = testClock(Math.max(Math.floor(Date.now() / 1000), tip.time + 60));
  const refill_address = freshAddress(CHAIN);
  const source = sourceOf(createTestRpc({ provider, url: front.url }));
  const start = () =>
    startApp({
      clock,
      database_url,
      settings: { demo, [`wallets.${CHAIN}`]: refill_address },
      source: (blockchain) => (blockchain === CHAIN ? source : undefined),
    });
  const scriptOf = (address: string) => familyOf(CHAIN).normalizeAddress(address, 'testnet').key;
  let accounts = 0;

  const shop: UtxoShop = {
    test: await start(),
    front,
    merchant: undefined as unknown as TestMerchant,
    refill_script: scriptOf(refill_address),
    database_url,
    now: clock.now,
    async pass(seconds) {
      clock.advance(seconds);
      await front.node.rpc('setmocktime', clock.now());
    },
    step: clock.step,
    async read() {
      const read = await shop.test.app.observer.poll(CHAIN).then(
        () => true,
        () => false,
      );
      await shop.test.app.observer.tick();
      return read;
    },
    async open() {
      const merchant = await shop.test.merchant(`shop${++accounts}@example.com`);
      await setWallet(shop.test.app, merchant.id, CHAIN, freshAddress(CHAIN));
      await credit(shop.test, merchant.id, LIMIT_MICROS);
      return merchant;
    },
    async invoice(merchant = shop.merchant) {
      const body = { chain: CHAIN, amount: '10' };
      const reply = await shop.test.fetch('POST', '/v1/invoices', { key: merchant.key, body });
      if (reply.status !== 200) throw new Error(`the invoice was refused: ${reply.text}`);
      const { id, amount, expires_at, address } = reply.json;
      return { id, expires_at, script: scriptOf(address), amount: atomic(amount) };
    },
    refill: (amount) =>
      shop.test.fetch('POST', '/api/v1/merchant/refill', {
        token: shop.merchant.token,
        body: { chain: CHAIN, amount, amount_unit: 'native' },
      }),
    status: async ({ id }) => (await shop.test.fetch('GET', `/v1/public/invoices/${id}`)).json.status,
    async paymentOf({ id }) {
      const { query } = shop.test.app.db;
      const row = await query
        .selectFrom('payments')
        .innerJoin('invoices', 'invoices.payment_id', 'payments.id')
        .select('payments.status')
        .where('invoices.id', '=', id)
        .executeTakeFirst();
      return row?.status;
    },
    async limit() {
      const { token } = shop.merchant;
      return (await shop.test.fetch('GET', '/api/v1/merchant/account', { token })).json.limit_of_payments;
    },
    async listed(status) {
      const { token } = await shop.test.superuser();
      const { json } = await shop.test.fetch('GET', `/api/v1/admin/payments?status=${status}&limit=200`, {
        token,
      });
      return json.data.map(({ txid }: { txid: string }) => txid);
    },
    async restart(between) {
      await shop.test.stop();
      await between?.();
      shop.test = await start();
    },
    async stop() {
      await shop.test.stop();
      await front.stop();
      await node.rpc('setmocktime', 0);
      await own?.remove();
    },
  };
  await node.rpc('setmocktime', clock.now());
  shop.merchant = await shop.open();
  return shop;
}

/** Eight decimals. */
export function atomic(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(8, '0'));
}
