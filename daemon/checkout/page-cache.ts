// Pages of the current second: a link that thousands open at once is rendered once a second, and a caller that asks
// again and again costs little. A page shows nothing but its row, where and in which language it stands, and the clock.
import { LRUCache } from 'lru-cache';
import type { Raw } from '../../src/api/describe/endpoint.ts';
import { type Clock, seconds } from '../clock.ts';

/** About 30 kB each. */
const MAX_PAGES = 500;

/** The page under `key` if it was made in this second from an equal row; else what `make` makes. */
export type CachedPage = (key: string, row: object, make: () => Promise<Raw>) => Promise<Raw>;

export function openPageCache(clock: Clock): CachedPage {
  const pages = new LRUCache<string, { row: object; page: Raw }>({ max: MAX_PAGES });
  let second = 0;
  return async (key, row, make) => {
    const now = seconds(clock);
    if (now !== second) pages.clear();
    second = now;
    const found = pages.get(key);
    if (found && isSame(found.row, row)) return found.page;
    const made = await make();
    // As bytes: a text would be encoded again for each answer.
    const page = typeof made.body === 'string' ? { ...made, body: Buffer.from(made.body) } : made;
    if (now === second) pages.set(key, { row, page });
    return page;
  };
}

function isSame(one: object, other: object): boolean {
  for (const name in one) {
    const [before, now] = [one[name as keyof typeof one], other[name as keyof typeof other]] as unknown[];
    if (before === now) continue;
    // A column of JSON is another object each time that it is read.
    if (typeof before !== 'object' || typeof now !== 'object') return false;
    if (JSON.stringify(before) !== JSON.stringify(now)) return false;
  }
  return true;
}
