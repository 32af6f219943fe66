// A deployment with very many merchants: what is watched, read and settled on a real PostgreSQL, with more and more of them
// until something breaks. `npm run bench -- fleet --merchants 1000000`.
import { sql } from 'kysely';
import { createHttp } from '../../daemon/http/mount.ts';
import { openApp, type RunningApp } from '../../daemon/process/app.ts';
import { openLedger } from '../../daemon/process/ledger-key.ts';
import { createLog } from '../../daemon/process/log.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import { routes } from '../../daemon/routes/routes.ts';
import { loadConfig } from '../../daemon/settings/config.ts';
import { recordPage, reevaluateInvoices } from '../../daemon/settle/settle.ts';
import { ensureCursor, getCursor } from '../../data/cursors.ts';
import { type Db, openDb } from '../../data/db/open.ts';
import { getInvoice, watchedAddresses } from '../../data/invoices.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { Transfer } from '../../src/chains/family.ts';
import { findBlockchain } from '../../src/chains/gateways.ts';
import { newKeypair } from '../chains/solana-message.ts';
import { freshAddress } from '../chains/utxo-observer.ts';
import { merchantOf } from '../helpers/people.ts';
import { postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import { ask, type Service, serviceAt } from '../helpers/service.ts';
import { median, say } from './measure.ts';
import {
  bitcoinChain,
  type Chain,
  newTimer,
  openReader,
  solanaChain,
  type Timer,
  tonChain,
} from './reading.ts';
import { serverSeconds } from './server-time.ts';

const SECRET = 'a secret for benches only';
/** Of each merchant, over all blockchains: wallets that it has, and had in the last day. */
const ADDRESSES = 10;
/** Merchants that sell while it is measured, each some of the sales; all others are watched for late payments. */
const SHOPS = 101;
const SALES = 2_000;
/** Payments of one block, of one blockchain. */
const PAGE = 250;
const CREATORS = 16;
/** Merchants that are written at once. */
const FILL_STEP = 1_000;
/** What a fleet has to settle, payments a second. */
const WANTED = 1_000;
/** With more merchants the model chains take minutes, and requests grow in proportion; Solana's takes an hour. */
const MOST_READ = 100_000;
const MOST_READ_ON: Record<string, number> = { solana: 10_000 };
/** A payment that is read later than so is late for its buyer, who waits. */
const LATE_SECONDS = 60;
const DAY = 86_400;

const chains: Record<string, { family: string; share: number; open: (timer: Timer) => Chain }> = {
  ton: { family: 'ton', share: 0.4, open: tonChain },
  solana: { family: 'solana', share: 0.3, open: solanaChain },
  'bitcoin (esplora)': { family: 'bitcoin', share: 0.2, open: (timer) => bitcoinChain(timer, 'esplora') },
  'bitcoin (core)': { family: 'bitcoin', share: 0.2, open: (timer) => bitcoinChain(timer, 'core') },
};

const nowSeconds = () => Math.floor(Date.now() / 1000);
const mb = (bytes: number) => (bytes / 1e6).toFixed(0);
const residentMb = () => mb(process.memoryUsage.rss());

/** `merchants`: the most; it begins with a thousand, and each step has ten times as many. */
export async function benchFleet({ merchants }: { merchants: number }): Promise<void> {
  const binaries = postgresBinaries();
  if (!binaries) return say('left out: no PostgreSQL for this platform');
  const steps = [];
  for (let count = 1_000; count <= merchants; count *= 10) steps.push(count);
  for (const count of steps) await readWith(count);
  const server = await startPostgres(binaries, { fsync: 'on', shared_buffers: '512MB', max_wal_size: '4GB' });
  const fleet = await openFleet(server.url, server.directory);
  let filled = 0;
  for (const count of steps) {
    await fill(fleet.db, filled, count);
    filled = count;
    await watchWith(fleet.db, count);
    await settleWith(fleet, count);
  }
  await fleet.close();
  await server.stop();
}

/** Requests and time of one reading of all, at the pace that default providers take. */
async function readWith(merchants: number): Promise<void> {
  for (const [name, { family, share, open }] of Object.entries(chains)) {
    if (merchants > (MOST_READ_ON[name] ?? MOST_READ)) continue;
    const addresses = Math.round(merchants * ADDRESSES * share);
    const timer = newTimer();
    const reader = openReader(open(timer), timer);
    reader.watch(addresses);
    const cpu = process.cpuUsage();
    await reader.pass();
    const [from, requests] = [timer.now, reader.requests()];
    await reader.pass();
    const { user, system } = process.cpuUsage(cpu);
    const seconds = timer.now - from;
    const pace = findBlockchain(family)?.requests_per_second;
    const asked = reader.requests() - requests;
    say(
      `${name}, ${addresses} addresses: ${asked} requests in ${seconds.toFixed(0)} s at ${pace} a second, ${((user + system) / 2e6).toFixed(2)} s of processor time${seconds > LATE_SECONDS ? `; a payment is seen within ${LATE_SECONDS} s only with ${Math.ceil(asked / (LATE_SECONDS - reader.pause_seconds))} requests a second` : ''}`,
    );
  }
}

interface Fleet {
  db: Db;
  app: RunningApp;
  service: Service;
  shops: { key: string }[];
  /** Processor time of the database server until now, seconds. */
  databaseSeconds(): number;
  close(): Promise<void>;
}

async function openFleet(url: string, directory: string): Promise<Fleet> {
  const db = await openDb(url);
  await migrate(db);
  const secrets = createSecrets(SECRET);
  const { config } = loadConfig({
    flags: {
      data_dir: '/nonexistent',
      secret: SECRET,
      database_url: url,
      'rates.source': 'fixed',
      'rates.usd.TON': '4',
      'rates.usd.SOL': '200',
      'rates.usd.BTC': '100000',
      'rates.usd.LTC': '100',
    },
    env: {},
    cwd: '/',
  });
  const app = openApp({
    config,
    db,
    ledger: await openLedger(db, secrets),
    secrets,
    log: createLog({ level: 'silent' }),
    clock: { ms: Date.now, monotonic_ms: () => performance.now() },
  });
  const http = createHttp(app, routes);
  const service = serviceAt({ base_url: config.public_url, send: (request) => http.h3.fetch(request) });
  const shops = [];
  for (let shop = 0; shop < SHOPS; shop++) {
    const made = await merchantOf(app, `shop${shop}@example.com`, walletsOf(shop));
    shops.push(made);
    await db.transaction((tx) =>
      app.ledger.post(tx, {
        merchant_id: made.id,
        kind: 'credit',
        amount_micros: 1_000_000_000_000n,
        invoice_id: null,
        note: null,
        actor: 'bench',
        now: nowSeconds(),
      }),
    );
  }
  return {
    db,
    app,
    service,
    shops,
    databaseSeconds: () => serverSeconds(directory),
    async close() {
      http.stop();
      await app.stop();
      await db.close();
    },
  };
}

const walletsOf = (shop: number) => ({
  ton: `0:${(shop + 1).toString(16).padStart(64, '0')}`,
  solana: newKeypair().address,
  bitcoin: freshAddress('bitcoin'),
  litecoin: freshAddress('litecoin'),
});

/** Step by step: a running sum that one transaction adds to a hundred thousand times is slower each time. */
async function fill(db: Db, from: number, to: number): Promise<void> {
  for (let step = from; step < to; step += FILL_STEP)
    await fillStep(db, step, Math.min(to, step + FILL_STEP));
  await sql.raw('analyze').execute(db.schema);
}

/** Merchants that have wallets and were paid today, with what is watched of them. */
async function fillStep(db: Db, from: number, to: number): Promise<void> {
  const now = nowSeconds();
  const series = sql`generate_series(${sql.lit(from)}, ${sql.lit(to - 1)}) as i`;
  const id = sql`lpad(to_hex(i), 8, '0') || '-0000-4000-9000-000000000000'`;
  await sql`insert into users (id, email, source, subject, is_active, is_superuser, token_version, created_at)
    select ${id}, 'filler' || i || '@example.com', 'email', 'filler' || i || '@example.com', 1, 0, 0, ${sql.lit(now)}
    from ${series}`.execute(db.schema);
  await sql`insert into merchants (id, slug, api_key_hash, api_key_sealed, prepaid_micros, ledger_seq, ledger_hash, created_at)
    select ${id}, 'filler-' || i, 'hash of ' || i, 'sealed', 0, 0, repeat('0', 64), ${sql.lit(now)} from ${series}`.execute(
    db.schema,
  );
  // Four of ten on TON, three on Solana, two on Bitcoin, one on Litecoin.
  await sql`insert into watches (blockchain, address_key, address, since, open_until, watch_until)
    select (array['ton','ton','ton','ton','solana','solana','solana','bitcoin','bitcoin','litecoin'])[n + 1],
      'filler-' || lpad(to_hex(i), 8, '0') || '-' || n || repeat('x', 44), 'filler-' || i || '-' || n || repeat('x', 36),
      ${sql.lit(now - 3_600)}, ${sql.lit(now - 60)}, ${sql.lit(now + DAY)}
    from ${series}, generate_series(0, ${sql.lit(ADDRESSES - 1)}) as n`.execute(db.schema);
}

/** What each reading begins with: all that is watched on one blockchain. */
async function watchWith(db: Db, merchants: number): Promise<void> {
  const took: number[] = [];
  let rows = 0;
  for (let reading = 0; reading < 3; reading++) {
    const began = performance.now();
    try {
      rows = (await watchedAddresses(db.query, 'ton', nowSeconds())).length;
    } catch (error) {
      // Here it breaks: with so many no reading begins.
      return say(`${merchants} merchants: what is watched on TON is not read: ${(error as Error).message}`);
    }
    took.push(performance.now() - began);
  }
  say(
    `${merchants} merchants: what is watched on TON, ${rows} addresses, is asked for in ${median(took).toFixed(0)} ms at the start of each reading; memory ${residentMb()} MB`,
  );
}

/** Sales over all blockchains are made, paid in blocks that are full of them, stored and settled. */
async function settleWith({ db, app, service, shops, databaseSeconds }: Fleet, merchants: number) {
  const sold: InvoiceRow[] = [];
  const gateways = app.gateways.filter(({ is_token }) => !is_token);
  let next = 0;
  const creating = await timed(databaseSeconds, async () => {
    const sell = async () => {
      for (let at = next++; at < SALES; at = next++) {
        const { key } = shops[at % shops.length] as { key: string };
        const { chain } = gateways[at % gateways.length] as { chain: string };
        const { id } = await ask(service, 'POST', '/v1/invoices', { key, body: { chain, amount: '25' } });
        sold.push((await getInvoice(db.query, id)) as InvoiceRow);
      }
    };
    await Promise.all(Array.from({ length: CREATORS }, sell));
  });
  const settling = await timed(databaseSeconds, async () => {
    const paid = (name: string) => sold.filter(({ blockchain }) => blockchain === name);
    await Promise.all(gateways.map(({ blockchain }) => settle(app, blockchain, paid(blockchain))));
  });
  const { count } = await db.query
    .selectFrom('invoices')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('status', '=', 'confirmed')
    .executeTakeFirstOrThrow();
  if (Number(count) % SALES !== 0) throw new Error(`${count} invoices are confirmed`);
  const cores = (spent: number) => ((spent / SALES) * WANTED).toFixed(1);
  say(
    `${merchants} merchants: ${(SALES / creating.seconds).toFixed(0)} sales made a second, ${(SALES / settling.seconds).toFixed(0)} payments settled a second; ${WANTED} a second of both would take ${cores(creating.own + settling.own)} cores of daemons and ${cores(creating.database + settling.database)} of the database`,
  );
}

async function timed(databaseSeconds: () => number, work: () => Promise<void>) {
  const [database, cpu, began] = [databaseSeconds(), process.cpuUsage(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return {
    seconds: (performance.now() - began) / 1000,
    own: (user + system) / 1e6,
    database: databaseSeconds() - database,
  };
}

/** As a reader of this blockchain does it: page by page, what each touched before the next. */
async function settle(app: RunningApp, blockchain: string, invoices: readonly InvoiceRow[]): Promise<void> {
  await ensureCursor(app.db.query, blockchain);
  const gateways = app.gateways.filter((gateway) => gateway.blockchain === blockchain);
  for (let from = 0; from < invoices.length; from += PAGE) {
    const scope = { blockchain, gateways, now: nowSeconds() };
    const { version } = (await getCursor(app.db.query, blockchain)) ?? { version: 0 };
    const transfers = invoices.slice(from, from + PAGE).map(paymentOf);
    const tip = { height: from, hash: null, time: nowSeconds() };
    const { touched } = await recordPage(app, scope, version, { transfers, tip });
    await reevaluateInvoices(app, touched);
  }
}

let payments = 0;
const paymentOf = (invoice: InvoiceRow): Transfer => ({
  chain: invoice.chain,
  address_key: invoice.address_key,
  txid: (++payments).toString(16).padStart(64, '0'),
  index: '0',
  amount_atomic: BigInt(invoice.amount_atomic),
  memo: invoice.memo,
  references: [],
  sender: 'payer',
  height: 100,
  block_hash: 'block-100',
  earliest_at: nowSeconds(),
  latest_at: nowSeconds(),
  inputs: [],
  confirmations: 64,
  final: true,
});
