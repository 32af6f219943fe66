// The observers: what each has read, how far behind it is, and what it found that matches nothing.
import { Box, Text } from 'ink';
import { useEffect, useState } from 'react';
import type { CallReply } from '../../src/api/client/call.ts';
import { listObservers } from '../../src/api/endpoints/admin.ts';
import { troubleOf } from '../output/observer-notes.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { relative } from '../output/value.ts';
import { useKeys, usePoll } from './hooks.ts';
import { type Column, moved, Table } from './table.tsx';
import type { ViewProps } from './view-props.ts';

type Observer = CallReply<typeof listObservers>['observers'][number];

/** Nothing to read is as well as having read. */
const FINE: ReadonlySet<string> = new Set(['ok', 'idle', 'starting']);

const number = (value: number | null): string => (value === null ? '–' : String(value));

const columns: readonly Column<Observer>[] = [
  { title: 'BLOCKCHAIN', width: 16, value: (row) => row.blockchain },
  { title: 'STATUS', width: 13, value: (row) => row.status, color: (row) => screenColor(row.status) },
  {
    title: 'LAG',
    right: true,
    width: 8,
    value: (row) => (row.lag_seconds === null ? '–' : `${row.lag_seconds}s`),
  },
  { title: 'TIP', right: true, width: 12, value: (row) => number(row.tip_height) },
  { title: 'READ TO', rank: 11, right: true, width: 12, value: (row) => number(row.cursor_height) },
  { title: 'WATCHED', right: true, width: 9, value: (row) => String(row.watched_addresses) },
  { title: 'LATE', right: true, width: 6, value: (row) => String(row.late_count) },
  {
    title: 'TROUBLE',
    right: true,
    width: 7,
    value: (row) => String(row.accounts_behind.length + row.unreadable_assets.length + row.contradictions),
  },
  { title: 'UNMATCHED', right: true, width: 9, value: (row) => String(row.unmatched_count) },
  { title: 'FAILURES', rank: 12, width: 12, value: (row) => `${row.failures}/${row.requests}` },
  { title: 'PROVIDER', rank: 13, width: 40, value: (row) => row.provider ?? 'none' },
];

export function ObserversView({ context, size, refresh_ms, active, onStatus }: ViewProps) {
  const { data, error, at, again } = usePoll(() => context.call(listObservers), refresh_ms);
  const [marked, setMarked] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  const rows = data?.observers ?? [];
  // By its name: an observer may come in above.
  const selected = Math.max(
    0,
    rows.findIndex(({ blockchain }) => blockchain === marked),
  );
  useEffect(() => {
    const bad = data?.observers.filter((row) => !FINE.has(row.status)).length;
    const text = data ? `${data.observers.length} observers, ${bad} not ok` : 'loading';
    onStatus({
      text: [text, clean(data?.clock.message ?? '')].filter(Boolean).join('   '),
      error,
      read_at: at,
    });
  }, [data, error, at, onStatus]);
  useKeys((input, key) => {
    if (key.ctrl && input === 'r') again();
    else if (key.return) {
      setMarked(rows[selected]?.blockchain ?? null);
      setOpen(true);
    } else if (key.escape) setOpen(false);
    else {
      const to = moved(input, key, { selected, count: rows.length, page: size.rows });
      if (to !== undefined) setMarked(rows[to]?.blockchain ?? null);
    }
  }, active);
  const row = rows[selected];
  if (open && row) return <Details row={row} now_s={at} height={size.rows} />;
  return (
    <Table
      columns={columns}
      rows={rows}
      keyOf={(observer) => observer.blockchain}
      selected={selected}
      height={size.rows}
      width={size.columns}
    />
  );
}

/** Latest transfers and ranges that are shown of each. */
const SHOWN = 8;

function Details({ row, now_s, height }: { row: Observer; now_s: number; height: number }) {
  const unapplied = [
    ...row.unmatched.slice(0, SHOWN).map((payment) => ({ kind: 'unmatched', payment })),
    ...row.late.slice(0, SHOWN).map((payment) => ({ kind: 'late', payment })),
  ];
  const lines = [
    `${row.name}: ${row.status}`,
    `provider   ${row.provider ?? 'none'}`,
    `read       to ${number(row.cursor_height)} of ${number(row.tip_height)}, last ${row.last_ok_at === null ? 'never' : relative(row.last_ok_at, now_s)}`,
    `last error ${row.last_error === null ? 'none' : `${row.last_error} (${relative(row.last_error_at ?? now_s, now_s)})`}`,
    ...troubleOf(row, now_s),
    '',
    `complete ranges${row.ranges.length === 0 ? ': none yet' : ''}`,
    ...row.ranges.slice(0, SHOWN).map(({ scope, from, to }) => `  ${scope}  ${from} – ${to}`),
    '',
    `transfers that match nothing${unapplied.length === 0 ? ': none' : ''}`,
    ...unapplied.map(
      ({ kind, payment }) =>
        `  ${kind}  ${payment.received_amount ?? '–'} ${payment.currency}  ${payment.txid ?? '–'}  ${payment.candidates} candidates`,
    ),
  ];
  return (
    <Box flexDirection="column">
      {lines.slice(0, height).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity of their own
        <Text key={index}>{clean(line) || ' '}</Text>
      ))}
    </Box>
  );
}
