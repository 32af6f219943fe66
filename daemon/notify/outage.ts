// Notifies of a database that is away or takes no writes, without it: what is to be sent is in memory until each address has it.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { daemonsInCharge } from '../../data/daemons.ts';
import { type SteadyClock, seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { DatabaseTrouble } from '../process/database-watch.ts';
import { SILENT_SECONDS } from '../process/instance.ts';
import { commandOf, DATABASE_BACK, databaseTroubles, oneLine, shownTime } from './causes.ts';
import type { DatabaseCause, NoticeCause } from './names.ts';
import { type Message, shownTarget, type Target, type Targets } from './targets.ts';

/** A server that is restarted, or replaced by its standby, is back sooner: that wakes no one. */
const PATIENCE_MS = 20_000;
/** An address is sent one message of a cause within this time. */
const HOUR_MS = 3_600_000;
/** An address that takes nothing is tried again so soon, doubled each time up to the longest. */
const RETRY_MS = 30_000;
const RETRY_MOST_MS = 600_000;
const DOUBLED_MOST = 10;

export interface Outage {
  /** Finds and sends what is due now. Never rejects. */
  tick(): Promise<void>;
}

export interface OutageOptions {
  app: Pick<App, 'db' | 'database_watch' | 'instance'> & { clock: SteadyClock; log: Logger };
  wanted: readonly Target[];
  targets: Targets;
  wants(target: Target, cause: NoticeCause): boolean;
  signal: AbortSignal;
}

/** What an address has to hear. */
interface Waiting {
  cause: NoticeCause;
  title: string;
  text: string;
  found_at: number;
  /** Whether it may have heard of it already. */
  is_tried: boolean;
  is_over: boolean;
}

/** Of one address. */
interface Box {
  target: Target;
  waiting: Waiting[];
  /** When it was sent each cause, by the monotonic timer. */
  sent_ms: Map<NoticeCause, number>;
  /** Whether it heard of the trouble that there is. */
  has_heard: boolean;
  failures: number;
  next_ms: number;
}

export function openOutage({ app, wanted, targets, wants, signal }: OutageOptions): Outage {
  const { db, database_watch, instance, clock, log } = app;
  const boxes = wanted.map(
    (target): Box => ({
      target,
      waiting: [],
      sent_ms: new Map(),
      has_heard: false,
      failures: 0,
      next_ms: Number.NEGATIVE_INFINITY,
    }),
  );
  /** What the trouble was called since it began. */
  const named = new Set<DatabaseCause>();
  let last: DatabaseTrouble | null = null;

  /** What there still is to say of the same cause is older. */
  function put(box: Box, notice: Omit<Waiting, 'is_tried' | 'is_over'>): void {
    if (!wants(box.target, notice.cause)) return;
    box.waiting = box.waiting.filter(({ cause }) => cause !== notice.cause);
    box.waiting.push({ ...notice, is_tried: false, is_over: false });
  }

  /** Each daemon that cannot reach it is alone in that; where all can, one of them speaks. */
  async function speaks({ fault }: DatabaseTrouble): Promise<boolean> {
    if (fault === 'away' || db.dialect === 'sqlite') return true;
    const ids = await daemonsInCharge(db.query, SILENT_SECONDS).catch((): string[] => []);
    return !ids.includes(instance.id) || ids[0] === instance.id;
  }

  async function begin(trouble: DatabaseTrouble): Promise<void> {
    last = trouble;
    const cause: DatabaseCause = `database_${trouble.fault}`;
    if (named.has(cause) || clock.monotonic_ms() - trouble.since_ms < PATIENCE_MS) return;
    named.add(cause);
    if (!(await speaks(trouble))) return;
    const { title, says } = databaseTroubles[cause];
    const text = oneLine(
      `${hostname()}: ${says} since ${shownTime(trouble.since)} (${trouble.reason}); what is paid meanwhile will be found once it works again`,
    );
    for (const box of boxes) put(box, { cause, title, text, found_at: seconds(clock) });
  }

  function end({ since, since_ms }: DatabaseTrouble): void {
    last = null;
    named.clear();
    const minutes = Math.max(1, Math.round((clock.monotonic_ms() - since_ms) / 60_000));
    const text = `${hostname()}: the database takes writes again; it did not since ${shownTime(since)}, for ${minutes} min`;
    for (const box of boxes) {
      // What waited for its hour is no news any more.
      box.waiting = box.waiting.filter(({ cause, is_tried }) => is_tried || cause === DATABASE_BACK.name);
      const is_begun = box.has_heard || box.waiting.some(({ cause }) => cause !== DATABASE_BACK.name);
      for (const notice of box.waiting) notice.is_over = notice.cause !== DATABASE_BACK.name;
      box.has_heard = false;
      const { name: cause, title } = DATABASE_BACK;
      if (is_begun) put(box, { cause, title, text, found_at: seconds(clock) });
    }
  }

  async function send(box: Box): Promise<void> {
    const now_ms = clock.monotonic_ms();
    const isDue = ({ cause }: Waiting) =>
      now_ms - (box.sent_ms.get(cause) ?? Number.NEGATIVE_INFINITY) >= HOUR_MS;
    const due = box.next_ms <= now_ms ? box.waiting.filter(isDue) : [];
    if (due.length === 0) return;
    for (const notice of due) notice.is_tried = true;
    const fault = await targets.send(box.target, messageOf(box.target, due), signal);
    const about = { target: shownTarget(box.target.to), causes: due.map(({ cause }) => cause) };
    if (fault !== null) {
      const grown_ms = Math.min(RETRY_MOST_MS, RETRY_MS * 2 ** Math.min(box.failures, DOUBLED_MOST));
      box.failures++;
      box.next_ms = now_ms + Math.max(fault.wait_seconds * 1000, grown_ms);
      if (!signal.aborted)
        log.warn({ ...about, reason: fault.reason }, 'an operator could not be notified; trying again');
      return;
    }
    box.failures = 0;
    box.waiting = box.waiting.filter((notice) => !due.includes(notice));
    for (const { cause, is_over } of due) {
      box.sent_ms.set(cause, now_ms);
      if (cause !== DATABASE_BACK.name && !is_over) box.has_heard = true;
    }
    log.info(about, 'operator notified');
  }

  return {
    async tick() {
      const trouble = database_watch.trouble();
      if (last !== null && (trouble === null || trouble.since_ms !== last.since_ms)) end(last);
      if (trouble !== null) await begin(trouble);
      await Promise.all(boxes.map(send));
    },
  };
}

/** Sent again it has the same id. */
function messageOf({ to }: Target, due: readonly Waiting[]): Message {
  const id = [to, hostname(), ...due.map(({ cause, found_at }) => `${cause} ${found_at}`)].join('\n');
  return {
    id: `msg_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`,
    subject: `gatewayd: ${due.map(({ title }) => title).join(', ')}`,
    lines: due.map(({ title, text, is_over }) => `${title}: ${text}${is_over ? ' (over by now)' : ''}`),
    notices: due.map(({ cause, text, found_at, is_over }) => ({
      cause,
      text,
      found_at,
      command: commandOf(cause),
      ...(is_over && cause !== DATABASE_BACK.name ? { is_over: true as const } : {}),
    })),
  };
}
