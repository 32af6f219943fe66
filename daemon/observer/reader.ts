// Reads one blockchain: page by page from the provider into the database, then asks about what was pending.
import { accountCursors, ensureCursor, getCursor, noteFailure } from '../../data/cursors.ts';
import {
  DUE_BEGIN,
  type DuePosition,
  dueInvoices,
  watchedAddresses,
  watchedOn,
} from '../../data/invoices.ts';
import { accountsBehind, noteReading, unreadableAssets } from '../../data/proofs.ts';
import type { CursorRow, TransferRow } from '../../data/schema/tables.ts';
import { pendingTransfers } from '../../data/transfers.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import {
  type AccountRef,
  type ChainReader,
  type Gateway,
  type Network,
  type Page,
  type PendingTransfer,
  ProviderError,
  type ReadContext,
  type Rpc,
  type Tip,
  type TransferUpdate,
  type UrgentAccount,
  type WatchedAddress,
} from '../../src/chains/family.ts';
import { isOfQuestion } from '../../src/chains/or-failed.ts';
import { type SteadyClock, seconds } from '../clock.ts';
import type { ClockCheck, StoredReading } from '../process/clock-check.ts';
import {
  CursorMoved,
  type ReadScope,
  recordPage,
  recordUpdates,
  reevaluateInvoices,
  type SettleDeps,
} from '../settle/settle.ts';
import type { BlindnessKeeper } from './blindness.ts';
import { secondsUntilDeeper } from './hints/due.ts';
import type { Paces } from './pace.ts';
import { guarded, readingAnswers } from './providers/guard.ts';
import type { RpcSource } from './providers/rpc.ts';
import type { Quorum } from './quorum.ts';
import { asPending, type Turns, verifyNamed } from './verify-named.ts';
import { newestOpen, openWatchDates, type WatchDates, withElsewhere } from './watches.ts';
import { type Waits, witnessPayments } from './witness.ts';

/** Pending transfers asked about in one step. */
const PENDING_BATCH = 250;
/** Pending transfers that one reading compares what it reads with. */
const PENDING_COMPARED = 20_000;
/**
 * Readings begun in one read: each that another daemon overtakes is begun again where that one stands, and each whose
 * provider fails is begun again with the next one.
 */
const READINGS_PER_READ = 5;
/** Invoices that are due among which one reading searches for accounts to prove; the next one continues after them. */
const DUE_PER_READ = 2_000;

/** What was just read has to be read once more. */
class ReadAgain extends Error {
  override name = 'ReadAgain';
}

export interface ReaderDeps extends SettleDeps {
  clock: SteadyClock;
  clock_check: ClockCheck;
  quorum: Quorum;
  pace: Paces;
  blindness: Pick<BlindnessKeeper, 'isProbeDue'>;
}

export interface ReaderOptions {
  app: ReaderDeps;
  network: Network;
  blockchain: Blockchain;
  source: RpcSource;
  /** Requests that one reading from this provider may spend on single accounts. */
  spareRequests(label: string): number;
  /** The gateways to read now. */
  gateways(): Promise<readonly Gateway[]>;
  /** Called whenever a provider gave what a reading needs. */
  answered(): void;
}

/** What a reading says of when the next one is worth while. */
export interface ReadOutcome {
  /** Whether it found what an invoice waits for. */
  found: boolean;
  /** In so many seconds something that it read may be deep enough for an invoice; null: nothing, or it is not known when. */
  due_seconds: number | null;
  /** Whether the next reading has more to read at once, because this one came further. */
  is_unfinished: boolean;
  /** Keys of addresses with invoices that may be paid now, the newest first. */
  open: readonly string[];
  gateways: readonly Gateway[];
}

/** A reading is of the gateways that it began with. */
type Reading = Omit<ReaderOptions, 'gateways'> & {
  outcome: ReadOutcome;
  gateways: readonly Gateway[];
  chain_reader: ChainReader;
  waits: Waits;
  turns: Turns;
  watch_dates: WatchDates;
  /** Accounts that someone asked for, and those with invoices about to end. */
  urgent(): Promise<readonly UrgentAccount[]>;
};

export interface Reader {
  blockchain: Blockchain;
  source: RpcSource;
  /** What reads it, opened once. */
  chainReader(): ChainReader;
  /**
   * Reads everything new once, the accounts in `focus` first; null where others read meanwhile. Throws ProviderError where no
   * provider is left to ask; what was read before is stored.
   */
  read(focus?: readonly AccountRef[]): Promise<ReadOutcome | null>;
  /** Asks a provider what costs it least, to know whether it answers. Throws ProviderError. */
  ask(): Promise<void>;
  /** What a family is handed to talk to a provider. */
  contextFor(rpc: Rpc, label: string, gateways: readonly Gateway[]): ReadContext;
}

export function createReader(options: ReaderOptions): Reader {
  const { app, blockchain, source } = options;
  let opened: ChainReader | undefined;
  const chainReader = () => (opened ??= guarded(blockchain.family.open(), app.log));
  const waits: Waits = new Map();
  const turns: Turns = new Map();
  const watch_dates = openWatchDates(app, blockchain.id);
  let due_position = DUE_BEGIN;
  return {
    blockchain,
    source,
    chainReader,
    contextFor: (rpc, label, gateways) => contextOf({ ...options, gateways }, rpc, label),
    ask,
    async read(focus = []) {
      for (let reading = 1; ; reading++) {
        try {
          return await readOnce(focus);
        } catch (error) {
          if (error instanceof ProviderError) {
            await noteFailure(app.db.query, blockchain.id, error.message, seconds(app.clock));
            if (reading === READINGS_PER_READ || source.retryAt() > app.clock.ms()) throw error;
          } else if (!(error instanceof CursorMoved || error instanceof ReadAgain)) throw error;
          else if (reading === READINGS_PER_READ) return null;
        }
      }
    },
  };

  async function readOnce(focus: readonly AccountRef[]): Promise<ReadOutcome> {
    const started_at = seconds(app.clock);
    const { watched, open } = await watchedNow({ ...options, watch_dates });
    const gateways = await options.gateways();
    const outcome: ReadOutcome = { found: false, due_seconds: null, is_unfinished: false, open, gateways };
    if (gateways.length === 0) return outcome;
    // What could not be read is not sold, so that no one would wait for it: it is read until it can be.
    const isRefused = async () => (await unreadableAssets(app.db.query, blockchain.id)).length > 0;
    if (watched.length === 0 && !(await isRefused())) {
      await probe();
      return outcome;
    }
    await ensureCursor(app.db.query, blockchain.id);
    const urgent = async () => [...focus, ...(await dueAccounts())];
    const reading: Reading = {
      ...options,
      outcome,
      gateways,
      chain_reader: chainReader(),
      waits,
      turns,
      watch_dates,
      urgent,
    };
    const read_through = await source.use(async (rpc, label) => {
      const through = await readAndRecheck(reading, contextOf(reading, rpc, label), watched);
      await witnessPayments(reading, label, (other, its_label) => contextOf(reading, other, its_label));
      return through;
    });
    await noteReading(app.db.query, blockchain.id, { started_at, read_through });
    options.answered();
    return outcome;
  }

  /** Where nothing is watched, whether it could be read: a coin is offered before the first invoice in it. */
  async function probe(): Promise<void> {
    if (!app.blindness.isProbeDue(blockchain.id)) return;
    await ask();
    options.answered();
  }

  async function ask(): Promise<void> {
    await source.use((rpc) => blockchain.family.identify(rpc));
  }

  /** Accounts of invoices whose time is over and that are not proved: some of them in each reading, in turns. */
  async function dueAccounts(): Promise<UrgentAccount[]> {
    const horizon = seconds(app.clock);
    const rows = await dueInvoices(app.db.query, blockchain.id, {
      horizon,
      after: due_position,
      limit: DUE_PER_READ,
    });
    due_position = rows.length < DUE_PER_READ ? DUE_BEGIN : (rows.at(-1) as DuePosition);
    const accounts = new Map<string, UrgentAccount>();
    // The one that is due first comes last, and stays.
    for (const { address_key, chain, proved, due_at: through } of rows.toReversed())
      if (!proved) accounts.set(`${address_key} ${chain}`, { address_key, chain, through });
    return [...accounts.values()].reverse();
  }
}

async function watchedNow({
  app,
  blockchain,
  watch_dates,
}: Pick<Reading, 'app' | 'blockchain' | 'watch_dates'>): Promise<{
  watched: WatchedAddress[];
  open: string[];
}> {
  const now = seconds(app.clock);
  const rows = await watch_dates(await watchedAddresses(app.db.query, blockchain.id, now));
  const elsewhere = await watchedOn(app.db.query, app.config.chains.sharingAddresses(blockchain.id), now);
  return { watched: withElsewhere(rows, elsewhere, now), open: newestOpen(rows, now) };
}

function contextOf(
  {
    app,
    network,
    blockchain,
    gateways,
    source,
    spareRequests,
  }: Pick<Reading, 'app' | 'network' | 'blockchain' | 'gateways' | 'source' | 'spareRequests'>,
  rpc: Rpc,
  label: string,
): ReadContext {
  return {
    rpc,
    network,
    blockchain: blockchain.id,
    gateways,
    now: () => seconds(app.clock),
    local: (chain_time) => app.clock_check.local(blockchain.id, chain_time),
    askOther: (work) =>
      source.askOther(label, (other, its_label) => readingAnswers(app.log, its_label, () => work(other))),
    spare_requests: spareRequests(label),
  };
}

/**
 * What was read before is asked about even where reading breaks off: one blockchain's unreadable account, or one odd
 * answer, must not keep a payment from its confirmations.
 */
async function readAndRecheck(
  reading: Reading,
  context: ReadContext,
  watched: readonly WatchedAddress[],
): Promise<number | null> {
  const { app, blockchain } = reading;
  const row = await getCursor(app.db.query, blockchain.id);
  const read = { tip: storedTip(row), read_through: null as number | null };
  if (blockchain.family.keeps_time) recallClock(app.clock_check, row);
  try {
    await readPages(reading, context, { row, watched, read });
  } catch (error) {
    if (isOfQuestion(error)) await recheck(reading, context, read.tip);
    throw error;
  }
  await recheck(reading, context, read.tip);
  return read.read_through;
}

interface Pages {
  row: CursorRow | undefined;
  watched: readonly WatchedAddress[];
  /** What is known so far. */
  read: { tip: Tip | null; read_through: number | null };
}

async function readPages(
  reading: Reading,
  context: ReadContext,
  { row, watched, read }: Pages,
): Promise<void> {
  const { app, blockchain, chain_reader } = reading;
  let version = row?.version ?? 0;
  let is_first = true;
  const request = {
    addresses: async () => (await watchedNow(reading)).watched,
    cursor: isBehindAll(row, watched) ? null : (row?.cursor ?? null),
    accounts: (keys: readonly string[]) => accountCursors(app.db.query, blockchain.id, keys),
    urgent: reading.urgent,
    behind: () => accountsBehind(app.db.query, blockchain.id, seconds(app.clock)),
    pending: async () => (await pendingAfter(reading, '', PENDING_COMPARED)).map(asPending),
    read_through: row?.read_through ?? null,
  };
  for await (const page of chain_reader.read(context, request)) {
    if (page.tip && is_first && blockchain.family.keeps_time) {
      // The first tip of all may show that the times of this page were taken from a wrong clock: it is read again.
      const { time, age_seconds } = page.tip;
      if (!app.clock_check.observe(blockchain.id, time, age_seconds)) throw new ReadAgain();
    }
    if (page.tip) is_first = false;
    const stored = await recordPage(app, scopeOf(reading), version, page);
    version = stored.version;
    if (page.pace) app.pace.note(blockchain.id, page.pace);
    if (page.is_unfinished) reading.outcome.is_unfinished = true;
    if (isProgress(page)) reading.answered();
    read.tip = page.tip ?? read.tip;
    if (stored.touched.length > 0) reading.outcome.found = true;
    read.read_through = page.read_through ?? read.read_through;
    await reevaluateInvoices(app, stored.touched);
  }
}

/** A tip alone is none: a provider may give that and nothing else, each time. */
const isProgress = ({ cursor, accounts = [], transfers }: Page): boolean =>
  cursor !== undefined || accounts.length > 0 || transfers.length > 0;

/** What was read last before a start tells of our clock, where nothing failed since. */
function recallClock(clock_check: ClockCheck, row: CursorRow | undefined): void {
  const reading = storedReading(row);
  if (row && reading && (row.last_error_at ?? 0) <= reading.read_at)
    clock_check.recall(row.blockchain, reading);
}

/** The last reading of a blockchain that went well to its end; undefined where there is none. */
export function storedReading(row: CursorRow | undefined): StoredReading | undefined {
  const { tip_time, last_ok_at: read_at } = row ?? {};
  return tip_time == null || read_at == null ? undefined : { tip_time, read_at };
}

const storedTip = (row: CursorRow | undefined): Tip | null =>
  row?.tip_height == null ? null : { height: row.tip_height, hash: row.tip_hash, time: row.tip_time ?? 0 };

/** Nothing watched now is older than what was read last: reading may begin at the addresses instead of the old cursor. */
function isBehindAll(row: CursorRow | undefined, watched: readonly WatchedAddress[]): boolean {
  if (row === undefined || (row.read_through ?? row.last_ok_at) === null) return false;
  const read_at = Math.max(row.read_through ?? 0, row.last_ok_at ?? 0);
  return watched.every((address) => address.since > read_at);
}

async function recheck(reading: Reading, context: ReadContext, tip: Tip | null): Promise<void> {
  const { app, chain_reader } = reading;
  const unread: TransferRow[] = [];
  let after = '';
  for (;;) {
    const rows = await pendingAfter(reading, after, PENDING_BATCH);
    if (rows.length === 0) break;
    unread.push(...rows.filter((row) => row.unread === 1));
    const pending = rows.map(asPending);
    const updates = await chain_reader.recheck(context, pending, tip);
    noteDue(reading, updates, pending);
    await reevaluateInvoices(app, await recordUpdates(app, scopeOf(reading), updates, pending));
    after = rows.at(-1)?.id ?? '';
    if (rows.length < PENDING_BATCH) break;
  }
  await verifyNamed({ ...reading, scope: scopeOf(reading), tip }, context, unread);
}

/** Notes when the first of these may be deep enough. */
function noteDue(
  { app, outcome, gateways, blockchain }: Reading,
  updates: readonly TransferUpdate[],
  pending: readonly PendingTransfer[],
): void {
  const block_seconds = app.pace.of(blockchain.id);
  const chains = new Map(pending.map(({ txid, index, chain }) => [`${txid} ${index}`, chain]));
  for (const update of updates) {
    const chain = chains.get(`${update.txid} ${update.index}`);
    const gateway = gateways.find((one) => one.chain === chain);
    const due = gateway ? secondsUntilDeeper(gateway, update, block_seconds) : null;
    if (due !== null) outcome.due_seconds = Math.min(due, outcome.due_seconds ?? due);
  }
}

const pendingAfter = ({ app, blockchain }: Reading, after: string, limit: number): Promise<TransferRow[]> =>
  pendingTransfers(app.db.query, blockchain.id, after, limit);

const scopeOf = ({ app, blockchain, gateways }: Reading): ReadScope => ({
  blockchain: blockchain.id,
  gateways,
  now: seconds(app.clock),
});
