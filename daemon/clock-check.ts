// Holds this machine's clock against the chains' tips and against the monotonic timer: a wrong one must end nothing.
import type { Logger } from 'pino';
import type { Interval } from '../src/chains/chain.ts';
import type { SteadyClock } from './context.ts';

/** Further apart than this, our clock is not believed: what honest tips and readings are behind is less. */
const TOLERANCE_SECONDS = 30;
/** Tips are remembered for this long: the least delayed of them tells the clocks' difference best … */
const REMEMBERED_SECONDS = 3600;
/** … one for each stretch of this length. */
const SLOT_SECONDS = 60;
/** Time to read the chains after a start, before the grace may end what was not read. */
const START_SECONDS = 600;

export interface ClockTrouble {
  /** How far our clock is ahead, seconds; negative where it is behind. */
  offset_seconds: number;
  /** For the operator. */
  message: string;
}

export interface ClockCheck {
  /** Takes the time of a tip that was read just now, by the chain's clock; Unix seconds. */
  observe(blockchain: string, tip_time: number): void;
  /** How far our clock is ahead of the chains, seconds; negative where it is behind, null where nothing tells. */
  offset(): number | null;
  /** When a moment of the chains' clock was by ours, as far as can be told. */
  local(chain_time: number): Interval;
  /** Why our clock is not believed; null while it is. */
  trouble(): ClockTrouble | null;
  /** Whether there was time to read the chains since the start. */
  hasRun(): boolean;
  /** Writes to the log when trouble begins or ends. */
  report(log: Logger): void;
}

interface Sample {
  slot: number;
  /** Our clock minus the tip's time: their difference, and how old the tip was. Seconds. */
  difference: number;
  /** Our clock minus the monotonic timer at that moment, seconds: it changes only when our clock is set. */
  base: number;
}

/**
 * A tip is never younger than its time, so the least difference of all tips is the clocks' own, up to the delay of the
 * freshest one. When our clock is set, the monotonic timer tells by how much, and earlier tips still count. Of several
 * blockchains the one that agrees best with our clock is believed: the others' providers may be behind, or lie.
 */
export function createClockCheck(clock: SteadyClock): ClockCheck {
  const samples = new Map<string, Sample[]>();
  const started_at = clock.monotonic_ms() / 1000;
  const first_base = clock.ms() / 1000 - started_at;
  let reported = false;

  const monotonic = () => clock.monotonic_ms() / 1000;
  const base = () => clock.ms() / 1000 - monotonic();

  function offset(): number | null {
    const now = base();
    const oldest = (monotonic() - REMEMBERED_SECONDS) / SLOT_SECONDS;
    let best: number | null = null;
    for (const known of samples.values()) {
      const fresh = known.filter(({ slot }) => slot >= oldest);
      if (fresh.length === 0) continue;
      const of_chain = Math.min(...fresh.map((sample) => sample.difference + now - sample.base));
      if (best === null || Math.abs(of_chain) < Math.abs(best)) best = of_chain;
    }
    return best;
  }

  function trouble(): ClockTrouble | null {
    const measured = offset();
    const seconds = Math.round(measured ?? base() - first_base);
    if (Math.abs(seconds) <= TOLERANCE_SECONDS) return null;
    const [way, by] = [seconds > 0 ? 'ahead of' : 'behind', Math.abs(seconds)];
    const message =
      measured === null
        ? `this machine's clock was set ${by} seconds ${seconds > 0 ? 'forward' : 'back'}, and no chain could be asked for the time since`
        : `this machine's clock is ${by} seconds ${way} the chains that are read, or their providers are ${seconds > 0 ? 'behind' : 'wrong'}`;
    return {
      offset_seconds: seconds,
      message: `${message}; nothing ends until they agree. Set the clock by NTP`,
    };
  }

  return {
    observe(blockchain, tip_time) {
      const slot = Math.floor(monotonic() / SLOT_SECONDS);
      const sample = { slot, difference: clock.ms() / 1000 - tip_time, base: base() };
      const known = samples.get(blockchain) ?? [];
      const of_slot = known.find((one) => one.slot === slot);
      const now = base();
      const isBetter = !of_slot || sample.difference < of_slot.difference + now - of_slot.base;
      if (!isBetter) return;
      const oldest = slot - REMEMBERED_SECONDS / SLOT_SECONDS;
      samples.set(blockchain, [...known.filter((one) => one.slot !== slot && one.slot >= oldest), sample]);
    },
    offset,
    local(chain_time) {
      const seconds = offset() ?? 0;
      return {
        earliest_at: Math.floor(chain_time + Math.min(0, seconds)),
        latest_at: Math.ceil(chain_time + Math.max(0, seconds)),
      };
    },
    trouble,
    hasRun: () => monotonic() - started_at >= START_SECONDS,
    report(log) {
      const found = trouble();
      if (found && !reported) log.error({ alert: 'clock', ...found }, found.message);
      if (!found && reported) log.warn('the clock agrees with the chains again');
      reported = found !== null;
    },
  };
}
