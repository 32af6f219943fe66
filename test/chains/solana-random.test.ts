// Random payments on a Solana node that lags, lists late, cuts and repeats: every credit is stored once, none is missed by a proof.
import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { createModel, type Fault, keyOf, type Payment } from './solana-model.ts';
import { createReader } from './solana-reader.ts';

const START = 1_800_000_000;
const OWNERS = 5;
const MINT = keyOf(1, 6);
const PAUSE_SECONDS = 4;
/** How long payments are made. */
const BUSY_SECONDS = 900;
/** Readings at the end, in which everything must be proved, and the pause between them. */
const QUIET_READINGS = 400;
const QUIET_PAUSE_SECONDS = 20;
/** What is assumed of every node: by then it lists transactions that leave the balance as it was. */
const CANCELLING_LISTED_SECONDS = 30;
/** `SOLANA_SEED=77 SOLANA_SEEDS=1000` runs others. */
const SEEDS = Number(process.env.SOLANA_SEEDS ?? 12);
const FIRST_SEED = Number(process.env.SOLANA_SEED ?? 1);

/** Numbers from a seed, 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Credit {
  txid: string;
  owner: string;
  chain: string;
  amount: bigint;
  time: number;
}

async function run(seed: number) {
  const random = randomOf(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const chance = (share: number) => random() < share;
  const fault = (): Fault => ({
    lag_slots: chance(0.5) ? below(20) : 0,
    ...(chance(0.1) ? { cut_at: 1 + below(4) } : {}),
    ...(chance(0.02) ? { repeats: true } : {}),
  });
  const model = createModel(START, fault);
  model.addMint(MINT);
  const owners = Array.from({ length: OWNERS }, (_, at) => keyOf(at));
  // One wallet has nothing at first.
  for (const owner of owners.slice(1)) model.grant(owner, 1_000_000_000n + BigInt(below(1_000)));
  const spare_requests = 4 + below(20);
  const reader = createReader(model, owners, {
    mints: { 'solana-usdc': { address: MINT } },
    limits: { sweep_ticks: 15, sweeps_per_tick: 1, transactions_per_page: 3 },
    since: START,
    spare_requests,
  });
  const credits: Credit[] = [];
  const lateness = () =>
    chance(0.15) ? { listed_after: below(900) } : { listed_after: below(15), delivered_after: below(20) };

  const pay = (payment: Payment) => {
    const txid = model.pay(payment);
    const { to: owner, amount, mint, fails } = payment;
    const time = model.timeOf(model.slot() + 1);
    const chain = mint ? 'solana-usdc' : 'solana';
    if (!fails && owners.includes(owner)) credits.push({ txid, owner, chain, amount, time });
  };
  const happen = () => {
    const owner = owners[below(OWNERS)] as string;
    const mint = chance(0.3) ? MINT : undefined;
    const amount = 1n + BigInt(below(100_000));
    const outside = keyOf(99, 4);
    const kind = below(10);
    // More than one reading may have requests for.
    if (chance(0.03))
      for (let count = 10 + below(30); count > 0; count--)
        pay({ to: owner, amount: 1n + BigInt(below(100_000)), mint, ...lateness() });
    if (kind < 5) pay({ to: owner, amount, mint, ...lateness() });
    else if (kind < 7) {
      const soon = () => ({ listed_after: below(CANCELLING_LISTED_SECONDS) });
      pay({ to: owner, amount, mint, ...soon() });
      pay({ to: outside, from: owner, amount, mint, ...soon() });
    } else if (kind < 8 && model.held(owner, mint) > 200_000n)
      pay({ to: outside, from: owner, amount, mint, ...lateness() });
    else if (kind < 9) pay({ to: owner, amount, fails: true, ...lateness() });
    else if (model.held(owner) > 200_000n)
      pay({ to: outside, from: owner, amount, fails: true, ...lateness() });
  };

  const isStored = ({ txid, owner, chain, amount }: Credit) =>
    reader.stored(txid, owner, chain).join() === `${amount}`;
  const readThrough = (owner: string, chain: string) => reader.proof(owner, chain)?.read_through ?? 0;
  const scan = Math.ceil((2 * OWNERS) / 100);
  const most = 1 + scan + 2 * (8 + spare_requests) + (scan + 4 * spare_requests) + spare_requests;
  const read = async () => {
    const requests = await reader.cost();
    expect(requests.length, `seed ${seed}: requests of one reading`).toBeLessThanOrEqual(most);
    const missed = credits.filter(
      (credit) => credit.time < readThrough(credit.owner, credit.chain) && !isStored(credit),
    );
    expect(missed, `seed ${seed} at ${model.now - START} s: proved, but not stored`).toEqual([]);
  };

  await read();
  while (model.now < START + BUSY_SECONDS) {
    model.now += PAUSE_SECONDS;
    for (let count = below(3); count > 0; count--) happen();
    const urgent = owners.filter(() => chance(0.1));
    reader.ask(urgent.map((address_key) => ({ address_key, chain: 'solana' })));
    if (chance(0.01)) reader.restart();
    await read();
  }
  const accounts = owners.flatMap((owner) => ['solana', 'solana-usdc'].map((chain) => ({ owner, chain })));
  reader.ask(accounts.map(({ owner: address_key, chain }) => ({ address_key, chain })));
  const unproved = () =>
    accounts.filter(({ owner, chain }) => readThrough(owner, chain) < START + BUSY_SECONDS + 5);
  let readings = 0;
  for (; readings < QUIET_READINGS && unproved().length > 0; readings++) {
    model.now += QUIET_PAUSE_SECONDS;
    await read();
  }
  expect(unproved(), `seed ${seed}: not proved in the end`).toEqual([]);
  expect(
    credits.filter((each) => !isStored(each)),
    `seed ${seed}: not stored`,
  ).toEqual([]);
  expect(reader.transfers(), `seed ${seed}: nothing else is stored`).toHaveLength(credits.length);
  expect(reader.errors).toEqual([]);
  return { credits: credits.length, requests: model.requests.length, readings };
}

describe('reading Solana', () => {
  it('stores every credit once, and proves nothing that is not stored, whatever the node leaves out', async () => {
    verifies('end-proved', 'read-again');
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) await run(seed);
  });
});
