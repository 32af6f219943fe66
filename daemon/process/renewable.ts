// What is opened again with other settings while the daemon runs: who holds it notices nothing.

export interface Loop {
  start(): void;
  stop(): Promise<void>;
}

export interface Renewable<T extends Loop> extends Loop {
  readonly now: T;
  /** Opens the next when the one before has stopped, and starts it where that ran. */
  renew(): Promise<void>;
}

/** `open` reads the settings as they are; `is_renewed`: whether another was open before. */
export function renewable<T extends Loop>(open: (is_renewed: boolean) => T): Renewable<T> {
  let now = open(false);
  let runs = false;
  return {
    get now() {
      return now;
    },
    start() {
      runs = true;
      now.start();
    },
    stop() {
      runs = false;
      return now.stop();
    },
    async renew() {
      await now.stop();
      now = open(true);
      // It may have been stopped meanwhile.
      if (runs) now.start();
    },
  };
}
