// Coins as an enemy and a faulty provider would have them read: what must neither be credited, nor missed, nor cost without bound.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import type { Rpc, RpcCall } from '../../src/chains/family.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { create, credit } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { sourceOf } from '../helpers/reading.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type EvmFront, type Fault, refused } from './evm-front.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const WALLET = '0x4444444444444444444444444444444444444444';
const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const { base, ethereum } = networks;

const isWhole = ({ method, params }: RpcCall) =>
  method === 'eth_getBlockByNumber' && (params as unknown[])[1] === true;
const noWhole: Fault = async (call, next) => {
  if (isWhole(call)) throw refused('whole blocks are not served here');
  return next(call);
};

describe.runIf(hasAnvil)('coins', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    const tokens = [WALLET, TOKEN].map((address) => ({ address }));
    chain = await startAnvil({ chain_id: 8453, block_seconds: 2, tokens, history: 20 });
  });
  afterAll(() => chain?.stop());

  async function watching(network: EvmNetwork = base, others = 0) {
    const [front, second] = [createFront(chain.ask), createFront(chain.ask)];
    const coin = gatewayOf(network, { chain: 'a-coin', decimals: 18 });
    const token = gatewayOf(network, { chain: 'a-token', token_contract: TOKEN });
    const options = { network, gateways: [coin, token], rpc: front.rpc, other: second.rpc };
    const observer = createEvmObserver({ ...options, side: 'mainnet', now: () => chain.now() });
    const to = observer.watch();
    const more = Array.from({ length: others }, () => observer.watch());
    await observer.read();
    front.requests.length = 0;
    return { front, second, observer, to, more };
  }

  /** The chain as it is now, up to its newest block, whatever becomes of it. */
  async function frozen(from: number, txids: readonly string[]): Promise<EvmFront> {
    const top = await chain.height();
    const known = new Map<string, unknown>();
    const note = async (method: string, ...params: unknown[]) =>
      void known.set(JSON.stringify([method, ...params]), await chain.ask(method, ...params));
    for (let height = from; height <= top; height++) {
      const at = `0x${height.toString(16)}`;
      await note('eth_getBlockByNumber', at, true);
      await note('eth_getBlockByNumber', at, false);
      await note('eth_getBlockTransactionCountByNumber', at);
    }
    await note('eth_getBlockByNumber', 'latest', false);
    for (const txid of txids) {
      await note('eth_getTransactionReceipt', txid);
      await note('eth_getTransactionByHash', txid);
    }
    return createFront(async (method, ...params) => {
      const key = JSON.stringify([method, ...params]);
      if (known.has(key)) return known.get(key);
      if (method === 'eth_getLogs') return [];
      return chain.ask(method, ...params);
    });
  }

  it('of a branch as long as the one that logs were read of are credited to no one', async () => {
    const { front, second, observer, to } = await watching(ethereum);
    const from = await chain.height();
    await chain.mine(5);
    const txid = await chain.payCoin(to, 77n, chain.freshPayer());
    await chain.mine(20);
    const other = await frozen(from - 5, [txid]);
    await chain.ask('anvil_reorg', 22, []);
    const heal = [front.add(noWhole), second.add(noWhole)];
    await observer.read();
    for (const each of heal) each();
    expect(observer.height()).toBe(from + 25);
    await observer.tryRead({ rpc: other.rpc, askOther: (work) => work(other.rpc) });
    await chain.mine(3);
    await observer.tryRead();
    await chain.mine(3);
    await observer.tryRead();
    expect(observer.amounts(to)).toEqual([]);
    expect(observer.unreadable).toEqual([]);
  });

  it('that hosts behind one address showed of another branch lose their place with it', async () => {
    const { front, second, observer, to } = await watching(ethereum);
    const from = await chain.height();
    await chain.mine(5);
    const txid = await chain.payCoin(to, 78n, chain.freshPayer());
    await chain.mine(20);
    const other = await frozen(from - 5, [txid]);
    await chain.ask('anvil_reorg', 22, []);
    const heal = [front.add(noWhole), second.add(noWhole)];
    await observer.read();
    for (const each of heal) each();
    const top = `0x${(from + 25).toString(16)}`;
    other.add(async (call, next) =>
      JSON.stringify(call.params) === JSON.stringify([top, false])
        ? chain.ask(call.method, top, false)
        : next(call),
    );
    await observer.tryRead({ rpc: other.rpc, askOther: (work) => work(other.rpc) });
    expect(observer.to(to)).toMatchObject([{ amount_atomic: 78n }]);
    await chain.mine(3);
    await observer.tryRead();
    await observer.tryRead();
    expect(observer.to(to)).toMatchObject([{ amount_atomic: 78n, height: null }]);
    expect(observer.unreadable).toEqual([]);
  });

  it('that one transaction of a stranger pays to many addresses at once cost no request for each', async () => {
    const { front, observer, more } = await watching(base, 60);
    for (let block = 0; block < 3; block++) {
      for (const to of more.slice(block * 20, block * 20 + 20)) await chain.payCoinByContract(WALLET, to, 1n);
      await chain.mine(3);
    }
    await observer.read();
    expect(more.map((to) => observer.amounts(to))).toEqual(more.map(() => [1n]));
    expect(front.requests.length).toBeLessThan(60);
  });

  it('are called readable or not only by the daemon whose reading stands', async () => {
    const { observer } = await watching();
    await chain.mine();
    await observer.read();
    // A page without either is stored whatever another daemon has read since.
    const stating = observer.pages.filter(({ unreadable }) => unreadable !== undefined);
    expect(stating.filter(({ tip, cursor }) => tip === undefined && cursor === undefined)).toEqual([]);
  });

  it('that no provider can show back off none that serves tokens', async () => {
    const { front, second, observer, to } = await watching();
    for (const each of [front, second]) each.add(noWhole);
    await chain.payCoin(to, 1n);
    await chain.mine();
    const failed: unknown[] = [];
    const askOther = async <T>(work: (rpc: Rpc) => Promise<T>): Promise<T> => {
      try {
        return await work(second.rpc);
      } catch (error) {
        failed.push(error);
        throw error;
      }
    };
    await observer.read({ askOther });
    expect(failed).toEqual([]);
  });

  it('of a contract stay listed by their block where a fork takes the block that showed them', async () => {
    const { front, second, observer, to } = await watching(ethereum);
    await chain.mine();
    await observer.read();
    const height = (await chain.height()) + 1;
    await chain.payCoinByContract(WALLET, to, 5n);
    const heal = [front.add(noWhole), second.add(noWhole)];
    await chain.mine(25);
    await observer.read();
    for (const each of heal) each();
    await observer.read();
    await chain.reorg(24);
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ amount_atomic: 5n, height }]);
  });

  it('that came and went while nothing was read are found', async () => {
    const { observer, to } = await watching();
    await chain.mine();
    await observer.read();
    await chain.payCoin(to, 10n ** 15n);
    await chain.grow(100);
    await chain.ask('anvil_impersonateAccount', to);
    await chain.ask('eth_sendTransaction', {
      from: to,
      to: freshAddress(),
      value: `0x${(10n ** 15n).toString(16)}`,
      gas: '0x5208',
      gasPrice: '0x0',
    });
    await chain.grow(100);
    await observer.read();
    await observer.read();
    expect(await chain.ask('eth_getBalance', to, 'latest')).toBe('0x0');
    expect(observer.amounts(to)).toEqual([10n ** 15n]);
  });
});

describe.runIf(hasAnvil)('a coin that could not be read when the last one who waited was gone', () => {
  let test: TestApp;
  let chain: EvmChain;
  afterAll(async () => {
    await test?.stop();
    await chain?.stop();
  });

  it('is asked about until it can be read, and sold again', async () => {
    const { base } = networks;
    const chain_id = base.chain_ids.testnet;
    chain = await startAnvil({ chain_id, block_seconds: 2, tokens: [], history: 100 });
    const front = createFront(chain.ask);
    const source = sourceOf(front.rpc);
    test = await startApp({
      settings: { 'gateways.base.enabled': 'true', 'rates.usd.ETH': '2000' },
      source: (id) => (id === 'base' ? source : undefined),
    });
    test.clock.set(chain.now());
    const merchant = await test.merchant();
    await credit(test, merchant.id, 1_000_000_000_000n);
    await setWallet(test.app, merchant.id, 'base', freshAddress());
    const read = async (blocks: number, seconds = blocks * 2) => {
      await chain.grow(blocks, seconds);
      test.clock.set(chain.now());
      await test.app.observer.poll('base');
      await test.app.observer.tick();
    };
    const { address_key } = await create(test, merchant, 'base');
    await read(3);
    const heal = front.add(noWhole);
    await chain.payCoin(address_key, 1n);
    for (let each = 0; each < 4; each++) await read(31);
    await expect(create(test, merchant, 'base')).rejects.toThrow();
    // The invoice is called off, and its watch ends.
    await test.app.db.query.updateTable('watches').set({ watch_until: chain.now() }).execute();
    heal();
    for (let each = 0; each < 5; each++) await read(31);
    await expect(create(test, merchant, 'base')).resolves.toMatchObject({ status: 'created' });
  });
});
