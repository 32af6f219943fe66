// Coins of EVM networks: in full blocks, in the network's own log; each payment once, and none that is none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Log } from '../../src/chains/evm/answers.ts';
import { paymentIn } from '../../src/chains/evm/assets.ts';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { changing, createFront, type Fault } from './evm-front.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const WALLET = '0x4444444444444444444444444444444444444444';
const POL = '0x0000000000000000000000000000000000001010';
const SYSTEM = '0xfffffffffffffffffffffffffffffffffffffffe';
const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const LOG_TRANSFER = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';
const LOG_FEE = '0x4dfe1bbbcf077ddc3e01291eea2d5c70c2b422b415d95645b9adcfd678cb1d63';
const { ethereum, polygon } = networks;
const topic = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const words = (...amounts: bigint[]) =>
  `0x${amounts.map((each) => each.toString(16).padStart(64, '0')).join('')}`;

type Row = Record<string, unknown>;

describe('a log of Polygon', () => {
  const asset = { chain: 'polygon', contract: POL, layout: 'polygon' as const, name: 'coin' };
  const [from, to] = [`0x${'12'.repeat(20)}`, `0x${'34'.repeat(20)}`];
  const log: Log = {
    address: POL,
    topics: [LOG_TRANSFER, topic(POL), topic(from), topic(to)],
    data: words(5n, 4n, 3n, 2n, 1n),
    blockNumber: 1,
    blockHash: topic('0x1'),
    transactionHash: topic('0x2'),
    logIndex: 0,
  };

  it('pays its first word to its fourth topic, and nothing in any other form', () => {
    expect(paymentIn([asset], log)).toEqual({ asset, from, to, amount: 5n });
    const others: Partial<Log>[] = [
      { address: TOKEN },
      { topics: [LOG_TRANSFER, topic(TOKEN), topic(from), topic(to)] },
      { topics: [LOG_TRANSFER, topic(POL), topic(to)] },
      { topics: [TRANSFER, topic(POL), topic(from), topic(to)] },
      { topics: [LOG_TRANSFER, topic(POL), topic(from), `0x1${topic(to).slice(3)}`] },
      { data: words(5n) },
      { data: words(5n, 4n, 3n, 2n, 1n, 0n) },
      { data: words(0n, 4n, 3n, 2n, 1n) },
    ];
    for (const other of others) expect(paymentIn([asset], { ...log, ...other })).toBeNull();
  });
});

describe.runIf(hasAnvil)('coins', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    const tokens = [WALLET, POL, SYSTEM, TOKEN].map((address) => ({ address }));
    chain = await startAnvil({ chain_id: 1, block_seconds: 12, tokens, history: 10 });
  });
  afterAll(() => chain?.stop());

  async function watching(network: EvmNetwork, side: 'mainnet' | 'testnet' = 'mainnet', address?: string) {
    const front = createFront(chain.ask);
    const coin = gatewayOf(network, { chain: 'a-coin', decimals: 18 });
    const token = gatewayOf(network, { chain: 'a-token', token_contract: TOKEN });
    const options = { network, gateways: [coin, token], rpc: front.rpc, side, now: () => chain.now() };
    const observer = createEvmObserver(options);
    const to = observer.watch(address);
    await observer.read();
    front.requests.length = 0;
    return { front, observer, to };
  }

  describe('in full blocks', () => {
    it('are found where a transaction pays them, with a note or without', async () => {
      const { observer, to } = await watching(ethereum);
      const txid = await chain.payCoin(to, 10n ** 18n + 1n);
      await chain.send({ to, value: 2n, data: '0x48656c6c6f' });
      await chain.payToken(TOKEN, to, 3n);
      await chain.payCoin(freshAddress(), 4n);
      await chain.payCoin(to, 0n);
      await chain.mine();
      await observer.read();
      expect(observer.to(to)).toMatchObject([
        { chain: 'a-coin', amount_atomic: 2n },
        { chain: 'a-token', amount_atomic: 3n },
        { chain: 'a-coin', amount_atomic: 10n ** 18n + 1n, txid, index: `coin:${to}:0` },
      ]);
      expect(await observer.lookUp(txid, to)).toMatchObject([{ txid, index: `coin:${to}:0` }]);
    });

    it('reach a contract wallet like any other, and an address that resembles it is not the shop', async () => {
      const { observer, to } = await watching(ethereum);
      // As a Safe does it: what comes is taken, with a log.
      await chain.ask('anvil_setCode', to, '0x60006000a000');
      const resembling = `${to.slice(0, 20)}${to[20] === '7' ? '8' : '7'}${to.slice(21)}`;
      await chain.payCoin(resembling, 6n);
      await chain.payToken(TOKEN, resembling, 7n);
      await chain.payCoin(to, 8n);
      await chain.payToken(TOKEN, to, 9n);
      await chain.mine();
      await observer.read();
      expect(observer.amounts(to)).toEqual([8n, 9n]);
      expect(observer.transfers.size).toBe(2);
    });

    it('are none where the transaction failed, though the block shows its value', async () => {
      const { observer } = await watching(ethereum, 'mainnet', WALLET);
      const failed = await chain.send({ to: WALLET, value: 5n, data: '0xa9059cbb' });
      await chain.mine();
      const block = await chain.ask<{ transactions: Row[] }>('eth_getBlockByNumber', 'latest', true);
      expect(block.transactions).toMatchObject([{ hash: failed, value: '0x5' }]);
      await observer.read();
      expect(observer.transfers.size).toBe(0);
      expect(await observer.lookUp(failed, WALLET)).toEqual([]);
    });

    it('that a contract pays are in no transaction: they are listed with their block, and match nothing', async () => {
      const { observer, to } = await watching(ethereum);
      await chain.payCoinByContract(WALLET, to, 6n);
      await chain.mine();
      await observer.read();
      const { hash, number } = await chain.ask<{ hash: string; number: string }>(
        'eth_getBlockByNumber',
        'latest',
        false,
      );
      expect(observer.to(to)).toMatchObject([
        {
          chain: 'a-coin',
          amount_atomic: 6n,
          txid: hash,
          index: `coin:${to}:balance`,
          block_hash: hash,
          sender: null,
          ambiguous: expect.stringContaining(`rose by this in block ${Number(number)},`),
        },
      ]);
    });

    it('are read in one piece after an absence, and stay the same payments', async () => {
      const { observer, to } = await watching(ethereum);
      for (let each = 1; each <= 25; each++) {
        if (each % 8 === 0) await chain.payCoin(to, BigInt(each), chain.accounts[each]);
        await chain.mine();
      }
      await observer.read();
      expect(observer.amounts(to)).toEqual([8n, 16n, 24n]);
      expect(observer.height()).toBe(await chain.height());
    });

    const broken: [string, Fault][] = [
      [
        'of bare hashes',
        changing('eth_getBlockByNumber', (row: Row) => ({ ...row, transactions: hashesIn(row) })),
      ],
      [
        'without transactions',
        changing('eth_getBlockByNumber', (row: Row) => ({ ...row, transactions: [] })),
      ],
      [
        'that lacks the last of them',
        changing('eth_getBlockByNumber', (row: Row) => ({
          ...row,
          transactions: (row.transactions as Row[]).slice(0, -1),
        })),
      ],
      [
        'with those of another block',
        changing('eth_getBlockByNumber', (row: Row) => ({
          ...row,
          transactions: (row.transactions as Row[]).map((each) => ({
            ...each,
            blockHash: `0x${'ab'.repeat(32)}`,
          })),
        })),
      ],
      [
        'with an amount that is none',
        changing('eth_getBlockByNumber', (row: Row) => ({
          ...row,
          transactions: (row.transactions as Row[]).map((each) => ({
            ...each,
            value: `0x${'1'.repeat(65)}`,
          })),
        })),
      ],
      ['of a hundred', changing('eth_getBlockTransactionCountByNumber', () => '0x64')],
    ];
    it.each(broken)('are not read from a block %s', async (_, fault) => {
      const { front, observer, to } = await watching(ethereum);
      const before = observer.height() as number;
      await chain.payCoin(freshAddress(), 1n);
      await chain.payCoin(to, 7n);
      await chain.mine();
      const isTip: Fault = (call, next) =>
        (call.params as unknown[])[0] === 'latest' ? next(call) : fault(call, next);
      const heal = front.add(isTip);
      await observer.read();
      // Logs are read on, coins are not.
      expect([observer.height(), coinHeight(observer), observer.transfers.size]).toEqual([
        before + 1,
        before,
        0,
      ]);
      heal();
      await observer.read();
      expect([observer.amounts(to), coinHeight(observer)]).toEqual([[7n], before + 1]);
    });
    const hashesIn = (row: Row) => (row.transactions as Row[]).map((each) => each.hash ?? each);
  });

  describe('in the log of Polygon', () => {
    const log = (
      to: string,
      amount: bigint,
      topics = [LOG_TRANSFER, topic(POL), topic(chain.payer), topic(to)],
    ) => chain.write(POL, topics, words(amount, 90n, 80n, 70n, 60n));

    it('are found with their first word as the amount, from contracts too, and no transaction that pays directly', async () => {
      const { observer, to } = await watching(polygon);
      const txid = await log(to, 11n);
      // A transaction that pays directly is logged by the network as well: the log alone counts.
      await chain.payCoin(to, 11n);
      await chain.mine();
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ chain: 'a-coin', amount_atomic: 11n, txid }]);
      expect(await observer.lookUp(txid, to)).toMatchObject([{ amount_atomic: 11n, index: `coin:${to}:0` }]);
    });

    it('are none in logs of any other form', async () => {
      const { observer, to } = await watching(polygon);
      const [from, own] = [topic(chain.payer), topic(to)];
      await log(to, 1n, [LOG_FEE, topic(POL), from, own]);
      await log(to, 2n, [LOG_TRANSFER, topic(TOKEN), from, own]);
      await log(to, 3n, [LOG_TRANSFER, topic(POL), own]);
      await log(to, 4n, [LOG_TRANSFER, topic(POL), own, from]);
      await log(to, 0n);
      await log(to, 6n, [LOG_TRANSFER, topic(POL), own, own]);
      await chain.write(POL, [LOG_TRANSFER, topic(POL), from, own], words(7n));
      await chain.write(POL, [LOG_TRANSFER, topic(POL), from, own], words(7n, 1n, 1n, 1n, 1n, 1n));
      await chain.write(POL, [TRANSFER, from, own], words(8n));
      await chain.write(TOKEN, [LOG_TRANSFER, topic(POL), from, own], words(9n, 1n, 1n, 1n, 1n));
      await chain.mine();
      await observer.read();
      expect(observer.transfers.size).toBe(0);
    });

    it('that are listed twice count once', async () => {
      const { front, observer, to } = await watching(polygon);
      front.add(changing('eth_getLogs', (rows: Row[]) => [...rows, ...rows]));
      await log(to, 12n);
      await chain.mine();
      await observer.read();
      expect(observer.amounts(to)).toEqual([12n]);
    });
  });

  describe('in the log of EIP-7708', () => {
    it('are found, those of contracts too, and no token can pose as the coin', async () => {
      const { observer, to } = await watching(ethereum, 'testnet');
      const topics = [TRANSFER, topic(chain.payer), topic(to)];
      await chain.write(SYSTEM, topics, words(21n));
      await chain.write(TOKEN, topics, words(22n));
      await chain.write(WALLET, topics, words(23n));
      await chain.payCoin(to, 24n);
      await chain.mine();
      await observer.read();
      expect(observer.to(to)).toMatchObject([
        { chain: 'a-coin', amount_atomic: 21n, index: `coin:${to}:0` },
        { chain: 'a-token', amount_atomic: 22n },
      ]);
    });
  });

  it('are read of no block where only tokens are enabled', async () => {
    const front = createFront(chain.ask);
    const token = gatewayOf(ethereum, { chain: 'a-token', token_contract: TOKEN });
    const options = { network: ethereum, rpc: front.rpc, side: 'mainnet' as const, now: () => chain.now() };
    const observer = createEvmObserver({ ...options, gateways: [token] });
    const to = observer.watch();
    await observer.read();
    await chain.payCoin(to, 1n);
    await chain.mine();
    await observer.read();
    const asked = front.requests.flat();
    expect(asked.filter(({ params }) => (params as unknown[])[1] === true)).toEqual([]);
    expect(asked.filter(({ method }) => method === 'eth_getBalance')).toEqual([]);
    expect([observer.transfers.size, coinHeight(observer)]).toEqual([0, undefined]);
  });
});

const coinHeight = ({ cursor }: { cursor: unknown }) =>
  (cursor as { coin?: { height: number } } | null)?.coin?.height;
