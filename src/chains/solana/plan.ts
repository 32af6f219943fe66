// Whose turn it is in one reading of Solana, and how many requests it may cost.
import type { AccountRef, StoredProof, Tip, UrgentAccount } from '../family.ts';
import { INDEX_MARGIN_SECONDS } from './listing.ts';
import type { Memory } from './memory.ts';
import type { SolanaLimits, WatchedAccount } from './pass.ts';
import { ACCOUNTS_PER_CALL } from './providers/rpc.ts';

/** Requests that every account may have when its balance changed, however few there are to spare … */
const REQUESTS_LEAST = 8;
/** … and in its turn, when it is behind. */
const TURN_LEAST = 4;
/** Of the requests to spare, the parts that are left to accounts that are behind, and to the sweep: one in so many each. */
const SHARES = 4;
/** Halvings of one reading: enough to find two accounts among ACCOUNTS_PER_CALL. */
const HALVINGS = 14;
/** Times the requests to spare that all changed balances may cost beyond what it costs to ask for all balances. */
const CHANGED_SHARE = 4;

export interface Plan {
  /** All accounts: first those to be listed whatever they hold, then the others, beginning where the last reading ended. */
  order: readonly WatchedAccount[];
  /** Accounts to be listed whatever they hold. */
  chosen: ReadonlySet<string>;
  /** Requests for one account whose balance changed. */
  requests_per_account: number;
  /** Requests left for changed balances … */
  changed_left: number;
  /** … and for what was chosen, and for accounts that are behind … */
  spare_left: number;
  /** … to whom so many of them are left. */
  reserved: number;
  /** How often accounts for which the node does not answer may be asked for in halves. */
  halvings_left: number;
  /** By account. */
  proofs: ReadonlyMap<string, StoredProof>;
}

interface Asked {
  accounts: readonly WatchedAccount[];
  urgent: readonly UrgentAccount[];
  /** Up to when a list that is made now can prove an account. */
  provable: number;
  behind: readonly StoredProof[];
  spare_requests: number;
  limits: SolanaLimits;
  tip: Tip;
}

export const refOf = ({ address_key, chain }: AccountRef): string => `${address_key} ${chain}`;
export const proofKeyOf = ({ owner, chain }: WatchedAccount): string => `${owner.key} ${chain}`;

/** Chooses what is listed in this reading. What finds no place has it later: those listed longest ago go first. */
export function planReading(
  memory: Memory,
  { accounts, urgent, provable, behind, spare_requests, limits, tip }: Asked,
): Plan {
  const proofs = new Map(behind.map((proof) => [refOf(proof), proof]));
  const part = Math.max(1, Math.floor(spare_requests / SHARES));
  const reserved = behind.length > 0 ? part : 0;
  // One that is behind or in trouble has its turn as such: it takes no other's place.
  const well = accounts.filter((each) => !proofs.has(proofKeyOf(each)));
  const preferred = urgentOf(well, { urgent, provable }, memory, tip);
  const most = spare_requests - reserved - Math.min(part, limits.sweeps_per_tick);
  const first = preferred.slice(0, Math.max(1, most));
  const sweeps = Math.min(limits.sweeps_per_tick, spare_requests - reserved - first.length);
  const chosen = new Set([...first, ...sweepOf(well, memory, limits, sweeps)].map(({ key }) => key));
  const begin = Math.max(
    0,
    accounts.findIndex(({ key }) => key === memory.begin_at),
  );
  const order = [
    ...first,
    ...[...accounts.slice(begin), ...accounts.slice(0, begin)].filter((each) => !first.includes(each)),
  ];
  const scan = Math.ceil(accounts.length / ACCOUNTS_PER_CALL);
  return {
    order,
    chosen,
    requests_per_account: Math.max(REQUESTS_LEAST, Math.floor(spare_requests / 2)),
    changed_left: scan + CHANGED_SHARE * spare_requests,
    spare_left: spare_requests,
    reserved,
    halvings_left: HALVINGS,
    proofs,
  };
}

/** Requests for one of so many accounts that wait for their turn. */
export const turnOf = ({ spare_left }: Plan, waiting: number): number =>
  Math.max(TURN_LEAST, Math.floor(spare_left / waiting));

const lastTick = ({ listed }: Memory, { key }: WatchedAccount): number =>
  listed.get(key)?.tick ?? Number.NEGATIVE_INFINITY;

/** Longest not listed first, those never listed by this process before all. */
const byTurn = (memory: Memory) => (one: WatchedAccount, other: WatchedAccount) => {
  const [a, b] = [lastTick(memory, one), lastTick(memory, other)];
  return a === b ? 0 : a - b;
};

/**
 * Those that a list of now can prove as far as it is asked for, and those that somebody asks for: but not before the index
 * has caught up with the last list, as one made just now would prove no more.
 */
function urgentOf(
  accounts: readonly WatchedAccount[],
  { urgent, provable }: Pick<Asked, 'urgent' | 'provable'>,
  memory: Memory,
  tip: Tip,
): WatchedAccount[] {
  const ending = new Set(
    urgent.filter(({ through }) => through !== undefined && through <= provable).map(refOf),
  );
  const asked = new Set(urgent.filter(({ through }) => through === undefined).map(refOf));
  const isRested = ({ key }: WatchedAccount) => {
    const listed = memory.listed.get(key);
    return !listed || listed.time > tip.time || tip.time - listed.time >= INDEX_MARGIN_SECONDS;
  };
  const isWanted = (account: WatchedAccount) => {
    const key = proofKeyOf(account);
    return ending.has(key) || (asked.has(key) && isRested(account));
  };
  return accounts.filter(isWanted).sort(byTurn(memory));
}

function sweepOf(
  accounts: readonly WatchedAccount[],
  memory: Memory,
  { sweep_ticks }: SolanaLimits,
  count: number,
): WatchedAccount[] {
  const due = accounts.filter((each) => memory.tick - lastTick(memory, each) >= sweep_ticks);
  return due.sort(byTurn(memory)).slice(0, Math.max(0, count));
}
