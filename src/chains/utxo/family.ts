// The family of Bitcoin and its relatives: every output to a watched script is a transfer.
import { type Family, type Network, ProviderError, type Rpc } from '../family.ts';
import { normalizeAddress } from './address.ts';
import { paymentLinks } from './links.ts';
import { lookUpTransaction } from './look-up.ts';
import { type Coin, coinOfMain, coins, type UtxoCoin } from './networks.ts';
import { coreSource } from './providers/core.ts';
import { esploraSource } from './providers/esplora.ts';
import { readChain } from './read.ts';
import { recheckTransfers } from './recheck.ts';
import { asObject, createMemory, type Memory, memoryIn, type Source } from './source.ts';

/** The family for one coin. Providers: `esplora` (HTTP) and `core` (JSON-RPC of the node). */
export function utxo(id: UtxoCoin): Family {
  const coin: Coin = coins[id];
  const source = ({ rpc, cache }: { rpc: Rpc; cache: Map<string, unknown> }) =>
    sourceOf(rpc, memoryIn(cache));
  return {
    keeps_time: false,
    normalizeAddress: (text, network) => normalizeAddress(coin.addresses, text, network),
    paymentLinks: (order) => paymentLinks(coin.scheme, order),
    identify: (rpc) => identify(coin, rpc),
    read: (context, request) => readChain(coin, source(context), context, request),
    recheck: (context, pending) => recheckTransfers(source(context), context, pending),
    lookUp: (context, named) => lookUpTransaction(coin, source(context), context, named),
  };
}

function sourceOf(rpc: Rpc, memory: Memory): Source {
  if (rpc.provider === 'esplora') return esploraSource(rpc, memory);
  if (rpc.provider === 'core') return coreSource(rpc, memory);
  throw new ProviderError('bad_answer', `a provider of kind ${rpc.provider} cannot serve this blockchain`);
}

/** By the first block. The main network of any other coin is refused; everything else is a test network. */
async function identify(coin: Coin, rpc: Rpc): Promise<Network> {
  const genesis = await sourceOf(rpc, createMemory()).hashAt(0);
  if (genesis === coin.main.genesis) return 'mainnet';
  const other = coinOfMain(genesis);
  const info = rpc.provider === 'core' ? asObject(await rpc.call('getblockchaininfo', [])) : {};
  if (other || info.chain === 'main') {
    throw new ProviderError(
      'wrong_network',
      `the provider serves ${other?.name ?? 'another coin'}, not ${coin.name}`,
    );
  }
  return 'testnet';
}
