// The state of checkout: pages and codes that are cached, and streams that are open. Opened and closed with the app.
import { hash } from 'node:crypto';
import { checkoutRow, checkoutState } from '../../data/views/checkout.ts';
import { Refusal } from '../../src/errors.ts';
import { boundedCache } from '../cache.ts';
import { type Clock, seconds } from '../clock.ts';
import { shareOfAddress } from '../http/counting.ts';
import { type Feed, type Streamed, whileSame } from '../http/exchange.ts';
import { type CardParts, drawCard } from './card.ts';
import { openDrawings } from './drawings.ts';
import { type Follower, type LiveDeps, openLive } from './live.ts';
import { openPageCache, type PageCache } from './page-cache.ts';
import { drawQrPng, drawQrSvg } from './qr.ts';
import type { Template } from './template.ts';

/** Codes as SVG, about 4 kB each. A payload never changes, and drawing its code costs more than the rest of a page. */
const MAX_SVG_BYTES = 8_000_000;
/** About 1 kB each. */
const MAX_PNG_BYTES = 4_000_000;
/** About 50 kB each. Messengers ask for the same few again and again. */
const MAX_CARD_BYTES = 8_000_000;
/** Pages that do not change with the second, about 30 kB each. */
const MAX_RENDERED = 300;
/** Drawing one takes up to 75 ms of this process: what is more than these is asked to come again. */
const CARDS_PER_SECOND = 4;

export interface Checkout {
  /** Follows an invoice until the caller goes away. Refuses as `Live.stream` does. */
  follow(invoice_id: string, follower: Follower): Promise<Streamed<Feed>>;
  pages: PageCache<Template>;
  /** What `make` renders of what the name says whole; `mayMake` is asked before and refuses by throwing. */
  rendered(name: string, make: () => Template, mayMake?: () => void): Template;
  /** Counts what is made for an address: a page or a picture. Refuses with `rate_limited`. */
  mayMake(ip: string): void;
  /** The QR code of a payload as one SVG element, quiet zone included. `mayDraw` is asked where it is not drawn yet. */
  qrSvg(payload: string, mayDraw?: () => void): Promise<string>;
  /** The same as a PNG. */
  qrPng(payload: string, mayDraw?: () => void): Promise<Buffer>;
  /** The picture of a unit for messengers, as a PNG. Refuses with `rate_limited` where too many others are drawn. */
  card(parts: CardParts, mayDraw?: () => void): Promise<Buffer>;
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
  const pages = openPageCache<Template>(deps.clock, {
    row: (id) => checkoutRow(deps.db, id),
    state: (id) => checkoutState(deps.db, id),
    isSame: (id, state) => whileSame(deps.db, () => checkoutState.now(deps.db, id)?.state === state),
  });
  const svgs = openDrawings<string>(MAX_SVG_BYTES);
  const pngs = openDrawings<Buffer>(MAX_PNG_BYTES);
  const cards = openDrawings<Buffer>(MAX_CARD_BYTES);
  const isCardLeft = perSecond(deps.clock, CARDS_PER_SECOND);
  const templates = boundedCache<string, Template>(MAX_RENDERED);
  return {
    rendered(name, make, mayMake) {
      const key = hash('sha256', name, 'base64');
      const known = templates.get(key);
      if (known) return known;
      mayMake?.();
      const template = make();
      templates.set(key, template);
      return template;
    },
    follow: (invoice_id, follower) => live.stream(invoice_id, follower),
    pages,
    mayMake: shareOfAddress(deps, 'pages_per_address'),
    qrSvg: (payload, mayDraw) => svgs.get(payload, () => drawQrSvg(payload), mayDraw),
    qrPng: (payload, mayDraw) => pngs.get(payload, () => drawQrPng(payload), mayDraw),
    card: (parts, mayDraw) =>
      cards.get(
        JSON.stringify(parts),
        () => drawCard(parts),
        () => {
          mayDraw?.();
          if (!isCardLeft()) throw new Refusal('rate_limited', { retry_after: 1 });
        },
      ),
    close: () => live.close(),
  };
}
