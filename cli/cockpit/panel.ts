// What stands next to a list: everything about the row under the cursor, asked for once the cursor rests on it.
import type { Section } from '../output/card.ts';
import { failureText } from './poll.ts';

/** A cursor that rests so long is read for; one that moves on asks for nothing. */
const REST_MS = 150;
/** Rows of which the answer is cached, so that going back to one shows it at once. */
const CACHED = 50;

interface Known {
  headline: { text: string; status: string };
  sections: readonly Section[];
}

/** What can be read of a row. */
interface Reading {
  key: string;
  load(): Promise<(now_s: number) => Known>;
}

interface Held {
  read: (now_s: number) => Known;
  /** Unix seconds. */
  at: number;
}

export class Panel {
  readonly #refresh_ms: number;
  readonly #changed: () => void;
  readonly #held = new Map<string, Held>();
  #wanted: Reading | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  /** Of the row that is wanted. */
  #error: string | null = null;

  constructor(refresh_ms: number, changed: () => void) {
    this.#refresh_ms = refresh_ms;
    this.#changed = changed;
  }

  get error(): string | null {
    return this.#error;
  }

  /** What is known of this row, never of another one; it is read when the cursor has rested on it, and again and again. */
  of(reading: Reading): Held | undefined {
    if (this.#wanted?.key !== reading.key) {
      this.#error = null;
      this.#wanted = reading;
      this.#in(REST_MS);
    }
    return this.#held.get(reading.key);
  }

  /** Nothing is shown next to the list. */
  stop(): void {
    this.#wanted = undefined;
    this.#error = null;
    clearTimeout(this.#timer);
  }

  /** Reads what is shown at once. */
  again(): void {
    if (this.#wanted) this.#in(0);
  }

  #in(wait_ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#read(), wait_ms);
  }

  /** One at a time: a slow service is not asked for every row on the way. */
  async #read(): Promise<void> {
    const reading = this.#wanted;
    if (!reading || this.#isRunning) return;
    this.#isRunning = true;
    let error: string | null = null;
    try {
      const read = await reading.load();
      this.#held.delete(reading.key);
      this.#held.set(reading.key, { read, at: Math.floor(Date.now() / 1000) });
      for (const key of this.#held.keys()) if (this.#held.size > CACHED) this.#held.delete(key);
    } catch (failure) {
      error = failureText(failure);
    }
    this.#isRunning = false;
    const isSame = this.#wanted?.key === reading.key;
    if (isSame) this.#error = error;
    if (this.#wanted) this.#in(isSame ? this.#refresh_ms : 0);
    this.#changed();
  }
}
