// How a blockchain is read at the moment: the one rule that health, observers, metrics and both doctors speak by.

export const sightStatuses = ['ok', 'idle', 'behind', 'down', 'wrong_network', 'starting', 'blind'] as const;
export type SightStatus = (typeof sightStatuses)[number];

/** A blockchain is behind when so many readings are overdue, and at least so long. */
const BEHIND_READINGS = 5;
const BEHIND_SECONDS = 60;

export interface Sight {
  /** Unix seconds since when it cannot be read; null while it is, and while it is given time after a start. */
  unavailable_since: number | null;
  /** Whether a provider has answered since the start, this daemon or another of the same database. */
  is_answered: boolean;
  is_watched: boolean;
  /** Age of what was read last; null where nothing was read yet. */
  lag_seconds: number | null;
  /** Whether another daemon reads it: then it does not matter how the providers answer this one. */
  is_read_elsewhere: boolean;
  /** As this daemon knows them. */
  providers: readonly { state: 'unknown' | 'ok' | 'down' | 'wrong_network' }[];
  /** The shortest pause between two readings. */
  poll_interval_seconds: number;
}

export function statusOf(sight: Sight): SightStatus {
  const { unavailable_since, is_answered, is_watched, lag_seconds } = sight;
  const providers = sight.is_read_elsewhere ? [] : sight.providers;
  const usable = providers.filter(({ state }) => state !== 'wrong_network');
  if (providers.length > 0 && usable.length === 0) return 'wrong_network';
  if (unavailable_since !== null) return 'blind';
  if (usable.length > 0 && usable.every(({ state }) => state === 'down')) return 'down';
  if (!is_watched) return is_answered ? 'idle' : 'starting';
  if (lag_seconds === null) return 'starting';
  return lag_seconds > Math.max(BEHIND_SECONDS, BEHIND_READINGS * sight.poll_interval_seconds)
    ? 'behind'
    : 'ok';
}

/** Whether a payment on it will be seen, though it may take longer than usual. */
export const isSeeing = (status: SightStatus): boolean =>
  status === 'ok' || status === 'idle' || status === 'behind';
