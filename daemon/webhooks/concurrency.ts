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
export interface Lane {
  merchant_id: string | null;
  host: string;
}

export interface Lanes {
  free(): number;
  /** Takes a place, or tells that there is none. */
  take(lane: Lane): boolean;
  release(lane: Lane): void;
  /** Who has no place left. */
  busy(): Busy;
}

export function openLanes(limits: Limits): Lanes {
  let taken = 0;
  const counts = { hosts: new Map<string, number>(), merchants: new Map<string, number>() };
  const receivers = new Map<string, Lane & { count: number }>();

  const receiverKey = ({ merchant_id, host }: Lane) => `${merchant_id ?? ''} ${host}`;
  const add = (map: Map<string, number>, key: string, change: 1 | -1) => {
    const count = (map.get(key) ?? 0) + change;
    if (count === 0) map.delete(key);
    else map.set(key, count);
  };
  const move = (lane: Lane, change: 1 | -1) => {
    taken += change;
    add(counts.hosts, lane.host, change);
    if (lane.merchant_id !== null) add(counts.merchants, lane.merchant_id, change);
    const key = receiverKey(lane);
    const receiver = receivers.get(key) ?? { merchant_id: lane.merchant_id, host: lane.host, count: 0 };
    receiver.count += change;
    if (receiver.count === 0) receivers.delete(key);
    else receivers.set(key, receiver);
  };
  const full = (map: Map<string, number>, limit: number) =>
    [...map].filter(([, count]) => count >= limit).map(([key]) => key);

  return {
    free: () => limits.total - taken,
    take(lane) {
      const hasPlace =
        taken < limits.total &&
        (counts.hosts.get(lane.host) ?? 0) < limits.per_host &&
        (lane.merchant_id === null || (counts.merchants.get(lane.merchant_id) ?? 0) < limits.per_merchant) &&
        (receivers.get(receiverKey(lane))?.count ?? 0) < limits.per_receiver;
      if (hasPlace) move(lane, 1);
      return hasPlace;
    },
    release: (lane) => move(lane, -1),
    busy: () => ({
      hosts: full(counts.hosts, limits.per_host),
      merchants: full(counts.merchants, limits.per_merchant),
      receivers: [...receivers.values()].filter(({ count }) => count >= limits.per_receiver),
    }),
  };
}
