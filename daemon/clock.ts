// Time as every part of the daemon takes it.

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
