// Which gateways of a blockchain are read: the enabled ones, and others for as long as their invoices may be paid.

import type { Executor } from '../../data/db/open.ts';
import { chainsWatchedUntil } from '../../data/invoices.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { type Clock, seconds } from '../clock.ts';

/** Another daemon may know a gateway as enabled a little longer: its new invoices are searched for this often. */
const ASK_AGAIN_SECONDS = 60;

export interface ReadGateways {
  /** Those to read now; empty where the whole blockchain is switched off and nothing of it is awaited. */
  current(): Promise<readonly Gateway[]>;
  /** As `current` answered last; before, the enabled ones. */
  known(): readonly Gateway[];
}

/**
 * Who switches a gateway off wants no new invoices; what was asked for before is still read, so that a payment to it
 * is neither missed nor separated from its invoice. One that no one waits for is left alone: its token may not exist there.
 */
export function readGateways(
  app: { db: { query: Executor }; clock: Clock },
  blockchain: string,
  enabled: readonly Gateway[],
  disabled: readonly Gateway[],
): ReadGateways {
  const until = new Map<string, number>();
  let asked_at: number | undefined;
  let known = enabled;

  async function ask(now: number): Promise<void> {
    const chains = disabled.map(({ chain }) => chain);
    const open = asked_at !== undefined;
    const found = await chainsWatchedUntil(app.db.query, { blockchain, chains, open, now });
    for (const [chain, time] of found) until.set(chain, Math.max(time, until.get(chain) ?? 0));
    asked_at = now;
  }

  return {
    known: () => known,
    async current() {
      if (disabled.length === 0) return enabled;
      const now = seconds(app.clock);
      if (asked_at === undefined || Math.abs(now - asked_at) >= ASK_AGAIN_SECONDS) await ask(now);
      known = [...enabled, ...disabled.filter(({ chain }) => (until.get(chain) ?? 0) >= now)];
      return known;
    },
  };
}
