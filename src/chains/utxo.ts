// The family of Bitcoin and its relatives: every output to a watched script is a transfer.
import { type Family, type Network, ProviderError, type Rpc } from './chain.ts';
import { type AddressRules, bitcoinAddresses, litecoinAddresses, normalizeAddress } from './utxo/address.ts';
import { coreSource } from './utxo/core.ts';
import { esploraSource } from './utxo/esplora.ts';
import { paymentLinks } from './utxo/links.ts';
import { readChain } from './utxo/read.ts';
import { recheckTransfers } from './utxo/recheck.ts';
import { asObject, createMemory, type Memory, memoryIn, type Source } from './utxo/source.ts';

interface Coin {
  name: string;
  /** URI scheme (BIP21). */
  scheme: string;
  addresses: AddressRules;
  /** Hash of the first block of the main network. */
  genesis: string;
}

const coins = {
  bitcoin: {
    name: 'Bitcoin',
    scheme: 'bitcoin',
    addresses: bitcoinAddresses,
    genesis: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  },
  litecoin: {
    name: 'Litecoin',
    scheme: 'litecoin',
    addresses: litecoinAddresses,
    genesis: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
  },
} satisfies Record<string, Coin>;

type UtxoCoin = keyof typeof coins;

/** The family for one coin. Providers: `esplora` (HTTP) and `core` (JSON-RPC of the node). */
export function utxo(id: UtxoCoin): Family {
  const coin: Coin = coins[id];
  return {
    keeps_time: false,
    lookUp: async () => [],
    normalizeAddress: (text, network) => normalizeAddress(coin.addresses, text, network),
    paymentLinks: (order) => paymentLinks(coin.scheme, order),
    identify: (rpc) => identify(coin, rpc),
    read: (context, request) => readChain(sourceOf(context.rpc, memoryIn(context.cache)), context, request),
    recheck: (context, pending, tip) =>
      recheckTransfers(sourceOf(context.rpc, memoryIn(context.cache)), context, pending, tip),
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
  if (genesis === coin.genesis) return 'mainnet';
  const other = Object.values(coins).find((each) => each.genesis === genesis);
  const info = rpc.provider === 'core' ? asObject(await rpc.call('getblockchaininfo', [])) : {};
  if (other || info.chain === 'main') {
    throw new ProviderError(
      'wrong_network',
      `the provider serves ${other?.name ?? 'another coin'}, not ${coin.name}`,
    );
  }
  return 'testnet';
}
