// Faults that the EVM reader once had: each test is named by the fault.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import { ProviderError, type Rpc, type RpcCall } from '../../src/chains/family.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { changing, createFront, type Fault, filterOf, omitting, rangeCap, refused } from './evm-front.ts';
import { createEvmObserver, type EvmObserver, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const OTHER = '0x3333333333333333333333333333333333333333';
const POL = '0x0000000000000000000000000000000000001010';
const LOG_TRANSFER = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';
const { base, bsc, polygon, arbitrum, ethereum } = networks;
const word = (value: string | number): string =>
  `0x${(typeof value === 'string' ? value.replace(/^0x/, '') : value.toString(16)).padStart(64, '0')}`;
const hex = (height: number): string => `0x${height.toString(16)}`;

type Row = Record<string, unknown>;
interface Log {
  address: string;
  topics: string[];
  blockNumber: string;
  transactionHash: string;
}

describe.runIf(hasAnvil)('an EVM review', () => {
  let chain: EvmChain;
  beforeEach(async () => {
    const tokens = [{ address: TOKEN }, { address: OTHER }, { address: POL }];
    chain = await startAnvil({ chain_id: base.chain_ids.testnet, block_seconds: 2, tokens, history: 50 });
  });
  afterEach(() => chain?.stop());

  const tokenOf = (network: EvmNetwork) => gatewayOf(network, { chain: 'a-usdc', token_contract: TOKEN });

  async function watching(
    network: EvmNetwork,
    gateways = [tokenOf(network)],
    now = () => chain.now(),
    other?: Rpc,
  ) {
    const front = createFront(chain.ask);
    const observer = createEvmObserver({ network, gateways, rpc: front.rpc, now, ...(other && { other }) });
    const to = observer.watch();
    await observer.read();
    return { front, observer, to };
  }
  async function pay(to: string, amount: bigint, from = chain.payer): Promise<string> {
    const txid = await chain.payToken(TOKEN, to, amount, from);
    await chain.mine();
    return txid;
  }
  async function settle(observer: EvmObserver, readings = 6): Promise<void> {
    for (let reading = 0; reading < readings; reading++) {
      await chain.mine(1, 40);
      await observer.tryRead();
    }
  }

  it.each([base, bsc])(
    'MISSED: one wrong answer to decimals() takes a token out of the filter while the cursor and the proof pass its payments ($name)',
    async (network) => {
      const gateways = [tokenOf(network), gatewayOf(network, { chain: 'b-usdt', token_contract: OTHER })];
      const { front, observer, to } = await watching(network, gateways);
      // A restart, and the first answer is wrong once: of another chain's node behind the same host, or a lie.
      observer.restart();
      let lies = 2;
      front.add(changing('eth_call', (answer: string) => (lies-- > 0 ? word(18) : answer)));
      await observer.read();
      await pay(to, 5n);
      const at = chain.now();
      await settle(observer);
      // The operator restarts, and everyone is honest.
      observer.restart();
      await settle(observer);
      expect(observer.read_through ?? 0).toBeGreaterThan(at);
      expect(observer.amounts(to)).toEqual([5n]);
    },
  );

  it('MISSED: a payment that the preferred provider never lists is never asked of the other one, and is proved not to exist', async () => {
    const honest = createFront(chain.ask);
    const { front: preferred, observer, to } = await watching(bsc, undefined, undefined, honest.rpc);
    const txid = await pay(to, 6n);
    const at = chain.now();
    // Its index lacks one transaction, for ever.
    preferred.add(omitting((log) => log.transactionHash === txid));
    for (let reading = 0; reading < 40; reading++) {
      await chain.mine(5, 20);
      await observer.read();
    }
    expect({ proved: (observer.read_through ?? 0) > at, amounts: observer.amounts(to) }).toEqual({
      proved: true,
      amounts: [6n],
    });
  });

  it('CREDITED WRONGLY: the second reading stores payments of a branch that is not the one read, and they become final', async () => {
    const { front, observer, to } = await watching(bsc);
    front.add(rangeCap(5, 'exceed maximum block range: 5'));
    await chain.grow(10);
    await observer.read();
    chain.wait(61);
    await observer.read();
    // Branch X pays, and loses.
    const fork = await chain.height();
    const txid = await chain.payToken(TOKEN, to, 7n, chain.freshPayer());
    await chain.mine(11);
    const old = new Map<string, unknown>();
    for (let height = fork + 1; height <= fork + 11; height++)
      old.set(hex(height), await chain.ask('eth_getBlockByNumber', hex(height), false));
    const range = { fromBlock: hex(fork + 1), toBlock: hex(fork + 11), address: [TOKEN] };
    const logs = await chain.ask<Log[]>('eth_getLogs', range);
    const receipt = await chain.ask('eth_getTransactionReceipt', txid);
    const transaction = await chain.ask('eth_getTransactionByHash', txid);
    await chain.ask('anvil_reorg', 11, []);
    await observer.read();
    expect(observer.height()).toBe(fork + 11);
    expect(observer.amounts(to)).toEqual([]);
    // The reader turns to a node that is still on X, as high as the other one.
    const onX: Fault = async (call, next) => {
      const [first] = call.params as [string];
      if (call.method === 'eth_getBlockByNumber')
        return old.get(first) ?? (first === 'latest' ? old.get(hex(fork + 11)) : next(call));
      if (call.method === 'eth_getTransactionReceipt') return receipt;
      if (call.method === 'eth_getTransactionByHash') return transaction;
      if (call.method !== 'eth_getLogs') return next(call);
      const { fromBlock, toBlock } = filterOf(call);
      return logs.filter(
        ({ blockNumber }) =>
          Number(blockNumber) >= Number(fromBlock) && Number(blockNumber) <= Number(toBlock),
      );
    };
    const back = front.add(onX);
    front.add(rangeCap(5, 'exceed maximum block range: 5'));
    chain.wait(70);
    await observer.tryRead();
    back();
    // Everyone is on the branch that won, for a long time.
    await chain.grow(40);
    await settle(observer);
    expect(await chain.ask('eth_getTransactionReceipt', txid)).toBeNull();
    expect(observer.to(to).filter(({ height, final }) => final || height !== null)).toEqual([]);
  });

  it('NOT CREDITED: what was left out at first and then reorganised is stored as made before its address was watched', async () => {
    const { front, observer, to } = await watching(base);
    const since = chain.now();
    await chain.mine();
    const remove = front.add(omitting(() => true));
    const txid = await pay(to, 8n, chain.freshPayer());
    await observer.read();
    remove();
    const height = await chain.height();
    const block = await chain.ask<Row>('eth_getBlockByNumber', hex(height), false);
    const logs = await chain.ask<Log[]>('eth_getLogs', { blockHash: block.hash, address: [TOKEN] });
    await chain.reorg(1, [[txid, 0]]);
    // A node keeps blocks that left the chain; anvil does not.
    front.add(async (call, next) => {
      if (call.method === 'eth_getBlockByHash' && (call.params as string[])[0] === block.hash) return block;
      if (call.method === 'eth_getLogs' && filterOf(call).blockHash === block.hash) return logs;
      return next(call);
    });
    await observer.read();
    expect(observer.amounts(to)).toEqual([8n]);
    expect(observer.to(to)[0]?.latest_at).toBeGreaterThanOrEqual(since);
  });

  it('HELD: who has the chain read often enough keeps everything from being proved', async () => {
    // Two readings a second, as `/check` in a loop has them; a block in each.
    const start = chain.now();
    let half_seconds = 0;
    const { front, observer, to } = await watching(
      arbitrum,
      [tokenOf(arbitrum)],
      () => start + Math.floor(half_seconds / 2),
    );
    const heal = front.add(omitting(() => true));
    await pay(to, 9n);
    await observer.read();
    heal();
    for (; half_seconds < 400; half_seconds++) {
      await chain.mine(1, 1);
      await observer.read();
    }
    expect({
      seconds: half_seconds / 2,
      proved: observer.read_through !== null,
      amounts: observer.amounts(to),
    }).toEqual({
      seconds: 200,
      proved: true,
      amounts: [9n],
    });
  }, 120_000);

  it('STOPPED: one log whose transaction has no receipt stops the reading of the whole network (Bor: state sync of a bridge)', async () => {
    const coin = gatewayOf(polygon, { chain: 'polygon', decimals: 18 });
    const { front, observer, to } = await watching(polygon, [coin, tokenOf(polygon)]);
    const other = observer.watch();
    const topics = [LOG_TRANSFER, word(POL), word(POL), word(to)];
    const data = `0x${[1, 2, 3, 4, 5].map((each) => word(each).slice(2)).join('')}`;
    const txid = await chain.write(POL, topics, data);
    await chain.mine();
    const isIt = ({ method, params }: RpcCall) =>
      method !== 'eth_getLogs' && (params as unknown[])[0] === txid;
    front.add(async (call, next) => (isIt(call) ? null : next(call)));
    await pay(other, 10n);
    await settle(observer);
    expect(observer.amounts(other)).toEqual([10n]);
  });

  it.each([100, 0])(
    'LISTED WRONGLY: a host that lags has no receipt of a payment, which is listed as one that has none, with batches of %i',
    async (batch_calls) => {
      const { front, observer, to } = await watching(base);
      front.batch_calls = batch_calls;
      const txid = await pay(to, 10n);
      const top = await chain.height();
      const isReceipt = ({ method, params }: RpcCall) =>
        method === 'eth_getTransactionReceipt' && (params as unknown[])[0] === txid;
      // Of hosts behind one address, the one that answers a batch with this receipt has neither it nor its block.
      const host = { lags: false, asked: 0 };
      front.onBatch = (calls) => {
        host.lags = calls.some(isReceipt);
      };
      const heal = front.add(async (call, next) => {
        const [at] = call.params as [string];
        if (batch_calls === 0) return isReceipt(call) && host.asked++ % 4 !== 3 ? null : next(call);
        const lacks = call.method === 'eth_getBlockByNumber' && Number(at) >= top;
        return host.lags && (isReceipt(call) || lacks) ? null : next(call);
      });
      await observer.tryRead();
      // Where each call is a request of its own, blocks are read a second time later.
      await settle(observer, batch_calls === 0 ? 10 : 4);
      heal();
      await settle(observer, batch_calls === 0 ? 8 : 2);
      const { transfers } = observer;
      expect(
        [...transfers.values()].map(({ amount_atomic, ambiguous }) => [amount_atomic, ambiguous]),
      ).toEqual([[10n, undefined]]);
    },
  );

  it('NEVER CATCHES UP: a range that takes the provider too long is asked for again, as long as before', async () => {
    const { front, observer, to } = await watching(bsc);
    await pay(to, 11n);
    await chain.grow(300);
    front.add(async (call, next) => {
      if (call.method !== 'eth_getLogs') return next(call);
      const { fromBlock, toBlock } = filterOf(call);
      if (Number(toBlock) - Number(fromBlock) >= 50)
        throw new ProviderError('unreachable', 'bsc at a.test: no answer within 20 seconds');
      return next(call);
    });
    for (let reading = 0; reading < 10; reading++) await observer.tryRead();
    expect(observer.amounts(to)).toEqual([11n]);
  });

  it('SLOW FOR EVER: a refusal for frequency that names a number is taken for the longest range', async () => {
    const { front, observer, to } = await watching(bsc);
    await pay(to, 12n);
    for (let grown = 0; grown < 2000; grown += 100) {
      await chain.grow(99);
      await chain.mine(1, 20);
    }
    let refusals = 1;
    front.add(async (call, next) => {
      if (call.method === 'eth_getLogs' && refusals-- > 0)
        throw refused('you are limited to 1 request per second');
      return next(call);
    });
    await observer.tryRead();
    for (let reading = 0; reading < 5; reading++) await observer.tryRead();
    expect(observer.height()).toBe(await chain.height());
  });

  it('DEAR FOR EVER: a range that is proposed for one crowded block is taken for the longest one', async () => {
    const { front, observer } = await watching(bsc);
    await chain.grow(12, 6);
    let refusals = 1;
    front.add(async (call, next) => {
      if (call.method === 'eth_getLogs' && refusals-- > 0)
        throw refused(
          'query returned more than 10000 results. Try with this block range [0x8, 0x8].',
          -32_005,
        );
      return next(call);
    });
    for (let reading = 0; reading < 36; reading++) {
      await observer.read();
      await chain.mine(2, 0.45);
    }
    front.requests.length = 0;
    await observer.read();
    const filters = front.requests.flat().filter(({ method }) => method === 'eth_getLogs');
    expect(
      filters
        .map((call) => filterOf(call))
        .map(({ fromBlock, toBlock }) => Number(toBlock) - Number(fromBlock)),
    ).toEqual([1]);
  });

  it('HELD: a transaction that is mined again and fails, or pays no more, is awaited for ever', async () => {
    const { front, observer, to } = await watching(ethereum, [tokenOf(ethereum)]);
    const from = chain.freshPayer();
    const txid = await pay(to, 13n, from);
    await observer.read();
    const nonce = Number(observer.to(to)[0]?.inputs[0]?.split(':')[1]);
    // On the other branch the same transaction is mined and fails: the payer has nothing left there.
    await chain.reorg(1, [[{ from, to: chain.payer, value: 1n, nonce }, 0]]);
    const head = await chain.height();
    const { hash } = await chain.ask<{ hash: string }>('eth_getBlockByNumber', hex(head - 1), false);
    front.add(async (call, next) =>
      call.method === 'eth_getTransactionReceipt' && (call.params as string[])[0] === txid
        ? { transactionHash: txid, blockHash: hash, blockNumber: hex(head - 1), status: '0x0', logs: [] }
        : next(call),
    );
    for (let reading = 0; reading < 6; reading++) {
      await chain.grow(40);
      chain.wait(61);
      await observer.read();
    }
    expect(observer.gone.size).toBe(1);
  });

  it.each([bsc, base])(
    'STOPPED: a provider that makes up blocks far ahead, once, keeps the honest ones from being read ($name)',
    async (network) => {
      const honest = createFront(chain.ask);
      const { front: liar, observer, to } = await watching(network);
      const real = await chain.height();
      const made_up = real + 5000;
      const hashOf = (height: number) => word(`ab${height.toString(16).padStart(10, '0')}`);
      const tip = await chain.ask<Row & { hash: string }>('eth_getBlockByNumber', 'latest', false);
      const header = (height: number) => ({
        number: hex(height),
        hash: hashOf(height),
        parentHash: height === real + 1 ? tip.hash : hashOf(height - 1),
        timestamp: hex(chain.now()),
      });
      liar.add(async (call, next) => {
        const [first] = call.params as [string];
        if (call.method === 'eth_getBlockByNumber' && first === 'latest') return header(made_up);
        if (call.method === 'eth_getBlockByNumber' && Number(first) > real) return header(Number(first));
        return call.method === 'eth_getLogs' ? [] : next(call);
      });
      await observer.tryRead();
      // It answers no more; the honest one is asked for half an hour.
      await pay(to, 14n);
      for (let reading = 0; reading < 30; reading++) {
        await chain.grow(10, 60);
        await observer.tryRead({ rpc: honest.rpc });
      }
      expect(observer.amounts(to)).toEqual([14n]);
    },
  );

  it('DELAYED: a preferred provider that is an hour behind, and reads on, is never given up for one that is not', async () => {
    const front = createFront(chain.ask);
    const options = { network: bsc, gateways: [tokenOf(bsc)], rpc: front.rpc, side: 'mainnet' as const };
    const observer = createEvmObserver({ ...options, now: () => chain.now() });
    const to = observer.watch();
    await observer.read();
    await chain.grow(100, 3600);
    front.add(async (call, next) => {
      const [first, ...others] = call.params as [string, boolean];
      const newest = (await chain.height()) - 100;
      return call.method === 'eth_getBlockByNumber' && first === 'latest'
        ? next({ ...call, params: [hex(newest), ...others] })
        : next(call);
    });
    await pay(to, 15n);
    for (let reading = 0; reading < 40; reading++) {
      await chain.mine(1, 36);
      if (!(await observer.tryRead())) await observer.tryRead({ rpc: createFront(chain.ask).rpc });
    }
    expect(observer.amounts(to)).toEqual([15n]);
  });

  it('MISSED: a receipt that is unknown for a minute and a used number make a mined payment gone', async () => {
    const { front, observer, to } = await watching(
      ethereum,
      undefined,
      undefined,
      createFront(chain.ask).rpc,
    );
    const from = chain.freshPayer();
    const txid = await pay(to, 17n, from);
    await observer.read();
    // Mined again at once; the host has neither its logs nor its receipt, but the sender's number.
    await chain.reorg(1, [[txid, 0]]);
    front.add(omitting((log) => log.transactionHash === txid));
    front.add(async (call, next) =>
      call.method === 'eth_getTransactionReceipt' && (call.params as string[])[0] === txid
        ? null
        : next(call),
    );
    for (let reading = 0; reading < 4; reading++) {
      await chain.grow(20);
      chain.wait(40);
      await observer.tryRead();
    }
    expect(await chain.ask('eth_getTransactionReceipt', txid)).toMatchObject({ status: '0x1' });
    expect([...observer.gone.values()]).toEqual([]);
  });

  it('MISSED: a payment that is mined again while its gateway is off is taken for one that pays no more', async () => {
    const { observer, to } = await watching(ethereum, [tokenOf(ethereum)]);
    const txid = await pay(to, 18n, chain.freshPayer());
    await observer.read();
    await chain.reorg(1, [[txid, 0]]);
    const gateways = [gatewayOf(ethereum, { chain: 'b-usdt', token_contract: OTHER })];
    for (let reading = 0; reading < 4; reading++) {
      await chain.grow(20);
      chain.wait(40);
      await observer.read({ gateways });
    }
    expect(observer.to(to)).toMatchObject([{ txid, height: null }]);
    expect([...observer.gone.values()]).toEqual([]);
  });
});
