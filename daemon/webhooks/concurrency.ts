// How many deliveries may be under way at once, so that one slow receiver delays no other.
import type { Busy } from '../../data/deliveries.ts';

export interface Limits {
  /** Of this daemon, all together. */
  total: number;
  /** To one host, whichever merchant sends: no one is flooded through us. */
  per_host: number;
  /** Of one merchant: names under a wildcard domain are as many hosts as one likes. */
  per_merchant: number;
  /** Of one merchant to one host: a slow path of a shared host holds up only its owner. */
  per_receiver: number;
}

export const LIMITS: Limits = { total: 128, per_host: 32, per_merchant: 32, per_receiver: 8 };

/** Whose a delivery is and where it goes. Null is the platform, which has no merchant's limit. */
export interface Receiver {
  merchant_id: string | null;
  host: string;
}

export interface Limiter {
  free(): number;
  /** Takes a place, or tells that there is none. */
  take(receiver: Receiver): boolean;
  release(receiver: Receiver): void;
  /** Who has no place left. */
  busy(): Busy;
}

export function openLimiter(limits: Limits): Limiter {
  let taken = 0;
  const counts = { hosts: new Map<string, number>(), merchants: new Map<string, number>() };
  const receivers = new Map<string, Receiver & { count: number }>();

  const keyOf = ({ merchant_id, host }: Receiver) => `${merchant_id ?? ''} ${host}`;
  const add = (map: Map<string, number>, key: string, change: 1 | -1) => {
    const count = (map.get(key) ?? 0) + change;
    if (count === 0) map.delete(key);
    else map.set(key, count);
  };
  const move = (receiver: Receiver, change: 1 | -1) => {
    taken += change;
    add(counts.hosts, receiver.host, change);
    if (receiver.merchant_id !== null) add(counts.merchants, receiver.merchant_id, change);
    const key = keyOf(receiver);
    const counted = receivers.get(key) ?? {
      merchant_id: receiver.merchant_id,
      host: receiver.host,
      count: 0,
    };
    counted.count += change;
    if (counted.count === 0) receivers.delete(key);
    else receivers.set(key, counted);
  };
  const full = (map: Map<string, number>, limit: number) =>
    [...map].filter(([, count]) => count >= limit).map(([key]) => key);

  return {
    free: () => limits.total - taken,
    take(receiver) {
      const hasPlace =
        taken < limits.total &&
        (counts.hosts.get(receiver.host) ?? 0) < limits.per_host &&
        (receiver.merchant_id === null ||
          (counts.merchants.get(receiver.merchant_id) ?? 0) < limits.per_merchant) &&
        (receivers.get(keyOf(receiver))?.count ?? 0) < limits.per_receiver;
      if (hasPlace) move(receiver, 1);
      return hasPlace;
    },
    release: (receiver) => move(receiver, -1),
    busy: () => ({
      hosts: full(counts.hosts, limits.per_host),
      merchants: full(counts.merchants, limits.per_merchant),
      receivers: [...receivers.values()].filter(({ count }) => count >= limits.per_receiver),
    }),
  };
}
