// What an invoice costs PostgreSQL, against a bare insert; and invoices created per second through three daemons of one database,
// against one of them: where the database is the limit, and where it is not.
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { type Daemon, makeHome } from '../daemon/helpers/process.ts';
import { shopkeeper, wallets } from '../helpers/people.ts';
import { type PostgresServer, postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import { serviceAt } from '../helpers/service.ts';
import { atMost, compare, load, say, type Target } from './measure.ts';
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
 * Processor time of the database: of a request that creates an invoice, against one row with the bytes of both that are written
 * for it, inserted alone and durably. Such a row is kept whole where it stands, as those of invoices are.
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
  const insert = async () => {
    let next = 0;
    const write = async () => {
      while (next++ < INSERTS)
        await pool.query({
          name: 'bare',
          text: 'insert into bare values ($1, $2)',
          values: [randomUUID(), body],
        });
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, write));
  };
  const spent = async (work: () => Promise<unknown>) => {
    const before = serverSeconds(directory);
    await work();
    return serverSeconds(directory) - before;
  };
  await insert();
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await spent(insert);
    const created = await spent(() => load(creation, { requests: INSERTS }));
    const each_us = (seconds: number) => ((seconds / INSERTS) * 1e6).toFixed(0);
    say(
      `database time of ${creation.name}: ${each_us(created)} µs, of a bare insert of ${rows[0].bytes} bytes: ${each_us(bare)} µs`,
    );
    ratios.push(created / bare);
  }
  await pool.query('drop table bare');
  await pool.end();
  atMost(`${creation.name}, in bare inserts of database time`, ratios, WANTED_INSERTS);
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
