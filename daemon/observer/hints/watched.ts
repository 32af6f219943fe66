// Which blockchains somebody waits for now: a page with an open invoice is shown, or its status is asked for.
import type { Runtime } from '../../process/runtime.ts';
import type { Signals } from '../../process/signals.ts';

/** So long after it was asked for last. */
const WATCHED_MS = 10_000;
/** Other daemons, one of which may read it, are notified so often. */
const ANNOUNCE_MS = 3_000;

export interface Watched {
  /** Somebody is shown an open invoice on this blockchain. */
  note(blockchain: string): void;
  has(blockchain: string): boolean;
}

export function openWatched(
  signals: Pick<Signals, 'announce' | 'onOthers'>,
  { elapsed_ms }: Pick<Runtime, 'elapsed_ms'>,
): Watched {
  const noted = new Map<string, number>();
  const announced = new Map<string, number>();
  const isWithin = (since: number | undefined, ms: number) =>
    since !== undefined && elapsed_ms() - since < ms;
  signals.onOthers('watched', (blockchains) => {
    for (const blockchain of blockchains) noted.set(blockchain, elapsed_ms());
  });
  return {
    note(blockchain) {
      noted.set(blockchain, elapsed_ms());
      if (isWithin(announced.get(blockchain), ANNOUNCE_MS)) return;
      announced.set(blockchain, elapsed_ms());
      signals.announce('watched', blockchain);
    },
    has: (blockchain) => isWithin(noted.get(blockchain), WATCHED_MS),
  };
}
