// What settlement works with: what it needs of the daemon, a fact that is applied, and what comes of it.
import type { Logger } from 'pino';
import type { Db, Tx } from '../../data/db/open.ts';
import type { Ledger } from '../../data/ledger.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import type { Gateway } from '../../src/chains/family.ts';
import type { Fact, Verdict } from '../../src/invoice.ts';
import type { LedgerHead } from '../../src/ledger.ts';
import type { Clock } from '../clock.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Quorum } from '../observer/quorum.ts';
import type { ClockCheck } from '../process/clock-check.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Signals } from '../process/signals.ts';
import type { Rates } from '../rates/rates.ts';
import type { Config } from '../settings/config.ts';
import type { Webhooks } from '../webhooks/queue.ts';

export interface SettleDeps {
  db: Db;
  ledger: Ledger;
  clock: Clock;
  clock_check: Pick<ClockCheck, 'trouble' | 'hasRun'>;
  log: Logger;
  config: Pick<Config, 'public_url' | 'chains' | 'network' | 'gateways' | 'blockchains'>;
  webhooks: Pick<Webhooks, 'kick'>;
  signals: Pick<Signals, 'announce'>;
  quorum: Pick<Quorum, 'needed'>;
  rates: Pick<Rates, 'rate'>;
  metrics: Pick<Metrics, 'payment_seen_seconds' | 'payment_confirmed_seconds'>;
  runtime: Pick<Runtime, 'elapsed_ms' | 'turn'>;
  /** Aborts when the daemon is asked to stop: what is due and not begun is left for others, or for the next start. */
  stopping?: AbortSignal;
}

/** What is written, with who caused it. */
export interface Step {
  deps: SettleDeps;
  tx: Tx;
  invoice: InvoiceRow;
  /** Of its merchant's ledger, locked; absent for the platform's. */
  head: LedgerHead | undefined;
  /** The transfers of the invoice as they were when it was locked, oldest first. */
  own: readonly TransferRow[];
  /** The invoices that this transaction may change, by id. */
  locked: ReadonlyMap<string, InvoiceRow>;
  /** Unix seconds. */
  now: number;
  /** `observer`, `clock`, `buyer`, `merchant`, `operator:<user id>`. */
  actor: string;
  note: string | null;
  /** Whether it is a sale of the operator's own shop, which has neither limit nor fee. */
  house: boolean;
  /** Whether a transfer pays already: deep enough for this invoice, and witnessed where it asks for that. */
  counts(row: TransferRow): boolean;
}

export interface Request {
  fact: Fact;
  actor: string;
  note?: string | null;
  /** With `resolve confirm`: the transaction the operator names. */
  txid?: string | null;
  /** With `resolve confirm`: book also where no transfer of it was read. */
  force?: boolean;
}

export interface Outcome {
  invoice: InvoiceRow;
  verdict: Verdict;
}

/** Of what chain something was read, and when. */
export interface ReadScope {
  blockchain: string;
  /** Gateways of the blockchain that are read. */
  gateways: readonly Gateway[];
  /** Unix seconds. */
  now: number;
}

/** One transaction that stores what was read. */
export interface Recording extends ReadScope {
  deps: SettleDeps;
  tx: Tx;
  /** Locked, as they are now. */
  invoices: Map<string, InvoiceRow>;
  /** The same, by id. */
  transfers: Map<string, TransferRow>;
  /** Invoices whose transfers changed. */
  touched: Set<string>;
  /** Whether it was shown by a look-up alone, and by no reading. */
  is_looked_up?: boolean;
  /** The version of the cursor that stands behind this slice until its page is stored to the end; null in the last one. */
  placed_version: number | null;
  /** By address and asset: what open invoices ask for that is small enough to be dust; of the whole page. */
  small_open: Map<string, bigint[]>;
  /** By invoice, else by address and asset: how many transfers below a cent name it; of the whole page. */
  small_named: Map<string, number>;
}
