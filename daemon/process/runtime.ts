// What the daemon takes from the machine besides its clock: waiting, chance and the network, in one object that can be replaced.
import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { Turns } from '../../data/db/open.ts';
import { type Proxies, proxyFor } from '../../src/proxy.ts';
import type { Network, ProxyOf } from './network.ts';

export interface Runtime extends Turns {
  /** Milliseconds of a timer that only goes forward: waiting is measured by it, whatever happens to the clock. */
  elapsed_ms(): number;
  /** Resolves after so long, and at once where the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `work` once after so long. Returns how to call it off. */
  after(ms: number, work: () => void): () => void;
  /** 0 to 1, for jitter. */
  random(): number;
  /** Bytes that cannot be guessed. */
  randomBytes(length: number): Uint8Array;
  uuid(): string;
  /** Stands in for the network; absent: the real one. */
  network?: Network;
  /** The proxy for a request; absent: all goes directly. */
  proxyOf?: ProxyOf;
}

/** Bytes drawn at once: asking the system costs more than the bytes do. */
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);
let taken = 0;

/** Each byte of the pool is given away once. */
function pooledBytes(length: number): Uint8Array {
  if (length > POOL_BYTES) return randomBytes(length);
  if (taken + length > pool.length) {
    pool = randomBytes(POOL_BYTES);
    taken = 0;
  }
  const bytes = Uint8Array.prototype.slice.call(pool, taken, taken + length);
  pool.fill(0, taken, taken + length);
  taken += length;
  return bytes;
}

/** This machine, with the way out that the settings name. */
export const runtimeOf = ({ proxies }: { proxies: Proxies }): Runtime => ({
  ...systemRuntime,
  proxyOf: (url) => proxyFor(proxies, url),
});

export const systemRuntime: Runtime = {
  turn: () => turn(),
  elapsed_ms: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
      if (signal?.aborted) done();
    }),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
  randomBytes: pooledBytes,
  uuid: () => randomUUID(),
};
