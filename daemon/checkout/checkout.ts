// The state of checkout: pages and codes that are cached, and streams that are open. Opened and closed with the app.
import { LRUCache } from 'lru-cache';
import { checkoutRow, checkoutState } from '../../data/views/checkout.ts';
import type { Streamed } from '../http/exchange.ts';
import { type CardParts, drawCard } from './card.ts';
import { type LiveDeps, openLive } from './live.ts';
import { openPageCache, type PageCache } from './page-cache.ts';
import { drawQrSvg } from './qr.ts';

/** About 4 kB each. A payload never changes, and drawing its code costs more than the rest of a page. */
const MAX_CODES = 2_000;
/** About 50 kB each. Messengers ask for the same few again and again. */
const MAX_CARDS = 100;

export interface Checkout {
  /** Follows an invoice until the caller goes away. Refuses with `invoice_not_found` and `too_many_streams`. */
  follow(invoice_id: string, signal: AbortSignal): Promise<Streamed>;
  pages: PageCache;
  /** The QR code of a payload as one SVG element, quiet zone included. */
  qrSvg(payload: string): Promise<string>;
  /** The picture of a unit for messengers, as a PNG. */
  card(parts: CardParts): Promise<Buffer>;
  /** Ends all streams. */
  close(): void;
}

export function openCheckout(deps: LiveDeps): Checkout {
  const live = openLive(deps);
  const pages = openPageCache(deps.clock, {
    row: (id) => checkoutRow(deps.db, id),
    state: (id) => checkoutState(deps.db, id),
  });
  const codes = new LRUCache<string, string>({ max: MAX_CODES });
  // Drawn once for all who ask at the same time.
  const cards = new LRUCache<string, Promise<Buffer>>({ max: MAX_CARDS });
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
      const card = cards.get(key) ?? drawCard(parts);
      cards.set(key, card);
      return card;
    },
    close: () => live.close(),
  };
}
