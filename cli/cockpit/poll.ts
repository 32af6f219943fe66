// Something that is read again and again while it is in view: failures are shown and tried again, ever more slowly.
import { GwError } from '../engine/errors.ts';

/** A service that is down is asked less and less often. */
const MAX_BACKOFF = 8;

const SIGNED_OUT: ReadonlySet<string> = new Set([
  'not_signed_in',
  'not_authenticated',
  'invalid_credentials',
  'invalid_api_key',
]);

/** A failure, as a person reads it. */
export function failureText(error: unknown): string {
  if (!(error instanceof GwError)) return (error as Error).message;
  const { message, details } = error;
  return SIGNED_OUT.has(details.code ?? '') ? `${message}: leave with q, then gw login` : message;
}

/** Does a round now and `interval_ms` after each; `again` asks for one at once, or right after the one that runs. */
export class Rounds {
  error: string | null = null;
  readonly #work: () => Promise<void>;
  readonly #interval_ms: number;
  readonly #changed: () => void;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isRunning = false;
  #isWanted = false;
  #isStopped = true;

  constructor(work: () => Promise<void>, interval_ms: number, changed: () => void) {
    this.#work = work;
    this.#interval_ms = interval_ms;
    this.#changed = changed;
  }

  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.again();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  again(): void {
    this.#isWanted = true;
    clearTimeout(this.#timer);
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      try {
        await this.#work();
        this.#failures = 0;
        this.error = null;
      } catch (failure) {
        this.#failures += 1;
        this.error = failureText(failure);
      }
      this.#changed();
    }
    this.#isRunning = false;
    if (this.#isStopped) return;
    const wait = this.#interval_ms * Math.min(2 ** this.#failures, MAX_BACKOFF);
    this.#timer = setTimeout(() => this.again(), wait);
  }
}

/** One answer, read again and again. */
export class Poll<T> {
  data: T | undefined;
  /** Unix seconds of the latest answer. */
  at = 0;
  readonly rounds: Rounds;

  constructor(load: () => Promise<T>, interval_ms: number, changed: () => void) {
    this.rounds = new Rounds(
      async () => {
        this.data = await load();
        this.at = Math.floor(Date.now() / 1000);
      },
      interval_ms,
      changed,
    );
  }

  get error(): string | null {
    return this.rounds.error;
  }
}
