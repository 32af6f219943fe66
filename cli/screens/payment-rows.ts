// The rows of the payments screen: loaded page by page, renewed from the newest, filtered and sorted.
import { useEffect, useMemo, useRef, useState } from 'react';
import type { CallReply } from '../../src/api/client/call.ts';
import { listAdminPayments } from '../../src/api/endpoints/admin.ts';
import { parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import type { Context } from '../engine/command.ts';

export type Payment = CallReply<typeof listAdminPayments>['data'][number];

const PAGE = 200;
/** Rows held at most; older ones are found with `--status`, `--chain` and the like. */
export const MAX_ROWS = 10_000;
const MAX_BACKOFF = 8;

/** Columns that can be sorted by, in the order `s` goes through them. */
export const sorts = ['created_at', 'amount_usd', 'status', 'chain', 'owner_slug'] as const;
export type Sort = (typeof sorts)[number];

export interface Rows {
  all: readonly Payment[];
  loading: boolean;
  error: string | null;
  /** Puts a row that was changed here in the place of the old one. */
  put(row: Payment): void;
}

/** All rows of a query, newest first; the newest page is renewed every `refresh_ms`. */
export function usePaymentRows(context: Context, query: Record<string, unknown>, refresh_ms: number): Rows {
  const [all, setAll] = useState<readonly Payment[]>([]);
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<string | null>(null);
  const rows = useRef(new Map<string, Payment>());
  const key = JSON.stringify(query);
  useEffect(() => {
    const asked = JSON.parse(key) as Record<string, unknown>;
    let gone = false;
    let timer: NodeJS.Timeout | undefined;
    let failures = 0;
    let complete = false;
    rows.current = new Map();
    setAll([]);
    setLoading(true);
    // Older pages first, one after the other; then only the newest is asked again.
    const ask = async (skip: number): Promise<void> => {
      try {
        const reply = await context.call(listAdminPayments, { query: { ...asked, skip, limit: PAGE } });
        if (gone) return;
        for (const row of reply.data) rows.current.set(row.id, row);
        failures = 0;
        setError(null);
        setAll([...rows.current.values()].sort((one, other) => other.created_at - one.created_at));
        if (!complete && reply.has_more && rows.current.size < MAX_ROWS) return ask(skip + PAGE);
        complete = true;
        setLoading(false);
        timer = setTimeout(ask, refresh_ms, 0);
      } catch (failure) {
        if (gone) return;
        failures += 1;
        setError((failure as Error).message);
        timer = setTimeout(ask, refresh_ms * Math.min(2 ** failures, MAX_BACKOFF), skip);
      }
    };
    void ask(0);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [context, key, refresh_ms]);
  return {
    all,
    loading,
    error,
    put(row) {
      rows.current.set(row.id, row);
      setAll((before) => before.map((other) => (other.id === row.id ? row : other)));
    },
  };
}

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
    row.txid,
    row.amount,
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
