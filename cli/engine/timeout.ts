// Time limits of calls.

/**
 * Aborts with a TimeoutError after so many milliseconds. Unlike `AbortSignal.timeout` it is never lost: Node.js 20 collects
 * one that only `AbortSignal.any` refers to, and the call then waits for ever. It keeps no process from ending.
 */
export function timeoutAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  const expire = () => controller.abort(new DOMException('no answer in time', 'TimeoutError'));
  setTimeout(expire, ms).unref();
  return controller.signal;
}
