// What the providers of one blockchain were found to take at once, over restarts.
import type { Logger } from 'pino';
import type { Db } from '../../../data/db/database.ts';
import { noteProviderLimit, providerLimits } from '../../../data/provider-limits.ts';
import type { HostLimits } from '../../../src/chains/known-hosts.ts';
import { type Clock, seconds } from '../../clock.ts';

export interface Learnt {
  /** Reads what is stored, once. */
  load(): Promise<void>;
  /** Of the provider with this label. */
  of(label: string): HostLimits;
}

export function openLearnt(
  { db, clock, log }: { db: Pick<Db, 'query'>; clock: Clock; log: Pick<Logger, 'warn'> },
  blockchain: string,
): Learnt {
  const known = new Map<string, number>();
  const keyOf = (label: string, name: string) => `${label} ${name}`;
  let loading: Promise<void> | undefined;
  /** In the order in which they were learnt. */
  let writing: Promise<void> = Promise.resolve();
  const load = async () => {
    for (const { provider, name, value } of await providerLimits(db.query, blockchain))
      known.set(keyOf(provider, name), value);
  };
  return {
    load: () => (loading ??= load()),
    of: (label) => ({
      get: (name) => known.get(keyOf(label, name)),
      learn(name, value) {
        if (known.get(keyOf(label, name)) === value) return;
        known.set(keyOf(label, name), value);
        const row = { blockchain, provider: label, name, value, learnt_at: seconds(clock) };
        // Without it the next start learns it again.
        writing = writing
          .then(() => noteProviderLimit(db.query, row))
          .catch((error: Error) =>
            log.warn({ blockchain, error: error.message }, 'a limit of a provider could not be stored'),
          );
      },
    }),
  };
}
