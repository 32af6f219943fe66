// Every family against the one suite, each through the wire format of each kind of provider it reads from.
import { createHash } from 'node:crypto';
import { base58, bech32 } from '@scure/base';
import { evm } from '../../src/chains/evm/family.ts';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import type { Family, Gateway } from '../../src/chains/family.ts';
import { disabledGatewaysOf, findBlockchain, gatewaysOf } from '../../src/chains/gateways.ts';
import { solanaFamily } from '../../src/chains/solana/family.ts';
import { ton } from '../../src/chains/ton/family.ts';
import { keyOf as keyOfTron, showAddress } from '../../src/chains/tron/address.ts';
import { USDT as usdtOnTron } from '../../src/chains/tron/contracts.ts';
import { tronNetwork, tronProvider } from '../../src/chains/tron/network.ts';
import { utxo } from '../../src/chains/utxo/family.ts';
import { core } from '../simulator/chains/core.ts';
import { esplora } from '../simulator/chains/esplora.ts';
import {
  type ChainBlock,
  type ChainLog,
  type ChainTransaction,
  EvmChain,
  LOG_TRANSFER,
  TRANSFER,
  topicAmount,
  wordOf,
} from '../simulator/chains/evm.ts';
import { evmMethods } from '../simulator/chains/evm-node.ts';
import { jsonRpc } from '../simulator/chains/front.ts';
import { SolanaChain, type SolanaOptions } from '../simulator/chains/solana.ts';
import { solanaNode } from '../simulator/chains/solana-node.ts';
import { comment, keyOf, TonChain } from '../simulator/chains/ton.ts';
import { toncenter } from '../simulator/chains/toncenter.ts';
import { tronNode } from '../simulator/chains/tron-node.ts';
import { type Sent, UtxoChain } from '../simulator/chains/utxo.ts';
import { Random } from '../simulator/random.ts';
import { atEveryPace, BATCHES, conformance, type World } from './conformance.ts';
import { frontRpc } from './front-rpc.ts';
import { keyOf as walletKey } from './solana-model.ts';
import { toy } from './toy/family.ts';
import { createToyModel } from './toy/model.ts';

const START = 1_800_000_000;
/** How old the answers of a provider are that is behind. */
const LAG_SECONDS = 400;
const TON_BLOCK_SECONDS = 0.4;
const TRON_BLOCK_SECONDS = 3;
const SOLANA_SLOT_MS = 200;
const PAGE_ROWS = 100;

/** True time, moved by the suite, and as of when the provider answers. */
function openTime() {
  const time = {
    now: START,
    is_behind: false,
    ms: () => time.now * 1000,
    seen: () => (time.is_behind ? time.now - LAG_SECONDS : time.now),
    seen_ms: () => time.seen() * 1000,
  };
  return time;
}

const gatewaysAt = (blockchain: string) =>
  gatewaysOf('testnet').filter((each) => each.blockchain === blockchain) as [Gateway, ...Gateway[]];

const isAddress = (family: Family, text: string): boolean => {
  try {
    return family.normalizeAddress(text, 'testnet').key !== '';
  } catch {
    return false;
  }
};

const shared = (time: ReturnType<typeof openTime>) => ({
  now: () => time.now,
  lag: (is_behind: boolean) => {
    time.is_behind = is_behind;
  },
});

atEveryPace('ton', (pace): World => {
  const block_seconds = TON_BLOCK_SECONDS / pace;
  const time = openTime();
  const random = new Random('ton');
  const chain = new TonChain({ random, now: time.ms, block_ms: block_seconds * 1000 });
  time.now += 1000;
  const gateways = gatewaysAt('ton');
  for (const { token_contract } of gateways) if (token_contract) chain.addJetton(token_contract);
  const heights = new Map<string, number>();
  const view = () => ({
    tip_seqno: chain.seqnoAt(time.seen_ms()),
    shows: ({ indexed_at_ms }: { indexed_at_ms: number }) => indexed_at_ms <= time.seen_ms(),
    page_cap: PAGE_ROWS,
    repeats_pages: false,
    lacks_masters: false,
  });
  const front = toncenter({ chain, view });
  const raw = () => `0:${random.hex(32).toUpperCase()}`;
  const payer = raw();
  const address = () => ton.normalizeAddress(raw(), 'testnet').address;
  const good = address();
  return {
    ...shared(time),
    family: ton,
    blockchain: 'ton',
    gateways,
    rpc: frontRpc('toncenter', () => front),
    advance: (seconds) => {
      time.now += seconds;
    },
    address,
    pay({ gateway: { token_contract: master }, to, amount, memo }) {
      const made = master
        ? chain.sendJetton({ master, to: keyOf(to), from: payer, amount, comment: memo, notifies: true })
        : chain.run({ account: keyOf(to), source: payer, value: amount, body: comment(memo) });
      const txid = Buffer.from(made.hash, 'base64').toString('hex');
      heights.set(txid, made.mc_seqno);
      return txid;
    },
    bury: () => {
      time.now += 30;
    },
    heightOf: (txid) => heights.get(txid) ?? null,
    crowd: 230,
    bad_addresses: {
      'cut short': good.slice(0, -1),
      'one letter is another': `${good.slice(0, 20)}${good[20] === 'A' ? 'B' : 'A'}${good.slice(21)}`,
      'without its workchain': keyOf(good).slice(2),
      'of another chain': 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    },
    unknown_txid: '0'.repeat(64),
    block_seconds,
    idle_requests: 42,
  };
});

function solanaWorld(options: Required<Pick<SolanaOptions, 'slot_ms' | 'final_slots'>>): World {
  const time = openTime();
  const random = new Random('solana');
  const chain = new SolanaChain({ random, now: time.ms, ...options });
  time.now += 1000;
  const gateways = gatewaysAt('solana');
  for (const { token_contract } of gateways) if (token_contract) chain.addMint(token_contract);
  const view = () => ({
    slot: chain.slotAt(time.seen_ms()),
    lists: ({ listed_at_ms }: { listed_at_ms: number }) => listed_at_ms <= time.seen_ms(),
    gives: ({ given_at_ms }: { given_at_ms: number }) => given_at_ms <= time.seen_ms(),
    page_cap: PAGE_ROWS,
  });
  const front = solanaNode({ chain, view });
  let serial = 0;
  const address = (): string => {
    const drawn = walletKey(++serial);
    return isAddress(solanaFamily(), drawn) ? drawn : address();
  };
  const payer = address();
  const good = address();
  return {
    ...shared(time),
    family: solanaFamily({ signatures_per_page: 20, transactions_per_page: 7 }),
    blockchain: 'solana',
    block_seconds: options.slot_ms / 1000,
    idle_requests: 50,
    gateways,
    rpc: frontRpc('solana', () => front),
    advance: (seconds) => {
      time.now += seconds;
    },
    address,
    pay: ({ gateway: { token_contract: mint }, to, amount, memo }) =>
      chain.send({ payer, changes: [{ owner: to, mint, amount }], memo }).signature,
    bury: () => {
      time.now += 30;
    },
    heightOf: (txid) => chain.transaction(txid)?.slot ?? null,
    crowd: 90,
    bad_addresses: {
      'a letter that base58 has not': `${good.slice(0, -1)}0`,
      'of 31 bytes': base58.encode(random.bytes(31)),
      'of 33 bytes': base58.encode(random.bytes(33)),
      'of another chain': 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    },
    unknown_txid: base58.encode(random.bytes(64)),
  };
}

atEveryPace('solana', (pace) => solanaWorld({ slot_ms: SOLANA_SLOT_MS / pace, final_slots: 1 }));
/** As before Alpenglow. */
atEveryPace('solana, final by 32 slots', (pace) => solanaWorld({ slot_ms: 400 / pace, final_slots: 32 }));

const coinOf = {
  bitcoin: {
    work: 'sha256d',
    block_seconds: 600,
    prefix: 'bcrt',
    of_main: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    of_another: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  },
  litecoin: {
    work: 'scrypt',
    block_seconds: 150,
    prefix: 'rltc',
    of_main: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
    of_another: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  },
} as const;

const utxoWorld =
  (blockchain: keyof typeof coinOf, provider: 'esplora' | 'core') =>
  (pace: number, most_calls: number): World => {
    const { work, prefix, of_main, of_another, ...coin } = coinOf[blockchain];
    const block_seconds = coin.block_seconds / pace;
    const time = openTime();
    const random = new Random(provider);
    const chain = new UtxoChain({
      work,
      random,
      now: time.ms,
      history_blocks: 12,
      history_interval_seconds: block_seconds,
    });
    const late = chain.addNode(() => LAG_SECONDS * 1000);
    const open = provider === 'core' ? core : esplora;
    const [front, lagging] = [open({ node: chain.miner }), open({ node: late })];
    const sent = new Map<string, Sent>();
    const family = findBlockchain(blockchain)?.family ?? utxo(blockchain);
    const address = () => bech32.encode(prefix, [0, ...bech32.toWords(random.bytes(20))]);
    const good = address();
    return {
      ...shared(time),
      family,
      blockchain,
      gateways: gatewaysAt(blockchain),
      rpc: frontRpc(provider, () => (time.is_behind ? lagging : front), most_calls),
      advance(seconds) {
        const before = time.now;
        time.now += seconds;
        // By its pace, so that a minute in which nothing is paid has its blocks all the same.
        const since = Math.floor(time.now / block_seconds) - Math.floor(before / block_seconds);
        for (let block = 0; block < since; block++) chain.mine();
      },
      address,
      pay({ to, amount }) {
        const script = family.normalizeAddress(to, 'testnet').key;
        const made = chain.send([chain.freshInput()], [{ script, amount }], 1);
        sent.set(made.txid, made);
        return made.txid;
      },
      bury() {
        for (let block = 0; block < 2; block++) {
          time.now += Math.ceil(30 / pace);
          chain.mine();
        }
      },
      heightOf: (txid) => chain.miner.blockOf(txid)?.height ?? null,
      reorganise(txid, then) {
        chain.mine();
        time.now += 1;
        const lost = sent.get(txid) as Sent;
        chain.fork(1, (each) => each.txid !== txid);
        // Another one takes its money.
        if (then === 'never') chain.send(lost.inputs, [{ script: '51', amount: 1n }], 9);
        time.now += 1;
      },
      crowd: 60,
      bad_addresses: {
        'cut short': good.slice(0, -1),
        'one letter is another': `${good.slice(0, 20)}${good[20] === 'q' ? 'p' : 'q'}${good.slice(21)}`,
        'of the main network': of_main,
        'of another chain': of_another,
      },
      unknown_txid: createHash('sha256').update('unknown').digest('hex'),
      // A block that came is read once.
      idle_requests: 71 + Math.ceil((3 * 60) / block_seconds),
    };
  };

for (const blockchain of ['bitcoin', 'litecoin'] as const) {
  atEveryPace(`${blockchain} over esplora`, utxoWorld(blockchain, 'esplora'));
  atEveryPace(`${blockchain} over core`, utxoWorld(blockchain, 'core'), BATCHES);
}

/** A coin found in the log of its network, and logs read by ranges; one by balances, and by hashes; one in a log, and by hashes. */
const evmWorld =
  (blockchain: keyof typeof networks) =>
  (pace: number, most_calls: number): World => {
    const network: EvmNetwork = networks[blockchain];
    const block_seconds = network.block_seconds / pace;
    const time = openTime();
    const random = new Random(blockchain);
    const history = Math.max(300, Math.ceil((LAG_SECONDS + 200) / block_seconds));
    const chain = new EvmChain({ random, now: time.ms, block_seconds, history });
    const family = findBlockchain(blockchain)?.family ?? evm(network);
    const all = disabledGatewaysOf('testnet').filter((each) => each.blockchain === blockchain);
    const gateways = all.filter(({ token_contract, is_token }) => !is_token || token_contract) as never;
    const decimals = new Map(all.map((each) => [each.token_contract?.toLowerCase() ?? '', each.decimals]));
    const final_blocks = Math.ceil(60 / block_seconds);
    const node = { chain, chain_id: network.chain_ids.testnet, decimals, seen: time.seen, final_blocks };
    const front = jsonRpc(evmMethods(node), true);
    const [payer, good] = [chain.address(), family.normalizeAddress(chain.address(), 'testnet').address];
    const made = new Map<string, ChainTransaction>();
    return {
      ...shared(time),
      family,
      blockchain,
      gateways,
      rpc: frontRpc('evm', () => front, most_calls),
      advance(seconds) {
        time.now += seconds;
        chain.catchUp();
      },
      address: () => family.normalizeAddress(chain.address(), 'testnet').address,
      pay({ gateway: { token_contract }, to, amount }) {
        const key = to.toLowerCase();
        const sent = token_contract
          ? chain.payToken(token_contract.toLowerCase(), key, amount, payer)
          : chain.send({ from: payer, to: key, value: amount, logs: coinLogs(network, payer, key, amount) });
        made.set(sent.hash, sent);
        return sent.hash;
      },
      bury() {
        time.now += Math.ceil(Math.max(300, 30 * block_seconds));
        chain.catchUp();
      },
      heightOf: (txid) => chain.blockOf(txid)?.number ?? null,
      reorganise(txid, then) {
        if (!chain.blockOf(txid)) chain.mine();
        const { number } = chain.blockOf(txid) as ChainBlock;
        const depth = chain.blocks.length - number;
        const returns = () => then === 'again';
        chain.fork(depth, { stays: ({ hash }) => hash !== txid, returns });
        // Another one takes its number.
        const { from, nonce } = made.get(txid) as ChainTransaction;
        if (then === 'never') chain.send({ from, nonce });
        time.now += Math.ceil(Math.max(1, block_seconds));
        chain.catchUp();
      },
      block_seconds,
      crowd: 120,
      bad_addresses: {
        'cut short': good.slice(0, -1),
        'one letter in another case': good.replace(/[a-f]/i, (letter) =>
          letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
        ),
        'of another chain': 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
      },
      unknown_txid: `0x${'0'.repeat(64)}`,
    };
  };

for (const blockchain of ['polygon', 'base', 'ethereum', 'bsc', 'arbitrum'] as const)
  atEveryPace(blockchain, evmWorld(blockchain), BATCHES);

function coinLogs(network: EvmNetwork, from: string, to: string, amount: bigint): ChainLog[] {
  const { testnet: coins } = network.coins;
  if (coins.found_by !== 'log') return [];
  const { contract: address, layout } = coins.log;
  const parties = [wordOf(from), wordOf(to)];
  return layout === 'transfer'
    ? [{ address, topics: [TRANSFER, ...parties], data: topicAmount(amount) }]
    : [
        {
          address,
          topics: [LOG_TRANSFER, wordOf(address), ...parties],
          data: topicAmount(amount, 9n, 9n, 9n, 9n),
        },
      ];
}

/** Coins from the node's own API, tokens from its JSON-RPC. That a transaction is gone for good cannot be proved. */
const tronWorld = (pace: number, most_calls: number): World => {
  const time = openTime();
  const random = new Random('tron');
  const block_seconds = TRON_BLOCK_SECONDS / pace;
  const history = Math.max(300, Math.ceil((LAG_SECONDS + 200) / block_seconds));
  const chain = new EvmChain({ random, now: time.ms, block_seconds, history, height_hashes: true });
  const family = findBlockchain('tron')?.family ?? evm(tronNetwork, tronProvider);
  const gateways = disabledGatewaysOf('testnet').filter(({ blockchain }) => blockchain === 'tron') as never;
  const token = keyOfTron(usdtOnTron.testnet as string);
  const node = {
    chain,
    chain_id: tronNetwork.chain_ids.testnet,
    decimals: new Map([[token, 6]]),
    seen: time.seen,
    final_blocks: 19,
  };
  const front = tronNode(node);
  const payer = chain.address();
  const good = showAddress(chain.address());
  return {
    ...shared(time),
    family,
    blockchain: 'tron',
    gateways,
    rpc: frontRpc('tron', () => front, most_calls),
    advance(seconds) {
      time.now += seconds;
      chain.catchUp();
    },
    address: () => showAddress(chain.address()),
    pay({ gateway, to, amount }) {
      const key = keyOfTron(to);
      const sent = gateway.is_token
        ? chain.payToken(token, key, amount, payer)
        : chain.send({ from: payer, to: key, value: amount });
      return sent.hash.slice(2);
    },
    bury() {
      time.now += Math.ceil(Math.max(300, 30 * block_seconds));
      chain.catchUp();
    },
    heightOf: (txid) => chain.blockOf(`0x${txid}`)?.number ?? null,
    reorganise(txid) {
      const hash = `0x${txid}`;
      if (!chain.blockOf(hash)) chain.mine();
      const { number } = chain.blockOf(hash) as ChainBlock;
      chain.fork(chain.blocks.length - number, { stays: (each) => each.hash !== hash, returns: () => true });
      time.now += Math.ceil(Math.max(1, block_seconds));
      chain.catchUp();
    },
    never_gone: true,
    crowd: 120,
    bad_addresses: {
      'cut short': good.slice(0, -1),
      hexadecimal: keyOfTron(good),
      'of another chain': 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    },
    block_seconds,
    idle_requests: Number.isFinite(most_calls) ? 200 : 56,
    unknown_txid: '0'.repeat(64),
  };
};

atEveryPace('tron', tronWorld, BATCHES);

conformance('a toy', (): World => {
  const time = openTime();
  const model = createToyModel(() => time.now, time.seen);
  const [coin] = gatewaysAt('ton');
  const heights = new Map<string, number>();
  const good = model.address();
  return {
    ...shared(time),
    family: toy,
    blockchain: 'toy',
    gateways: [{ ...coin, chain: 'toy', blockchain: 'toy', family: toy }],
    rpc: frontRpc('toy', () => model.front),
    advance: (seconds) => {
      time.now += seconds;
    },
    address: model.address,
    pay(payment) {
      const { txid, height } = model.pay(payment);
      heights.set(txid, height);
      return txid;
    },
    bury: () => {
      time.now += 30;
    },
    heightOf: (txid) => heights.get(txid) ?? null,
    crowd: 120,
    bad_addresses: {
      'cut short': good.slice(0, -1),
      'one digit is another': good.replace('toy10', 'toy11'),
      'of another chain': 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
    },
    unknown_txid: '0'.repeat(64),
  };
});
