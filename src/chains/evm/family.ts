// Ethereum and its relatives: coins and the tokens of allow-listed contracts, read over plain JSON-RPC.
import { cleanText } from '../../clean.ts';
import {
  type AssetPosition,
  type Family,
  type Gateway,
  type Json,
  type Network,
  ProviderError,
  type ProviderKind,
  type ReadContext,
  type Rpc,
} from '../family.ts';
import { hexHash } from '../txid.ts';
import { cursorHeight, headOf, wholeOf } from './cursor.ts';
import { blockSeconds } from './depth.ts';
import { examineEvm } from './examine.ts';
import { evmHints } from './hints.ts';
import { inspectEvmAddress, warnOfEvmAddress } from './inspect.ts';
import { lookUpEvm } from './look-up.ts';
import { createMemory } from './memory.ts';
import type { EvmNetwork } from './networks.ts';
import { readEvm } from './read.ts';
import { recheckEvm } from './recheck.ts';

const evmRpc: ProviderKind = { kind: 'evm', needs_url: false, key_header: 'x-api-key' };

/** The family for one network. */
export function evm(network: EvmNetwork, provider: ProviderKind = evmRpc): Family {
  const { dialect, chain_ids } = network;
  return {
    providers: [provider],
    // TRON's nodes have none.
    ...(provider === evmRpc ? { hints: evmHints(network) } : {}),
    uri_schemes: dialect.uri_schemes,
    keeps_time: true,
    normalizeAddress: dialect.normalizeAddress,
    contractKey: dialect.contractKey,
    normalizeTxid: (text) => {
      const hash = hexHash(text);
      return hash === null ? cleanText(text) : `${dialect.txid_prefix}${hash}`;
    },
    paymentLinks: (order) => dialect.paymentLinks(chain_ids[order.gateway.network], order),
    misses_contracts: (side) => network.coins[side].found_by !== 'log',
    walletLinks: (order) => dialect.walletLinks(chain_ids[order.gateway.network], order),
    cursorHeight,
    positions: (cursor, gateways) => positionsOf(network, cursor, gateways),
    identify: (rpc) => identify(network, rpc),
    inspectAddress: inspectEvmAddress,
    warnOfAddress: (rpc, key, side) => warnOfEvmAddress(network, rpc, key, side),
    examine: (context) => examineEvm(network, { ...context, memory: createMemory() }),
    open() {
      const memory = createMemory();
      const withMemory = (context: ReadContext) => ({ ...context, memory });
      return {
        read: (context, request) => readEvm(network, withMemory(context), request),
        recheck: (context, pending) => recheckEvm(network, withMemory(context), pending),
        lookUp: (context, named) => lookUpEvm(network, withMemory(context), named),
      };
    },
  };
}

/** Of the coin, where it is read on its own. */
function positionsOf(
  network: EvmNetwork,
  stored: Json | null,
  gateways: readonly Gateway[],
): readonly AssetPosition[] {
  const cursor = wholeOf(stored);
  const chain = gateways.find(({ is_token }) => !is_token)?.chain;
  if (!cursor?.coin || chain === undefined) return [];
  const [height] = cursor.coin.looked;
  const blocks = Math.max(0, headOf(cursor)[0] - height);
  return [{ chain, height, behind_seconds: Math.round(blocks * blockSeconds(network, cursor)) }];
}

async function identify({ name, chain_ids }: EvmNetwork, rpc: Rpc): Promise<Network> {
  const answer = await rpc.call('eth_chainId', []);
  const id = typeof answer === 'string' && /^0x[0-9a-f]{1,12}$/i.test(answer) ? Number(answer) : null;
  if (id === null) throw new ProviderError('bad_answer', `${rpc.provider}: the chain id is no number`);
  if (id === chain_ids.mainnet) return 'mainnet';
  if (id === chain_ids.testnet) return 'testnet';
  throw new ProviderError('wrong_network', `the provider serves chain ${id}, not ${name}`);
}
