// What every handler and loop of one daemon shares; built once by process/app.ts, passed by hand.
import type { Logger } from 'pino';
import type { Db } from '../data/db/open.ts';
import type { Ledger } from '../data/ledger.ts';
import type { Gateway } from '../src/chains/family.ts';
import type { FirstPassword } from './accounts/first-password.ts';
import type { GoogleKeys } from './accounts/google-keys.ts';
import type { WalletCheck } from './accounts/wallet-check.ts';
import type { Checkout } from './checkout/checkout.ts';
import type { ClaimGate } from './claims/gate.ts';
import type { SteadyClock } from './clock.ts';
import type { Discovery } from './discovery/discovery.ts';
import type { EventStreams } from './events/streams.ts';
import type { PublicInvoices } from './invoices/public.ts';
import type { Watches } from './invoices/watches.ts';
import type { Mail } from './mail/mail.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Blindness } from './observer/blindness.ts';
import type { Observer } from './observer/observer.ts';
import type { Paces } from './observer/pace.ts';
import type { Quorum } from './observer/quorum.ts';
import type { ClockCheck } from './process/clock-check.ts';
import type { DatabaseWatch } from './process/database-watch.ts';
import type { Instance } from './process/instance.ts';
import type { Runtime } from './process/runtime.ts';
import type { SchemaWatch } from './process/schema-watch.ts';
import type { Secrets } from './process/secrets.ts';
import type { Signals } from './process/signals.ts';
import type { Rates } from './rates/rates.ts';
import type { Config } from './settings/config.ts';
import type { Webhooks } from './webhooks/queue.ts';

export interface App {
  config: Config;
  db: Db;
  database_watch: DatabaseWatch;
  ledger: Ledger;
  log: Logger;
  metrics: Metrics;
  clock: SteadyClock;
  instance: Instance;
  schema: SchemaWatch;
  runtime: Runtime;
  clock_check: ClockCheck;
  quorum: Quorum;
  /** The enabled gateways of the configured network. */
  gateways: readonly Gateway[];
  rates: Rates;
  observer: Observer;
  blindness: Blindness;
  pace: Paces;
  webhooks: Webhooks;
  secrets: Secrets;
  mail: Mail;
  wallet_check: WalletCheck;
  first_password: Pick<FirstPassword, 'store' | 'resume' | 'signedIn'>;
  google_keys: GoogleKeys;
  watches: Watches;
  public_invoices: PublicInvoices;
  signals: Signals;
  event_streams: EventStreams;
  discovery: Discovery;
  checkout: Checkout;
  claims: ClaimGate;
  /** Counts a payment made for a wallet to sign on a blockchain; milliseconds to wait where this minute's are used up. */
  compose_limit(blockchain: string, ip: string): Promise<number>;
  /** What this daemon has counted and can be read of it now, for Prometheus. Never rejects. */
  scrape(): Promise<string>;
}
