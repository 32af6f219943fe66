// How often claims may have the chains asked: so many a minute for each blockchain, by all daemons, and one at a time for an invoice.
import { dropLease, holdLease } from '../../data/cursors.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import { openWindow } from '../http/limits.ts';

/** Longer than the providers of a claim may take; after it a daemon that ended meanwhile holds no one up. */
const LEASE_MS = 60_000;
/** When another claim for the same invoice is worth a try. */
const RETRY_SECONDS = 5;
/** Blockchains that are counted. */
const MAX_COUNTED = 1_000;

export interface ClaimGate {
  /** Counts one claim that asks a blockchain; false where those of this minute are used up. */
  mayAsk(blockchain: string): Promise<boolean>;
  /** Runs `work` while no other claim for this invoice does, at any daemon. Refuses with `rate_limited`. */
  alone<T>(invoice_id: string, work: () => Promise<T>): Promise<T>;
}

export function openClaimGate({
  db,
  clock,
  config,
  runtime,
  secrets,
}: Pick<App, 'db' | 'clock' | 'config' | 'runtime' | 'secrets'>): ClaimGate {
  const count = openWindow({ db, clock, secrets }, MAX_COUNTED);
  const most = config.limits.claim_per_blockchain;
  return {
    mayAsk: async (blockchain) =>
      most === 0 || (await count(`claim_per_blockchain ${blockchain}`, most)) === 0,
    async alone(invoice_id, work) {
      const name = `claim:${invoice_id}`;
      const holder = runtime.uuid();
      if (!(await holdLease(db.query, name, holder, clock.ms(), LEASE_MS)))
        throw new Refusal('rate_limited', { retry_after: RETRY_SECONDS });
      try {
        return await work();
      } finally {
        await dropLease(db.query, name, holder);
      }
    },
  };
}
