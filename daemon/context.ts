// What every handler and loop of one daemon shares; built once by main.ts, passed by hand.
import type { Logger } from 'pino';
import type { Db } from '../data/db/open.ts';
import type { Ledger } from '../data/ledger.ts';
import type { Gateway } from '../src/chains/family.ts';
import type { Mail } from './mail/mail.ts';
import type { Observer } from './observer/observer.ts';
import type { Quorum } from './observer/quorum.ts';
import type { ClockCheck } from './process/clock-check.ts';
import type { Instance } from './process/instance.ts';
import type { Runtime } from './process/runtime.ts';
import type { Secrets } from './process/secrets.ts';
import type { Rates } from './rates/rates.ts';
import type { Config } from './settings/config.ts';
import type { Webhooks } from './webhooks/queue.ts';

/** The only source of time; tests set it. */
export interface Clock {
  /** Unix milliseconds. */
  ms(): number;
}

/** Time as the daemon keeps it: the machine's clock, which may be wrong or be set, and one that only goes forward. */
export interface SteadyClock extends Clock {
  /** Milliseconds since some moment; never set, never back. */
  monotonic_ms(): number;
}

/** Unix seconds, rounded down. */
export const seconds = (clock: Clock): number => Math.floor(clock.ms() / 1000);

export interface App {
  config: Config;
  db: Db;
  ledger: Ledger;
  log: Logger;
  clock: SteadyClock;
  instance: Instance;
  runtime: Runtime;
  clock_check: ClockCheck;
  quorum: Quorum;
  /** The enabled gateways of the configured network. */
  gateways: readonly Gateway[];
  rates: Rates;
  observer: Observer;
  webhooks: Webhooks;
  secrets: Secrets;
  mail: Mail;
}
