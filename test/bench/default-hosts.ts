// The networks as their default hosts show them: a model of each at the pace that it has, and what the hosts allow who has no key.
import { networks } from '../../src/chains/evm/networks.ts';
import type { Network } from '../../src/chains/family.ts';
import { blockchains, builtIn } from '../../src/chains/gateways.ts';
import { knownHost } from '../../src/chains/known-hosts.ts';
import { keyOf as keyOfTron } from '../../src/chains/tron/address.ts';
import { tronNetwork } from '../../src/chains/tron/network.ts';
import { coins } from '../../src/chains/utxo/networks.ts';
import { moreWallets, wallets } from '../helpers/people.ts';
import { esplora } from '../simulator/chains/esplora.ts';
import { EvmChain } from '../simulator/chains/evm.ts';
import { evmMethods } from '../simulator/chains/evm-node.ts';
import { type Front, json, jsonRpc } from '../simulator/chains/front.ts';
import { SolanaChain } from '../simulator/chains/solana.ts';
import { solanaNode } from '../simulator/chains/solana-node.ts';
import { comment, keyOf, TonChain } from '../simulator/chains/ton.ts';
import { toncenter } from '../simulator/chains/toncenter.ts';
import { tronNode } from '../simulator/chains/tron-node.ts';
import { UtxoChain } from '../simulator/chains/utxo.ts';
import type { Random } from '../simulator/random.ts';
import type { World } from '../simulator/world.ts';

/** What a host allows. Sources and dates of the numbers stand in src/chains/known-hosts.ts and with the recorded refusals. */
export interface Cap {
  hosts: readonly string[];
  most: number;
  seconds: number;
  /** Of each method on its own, or of all requests; of calls where each of a batch counts. */
  of: 'requests' | 'calls' | 'calls of a method';
}

export const caps: readonly Cap[] = [
  { hosts: ['toncenter.com'], most: 60, seconds: 60, of: 'requests' },
  { hosts: ['solana.com'], most: 100, seconds: 10, of: 'calls' },
  { hosts: ['solana.com'], most: 40, seconds: 10, of: 'calls of a method' },
  // Of mempool's own nginx file, which both run.
  { hosts: ['mempool.space', 'litecoinspace.org'], most: 200, seconds: 60, of: 'requests' },
  // What a free key allows all day long; without one it varies.
  { hosts: ['trongrid.io'], most: 100_000, seconds: 86_400, of: 'requests' },
];

export const capsOf = (host: string): readonly Cap[] =>
  caps.filter(({ hosts }) => hosts.some((each) => host === each || host.endsWith(`.${each}`)));

export interface Modelled {
  network: Network;
  /** A merchant's. */
  wallet: string;
  /** What any node of it answers. */
  front: Front;
  /** A stranger pays the merchant so much of the coin. */
  pay(amount: bigint): void;
}

interface Options {
  id: string;
  world: World;
  random: Random;
}

const CHAIN_HISTORY = 400;
const BLOCKS_HISTORY = 30;
const PAGE_CAP = 1_000;
const PAYER = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy';
const TRON_FINAL_BLOCKS = 19;

/** Ids of those that have a model here; the bench fails where one of the list has none. */
export function openModel(options: Options): Modelled {
  const { id } = options;
  if (id === 'ton') return ton(options);
  if (id === 'solana') return solana(options);
  if (id === 'bitcoin' || id === 'litecoin') return utxo(options, id);
  if (id === 'tron') return tron(options);
  if (id in networks) return evm(options, id as keyof typeof networks);
  throw new Error(`${id} has no model: add one`);
}

const contractsOf = (id: string, network: Network): string[] =>
  builtIn.values.flatMap(({ blockchain, token_contract }) => {
    const contract = token_contract?.[network];
    return blockchain === id && contract ? [contract] : [];
  });

const usualSeconds = (id: string): number =>
  blockchains.find((each) => each.id === id)?.block_seconds ?? Number.NaN;

function ton({ id, world, random }: Options): Modelled {
  const chain = new TonChain({ random, now: () => world.now_ms, block_ms: 1_000 * usualSeconds(id) });
  for (const master of contractsOf(id, 'testnet')) chain.addJetton(master);
  const view = () => ({
    tip_seqno: chain.seqnoAt(world.now_ms),
    shows: () => true,
    page_cap: PAGE_CAP,
    repeats_pages: false,
    lacks_masters: false,
  });
  const wallet = wallets.ton as string;
  const source = `0:${'22'.repeat(32)}`;
  const pay = (value: bigint) =>
    void chain.run({ account: keyOf(wallet), source, value, body: comment(null) });
  return { network: 'testnet', wallet, front: toncenter({ chain, view }), pay };
}

function solana({ id, world, random }: Options): Modelled {
  const slot_ms = 1_000 * usualSeconds(id);
  const chain = new SolanaChain({ random, now: () => world.now_ms, slot_ms, final_slots: 1 });
  for (const mint of contractsOf(id, 'testnet')) chain.addMint(mint);
  const view = () => ({
    slot: chain.slotAt(world.now_ms),
    lists: () => true,
    gives: () => true,
    page_cap: PAGE_CAP,
  });
  const wallet = wallets.solana as string;
  const pay = (amount: bigint) =>
    void chain.send({ payer: PAYER, changes: [{ owner: wallet, mint: null, amount }], memo: null });
  return { network: 'testnet', wallet, front: solanaNode({ chain, view }), pay };
}

function utxo({ world, random }: Options, id: 'bitcoin' | 'litecoin'): Modelled {
  const { block_seconds } = coins[id];
  const chain = new UtxoChain({
    work: id === 'bitcoin' ? 'sha256d' : 'scrypt',
    random,
    now: () => world.now_ms,
    history_blocks: BLOCKS_HISTORY,
    history_interval_seconds: block_seconds,
  });
  const mine = () => {
    chain.mine();
    world.after(1_000 * block_seconds, mine);
  };
  world.after(1_000 * block_seconds, mine);
  const wallet = wallets[id] as string;
  const script = blockchains.find((each) => each.id === id)?.family.normalizeAddress(wallet, 'testnet').key;
  const pay = (amount: bigint) =>
    void chain.send([chain.freshInput()], [{ script: script as string, amount }], 1);
  return { network: 'testnet', wallet, front: esplora({ node: chain.miner }), pay };
}

/** On the main network, whose coins are found in another way than those of its test network. */
function evmOptions({ id, world, random }: Options, chain_id: number, final_blocks: number) {
  const isTron = id === 'tron';
  const chain = new EvmChain({
    random,
    now: () => world.now_ms,
    block_seconds: usualSeconds(id),
    history: CHAIN_HISTORY,
    height_hashes: isTron,
  });
  const decimals = new Map(
    builtIn.values.flatMap(({ blockchain, token_contract, decimals: digits }): [string, number][] => {
      const contract = token_contract?.mainnet;
      if (blockchain !== id || !contract) return [];
      return [[isTron ? keyOfTron(contract) : contract.toLowerCase(), digits]];
    }),
  );
  const seen = () => {
    chain.catchUp();
    return world.now_ms / 1000;
  };
  return { chain, chain_id, decimals, seen, final_blocks };
}

function evm(options: Options, id: keyof typeof networks): Modelled {
  const { chain_ids, final, block_seconds } = networks[id];
  const final_blocks = Math.ceil((2 * final.depth_seconds) / block_seconds);
  const node = evmOptions(options, chain_ids.mainnet, final_blocks);
  const wallet = moreWallets.base as string;
  const pay = (value: bigint) => void node.chain.send({ to: wallet.toLowerCase(), value });
  return { network: 'mainnet', wallet, front: jsonRpc(evmMethods(node), true), pay };
}

function tron(options: Options): Modelled {
  const node = evmOptions(options, tronNetwork.chain_ids.mainnet, TRON_FINAL_BLOCKS);
  const wallet = moreWallets.tron as string;
  const pay = (value: bigint) => void node.chain.send({ to: keyOfTron(wallet), value });
  return { network: 'mainnet', wallet, front: tronNode(node), pay };
}

/** The same as one host answers: with as many calls in a request as it takes. */
export function asHostOf(host: string, front: Front): Front {
  const most = knownHost(host)?.begins.batch_calls ?? Number.POSITIVE_INFINITY;
  return (request) => {
    const asked = JSON.parse(request.body ?? 'null') as unknown;
    if (!Array.isArray(asked) || asked.length <= most) return front(request);
    const message = `Batch of more than ${most} requests are not allowed on free tier`;
    return json(
      (asked as { id: number }[]).map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: 31, message } })),
      500,
    );
  };
}
