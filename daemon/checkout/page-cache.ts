// Pages of the current second: a link that thousands open at once is rendered once a second, and a caller that asks
// again and again costs little. A page shows nothing but its row, where and in which language it stands, and the clock.
import { type CheckoutRow, checkoutStateOf } from '../../data/views/checkout.ts';
import { boundedCache } from '../cache.ts';
import { type Clock, seconds } from '../clock.ts';
import type { Prepared } from '../http/exchange.ts';

/** About 30 kB each. */
const MAX_PAGES = 500;

/** What the database is asked. */
export interface PageQuestions {
  row(id: string): Promise<CheckoutRow | undefined>;
  /** What of the row changes while its buyer watches: far less to read. */
  state(id: string): Promise<{ state: string } | undefined>;
  /** The same without waiting; absent where the database cannot. */
  isSame(id: string, state: string): Prepared['again'];
}

export interface PageCache<Page extends object> {
  /** The row of an invoice: of this second, and in the state that the database has now. */
  row(id: string): Promise<CheckoutRow | undefined>;
  /** The page under `key` if it was made of this row, in this second; else what `make` makes. */
  page(key: string, row: CheckoutRow, make: () => Promise<Page>): Promise<Page>;
  /** Whether a page of this row may be sent once more, in the second in which it was made. */
  again(row: CheckoutRow): Prepared['again'];
}

export function openPageCache<Page extends object>(clock: Clock, questions: PageQuestions): PageCache<Page> {
  const rows = boundedCache<string, { row: CheckoutRow; state: string; isSame: Prepared['again'] }>(
    MAX_PAGES,
  );
  const pages = boundedCache<string, { row: CheckoutRow; page: Page }>(MAX_PAGES);
  let second = 0;
  const isNow = () => {
    const now = seconds(clock);
    if (now === second) return true;
    rows.clear();
    pages.clear();
    second = now;
    return false;
  };
  return {
    async row(id) {
      const known = isNow() ? rows.get(id) : undefined;
      if (known && (await questions.state(id))?.state === known.state) return known.row;
      const started = second;
      const row = await questions.row(id);
      if (row && started === second) {
        const state = checkoutStateOf(row);
        rows.set(id, { row, state, isSame: questions.isSame(id, state) });
      }
      return row;
    },
    async page(key, row, make) {
      const found = isNow() ? pages.get(key) : undefined;
      if (found?.row === row) return found.page;
      const started = second;
      const page = await make();
      if (started === second) pages.set(key, { row, page });
      return page;
    },
    again(row) {
      const known = rows.get(row.id);
      const { isSame, row: latest } = known ?? {};
      if (!isSame || latest !== row) return undefined;
      const made_in = second;
      return () => seconds(clock) === made_in && isSame();
    },
  };
}
