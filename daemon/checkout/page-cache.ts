// Pages of the current second: a link that thousands open at once is rendered once a second, and whoever hammers it
// costs little. A page shows nothing but its row, where and in which language it stands, and the clock.
import type { Raw } from '../../src/api/describe/endpoint.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';

/** About 30 kB each. */
const MAX_PAGES = 500;

interface Kept {
  second: number;
  pages: Map<string, { row: object; page: Raw }>;
}

const kept = new WeakMap<App, Kept>();

/** The page under `key` if it was made in this second from an equal row; else what `make` makes. */
export async function cachedPage(app: App, key: string, row: object, make: () => Promise<Raw>): Promise<Raw> {
  const second = seconds(app.clock);
  let now = kept.get(app);
  if (now?.second !== second) {
    now = { second, pages: new Map() };
    kept.set(app, now);
  }
  const found = now.pages.get(key);
  if (found && isSame(found.row, row)) return found.page;
  const page = await make();
  if (now.pages.size < MAX_PAGES) now.pages.set(key, { row, page });
  return page;
}

function isSame(one: object, other: object): boolean {
  for (const name in one)
    if (one[name as keyof typeof one] !== other[name as keyof typeof other]) return false;
  return true;
}
