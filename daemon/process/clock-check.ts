// Compares this machine's clock with the chains' tips and against the monotonic timer: a wrong one must end nothing.
import type { Logger } from 'pino';
import type { Interval } from '../../src/chains/family.ts';
import type { SteadyClock } from '../clock.ts';

/** Further apart than this, our clock is not believed: what honest tips and readings are behind is less. */
const TOLERANCE_SECONDS = 30;
/** Tips are held for this long: the least delayed of them tells the clocks' difference best … */
const HELD_SECONDS = 3600;
/** … one for each stretch of this length. */
const SLOT_SECONDS = 60;
/** The freshest tip of an hour is not older than this when it is read, also where tips are final first: by so much our clock may be less ahead than it shows. */
const TIP_AGE_SECONDS = 20;
/** How far the clocks may be apart before a tip has shown it; further, and what was read before the first tip is read again. */
const UNMEASURED_SECONDS = 10;
/** Chains date by whole seconds. */
const EXACT_SECONDS = 1;
/** What an earlier process measured counts until this one has read tips in so many stretches: one tip may be old. */
const RECALLED_SLOTS = 3;
/** How much more slowly time runs while it waits for this machine's clock. */
const SLOW_RATE = 0.5;
/** How long no daemon may have run before one that continues more slowly: by so much, and by what slowness has lost, the time that is lived by may be behind. */
const AWAY_SECONDS = 3600;
/** Time to read the chains after a start, or after so long a standstill, before the grace may end what was not read. */
const START_SECONDS = 600;

export interface ClockTrouble {
  /** How far our clock is ahead, seconds; negative where it is behind. */
  offset_seconds: number;
  /** For the operator. */
  message: string;
}

/** A reading that was stored: the time of its tip, and when it was read by the time of the daemon that read it; Unix seconds. */
export interface StoredReading {
  tip_time: number;
  read_at: number;
}

export interface ClockCheck {
  /**
   * The time to live by: this machine's, and as long as it is not believed, the last that was, continued by the
   * monotonic timer. A clock that is set therefore neither ends a watch nor makes what is seen late.
   */
  clock: SteadyClock;
  /**
   * Takes the time of a tip that was read just now, by the chain's clock; Unix seconds. No tip is fresher than
   * `tip_age_seconds`, 0 by default. False where it shows that what `local` returned before was wrong: the first of its
   * blockchain, or the first after a long outage.
   */
  observe(blockchain: string, tip_time: number, tip_age_seconds?: number): boolean;
  /**
   * What an earlier process knew. Where it shows our clock behind, that dates what is read before tips of this process
   * tell.
   */
  recall(blockchain: string, last: StoredReading): void;
  /**
   * What was stored last before the start, a reading and perhaps other rows after it (`written_at`): where our clock is
   * before them, it was set back since, and time continues there, and at the tips that are read, which are never later
   * than the true time.
   */
  resume(last: StoredReading, written_at?: number): void;
  /**
   * What was stored last before the start, Unix seconds, where no reading tells the time: it continues there, more slowly
   * until this machine's clock has come so far, so that what a clock that was ahead has sold can still be paid. One that
   * is set meanwhile to where the time may be is believed at once: what is sold from then on is not ended by a start.
   */
  continueSlowly(written_at: number): void;
  /**
   * What another daemon stored just now: its tips tell one that reads nothing itself as much, and of two clocks that
   * differ the one is lived by that the chain agrees with.
   */
  hear(blockchain: string, last: StoredReading, tip_age_seconds?: number): void;
  /** How far our clock is ahead of the chains, seconds; negative where it is behind, null where nothing tells. */
  offset(): number | null;
  /** By how many seconds the time that is lived by is ahead of the chains; 0 while it is believed, or where nothing tells. */
  ahead(): number;
  /** When a moment of this blockchain's clock was by ours, as far as is known. */
  local(blockchain: string, chain_time: number): Interval;
  /** Why our clock is not believed; null while it is. */
  trouble(): ClockTrouble | null;
  /** Whether there was time to read the chains since the start, or since the process or the machine stood still. */
  hasRun(): boolean;
  /** Writes to the log when trouble begins or ends. To be called again and again: where it was not, all stood still. */
  report(log: Logger): void;
}

interface Sample {
  slot: number;
  /**
   * What the tip's time lacked to the monotonic timer at that moment: the difference of the clocks, and how old the tip
   * was. Seconds. It stays right when our clock is set.
   */
  behind: number;
}

/**
 * A tip is never younger than its time, so the least difference of all tips is the clocks' own, up to the delay of the
 * freshest one. When our clock is set, the monotonic timer tells by how much, and earlier tips still count. Of several
 * blockchains the one that agrees best with our clock is believed: the others' providers may be behind, or lie. A
 * blockchain whose own clock is slow shows it by its newest tip: what it calls a moment may have been so much later.
 */
export function createClockCheck(clock: SteadyClock): ClockCheck {
  const samples = new Map<string, Sample[]>();
  /** Of the newest tip of each blockchain. */
  const newest = new Map<string, number>();
  const monotonic = () => clock.monotonic_ms() / 1000;
  /** How far our clock was ahead of each blockchain when an earlier process read it last, seconds. */
  const recalled = new Map<string, number>();
  /** How old a tip is at least, where that is known; seconds. */
  const tip_ages = new Map<string, number>();
  let running_since = monotonic();
  let reported_at = running_since;
  /** Our clock minus the monotonic timer, seconds: it changes only when our clock is set. */
  const base = () => clock.ms() / 1000 - monotonic();
  /** The last that agreed with the chains, or at the start was all there is. */
  let believed_base = base();
  let reported = false;
  /** Whether it is the last of what was stored before the start. */
  let is_resumed = false;
  /** Unix seconds, and when that was by the monotonic timer: the time to live by is not before it. */
  let slow: { from: number; since: number } | null = null;
  const least = () =>
    slow === null ? Number.NEGATIVE_INFINITY : slow.from + (monotonic() - slow.since) * SLOW_RATE;

  /** How far a clock with this difference to the monotonic timer is ahead of one blockchain's. */
  function offsetOf(blockchain: string, of_base: number): number | null {
    const oldest = (monotonic() - HELD_SECONDS) / SLOT_SECONDS;
    const all = samples.get(blockchain) ?? [];
    const fresh = all.filter(({ slot }) => slot >= oldest);
    // After a long outage the last one counts: the clock that was wrong before is not right for want of a tip.
    const counted = fresh.length > 0 ? fresh : all.slice(-1);
    return counted.length === 0 ? null : of_base + Math.min(...counted.map(({ behind }) => behind));
  }

  /** The same of the blockchain that agrees best with it. */
  function offset(of_base: number): number | null {
    const offsets = [...samples.keys()].flatMap((blockchain) => offsetOf(blockchain, of_base) ?? []);
    if (offsets.length === 0) return null;
    return offsets.reduce((best, one) => (Math.abs(one) < Math.abs(best) ? one : best));
  }

  function trouble(): ClockTrouble | null {
    const now = base();
    const measured = offset(now);
    const waits = Math.round(least() - clock.ms() / 1000);
    if (waits > TOLERANCE_SECONDS) return { offset_seconds: -waits, message: describeSlow(waits) };
    if (slow && -waits <= AWAY_SECONDS + (monotonic() - slow.since) * (1 - SLOW_RATE)) {
      // It has come so far, or was set right.
      believed_base = now;
      slow = null;
    }
    const seconds = Math.round(measured ?? now - believed_base);
    if (Math.abs(seconds) <= TOLERANCE_SECONDS) {
      // The time that is right is another: the machine slept, and its timer with it, or it was wrong until now.
      if (Math.abs(now - believed_base) > TOLERANCE_SECONDS) running_since = monotonic();
      believed_base = now;
      is_resumed = false;
      return null;
    }
    return { offset_seconds: seconds, message: describe(seconds, measured === null) };
  }

  /** Of the clock that is lived by. */
  const steadyBase = () => (trouble() === null ? base() : believed_base);

  /** By how many seconds the clock that is lived by is behind a blockchain's, negative; 0 where nothing shows that it is. */
  function leastOf(blockchain: string): number {
    const of_base = steadyBase();
    const age = tip_ages.get(blockchain) ?? 0;
    const own = offsetOf(blockchain, of_base) ?? age;
    return Math.min(0, own - age, offset(of_base) ?? 0, recalled.get(blockchain) ?? 0);
  }

  function local(blockchain: string, chain_time: number): Interval {
    const of_base = steadyBase();
    const own = offsetOf(blockchain, of_base);
    const all = offset(of_base);
    const behind = leastOf(blockchain);
    // No tip is ahead of a clock that is right: until one is, ours counts as right, to the second.
    const slack = behind > -EXACT_SECONDS ? 0 : TIP_AGE_SECONDS;
    const earliest_at = Math.floor(chain_time + behind - slack);
    // What came after the end stays late: only a payment made at once after its invoice is given the difference.
    if (own === null) return { earliest_at, latest_at: Math.ceil(chain_time + UNMEASURED_SECONDS) };
    const lag = of_base + (newest.get(blockchain) ?? -of_base);
    const most = (all ?? 0) + TOLERANCE_SECONDS;
    return {
      earliest_at,
      latest_at: Math.ceil(chain_time + Math.max(0, Math.min(Math.max(own, lag), most))),
    };
  }

  function observe(blockchain: string, tip_time: number, tip_age_seconds = 0): boolean {
    tip_ages.set(blockchain, tip_age_seconds);
    // From now on the chain tells.
    slow = null;
    const slot = Math.floor(monotonic() / SLOT_SECONDS);
    const behind = monotonic() - tip_time;
    const before = offsetOf(blockchain, steadyBase()) ?? 0;
    const wasBehind = leastOf(blockchain) < 0;
    newest.set(blockchain, behind);
    if (is_resumed) believed_base = Math.max(believed_base, -behind);
    const known = samples.get(blockchain) ?? [];
    const of_slot = known.find((one) => one.slot === slot);
    if (of_slot && of_slot.behind <= behind) return true;
    const oldest = slot - HELD_SECONDS / SLOT_SECONDS;
    const recent = known.filter((one) => one.slot !== slot && one.slot >= oldest);
    samples.set(blockchain, [...recent, { slot, behind }]);
    if (recent.length + 1 >= RECALLED_SLOTS) recalled.delete(blockchain);
    const moved = Math.abs((offsetOf(blockchain, steadyBase()) ?? 0) - before);
    // What was dated by a clock that counted as right was dated too late by one that is behind.
    return moved <= UNMEASURED_SECONDS && (wasBehind || leastOf(blockchain) > -EXACT_SECONDS);
  }

  /** It is this moment now, by a clock that the chain agreed with. */
  function continueAt(read_at: number): void {
    believed_base = read_at - monotonic();
  }

  const lived = () => monotonic() + steadyBase();

  return {
    clock: {
      monotonic_ms: () => clock.monotonic_ms(),
      ms: () =>
        Math.max(
          Math.round(least() * 1000),
          trouble() === null ? clock.ms() : Math.round((monotonic() + believed_base) * 1000),
        ),
    },
    observe,
    recall(blockchain, { tip_time, read_at }) {
      const ahead = read_at - tip_time;
      // A clock that was wrong by more was alerted of, and is right by now or measured to be wrong.
      const counts = ahead < 0 && ahead >= -TOLERANCE_SECONDS;
      if (counts && !samples.has(blockchain)) recalled.set(blockchain, ahead);
    },
    resume({ tip_time, read_at }, written_at = read_at) {
      // A clock that was ahead itself is none to continue.
      const is_ahead = read_at - tip_time > TOLERANCE_SECONDS;
      const last = Math.max(read_at, written_at);
      if (is_ahead || last <= lived() + TOLERANCE_SECONDS) return;
      continueAt(last);
      is_resumed = true;
    },
    continueSlowly(written_at) {
      const is_behind = written_at > clock.ms() / 1000;
      if (samples.size === 0 && is_behind) slow = { from: written_at, since: monotonic() };
    },
    hear(blockchain, { tip_time, read_at }, tip_age_seconds) {
      observe(blockchain, tip_time, tip_age_seconds);
      const is_right = Math.abs(read_at - tip_time) <= TOLERANCE_SECONDS;
      if (is_right && Math.abs(read_at - lived()) > TOLERANCE_SECONDS) continueAt(read_at);
    },
    offset: () => offset(base()),
    ahead() {
      const measured = offset(steadyBase()) ?? 0;
      return measured > TOLERANCE_SECONDS ? Math.ceil(measured) : 0;
    },
    local,
    trouble,
    hasRun: () => monotonic() - running_since >= START_SECONDS,
    report(log) {
      if (monotonic() - reported_at >= START_SECONDS) running_since = monotonic();
      reported_at = monotonic();
      const found = trouble();
      if (found && !reported) log.error({ alert: 'clock', ...found }, found.message);
      if (!found && reported) log.warn('the clock agrees with the chains again');
      reported = found !== null;
    },
  };
}

const describeSlow = (seconds: number): string =>
  `this machine's clock is ${seconds} seconds behind what was stored before the start, and no chain tells the time; until it has come so far nothing ends. Set the clock by NTP`;

function describe(seconds: number, is_unmeasured: boolean): string {
  const by = Math.abs(seconds);
  const what = is_unmeasured
    ? `this machine's clock was set ${by} seconds ${seconds > 0 ? 'forward' : 'back'}, and no chain could be asked for the time since`
    : `this machine's clock is ${by} seconds ${seconds > 0 ? 'ahead of' : 'behind'} the chains that are read, or their providers are ${seconds > 0 ? 'behind' : 'wrong'}`;
  const remedy = is_unmeasured
    ? 'Set the clock by NTP; restart gatewayd once it is right'
    : 'Set the clock by NTP';
  return `${what}; nothing ends until they agree. ${remedy}`;
}
