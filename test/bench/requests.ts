// Requests to providers per minute with few and many merchants, at rest and with a million open invoices that end all the time.

import { say } from './measure.ts';
import { benchMinutes } from './minutes.ts';
import {
  bitcoinChain,
  type Chain,
  newTimer,
  openReader,
  solanaChain,
  type Timer,
  tonChain,
} from './reading.ts';

const MERCHANTS = [1, 100, 10_000];
/** Readings before those that are counted. */
const WARM_UP = 10;
const SECONDS = 300;
/** Accounts that one reading is asked to prove: what the observer takes of the invoices that are due. */
const DUE_PER_READ = 2_000;

const chains: Record<string, (timer: Timer) => Chain> = {
  ton: tonChain,
  solana: solanaChain,
  'bitcoin (esplora)': (timer) => bitcoinChain(timer, 'esplora'),
  'bitcoin (core)': (timer) => bitcoinChain(timer, 'core'),
};

export async function benchRequests(): Promise<void> {
  await benchMinutes();
  for (const [name, open] of Object.entries(chains)) {
    for (const merchants of MERCHANTS) {
      const quiet = await perMinute(open, merchants, 0);
      const ending = await perMinute(open, merchants, DUE_PER_READ);
      say(
        `${name}, ${merchants} merchants: ${quiet} requests per minute; ${ending} with 10^6 open invoices that end all the time`,
      );
    }
  }
}

/** `due` `requests (seconds of one reading and its pause)`. */
async function perMinute(open: (timer: Timer) => Chain, merchants: number, due: number): Promise<string> {
  const timer = newTimer();
  const reader = openReader(open(timer), timer);
  reader.watch(merchants);
  const accounts = reader.refs();
  let next = 0;
  const asked = () => {
    const taken = accounts.slice(next, next + due);
    next = next + due >= accounts.length ? 0 : next + due;
    return taken;
  };
  for (let reading = 0; reading < WARM_UP; reading++) await reader.pass(asked());
  const [from, requests] = [timer.now, reader.requests()];
  let readings = 0;
  for (; timer.now < from + SECONDS; readings++) await reader.pass(asked());
  const seconds = timer.now - from;
  const rate = ((reader.requests() - requests) * 60) / seconds;
  return `${rate.toFixed(1)} (a reading each ${(seconds / readings).toFixed(1)} s)`;
}
