// What the process tests stand on: built daemons over one database, a TON chain behind a gate, a shop, its receiver.
import { join } from 'node:path';
import { type Db, openDb } from '../../data/db/open.ts';
import { startTonChain, type TonChain } from '../chains/ton-chain.ts';
import { type Daemon, type Home, makeHome } from '../daemon/helpers/process.ts';
import type { Database } from '../helpers/database.ts';
import { PASSWORD, type Person, shopkeeper, tokenOf } from '../helpers/people.ts';
import { createDatabase } from '../helpers/postgres.ts';
import { ask as askService, type Reply, type Service, serviceAt } from '../helpers/service.ts';
import { type Gate, openGate } from './gate.ts';
import { openPayer, type Payer } from './payer.ts';
import { openReceiver, type Receiver } from './receiver.ts';

export interface Stand {
  home: Home;
  /** Of the stand's database. */
  database_url: string;
  chain: TonChain;
  gate: Gate;
  payer: Payer;
  receiver: Receiver;
  /** Starts a daemon on the stand's database; `env` comes on top of the stand's own. Without `port`, on a free one. */
  start(env?: Record<string, string>, port?: string): Promise<Daemon>;
  /** Starts a daemon and kills it that soon, ready or not. */
  startAndKill(after_ms: number): Promise<void>;
  /** Reads the database. It is open for no longer, so that a killed daemon's file is recovered by the next daemon. */
  inspect<T>(work: (db: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export type Shop = Pick<Person, 'id' | 'token'> & { key: string };

const OPERATOR = 'operator@example.com';

/** One TON is two dollars here (see `makeHome`). */
export const tonSettings = (url: string): Record<string, string> => ({
  GATEWAYD_BLOCKCHAINS_TON_URL: url,
  GATEWAYD_BLOCKCHAINS_TON_REQUESTS_PER_SECOND: '500',
  GATEWAYD_GATEWAYS_TON_POLL_INTERVAL_SECONDS: '1',
  GATEWAYD_GATEWAYS_TON_USDT_ENABLED: 'false',
});

/** `own_server` is the URL of a PostgreSQL that serves nothing else. */
export async function openStand(
  database: Database,
  settings: Record<string, string> = {},
  own_server?: string,
): Promise<Stand> {
  const home = makeHome();
  const server = database === 'postgres' && own_server === undefined ? await createDatabase() : undefined;
  const chain = await startTonChain();
  const gate = await openGate(chain.url);
  const receiver = await openReceiver();
  const payer = await openPayer(chain);
  const url = own_server ?? server?.url ?? `sqlite:${join(home.dir, 'gatewayd', 'gatewayd.db')}`;
  const own = {
    ...tonSettings(gate.url),
    GATEWAYD_DATABASE_URL: url,
    GATEWAYD_ADMIN_EMAIL: OPERATOR,
    GATEWAYD_ADMIN_PASSWORD: PASSWORD,
    ...settings,
  };
  return {
    home,
    database_url: url,
    chain,
    gate,
    payer,
    receiver,
    start: (env = {}, port = '0') => home.start({ env: { ...own, ...env }, args: ['--port', port] }),
    async startAndKill(after_ms) {
      await home.run(['start', '--port', '0'], { env: own, kill_after_ms: after_ms });
    },
    async inspect(work) {
      const db = await openDb(url);
      try {
        return await work(db);
      } finally {
        await db.close();
      }
    },
    async close() {
      await home.remove();
      await Promise.all([gate.stop(), chain.stop(), receiver.close()]);
      await server?.drop();
    },
  };
}

/** `kill -9`, and its end. */
export async function kill(daemon: Daemon): Promise<void> {
  daemon.signal('SIGKILL');
  await daemon.ended;
}

interface ShopCall {
  shop?: Shop;
  as?: 'key' | 'token';
  body?: unknown;
}

const service = (url: string): Service => serviceAt({ base_url: url });
const callOf = ({ shop, as = 'key', body }: ShopCall) => ({ body, ...(shop && { [as]: shop[as] }) });

/** Rejects where the daemon is gone; any answer resolves. */
export const call = (url: string, method: string, path: string, request: ShopCall = {}): Promise<Reply> =>
  service(url).fetch(method, path, callOf(request));

/** The answer of a call that must succeed. */
export const ask = (
  url: string,
  method: string,
  path: string,
  request: ShopCall = {},
): Promise<Reply['json']> => askService(service(url), method, path, callOf(request));

/** A merchant who signed up, is paid on TON by the stand's payer and hears of it at its receiver. */
export const openShop = ({ payer, receiver }: Stand, url: string): Promise<Shop> =>
  shopkeeper(service(url), { wallets: { ton: payer.shop_address }, webhook_url: receiver.url });

/** The access token; rejects where the account is not known. */
export const signIn = (url: string, email: string): Promise<string> => tokenOf(service(url), email);

/** A call of the operator's that must succeed. */
async function asOperator(url: string, method: string, path: string, body?: unknown): Promise<Reply['json']> {
  const token = await signIn(url, OPERATOR);
  return askService(service(url), method, path, { token, body });
}

/** The operator raises the prepaid balance, in USD; the limit rises by a hundred times as much. */
export const credit = (url: string, shop: Shop, prepaid_usd: string): Promise<unknown> =>
  asOperator(url, 'POST', `/api/v1/admin/merchants/${shop.id}/credit`, { prepaid_usd });

/** Transactions of the payments that the operator is shown as late. */
export async function latePayments(url: string): Promise<string[]> {
  const { data } = await asOperator(url, 'GET', '/api/v1/admin/payments?status=late');
  return data.map(({ txid }: { txid: string }) => txid);
}

// biome-ignore lint/suspicious/noExplicitAny: an invoice as the wire carries it
export type Invoice = any;

export const createInvoice = (url: string, shop: Shop, amount = '1', chain = 'ton'): Promise<Invoice> =>
  ask(url, 'POST', '/v1/invoices', { shop, body: { chain, amount } });

export const readInvoice = (url: string, id: string): Promise<Invoice> =>
  ask(url, 'GET', `/v1/public/invoices/${id}`);
