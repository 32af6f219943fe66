// The exchange rates that new invoices are made with.
import type { CallReply } from '../../../src/api/client/call.ts';
import { getAdminDashboard } from '../../../src/api/endpoints/admin.ts';
import { dollars } from '../../output/money.ts';
import { moment, relative } from '../../output/value.ts';
import type { ListSpec } from '../list.ts';
import { whole } from '../source.ts';
import type { Desk } from '../view.ts';
import { byAmount, facts, optional } from './parts.ts';

type Rate = CallReply<typeof getAdminDashboard>['rates']['currencies'][number];

export function rates(desk: Desk): ListSpec<Rate> {
  let about = '';
  return {
    name: 'rates',
    source: () =>
      whole(
        (row) => row.currency,
        async () => {
          const { rates } = await desk.context.call(getAdminDashboard);
          about = `source ${rates.source}${rates.stale ? '   some are missing or stale' : ''}`;
          return rates.currencies;
        },
      ),
    columns: [
      { title: 'CURRENCY', width: 10, value: (row) => row.currency },
      {
        title: 'USD',
        right: true,
        width: 20,
        value: (row) => dollars(row.usd),
        by: (row) => byAmount(row.usd),
      },
      {
        title: 'STATE',
        width: 8,
        value: (row) => (row.usd === null ? 'missing' : row.stale ? 'stale' : 'fresh'),
        color: (row) => (row.usd === null || row.stale ? 'red' : 'green'),
      },
      {
        title: 'UPDATED',
        right: true,
        width: 8,
        value: (row, now_s) => (row.updated_at === null ? '–' : relative(row.updated_at, now_s)),
        by: (row) => -(row.updated_at ?? 0),
      },
    ],
    textOf: (row) => `${row.currency} ${row.usd}`,
    facts: (row, now_s) => [
      facts([
        ['currency', row.currency],
        ['usd', dollars(row.usd)],
        ...optional('updated', row.updated_at === null ? null : moment(row.updated_at, now_s)),
      ]),
    ],
    about: () => about,
    empty: 'no rates yet',
  };
}
