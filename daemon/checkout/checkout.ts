// The state of checkout: pages and codes that are cached, and streams that are open. Opened and closed with the app.
import { LRUCache } from 'lru-cache';
import { checkoutRow, checkoutState } from '../../data/views/checkout.ts';
import { Refusal } from '../../src/errors.ts';
import { type Clock, seconds } from '../clock.ts';
import { type Streamed, whileSame } from '../http/exchange.ts';
import { type CardParts, drawCard } from './card.ts';
import { type LiveDeps, openLive } from './live.ts';
import { openPageCache, type PageCache } from './page-cache.ts';
import { drawQrSvg } from './qr.ts';

/** About 4 kB each. A payload never changes, and drawing its code costs more than the rest of a page. */
const MAX_CODES = 2_000;
/** About 50 kB each. Messengers ask for the same few again and again. */
const MAX_CARDS = 100;
/** Drawing one takes up to 75 ms of this process: what is more than these is asked to come again. */
const CARDS_PER_SECOND = 4;

export interface Checkout {
  /** Follows an invoice until the caller goes away. Refuses with `invoice_not_found` and `too_many_streams`. */
  follow(invoice_id: string, signal: AbortSignal): Promise<Streamed>;
  pages: PageCache;
  /** The QR code of a payload as one SVG element, quiet zone included. */
  qrSvg(payload: string): Promise<string>;
  /** The picture of a unit for messengers, as a PNG. Refuses with `rate_limited` where too many others are drawn. */
  card(parts: CardParts): Promise<Buffer>;
  /** Ends all streams. */
  close(): void;
}

/** Whether one more may be done in this second. */
function perSecond(clock: Clock, most: number): () => boolean {
  let now = 0;
  let done = 0;
  return () => {
    if (now !== seconds(clock)) {
      now = seconds(clock);
      done = 0;
    }
    return ++done <= most;
  };
}

export function openCheckout(deps: LiveDeps): Checkout {
  const live = openLive(deps);
  const pages = openPageCache(deps.clock, {
    row: (id) => checkoutRow(deps.db, id),
    state: (id) => checkoutState(deps.db, id),
    isSame: (id, state) => whileSame(deps.db, () => checkoutState.now(deps.db, id)?.state === state),
  });
  const codes = new LRUCache<string, string>({ max: MAX_CODES });
  // Drawn once for all who ask at the same time.
  const cards = new LRUCache<string, Promise<Buffer>>({ max: MAX_CARDS });
  const mayDraw = perSecond(deps.clock, CARDS_PER_SECOND);
  return {
    follow: (invoice_id, signal) => live.stream(invoice_id, signal),
    pages,
    async qrSvg(payload) {
      const svg = codes.get(payload) ?? (await drawQrSvg(payload));
      codes.set(payload, svg);
      return svg;
    },
    card(parts) {
      const key = JSON.stringify(parts);
      const known = cards.get(key);
      if (known) return known;
      if (!mayDraw()) throw new Refusal('rate_limited', { retry_after: 1 });
      const card = drawCard(parts);
      cards.set(key, card);
      card.catch(() => cards.delete(key));
      return card;
    },
    close: () => live.close(),
  };
}
