// Whether a coin can be paid with now: what gateways, choosers, pages and new invoices say of a blockchain that cannot be read.
import type { Gateway } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';

/** When a blockchain that cannot be read is worth another try. */
const RETRY_SECONDS = 30;

export interface Availability {
  available: boolean;
  /** Unix seconds since when its blockchain is not read; null while it is. */
  unavailable_since: number | null;
  /** Whether invoices are made all the same, because they can be simulated. */
  simulate_only: boolean;
}

type Seeing = Pick<App, 'blindness' | 'config'>;

export function availabilityOf({ blindness, config }: Seeing, blockchain: string): Availability {
  const unavailable_since = blindness.of(blockchain);
  const available = unavailable_since === null;
  return { available, unavailable_since, simulate_only: !available && config.demo };
}

/** Refuses with `provider_unavailable` what no one would see paid; in demo mode it can still be simulated. */
export function refuseBlind(app: Seeing, { blockchain, blockchain_name }: Gateway): void {
  const { available, simulate_only, unavailable_since } = availabilityOf(app, blockchain);
  if (available || simulate_only) return;
  throw new Refusal('provider_unavailable', {
    detail: `${blockchain_name} cannot be read at the moment, so a payment would not be noticed`,
    extra: { unavailable_since },
    retry_after: RETRY_SECONDS,
  });
}
