// What an invoice costs PostgreSQL, against a bare insert; and invoices created per second through three daemons of one database,
// against one of them: where the database is the limit, and where it is not.
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { newId } from '../../data/db/ids.ts';
import { type Db, openDb } from '../../data/db/open.ts';
import { newEventId } from '../../data/events.ts';
import { insertOpenedAlone } from '../../data/invoices.ts';
import { type Daemon, makeHome } from '../daemon/helpers/process.ts';
import { shopkeeper, wallets } from '../helpers/people.ts';
import { type PostgresServer, postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import { serviceAt } from '../helpers/service.ts';
import { atMost, compare, load, say, spread, type Target } from './measure.ts';
import { serverSeconds } from './server-time.ts';

const DAEMONS = 3;
/**
 * What the machine has too few cores for is modelled by stopping processes for the rest of each period: the database, so that
 * it is the limit; or each daemon in its turn, as if the database had cores of its own.
 */
const PERIOD_MS = 50;
const RUNNING_MS = 5;
/** As many as one daemon writes with. */
const CONNECTIONS = 10;
const ROUNDS = 5;
const INSERTS = 2_000;
/** What the database may take for an invoice, in bare inserts. */
const WANTED_INSERTS = 4;

export async function benchDaemons(): Promise<void> {
  const binaries = postgresBinaries();
  if (!binaries) return say('left out: no PostgreSQL for this platform');
  const server = await startPostgres(binaries, { fsync: 'on' });
  const home = makeHome();
  const daemons: Daemon[] = [];
  for (let each = 0; each < DAEMONS; each++)
    daemons.push(
      await home.start({
        env: { GATEWAYD_DATABASE_URL: server.url },
        log_file: join(home.dir, `gatewayd-${each}.log`),
      }),
    );
  const urls = daemons.map(({ url }) => url);
  const one = urls.slice(0, 1);
  const { key } = await shopkeeper(serviceAt({ base_url: one[0] as string }), { wallets });
  const creation = {
    method: 'POST',
    path: '/v1/invoices',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ chain: 'ton', amount: '12.50', external_ref: 'order-1' }),
  } as const;
  await costOf({ name: 'a creation', url: one, ...creation }, server);
  const against = async (what: string, ratio: number) =>
    compare(
      { name: `${DAEMONS} daemons, ${what}`, url: urls, ...creation },
      { name: 'one of them', url: one, ...creation },
      { ratio },
    );
  let release = holdBack({ directory: server.directory });
  await against('a database with a tenth of a core', 0.95);
  release();
  release = holdBack({ pids: daemons.map(({ pid }) => pid) });
  await against('each with a tenth of a core', 2.5);
  release();
  await home.remove();
  await server.stop();
}

/**
 * Processor time of the database: of a request that creates an invoice, and of what of it is writing, which requests of the same
 * moment share, against one row with the bytes of both that are written, inserted alone and durably. Such a row is stored in one piece, as those of
 * invoices are.
 */
async function costOf(creation: Target, { url, directory }: PostgresServer): Promise<void> {
  await load(creation, { requests: INSERTS });
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS, idleTimeoutMillis: 0 });
  const { rows } =
    await pool.query(`select avg(octet_length(invoices::text) + octet_length(events::text))::int as bytes
    from invoices join events on events.invoice_id = invoices.id`);
  const body = randomBytes(rows[0].bytes / 2).toString('hex');
  await pool.query('create table bare (id text primary key, body text not null)');
  await pool.query('alter table bare alter body set storage plain');
  const bare = { name: 'bare', text: 'insert into bare values ($1, $2)' };
  const db = await openDb(url);
  const write = await writerOf(db);
  const works: [string, () => Promise<unknown>][] = [
    ['a bare insert', () => atOnce(() => pool.query({ ...bare, values: [randomUUID(), body] }))],
    [creation.name, () => load(creation, { requests: INSERTS })],
    ['its share of the statement that writes', () => atOnce(write)],
  ];
  for (const [, work] of works) await work();
  const spent = new Map<string, number[]>(works.map(([name]) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, work] of works) {
      const before = serverSeconds(directory);
      await work();
      spent.get(name)?.push((serverSeconds(directory) - before) / INSERTS);
    }
  for (const [name, seconds] of spent)
    say(`database time of ${name}: ${spread(seconds.map((each) => each * 1e6))} µs`);
  const inBare = (name: string) =>
    (spent.get(name) ?? []).map((seconds, round) => seconds / (spent.get('a bare insert')?.[round] ?? 0));
  say(`a bare insert is of ${rows[0].bytes} bytes`);
  for (const [name] of works.slice(1))
    atMost(`${name}, in bare inserts`, inBare(name), name === creation.name ? WANTED_INSERTS : undefined);
  await pool.query('drop table bare');
  await Promise.all([pool.end(), db.close()]);
}

/** Writes an invoice like the first one with each call, as a daemon does where nothing else needs to be written. */
async function writerOf(db: Db): Promise<() => Promise<unknown>> {
  const invoice = await db.query.selectFrom('invoices').selectAll().executeTakeFirstOrThrow();
  const { seq, ...event } = await db.query
    .selectFrom('events')
    .selectAll()
    .where('invoice_id', '=', invoice.id)
    .executeTakeFirstOrThrow();
  return async () => {
    const id = newId();
    const memo = randomBytes(5).toString('hex').toUpperCase();
    const is_written = await insertOpenedAlone(
      db,
      { ...invoice, id, memo },
      { ...event, id: newEventId(), invoice_id: id },
    );
    if (!is_written) throw new Error('an id or a memo was drawn twice');
  };
}

async function atOnce(work: () => Promise<unknown>): Promise<void> {
  let next = 0;
  const some = async () => {
    while (next++ < INSERTS) await work();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, some));
}

/** In a process of its own, so that it is on time while this one makes the load. */
const KEEPER = `
  const { running_ms, period_ms, pids, directory } = JSON.parse(process.argv[1]);
  const { readdirSync, readlinkSync } = require('node:fs');
  const isOfServer = (pid) => { try { return readlinkSync('/proc/' + pid + '/cwd').startsWith(directory); } catch { return false; } };
  const find = () => readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && isOfServer(name)).map(Number);
  const send = (to, signal) => { for (const pid of to) try { process.kill(pid, signal); } catch {} };
  const run = (to) => { send(to, 'SIGCONT'); setTimeout(() => send(to, 'SIGSTOP'), running_ms); };
  let server = directory ? find() : [];
  if (directory) {
    setInterval(() => { server = find(); }, 500);
    setInterval(() => run(server), period_ms);
  } else pids.forEach((pid, at) => setTimeout(() => setInterval(() => run([pid]), period_ms), (at * period_ms) / pids.length));
  process.on('SIGTERM', () => { send(pids ?? find(), 'SIGCONT'); process.exit(); });`;

/** Of a server all processes at once, of daemons one after the other; returns what lets them run again. */
function holdBack(what: { pids: readonly (number | undefined)[] } | { directory: string }): () => void {
  const asked = JSON.stringify({ running_ms: RUNNING_MS, period_ms: PERIOD_MS, ...what });
  const keeper = spawn(process.execPath, ['-e', KEEPER, asked], { stdio: ['ignore', 'ignore', 'inherit'] });
  return () => void keeper.kill('SIGTERM');
}
