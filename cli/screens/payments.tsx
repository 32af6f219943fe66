// The payments: a list to filter and sort, one opened with everything about it, resolved after typing its id.
import { Box, Text } from 'ink';
import { useEffect, useRef, useState } from 'react';
import { amountOf, coins, dollars } from '../output/money.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { relative, SHORT_ID, shortId } from '../output/value.ts';
import { useKeys, useNow } from './hooks.ts';
import { PaymentDetail } from './payment-detail.tsx';
import {
  MAX_ROWS,
  type Payment,
  type Rows,
  type Sort,
  sorts,
  usePaymentRows,
  useShown,
} from './payment-rows.ts';
import { type Column, moved, rowsInView, Table } from './table.tsx';
import type { ViewProps } from './view-props.ts';

/** What `t` goes through: what waits for a person first. */
const STATUSES = ['', 'held', 'late', 'unmatched', 'created', 'confirmed', 'expired', 'cancelled', 'failed'];

const columns = (now_s: number): readonly Column<Payment>[] => [
  { title: 'ID', width: SHORT_ID, value: (row) => shortId(row.id) },
  { title: 'STATUS', width: 9, value: (row) => row.status, color: (row) => screenColor(row.status) },
  {
    title: 'PAYMENT',
    rank: 5,
    width: 10,
    value: (row) => row.payment_status ?? '–',
    color: (row) => screenColor(row.payment_status),
  },
  { title: 'AMOUNT', right: true, rank: 2, width: 30, value: (row) => coins(amountOf(row), row.currency) },
  { title: 'USD', right: true, rank: 3, width: 14, value: (row) => dollars(row.amount_usd) },
  { title: 'MERCHANT', rank: 6, width: 20, value: (row) => row.owner_slug ?? 'platform' },
  { title: 'CREATED', right: true, rank: 4, width: 8, value: (row) => relative(row.created_at, now_s) },
  { title: 'CHAIN', rank: 7, width: 14, value: (row) => row.chain },
  { title: 'REFERENCE', rank: 8, width: 40, value: (row) => row.external_ref ?? '' },
];

const joined = (parts: readonly (string | false)[]): string => parts.filter(Boolean).join('   ');

const countOf = (shown: number, { all, loading }: Rows): string =>
  `${shown} of ${all.length >= MAX_ROWS ? 'the newest ' : ''}${all.length}${loading ? ' and more to come' : ''}`;

/**
 * The marked row, by its id: rows come in above it, and leave. `found` is where it is now, negative where it has left; `around`
 * where it was.
 */
function useMark(shown: readonly Payment[]) {
  const [mark, setMark] = useState<{ id: string | null; place: number }>({ id: null, place: 0 });
  const found = mark.id === null ? 0 : shown.findIndex(({ id }) => id === mark.id);
  const around = Math.max(0, Math.min(found < 0 ? mark.place : found, shown.length - 1));
  const first = shown[0]?.id;
  // The first row is marked until another one is: from then on it is that row, wherever it goes.
  useEffect(() => {
    if (first !== undefined) setMark((before) => (before.id === null ? { id: first, place: 0 } : before));
  }, [first]);
  useEffect(() => {
    if (found >= 0) setMark((before) => (before.place === found ? before : { ...before, place: found }));
  }, [found]);
  return {
    found,
    around,
    hasLeft: found < 0 && shown.length > 0,
    moveTo(place: number) {
      const row = shown[place];
      if (row) setMark({ id: row.id, place });
    },
    forget: () => setMark({ id: null, place: 0 }),
  };
}

export function PaymentsView({
  context,
  size,
  refresh_ms,
  readonly,
  query,
  active,
  onTyping,
  onStatus,
}: ViewProps) {
  const [status, setStatus] = useState(String(query.status ?? ''));
  const [filter, setFilter] = useState('');
  const [filtering, setFiltering] = useState(false);
  const [sort, setSort] = useState<Sort>('created_at');
  const [reversed, setReversed] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const now = useNow();
  const inView = useRef<readonly string[]>([]);
  const { skip: _skip, limit: _limit, status: _status, ...others } = query;
  const asked = status ? { ...others, status } : others;
  const rows = usePaymentRows(context, asked, refresh_ms, () => inView.current);
  const shown = useShown(rows.all, filter, sort, reversed);
  const height = size.rows - (filtering ? 1 : 0);
  const { found, around, hasLeft, moveTo, forget } = useMark(shown);
  inView.current = rowsInView(shown, around, height).map(({ id }) => id);
  const read_at = rows.readAt(inView.current);
  const text = joined([
    countOf(shown.length, rows),
    hasLeft && 'the marked row has left',
    status && `status ${status}`,
    `by ${sort.replaceAll('_', ' ')}${reversed ? ' reversed' : ''}`,
    filter && !filtering && `filter ${filter}`,
  ]);
  useEffect(() => {
    if (open === null) onStatus({ text, error: rows.error, read_at });
  }, [text, rows.error, read_at, open, onStatus]);
  const type = (on: boolean) => {
    setFiltering(on);
    onTyping(on);
  };
  useKeys(
    (input, key) => {
      if (filtering) {
        if (key.return) type(false);
        else if (key.escape) {
          setFilter('');
          type(false);
        } else if (key.backspace || key.delete) setFilter((before) => before.slice(0, -1));
        else if (!key.ctrl && !key.meta) {
          setFilter((before) => before + clean(input));
          forget();
        }
        return;
      }
      if (key.ctrl && input === 'r') rows.again();
      else if (input === '/') type(true);
      else if (key.escape) setFilter('');
      else if (input === 't') {
        setStatus(STATUSES[(STATUSES.indexOf(status) + 1) % STATUSES.length] ?? '');
        forget();
      } else if (input === 's') setSort(sorts[(sorts.indexOf(sort) + 1) % sorts.length] ?? 'created_at');
      else if (input === 'S') setReversed(!reversed);
      else if (key.return) setOpen(shown[found]?.id ?? null);
      else {
        const to = moved(input, key, { selected: around, count: shown.length, page: size.rows });
        if (to !== undefined) moveTo(to);
      }
    },
    active && open === null,
  );
  if (open !== null)
    return (
      <PaymentDetail
        context={context}
        id={open}
        size={size}
        refresh_ms={refresh_ms}
        readonly={readonly}
        active={active}
        onTyping={onTyping}
        onChanged={rows.put}
        onBack={() => setOpen(null)}
        onOpen={setOpen}
        onStatus={onStatus}
      />
    );
  return (
    <Box flexDirection="column">
      {filtering ? <Text wrap="truncate">{`/${filter}█`}</Text> : null}
      <Table
        columns={columns(now)}
        rows={shown}
        keyOf={(row) => row.id}
        selected={found}
        around={around}
        height={height}
        width={size.columns}
      />
    </Box>
  );
}
