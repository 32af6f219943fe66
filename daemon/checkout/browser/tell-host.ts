// In a frame: reports what happens to the page that shows it, where its origin is known, and to no other.
import type { EmbedMessage } from '../status.ts';

/** Who shows this frame; null where the browser does not say, or where there is no frame. */
function hostOrigin(): string | null {
  if (window.parent === window) return null;
  const known = window.location.ancestorOrigins?.[0] ?? document.referrer;
  try {
    const { origin } = new URL(known);
    return origin === 'null' ? null : origin;
  } catch {
    return null;
  }
}

const origin = hostOrigin();

export function tellHost(message: EmbedMessage): void {
  if (origin !== null) window.parent.postMessage(message, origin);
}

/** Reports the height that the page needs, now and whenever it changes. */
export function tellHeight(): void {
  if (origin === null || typeof ResizeObserver === 'undefined') return;
  new ResizeObserver(() => {
    tellHost({
      type: 'gatewayd:size',
      height: Math.ceil(document.documentElement.getBoundingClientRect().height),
    });
  }).observe(document.documentElement);
}
