// Every network of the EVM family at once, TRON and one of the settings too: a node for each, all with the clock of one daemon.
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { builtIn, disabledGatewaysOf } from '../../src/chains/gateways.ts';
import { showAddress } from '../../src/chains/tron/address.ts';
import { tronNetwork } from '../../src/chains/tron/network.ts';
import { type EvmChain, startAnvil } from '../chains/evm-chain.ts';
import { freshAddress } from '../chains/evm-observer.ts';
import { startTronFront } from '../chains/tron-front.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const LOG_TRANSFER = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';
const topic = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const words = (...amounts: bigint[]) =>
  `0x${amounts.map((each) => each.toString(16).padStart(64, '0')).join('')}`;

/** A contract where no issuer has one, spelled as settings would. */
const contractOf = (blockchain: string, byte: string): string =>
  blockchain === 'tron' ? showAddress(`0x${byte.repeat(20)}`) : `0x${byte.repeat(20)}`;

const custom_blockchains = [
  { id: 'gnosis', name: 'Gnosis', chain_id: 10_200, coin: 'XDAI', block_seconds: 5, min_confirmations: 20 },
];
const custom_gateways = [
  { id: 'gnosis', blockchain: 'gnosis', currency: 'XDAI', priced_as: 'USDC' },
  {
    ...{ id: 'gnosis-usdc', blockchain: 'gnosis', currency: 'USDC', decimals: 6 },
    token_contract: contractOf('gnosis', 'a1'),
  },
  {
    ...{ id: 'base-weth', blockchain: 'base', currency: 'WETH', decimals: 18, priced_as: 'ETH' },
    token_contract: contractOf('base', 'a2'),
  },
  {
    ...{ id: 'tron-usdd', blockchain: 'tron', currency: 'USDD', decimals: 18, priced_as: 'USDC' },
    token_contract: contractOf('tron', 'a3'),
  },
];

const networkOf: Record<string, EvmNetwork> = { ...networks, tron: tronNetwork };
/** Built-in blockchains of the family: what the settings may add a token to. */
const blockchains = builtIn.blockchains.filter(({ family }) => family.contractKey).map(({ id }) => id);
/** All that is built in for them; a coin that can be read comes in with its gateway. */
const values = builtIn.values.filter(({ blockchain }) => blockchains.includes(blockchain));
const nowhere = values.filter(({ token_contract }) => token_contract?.testnet === null);

const switched = (chain: string, more: Record<string, string> = {}) => ({
  [`gateways.${chain}.enabled`]: 'true',
  [`gateways.${chain}.payment_ttl_seconds`]: '240',
  ...Object.fromEntries(Object.entries(more).map(([name, value]) => [`gateways.${chain}.${name}`, value])),
});

/** What the daemon is set to, besides where its providers are. */
const settings: Record<string, string> = {
  custom_blockchains: JSON.stringify(custom_blockchains),
  custom_gateways: JSON.stringify(custom_gateways),
  ...Object.assign(
    {},
    ...[...values.map(({ chain }) => chain), ...custom_gateways.map(({ id }) => id)].map((id) =>
      switched(id),
    ),
  ),
  ...Object.assign(
    {},
    ...nowhere.map(({ chain, blockchain }, at) =>
      switched(chain, { token_contract: contractOf(blockchain, `b${at}`) }),
    ),
  ),
  ...{ 'rates.usd.ETH': '2500', 'rates.usd.POL': '0.25', 'rates.usd.BNB': '800', 'rates.usd.TRX': '0.25' },
  'rates.usd.WETH': '2500',
};

export interface PlayedChain {
  blockchain: string;
  node: EvmChain;
  /** The payment's transaction as readings name it; it waits for a block. */
  pay(gateway: Gateway, to_key: string, amount: bigint, from?: string): Promise<string>;
  /** An address that no one has, as a merchant would type it. */
  freshWallet(): string;
  stop(): Promise<void>;
}

/** Pays in the coin: where the network logs that, the log is written in its place. */
function payCoin(
  node: EvmChain,
  network: EvmNetwork | undefined,
  to: string,
  amount: bigint,
  from = node.payer,
) {
  const coins = network?.coins.testnet;
  if (coins?.found_by !== 'log') return node.payCoin(to, amount, from);
  const { contract, layout } = coins.log;
  const parties = [topic(from), topic(to)];
  return layout === 'transfer'
    ? node.write(contract, [TRANSFER, ...parties], words(amount), from)
    : node.write(contract, [LOG_TRANSFER, topic(contract), ...parties], words(amount, 1n, 1n, 1n, 1n), from);
}

async function startChain(
  blockchain: string,
  gateways: readonly TokenAt[],
  start_time: number,
): Promise<[PlayedChain, url: string]> {
  const network = networkOf[blockchain];
  const chain_id =
    network?.chain_ids.testnet ??
    (custom_blockchains.find(({ id }) => id === blockchain)?.chain_id as number);
  const keyOf = network?.dialect.contractKey ?? ((text: string) => text.toLowerCase());
  const tokens = gateways.flatMap(({ token_contract, decimals }) =>
    token_contract == null ? [] : [{ address: keyOf(token_contract), decimals }],
  );
  const coins = network?.coins.testnet;
  if (coins?.found_by === 'log') tokens.push({ address: coins.log.contract, decimals: 18 });
  const node = await startAnvil({ chain_id, block_seconds: 1, tokens, start_time, history: 5 });
  const front = blockchain === 'tron' ? await startTronFront(node.ask) : null;
  const prefix = network?.dialect.txid_prefix ?? '0x';
  const chain: PlayedChain = {
    blockchain,
    node,
    async pay({ token_contract }, to, amount, from) {
      const sent =
        token_contract === null
          ? payCoin(node, network, to, amount, from)
          : node.payToken(keyOf(token_contract), to, amount, from);
      return prefix + (await sent).slice(2);
    },
    freshWallet: () => (front ? showAddress(freshAddress()) : freshAddress()),
    async stop() {
      await front?.stop();
      await node.stop();
    },
  };
  return [chain, front?.url ?? node.url];
}

type TokenAt = Pick<Gateway, 'blockchain' | 'decimals' | 'token_contract'>;

export async function startWorld(start_time: number) {
  const found = disabledGatewaysOf(
    'testnet',
    Object.fromEntries(
      nowhere.map(({ chain, blockchain }, at) => [
        chain,
        { token_contract: contractOf(blockchain, `b${at}`) },
      ]),
    ),
  );
  const added = custom_gateways.map(
    ({ blockchain, ...each }): TokenAt => ({
      blockchain,
      decimals: 'decimals' in each ? each.decimals : 18,
      token_contract: 'token_contract' in each ? each.token_contract : null,
    }),
  );
  const ids = [...blockchains, ...custom_blockchains.map(({ id }) => id)];
  const started = await Promise.all(
    ids.map((id) =>
      startChain(
        id,
        [...found, ...added].filter(({ blockchain }) => blockchain === id),
        start_time,
      ),
    ),
  );
  const chains = started.map(([chain]) => chain);
  return {
    chains,
    settings: {
      ...settings,
      ...Object.assign(
        {},
        ...started.map(([{ blockchain }, url]) => ({
          [`blockchains.${blockchain}.url`]: url,
          [`blockchains.${blockchain}.requests_per_second`]: '1000',
        })),
      ),
    } as Record<string, string>,
    /** Gateway ids, in the order of the list. */
    gateways: [...values.map(({ chain }) => chain), ...custom_gateways.map(({ id }) => id)],
    now: () => Math.max(...chains.map(({ node }) => node.now())),
    of: (blockchain: string) => chains.find((each) => each.blockchain === blockchain) as PlayedChain,
    /** So many blocks everywhere, the first of which has what was sent. */
    grow: (blocks: number, seconds = blocks) =>
      Promise.all(chains.map(({ node }) => node.grow(blocks, seconds))),
    stop: () => Promise.all(chains.map((each) => each.stop())),
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
