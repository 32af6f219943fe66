// What buyers can pay with, and whether it can be paid with now.
import type { CallReply } from '../../../src/api/client/call.ts';
import { listGateways } from '../../../src/api/endpoints/buyer.ts';
import { moment } from '../../output/value.ts';
import type { ListSpec } from '../list.ts';
import { whole } from '../source.ts';
import type { Desk } from '../view.ts';
import { facts, optional } from './parts.ts';

type Gateway = CallReply<typeof listGateways>['data'][number];

const stateOf = ({ available, simulate_only }: Gateway): string =>
  available ? 'available' : simulate_only ? 'simulate' : 'refused';

export const gateways = (desk: Desk): ListSpec<Gateway> => ({
  name: 'gateways',
  source: () =>
    whole(
      (row) => row.chain,
      async () => (await desk.context.call(listGateways)).data,
    ),
  columns: [
    { title: 'CHAIN', width: 20, value: (row) => row.chain },
    { title: 'CURRENCY', width: 10, value: (row) => row.currency },
    {
      title: 'STATE',
      width: 9,
      value: stateOf,
      color: (row) => (row.available ? 'green' : row.simulate_only ? 'yellow' : 'red'),
    },
    { title: 'BLOCKCHAIN', rank: 6, width: 20, value: (row) => row.blockchain_name },
    {
      title: 'CONFIRMATIONS',
      right: true,
      rank: 4,
      width: 13,
      value: (row) => String(row.min_confirmations),
      by: (row) => row.min_confirmations,
    },
    {
      title: 'WAITS',
      right: true,
      rank: 5,
      width: 8,
      value: (row) => `${Math.round(row.payment_ttl_seconds / 60)} min`,
      by: (row) => row.payment_ttl_seconds,
    },
    { title: 'MEMO', rank: 7, width: 6, value: (row) => (row.supports_memo ? 'yes' : 'no') },
    { title: 'NETWORK', rank: 8, width: 8, value: (row) => row.network },
    { title: 'TOKEN', rank: 9, width: 66, value: (row) => row.token_contract ?? '–' },
  ],
  textOf: (row) => [row.chain, row.currency, row.name, row.blockchain, row.token_contract].join(' '),
  facts: (row, now_s) => [
    facts([
      ['gateway', row.chain],
      ['name', row.name],
      ['state', stateOf(row)],
      ...optional('since', row.unavailable_since === null ? null : moment(row.unavailable_since, now_s)),
      ['blockchain', `${row.blockchain_name}, ${row.network}`],
      ['decimals', String(row.decimals)],
      ['confirmations', String(row.min_confirmations)],
      ...optional('token', row.token_contract),
      ['links', row.exits.join(', ')],
    ]),
  ],
  copies: (row) => [
    { key: 'c', what: 'chain', text: row.chain },
    { key: 't', what: 'token', text: row.token_contract },
  ],
  empty: 'no gateway is switched on',
});
