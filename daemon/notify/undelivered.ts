// What operators were to be notified of and were not: notices that an address took nothing of when it was tried last.
import type { Executor } from '../../data/db/database.ts';
import { countNoticesAfter, failingTurns } from '../../data/notices.ts';
import { causesBySubject, type NoticeCause } from './names.ts';
import { digest } from './notify.ts';
import type { Target } from './targets.ts';

/** Failing turns that are counted, and notices of each: more says no more. */
const TURNS_MOST = 100;
const COUNTED_MOST = 100;

export interface Undelivered {
  /** The kind of address: `mailto`, `telegram`, `https`. */
  scheme: string;
  count: number;
}

/** Of each kind of address that the settings name. What only waits for its hour is not counted. */
export async function undeliveredNotices(query: Executor, notify: readonly Target[]): Promise<Undelivered[]> {
  const byKey = new Map(notify.map((target) => [digest(target.to), target]));
  const counts = new Map(notify.map(({ to }) => [schemeOf(to), 0]));
  for (const { target: key, cause, subject, sent_through } of await failingTurns(
    query,
    [...byKey.keys()],
    TURNS_MOST,
  )) {
    const target = byKey.get(key);
    const name = cause as NoticeCause;
    // A version before may have left a turn that no one takes any more.
    const is_current = causesBySubject.includes(name) === (subject !== null);
    if (!target || !is_current || !(target.on?.includes(name) ?? true)) continue;
    const count = await countNoticesAfter(
      query,
      { cause, subject },
      { after: sent_through, most: COUNTED_MOST },
    );
    const scheme = schemeOf(target.to);
    counts.set(scheme, (counts.get(scheme) ?? 0) + count);
  }
  return [...counts].map(([scheme, count]) => ({ scheme, count }));
}

const schemeOf = (to: string): string => to.slice(0, to.indexOf(':'));
