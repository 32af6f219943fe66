// Chain times that cannot be: cursors and expiry rest on them, so none of them is taken as it comes.
import { ProviderError } from './family.ts';

/** How far a chain's clock may be ahead of ours: what Bitcoin's nodes allow a block. */
const AHEAD_SECONDS = 7200;

/** Throws ProviderError where `time` is further ahead of `now` than clocks differ; Unix seconds, both. */
export function rejectClockSkew(what: string, time: number, now: number): void {
  if (time - now > AHEAD_SECONDS) {
    const ahead = `is ${time - now} seconds ahead of this machine's clock`;
    throw new ProviderError('bad_answer', `${what} ${ahead}: the provider or the clock is wrong`);
  }
}
