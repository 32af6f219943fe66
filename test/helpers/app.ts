// The builder of all scenes in this process: a daemon with a real database, real handlers and a clock that the test moves;
// no socket of its own. People are in people.ts, their invoices and payments in payments.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttp } from '../../daemon/http/mount.ts';
import type { RpcSource } from '../../daemon/observer/providers/rpc.ts';
import { openApp, type RunningApp, seedDeploymentWallets } from '../../daemon/process/app.ts';
import { openLedger } from '../../daemon/process/ledger-key.ts';
import { createLog } from '../../daemon/process/log.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import { routes } from '../../daemon/routes/routes.ts';
import { type Config, loadConfig } from '../../daemon/settings/config.ts';
import { openDb } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import { type TestClock, testClock } from './clock.ts';
import { type Database, newDatabase } from './database.ts';
import { merchantOf, superuserOf, type TestMerchant, type TestOperator } from './people.ts';
import { unreachable } from './reading.ts';
import { type Reply, type Service, type ServiceCall, serviceAt } from './service.ts';

export type { Reply, ServiceCall, TestMerchant };

export interface TestApp extends Service {
  app: RunningApp;
  clock: TestClock;
  /** Log lines written so far. */
  log: string[];
  /** A signed-up merchant with a wallet on every blockchain. */
  merchant(email?: string): Promise<TestMerchant>;
  superuser(): Promise<TestOperator>;
  stop(): Promise<void>;
}

export interface TestAppOptions {
  database?: Database;
  /** Settings by dotted path, as flags are typed. */
  settings?: Record<string, string | boolean>;
  clock?: TestClock;
  source?: (blockchain: string) => RpcSource | undefined;
  /** Runs rates, observer and webhooks; off by default. */
  start?: boolean;
  /** An open database of an earlier app, for restarts. */
  database_url?: string;
  /** One daemon also where scenes have several: the test counts, replaces or sets what a daemon has in its memory. */
  single?: boolean;
}

const fixedRates = {
  'rates.source': 'fixed',
  'rates.usd.TON': '4',
  'rates.usd.SOL': '200',
  'rates.usd.BTC': '100000',
  'rates.usd.LTC': '100',
};

export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { database = 'sqlite', clock = testClock() } = options;
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-test-'));
  const own = options.database_url ? undefined : await newDatabase(database);
  const url = options.database_url ?? own?.url ?? '';
  const config = configFor(directory, url, options.settings ?? {});
  const log: string[] = [];
  const open = () =>
    openDaemon(config, { url, migrated: own !== undefined, log, options: { ...options, clock } });
  const first = await open();
  const daemons = [first];
  // A test that hands over a database starts its daemons itself.
  const wanted = options.single || !own || url.startsWith('sqlite:') ? 1 : DAEMONS;
  while (daemons.length < wanted) daemons.push(await open());
  let accounts = 0;
  let turn = 0;
  return {
    app: first.app,
    clock,
    log,
    fetch: (method, path, call) =>
      serviceAt({
        base_url: config.public_url,
        send: (request) => (daemons[turn++ % daemons.length] as Daemon).http.h3.fetch(request),
        lines: () => log.slice(-LINES_SHOWN),
      }).fetch(method, path, call),
    merchant: (email = `merchant${++accounts}-${clock.now()}@example.com`) => merchantOf(first.app, email),
    superuser: () => superuserOf(first.app, `operator${++accounts}@example.com`),
    async stop() {
      for (const { http, app, db } of daemons) {
        http.stop();
        await app.stop();
        await db.close();
      }
      await own?.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** With `DAEMONS=3` each scene on PostgreSQL has three, which answer in turns; the test itself works with the first. */
const DAEMONS = Number(process.env.DAEMONS ?? 1);

type Daemon = Awaited<ReturnType<typeof openDaemon>>;

interface Scene {
  url: string;
  migrated: boolean;
  log: string[];
  options: TestAppOptions & { clock: TestClock };
}

async function openDaemon(config: Config, { url, migrated, log, options }: Scene) {
  const read = config.database_read_url === undefined ? undefined : { url: config.database_read_url };
  const db = await openDb(url, { read });
  if (!migrated) await migrate(db);
  const secrets = createSecrets(config.secret ?? '');
  const { clock } = options;
  const app = openApp({
    config,
    db,
    ledger: await openLedger(db, secrets),
    secrets,
    log: createLog({ level: 'debug', sink: { write: (line) => log.push(line) } }),
    clock,
    // Unless a test says where its chains are, none can be asked: no test reaches a public provider.
    source: (id) => options.source?.(id) ?? (hasProvider(config, id) ? undefined : unreachable),
  });
  clock.whileRunning(() => app.clock_check.report(app.log));
  await app.observer.resume();
  await seedDeploymentWallets(app);
  const http = createHttp(app, routes);
  if (options.start) app.start();
  return { app, db, http };
}

const configFor = (
  data_dir: string,
  database_url: string,
  settings: Record<string, string | boolean>,
): Config =>
  loadConfig({
    flags: {
      data_dir,
      database_url,
      secret: 'a secret for tests only',
      ...fixedRates,
      ...settings,
    },
    env: {},
    cwd: data_dir,
  }).config;

/** Lines of the log that a failure of the daemon's own is reported with. */
const LINES_SHOWN = 3;

const hasProvider = ({ blockchains }: Config, id: string) =>
  (blockchains[id]?.url ?? blockchains[id]?.urls) !== undefined;
