// How near an open invoice is to a payment that names none: in its memo, its amount and its time.
import { parseDecimal } from './money.ts';
import { editDistance } from './nearest.ts';

export interface Score {
  /** How what came compares with what the invoice asks for; null where nothing is known to have come. */
  amount_match: 'exact' | 'under' | 'over' | null;
  /** Between the making of the invoice and the payment. */
  seconds_apart: number;
  /** Characters in which the memos differ; null where one of them has none. */
  memo_distance: number | null;
}

/** What is compared of an invoice. */
export interface Asked {
  amount: string;
  memo: string | null;
  created_at: number;
}

/** What is compared of a payment. */
export interface Came {
  amount: string | null;
  memo: string | null;
  at: number;
}

/** So few wrong characters are a slip, and say more than the amount. */
export const SLIP = 2;
/** No coin has more. */
const DECIMALS = 18;

const atomic = (amount: string | null): bigint | null => parseDecimal(amount ?? '', DECIMALS) ?? null;

export function scoreOf(asked: Asked, came: Came): Score {
  const [wanted, got] = [atomic(asked.amount), atomic(came.amount)];
  return {
    amount_match:
      wanted === null || got === null ? null : got === wanted ? 'exact' : got < wanted ? 'under' : 'over',
    seconds_apart: Math.abs(came.at - asked.created_at),
    memo_distance:
      asked.memo && came.memo ? editDistance(asked.memo.toLowerCase(), came.memo.toLowerCase()) : null,
  };
}

/** With their scores, the likeliest first: a slip in the memo, then the nearest amount, memo and time. */
export function ranked<C extends Asked>(candidates: readonly C[], came: Came): (C & Score)[] {
  const got = atomic(came.amount) ?? 0n;
  const keyed = candidates.map((asked) => {
    const score = scoreOf(asked, came);
    const more = (atomic(asked.amount) ?? 0n) - got;
    const distance = score.memo_distance ?? Number.MAX_SAFE_INTEGER;
    const slip = distance <= SLIP ? distance : SLIP + 1;
    return {
      one: { ...asked, ...score },
      keys: [slip, more < 0n ? -more : more, distance, score.seconds_apart],
    };
  });
  keyed.sort((a, b) => {
    const index = a.keys.findIndex((key, at) => key !== b.keys[at]);
    return index < 0 ? 0 : (a.keys[index] ?? 0) < (b.keys[index] ?? 0) ? -1 : 1;
  });
  return keyed.map(({ one }) => one);
}
