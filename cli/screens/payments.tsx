// The payments: a list to filter and sort, one opened with everything about it, resolved after typing its id.
import { Box, Text } from 'ink';
import { useEffect, useState } from 'react';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { relative, SHORT_ID, shortId } from '../output/value.ts';
import { useKeys } from './hooks.ts';
import { PaymentDetail } from './payment-detail.tsx';
import { type Payment, type Sort, sorts, usePaymentRows, useShown } from './payment-rows.ts';
import { type Column, moved, Table } from './table.tsx';
import type { ViewProps } from './view-props.ts';

/** What `t` goes through: what waits for a person first. */
const STATUSES = ['', 'held', 'late', 'unmatched', 'created', 'confirmed', 'expired', 'cancelled', 'failed'];

const columns = (now_s: number): readonly Column<Payment>[] => [
  { title: 'ID', width: SHORT_ID, value: (row) => shortId(row.id) },
  { title: 'STATUS', width: 9, value: (row) => row.status, color: (row) => screenColor(row.status) },
  {
    title: 'PAYMENT',
    width: 10,
    value: (row) => row.payment_status ?? '–',
    color: (row) => screenColor(row.payment_status),
  },
  { title: 'CHAIN', width: 11, value: (row) => row.chain },
  { title: 'AMOUNT', wide: true, width: 14, value: (row) => row.amount ?? row.received_amount ?? '–' },
  { title: 'USD', width: 9, value: (row) => row.amount_usd ?? '–' },
  { title: 'MERCHANT', width: 12, value: (row) => row.owner_slug ?? 'platform' },
  { title: 'CREATED', width: 7, value: (row) => relative(row.created_at, now_s) },
  { title: 'REFERENCE', wide: true, width: 40, value: (row) => row.external_ref ?? '' },
];

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
  const [selected, setSelected] = useState(0);
  const [open, setOpen] = useState<string | null>(null);
  const { skip: _skip, limit: _limit, status: _status, ...others } = query;
  const rows = usePaymentRows(context, status ? { ...others, status } : others, refresh_ms);
  const shown = useShown(rows.all, filter, sort, reversed);
  const at = Math.min(selected, Math.max(0, shown.length - 1));
  useEffect(() => {
    const parts = [
      `${shown.length} of ${rows.all.length}${rows.loading ? ' and more to come' : ''}`,
      status ? `status ${status}` : '',
      `by ${sort.replaceAll('_', ' ')}${reversed ? ' reversed' : ''}`,
      filter && !filtering ? `filter ${filter}` : '',
    ];
    onStatus({ text: parts.filter(Boolean).join('   '), error: rows.error });
  }, [
    shown.length,
    rows.all.length,
    rows.loading,
    rows.error,
    status,
    sort,
    reversed,
    filter,
    filtering,
    onStatus,
  ]);
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
        else if (!key.ctrl && !key.meta) setFilter((before) => before + clean(input));
        return;
      }
      if (input === '/') type(true);
      else if (key.escape) setFilter('');
      else if (input === 't') setStatus(STATUSES[(STATUSES.indexOf(status) + 1) % STATUSES.length] ?? '');
      else if (input === 's') setSort(sorts[(sorts.indexOf(sort) + 1) % sorts.length] ?? 'created_at');
      else if (input === 'S') setReversed(!reversed);
      else if (key.return) setOpen(shown[at]?.id ?? null);
      else setSelected(moved(input, key, { selected: at, count: shown.length, page: size.rows }) ?? at);
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
      />
    );
  const bar = filtering ? 1 : 0;
  return (
    <Box flexDirection="column">
      {filtering ? <Text wrap="truncate">{`/${filter}█`}</Text> : null}
      <Table
        columns={columns(Math.floor(Date.now() / 1000))}
        rows={shown}
        keyOf={(row) => row.id}
        selected={at}
        height={size.rows - bar}
        width={size.columns}
      />
    </Box>
  );
}
