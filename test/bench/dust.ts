// One account with a hundred thousand dust transactions alongside another: by how much the other's payments are stored later.
import { say } from './measure.ts';
import { type Chain, newTimer, openReader, solanaChain, type Timer, tonChain } from './reading.ts';

const DUST = 100_000;
const PAYMENTS = 40;
/** Between two payments: no multiple of a pause. */
const EVERY_SECONDS = 31.7;
/** After so long without being stored, a payment counts as lost. */
const LOST_SECONDS = 3_600;
const FIRST_AMOUNT = 1_000_000n;

const chains: Record<string, (timer: Timer) => Chain> = { ton: tonChain, solana: solanaChain };

export async function benchDust(): Promise<void> {
  for (const [name, open] of Object.entries(chains)) {
    const without = await delays(open, 0);
    const alongside = await delays(open, DUST);
    say(
      `${name}: a payment is stored ${without.text} after it was made; ${alongside.text} alongside an account with ${DUST} dust transactions: at worst ${(alongside.worst - without.worst).toFixed(1)} s later, the pause is ${without.pause_seconds} s`,
    );
  }
}

class Lost extends Error {}

/** How long payments to a calm account take to be stored, at the default pace, while the other one holds so much dust. */
async function delays(open: (timer: Timer) => Chain, dust: number) {
  const timer = newTimer();
  const chain = open(timer);
  const made: number[] = [];
  let next = Number.POSITIVE_INFINITY;
  const reader = openReader(chain, timer, () => {
    while (timer.now >= next && made.length < PAYMENTS) {
      chain.pay(calm, FIRST_AMOUNT + BigInt(made.length));
      made.push(timer.now);
      next += EVERY_SECONDS;
    }
    if (timer.now > last_stored + LOST_SECONDS) throw new Lost();
  });
  let last_stored = Number.POSITIVE_INFINITY;
  const [busy = '', calm = ''] = reader.watch(2).map(({ key }) => key);
  for (let reading = 0; reading < 5; reading++) await reader.pass();
  for (let each = 0; each < dust; each++) {
    if (each % 500 === 0) timer.now++;
    chain.pay(busy, 1n);
  }
  next = timer.now + 1;
  last_stored = timer.now;
  const found = () => [...reader.stored.values()].filter(({ transfer }) => transfer.address_key === calm);
  try {
    while (found().length < PAYMENTS) {
      await reader.pass();
      last_stored = Math.max(last_stored, ...found().map(({ at }) => at));
    }
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
  }
  const waits = made.map((at, serial) => {
    const stored = found().find(({ transfer }) => transfer.amount_atomic === FIRST_AMOUNT + BigInt(serial));
    return (stored?.at ?? Number.POSITIVE_INFINITY) - at;
  });
  const worst = Math.max(...waits);
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
  const { pause_seconds } = reader;
  return { worst, text: `${mean.toFixed(1)} s (at worst ${worst.toFixed(1)} s)`, pause_seconds };
}
