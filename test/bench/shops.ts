// What the benches of settlement stand on: a daemon whose shops have credit and open invoices, a TON chain that is paid as asked, and a receiver.
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { beginCell } from '@ton/core';
import { assertSecretMatches } from '../../daemon/process/data-dir.ts';
import { openLedger } from '../../daemon/process/ledger-key.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import { openDb } from '../../data/db/open.ts';
import { watchAddress } from '../../data/invoices.ts';
import { putWallet, updateMerchant } from '../../data/merchants.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import { ton } from '../../src/chains/ton/family.ts';
import { type Daemon, type Home, makeHome } from '../daemon/helpers/process.ts';
import { account, keyOf } from '../helpers/people.ts';
import { createToncenter, queryOf } from '../helpers/toncenter.ts';
import { fillInvoices } from './world.ts';

export const SECRET = 'a secret for benches only';
/** Seconds between the end of one reading and the next; the least that a gateway takes. */
export const POLL_SECONDS = 1;
const CREDIT_MICROS = 1_000_000_000_000n;
/** What each invoice of `fillInvoices` asks for. */
const AMOUNT_ATOMIC = 2_500_000_000n;
/** Its invoices are open for so long. */
const OPEN_SECONDS = 7 * 24 * 3600;
/** What Linux counts processor time in. */
const TICKS_PER_SECOND = 100;
const FIRST_BLOCK = 40_000_000;
const nowSeconds = () => Math.floor(Date.now() / 1000);

export interface Shop {
  id: string;
  /** Its API key. */
  key: string;
  /** Where it is paid on TON, raw form. */
  account: string;
}

export interface ShopInvoice {
  id: string;
  memo: string;
  shop: Shop;
}

export interface ModelChain {
  url: string;
  /** Pays invoices in full, all in one block. */
  pay(invoices: readonly ShopInvoice[]): void;
  close(): Promise<void>;
}

/** A toncenter over HTTP that makes a block each second. */
export async function openModelChain(): Promise<ModelChain> {
  const began = nowSeconds();
  const seqnoAt = (now: number) => FIRST_BLOCK + now - began;
  const toncenter = createToncenter(() => ({ seqno: seqnoAt(nowSeconds()), now: nowSeconds() }));
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://toncenter');
    // A get-method of an account without code, or what it has at this path.
    const answer = toncenter.answer(url.pathname, queryOf(url)) ?? { exit_code: -13, stack: [] };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  });
  const url = await listen(server);
  return {
    url,
    pay(invoices) {
      const now = nowSeconds();
      for (const { memo, shop } of invoices) toncenter.add(paymentOf(shop.account, memo, now, seqnoAt(now)));
    },
    close: () => close(server),
  };
}

const paymentOf = (account: string, memo: string, now: number, seqno: number) => ({
  account,
  now,
  mc_block_seqno: seqno,
  orig_status: 'active',
  end_status: 'active',
  description: { type: 'ord', aborted: false, compute_ph: { skipped: true, reason: 'no_state' } },
  in_msg: {
    source: `0:${'7'.repeat(64)}`,
    destination: account,
    value: `${AMOUNT_ATOMIC}`,
    opcode: null,
    bounced: false,
    message_content: {
      body: beginCell().storeUint(0, 32).storeStringTail(memo).endCell().toBoc().toString('base64'),
    },
  },
  out_msgs: [],
});

export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

export async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

export interface FastReceiver {
  url: string;
  /** How many webhooks came. */
  count(): number;
  close(): Promise<void>;
}

/** Answers each webhook at once; `heard` is called with the invoice it is about. */
export async function openFastReceiver(
  heard: (invoice_id: string) => void = () => {},
): Promise<FastReceiver> {
  let count = 0;
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      count++;
      heard((JSON.parse(text) as { data: { invoice: { id: string } } }).data.invoice.id);
      response.end('ok');
    });
  });
  return { url: await listen(server), count: () => count, close: () => close(server) };
}

export interface Shops {
  home: Home;
  file: string;
  shops: readonly Shop[];
  /** In the order of their serial numbers. */
  invoices: readonly ShopInvoice[];
}

export interface ShopsOptions {
  shops: number;
  /** Invoices of each. */
  invoices: number;
  /** Open by default. */
  status?: 'created' | 'confirmed';
  /** Where the webhooks of a shop go, by its number. */
  webhook_url(shop: number): string | null;
}

/** A home with a database that no daemon has open yet. */
export async function makeShops(options: ShopsOptions): Promise<Shops> {
  const home = makeHome();
  const data_dir = join(home.dir, 'gatewayd');
  mkdirSync(data_dir, { mode: 0o700 });
  const file = join(data_dir, 'gatewayd.db');
  const db = await openDb(`sqlite:${file}`);
  await migrate(db);
  const secrets = createSecrets(SECRET);
  await assertSecretMatches(db, secrets, data_dir);
  const ledger = await openLedger(db, secrets);
  const now = nowSeconds();
  const clock = { ms: () => now * 1000, monotonic_ms: () => now * 1000 };
  const shops: Shop[] = [];
  const invoices: ShopInvoice[] = [];
  for (let number = 0; number < options.shops; number++) {
    const { id } = await account({ db, clock, secrets });
    const key = await keyOf({ db, secrets }, id);
    const shop = { id, key, account: `0:${(number + 1).toString(16).padStart(64, '0')}`.toUpperCase() };
    const { key: address_key, address: text } = ton.normalizeAddress(shop.account, 'testnet');
    const address = { blockchain: 'ton', address_key, address: text };
    await putWallet(db.query, { ...address, merchant_id: id, updated_at: now });
    await watchAddress(db.query, {
      ...address,
      since: now - 60 - options.shops * options.invoices,
      open_until: now + OPEN_SECONDS,
      watch_until: now + 2 * OPEN_SECONDS,
    });
    await updateMerchant(db.query, id, { webhook_url: options.webhook_url(number) });
    await db.transaction((tx) =>
      ledger.post(tx, {
        merchant_id: id,
        kind: 'credit',
        amount_micros: CREDIT_MICROS,
        invoice_id: null,
        note: null,
        actor: 'bench',
        now,
      }),
    );
    const first = number * options.invoices;
    await fillInvoices(db, {
      owner_id: id,
      first,
      count: options.invoices,
      status: options.status ?? 'created',
      address_key,
      // Each is a second younger than the one before, and all of a shop than those of the shops before.
      created_at: now - 60 - options.shops * options.invoices,
      expires_at: now + OPEN_SECONDS / 2,
    });
    shops.push(shop);
    for (let serial = first; serial < first + options.invoices; serial++)
      invoices.push({ id: idOf(serial), memo: memoOf(serial), shop });
  }
  await db.close();
  return { home, file, shops, invoices };
}

const hex = (serial: number, width: number) => serial.toString(16).padStart(width, '0');
/** As `fillInvoices` makes them. */
const idOf = (serial: number) => `${hex(serial, 8)}-0000-4000-8000-${hex(serial, 12)}`;
const memoOf = (serial: number) => `M${hex(serial, 9).toUpperCase()}`;

/** Starts a daemon on what `makeShops` made, which reads this chain at the least pause. */
export const startShops = (
  { home }: Shops,
  chain: ModelChain,
  poll_seconds: number = POLL_SECONDS,
): Promise<Daemon> =>
  home.start({
    log_file: join(home.dir, 'gatewayd.log'),
    env: {
      GATEWAYD_SECRET: SECRET,
      GATEWAYD_BLOCKCHAINS_TON_URL: chain.url,
      GATEWAYD_BLOCKCHAINS_TON_REQUESTS_PER_SECOND: '1000',
      GATEWAYD_GATEWAYS_TON_POLL_INTERVAL_SECONDS: `${poll_seconds}`,
      GATEWAYD_GATEWAYS_TON_USDT_ENABLED: 'false',
    },
  });

/** Processor time of a process until now, seconds. */
export function cpuSeconds({ pid }: Daemon): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
