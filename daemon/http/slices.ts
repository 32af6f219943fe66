// Whose request begins next: the addresses take turns, for a moment of processor time each, so that one that sends thousands
// keeps the others waiting for no more than that.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Of one address in its turn; a request that takes longer is alone in it. */
const SLICE_MS = 1;

type Arrived = [IncomingMessage, ServerResponse];

/** Begins what arrived in one turn of the event loop after all of it was read, and only some of it in each of the next ones. */
export function inSlices(
  addressOf: (req: IncomingMessage) => string,
  answer: RequestListener,
): RequestListener {
  /** By address; the one whose turn it is comes first. */
  const queues = new Map<string, Arrived[]>();
  let runs = false;

  const begin = (queue: Arrived[]): void => {
    const until = performance.now() + SLICE_MS;
    do {
      const [req, res] = queue.shift() as Arrived;
      // Who went away meanwhile wants no answer.
      if (!res.destroyed) answer(req, res);
    } while (queue.length > 0 && performance.now() < until);
  };
  const run = (): void => {
    const [address, queue] = queues.entries().next().value as [string, Arrived[]];
    queues.delete(address);
    try {
      begin(queue);
    } finally {
      if (queue.length > 0) queues.set(address, queue);
      runs = queues.size > 0;
      if (runs) setImmediate(run);
    }
  };

  return (req, res) => {
    const address = addressOf(req);
    const queue = queues.get(address);
    if (queue) queue.push([req, res]);
    else queues.set(address, [[req, res]]);
    if (runs) return;
    runs = true;
    setImmediate(run);
  };
}
