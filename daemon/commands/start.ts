// `gatewayd start`: one daemon from the first check to the last closed file.

import type { Db } from '../../data/db/open.ts';
import { changeMeta } from '../../data/meta.ts';
import { firstPasswordFile } from '../accounts/first-password.ts';
import { ensureSuperuser } from '../accounts/superuser.ts';
import { openBackupDirectory } from '../backup/backup.ts';
import { createHttp } from '../http/mount.ts';
import { openWaits, type Waits } from '../loop.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { createMetricsHttp } from '../metrics/serve.ts';
import { assertInUse } from '../move/mark.ts';
import { openApp, type RunningApp, seedDeploymentWallets } from '../process/app.ts';
import {
  assertNetworkMatches,
  assertSecretMatches,
  openSecrets,
  prepareDataDir,
} from '../process/data-dir.ts';
import { openDatabase } from '../process/database.ts';
import { openHangups } from '../process/hangups.ts';
import { watchHeap } from '../process/heap.ts';
import { lockDatabase } from '../process/instance-lock.ts';
import { assertGatewaysMatch } from '../process/known-gateways.ts';
import { openLedger } from '../process/ledger-key.ts';
import { createLog } from '../process/log.ts';
import { takeOwner } from '../process/owner.ts';
import { loadRest } from '../process/rest.ts';
import { systemRuntime } from '../process/runtime.ts';
import { type Serving, serve, unusable } from '../process/serve.ts';
import { STOP_DEADLINE_MS, stopDaemon } from '../process/stop.ts';
import { openSupervisor } from '../process/supervisor.ts';
import { upgrade } from '../process/upgrade.ts';
import { routes } from '../routes/routes.ts';
import { type Config, ConfigError, type Effective } from '../settings/config.ts';
import { openReloading, type Reloading } from '../settings/reload.ts';
import { STARTED_AT } from '../verify/books.ts';
import { configOf } from './options.ts';

const EXIT_CONFIG = 78;
const SIGNALS = { SIGTERM: 15, SIGINT: 2 } as const;

type Log = ReturnType<typeof createLog>;

/** Runs until a signal; the promise resolves once the daemon is ready, after `onStarted`. */
export async function start(
  options: Record<string, unknown> & { yes?: boolean },
  onStarted: () => void = () => {},
): Promise<void> {
  const effective = configOf(options);
  const { config } = effective;
  const secrets = secretsIn(config);
  const log = createLog({
    level: config.log_level,
    pretty: process.stderr.isTTY === true,
    secrets,
  });
  const hangups = openHangups();
  const reloading = openReloading(effective, { config, load: () => configOf(options) });
  const { service_links } = effective;
  if (service_links.length > 0)
    log.info(
      { variables: service_links },
      'variables that Kubernetes sets for a Service of this name are no settings and are passed over',
    );
  surviveWriters();
  takeOwner(config);
  prepareDataDir(config);
  if (config.backup.to !== undefined) openBackupDirectory(config);
  const lock = lockDatabase(config.database_url);
  const undo: (() => unknown)[] = [() => lock.release()];
  try {
    const serving = await serve(config);
    undo.unshift(() => serving.stop());
    const scraped = await serveMetrics(config);
    undo.unshift(() => scraped?.stop());
    const metrics = createMetrics();
    const onTimed = (kind: string, ms: number) => metrics.database_seconds.observe([kind], ms / 1000);
    const db = await openDatabase(config, { log, runtime: systemRuntime, onTimed });
    undo.unshift(() => db.close());
    const app = await prepare(effective, { db, log, metrics, serving, undo, yes: options.yes === true });
    const http = createHttp(app, routes);
    const supervisor = openSupervisor(process.env, log);
    const waits = openWaits();
    const stop = async () => {
      hangups.ignore();
      supervisor.stopping();
      await Promise.all([stopDaemon({ serving, app, db, waits }), scraped?.stop()]);
      lock.release();
    };
    const end = endOnSignal(log, { stop, waits });
    hangups.listen({
      onReload: () => reload({ app, log, reloading, secrets }),
      onTerminalGone: () => end('SIGHUP'),
    });
    endWithParent(log);
    endOnBug(log, config);
    serving.open(http);
    scraped?.open(createMetricsHttp(app));
    const mode = config.demo ? `${config.network}, demo` : config.network;
    process.stdout.write(`gatewayd ready on ${serving.url} (${mode}${unread(app)})\n`);
    supervisor.ready();
    app.start();
    onStarted();
    watchHeap();
    loadRest(log);
  } catch (error) {
    for (const step of undo) await step();
    throw error;
  }
}

/** What no line of the log may show. */
const secretsIn = (config: Config): (string | undefined)[] => [
  config.secret,
  config.previous_secret,
  config.secret_as_written,
  config.previous_secret_as_written,
  config.admin.password,
  config.platform_key,
  config.webhook_secret,
  config.telegram.bot_token,
  config.metrics.token,
  config.backup.passphrase,
  ...Object.values(config.blockchains).map((chain) => chain.api_key),
];

interface Reload {
  app: RunningApp;
  log: Log;
  reloading: Reloading;
  /** Those of the log, which keeps those of before. */
  secrets: (string | undefined)[];
}

/** Reads the settings again. What cannot be used leaves those in force, and is one line of the log. */
async function reload({ app, log, reloading, secrets }: Reload): Promise<void> {
  try {
    const { taken, waiting } = reloading.read();
    secrets.push(...secretsIn(app.config).filter((secret) => !secrets.includes(secret)));
    const level = app.config.log_level;
    const isLouder = log.isLevelEnabled(level === 'silent' ? 'fatal' : level);
    // The line is written by the more talkative of both levels.
    if (!isLouder) log.level = level;
    await app.reload(taken);
    const says = { taken_over: taken, need_restart: waiting };
    if (waiting.length > 0) log.warn(says, 'settings reloaded; some of them need a restart');
    else log.info(says, 'settings reloaded');
    log.level = level;
  } catch (error) {
    if (error instanceof ConfigError) {
      const reason = error.message.replace(/\s*\n\s*/g, ' ');
      log.error({ reason }, 'the settings were not reloaded: those in force stay');
    } else log.error({ err: error }, 'settings were read again, and not all of them could be taken over');
  }
}

/** What could not be read before the start; of the rest nothing is known yet. */
function unread({ blindness }: RunningApp): string {
  const blind = blindness.all().map(({ blockchain }) => blockchain);
  return blind.length === 0 ? '' : `; cannot read ${blind.join(', ')}`;
}

interface Prepared {
  db: Db;
  log: Log;
  metrics: Metrics;
  serving: Serving;
  undo: (() => unknown)[];
  /** Whether the operator agreed to an upgrade without a backup. */
  yes: boolean;
}

/** The port of the metrics, where they have one of their own; bound before the database is touched, as the other one. */
async function serveMetrics({ metrics: { host, port } }: Config): Promise<Serving | undefined> {
  return port === undefined ? undefined : serve({ host, port, flag: '--metrics-port' });
}

async function prepare(
  { config, origins }: Effective,
  { db, log, metrics, serving, undo, yes }: Prepared,
): Promise<RunningApp> {
  const clock = { ms: Date.now, monotonic_ms: () => performance.now() };
  const { steps, copy } = await upgrade(db, { config, yes, now: Math.floor(clock.ms() / 1000) });
  if (copy !== null)
    log.warn({ steps, copy }, 'the schema was brought up to date; the database as it was is next to it');
  await assertInUse(db.query);
  const secrets = openSecrets(config);
  await assertSecretMatches(db, secrets, config.data_dir);
  await assertNetworkMatches(db, config);
  await assertGatewaysMatch(db, config, Math.floor(clock.ms() / 1000));
  await changeMeta(db.query, STARTED_AT, String(Math.floor(clock.ms() / 1000)));
  if (!origins.has('public_url') && config.port === 0) config.public_url = serving.url;
  const ledger = await openLedger(db, secrets);
  const app = openApp({ config, db, ledger, secrets, log, clock, metrics });
  // Its timers would keep a start that was refused from ending.
  undo.unshift(() => app.stop());
  await app.observer.resume();
  await seedDeploymentWallets(app);
  const isShown = process.stderr.isTTY === true;
  const superuser = await ensureSuperuser(app, config, isShown ? undefined : app.first_password.store);
  await app.first_password.resume();
  if (superuser?.password && !isShown)
    log.warn(
      { superuser: superuser.email, file: firstPasswordFile(config) },
      'first start: the password of the superuser is in this file, which its first sign-in removes',
    );
  // To the terminal and nowhere else: what a service writes is stored for long, and others read it.
  else if (superuser?.password)
    process.stderr.write(
      `\nFirst start: superuser ${superuser.email}, password ${superuser.password}\nIt is shown only once.\n\n`,
    );
  if (superuser && config.network === 'mainnet')
    process.stderr.write(nextSteps(serving.url, superuser.email));
  return app;
}

/** What the operator of an empty deployment does next. */
const nextSteps = (url: string, email: string): string => `Next, in another terminal:
  gw login ${email} --url ${url}
  gw setup    asks for wallets, name, mail, webhook and a first unit
  gw doctor   shows what is still missing

`;

/** A reader of our output that went away is no reason to stop taking payments. */
function surviveWriters(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** `gw dev` has its daemon for as long as itself, also where it is killed. Other supervisors may come and go. */
function endWithParent(log: Log): void {
  if (process.env.GW_SANDBOX === undefined || process.connected === undefined) return;
  const end = () => {
    log.info('gw dev is gone');
    process.kill(process.pid, 'SIGTERM');
  };
  process.once('disconnect', end);
  // The channel alone keeps nothing running.
  process.channel?.unref();
  // Its other end may be gone already.
  if (!process.connected) end();
}

function endOnSignal(
  log: Log,
  { stop, waits }: { stop: () => Promise<void>; waits: Waits },
): (signal: 'SIGHUP') => Promise<void> {
  let stopping = false;
  const end = async (signal: keyof typeof SIGNALS | 'SIGHUP') => {
    if (stopping && signal === 'SIGHUP') return;
    if (stopping) process.exit(128 + SIGNALS[signal as keyof typeof SIGNALS]);
    stopping = true;
    log.info({ signal }, 'stopping');
    const deadline = setTimeout(() => {
      log.error({ unfinished: waits.names() }, 'stopping takes too long: ending now');
      process.exit(1);
    }, STOP_DEADLINE_MS);
    try {
      await stop();
      log.info('stopped');
      process.exitCode = 0;
    } catch (error) {
      log.error({ err: error }, 'stopping failed');
      process.exitCode = 1;
    }
    clearTimeout(deadline);
    process.exit();
  };
  for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[])
    process.on(signal, () => void end(signal));
  return end;
}

/** What nothing caught leaves the process in an unknown state: it is logged, and the supervisor starts a new one. */
function endOnBug(log: Log, { host, port }: Config): void {
  const end = (error: unknown) => {
    if ((error as { code?: string }).code === 'EADDRINUSE') {
      process.stderr.write(`gatewayd: ${unusable(host, port, error).message}\n`);
      process.exit(EXIT_CONFIG);
    }
    log.error({ err: error }, 'unexpected failure: ending');
    process.exit(1);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
