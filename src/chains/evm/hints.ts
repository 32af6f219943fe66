// Hints of Ethereum and its relatives: logs that pay a watched address, and blocks where these are not too many.
import type { HintFeed, Json } from '../family.ts';
import { isAt, memberOf, sameHost } from '../hints.ts';
import { assetsOf, filtersFor } from './assets.ts';
import type { EvmNetwork } from './networks.ts';

const MOST_ADDRESSES = 1000;
/** Hosts that are documented to have it under the URL of their JSON-RPC. */
const HOSTS = ['publicnode.com', 'drpc.org', 'g.alchemy.com', 'quiknode.pro'];
/** Blocks that come faster say little: most of them pay no one, and coins, which no log shows, are found by the next reading. */
const SLOW_BLOCK_SECONDS = 5;

const subscription = (params: Json[]): Json => ({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params });

export const evmHints = (network: EvmNetwork): HintFeed => ({
  most_addresses: MOST_ADDRESSES,
  urlFor: (provider_url) => (isAt(provider_url, HOSTS) ? sameHost(provider_url) : null),
  subscribe({ addresses, added, ...context }) {
    const { logs } = assetsOf(network, context);
    const is_first = added.length === addresses.length;
    const heads = is_first && network.block_seconds >= SLOW_BLOCK_SECONDS ? [subscription(['newHeads'])] : [];
    const filters = filtersFor(logs, added, network.dialect.topic_values);
    return [...heads, ...filters.map((filter) => subscription(['logs', filter]))];
  },
  hintIn(message) {
    if (memberOf(message, 'method') !== 'eth_subscription') return null;
    const log = memberOf(memberOf(message, 'params'), 'result');
    return memberOf(log, 'topics') === undefined ? 'block' : 'moved';
  },
});
