// A clock that stands still until a test moves it.

export interface TestClock {
  ms(): number;
  monotonic_ms(): number;
  /** Unix seconds. */
  now(): number;
  set(seconds: number): void;
  advance(seconds: number): void;
  /** Sets the machine's clock by so much, while time passes as before. */
  step(seconds: number): void;
  /** Time that passes while all processes are stopped. */
  freeze(seconds: number): void;
  /** Called again and again as time passes, as a process that runs would be. */
  whileRunning(beat: () => void): void;
}

/** A daemon that runs is heard of this often at least. */
const BEAT_MS = 60_000;

/** Stands still until it is moved. */
export function testClock(start = 1_800_000_000): TestClock {
  let at = start * 1000;
  let stepped = 0;
  const beats: (() => void)[] = [];
  const moveTo = (end: number) => {
    for (; at + BEAT_MS < end; ) {
      at += BEAT_MS;
      for (const beat of beats) beat();
    }
    at = end;
  };
  return {
    ms: () => at,
    monotonic_ms: () => at - stepped,
    now: () => Math.floor(at / 1000),
    set: (seconds) => moveTo(seconds * 1000),
    advance: (seconds) => moveTo(at + seconds * 1000),
    step: (seconds) => {
      at += seconds * 1000;
      stepped += seconds * 1000;
    },
    freeze: (seconds) => {
      at += seconds * 1000;
    },
    whileRunning: (beat) => void beats.push(beat),
  };
}

/** Real time: chains have their own clocks. */
export const systemClock: TestClock = {
  ms: Date.now,
  monotonic_ms: () => performance.now(),
  now: () => Math.floor(Date.now() / 1000),
  set: () => {
    throw new Error('real time cannot be set');
  },
  advance: () => {
    throw new Error('real time cannot be moved');
  },
  step: () => {
    throw new Error('real time cannot be moved');
  },
  freeze: () => {
    throw new Error('real time cannot be stopped');
  },
  whileRunning: () => {},
};
