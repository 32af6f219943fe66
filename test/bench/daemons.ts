// Invoices created per second through three daemons of one PostgreSQL database, against one of them: where the database is
// the limit, and where it is not.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Daemon, makeHome } from '../daemon/helpers/process.ts';
import { shopkeeper, wallets } from '../helpers/people.ts';
import { postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import { serviceAt } from '../helpers/service.ts';
import { compare, say } from './measure.ts';

const DAEMONS = 3;
/**
 * What the machine has too few cores for is modelled by stopping processes for the rest of each period: the database, so that
 * it is the limit; or each daemon in its turn, as if the database had cores of its own.
 */
const PERIOD_MS = 50;
const RUNNING_MS = 5;

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
