// One account's share of this daemon: while others call too, it has a few calls under way at once, and its others wait.
import { Refusal } from '../../src/errors.ts';
import type { Runtime } from '../process/runtime.ts';

/** Calls of one account under way at once: where it is alone, … */
const ALONE = 32;
/** … and where another account has called within the last while. */
const AMONG_OTHERS = 2;
const OTHERS_MS = 10_000;
/** Beyond so many that wait, an account is refused more. */
const MAX_WAITING = 1_000;
const RETRY_SECONDS = 1;
/** What takes longer waits for something outside (a blockchain, a mail server), and no longer keeps its place. */
const PLACE_MS = 1_000;

export type Leave = () => void;

interface Account {
  under_way: number;
  waiting: (() => void)[];
}

interface Call {
  account: string;
  at: number;
}

const NEVER: Call = { account: '', at: Number.NEGATIVE_INFINITY };

/** Takes a place for a call of this account, at once or when it has its turn; the function gives it up. Refuses with `rate_limited`. */
export type AccountTurns = (account: string) => Promise<Leave> | Leave;

/** `goFirst` begins when a call takes its place; what it gives is called when the place is given up. */
export function openAccountTurns(
  { elapsed_ms, after, turn }: Pick<Runtime, 'elapsed_ms' | 'after' | 'turn'>,
  goFirst: () => Leave,
): AccountTurns {
  const accounts = new Map<string, Account>();
  let latest = NEVER;
  /** The latest of another account than that. */
  let other = NEVER;

  const most = (account: string): number => {
    const { at } = latest.account === account ? other : latest;
    return elapsed_ms() - at < OTHERS_MS ? AMONG_OTHERS : ALONE;
  };
  const note = (account: string) => {
    if (latest.account !== account) other = latest;
    latest = { account, at: elapsed_ms() };
  };
  /** In a turn of the event loop of its own: what others sent meanwhile is read and begun in between. */
  const proceed = (account: string, state: Account) => {
    void turn().then(() => {
      if (state.under_way < most(account)) state.waiting.shift()?.();
      if (state.waiting.length > 0 && state.under_way < most(account)) proceed(account, state);
    });
  };
  const leave = (account: string, state: Account) => {
    state.under_way--;
    if (state.waiting.length > 0) proceed(account, state);
    else if (state.under_way === 0) accounts.delete(account);
  };
  const take = (account: string, state: Account): Leave => {
    state.under_way++;
    const done = goFirst();
    let has_place = true;
    const give = () => {
      if (!has_place) return;
      has_place = false;
      callOff();
      done();
      leave(account, state);
    };
    const callOff = after(PLACE_MS, give);
    return give;
  };

  return (account) => {
    note(account);
    const state = accounts.get(account) ?? { under_way: 0, waiting: [] };
    accounts.set(account, state);
    if (state.under_way < most(account) && state.waiting.length === 0) return take(account, state);
    if (state.waiting.length >= MAX_WAITING)
      throw new Refusal('rate_limited', { retry_after: RETRY_SECONDS });
    return new Promise((resolve) => state.waiting.push(() => resolve(take(account, state))));
  };
}
