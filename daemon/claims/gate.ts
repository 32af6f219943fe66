// How often claims may have the chains asked: so many a minute for each blockchain, by all daemons, and one at a time for an invoice.
import { dropLease, holdLease } from '../../data/cursors.ts';
import type { Db } from '../../data/db/open.ts';
import { Refusal } from '../../src/errors.ts';
import type { Clock } from '../clock.ts';
import type { Runtime } from '../process/runtime.ts';

/** Longer than the providers of a claim may take; after it a daemon that ended meanwhile holds no one up. */
const LEASE_MS = 60_000;
/** When another claim for the same invoice is worth a try. */
const RETRY_SECONDS = 5;

export interface ClaimGate {
  /** Counts one claim that asks a blockchain; false where those of this minute are used up. */
  mayAsk(blockchain: string, ip: string): Promise<boolean>;
  /** Runs `work` while no other claim for this invoice does, at any daemon. Refuses with `rate_limited`. */
  alone<T>(invoice_id: string, work: () => Promise<T>): Promise<T>;
}

export interface ClaimGateOptions {
  db: Db;
  clock: Clock;
  runtime: Pick<Runtime, 'uuid'>;
  /** Counts one claim that asks a blockchain; milliseconds to wait where those of this minute are used up. */
  count(blockchain: string, ip: string): Promise<number>;
}

export function openClaimGate({ db, clock, runtime, count }: ClaimGateOptions): ClaimGate {
  return {
    mayAsk: async (blockchain, ip) => (await count(blockchain, ip)) === 0,
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
