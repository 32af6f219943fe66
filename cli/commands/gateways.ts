// `gw gateways\`: what can be paid with.
import { listGateways } from '../../src/api/endpoints/buyer.ts';
import { callCommand } from '../command.ts';

export const command = callCommand(listGateways, {
  examples: ['gw gateways', 'gw gateways --json chain,currency,min_confirmations'],
  view: {
    columns: [
      'chain',
      'currency',
      'name',
      'network',
      'min_confirmations',
      'payment_ttl_seconds',
      'supports_memo',
    ],
  },
});
