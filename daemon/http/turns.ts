// Whose request is worked at next. Who calls with credentials goes first; public requests go a few at a time, each address in
// its turn, so that one that sends thousands waits for itself alone.
import { hash } from 'node:crypto';
import { Refusal } from '../../src/errors.ts';
import { boundedCache } from '../cache.ts';
import { network } from './counting.ts';

/** Public requests that are under way; fewer than the connections to a database that serve single statements. */
const AT_ONCE = 4;
/** Of one address; as many wait a second or two. */
const MAX_WAITING_OF_ONE = 500;
/** Of all; beyond that few of each. */
const MAX_WAITING = 5_000;
const FEW_WAITING = 8;
/** What one turn takes, until some have been taken; and how much the latest counts in that. */
const USUAL_TURN_MS = 2;
const NEWEST_PART = 0.1;
/** An address whose credentials were refused takes turns like the public for so long, … */
const SUSPECT_MS = 10_000;
const MAX_SUSPECTS = 20_000;
/** … but for credentials that were good within so long: behind one address may be a stranger and a shop. */
const GOOD_MS = 3600_000;
const MAX_GOOD = 20_000;

export interface Turns {
  /**
   * Waits until it is the turn of this address; what it gives is called when the work is done. Refuses with `rate_limited` where
   * too many of it wait.
   */
  take(ip: string): Promise<() => void> | (() => void);
  /** Counts a call with credentials, which public ones wait for; what it gives is called when it is answered. */
  goFirst(): () => void;
  /** These credentials from this address were refused. */
  suspect(ip: string, credentials: string): void;
  /** These were good. */
  vouch(credentials: string): void;
  isSuspect(ip: string, credentials: string): boolean;
  /** Whether these were good not long ago. */
  isGood(credentials: string): boolean;
}

type Waiting = (leave: () => void) => void;

export interface TurnOptions {
  /** Milliseconds of a timer that only goes forward. */
  elapsed_ms(): number;
  /** Takes turns, and is never refused. */
  isExempt(ip: string): boolean;
}

export const openTurns = (options: TurnOptions): Turns => new Queue(options);

const nameOf = (credentials: string): string => hash('sha256', credentials, 'base64');

class Queue implements Turns {
  readonly #options: TurnOptions;
  /** By address; the one whose turn it is comes first. */
  readonly #queues = new Map<string, Waiting[]>();
  readonly #suspects = boundedCache<string, number>(MAX_SUSPECTS);
  /** By their hash. It opens nothing: it says who may be asked for his credentials first. */
  readonly #good = boundedCache<string, number>(MAX_GOOD);
  #waiting = 0;
  #under_way = 0;
  #first = 0;
  /** Whether one has begun in this turn of the event loop: what came in meanwhile is read before the next one begins. */
  #has_begun = false;
  /** When the latest began that had waited, and how long it usually takes until the next one does. */
  #begun_at = 0;
  #turn_ms = USUAL_TURN_MS;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  take(ip: string): Promise<() => void> | (() => void) {
    if (this.#waiting === 0 && this.#mayBegin()) return this.#begin();
    const caller = network(ip);
    const queue = this.#queues.get(caller) ?? [];
    if (this.#isFull(queue.length) && !this.#options.isExempt(ip)) {
      // By then all that waits of it has had its turn; in between others have theirs.
      const turns = Math.min(this.#waiting, queue.length * this.#queues.size);
      throw new Refusal('rate_limited', { retry_after: Math.ceil((turns * this.#turn_ms) / 1000) });
    }
    if (this.#waiting++ === 0) this.#begun_at = this.#options.elapsed_ms();
    this.#queues.set(caller, queue);
    return new Promise((begin) => {
      queue.push(begin);
    });
  }

  goFirst(): () => void {
    this.#first++;
    return () => {
      this.#first--;
      this.#next();
    };
  }

  suspect(ip: string, credentials: string): void {
    this.#good.delete(nameOf(credentials));
    this.#suspects.set(network(ip), this.#options.elapsed_ms() + SUSPECT_MS);
  }

  vouch(credentials: string): void {
    this.#good.set(nameOf(credentials), this.#options.elapsed_ms() + GOOD_MS);
  }

  isSuspect(ip: string, credentials: string): boolean {
    const now = this.#options.elapsed_ms();
    if (this.#suspects.size === 0 || (this.#suspects.get(network(ip)) ?? 0) <= now) return false;
    return !this.isGood(credentials);
  }

  isGood(credentials: string): boolean {
    return (this.#good.get(nameOf(credentials)) ?? 0) > this.#options.elapsed_ms();
  }

  #isFull(waiting_of_one: number): boolean {
    return waiting_of_one >= (this.#waiting < MAX_WAITING ? MAX_WAITING_OF_ONE : FEW_WAITING);
  }

  #mayBegin(): boolean {
    if (this.#has_begun) return false;
    // One always may: callers with credentials that never pause stop no one.
    return this.#under_way === 0 || (this.#under_way < AT_ONCE && this.#first === 0);
  }

  #begin(): () => void {
    this.#under_way++;
    this.#has_begun = true;
    setImmediate(() => {
      this.#has_begun = false;
      this.#next();
    });
    return () => {
      this.#under_way--;
      this.#next();
    };
  }

  #next(): void {
    if (this.#waiting === 0 || !this.#mayBegin()) return;
    const [caller, queue] = this.#queues.entries().next().value as [string, Waiting[]];
    const next = queue.shift() as Waiting;
    this.#queues.delete(caller);
    if (queue.length > 0) this.#queues.set(caller, queue);
    this.#waiting--;
    const now = this.#options.elapsed_ms();
    this.#turn_ms += (now - this.#begun_at - this.#turn_ms) * NEWEST_PART;
    this.#begun_at = now;
    next(this.#begin());
  }
}
