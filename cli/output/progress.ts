// A line that says what is waited for, on a terminal, and is gone when it has come.
import type { Io } from './io.ts';

/** Sooner than this no one wonders. */
const PATIENCE_MS = 300;
const CLEAR = '\r\u001b[K';

/** Calls that are waited for at once share one line: so many of them would have shown it. */
let showing = 0;

/** Shows the line after a while; the function returned takes it away. Nothing where a screen or a question has the terminal. */
export function showWaiting(io: Io, what: string): () => void {
  if (!io.stderr.isTTY || io.quiet || io.busy || io.json !== false || io.env.TERM === 'dumb') return () => {};
  let shown = false;
  const timer = setTimeout(() => {
    if (io.busy) return;
    if (showing === 0) io.stderr.write(`${what} …`);
    showing += 1;
    shown = true;
  }, PATIENCE_MS);
  return () => {
    clearTimeout(timer);
    if (!shown) return;
    shown = false;
    showing -= 1;
    if (showing === 0) io.stderr.write(CLEAR);
  };
}

/** Does what has the terminal for itself: a screen, or a question. */
export async function withTerminal<T>(io: Io, work: () => Promise<T>): Promise<T> {
  const before = io.busy;
  io.busy = true;
  try {
    return await work();
  } finally {
    io.busy = before;
  }
}
