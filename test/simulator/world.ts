// Virtual time: one queue of timers drives everything that happens, and nothing happens alongside it.

/** Notes stored for the report of a failure. */
const NOTES_LIMIT = 10_000;
/** Turns taken at one moment before the world counts as stuck. */
const TURNS_LIMIT = 100_000;

interface Timer {
  at_ms: number;
  /** Order among timers of one moment. */
  order: number;
  work: (() => void) | null;
  is_event: boolean;
}

export interface Note {
  step: number;
  at_ms: number;
  text: () => string;
}

export class World {
  /** True time, Unix milliseconds. */
  now_ms: number;
  /** Fired timers: sleeps that end, answers that arrive, actions of actors. */
  events = 0;
  /** Folds every note: equal for equal histories. */
  digest = 0;
  /** What happens outside of this process: waits for it, and says whether there was anything. */
  outside: (() => Promise<boolean>) | undefined;
  /** Called with each note. */
  onNote: ((note: Note) => void) | undefined;
  readonly #heap: Timer[] = [];
  readonly #turns: (() => void)[] = [];
  readonly #notes: Note[] = [];
  #order = 0;

  constructor(start_ms: number) {
    this.now_ms = start_ms;
  }

  /** True time in Unix seconds, rounded down. */
  get seconds(): number {
    return Math.floor(this.now_ms / 1000);
  }

  /** Calls `work` after so long; the function returned calls it off. Not every timer counts as an event. */
  after(ms: number, work: () => void, is_event = true): () => void {
    const timer: Timer = { at_ms: this.now_ms + Math.max(0, ms), order: this.#order++, work, is_event };
    push(this.#heap, timer);
    return () => {
      timer.work = null;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Calls `work` at this very moment, once everything under way has come to rest. */
  turn(work: () => void): void {
    this.#turns.push(work);
  }

  /** Tells what happens, for the report of a failure; cheap where no one asks. `key` goes into the digest. */
  note(key: string, text: () => string = () => key): void {
    for (let at = 0; at < key.length; at++)
      this.digest = Math.imul(this.digest ^ key.charCodeAt(at), 0x01000193) >>> 0;
    const note = { step: this.events, at_ms: this.now_ms, text };
    this.onNote?.(note);
    this.#notes.push(note);
    if (this.#notes.length > 2 * NOTES_LIMIT) this.#notes.splice(0, NOTES_LIMIT);
  }

  lastNotes(count: number): readonly Note[] {
    return this.#notes.slice(-count);
  }

  /** The moment of the next timer; null where there is none. */
  nextAt(): number | null {
    while (this.#heap[0]?.work === null) pop(this.#heap);
    return this.#heap[0]?.at_ms ?? null;
  }

  /** Lets time jump forward with nothing happening meanwhile; what was due fires afterwards. */
  jump(ms: number): void {
    this.now_ms += ms;
  }

  /** Fires the next timer and waits until everything it set off has come to rest. False where no timer is left. */
  async step(): Promise<boolean> {
    if (this.nextAt() === null) return false;
    const timer = pop(this.#heap) as Timer;
    this.now_ms = Math.max(this.now_ms, timer.at_ms);
    if (timer.is_event) this.events++;
    timer.work?.();
    await this.rest();
    return true;
  }

  /** Waits until only time can set off anything more. */
  async rest(): Promise<void> {
    await settled();
    for (let count = 0; (await this.outside?.()) || this.#turns.length > 0; count++) {
      if (count > TURNS_LIMIT) throw new Error('the world does not come to rest');
      this.#turns.shift()?.();
      await settled();
    }
  }

  async runUntil(at_ms: number): Promise<void> {
    for (let next = this.nextAt(); next !== null && next <= at_ms; next = this.nextAt()) await this.step();
    this.now_ms = Math.max(this.now_ms, at_ms);
  }
}

/** The next turn of the real event loop comes when every promise that can be settled is. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const isBefore = (a: Timer, b: Timer): boolean =>
  a.at_ms < b.at_ms || (a.at_ms === b.at_ms && a.order < b.order);

function push(heap: Timer[], timer: Timer): void {
  let at = heap.length;
  heap.push(timer);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (isBefore(heap[parent] as Timer, timer)) break;
    heap[at] = heap[parent] as Timer;
    at = parent;
  }
  heap[at] = timer;
}

function pop(heap: Timer[]): Timer | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!first || !last || first === last) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child++;
    if (isBefore(last, heap[child] as Timer)) break;
    heap[at] = heap[child] as Timer;
    at = child;
  }
  heap[at] = last;
  return first;
}
