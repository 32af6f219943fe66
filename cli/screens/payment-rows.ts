// The rows of the payments screen: loaded page by page, read again so that they stay true, filtered and sorted.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CallReply } from '../../src/api/client/call.ts';
import { listAdminPayments } from '../../src/api/endpoints/admin.ts';
import { paymentStatuses } from '../../src/api/schemas/resources.ts';
import { parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import type { Context } from '../engine/command.ts';

type Page = CallReply<typeof listAdminPayments>;
export type Payment = Page['data'][number];

const PAGE = 200;
/** Rows of the page before that a page repeats, so that none is missed where rows above have left meanwhile. */
const OVERLAP = 5;
/** Rows held at most; older ones are found with `--status`, `--chain` and the like. */
export const MAX_ROWS = 10_000;
const MAX_BACKOFF = 8;
/** Pages read again in one round for rows in view that lie far apart, as a filter leaves them. */
const MAX_VIEW_PAGES = 4;

/** Columns that can be sorted by, in the order `s` goes through them. */
export const sorts = ['created_at', 'amount_usd', 'status', 'chain', 'owner_slug'] as const;
export type Sort = (typeof sorts)[number];

export interface Rows {
  all: readonly Payment[];
  loading: boolean;
  error: string | null;
  /** When the oldest reading of these rows was, Unix seconds; of the newest page where none of them is known. */
  readAt(ids: readonly string[]): number;
  /** Puts a row that was changed here in the place of the old one, and reads again. */
  put(row: Payment): void;
  /** Reads now. */
  again(): void;
}

/** Rows in the order of the service, with when each was read. */
class Held {
  rows: readonly Payment[] = [];
  readonly read_at = new Map<string, number>();
  /** When the newest page was read. */
  newest_at = 0;
  readonly #byPayment: boolean;

  constructor(status: unknown) {
    this.#byPayment =
      status !== 'confirmed' && paymentStatuses.some((one) => one === String(status).toLowerCase());
  }

  /** Newest first; where one second has several, by the id that the service lists them by. */
  #compare = (one: Payment, other: Payment): number => {
    const [left, right] = [one, other].map((row) => (this.#byPayment && row.payment_id) || row.id) as [
      string,
      string,
    ];
    return other.created_at - one.created_at || (left < right ? 1 : left > right ? -1 : 0);
  };

  /** Takes a page in: what lies between its ends and is not on it has left the list. */
  take({ data, has_more, skip }: Page, at: number): void {
    const known = new Map(data.map((row) => [row.id, row]));
    const [first, last] = [data[0], data.at(-1)];
    const isCovered = (row: Payment): boolean =>
      (skip === 0 || (first !== undefined && this.#compare(row, first) >= 0)) &&
      (!has_more || (last !== undefined && this.#compare(row, last) <= 0));
    const rest = this.rows.filter((row) => {
      if (known.has(row.id)) return false;
      const left = (first !== undefined || skip === 0) && isCovered(row);
      if (left) this.read_at.delete(row.id);
      return !left;
    });
    this.rows = [...data, ...rest].sort(this.#compare);
    for (const { id } of data) this.read_at.set(id, at);
    if (skip === 0) this.newest_at = at;
  }

  /** Where pages begin that together hold these rows, but for the newest page; at most MAX_VIEW_PAGES. */
  pagesOf(ids: readonly string[]): number[] {
    const wanted = new Set(ids);
    const places = this.rows.flatMap(({ id }, index) => (wanted.has(id) && index >= PAGE ? [index] : []));
    const pages: number[] = [];
    for (const place of places)
      if (place >= (pages.at(-1) ?? -PAGE) + PAGE - OVERLAP) pages.push(Math.max(0, place - OVERLAP));
    return pages.slice(0, MAX_VIEW_PAGES);
  }
}

/**
 * All rows of a query, newest first. Every `refresh_ms` the newest page is read again, the pages of the rows in view, and
 * one more, in turn: what is seen is true, and nothing stays false.
 */
export function usePaymentRows(
  context: Context,
  query: Record<string, unknown>,
  refresh_ms: number,
  inView: () => readonly string[],
): Rows {
  const [all, setAll] = useState<readonly Payment[]>([]);
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<string | null>(null);
  const held = useRef(new Held(undefined));
  const readNow = useRef(() => {});
  const view = useRef(inView);
  view.current = inView;
  const key = JSON.stringify(query);
  useEffect(() => {
    const asked = JSON.parse(key) as Record<string, unknown>;
    const rows = new Held(asked.status);
    held.current = rows;
    let gone = false;
    let timer: NodeJS.Timeout | undefined;
    let failures = 0;
    let turn = 0;
    setAll([]);
    setLoading(true);
    const read = async (skip: number): Promise<Page> => {
      const page = await context.call(listAdminPayments, { query: { ...asked, skip, limit: PAGE } });
      if (gone) throw new Error('left');
      rows.take(page, Date.now() / 1000);
      failures = 0;
      setError(null);
      setAll(rows.rows);
      return page;
    };
    const round = async (): Promise<void> => {
      await read(0);
      for (const skip of rows.pagesOf(view.current())) await read(skip);
      if (turn > 0) turn = after(await read(turn), turn);
      else if (rows.rows.length > PAGE) turn = PAGE - OVERLAP;
    };
    const loadAll = async (): Promise<void> => {
      for (let skip = 0; ; ) {
        const before = new Set(rows.rows.map(({ id }) => id));
        const page = await read(skip);
        const isJoined = skip === 0 || page.data.some(({ id }) => before.has(id));
        const behind = after(page, skip);
        if (isJoined && behind === 0) break;
        skip = isJoined ? behind : Math.max(0, skip - PAGE);
      }
      setLoading(false);
    };
    let isLoaded = false;
    const next = async (): Promise<void> => {
      clearTimeout(timer);
      timer = undefined;
      try {
        await (isLoaded ? round() : loadAll());
        isLoaded = true;
      } catch (failure) {
        if (gone) return;
        failures += 1;
        setError((failure as Error).message);
      }
      if (!gone) timer = setTimeout(next, refresh_ms * Math.min(2 ** failures, MAX_BACKOFF));
    };
    // While a round is running it is not asked for another.
    readNow.current = () => {
      if (timer) void next();
    };
    void next();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [context, key, refresh_ms]);
  const readAt = useCallback((ids: readonly string[]) => {
    const { read_at, newest_at } = held.current;
    return Math.min(newest_at, ...ids.flatMap((id) => read_at.get(id) ?? []));
  }, []);
  return {
    all,
    loading,
    error,
    readAt,
    put(row) {
      held.current.rows = held.current.rows.map((other) => (other.id === row.id ? row : other));
      setAll(held.current.rows);
      readNow.current();
    },
    again: () => readNow.current(),
  };
}

/** Where the page behind one begins; 0 where none is read behind it. */
const after = ({ has_more, data }: Page, skip: number): number =>
  has_more && data.length > OVERLAP && skip + PAGE < MAX_ROWS ? skip + data.length - OVERLAP : 0;

const microsOf = (amount: string | null): bigint => parseDecimal(amount ?? '0', USD_DECIMALS) ?? 0n;

function compareAmounts(one: string | null, other: string | null): number {
  const [left, right] = [microsOf(one), microsOf(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

const textOf = (row: Payment): string =>
  [
    row.id,
    row.status,
    row.payment_status,
    row.chain,
    row.currency,
    row.owner_slug,
    row.external_ref,
    row.memo,
    row.txid,
    row.amount,
    row.received_amount,
    row.amount_usd,
  ]
    .join(' ')
    .toLowerCase();

/** Rows that hold `filter` (or do not, after `!`), in the order asked for. */
export function useShown(
  all: readonly Payment[],
  filter: string,
  sort: Sort,
  reversed: boolean,
): readonly Payment[] {
  const sorted = useMemo(() => {
    const compare = (one: Payment, other: Payment): number => {
      const [left, right] = [one[sort], other[sort]];
      if (sort === 'amount_usd') return compareAmounts(other.amount_usd, one.amount_usd);
      return String(left ?? '').localeCompare(String(right ?? ''));
    };
    const rows = sort === 'created_at' ? [...all] : [...all].sort(compare);
    return reversed ? rows.reverse() : rows;
  }, [all, sort, reversed]);
  return useMemo(() => {
    const wanted = filter.toLowerCase();
    if (wanted === '' || wanted === '!') return sorted;
    const inverse = wanted.startsWith('!');
    const text = inverse ? wanted.slice(1) : wanted;
    return sorted.filter((row) => textOf(row).includes(text) !== inverse);
  }, [sorted, filter]);
}
