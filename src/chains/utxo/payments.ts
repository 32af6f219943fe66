// Payments to watched scripts: when each was made, what it spends, and what takes its money away.
import type { Interval, Page, Transfer, TransferUpdate } from '../family.ts';
import { atOnce, mapInSteps, type Steps } from '../steps.ts';
import type { Transaction } from './block.ts';
import { type Memory, notePayment } from './memory.ts';
import { provedThrough } from './proofs.ts';
import { CLOCK_SKEW_SECONDS, type Reading } from './reading.ts';
import type { Sighting } from './source.ts';

/** How far a block's time may be behind the true time: miners refresh what they work on more often. */
const BLOCK_BEHIND_SECONDS = 600;

/** A block whose contents are read. */
export interface Mined {
  height: number;
  hash: string;
  /** Unix seconds, by the miner's clock. */
  time: number;
}

/** The credits of unconfirmed transactions, and the payments whose money they spend elsewhere. */
export function pageOfMempool(reading: Reading, sightings: readonly Sighting[]): Page {
  const { memory } = reading;
  const page = { transfers: [] as Transfer[], updates: [] as TransferUpdate[] };
  for (const { transaction, seen_at } of sightings) {
    // One host may still list what another has shown mined.
    if (memory.mined.has(transaction.txid)) continue;
    page.updates.push(...conflictsWith(reading, transaction));
    page.transfers.push(...atOnce(transfersOf(reading, transaction, { seen_at, mined: null })));
  }
  return page;
}

/** The same of a block. What is surely older than the watch on its address is left out. */
export function* pageOfBlock(
  reading: Reading,
  transactions: readonly Transaction[],
  mined: Mined,
): Steps<Page> {
  const page = { transfers: [] as Transfer[], updates: [] as TransferUpdate[] };
  const { context, memory } = reading;
  const newest = mined.time + memory.ahead_seconds + CLOCK_SKEW_SECONDS;
  const seen_at = minedSeenAt(context.now(), mined.time, memory);
  for (const transaction of transactions) {
    page.updates.push(...conflictsWith(reading, transaction));
    yield;
    for (const found of yield* transfersOf(reading, transaction, { seen_at, mined }))
      if ((reading.watched.get(found.address_key)?.since ?? 0) <= newest) page.transfers.push(found);
  }
  return page;
}

/** What a block that left the chain paid to watched scripts: where it was read before they were watched, it is older. */
export function creditsOfOrphan(
  { watched, chain }: Pick<Reading, 'watched' | 'chain'>,
  transactions: readonly Transaction[],
): Transfer[] {
  const place = { height: null, block_hash: null, confirmations: 0 };
  return transactions.flatMap((transaction) =>
    creditsOf(transaction, watched).map((credit) => {
      const before = (watched.get(credit.script)?.since ?? 0) - 1;
      const made = { earliest_at: before, latest_at: before };
      return transferOf(chain, transaction, { ...credit, ...place, ...made });
    }),
  );
}

/** Not after this, by our clock, was a transaction made that stands in a block of this time; Unix seconds, all. */
export const minedSeenAt = (
  now: number,
  block_time: number,
  { ahead_seconds }: Pick<Memory, 'ahead_seconds'>,
): number => Math.min(now, block_time + ahead_seconds + BLOCK_BEHIND_SECONDS);

/** Cached payments that cannot be mined any more, because this transaction spends what they spend. */
function conflictsWith(reading: Reading, { txid, inputs }: Transaction): TransferUpdate[] {
  const { memory } = reading;
  const lost = new Set<string>();
  for (const input of inputs)
    for (const other of memory.spends.get(input) ?? [])
      if (other !== txid && !memory.mined.has(other)) lost.add(other);
  return [...lost].flatMap((other) => {
    reading.gone.add(other);
    // Where a host still lists it, or lists it again, it is read again.
    memory.known.delete(other);
    const reason = `transaction ${txid} spends the same`;
    return [...(memory.payments.get(other)?.indexes ?? [])].map((index) => goneUpdate(other, index, reason));
  });
}

export const goneUpdate = (txid: string, index: string, reason: string): TransferUpdate => ({
  txid,
  index,
  state: 'gone',
  confirmations: 0,
  height: null,
  block_hash: null,
  reason,
});

/**
 * Every output to a watched script. A coinbase is no payment: it cannot be spent for 100 blocks, and no wallet
 * pays an invoice with one.
 */
function* transfersOf(
  reading: Reading,
  transaction: Transaction,
  { seen_at, mined }: { seen_at: number; mined: Mined | null },
): Steps<Transfer[]> {
  const { memory, watched, chain } = reading;
  const found = creditsOf(transaction, watched);
  if (found.length === 0) return [];
  const { txid } = transaction;
  const known_at = memory.payments.get(txid)?.seen_at ?? memory.known.get(txid)?.seen_at ?? seen_at;
  return yield* mapInSteps(found, ({ script, index, amount }) => {
    notePayment(memory, transaction, index, known_at);
    const made = { earliest_at: Math.min(known_at, provedThrough(reading, script)), latest_at: known_at };
    const place = {
      height: mined?.height ?? null,
      block_hash: mined?.hash ?? null,
      confirmations: mined ? 1 : 0,
    };
    return transferOf(chain, transaction, { script, index, amount, ...place, ...made });
  });
}

interface Credit {
  script: string;
  index: string;
  amount: bigint;
}

export function creditsOf(transaction: Transaction, scripts: { has(script: string): boolean }): Credit[] {
  if (transaction.coinbase) return [];
  return transaction.outputs.flatMap(({ script, amount }, index) =>
    amount === 0n || !scripts.has(script) ? [] : { script, index: String(index), amount },
  );
}

type Placed = Pick<Transfer, 'height' | 'block_hash' | 'confirmations'> & Interval & Credit;

export function transferOf(
  chain: string,
  { txid, inputs }: Transaction,
  { script, index, amount, ...place }: Placed,
): Transfer {
  return {
    chain,
    address_key: script,
    txid,
    index,
    amount_atomic: amount,
    memo: null,
    references: [],
    sender: null,
    inputs,
    final: false,
    ...place,
  };
}
