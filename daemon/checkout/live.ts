// Live status: the database is polled once for all viewers of this daemon, and each of them gets a stream of events.
import type { Logger } from 'pino';
import type { Db } from '../../data/db/open.ts';
import { changesAfter, changesAt, type LiveRow, lastEventSeq, liveRows } from '../../data/views/checkout.ts';
import { Refusal } from '../../src/errors.ts';
import { formatDecimal } from '../../src/money.ts';
import { type Clock, seconds } from '../clock.ts';
import { isLoopback, network, openPlaces } from '../http/counting.ts';
import { Feed, type Sink, Streamed } from '../http/exchange.ts';
import { requirePublic } from '../invoices/withheld.ts';
import type { Blindness } from '../observer/blindness.ts';
import type { Watched as WatchedChains } from '../observer/hints/watched.ts';
import { type Causes, createCauses } from '../process/causes.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';
import type { StatusMessage } from './status.ts';

/** How often the events of all daemons are read: well within the second that a buyer should wait at most. */
const EVENTS_MS = 250;
/** How often the invoices on screen are read themselves: confirmations make no event. */
const SWEEP_MS = 3_000;
const EVENTS_PER_POLL = 1_000;
/** Numbers of events that were passed over because their transactions are open; the oldest are left to the sweep. */
const MISSING_EVENTS = 500;
const IDS_PER_QUERY = 500;
/** Invoices that one sweep reads; the others follow in the next. */
const SWEEP_INVOICES = 5_000;
/** Of all; each has a connection, of which a daemon has a few thousand more. */
const MAX_VIEWERS = 15_000;
/** Of one invoice from one address, in as many tabs: who knows a link takes no place from its buyer. */
const MAX_OF_BOTH = 10;
/** Of one invoice: its buyer, the shop, and whom they have sent it to. */
const MAX_OF_INVOICE = 100;
const HEARTBEAT_MS = 10_000;
const RECONNECT_MS = 1_000;
const BUSY_RETRY_SECONDS = 5;

/** One open stream, in as little as it needs. */
class Viewer {
  readonly invoice_id: string;
  readonly #sink: Sink;
  readonly #leave: (viewer: Viewer) => void;
  #has_left = false;

  constructor(invoice_id: string, sink: Sink, leave: (viewer: Viewer) => void) {
    this.invoice_id = invoice_id;
    this.#sink = sink;
    this.#leave = leave;
  }

  send(message: Uint8Array): void {
    if (!this.#has_left && !this.#sink.write(message)) this.end();
  }

  /** Ends the stream. */
  end(): void {
    if (this.#has_left) return;
    this.leave();
    this.#sink.end();
  }

  /** Its reader is gone. */
  leave(): void {
    if (this.#has_left) return;
    this.#has_left = true;
    this.#leave(this);
  }
}

export interface LiveDeps {
  config: Pick<Config, 'demo' | 'public_days' | 'limits'>;
  db: Db;
  clock: Clock;
  log: Logger;
  runtime: Runtime;
  blindness: Pick<Blindness, 'of'>;
  /** Notes that somebody waits for a payment on a blockchain. */
  watched: Pick<WatchedChains, 'note'>;
}

interface Watched {
  viewers: Set<Viewer>;
  version: string;
  /** Where its payment is awaited; null once it has ended. */
  awaited_on: string | null;
}

/** Names everything of an invoice that its page shows and that may change. */
export const versionOf = ({ blindness }: Pick<LiveDeps, 'blindness'>, row: LiveRow): string =>
  [
    row.status,
    row.payment_status ?? '-',
    row.amount_match,
    row.received_atomic ?? '0',
    row.confirmations,
    row.txid ?? '-',
    ...(blindness.of(row.blockchain) === null ? [] : ['blind']),
  ].join('.');

const awaitedOn = ({ status, blockchain }: LiveRow): string | null =>
  status === 'created' ? blockchain : null;

/** Whose stream it is; `closing` aborts when the daemon stops. */
export interface Follower {
  ip: string;
  closing: AbortSignal;
}

export interface Live {
  /**
   * Follows an invoice until the caller goes away. Refuses with `invoice_not_found`, `invoice_withheld`, `too_many_streams`, and
   * with `rate_limited` where the address has its share.
   */
  stream(invoice_id: string, follower: Follower): Promise<Streamed<Feed>>;
  /** Ends all streams. */
  close(): void;
}

export const openLive = (deps: LiveDeps): Live => new Poller(deps);

/** Polls the database while there are viewers, and rests while there are none. */
class Poller implements Live {
  readonly #app: LiveDeps;
  readonly #causes: Causes;
  readonly #of_address = openPlaces();
  readonly #of_invoice = openPlaces();
  /** Of one address at one invoice. */
  readonly #of_both = openPlaces();
  readonly #closing = new WeakSet<AbortSignal>();
  readonly #watched = new Map<string, Watched>();
  #viewers = 0;
  #seq = 0;
  /** Numbers below it that were not there yet: of transactions that are open still, or came to nothing. */
  #missing: number[] = [];
  #runs = false;
  #swept_at = 0;
  #beat_at = 0;
  #sweep_from = 0;

  constructor(deps: LiveDeps) {
    this.#app = deps;
    this.#causes = createCauses(deps.log, deps.runtime);
  }

  close(): void {
    for (const { viewers } of [...this.#watched.values()]) for (const viewer of [...viewers]) viewer.end();
  }

  async stream(invoice_id: string, { ip, closing }: Follower): Promise<Streamed<Feed>> {
    // Once for all streams of this daemon.
    if (!this.#closing.has(closing)) closing.addEventListener('abort', () => this.close(), { once: true });
    this.#closing.add(closing);
    const leave = this.#enter(invoice_id, ip);
    try {
      if (!this.#runs) this.#seq = await lastEventSeq(this.#app.db.query);
      const [row] = await liveRows(this.#app.db.query, [invoice_id]);
      if (!row) throw new Refusal('invoice_not_found');
      requirePublic(this.#app, row);
      this.#run();
      return new Streamed(new Feed((sink) => this.#follow(row, sink, { leave, closing }), leave));
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Takes the places of a stream; gives how they are given back. */
  #enter(invoice_id: string, ip: string): () => void {
    const busy = (of: string, code: 'rate_limited' | 'too_many_streams' = 'too_many_streams') =>
      new Refusal(code, {
        detail: `Too many open streams ${of}`,
        retry_after: BUSY_RETRY_SECONDS,
      });
    if (this.#viewers >= MAX_VIEWERS) throw busy('at this daemon');
    const { demo, limits } = this.#app.config;
    const is_free = limits.streams_per_address === 0 || (demo && isLoopback(ip));
    const most = is_free ? MAX_VIEWERS : limits.streams_per_address;
    const address = network(ip);
    const places = [
      [this.#of_address(address, most), `from one address (${most})`],
      [
        this.#of_both(`${invoice_id} ${address}`, is_free ? MAX_VIEWERS : MAX_OF_BOTH),
        'of this invoice from one address',
      ],
      [this.#of_invoice(invoice_id, is_free ? MAX_VIEWERS : MAX_OF_INVOICE), 'of this invoice'],
    ] as const;
    const leaveAll = () => {
      for (const [leave] of places) leave?.();
    };
    const full = places.findIndex(([leave]) => leave === null);
    const [, of] = places[full] ?? [];
    if (of !== undefined) {
      leaveAll();
      throw busy(of, full < 2 ? 'rate_limited' : 'too_many_streams');
    }
    this.#viewers++;
    return once(() => {
      this.#viewers--;
      leaveAll();
    });
  }

  #follow(
    row: LiveRow,
    sink: Sink,
    { leave, closing }: { leave: () => void; closing: AbortSignal },
  ): () => void {
    const viewer = new Viewer(row.id, sink, (left) => {
      leave();
      this.#remove(left);
    });
    this.#add(row, viewer);
    viewer.send(Buffer.from(`retry: ${RECONNECT_MS}\n${this.#message(row)}`));
    if (closing.aborted) viewer.end();
    return () => viewer.leave();
  }

  #add(row: LiveRow, viewer: Viewer): void {
    const awaited_on = awaitedOn(row);
    const version = versionOf(this.#app, row);
    const watched = this.#watched.get(row.id) ?? { viewers: new Set(), version, awaited_on };
    // Of the two, one was read later: the next sweep says to all which.
    if (watched.version !== version) watched.version = '';
    watched.viewers.add(viewer);
    this.#watched.set(row.id, watched);
    if (awaited_on !== null) this.#app.watched.note(awaited_on);
  }

  #remove(viewer: Viewer): void {
    const watched = this.#watched.get(viewer.invoice_id);
    watched?.viewers.delete(viewer);
    if (watched?.viewers.size === 0) this.#watched.delete(viewer.invoice_id);
  }

  #run(): void {
    if (this.#runs) return;
    this.#runs = true;
    this.#swept_at = this.#beat_at = this.#app.runtime.elapsed_ms();
    const again = () => {
      this.#app.runtime.after(EVENTS_MS, () => {
        if (this.#viewers > 0) void this.#poll().then(again);
        else this.#runs = false;
      });
    };
    again();
  }

  /** Never throws: a database that is away for a moment must not end the streams. */
  async #poll(): Promise<void> {
    const now = this.#app.runtime.elapsed_ms();
    try {
      if (now - this.#beat_at >= HEARTBEAT_MS) {
        this.#beat_at = now;
        this.#beat();
      }
      await this.#readEvents();
      if (now - this.#swept_at >= SWEEP_MS) {
        this.#swept_at = now;
        const awaited = [...this.#watched.values()].flatMap(({ awaited_on }) => awaited_on ?? []);
        for (const blockchain of new Set(awaited)) this.#app.watched.note(blockchain);
        await this.#sweep();
      }
      this.#causes.over('poll', {}, 'live status reads the database again');
    } catch (error) {
      const message = 'live status cannot read the database; it will try again';
      this.#causes.failed('poll', 'warn', { err: error }, message);
    }
  }

  async #readEvents(): Promise<void> {
    const { query } = this.#app.db;
    const late = await changesAt(query, this.#missing);
    const found = new Set(late.map(({ seq }) => seq));
    const missing = this.#missing.filter((seq) => !found.has(seq));
    const changes = await changesAfter(query, this.#seq, EVENTS_PER_POLL);
    for (const { seq } of changes) {
      for (let between = Math.max(this.#seq + 1, seq - MISSING_EVENTS); between < seq; between++)
        missing.push(between);
      this.#seq = seq;
    }
    this.#missing = missing.slice(-MISSING_EVENTS);
    const ids = new Set<string>();
    for (const { invoice_id } of [...late, ...changes])
      if (invoice_id !== null && this.#watched.has(invoice_id)) ids.add(invoice_id);
    await this.#refresh([...ids]);
  }

  /** Reads what is on screen, in turns where it is much: also what made no event, or was missed, gets through. */
  async #sweep(): Promise<void> {
    const ids = [...this.#watched.keys()];
    if (this.#sweep_from >= ids.length) this.#sweep_from = 0;
    const turn = ids.slice(this.#sweep_from, this.#sweep_from + SWEEP_INVOICES);
    this.#sweep_from += SWEEP_INVOICES;
    await this.#refresh(turn);
  }

  async #refresh(ids: readonly string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += IDS_PER_QUERY)
      for (const row of await liveRows(this.#app.db.query, ids.slice(start, start + IDS_PER_QUERY))) {
        const watched = this.#watched.get(row.id);
        const version = versionOf(this.#app, row);
        if (!watched || watched.version === version) continue;
        watched.version = version;
        watched.awaited_on = awaitedOn(row);
        const message = Buffer.from(this.#message(row));
        for (const viewer of watched.viewers) viewer.send(message);
      }
  }

  #beat(): void {
    const message = Buffer.from(`event: time\ndata: {"now":${seconds(this.#app.clock)}}\n\n`);
    for (const { viewers } of this.#watched.values()) for (const viewer of viewers) viewer.send(message);
  }

  #message(row: LiveRow): string {
    const { received_atomic, decimals } = row;
    const version = versionOf(this.#app, row);
    const status: StatusMessage = {
      invoice_id: row.id,
      status: row.status,
      payment_status: row.payment_status,
      amount_match: row.amount_match,
      received_amount: received_atomic === null ? null : formatDecimal(BigInt(received_atomic), decimals),
      confirmations: row.confirmations,
      min_confirmations: row.min_confirmations,
      txid: row.txid,
      expires_at: row.expires_at,
      version,
      now: seconds(this.#app.clock),
    };
    return `event: status\nid: ${version}\ndata: ${JSON.stringify(status)}\n\n`;
  }
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
