// Providers of EVM networks that lag, leave out, limit and garble: it costs time, never a payment, and proves nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import { ProviderError, type RpcCall } from '../../src/chains/family.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import {
  changing,
  createFront,
  type EvmFront,
  type Fault,
  filterOf,
  lagging,
  omitting,
  rangeCap,
  refused,
  topicCap,
} from './evm-front.ts';
import { createEvmObserver, type EvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const OTHER = '0x3333333333333333333333333333333333333333';
/** With logs by the hash of a block, and by ranges. */
const { base, bsc } = networks;
const blocksOf = (call: RpcCall): number => {
  const { fromBlock, toBlock } = filterOf(call);
  return Number(toBlock) - Number(fromBlock) + 1;
};
const logCalls = (front: EvmFront): RpcCall[] =>
  front.requests.flat().filter(({ method }) => method === 'eth_getLogs');

/** Each reading asks anvil for hundreds of transactions that there are not. */
const MADE_UP_TIMEOUT_MS = 240_000;

type Row = Record<string, unknown>;

describe.runIf(hasAnvil)('an EVM provider', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    chain = await startAnvil({
      chain_id: base.chain_ids.testnet,
      block_seconds: 2,
      tokens: [{ address: TOKEN }, { address: OTHER, decimals: 18 }],
      history: 50,
    });
  });
  afterAll(() => chain?.stop());

  const tokenOf = (network: EvmNetwork) => gatewayOf(network, { chain: 'a-usdc', token_contract: TOKEN });

  async function watching(network: EvmNetwork, gateways = [tokenOf(network)]) {
    const front = createFront(chain.ask);
    const observer = createEvmObserver({ network, gateways, rpc: front.rpc, now: () => chain.now() });
    const to = observer.watch();
    await observer.read();
    front.requests.length = 0;
    return { front, observer, to };
  }

  async function pay(to: string, amount: bigint): Promise<string> {
    const txid = await chain.payToken(TOKEN, to, amount);
    await chain.mine();
    return txid;
  }

  /** Minutes pass, with readings in between. */
  async function settle(observer: EvmObserver, readings = 4): Promise<void> {
    for (let reading = 0; reading < readings; reading++) {
      await chain.mine(1, 40);
      await observer.tryRead();
    }
  }

  describe('that lags', () => {
    it.each([base, bsc])(
      'and lists nothing at first: nothing is proved before a second reading ($name)',
      async (network) => {
        const { front, observer, to } = await watching(network);
        await settle(observer);
        const heal = front.add(omitting(() => true));
        await pay(to, 5n);
        const at = chain.now();
        await observer.read();
        expect(observer.amounts(to)).toEqual([]);
        for (let reading = 0; reading < 4; reading++) {
          await chain.mine(1, 10);
          await observer.read();
          expect(observer.read_through ?? 0).toBeLessThan(at);
        }
        heal();
        await chain.mine(1, 30);
        await observer.read();
        expect(observer.amounts(to)).toEqual([5n]);
        await settle(observer);
        expect(observer.read_through ?? 0).toBeGreaterThan(at);
        expect(observer.amounts(to)).toEqual([5n]);
      },
    );

    it.each([base, bsc])('behind its own tip is read as far as it has blocks ($name)', async (network) => {
      const { front, observer, to } = await watching(network);
      await pay(to, 1n);
      const height = await chain.height();
      await chain.mine(2);
      await pay(to, 2n);
      const isTip = ({ params }: RpcCall) => (params as unknown[])[0] === 'latest';
      const late = lagging(() => height);
      front.add((call, next) => (isTip(call) ? next(call) : late(call, next)));
      await observer.read().catch(() => {});
      expect([observer.height(), observer.amounts(to)]).toEqual([height, [1n]]);
      expect(await observer.tryRead()).toBe(false);
      expect(observer.height()).toBe(height);
    });

    it('refuses logs of a block that it lacks: the block is read later', async () => {
      const { front, observer, to } = await watching(base);
      await pay(to, 1n);
      const heal = front.add(async (call, next) => {
        if (call.method === 'eth_getLogs') throw refused('unknown block');
        return next(call);
      });
      const before = observer.height();
      expect(await observer.tryRead()).toBe(false);
      expect(observer.height()).toBe(before);
      heal();
      await observer.read();
      expect(observer.amounts(to)).toEqual([1n]);
    });

    it('is not read where its tip is below what was read', async () => {
      const { front, observer } = await watching(bsc);
      const height = await chain.height();
      await chain.mine(3);
      await observer.read();
      const heal = front.add(lagging(() => height));
      expect(await observer.tryRead()).toBe(false);
      expect(observer.errors[0]?.message).toMatch(/is behind/);
      expect(observer.height()).toBe(height + 3);
      heal();
      expect(await observer.tryRead()).toBe(true);
    });

    it('cannot give a transaction that it lists: it counts once it is given', async () => {
      const { front, observer, to } = await watching(bsc);
      await pay(to, 1n);
      const heal = front.add(changing('eth_getTransactionReceipt', () => null));
      await observer.read();
      expect(observer.amounts(to)).toEqual([]);
      heal();
      for (let reading = 0; reading < 3; reading++) {
        await chain.mine(1, 40);
        await observer.read();
      }
      expect(observer.to(to)).toMatchObject([{ amount_atomic: 1n }]);
      expect(observer.to(to)[0]?.ambiguous).toBeUndefined();
    });

    it('shows no new block on a main network for minutes: another one is asked', async () => {
      const front = createFront(chain.ask);
      const options = { network: bsc, gateways: [tokenOf(bsc)], rpc: front.rpc, side: 'mainnet' as const };
      const observer = createEvmObserver({ ...options, now: () => chain.now() });
      observer.watch();
      await observer.read();
      chain.wait(100);
      await observer.read();
      chain.wait(60);
      expect(await observer.tryRead()).toBe(false);
      expect(observer.errors[0]?.message).toMatch(/has shown no block after \d+ for 160 seconds/);
      await chain.mine();
      expect(await observer.tryRead()).toBe(true);
    });
  });

  describe.each([2, 3, 100])('that takes %i questions at once', (batch_calls) => {
    const isWide = (call: RpcCall) => {
      const { fromBlock, toBlock } = call.method === 'eth_getLogs' ? filterOf(call) : {};
      return Number(toBlock) - Number(fromBlock) >= 20;
    };
    it.each([
      ['answers too much', new ProviderError('bad_answer', 'evm at a.test: an answer of over 9 bytes', 413)],
      ['refuses all of them for one', refused('the response is too large')],
    ])('and %s is asked for fewer blocks', async (_, failure) => {
      const { front, observer, to } = await watching(bsc);
      front.batch_calls = batch_calls;
      await settle(observer, 3);
      front.add(async (call, next) => {
        if (isWide(call)) throw failure;
        return next(call);
      });
      front.onBatch = (calls) => {
        if (calls.some(isWide)) throw failure;
      };
      await pay(to, 5n);
      await chain.grow(400, 200);
      for (let reading = 0; reading < 6; reading++) {
        await chain.mine(1, 1);
        await observer.tryRead();
      }
      expect(observer.amounts(to)).toEqual([5n]);
      expect(observer.height()).toBe(await chain.height());
    });
  });

  describe('that is several, of which one is behind', () => {
    /** Whatever comes with a question for logs is answered by the one that is behind. */
    const behindForLogs = (front: EvmFront, height: number): Fault => {
      const late = lagging(() => height);
      return (call, next) =>
        front.requests.at(-1)?.some(({ method }) => method === 'eth_getLogs') ? late(call, next) : next(call);
    };

    it.each([2, 3])('proves nothing that it lacks, with %i questions at once', async (batch_calls) => {
      const { front, observer, to } = await watching(bsc);
      front.batch_calls = batch_calls;
      await settle(observer, 6);
      const heal = front.add(behindForLogs(front, await chain.height()));
      await pay(to, 5n);
      const at = chain.now();
      await settle(observer);
      expect(observer.amounts(to)).toEqual([]);
      expect(observer.read_through ?? 0).toBeLessThan(at);
      heal();
      await settle(observer);
      expect(observer.amounts(to)).toEqual([5n]);
    });

    it('and takes one question at a time is not believed before they have caught up', async () => {
      const { front, observer, to } = await watching(bsc);
      front.batch_calls = 0;
      await settle(observer, 12);
      const heal = front.add(behindForLogs(front, await chain.height()));
      await pay(to, 5n);
      const at = chain.now();
      await settle(observer, 6);
      expect(observer.amounts(to)).toEqual([]);
      expect(observer.read_through ?? 0).toBeLessThan(at);
      heal();
      await settle(observer, 4);
      expect(observer.amounts(to)).toEqual([5n]);
      expect(observer.read_through ?? 0).toBeGreaterThanOrEqual(at);
    });

    it('nor when it is tried again whether it takes two', async () => {
      const { front, observer, to } = await watching(bsc);
      front.batch_calls = 0;
      await settle(observer, 12);
      const heal = front.add(behindForLogs(front, await chain.height()));
      await pay(to, 5n);
      const at = chain.now();
      observer.urgent = [{ address_key: to, chain: 'bsc-usdt' }];
      for (let waited = 6; waited < 280; waited += 6) {
        await chain.grow(8, 6);
        await observer.tryRead();
        expect(observer.read_through ?? 0).toBeLessThan(at);
      }
      expect(observer.amounts(to)).toEqual([]);
      heal();
      await settle(observer, 3);
      expect(observer.amounts(to)).toEqual([5n]);
    });

    it.each([
      ['is garbled', new ProviderError('bad_answer', 'evm at a.test: eth_getLogs: not JSON')],
      ['is refused', refused('internal error')],
    ])('is asked for logs with their blocks while now and then an answer %s', async (_, failure) => {
      const { front, observer, to } = await watching(bsc);
      await settle(observer);
      let count = 0;
      front.onBatch = () => {
        if (++count % 2 === 0) throw failure;
      };
      await settle(observer, 8);
      front.onBatch = () => {};
      front.add(behindForLogs(front, await chain.height()));
      await pay(to, 5n);
      const at = chain.now();
      await settle(observer);
      expect(observer.read_through ?? 0).toBeLessThan(at);
    });

    it('is asked one question at a time only once it has refused two again and again', async () => {
      const { front, observer, to } = await watching(bsc);
      await settle(observer);
      front.onBatch = () => {
        throw refused('internal error');
      };
      await pay(to, 5n);
      await settle(observer);
      expect(observer.amounts(to)).toEqual([5n]);
    });

    it('and answers a part of each request is left alone for a while', async () => {
      const { front, observer } = await watching(bsc);
      front.batch_calls = 2;
      await settle(observer);
      await chain.grow(12);
      front.requests.length = 0;
      front.add(async (call, next) => {
        if (call.method === 'eth_getLogs') throw refused('over rate limit', -32_016);
        return next(call);
      });
      expect(await observer.tryRead()).toBe(false);
      expect(front.requests.length).toBeLessThan(10);
    });
  });

  describe('that lies about its tip', () => {
    it('far ahead of the chain: what exists is read, and the others are read on', async () => {
      const { front, observer, to } = await watching(bsc);
      const isTip = ({ method, params }: RpcCall) =>
        method === 'eth_getBlockByNumber' && (params as unknown[])[0] === 'latest';
      const heal = front.add(async (call, next) => {
        const answer = (await next(call)) as Row;
        return isTip(call) ? { ...answer, number: '0x3b9aca00', hash: `0x${'ab'.repeat(32)}` } : answer;
      });
      await pay(to, 1n);
      const height = await chain.height();
      for (let reading = 0; reading < 3; reading++) await observer.tryRead();
      expect(observer.height()).toBe(height);
      expect(observer.errors.length).toBeGreaterThan(0);
      heal();
      const honest = createFront(chain.ask);
      await pay(to, 2n);
      await observer.read({ rpc: honest.rpc });
      expect(observer.amounts(to)).toEqual([1n, 2n]);
    });

    it.each<[string, Row]>([
      ['hours ahead of our clock', { timestamp: '0x6fffffff' }],
      ['with a number that is none', { number: 17 }],
      ['with a number that is decimal', { number: '1234' }],
      ['with a number beyond all numbers', { number: `0x${'f'.repeat(64)}` }],
      ['with a leading zero', { number: '0x01' }],
      ['without a hash', { hash: null }],
      ['with half a hash', { hash: `0x${'ab'.repeat(16)}` }],
      ['with no parent', { parentHash: undefined }],
    ])('%s: it is refused, and nothing moves', async (_, change) => {
      const { front, observer, to } = await watching(bsc);
      await pay(to, 1n);
      const before = observer.cursor;
      const heal = front.add(changing('eth_getBlockByNumber', (row: Row) => ({ ...row, ...change })));
      expect(await observer.tryRead()).toBe(false);
      expect(observer.errors[0]?.kind).toBe('bad_answer');
      expect(observer.cursor).toEqual(before);
      heal();
      await observer.read();
      expect(observer.amounts(to)).toEqual([1n]);
    });

    it('about a block that was read: after a restart what is held is compared again', async () => {
      const { front, observer, to } = await watching(bsc);
      await pay(to, 1n);
      await observer.read();
      const height = observer.height() as number;
      await chain.mine(2);
      const odd = { hash: `0x${'cd'.repeat(32)}` };
      const heal = front.add(async (call, next) => {
        const answer = (await next(call)) as Row | null;
        return call.method === 'eth_getBlockByNumber' && Number(answer?.number) === height
          ? { ...answer, ...odd }
          : answer;
      });
      await observer.tryRead();
      heal();
      observer.restart();
      await observer.read();
      await settle(observer);
      expect(observer.amounts(to)).toEqual([1n]);
      expect(observer.to(to)[0]?.height).toBe(height);
    });
  });

  describe('that limits what is asked at once', () => {
    /** As they were met with, but for the numbers: whose, its words and code, blocks that it allows, and those asked for then. */
    const texts: [string, string, number, number, number][] = [
      [
        'Alchemy',
        'You can make eth_getLogs requests with up to a 8 block range. Based on your parameters, this block range should work: [0x10, 0x17]',
        -32_600,
        8,
        8,
      ],
      [
        'Alchemy',
        'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0x4]',
        -32_602,
        5,
        5,
      ],
      ['Infura', 'range 52 exceeds limit of 9', -32_602, 9, 9],
      [
        'Infura',
        'query returned more than 10000 results. Try with this block range [0xBDE5F8, 0xBDE5FE].',
        -32_005,
        7,
        7,
      ],
      ['QuickNode', 'eth_getLogs is limited to a 5 range', -32_614, 5, 5],
      ['Ankr', 'block range is too wide', -32_600, 9, 6],
      // Its number is not the one that it allows.
      ['dRPC', 'ranges over 10000 blocks are not supported on free plan', 35, 4, 3],
      ['dRPC', 'Request timeout on the free tier, please upgrade your tier to the paid one', 30, 9, 6],
      ['PublicNode', 'exceed maximum block range: 20', -32_000, 20, 12],
      ['1RPC', 'eth_getLogs is limited to 0 - 10 blocks range', -32_602, 10, 10],
      ['BlockPI', 'eth_getLogs is limited to 11 block range. Please check the parameters', -32_602, 11, 11],
      ['Cloudflare', 'Max range: 7', -32_047, 7, 7],
      ['Chainstack', 'Block range limit exceeded. See more details at a page', -32_000, 3, 3],
      ['Coinbase', 'please limit the query to at most 11 blocks', -32_000, 11, 11],
      ['Base', 'no backend is currently healthy to serve traffic', -32_011, 1, 1],
      ['any', 'query returned more than 10000 results', -32_000, 4, 3],
      ['any', 'eth_getLogs is limited to a 1,000 range', -32_000, 6, 6],
    ];
    it.each(texts)('as %s does with "%s" is asked for less, and still for less later', async (...limit) => {
      const [, text, code, allowed, then] = limit;
      const { front, observer, to } = await watching(bsc);
      front.add(rangeCap(allowed, text, code));
      await pay(to, 1n);
      await chain.grow(50, 22);
      await pay(to, 2n);
      await observer.read();
      expect(observer.amounts(to)).toEqual([1n, 2n]);
      expect(observer.height()).toBe(await chain.height());
      front.requests.length = 0;
      await chain.grow(12, 6);
      await observer.read();
      const asked = logCalls(front).map(blocksOf);
      // Where none was refused for long, more is tried again, once.
      expect(asked.filter((blocks) => blocks > allowed).length).toBeLessThanOrEqual(2);
      expect(asked.filter((blocks) => blocks <= allowed)).toContain(then);
    });

    it('takes a refusal for frequency as that, and does not ask for less', async () => {
      const { front, observer } = await watching(bsc);
      await chain.grow(12);
      const heal = front.add(async (call, next) => {
        if (call.method === 'eth_getLogs') throw refused('limit exceeded', -32_005);
        return next(call);
      });
      expect(await observer.tryRead()).toBe(false);
      expect(observer.errors[0]?.kind).toBe('rate_limited');
      heal();
      front.requests.length = 0;
      await observer.read();
      expect(logCalls(front).map(blocksOf)).toEqual([12]);
    });

    it.each([base, bsc])(
      'to 1,000 values of a topic is asked in pieces, for 2,001 addresses ($name)',
      async (network) => {
        const { front, observer, to } = await watching(network);
        front.add(topicCap());
        for (let each = 0; each < 2000; each++) observer.watch();
        const last = observer.watch();
        await pay(to, 1n);
        await pay(last, 2n);
        await observer.read();
        expect([observer.amounts(to), observer.amounts(last)]).toEqual([[1n], [2n]]);
        for (const request of front.requests)
          expect(JSON.stringify(request).length).toBeLessThanOrEqual(network.batch.bytes + 10_000);
      },
    );

    it.each([
      [0, base],
      [0, bsc],
      [2, base],
      [2, bsc],
      [7, base],
      [7, bsc],
    ])('to batches of %d calls is read all the same', async (calls, network) => {
      const { front, observer, to } = await watching(network);
      front.batch_calls = calls;
      await pay(to, 1n);
      await chain.mine(2);
      await pay(to, 2n);
      for (let each = 0; each < 5; each++) await chain.payToken(TOKEN, to, 3n + BigInt(each));
      await chain.mine();
      await observer.read();
      expect(observer.amounts(to)).toHaveLength(7);
      front.requests.length = 0;
      await pay(to, 9n);
      await observer.read();
      // Now and then more is tried again.
      expect(front.requests.filter(({ length }) => length > Math.max(1, calls)).length).toBeLessThanOrEqual(
        1,
      );
      // Where each call is a request of its own, what a host lacks is waited for longer.
      await settle(observer, calls === 0 ? 9 : 4);
      expect(observer.read_through).toBeGreaterThan(0);
    });

    it('and takes batches again later is asked in batches again', async () => {
      const { front, observer, to } = await watching(bsc);
      front.batch_calls = 0;
      await pay(to, 1n);
      await observer.read();
      front.batch_calls = 100;
      for (let reading = 0; reading < 12; reading++) {
        await chain.mine();
        await observer.read();
      }
      expect(Math.max(...front.requests.slice(-6).map(({ length }) => length))).toBeGreaterThan(1);
    });

    it('of so many payments at once continues where it stopped, and asks for none of them twice', async () => {
      const { front, observer, to } = await watching(bsc);
      const count = 130;
      for (let each = 0; each < count; each++) await chain.payToken(TOKEN, to, BigInt(each + 1));
      await chain.mine();
      let left = 90;
      front.add(async (call, next) => {
        if (call.method === 'eth_getTransactionReceipt' && --left < 0)
          throw refused('too many requests', -32_005);
        return next(call);
      });
      const receipts = () =>
        front.requests.flat().filter(({ method }) => method === 'eth_getTransactionReceipt').length;
      for (let reading = 0; reading < 4 && observer.transfers.size === 0; reading++) {
        await observer.tryRead();
        left = 90;
      }
      expect(observer.amounts(to)).toHaveLength(count);
      expect(receipts()).toBeLessThan(2 * count);
    });

    it('and takes no batches is asked for the last block before and after its logs', async () => {
      const { front, observer, to } = await watching(bsc);
      front.batch_calls = 0;
      await pay(to, 1n);
      const height = await chain.height();
      // A replica without that block answers what comes after the tip.
      const heal = front.add(async (call, next) => {
        const isTip = (call.params as unknown[])[0] === 'latest';
        return isTip ? next(call) : lagging(() => height - 1)(call, next);
      });
      await observer.tryRead();
      expect(observer.height()).toBe(height - 1);
      heal();
      front.requests.length = 0;
      await observer.read();
      expect(observer.amounts(to)).toEqual([1n]);
      const asked = front.requests.map(([call]) => call?.method);
      const at = asked.indexOf('eth_getLogs');
      const block = 'eth_getBlockByNumber';
      expect([asked[at - 2], asked[at - 1], asked[at + 1]]).toEqual([block, block, block]);
      expect(front.requests[at - 2]).toEqual(front.requests[at + 1]);
    });
  });

  describe('that leaves out or garbles logs', () => {
    it('gives each transfer one place, whichever log it left out at first', async () => {
      for (const left_out of [0, 1]) {
        const { front, observer, to } = await watching(bsc);
        await chain.payTokens(TOKEN, [
          [to, 7n],
          [to, 8n],
        ]);
        await chain.mine();
        const heal = front.add(omitting(({ logIndex }) => Number(logIndex) === left_out));
        await observer.read();
        expect(observer.amounts(to)).toEqual([7n, 8n]);
        const before = observer.to(to).map(({ index }) => index);
        heal();
        await settle(observer);
        expect(observer.amounts(to)).toEqual([7n, 8n]);
        expect(observer.to(to).map(({ index }) => index)).toEqual(before);
      }
    });

    const garbled: [string, Fault][] = [
      [
        'of another block',
        changing('eth_getLogs', (rows: Row[]) => rows.map((row) => ({ ...row, blockNumber: '0x1' }))),
      ],
      [
        'of a block that left the chain',
        changing('eth_getLogs', (rows: Row[]) =>
          rows.map((row) => ({ ...row, blockHash: `0x${'ab'.repeat(32)}` })),
        ),
      ],
      [
        'that were removed',
        changing('eth_getLogs', (rows: Row[]) => rows.map((row) => ({ ...row, removed: true }))),
      ],
      [
        'of another amount than the receipt',
        changing('eth_getLogs', (rows: Row[]) =>
          rows.map((row) => ({ ...row, data: `0x${'1'.repeat(64)}` })),
        ),
      ],
      ['as no list', changing('eth_getLogs', () => ({}))],
      ['as null', changing('eth_getLogs', () => null)],
      ['with half a row', changing('eth_getLogs', (rows: Row[]) => [...rows, null])],
      [
        'of a failed transaction',
        changing('eth_getTransactionReceipt', (row: Row) => ({ ...row, status: '0x0' })),
      ],
      [
        'with a receipt without them',
        changing('eth_getTransactionReceipt', (row: Row) => ({ ...row, logs: [] })),
      ],
      [
        'with a receipt that has each twice',
        changing('eth_getTransactionReceipt', (row: Row) => ({
          ...row,
          logs: [...(row.logs as Row[]), ...(row.logs as Row[])],
        })),
      ],
      [
        'with a receipt of another block',
        changing('eth_getTransactionReceipt', (row: Row) => ({ ...row, blockHash: `0x${'ab'.repeat(32)}` })),
      ],
      [
        'with a receipt of another transaction',
        changing('eth_getTransactionReceipt', (row: Row) => ({
          ...row,
          transactionHash: `0x${'ab'.repeat(32)}`,
        })),
      ],
      [
        'with a receipt without a status',
        changing('eth_getTransactionReceipt', (row: Row) => ({ ...row, status: undefined })),
      ],
      [
        'with another transaction',
        changing('eth_getTransactionByHash', (row: Row) => ({ ...row, hash: `0x${'ab'.repeat(32)}` })),
      ],
    ];
    it.each(garbled)('%s books nothing, and passes nothing', async (_, fault) => {
      for (const network of [base, bsc]) {
        const { front, observer, to } = await watching(network);
        const before = observer.height();
        await pay(to, 6n);
        const heal = front.add(fault);
        expect(await observer.tryRead()).toBe(false);
        expect([observer.transfers.size, observer.height()]).toEqual([0, before]);
        heal();
        await observer.read();
        expect(observer.amounts(to)).toEqual([6n]);
      }
    });
  });

  describe('whose index has holes', () => {
    /** Two providers, of which the first one is read. */
    async function twoOf(fault: Fault | null) {
      const { front, observer, to } = await watching(bsc);
      const other = createFront(chain.ask);
      if (fault) other.add(fault);
      const askOther = <T>(work: (rpc: EvmFront['rpc']) => Promise<T>) => work(other.rpc);
      const pass = async (readings = 4) => {
        for (let reading = 0; reading < readings; reading++) {
          await chain.mine(1, 40);
          await observer.read({ askOther });
        }
      };
      return { front, observer, to, other, pass };
    }

    it('and leaves out the same each time is healed by another one, before anything is proved', async () => {
      const { front, observer, to, pass } = await twoOf(null);
      front.add(omitting(() => true));
      await pay(to, 5n);
      const at = chain.now();
      await pass(1);
      expect(observer.amounts(to)).toEqual([]);
      expect(observer.read_through ?? 0).toBeLessThan(at);
      await pass();
      expect(observer.amounts(to)).toEqual([5n]);
      expect(observer.read_through ?? 0).toBeGreaterThan(at);
    });

    it.each(['a receipt', 'a block'])(
      'and is behind when it is asked for %s proves nothing yet',
      async (what) => {
        const { front, observer, to, pass } = await twoOf(null);
        front.add(omitting(() => true));
        const txid = await pay(to, 5n);
        const [at, height] = [chain.now(), await chain.height()];
        // The host that answers such a request has neither the block nor what is in it.
        const isReceipt = ({ method, params }: RpcCall) =>
          method === 'eth_getTransactionReceipt' && (params as unknown[])[0] === txid;
        const isBlock = ({ method, params }: RpcCall) =>
          method === 'eth_getBlockByNumber' && Number((params as unknown[])[0]) === height;
        const isAsked = (calls: readonly RpcCall[]) =>
          !calls.some(({ method }) => method === 'eth_getLogs') &&
          calls.some(what === 'a receipt' ? isReceipt : isBlock);
        const heal = front.add(async (call, next) =>
          isAsked(front.requests.at(-1) ?? []) && (isReceipt(call) || isBlock(call)) ? null : next(call),
        );
        await pass(5);
        expect(observer.amounts(to)).toEqual([]);
        expect(observer.read_through ?? 0).toBeLessThan(at);
        heal();
        await pass();
        expect(observer.amounts(to)).toEqual([5n]);
        expect(observer.read_through ?? 0).toBeGreaterThan(at);
      },
    );

    it('and fails when it is asked for a receipt proves nothing yet', async () => {
      const { front, observer, to, pass } = await twoOf(null);
      front.add(omitting(() => true));
      const txid = await pay(to, 5n);
      const at = chain.now();
      const heal = front.add(async (call, next) => {
        if (call.method === 'eth_getTransactionReceipt' && (call.params as unknown[])[0] === txid)
          throw refused('the receipt cannot be read now');
        return next(call);
      });
      await pass(5);
      expect(observer.amounts(to)).toEqual([]);
      expect(observer.read_through ?? 0).toBeLessThan(at);
      heal();
      await pass();
      expect(observer.amounts(to)).toEqual([5n]);
      expect(observer.read_through ?? 0).toBeGreaterThan(at);
    });

    /** Lists with each payment so many that were never sent, others whenever it is asked or the same; they come before it. */
    const makingUp = (count: number, others: boolean): Fault => {
      let serial = 1;
      return changing('eth_getLogs', (rows: Row[]) => {
        const [row] = rows;
        if (!row) return rows;
        if (!others) serial = 1;
        const made_up = Array.from({ length: count }, (_, at) => ({
          ...row,
          transactionHash: `0x${(serial++).toString(16).padStart(64, 'f')}`,
          logIndex: `0x${(at + 1_000).toString(16)}`,
        }));
        return [...made_up, ...rows];
      });
    };
    const receiptsAsked = ({ requests }: EvmFront): number =>
      requests.flat().filter(({ method }) => method === 'eth_getTransactionReceipt').length;

    it(
      'asks for a few of what another one makes up in each reading, and loses nothing that is true',
      async () => {
        const { front, observer, to, pass } = await twoOf(makingUp(120, false));
        front.add(omitting(() => true));
        await pay(to, 5n);
        const at = chain.now();
        for (let reading = 0; reading < 12; reading++) {
          front.requests.length = 0;
          await pass(1);
          expect(receiptsAsked(front)).toBeLessThanOrEqual(150);
        }
        expect(observer.amounts(to)).toEqual([5n]);
        expect(observer.read_through ?? 0).toBeGreaterThan(at);
      },
      MADE_UP_TIMEOUT_MS,
    );

    it(
      'is held up by no one who makes up others whenever he is asked',
      async () => {
        const { front, observer, to, pass } = await twoOf(makingUp(300, true));
        await pay(to, 6n);
        const at = chain.now();
        front.requests.length = 0;
        await pass(16);
        expect(receiptsAsked(front)).toBeLessThanOrEqual(16 * 150);
        expect(observer.amounts(to)).toEqual([6n]);
        expect(observer.transfers.size).toBe(1);
        expect(observer.read_through ?? 0).toBeGreaterThan(at);
      },
      MADE_UP_TIMEOUT_MS,
    );

    it(
      'makes up so much that it is left for another one',
      async () => {
        const { front, observer, to } = await watching(bsc);
        front.add(makingUp(520, false));
        await pay(to, 7n);
        const at = chain.now();
        for (let reading = 0; reading < 40 && observer.errors.length === 0; reading++) {
          front.requests.length = 0;
          await settle(observer, 1);
          expect(receiptsAsked(front)).toBeLessThanOrEqual(900);
        }
        expect(observer.errors[0]?.message).toMatch(/second reading.*no receipts/);
        expect(observer.read_through ?? 0).toBeLessThan(at);
      },
      MADE_UP_TIMEOUT_MS,
    );

    it.each<[string, Fault]>([
      [
        'is away',
        async () => {
          throw refused('down for maintenance');
        },
      ],
      ['leaves everything out', omitting(() => true)],
      ['lags', lagging(() => 3)],
      [
        'makes up payments',
        changing('eth_getLogs', (rows: Row[]) =>
          rows.map((row) => ({ ...row, data: `0x${'1'.repeat(64)}`, logIndex: '0x7' })),
        ),
      ],
      ['limits its answers to blocks of its own', rangeCap(7, 'block range is too wide')],
    ])('has its second reading alone where the other one %s', async (_, fault) => {
      const { observer, to, pass } = await twoOf(fault);
      await pay(to, 6n);
      await chain.grow(30);
      const at = chain.now();
      await pass();
      expect(observer.amounts(to)).toEqual([6n]);
      expect(observer.transfers.size).toBe(1);
      expect(observer.read_through ?? 0).toBeGreaterThanOrEqual(at);
    });
  });

  describe('whose second reading fails', () => {
    it('is read on, and proves nothing; after ten minutes another one is asked', async () => {
      const { front, observer, to } = await watching(bsc);
      await settle(observer);
      const proved = observer.read_through as number;
      // What is asked a second time is recognised by where it begins.
      const { proved: from } = observer.cursor as { proved: number };
      const heal = front.add(async (call, next) => {
        if (call.method === 'eth_getLogs' && Number(filterOf(call).fromBlock) === from + 1)
          throw refused('oops');
        return next(call);
      });
      await chain.mine(1, 40);
      await observer.read();
      for (let reading = 0; reading < 14; reading++) {
        await pay(to, 1n + BigInt(reading));
        await chain.mine(1, 40);
        await observer.read();
        expect(observer.amounts(to)).toHaveLength(reading + 1);
        expect(observer.read_through).toBe(proved);
      }
      for (let reading = 0; reading < 4; reading++) await chain.mine(1, 40);
      expect(await observer.tryRead()).toBe(false);
      expect(observer.errors[0]?.message).toMatch(/second reading/);
      expect(observer.height()).toBe(await chain.height());
      heal();
      await observer.read();
      expect(observer.read_through).toBeGreaterThan(proved);
    });
  });

  describe('that does not tell the decimals of a contract', () => {
    it('has that asset unreadable until it does, and the others read', async () => {
      const wrong = gatewayOf(bsc, { chain: 'a-wrong', token_contract: OTHER });
      const absent = gatewayOf(bsc, { chain: 'an-absent', token_contract: freshAddress() });
      const { observer, to, front } = await watching(bsc, [tokenOf(bsc), wrong, absent]);
      expect(observer.unreadable.map(({ chain: id }) => id)).toEqual(['a-wrong', 'an-absent']);
      // One answer may be wrong; a minute later it is what the contract has.
      expect(observer.unreadable[0]?.reason).toMatch(/does not tell/);
      await chain.mine(1, 61);
      await observer.read();
      expect(observer.unreadable[0]?.reason).toMatch(/has 18 decimals, not 6/);
      await chain.payToken(OTHER, to, 9n);
      await pay(to, 1n);
      await observer.read();
      const [taken, listed] = observer.to(to);
      expect(taken).toMatchObject({ chain: 'a-usdc', amount_atomic: 1n });
      expect(taken?.ambiguous).toBeUndefined();
      expect(listed?.ambiguous).toMatch(/has 18 decimals, not 6/);
      const heal = front.add(changing('eth_call', () => `0x${'f'.repeat(64)}`));
      observer.restart();
      await observer.read();
      expect(observer.unreadable).toHaveLength(3);
      await pay(to, 2n);
      await observer.read();
      expect(observer.amounts(to)).toContain(2n);
      heal();
      await chain.mine(1, 61);
      await observer.read();
      expect(observer.unreadable.map(({ chain: id }) => id)).toEqual(['a-wrong', 'an-absent']);
    });
  });

  it('that calls every block final has them final at their depth, and not before', async () => {
    const { front, observer, to } = await watching(bsc);
    front.add(async (call, next) =>
      (call.params as unknown[])[0] === 'finalized'
        ? next({ ...call, params: ['latest', false] })
        : next(call),
    );
    await pay(to, 1n);
    await chain.mine(13, 0.4);
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ confirmations: 14, final: false }]);
    await chain.mine(1, 40);
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ final: true }]);
  });

  it('that has a transaction in a block of no chain is not believed when one is named', async () => {
    const { front, observer, to } = await watching(bsc);
    const txid = await pay(to, 1n);
    await observer.read();
    expect(await observer.lookUp(txid, to)).toHaveLength(1);
    const lost_hash = `0x${'ab'.repeat(32)}`;
    const elsewhere = (row: Row) => ({
      ...row,
      blockHash: lost_hash,
      logs: (row.logs as Row[]).map((log) => ({ ...log, blockHash: lost_hash })),
    });
    front.add(changing('eth_getTransactionReceipt', elsewhere));
    await expect(observer.lookUp(txid, to)).rejects.toThrow(/in a block of no chain/);
  });

  describe('whose blocks are never called final', () => {
    it.each<[string, Fault]>([
      [
        'because the tag stands still',
        async (call, next) =>
          (call.params as unknown[])[0] === 'finalized'
            ? next({ ...call, params: ['0x1', false] })
            : next(call),
      ],
      [
        'because there is no such tag',
        async (call, next) => {
          if ((call.params as unknown[])[0] === 'finalized')
            throw refused('TAG finalized not supported', -32_602);
          return next(call);
        },
      ],
    ])('%s: they are by their depth', async (_, fault) => {
      const network = { ...bsc, final: { depth_seconds: 7, alone_seconds: 18 } };
      const { front, observer, to } = await watching(network, [tokenOf(network)]);
      front.add(fault);
      await pay(to, 1n);
      await chain.grow(35, 14);
      await observer.read();
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ final: false, confirmations: 36 }]);
      await chain.grow(10, 10);
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ final: true }]);
    });
  });
});
