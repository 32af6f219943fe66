// The observers: what each has read, how far behind it is, and what it found that matches nothing.
import type { CallReply } from '../../../src/api/client/call.ts';
import { listObservers } from '../../../src/api/endpoints/admin.ts';
import { coins } from '../../output/money.ts';
import { troubleOf } from '../../output/observer-notes.ts';
import { screenColor } from '../../output/status.ts';
import { relative } from '../../output/value.ts';
import type { ListSpec } from '../list.ts';
import { whole } from '../source.ts';
import type { Column } from '../table.ts';
import type { Desk } from '../view.ts';
import { facts, listed, optional } from './parts.ts';

type Observer = CallReply<typeof listObservers>['observers'][number];

/** Nothing to read is as well as having read. */
const FINE: ReadonlySet<string> = new Set(['ok', 'idle', 'starting']);
/** Latest transfers and ranges that are shown of each. */
const SHOWN = 8;

const number = (value: number | null): string => (value === null ? '–' : String(value));
const troubles = (row: Observer): number =>
  row.accounts_behind.length + row.unreadable_assets.length + row.contradictions;

const counted = (title: string, of: (row: Observer) => number, rank?: number): Column<Observer> => ({
  title,
  right: true,
  width: 9,
  value: (row) => String(of(row)),
  by: of,
  ...(rank === undefined ? {} : { rank }),
});

const columns: readonly Column<Observer>[] = [
  { title: 'BLOCKCHAIN', width: 16, value: (row) => row.blockchain },
  { title: 'STATUS', width: 13, value: (row) => row.status, color: (row) => screenColor(row.status) },
  {
    title: 'LAG',
    right: true,
    width: 8,
    value: (row) => (row.lag_seconds === null ? '–' : `${row.lag_seconds}s`),
    by: (row) => row.lag_seconds ?? -1,
  },
  { title: 'TIP', right: true, width: 12, value: (row) => number(row.tip_height) },
  { title: 'READ TO', rank: 11, right: true, width: 12, value: (row) => number(row.cursor_height) },
  counted('WATCHED', (row) => row.watched_addresses),
  counted('LATE', (row) => row.late_count),
  counted('TROUBLE', troubles),
  counted('UNMATCHED', (row) => row.unmatched_count),
  { title: 'FAILURES', rank: 12, width: 12, value: (row) => `${row.failures}/${row.requests}` },
  { title: 'PROVIDER', rank: 13, width: 40, value: (row) => row.provider ?? 'none' },
];

const hintsOf = ({ hints }: Observer, now_s: number): string | null => {
  if (!hints) return null;
  const { source, connected_since: since, last_hint_at: last } = hints;
  const heard = last === null ? 'none yet' : `last ${relative(last, now_s)}`;
  return `${source}: ${since === null ? 'not connected' : `connected ${relative(since, now_s)}`}, ${heard}`;
};

const unapplied = (row: Observer): string[] =>
  [
    ...row.unmatched.slice(0, SHOWN).map((payment) => ({ kind: 'unmatched', payment })),
    ...row.late.slice(0, SHOWN).map((payment) => ({ kind: 'late', payment })),
  ].map(
    ({ kind, payment }) =>
      `${kind}  ${coins(payment.received_amount, payment.currency)}  ${payment.txid ?? '–'}  ${payment.candidates} candidates`,
  );

export function observers(desk: Desk): ListSpec<Observer> {
  let about = '';
  return {
    name: 'observers',
    source: () =>
      whole(
        (row) => row.blockchain,
        async () => {
          const { clock, observers } = await desk.context.call(listObservers);
          const bad = observers.filter(({ status }) => !FINE.has(status)).length;
          about = [`${bad} not ok`, clock.message].filter(Boolean).join('   ');
          return observers;
        },
      ),
    columns,
    textOf: (row) => [row.blockchain, row.name, row.status, row.provider, row.last_error].join(' '),
    facts: (row, now_s) => [
      facts([
        ['observer', `${row.name}: ${row.status}`],
        ['provider', row.provider ?? 'none'],
        ...optional('hints', hintsOf(row, now_s)),
        [
          'read',
          `to ${number(row.cursor_height)} of ${number(row.tip_height)}, last ${row.last_ok_at === null ? 'never' : relative(row.last_ok_at, now_s)}`,
        ],
        ...optional(
          'last error',
          row.last_error && `${row.last_error} (${relative(row.last_error_at ?? now_s, now_s)})`,
        ),
      ]),
      listed('trouble', troubleOf(row, now_s)),
      listed(
        'complete ranges',
        row.ranges.length === 0
          ? ['none yet']
          : row.ranges.slice(0, SHOWN).map(({ scope, from, to }) => `${scope}  ${from} – ${to}`),
      ),
      listed('transfers that match nothing', unapplied(row).length > 0 ? unapplied(row) : ['none']),
      listed(
        'providers',
        row.providers.map(
          (each) =>
            `${each.provider}  ${each.state}  ${each.failures} of ${each.requests} failed  ${each.last_error ?? ''}`,
        ),
      ),
    ],
    about: () => about,
    empty: 'no blockchain is read: gateways are switched on in the settings',
  };
}
