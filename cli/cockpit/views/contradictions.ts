// What two sources say differently: closed by a person, once it is resolved.
import type { CallReply } from '../../../src/api/client/call.ts';
import { closeContradiction, listContradictions } from '../../../src/api/endpoints/admin.ts';
import { moment, relative, SHORT_ID, shortId } from '../../output/value.ts';
import type { ListSpec } from '../list.ts';
import { bySkip } from '../source.ts';
import type { Desk } from '../view.ts';
import { facts, optional } from './parts.ts';

type Contradiction = CallReply<typeof listContradictions>['data'][number];

const detailsOf = ({ details }: Contradiction): string =>
  Object.entries(details)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${value ?? '–'}`)
    .join(', ');

export const contradictions = (desk: Desk): ListSpec<Contradiction> => ({
  name: 'contradictions',
  choices: ['', 'closed too'],
  source: (choice) =>
    bySkip(
      (row) => row.id,
      async (page) => {
        const query = { ...page, open: choice === '' };
        const { data } = await desk.context.call(listContradictions, { query });
        return { rows: data, has_more: data.length === page.limit };
      },
    ),
  columns: [
    { title: 'ID', width: SHORT_ID, value: (row) => shortId(row.id) },
    { title: 'KIND', width: 17, value: (row) => row.kind.replaceAll('_', ' ') },
    { title: 'BLOCKCHAIN', width: 14, value: (row) => row.blockchain },
    {
      title: 'SINCE',
      right: true,
      width: 8,
      value: (row, now_s) => relative(row.created_at, now_s),
      by: (row) => -row.created_at,
    },
    { title: 'TIMES', right: true, width: 6, value: (row) => String(row.count), by: (row) => row.count },
    { title: 'INVOICE', width: 8, value: (row) => (row.invoice_id ? shortId(row.invoice_id) : '–') },
    { title: 'OPEN', width: 4, value: (row) => (row.closed_at === null ? 'yes' : 'no') },
    { title: 'DETAILS', width: 80, isText: true, value: detailsOf },
  ],
  textOf: (row) =>
    [row.id, row.kind, row.blockchain, row.invoice_id, row.txid, detailsOf(row), row.note].join(' '),
  facts: (row, now_s) => [
    facts([
      ['kind', row.kind.replaceAll('_', ' ')],
      ['id', row.id],
      ['blockchain', row.blockchain],
      ...optional('invoice', row.invoice_id),
      ...optional('txid', row.txid),
      ['details', detailsOf(row)],
      ['found', `${row.count} times, last ${moment(row.updated_at, now_s)}`],
      ...optional('closed', row.closed_at === null ? null : moment(row.closed_at, now_s)),
      ...optional('by', row.closed_by),
      ...optional('note', row.note),
    ]),
  ],
  copies: (row) => [
    { key: 'i', what: 'invoice id', text: row.invoice_id },
    { key: 't', what: 'txid', text: row.txid },
    { key: 'c', what: 'id', text: row.id },
  ],
  actions: [
    {
      key: 'x',
      label: 'close',
      destroys: true,
      refuses: (row) => (row.closed_at === null ? undefined : 'it is closed'),
      run: (row) => desk.context.call(closeContradiction, { params: { contradiction_id: row.id }, body: {} }),
    },
  ],
  empty: 'nothing is contradicted',
});
