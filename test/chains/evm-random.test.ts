// Random payments, forks and faults on an EVM chain: every payment is stored once, and none is missed by a proof.
import { describe, expect, it } from 'vitest';
import { isOfBalance } from '../../src/chains/evm/assets.ts';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import { type Network, ProviderError, type Rpc } from '../../src/chains/family.ts';
import { tronNetwork } from '../../src/chains/tron/network.ts';
import { verifies } from '../requirements.ts';
import {
  type ChainLog,
  type ChainTransaction,
  EvmChain,
  LOG_TRANSFER,
  TRANSFER,
  topicAmount,
  wordOf,
} from '../simulator/chains/evm.ts';
import { evmMethods } from '../simulator/chains/evm-node.ts';
import { RpcFault } from '../simulator/chains/front.ts';
import { tronNode } from '../simulator/chains/tron-node.ts';
import { Random } from '../simulator/random.ts';
import { createFront, rangeCap, refused } from './evm-front.ts';
import { createEvmObserver, gatewayOf } from './evm-observer.ts';

const START = 1_800_000_000;
const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const BLOCK_SECONDS = 2;
const POLL_SECONDS = 6;
/** How long payments are made, in readings; and the most until everything is proved. */
const BUSY_READINGS = 70;
const QUIET_READINGS = 120;
/** A fork is less deep than what is proved: what was proved stays so. */
const DEEPEST_FORK = 20;
/** So long after a block was made a host may still leave out its logs. */
const INDEX_LAG_SECONDS = 45;
const HOST_LAG_SECONDS = 12;
/** `EVM_SEED=77 EVM_SEEDS=1000` runs others. */
const SEEDS = Number(process.env.EVM_SEEDS ?? 2);
const FIRST_SEED = Number(process.env.EVM_SEED ?? 1);

const kinds: [name: string, network: EvmNetwork, side: Network][] = [
  ['coins in blocks, by hashes', networks.ethereum, 'mainnet'],
  ['coins in the log of the network, by ranges', networks.polygon, 'mainnet'],
  ['coins by balances, tokens by hashes', networks.base, 'mainnet'],
  ['coins by balances, tokens by ranges', networks.bsc, 'mainnet'],
  ['coins of a source, balances of final blocks', tronNetwork, 'testnet'],
];

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);

interface Paid {
  txid: string;
  chain: string;
  to: string;
  amount: bigint;
}

async function run([name, network, side]: (typeof kinds)[number], seed: number) {
  const random = new Random(`${name} ${seed}`);
  const chance = (share: number) => random.unit() < share;
  const time = { now: START, lag: 0 };
  const chain = new EvmChain({
    random,
    now: () => time.now * 1000,
    block_seconds: BLOCK_SECONDS,
    history: 60,
    height_hashes: network === tronNetwork,
  });
  const coin = network.coins[side];
  const is_source = coin.found_by === 'source';
  const gateways = [
    gatewayOf(network, { chain: 'coin', decimals: 18 }),
    gatewayOf(network, { chain: 'token', token_contract: network.dialect.shown(TOKEN) }),
  ];
  const node = {
    chain,
    chain_id: network.chain_ids[side],
    decimals: new Map([[TOKEN, 6]]),
    seen: () => time.now - time.lag,
    final_blocks: 30,
  };
  const methods = evmMethods(node);
  const upstream = async (method: string, ...params: unknown[]) => {
    try {
      return (await methods[method]?.(params)) ?? null;
    } catch (error) {
      throw error instanceof RpcFault ? Object.assign(new Error(error.message), { code: error.code }) : error;
    }
  };
  const api: Rpc['text'] = async (path, options) => {
    pick();
    if (is_broken && chance(0.05)) throw new ProviderError('unreachable', 'the API is away');
    const request = {
      method: 'POST' as const,
      path,
      query: new URLSearchParams(),
      body: JSON.stringify(options?.body),
    };
    return String((await tronNode(node)(request)).body);
  };
  const front = createFront(upstream, api);
  const made_at = new Map<string, number>();
  const paid = new Map<string, Paid[]>();
  const noteBlocks = () => {
    for (const { hash } of chain.blocks) if (!made_at.has(hash)) made_at.set(hash, time.now);
  };
  let is_broken = true;
  const pick = () => {
    time.lag = is_broken && chance(0.3) ? random.int(0, HOST_LAG_SECONDS) : 0;
  };
  front.add(async (call, next) => {
    if (front.batch_calls === 0) pick();
    if (is_broken && chance(0.01)) throw new ProviderError('unreachable', 'evm is away');
    if (is_broken && chance(0.01)) throw refused('internal error');
    const answer = await next(call);
    if (call.method !== 'eth_getLogs' || !is_broken) return answer;
    const isLate = (hash: string) => time.now - (made_at.get(hash) ?? 0) < INDEX_LAG_SECONDS;
    return (answer as { blockHash: string }[]).filter(({ blockHash }) => !isLate(blockHash) || chance(0.8));
  });
  front.onBatch = pick;
  if (chance(0.3)) front.batch_calls = random.int(0, 6);
  if (chance(0.3)) front.add(rangeCap(random.int(2, 30), 'block range is too wide'));
  // Another provider with troubles of its own, where there is one.
  const second = createFront(upstream, api);
  second.add(async (call, next) => {
    const answer = await next(call);
    if (is_broken && chance(0.05)) throw new ProviderError('unreachable', 'the other one is away');
    return call.method === 'eth_getLogs' && chance(0.3) ? [] : answer;
  });
  const askOther = chance(0.5) ? <T>(work: (rpc: Rpc) => Promise<T>) => work(second.rpc) : undefined;
  const observer = createEvmObserver({ network, gateways, rpc: front.rpc, side, now: () => time.now });

  const owners = Array.from({ length: 4 }, () => {
    const key = chain.address();
    // What they spend was there before they were watched.
    chain.send({ from: chain.address(), to: key, value: 10n ** 12n });
    return key;
  });
  time.now += 60;
  chain.catchUp();
  time.now += 60;
  for (const key of owners) observer.watch(network.dialect.shown(key));
  const readable = (hash: string) => `${network.dialect.txid_prefix}${hash.slice(2)}`;
  const note = (made: ChainTransaction, payments: [chain: string, to: string, amount: bigint][]) =>
    paid.set(
      readable(made.hash),
      payments.map(([chain_id, to, amount]) => ({ txid: readable(made.hash), chain: chain_id, to, amount })),
    );
  const amount = () => BigInt(random.int(1, 1_000_000));
  const owner = () => owners[random.int(0, owners.length - 1)] as string;
  const transferLog = (from: string, to: string, value: bigint): ChainLog => ({
    address: TOKEN,
    topics: [TRANSFER, wordOf(from), wordOf(to)],
    data: topicAmount(value),
  });
  const coinLogs = (from: string, to: string, value: bigint): ChainLog[] =>
    coin.found_by === 'log'
      ? [
          {
            address: coin.log.contract,
            topics: [LOG_TRANSFER, wordOf(coin.log.contract), wordOf(from), wordOf(to)],
            data: topicAmount(value, 1n, 1n, 1n, 1n),
          },
        ]
      : [];
  const happen = () => {
    const from = chain.address();
    if (chance(0.4)) {
      const [to, value] = [owner(), amount()];
      if (chance(0.3)) {
        const inner = [{ from: TOKEN, to, amount: value }];
        const made = chain.send({ from, to: TOKEN, inner, logs: coinLogs(TOKEN, to, value) });
        return coin.found_by === 'log' ? note(made, [['coin', to, value]]) : undefined;
      }
      return note(chain.send({ from, to, value, logs: coinLogs(from, to, value) }), [['coin', to, value]]);
    }
    if (is_source && chance(0.2)) return void chain.send({ from: owner(), to: from, value: amount() });
    if (chance(0.2)) return void chain.payToken(TOKEN, owner(), 0n);
    if (chance(0.2)) return void chain.payToken(chain.address(), owner(), amount());
    const transfers = Array.from(
      { length: chance(0.3) ? random.int(2, 5) : 1 },
      () => [owner(), amount()] as const,
    );
    const logs = transfers.map(([to, value]) => transferLog(from, to, value));
    note(
      chain.send({ from, to: TOKEN, logs }),
      transfers.map(([to, value]) => ['token', to, value]),
    );
  };
  const fork = () => {
    const depth = chance(0.1) ? random.int(4, DEEPEST_FORK) : random.int(1, 3);
    chain.fork(depth, { stays: () => chance(0.5), returns: () => chance(0.7) });
  };

  const isStored = ({ txid, chain: id, to, amount: value }: Paid, all: readonly Paid[]) => {
    const same = (each: Paid) => each.chain === id && each.to === to && each.amount === value;
    const stored = observer.to(to).filter((each) => each.txid === txid && each.height !== null);
    return (
      stored.filter((each) => each.chain === id && each.amount_atomic === value).length ===
      all.filter(same).length
    );
  };
  const onChain = () =>
    chain.blocks.flatMap(({ timestamp, transactions }) =>
      transactions.flatMap(({ hash }) => {
        const all = paid.get(readable(hash)) ?? [];
        return all.map((each) => ({ timestamp, each, all }));
      }),
    );
  /** What contracts paid an owner before a moment, where no log shows it; and what of it is listed. */
  const gainsOf = (to: string, before: number) =>
    sum(
      chain.blocks.flatMap(({ timestamp, transactions }) =>
        transactions.flatMap(({ inner }) =>
          inner.flatMap((each) => (each.to === to && timestamp < before ? [each.amount] : [])),
        ),
      ),
    );
  const listedOf = (to: string) =>
    sum(
      observer
        .to(to)
        .flatMap(({ index, height, amount_atomic }) =>
          isOfBalance(index) && height !== null ? [amount_atomic] : [],
        ),
    );
  const where = () => `${name}, seed ${seed}, at ${time.now - START} s`;
  const read = async () => {
    noteBlocks();
    pick();
    await observer.tryRead(askOther ? { askOther } : {});
    const through = observer.read_through ?? 0;
    const unread = new Set(observer.unreadable.map((each) => each.chain));
    const missed = onChain().filter(
      ({ timestamp, each, all }) => timestamp < through && !unread.has(each.chain) && !isStored(each, all),
    );
    expect(missed, `${where()}: proved, but not stored`).toEqual([]);
    if (is_source)
      for (const to of owners)
        expect(listedOf(to), `${where()}: listed, but not gained`).toBeLessThanOrEqual(gainsOf(to, time.now));
    else if (coin.found_by !== 'log' && !unread.has('coin'))
      for (const to of owners)
        expect(listedOf(to), `${where()}: a gain is proved, but not listed`).toBeGreaterThanOrEqual(
          gainsOf(to, through),
        );
    for (const { txid, address_key, chain: id, amount_atomic, index } of observer.transfers.values())
      if (!isOfBalance(index))
        expect(
          paid.get(txid) ?? [],
          `${where()}: stored, but not paid: ${txid} ${id} ${address_key} ${amount_atomic}`,
        ).toContainEqual(expect.objectContaining({ chain: id, to: address_key, amount: amount_atomic }));
  };

  await read();
  for (let reading = 0; reading < BUSY_READINGS; reading++) {
    time.now += POLL_SECONDS;
    for (let count = random.int(0, 3); count > 0; count--) happen();
    chain.catchUp();
    if (chance(0.15)) {
      noteBlocks();
      fork();
    }
    if (chance(0.03)) observer.restart();
    observer.urgent = chance(0.2) ? [{ address_key: owner(), chain: 'token' }] : [];
    await read();
  }
  is_broken = false;
  const until = time.now;
  // What a source does not show is listed once it is final, and two looks agree.
  const isListed = () =>
    !is_source || owners.every((to) => listedOf(to) === gainsOf(to, Number.POSITIVE_INFINITY));
  const isProved = () =>
    (observer.read_through ?? 0) > until && observer.unreadable.length === 0 && isListed();
  for (let reading = 0; reading < QUIET_READINGS && !isProved(); reading++) {
    time.now += POLL_SECONDS;
    chain.catchUp();
    await read();
  }
  expect(isProved(), `${where()}: proved in the end`).toBe(true);
  const all = onChain();
  expect(
    all.filter(({ each, all: own }) => !isStored(each, own)),
    `${where()}: not stored`,
  ).toEqual([]);
  if (coin.found_by !== 'log')
    for (const to of owners)
      expect(listedOf(to), `${where()}: what contracts paid`).toBe(gainsOf(to, Number.POSITIVE_INFINITY));
  const placed = [...observer.transfers.values()].filter(
    ({ height, index }) => height !== null && !isOfBalance(index),
  );
  expect(placed, `${where()}: nothing else has a place`).toHaveLength(all.length);
  for (const { txid, height } of placed)
    expect(height, where()).toBe(chain.blockOf(`0x${txid.replace(/^0x/, '')}`)?.number);
  return { payments: all.length, requests: front.requests.length, errors: observer.errors.length };
}

describe.each(kinds)('reading an EVM chain for %s', (...kind) => {
  it('stores every payment once, and proves nothing that is not stored, whatever its provider does', async () => {
    verifies('end-proved', 'read-again');
    let payments = 0;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++)
      payments += (await run(kind, seed)).payments;
    expect(payments).toBeGreaterThan(SEEDS * 20);
  });
});
