// As of when an account had which last transaction: what proves that all of its transactions are read.
import type { Tip } from '../family.ts';
import type { ReadAccount } from './accounts.ts';
import type { TonContext } from './memory.ts';
import { type AccountState, BEACON, getAccountStates } from './providers/toncenter.ts';
import { halves, isOfFew, OVERLAP_SECONDS, type Reading, setHistory } from './reading.ts';

/** Accounts in one query, besides the beacon. */
const BATCH_STATES = 99;
/** Masterchain blocks that are cached: half an hour and more, at a reading every few seconds. */
const TIPS_LIMIT = 600;
/**
 * A shard's block is in the masterchain this long after it was made, and an indexer that writes several blocks at once
 * has an earlier one this long after a later one.
 */
const SHARD_SECONDS = 5;
/** A tip that is further ahead of our clock than this proves nothing. */
const AHEAD_SECONDS = 30;

/** What an answer says of an account. */
export interface Target {
  /** `absent` where the answer has no such account, `odd` where its row cannot be read. */
  state: AccountState | 'absent' | 'odd';
  /** As of when, less what blocks may be late, Unix seconds of our clock; null where the answer cannot be dated. */
  through: number | null;
}

/** Notes when a masterchain block was made, to date the answers that come with its logical time. */
export function noteTip(context: TonContext, { time }: Tip, start_lt: bigint | null): void {
  const { tips } = context.memory;
  if (start_lt === null || context.local(time).earliest_at > context.now() + AHEAD_SECONDS) return;
  if (tips.some((tip) => tip.start_lt === start_lt)) return;
  tips.push({ start_lt, time });
  tips.sort((one, other) => (one.start_lt < other.start_lt ? -1 : 1));
  if (tips.length > TIPS_LIMIT) tips.shift();
}

/** How far an answer proves that was given as of this moment of the chain's clock; Unix seconds of our clock. */
const provedAt = ({ context }: Reading, chain_time: number): number =>
  Math.min(context.now(), context.local(chain_time).earliest_at);

/** As of when an answer was given in which the beacon has this last transaction: the newest known block that it includes. */
function datedBy(reading: Reading, beacon: AccountState | null | undefined): number | null {
  const lt = beacon?.last_transaction_lt ?? null;
  const tip =
    lt === null ? undefined : reading.context.memory.tips.findLast(({ start_lt }) => start_lt <= lt);
  return tip ? provedAt(reading, tip.time - SHARD_SECONDS) : null;
}

/** Asks for the last transactions of accounts. Null where the indexer has no such request. */
export async function askStates(
  reading: Reading,
  accounts: readonly ReadAccount[],
): Promise<Map<string, Target> | null> {
  const { context } = reading;
  const targets = new Map<string, Target>();
  for (let first = 0; first < accounts.length; first += BATCH_STATES) {
    const batch = accounts.slice(first, first + BATCH_STATES).map(({ account }) => account);
    const found = await askBatch(reading, batch);
    if (found === null) return context.memory.answers_states ? targets : null;
    context.memory.answers_states = true;
    for (const [account, target] of found) targets.set(account, target);
  }
  return targets;
}

/** Where an indexer cannot answer for one account, it answers for the others all the same. */
async function askBatch(reading: Reading, batch: readonly string[]): Promise<Map<string, Target> | null> {
  const targets = new Map<string, Target>();
  try {
    const states = await getAccountStates(reading.context.rpc, [...batch, BEACON]);
    if (states === null) return null;
    const through = datedBy(reading, states.get(BEACON));
    for (const account of batch) {
      const state = states.get(account);
      targets.set(account, { state: state === undefined ? 'absent' : (state ?? 'odd'), through });
    }
    return targets;
  } catch (error) {
    if (!isOfFew(reading, error)) throw error;
    if (batch.length === 1) return targets.set(batch[0] as string, { state: 'odd', through: null });
    for (const part of halves(batch))
      for (const [account, target] of (await askBatch(reading, part)) ?? []) targets.set(account, target);
    return targets;
  }
}

/**
 * How far a complete reading proves where the indexer cannot be asked for states at all: its rows are taken to be no
 * later than the stretch that is read again each time. One that has the request is never believed so much.
 */
export const provedByReading = (reading: Reading): number =>
  provedAt(reading, reading.tip.time - OVERLAP_SECONDS);

/** Whether a transaction is older than all that matters of the account, by the blocks that are cached. */
function isOld({ context }: Reading, { history }: ReadAccount, lt: bigint): boolean {
  const before = history.since - OVERLAP_SECONDS;
  return context.memory.tips.some(
    ({ start_lt, time }) => start_lt > lt && context.local(time).latest_at < before,
  );
}

const lastOf = ({ state }: Target) =>
  typeof state === 'object' && state.last_transaction_lt && state.last_transaction_hash
    ? { lt: state.last_transaction_lt, hash: state.last_transaction_hash }
    : null;

/** Where all that is unread of an account is older than what matters, its history needs no request. */
export function anchorOld(reading: Reading, read: ReadAccount, target: Target): void {
  const { history } = read;
  const last = lastOf(target);
  if (history.last === null && last && isOld(reading, read, last.lt))
    setHistory(reading, read, { ...history, last, front: null });
  else if (history.front && isOld(reading, read, history.front.lt))
    setHistory(reading, read, { ...history, front: null });
}

/** Whether the account has transactions after those that are read. */
export function lacksNewer({ history }: ReadAccount, target: Target): boolean {
  const last = lastOf(target);
  return last !== null && (history.last === null || history.last.lt < last.lt);
}

/** The hash of a transaction that the account lacks at one end of its history; null where it lacks none. */
export const wantedHash = (read: ReadAccount, target: Target): string | null =>
  (lacksNewer(read, target) ? lastOf(target)?.hash : read.history.front?.hash) ?? null;

/** Whether everything is read that the account had when the answer was given. */
export function isReached({ context }: Reading, { account, history }: ReadAccount, target: Target): boolean {
  const last = lastOf(target);
  if (last) return history.last !== null && history.last.lt >= last.lt && history.front === null;
  // An account without a transaction. An answer that was cut has none either: it takes two of them.
  return target.state !== 'odd' && history.last === null && context.memory.absent.has(account);
}

/** Notes which accounts the answers had no transaction of, for the next reading. */
export function noteAbsent({ context }: Reading, targets: ReadonlyMap<string, Target>): void {
  const { absent } = context.memory;
  for (const [account, target] of targets)
    if (lastOf(target)) absent.delete(account);
    else if (target.state !== 'odd') absent.add(account);
}
