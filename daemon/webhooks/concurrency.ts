// How many deliveries may be under way at once, so that one slow receiver delays no other.
import type { Busy } from '../../data/deliveries.ts';

export interface Limits {
  /** Of this daemon, all together but the slow ones. */
  total: number;
  /** Of this daemon, those that have waited for their answers for `SLOW_MS`: receivers that hang take no one's place. */
  slow: number;
  /** To one host, whichever merchant sends: no one is flooded through us. */
  per_host: number;
  /** Of one merchant: names under a wildcard domain are as many hosts as one likes. */
  per_merchant: number;
  /** Of one merchant to one host: a slow path of a shared host holds up only its owner. */
  per_receiver: number;
}

export const LIMITS: Limits = { total: 128, slow: 256, per_host: 32, per_merchant: 32, per_receiver: 8 };

/** A delivery without an answer by then gives its place to another, and waits among the slow ones. */
export const SLOW_MS = 1_000;

/** Whose a delivery is and where it goes. Null is the platform, which has no merchant's limit. */
export interface Receiver {
  merchant_id: string | null;
  host: string;
}

export interface Limiter {
  free(): number;
  /** Takes a place, or tells that there is none. */
  take(receiver: Receiver): boolean;
  /** One of its deliveries is slow now and gives its place back; false where there are too many of those. */
  slowDown(receiver: Receiver): boolean;
  /** Of a delivery that has ended; `is_slow` where it had given its place back. */
  release(receiver: Receiver, is_slow?: boolean): void;
  /** Who has no place left. */
  busy(): Busy;
}

/** What one receiver has under way, the slow ones included. */
interface Counted extends Receiver {
  count: number;
  slow: number;
}

export function openLimiter(limits: Limits): Limiter {
  let taken = 0;
  let slow = 0;
  const counts = { hosts: new Map<string, number>(), merchants: new Map<string, number>() };
  const receivers = new Map<string, Counted>();

  const keyOf = ({ merchant_id, host }: Receiver) => `${merchant_id ?? ''} ${host}`;
  const add = (map: Map<string, number>, key: string, change: 1 | -1) => {
    const count = (map.get(key) ?? 0) + change;
    if (count === 0) map.delete(key);
    else map.set(key, count);
  };
  const move = (receiver: Receiver, change: 1 | -1) => {
    add(counts.hosts, receiver.host, change);
    if (receiver.merchant_id !== null) add(counts.merchants, receiver.merchant_id, change);
    const key = keyOf(receiver);
    const counted = receivers.get(key) ?? {
      merchant_id: receiver.merchant_id,
      host: receiver.host,
      count: 0,
      slow: 0,
    };
    counted.count += change;
    if (counted.count === 0) receivers.delete(key);
    else receivers.set(key, counted);
  };
  const full = (map: Map<string, number>, limit: number) =>
    [...map].filter(([, count]) => count >= limit).map(([key]) => key);

  /** Where no more slow ones are taken, who has some waits: the places that are left are for those who answer. */
  const isFull = ({ count, slow: own }: Counted) =>
    count >= limits.per_receiver || (own > 0 && slow >= limits.slow);

  return {
    free: () => limits.total - taken,
    take(receiver) {
      const known = receivers.get(keyOf(receiver));
      const hasPlace =
        taken < limits.total &&
        (counts.hosts.get(receiver.host) ?? 0) < limits.per_host &&
        (receiver.merchant_id === null ||
          (counts.merchants.get(receiver.merchant_id) ?? 0) < limits.per_merchant) &&
        !(known && isFull(known));
      if (!hasPlace) return false;
      taken++;
      move(receiver, 1);
      return true;
    },
    slowDown(receiver) {
      const known = receivers.get(keyOf(receiver));
      if (!known || slow >= limits.slow) return false;
      taken--;
      slow++;
      known.slow++;
      return true;
    },
    release(receiver, is_slow = false) {
      const known = receivers.get(keyOf(receiver));
      if (is_slow && known) {
        slow--;
        known.slow--;
      } else taken--;
      move(receiver, -1);
    },
    busy: () => ({
      hosts: full(counts.hosts, limits.per_host),
      merchants: full(counts.merchants, limits.per_merchant),
      receivers: [...receivers.values()].filter(isFull),
    }),
  };
}
