// Assembles one daemon from its configuration and an open database: opens all that has state, starts and stops its loops.
import type { Logger } from 'pino';
import type { Db } from '../../data/db/open.ts';
import type { Ledger } from '../../data/ledger.ts';
import { putDeploymentWallet } from '../../data/merchants.ts';
import { changeMeta } from '../../data/meta.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { openFirstPassword } from '../accounts/first-password.ts';
import { openGoogleKeys } from '../accounts/google-keys.ts';
import { openWalletCheck } from '../accounts/wallet-check.ts';
import { openBackups } from '../backup/schedule.ts';
import { openCheckout } from '../checkout/checkout.ts';
import { openClaimGate } from '../claims/gate.ts';
import { type SteadyClock, seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { openDiscovery } from '../discovery/discovery.ts';
import { openEventStreams } from '../events/streams.ts';
import { limitOfBlockchain } from '../http/limits.ts';
import { openPublicInvoices } from '../invoices/public.ts';
import { openWatches } from '../invoices/watches.ts';
import { openWaits, type Waits } from '../loop.ts';
import { openMail } from '../mail/mail.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { createScrape } from '../metrics/scrape.ts';
import { type Notify, openNotify } from '../notify/notify.ts';
import { openBlindness } from '../observer/blindness.ts';
import { openWatched } from '../observer/hints/watched.ts';
import { type ObserverOptions, openObserver } from '../observer/observer.ts';
import { openPaces } from '../observer/pace.ts';
import { createQuorum } from '../observer/quorum.ts';
import { openRates, type RatesOptions } from '../rates/rates.ts';
import { renewableRates } from '../rates/renewable.ts';
import { openRetention } from '../retention/retention.ts';
import type { Config } from '../settings/config.ts';
import { openReceipts } from '../shop/receipts.ts';
import { openWebhooks } from '../webhooks/queue.ts';
import { webhookSecretsOf } from '../webhooks/signing.ts';
import { createClockCheck } from './clock-check.ts';
import { openDatabaseWatch } from './database-watch.ts';
import { createInstance } from './instance.ts';
import { renewable } from './renewable.ts';
import { type Runtime, runtimeOf } from './runtime.ts';
import { openSchemaWatch } from './schema-watch.ts';
import { openSecretWatch } from './secret-watch.ts';
import type { Secrets } from './secrets.ts';
import { openSignals } from './signals.ts';

export interface AppOptions {
  config: Config;
  db: Db;
  ledger: Ledger;
  secrets: Secrets;
  log: Logger;
  clock: SteadyClock;
  /** What was counted before. */
  metrics?: Metrics;
  /** For a simulator: what stands in for the machine. */
  runtime?: Runtime;
  /** For tests: where blockchains and rates are read from. */
  source?: ObserverOptions['source'];
  rate_bases?: RatesOptions['bases'];
}

export interface RunningApp extends App {
  notify: Notify;
  /** Starts rates, observer and webhooks; returns at once. */
  start(): void;
  /** Takes over settings of these names, which are in the configuration already: what is under way ends as it began. */
  reload(changed: readonly string[]): Promise<void>;
  /**
   * Stops the loops; what is in flight is finished or left for the next start. What requests in flight need works until they
   * are `answered`. The database stays open.
   */
  stop(answered?: Promise<unknown>, waits?: Waits): Promise<void>;
}

export function openApp(options: AppOptions): RunningApp {
  const { config, db, ledger, secrets, log, clock: machine_clock } = options;
  const { metrics = createMetrics(), runtime = runtimeOf(config) } = options;
  const clock_check = createClockCheck(machine_clock);
  const { clock } = clock_check;
  const gateways = config.chains.enabled(config.network, config.gateways, config.blockchains);
  const rates = ratesOf(gateways, { config, clock, log, runtime, bases: options.rate_bases });
  const instance = createInstance({ db, clock, log, runtime, secrets });
  const secret_watch = openSecretWatch({ db, secrets, instance, log, runtime });
  const signals = openSignals({ db, log, runtime });
  const schema = openSchemaWatch({ db, signals, log, runtime });
  const quorum = createQuorum(config);
  const pace = openPaces({ config, db });
  const database_watch = openDatabaseWatch({ db, clock, log, runtime });
  const own = { config, db, database_watch, clock, log, runtime };
  const counted = { config, db, clock, secrets };
  const secretsOf = (merchant_id: string | null) => webhookSecretsOf(counted, merchant_id);
  const webhooks = openWebhooks({ ...own, signals, metrics, resting: instance.resting, secretsOf });
  const shared = { ...own, ledger, metrics, clock_check, quorum, signals, gateways, pace, rates };
  const mail = openMail({ config, log, clock });
  const first_password = openFirstPassword(own);
  const retention = renewable((again) => openRetention({ ...own, ...(again ? { first_ms: 0 } : {}) }));
  const jobs = [openBackups(own), retention, openReceipts({ ...own, mail }), first_password];
  const blindness = openBlindness(own);
  const watched = openWatched(signals, runtime);
  const checkout = openCheckout({ config, db, clock, log, runtime, blindness, watched });
  const observer = openObserver({
    app: { ...shared, webhooks, blindness, watched, daemon_id: instance.id, resting: instance.resting },
    source: options.source,
    runtime,
  });
  instance.onRest(() => void observer.rest());
  signals.onOthers('daemons', () => instance.check());
  const notify = renewable(() =>
    openNotify({ app: { ...shared, observer, blindness, instance, schema, mail, runtime } }),
  );
  const discovery = openDiscovery({ config, db, clock, log });
  const rest = openRest({ observer, webhooks, jobs, database_watch, secret_watch, instance });
  schema.onOutdated(() => {
    rest().catch((error: unknown) => log.error({ err: error }, 'what was under way could not be ended'));
  });
  return {
    ...shared,
    secrets,
    instance,
    schema,
    runtime,
    webhooks,
    observer,
    blindness,
    mail,
    wallet_check: openWalletCheck({ observer, clock, runtime, config, log }),
    first_password,
    google_keys: openGoogleKeys(config, runtime),
    watches: openWatches(),
    public_invoices: openPublicInvoices({ db, config, clock, watched }),
    event_streams: openEventStreams(),
    discovery,
    checkout,
    claims: openClaimGate({ db, clock, runtime, count: limitOfBlockchain(counted, 'claim_per_blockchain') }),
    compose_limit: limitOfBlockchain(counted, 'compose_per_blockchain'),
    get notify() {
      return notify.now;
    },
    scrape: createScrape({ ...shared, runtime, instance, schema, webhooks, observer, blindness }),
    start() {
      database_watch.start();
      instance.start(() => ({ reads: observer.reads(), delivering: webhooks.underWay() }));
      secret_watch.start();
      signals.start();
      rates.start();
      observer.start();
      webhooks.kick();
      for (const job of jobs) job.start();
      notify.start();
      schema.start();
    },
    reload: (changed) =>
      renewChanged(changed, {
        config,
        observer,
        renewed: { notify, heartbeat_url: notify, rates, retention },
      }),
    async stop(answered, waits = openWaits()) {
      await Promise.all([
        waits.on('schema', schema.stop()),
        waits.on('notices', notify.stop()),
        waits.on('rates', rates.stop()),
        rest(answered, waits),
        answered,
      ]);
      await waits.on('signals', signals.stop());
      mail.close();
      checkout.close();
    },
  };
}

interface Storing extends Pick<App, 'observer' | 'webhooks' | 'database_watch' | 'instance'> {
  jobs: readonly { stop(): Promise<unknown> }[];
  secret_watch: { stop(): Promise<unknown> };
}

/** Ends all that stores something: at the end, or before it where nothing may be stored any more; once. */
function openRest({ observer, webhooks, jobs, database_watch, secret_watch, instance }: Storing) {
  const end = async (answered: Promise<unknown> | undefined, waits: Waits) => {
    await Promise.all([
      waits.on('observer', observer.stop(answered)),
      waits.on('webhooks', webhooks.stop(answered)),
      ...jobs.map((job) => waits.on('jobs', job.stop())),
    ]);
    await waits.on('database', database_watch.stop());
    await waits.on('secret', secret_watch.stop());
    await waits.on('sign of life', instance.stop());
  };
  let ending: Promise<void> | undefined;
  return (answered?: Promise<unknown>, waits = openWaits()): Promise<void> => {
    ending ??= end(answered, waits);
    return ending;
  };
}

function ratesOf(
  gateways: readonly Gateway[],
  options: Omit<RatesOptions, 'currencies' | 'assets'> & { runtime: Runtime },
) {
  const currencies = [...new Set(gateways.map((gateway) => gateway.currency))];
  const assets = gateways.map(({ asset }) => asset);
  return renewableRates(() => openRates({ ...options, currencies, assets }), options.runtime);
}

interface Reloaded {
  config: Pick<Config, 'chains'>;
  observer: Pick<App['observer'], 'renew'>;
  /** By what their settings are named. */
  renewed: Record<string, { renew(): Promise<void> }>;
}

async function renewChanged(
  changed: readonly string[],
  { config, observer, renewed }: Reloaded,
): Promise<void> {
  const isOf = (name: string) => changed.some((each) => each === name || each.startsWith(`${name}.`));
  const blockchains = config.chains.blockchains.map(({ id }) => id);
  observer.renew(blockchains.filter((id) => isOf(`blockchains.${id}`)));
  const due = Object.entries(renewed).filter(([name]) => isOf(name));
  await Promise.all([...new Set(due.map(([, each]) => each))].map((each) => each.renew()));
}

/** Puts configured deployment wallets that are new or changed since the last start; what the operator set since stays. */
export async function seedDeploymentWallets({
  config,
  db,
  clock,
}: Pick<App, 'config' | 'db' | 'clock'>): Promise<void> {
  for (const [blockchain, text] of Object.entries(config.wallets)) {
    const family = config.chains.find(blockchain)?.family;
    if (!text || !family) continue;
    const { address, key } = family.normalizeAddress(text, config.network);
    await db.transaction(async (tx) => {
      if (!(await changeMeta(tx, `seeded_wallet:${blockchain}`, address))) return;
      const wallet = { blockchain, address, address_key: key, note: null, updated_at: seconds(clock) };
      await putDeploymentWallet(tx, wallet);
    });
  }
}
