// Hints of TON: toncenter's streaming API v2 says that an account or one of its jetton wallets has changed, once that is final.
import type { HintFeed } from '../family.ts';
import { isAt, memberOf } from '../hints.ts';

const MOST_ADDRESSES = 200;
const HOSTS = ['toncenter.com'];
const PATH = '/api/streaming/v2/ws';
/** Changes of jetton wallets are reported to who asks for their owner. */
const TYPES = ['account_state_change', 'jettons_change'];

export const tonHints: HintFeed = {
  most_addresses: MOST_ADDRESSES,
  urlFor: (provider_url) => (isAt(provider_url, HOSTS) ? `wss://${provider_url.host}${PATH}` : null),
  // Each such message replaces what was asked for before.
  subscribe: ({ addresses }) => [
    { operation: 'subscribe', id: '1', addresses: [...addresses], types: TYPES, min_finality: 'finalized' },
  ],
  hintIn(message) {
    const type = memberOf(message, 'type');
    return typeof type === 'string' && TYPES.includes(type) ? 'moved' : null;
  },
  // It closes connections on which nothing is asked for long.
  keep_alive: { operation: 'ping', id: 'ping' },
};
