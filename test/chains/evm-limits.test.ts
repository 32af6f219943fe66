// What providers of EVM networks limit, and what one hiccup of theirs costs.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type Fault, filterOf, rangeCap, refused, topicCap, withOrphans } from './evm-front.ts';
import { createEvmObserver, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const { base, bsc } = networks;

describe.runIf(hasAnvil)('a provider', () => {
  let chain: EvmChain;
  beforeEach(async () => {
    const tokens = [{ address: TOKEN }];
    chain = await startAnvil({ chain_id: base.chain_ids.testnet, block_seconds: 2, tokens, history: 50 });
  });
  afterEach(() => chain?.stop());

  const tokenOf = (network: EvmNetwork) => gatewayOf(network, { chain: 'a-usdc', token_contract: TOKEN });
  function open(
    network: EvmNetwork,
    upstream = chain.ask as Parameters<typeof createFront>[0],
    now = () => chain.now(),
  ) {
    const front = createFront(upstream);
    const observer = createEvmObserver({ network, gateways: [tokenOf(network)], rpc: front.rpc, now });
    return { front, observer, to: observer.watch() };
  }
  const counted = (front: ReturnType<typeof createFront>, method: string) =>
    front.requests.flat().filter((call) => call.method === method).length;

  it.each([
    [
      'refuses',
      (): never => {
        throw refused('no backend is currently healthy');
      },
    ],
    [
      'is away',
      (): never => {
        throw new ProviderError('unreachable', 'bsc at a.test: no answer');
      },
    ],
  ])(
    'that %s when it is first asked for decimals is asked again soon, and a token is sold',
    async (_, fail) => {
      const { front, observer } = open(bsc);
      let hiccups = 1;
      front.add(async (call, next) => (call.method === 'eth_call' && hiccups-- > 0 ? fail() : next(call)));
      await observer.tryRead();
      await chain.mine(1, 6);
      await observer.read();
      expect(observer.unreadable).toEqual([]);
    },
  );

  it('that never answers to that is asked ever more rarely', async () => {
    const { front, observer } = open(bsc);
    const heal = front.add(async (call, next) => {
      if (call.method === 'eth_call') throw refused('oops');
      return next(call);
    });
    for (let second = 0; second < 600; second += 2) {
      await chain.mine(1, 2);
      await observer.read();
    }
    expect(observer.unreadable).toHaveLength(1);
    expect(counted(front, 'eth_call')).toBeLessThan(16);
    heal();
    await chain.mine(1, 61);
    await observer.read();
    expect(observer.unreadable).toEqual([]);
  });

  it.each([
    [100, 'exceed max topics', 12],
    [64, 'too many topics: maximum 64', 11],
    [50, 'query exceeds the limit of 50 addresses', 15],
    [500, 'invalid params', 12],
  ])(
    'that takes %d values of a topic, and says "%s", is asked for so many',
    async (values, text, most_calls) => {
      const { front, observer, to } = open(bsc);
      const others = Array.from({ length: 700 }, () => observer.watch());
      front.add(refusingTopics(values, text));
      await observer.read();
      await chain.payToken(TOKEN, to, 1n);
      await chain.payToken(TOKEN, others.at(-1) as string, 2n);
      await chain.mine(3);
      await observer.read();
      expect([observer.amounts(to), observer.amounts(others.at(-1) as string)]).toEqual([[1n], [2n]]);
      front.requests.length = 0;
      await chain.payToken(TOKEN, to, 3n);
      await chain.mine(3);
      await observer.read();
      expect(observer.amounts(to)).toEqual([1n, 3n]);
      // What it takes is known from the first time.
      const asked = front.requests.flat().filter(({ method }) => method === 'eth_getLogs');
      const most = Math.max(...asked.map((call) => (filterOf(call).topics[2] as string[]).length));
      expect(most).toBeLessThanOrEqual(values);
      expect(asked.length).toBeLessThanOrEqual(most_calls);
    },
  );

  const refusingTopics = (values: number, text: string): Fault => {
    const cap = topicCap(values);
    return async (call, next) => {
      try {
        return await cap(call, next);
      } catch (error) {
        if ((error as Error).message.includes('exceed max topics')) throw refused(text, -32_602);
        throw error;
      }
    };
  };

  it('that refuses every filter is not asked for more and more of them', async () => {
    const { front, observer } = open(bsc);
    for (let more = 0; more < 700; more++) observer.watch();
    await observer.read();
    await chain.mine(3);
    front.add(async (call, next) => {
      if (call.method === 'eth_getLogs') throw refused('eth_getLogs is disabled');
      return next(call);
    });
    for (let reading = 0; reading < 20; reading++) await observer.tryRead();
    expect(observer.errors).toHaveLength(20);
    front.requests.length = 0;
    await observer.tryRead();
    expect(counted(front, 'eth_getLogs')).toBeLessThan(30);
  });

  it('that is asked too often for what a left block had paid is asked again, and no payment of it is taken for a new one', async () => {
    const { front, observer } = open(base, withOrphans(chain.ask as never));
    await observer.read();
    // Paid before its address is watched; the block then leaves the chain, and the payment comes again in another one.
    const early = '0xcccccccccccccccccccccccccccccccccccb1234';
    const txid = await chain.payToken(TOKEN, early, 5n, chain.freshPayer());
    await chain.mine(2);
    await observer.read();
    const { blockHash } = await chain.ask<{ blockHash: string }>('eth_getTransactionReceipt', txid);
    chain.wait(30);
    observer.watch(early);
    await chain.reorg(2, [[txid, 1]]);
    await chain.mine(2);
    let is_limited = true;
    front.add(async (call, next) => {
      const is_orphan = call.method === 'eth_getLogs' && filterOf(call).blockHash === blockHash;
      if (is_orphan && is_limited) throw refused('rate limit exceeded', -32_005);
      return next(call);
    });
    expect(await observer.tryRead()).toBe(false);
    is_limited = false;
    await observer.read();
    const [found] = observer.to(early);
    expect(found?.latest_at).toBeLessThan(chain.now() - 20);
  });

  it('that allows five blocks at once is caught up with in few requests, and every payment is found', async () => {
    const { front, observer, to } = open(bsc);
    await observer.read();
    front.add(rangeCap(5, 'block range is limited to 5 blocks'));
    const paid: bigint[] = [];
    for (let stretch = 1n; stretch <= 9n; stretch++) {
      await chain.payToken(TOKEN, to, stretch);
      paid.push(stretch);
      await chain.grow(100);
    }
    front.requests.length = 0;
    await observer.read();
    expect(observer.height()).toBe(await chain.height());
    expect(observer.amounts(to)).toEqual(paid);
    // 180 ranges.
    expect(front.requests.length).toBeLessThan(40);
    chain.wait(61);
    front.requests.length = 0;
    await observer.read();
    expect(observer.read_through).not.toBeNull();
    expect(front.requests.length).toBeLessThan(60);
  });

  it('whose blocks are ahead of our clock proves nothing beyond it', async () => {
    let behind = 0;
    const now = () => chain.now() - behind;
    const { observer } = open(bsc, chain.ask as never, now);
    await observer.read();
    await chain.mine(1, 3_600);
    behind = 3_600;
    chain.wait(5);
    await observer.read();
    chain.wait(61);
    await observer.read();
    expect(observer.read_through).not.toBeNull();
    expect(observer.read_through as number).toBeLessThanOrEqual(now());
  });
});
