// One reading of the watched Solana accounts: a balance that changed, an invoice about to end or a turn makes one listed.

import { rejectClockSkew } from '../clock-skew.ts';
import { type Page, ProviderError, type ReadRequest, type Tip, type WatchedAddress } from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { beginAt, readAccount, readBacklog, troublePage } from './account.ts';
import { associatedTokenAccount } from './address.ts';
import { readAssets, tokenAmount } from './assets.ts';
import { type AccountCursor, parseCursor } from './cursor.ts';
import { whyNoWallet } from './inspect.ts';
import { provableThrough } from './listing.ts';
import { callerOf, forgetOthers, type Memory, type SolanaContext } from './memory.ts';
import { isLagDue, isUncounted, takeLag, takeTip, tipAge } from './pace.ts';
import type { Pass, SolanaLimits, Visit, WatchedAccount } from './pass.ts';
import { type Plan, planReading, proofKeyOf, turnOf } from './plan.ts';
import {
  ACCOUNTS,
  ACCOUNTS_PER_CALL,
  atOnce,
  badAnswer,
  type Caller,
  isBehind,
  isOfOneAccount,
  learnLimit,
  readAccounts,
  readNewestSlot,
  readSlotSeconds,
  readTip,
  type SolanaAccount,
} from './providers/rpc.ts';
import type { Asset } from './transfers.ts';

/**
 * Reads every watched account that may have received something. Costs one request for the tip and one per hundred
 * accounts; only accounts whose balance changed cost more, and those to be proved, within the requests to spare. An account
 * is proved by a listing of its transactions alone: a wallet that forwards at once holds the same as before. What is wrong
 * with one account stays with it: the others are read, and what is much to read comes after what is little.
 */
export async function* readSolana(
  context: SolanaContext,
  request: ReadRequest,
  limits: SolanaLimits,
): AsyncGenerator<Page> {
  const { memory } = context;
  memory.tick++;
  const { rpc, spent } = counted(callerOf(context));
  const { tip, assets, unreadable } = await readAssets(rpc, context.gateways);
  rejectClockSkew('the finalized slot', tip.time, context.now());
  const pace = takeTip(memory.pace, tip);
  if (isLagDue(memory.pace, tip.time)) await measureLag(rpc, memory, tip);
  yield {
    transfers: [],
    tip: { ...tip, age_seconds: tipAge(memory.pace) },
    unreadable,
    ...(pace ? { pace } : {}),
  };
  const accounts = accountsOf(await request.addresses(), assets, memory);
  forgetOthers(memory, new Set(accounts.map(({ key }) => key)));
  const plan = planReading(memory, {
    accounts,
    urgent: await request.urgent(),
    provable: provableThrough(context, tip),
    behind: await request.behind(),
    spare_requests: context.spare_requests,
    limits,
    tip,
  });
  memory.begin_at = undefined;
  const pass: Pass = {
    context,
    rpc,
    spent,
    limits,
    tip,
    assets,
    memory,
    transactions: new Map(),
    failures: new Map(),
    deferred: [],
    answered: 0,
    unanswered: [],
  };
  yield* readAtOnce(pass, plan, request, plan.order);
  yield* readUnanswered(pass, plan);
  yield* readDeferred(pass, plan);
}

/** The same provider, with the requests made to it counted. */
function counted(rpc: Caller): { rpc: Caller; spent(): number } {
  let count = 0;
  const call: Caller['call'] = (method, params) => {
    count++;
    return rpc.call(method, params);
  };
  return { rpc: { ...rpc, call }, spent: () => count };
}

/** How old a tip is that was just read. A provider that does not tell is asked again another time. */
async function measureLag(rpc: Caller, { pace }: Memory, tip: Tip): Promise<void> {
  takeLag(pace, tip, (await orFailed(readNewestSlot(rpc))) ?? tip.height);
  if (isUncounted(pace)) pace.counted = (await orFailed(readSlotSeconds(rpc))) ?? null;
}

/** Reads these accounts, in as few requests as the provider takes them in. */
async function* readAtOnce(
  pass: Pass,
  plan: Plan,
  request: ReadRequest,
  accounts: readonly WatchedAccount[],
): AsyncGenerator<Page> {
  for (let start = 0; start < accounts.length; ) {
    const batch = accounts.slice(start, start + atOnce(pass.rpc, ACCOUNTS, ACCOUNTS_PER_CALL));
    yield* readBatch(pass, plan, request, batch);
    start += batch.length;
  }
}

/**
 * Reads some accounts. Where the node does not answer for them, they are asked for in two halves: one that no answer can
 * hold, or a replica that is behind, keeps the others from nothing.
 */
async function* readBatch(
  pass: Pass,
  plan: Plan,
  request: ReadRequest,
  batch: readonly WatchedAccount[],
): AsyncGenerator<Page> {
  const keys = batch.map(({ key }) => key);
  const state = await readAccounts(pass.rpc, keys, pass.tip.height).catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
    if (error.kind !== 'bad_answer' && !isOfOneAccount(error) && !isBehind(error)) throw error;
    return error;
  });
  if (!(state instanceof ProviderError)) {
    pass.answered += batch.length;
    return yield* readStates(pass, plan, request, { batch, ...state });
  }
  if (learnLimit(pass.rpc, state, { method: ACCOUNTS, count: batch.length }))
    return yield* readAtOnce(pass, plan, request, batch);
  const [account, ...others] = batch;
  if (account && others.length === 0) pass.unanswered.push({ account, error: state });
  else if (plan.halvings_left <= 0) {
    pass.memory.begin_at ??= account?.key;
    pass.unanswered_error ??= state;
  } else {
    plan.halvings_left--;
    const middle = Math.ceil(batch.length / 2);
    yield* readBatch(pass, plan, request, batch.slice(0, middle));
    yield* readBatch(pass, plan, request, batch.slice(middle));
  }
}

/** What the node says of no account at all is its own trouble, not theirs. */
async function* readUnanswered(
  { answered, unanswered, unanswered_error }: Pass,
  plan: Plan,
): AsyncGenerator<Page> {
  const error = unanswered[0]?.error ?? unanswered_error;
  if (error && answered === 0) throw error;
  for (const { account, error } of unanswered)
    if (!isPaused(plan, account) && !isBehind(error)) yield troublePage(account, error.message);
}

interface States {
  batch: readonly WatchedAccount[];
  slot: number;
  found: readonly SolanaAccount[];
}

async function* readStates(
  pass: Pass,
  plan: Plan,
  request: ReadRequest,
  { batch, slot, found }: States,
): AsyncGenerator<Page> {
  const keys = batch.map(({ key }) => key);
  const cursors = await request.accounts(keys);
  const begun: [key: string, cursor: AccountCursor][] = [];
  const visits: Visit[] = [];
  for (const [position, account] of batch.entries()) {
    const state = found[position] ?? null;
    try {
      const amount = amountOf(pass.memory, account, state);
      const cursor = parseCursor(cursors.get(account.key));
      const visit = { account, cursor, observed: { amount, slot } };
      const is_new = !cursor?.behind && cursor?.since !== account.owner.since;
      const is_quiet = cursor ? cursor.since < account.owner.since && cursor.seen === amount : state === null;
      if (is_quiet) begun.push([account.key, beginAt(pass, visit)]);
      else if (is_new) begun.push([account.key, { ...beginAt(pass, visit), again_at: pass.tip.time }]);
      if (!is_quiet || plan.chosen.has(account.key)) visits.push(visit);
    } catch (error) {
      yield* ownTrouble(plan, account, error);
    }
  }
  // From what they hold now, every balance must be explained: one that is listed later, or only after failures, holds by
  // then what was paid meanwhile.
  if (begun.length > 0) yield { transfers: [], accounts: begun };
  for (const visit of visits) {
    try {
      yield* readChanged(pass, plan, visit);
    } catch (error) {
      yield* ownTrouble(plan, visit.account, error);
    }
  }
}

/** What is wrong with one account, unless it is left alone. Throws what is wrong with the node. */
function* ownTrouble(plan: Plan, account: WatchedAccount, error: unknown): Generator<Page> {
  if (!isOfOneAccount(error)) throw error;
  if (!isPaused(plan, account)) yield troublePage(account, error.message);
}

const isPaused = ({ proofs }: Plan, account: WatchedAccount): boolean =>
  proofs.get(proofKeyOf(account))?.paused ?? false;

/** Reads an account whose balance changed or that was chosen; one with more work waits for the others. */
async function* readChanged(pass: Pass, plan: Plan, visit: Visit): AsyncGenerator<Page> {
  const { memory, tip } = pass;
  const { account, cursor, observed } = visit;
  const is_paused = isPaused(plan, account);
  const attempted = memory.attempted.get(account.key);
  const is_changed = observed.amount !== (attempted ?? cursor?.seen);
  // After a failure it waits for its turn as one in trouble.
  const is_due = attempted === undefined && (cursor?.again_at ?? Number.POSITIVE_INFINITY) <= tip.time;
  const before = pass.spent();
  const read = () => guarded(pass, visit, readAccount(pass, visit, plan.requests_per_account));
  if (cursor?.behind) {
    if (!is_paused) pass.deferred.push(visit);
  } else if (is_changed || is_due) {
    if (plan.changed_left <= 0) memory.begin_at ??= account.key;
    else yield* read();
    plan.changed_left -= pass.spent() - before;
  } else if (is_paused) return;
  else if (plan.chosen.has(account.key)) {
    if (plan.spare_left > plan.reserved) yield* read();
    plan.spare_left -= pass.spent() - before;
  } else if (plan.proofs.get(proofKeyOf(account))?.failed) pass.deferred.push(visit);
}

/** Accounts that are behind or in trouble share what is left, those first that waited longest. */
async function* readDeferred(pass: Pass, plan: Plan): AsyncGenerator<Page> {
  const { deferred, memory } = pass;
  const turn = ({ account }: Visit) => memory.served.get(account.key) ?? 0;
  deferred.sort((one, other) => turn(one) - turn(other));
  for (let at = 0; at < deferred.length && plan.spare_left > 0; at++) {
    const visit = deferred[at] as Visit;
    const before = pass.spent();
    memory.served.set(visit.account.key, memory.tick);
    yield* guarded(pass, visit, readBacklog(pass, visit, turnOf(plan, deferred.length - at)));
    plan.spare_left -= pass.spent() - before;
  }
}

/** What goes wrong with one account is its own trouble. */
async function* guarded(pass: Pass, visit: Visit, work: AsyncGenerator<Page>): AsyncGenerator<Page> {
  const { memory, tip, rpc } = pass;
  const { account, observed } = visit;
  const listed = memory.listed.get(account.key);
  memory.listed.set(account.key, { tick: memory.tick, time: tip.time });
  try {
    yield* work;
    memory.attempted.delete(account.key);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (isBehind(error)) {
      // Of one replica it is no one's trouble, and the account is read next time; of all of them it is the provider's.
      await readAccounts(rpc, [account.key], tip.height);
      if (listed) memory.listed.set(account.key, listed);
      else memory.listed.delete(account.key);
      return;
    }
    // What one account has too much of may run out of time; a provider that is away answers nothing else either.
    if (error.kind === 'unreachable') await readTip(rpc, []);
    else if (!isOfOneAccount(error)) throw error;
    memory.attempted.set(account.key, observed.amount);
    memory.dropList(account.key);
    yield troublePage(account, error.message);
  }
}

/** What an account holds. Throws ProviderError where the answer leaves it out, or where its owner is no wallet. */
function amountOf(memory: Memory, { key, owner, mint }: WatchedAccount, state: SolanaAccount): string {
  if (mint === null) {
    const reason = whyNoWallet(state);
    if (reason === null) memory.refused.delete(owner.key);
    else memory.refused.set(owner.key, reason);
  }
  const refused = memory.refused.get(owner.key);
  if (refused !== undefined) throw badAnswer(refused);
  return mint === null ? String(state?.lamports ?? 0) : tokenAmount(state, key);
}

function accountsOf(
  addresses: readonly WatchedAddress[],
  assets: readonly Asset[],
  { token_accounts }: Memory,
): WatchedAccount[] {
  return addresses.flatMap((owner) =>
    assets.map(({ gateway: { chain }, mint, program }): WatchedAccount => {
      if (mint === null) return { key: owner.key, chain, owner, mint };
      const id = `${owner.key}:${program}:${mint}`;
      const key = token_accounts.get(id) ?? associatedTokenAccount(owner.key, program, mint);
      token_accounts.set(id, key);
      return { key, chain, owner, mint };
    }),
  );
}
