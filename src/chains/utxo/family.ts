// The family of Bitcoin and its relatives: every output to a watched script is a transfer.
import { cleanText } from '../../clean.ts';
import { type Family, type Network, ProviderError, type ReadContext, type Rpc } from '../family.ts';
import { hexHash } from '../txid.ts';
import { normalizeAddress } from './address.ts';
import { cursorHeight } from './cursor.ts';
import { paymentLinks, walletLinks } from './links.ts';
import { lookUpTransaction } from './look-up.ts';
import { createMemory, type Memory } from './memory.ts';
import { type Coin, coinOfMain, coins, type UtxoCoin } from './networks.ts';
import { core } from './providers/core.ts';
import { esplora } from './providers/esplora.ts';
import { readChain } from './read.ts';
import { recheckTransfers } from './recheck.ts';
import { asObject, type Source, type SourceKind } from './source.ts';

const providers: readonly SourceKind[] = [esplora, core];

/** The family for one coin. */
export function utxo(id: UtxoCoin): Family {
  const coin: Coin = coins[id];
  return {
    providers,
    uri_schemes: [coin.scheme],
    keeps_time: false,
    normalizeAddress: (text, network) => normalizeAddress(coin.addresses, text, network),
    normalizeTxid: (text) => hexHash(text) ?? cleanText(text),
    paymentLinks: (order) => paymentLinks(coin.scheme, order),
    walletLinks: (order) => walletLinks(coin.scheme, order),
    cursorHeight,
    identify: (rpc) => identify(coin, rpc),
    open() {
      const memory = createMemory();
      const withMemory = (context: ReadContext) => ({ ...context, memory });
      const source = ({ rpc }: ReadContext) => sourceOf(rpc, memory);
      return {
        read: (context, request) => readChain(coin, source(context), withMemory(context), request),
        recheck: (context, pending) => recheckTransfers(source(context), withMemory(context), pending),
        lookUp: (context, named) => lookUpTransaction(coin, source(context), withMemory(context), named),
      };
    },
  };
}

function sourceOf(rpc: Rpc, memory: Memory): Source {
  const found = providers.find(({ kind }) => kind === rpc.provider);
  if (found) return found.open(rpc, memory);
  throw new ProviderError('bad_answer', `a provider of kind ${rpc.provider} cannot serve this blockchain`);
}

/** By the first block. The main network of any other coin is refused; everything else is a test network. */
async function identify(coin: Coin, rpc: Rpc): Promise<Network> {
  const genesis = await sourceOf(rpc, createMemory()).hashAt(0);
  if (genesis === coin.main.genesis) return 'mainnet';
  const other = coinOfMain(genesis);
  const info = rpc.provider === core.kind ? asObject(await rpc.call('getblockchaininfo', [])) : {};
  if (other || info.chain === 'main') {
    throw new ProviderError(
      'wrong_network',
      `the provider serves ${other?.name ?? 'another coin'}, not ${coin.name}`,
    );
  }
  return 'testnet';
}
