// Reading TON: one masterchain query, then one query per hundred accounts, whatever the number of invoices.
import { rejectClockSkew } from '../clock-skew.ts';
import { type AccountProof, type Page, ProviderError, type ReadRequest, type Tip } from '../family.ts';
import { type Accounts, type ReadAccount, refKey, resolveAccounts } from './accounts.ts';
import { type Cursor, readCursor } from './cursor.ts';
import type { History } from './history.ts';
import { type AssetMarker, openMarkers } from './markers.ts';
import type { TonContext } from './memory.ts';
import { MASTERCHAIN_SECONDS, notePace } from './pace.ts';
import { isUrgent, type Proving, proofAfter, proofOfUnread, storedOf } from './proofs.ts';
import { getTip, type TonTransaction } from './providers/toncenter.ts';
import { grow, OVERLAP_SECONDS, openReading, pageOf, type Reading, setHistory, spend } from './reading.ts';
import { readByHash, readSingle } from './single.ts';
import { anchorOld, askStates, isReached, lacksNewer, noteAbsent, noteTip } from './states.ts';
import { keepUp } from './upkeep.ts';
import { readWindow, type Slice } from './window.ts';

/** A backlog is read in stretches of this length, and the cursor moves after each. */
const SLICE_SECONDS = 21_600;
/** However long the backlog. */
const SLICES_LIMIT = 50;
/** All accounts are proved in turns, some in each reading; when all had their turn, the next round begins after this. */
const ROUND_SECONDS = 60;
/** Accounts that have their turn in one reading: one request. */
const TURN_ACCOUNTS = 99;

interface Plan {
  cursor: Cursor | null;
  /** The accounts whose turn it is to be proved. */
  turn: readonly ReadAccount[];
  turns: NonNullable<Cursor['turns']>;
}

/**
 * Reads everything since the cursor, then what newly watched accounts may have been paid before it, then what single
 * accounts lack. Proves accounts one by one, never the blockchain as a whole: each answer is of another replica.
 */
export async function* readTon(context: TonContext, request: ReadRequest): AsyncGenerator<Page> {
  const { tip, start_lt } = await getTip(context.rpc);
  rejectClockSkew('toncenter /masterchainInfo: the last block', tip.time, context.now());
  noteTip(context, tip, start_lt);
  const pace = notePace(context.memory.paced, tip, MASTERCHAIN_SECONDS);
  const { reading, proving, plan } = await prepare(context, request, tip);
  const { accounts: proved, failure } = yield* proveUrgent(reading, proving, plan);
  yield* readShared(reading, proving.accounts, plan);
  const lacking = failure ? null : yield* readLacking(reading, proving, plan);
  yield pageOf(reading, { ...lastPage(reading, proving, plan, proved), ...(pace ? { pace } : {}) });
  if (proving.targets) noteAbsent(reading, proving.targets);
  // What could be read is stored; the provider failed nevertheless.
  const failed = proving.accounts.failure ?? failure ?? lacking;
  if (failed) throw failed;
}

async function prepare(context: TonContext, request: ReadRequest, tip: Tip) {
  const watched = await request.addresses();
  const markers = openMarkers(await request.accounts(watched.map(({ key }) => key)));
  const reading = openReading(context, tip, markers);
  const cursor = readCursor(request.cursor);
  const urgent = new Set((await request.urgent()).map(refKey));
  const first = new Set([...urgent].map((key) => key.split(' ')[0]));
  const behind = await request.behind();
  const addresses = [
    ...watched.filter(({ key }) => first.has(key)),
    ...watched.filter(({ key }) => !first.has(key)),
  ];
  const historyOf = (marker: AssetMarker | null, since: number, asset: string): History => {
    const was_read = marker !== null && marker.since !== null && marker.since <= since;
    // One that begins later holds only where all before it was read: the watch may have been moved to an earlier moment.
    if (marker?.history && (marker.history.since === since || (was_read && marker.history.since > since)))
      return marker.history;
    const read_until = was_read && cursor?.assets.includes(asset) ? cursor.utime - OVERLAP_SECONDS : since;
    return { since: Math.max(since, read_until), last: null, front: null };
  };
  const accounts = await resolveAccounts(context, { addresses, markers, behind, historyOf });
  for (const read of accounts.accounts)
    if (markers.asset(read.address_key, read.asset)?.history !== read.history)
      setHistory(reading, read, read.history);
  const isFirst = (read: ReadAccount) => (first.has(read.address_key) ? 0 : 1);
  accounts.accounts.sort((one, other) => isFirst(one) - isFirst(other));
  const plan = { cursor, ...takeTurn(reading, accounts.accounts, cursor) };
  const proving: Proving = {
    accounts,
    urgent,
    behind: new Map(behind.map((proof) => [refKey(proof), proof])),
    targets: new Map(),
  };
  return { reading, proving, plan };
}

/** The accounts whose turn it is: those after the ones of the reading before, until the round is over. */
function takeTurn(reading: Reading, accounts: readonly ReadAccount[], cursor: Cursor | null) {
  const now = reading.context.now();
  const turns = cursor?.turns ?? { at: now, after: '' };
  const isResting = turns.after === '' && now - turns.at < ROUND_SECONDS;
  if (isResting || accounts.length === 0 || !spend(reading)) return { turn: [], turns };
  const rest = accounts
    .filter(({ account }) => account > turns.after)
    .sort((one, other) => (one.account < other.account ? -1 : 1));
  const turn = rest.slice(0, TURN_ACCOUNTS);
  const after = rest.length > turn.length ? (turn.at(-1)?.account ?? '') : '';
  return { turn, turns: after ? { ...turns, after } : { at: now, after } };
}

interface Proved {
  accounts: ReadonlySet<ReadAccount>;
  failure: ProviderError | null;
}

/** Asks what the provider has of the accounts in question, and proves at once those of which everything is read. */
async function* proveUrgent(
  reading: Reading,
  proving: Proving,
  { turn }: Plan,
): AsyncGenerator<Page, Proved> {
  const proved = new Set<ReadAccount>();
  const chosen = new Set(
    proving.accounts.accounts.filter((read) => {
      const stored = storedOf(proving, read);
      return isUrgent(proving, read) || (stored !== undefined && !stored.paused && !read.doubt);
    }),
  );
  const all = [...new Set([...chosen, ...turn])];
  if (all.length === 0) return { accounts: proved, failure: null };
  try {
    proving.targets = await askStates(reading, all);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { accounts: proved, failure: error };
  }
  const proofs: AccountProof[] = [];
  for (const read of all) {
    const target = proving.targets?.get(read.account);
    if (!target) continue;
    anchorOld(reading, read, target);
    if (!isReached(reading, read, target) || !chosen.has(read)) continue;
    const proof = proofAfter(reading, proving, read);
    if (!proof || proof.trouble) continue;
    proved.add(read);
    proofs.push(proof);
  }
  if (proofs.length > 0) yield pageOf(reading, { proofs });
  return { accounts: proved, failure: null };
}

/** The stretch since the cursor for all accounts, then what newcomers may have been paid before it. */
async function* readShared(
  reading: Reading,
  { accounts, assets }: Accounts,
  { cursor, turns }: Plan,
): AsyncGenerator<Page> {
  const { context, tip } = reading;
  const now = context.now();
  const start = Math.min(now, cursor?.utime ?? earliest(accounts, tip.time)) - OVERLAP_SECONDS;
  // Never beyond our own time: what is made until then would not be read.
  const end = Math.min(now, Math.max(cursor?.utime ?? 0, tip.time));
  const unread = accounts.filter((account) => !wasRead(account, cursor));
  // An asset that was switched on again is marked as read only after its accounts have caught up.
  const caught_up = assets.filter((asset) => !cursor || cursor.assets.includes(asset));
  for (const slice of slices(start, tip.time, null)) {
    yield* readWindow(reading, accounts, slice);
    const to = Math.min(now, slice.to ?? tip.time);
    const ranges = to >= slice.from ? [{ scope: 'utime', from: slice.from, to }] : [];
    yield pageOf(reading, {
      cursor: { utime: Math.min(end, slice.to ?? end), assets: caught_up, turns },
      ranges,
    });
  }
  const late = unread.filter(({ since }) => since - OVERLAP_SECONDS < start);
  if (late.length > 0) {
    const collected = new Map<ReadAccount, TonTransaction[]>();
    const from = earliest(late, start) - OVERLAP_SECONDS;
    for (const slice of slices(from, start, start)) yield* readWindow(reading, late, slice, collected);
    for (const [read, transactions] of collected) grow(reading, read, transactions);
  }
  if (unread.length > 0 || caught_up.length < assets.length) {
    for (const { address_key, asset, account, since, history } of unread)
      reading.markers.setAsset(address_key, asset, { account, since, history });
    yield pageOf(reading, { cursor: { utime: end, assets, turns } });
  }
}

/** Whether the account needs a request of its own. */
function lacks(reading: Reading, proving: Proving, read: ReadAccount): boolean {
  const { account, history, doubt } = read;
  const stored = storedOf(proving, read);
  if (stored?.paused) return false;
  if (reading.broken.has(account) || reading.problems.has(account) || reading.busy.has(account)) return true;
  const target = proving.targets?.get(account);
  if (!target) return proving.targets === null && stored !== undefined && !doubt;
  return lacksNewer(read, target) || (history.front !== null && !isReached(reading, read, target));
}

/**
 * Reads what single accounts lack, within the requests that are left, those first that waited longest. Returns why the
 * provider as a whole could not be asked further.
 */
async function* readLacking(
  reading: Reading,
  proving: Proving,
  { turn }: Plan,
): AsyncGenerator<Page, ProviderError | null> {
  const { accounts } = proving.accounts;
  const targetOf = ({ account }: ReadAccount) => proving.targets?.get(account);
  let failure: ProviderError | null = null;
  try {
    await keepUp(reading, proving, turn);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    failure = error;
  }
  const lacking = accounts.filter((read) => lacks(reading, proving, read));
  const { served } = reading.context.memory;
  const servedAt = ({ account }: ReadAccount) => served.get(account) ?? 0;
  try {
    yield* readByHash(
      reading,
      lacking.flatMap((read) => {
        const target = targetOf(read);
        return target ? [[read, target] as const] : [];
      }),
    );
    for (const read of lacking.sort((one, other) => servedAt(one) - servedAt(other))) {
      if (!lacks(reading, proving, read)) continue;
      if (!spend(reading)) break;
      served.set(read.account, reading.context.now());
      const target = targetOf(read);
      const isBack = target !== undefined && !lacksNewer(read, target) && !reading.broken.has(read.account);
      yield* readSingle(reading, read, isBack && read.history.front !== null);
      if (target && isReached(reading, read, target)) reading.problems.delete(read.account);
    }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    failure ??= error;
  }
  return failure;
}

/** What is proved of accounts and what is wrong with them, as it is at the end of the reading. */
function lastPage(
  reading: Reading,
  proving: Proving,
  { turn }: Plan,
  proved: ReadonlySet<ReadAccount>,
): Partial<Page> {
  const { accounts, unread, unreadable } = proving.accounts;
  const proofs: AccountProof[] = unread.flatMap((each) => proofOfUnread(proving, each) ?? []);
  const turns = new Set(turn);
  for (const read of accounts) {
    const { account } = read;
    const stored = storedOf(proving, read);
    const isWrong = reading.problems.has(account) || reading.broken.has(account) || read.doubt !== null;
    const isAsked = (stored !== undefined || isUrgent(proving, read)) && !proved.has(read);
    if (!isWrong && !isAsked && !turns.has(read)) continue;
    const proof = proofAfter(reading, proving, read);
    // A turn without a finding is not worth a row.
    if (proof && (isAsked || proof.trouble)) proofs.push(proof);
  }
  const known = new Set([...accounts.map(refOf), ...unread].map(refKey));
  const caught_up = [...proving.behind.values()].filter((proof) => !known.has(refKey(proof)));
  return { proofs, caught_up, ...(unreadable ? { unreadable } : {}) };
}

const refOf = ({ address_key, gateway: { chain } }: ReadAccount) => ({ address_key, chain });

const earliest = (watched: readonly { since: number }[], latest: number): number =>
  watched.reduce((time, { since }) => Math.min(time, since), latest);

/** Whether the account has been read from its `since` to the chain's cursor. */
const wasRead = ({ asset, since, read_since }: ReadAccount, cursor: Cursor | null): boolean =>
  read_since !== null && read_since <= since && (cursor?.assets.includes(asset) ?? false);

/** The window in stretches; the last one ends at `last`. */
function* slices(from: number, until: number, last: number | null): Generator<Slice> {
  const length = Math.max(SLICE_SECONDS, Math.ceil((until - from) / SLICES_LIMIT));
  let start = from;
  for (; until - start > length; start += length) yield { from: start, to: start + length };
  yield { from: start, to: last };
}
