// What nodes of Ethereum and its relatives really answer, read as the product reads it.
import { expect, test } from 'vitest';
import {
  countOf,
  feeOf,
  fullBlockOf,
  headerOf,
  logsOf,
  receiptOf,
  transactionOf,
  wordOf,
} from '../../../src/chains/evm/answers.ts';
import { type Asker, askEach, blockCall, newHost } from '../../../src/chains/evm/hosts.ts';
import { networks } from '../../../src/chains/evm/networks.ts';
import { readLogRange } from '../../../src/chains/evm/ranges.ts';
import type { Json } from '../../../src/chains/family.ts';
import { answering, failureOf, headersOnly, openRecords, type Recorded } from './recorded.ts';

const records = openRecords('evm');
const { named } = records;

/** The result as the product's connection hands it on. */
const resultOf = (record: Recorded): Promise<unknown> =>
  answering([record]).rpc.call(record.asks, record.params ?? []);
const answerTo = (name: string) => resultOf(named(name));
const first = (name: string) => (named(name).params as Json[])[0] as string;

test.each([
  ['a header of geth', 0x2d, '0xe4165d5a6e4d31469f4a9354c30bffec633a640940b40bc0bc1ae86d1b391643', 0x1c2],
  [
    'a header of Base',
    0x2f06c76,
    '0xc2ba951d7b02a5d79f22e65bce8fd4dd54cb37f7182c8fa0131f7328775091e2',
    0x6a6b35cf,
  ],
  [
    'a header of BNB Chain',
    0x3c308b6,
    '0xa41f16220ef7d7548e52c08366dbea06aa85d8bc1405b8765a454be4fabf5c75',
    1759334123,
  ],
  [
    'a header of Ethereum',
    0x17ee0ab,
    '0x7e3d9a037d9ff26a2cb9915aeb8f7d83f42f8e39bb28e89fe3b8b59f6c7bf008',
    1778748395,
  ],
  [
    'a header of Optimism before Bedrock',
    0x67a933,
    '0x5e6f2a7cfd7f57bf7b8f8a9059ee6f2ae0617e24cfe9d919fa59c587d7a2122e',
    1651314465,
  ],
])('%s', async (name, height, hash, time) => {
  expect(headerOf(await answerTo(name), height)).toMatchObject({ height, hash, time });
});

test('blocks that a node does not have are none', async () => {
  expect(headerOf(await answerTo('a block that geth does not have'), 0x3e8)).toBeNull();
  expect(headerOf(await answerTo('a hash that geth does not know'), 'that hash')).toBeNull();
});

test('a whole block has its transactions, by its number, by its hash, and by their count', async () => {
  const newest = fullBlockOf(await answerTo('a whole block of geth'), 'latest');
  expect(newest).toMatchObject({ height: 0x36, time: 0x21c });
  expect(newest?.transactions[0]).toMatchObject({
    hash: '0x0d1cf59d345d07f13d0981dd7ca1313bb2fbac151848aba3b7a57a26713fba42',
    from: '0x7435ed30a8b4aeb0877cef0c6e8cffe834eb865f',
    to: null,
    value: 0n,
    nonce: 0xf5n,
  });
  const counted = await answerTo('how many transactions a block has');
  const block = fullBlockOf(await answerTo('a block by its hash'), 1, counted);
  expect(block?.transactions.map(({ nonce }) => nonce)).toEqual([0n, 1n, 2n, 3n]);
});

test('transactions', async () => {
  const read = async (name: string) => transactionOf(await answerTo(name), first(name));
  expect(await read('a transaction of Base that pays coins')).toMatchObject({
    from: '0xa5a5491bca93dd4c076e4906e79e7673f4a5a142',
    to: '0x4179ec0c2137c63934dc765bc7ece7b70c92ee2c',
    value: 0x269336e60feb8n,
    nonce: 0x6365en,
    blockNumber: 0x2f06c76,
  });
  expect(await read('a transaction of Ethereum')).toMatchObject({
    blockNumber: 46_147,
    value: 31_337n,
    nonce: 0n,
  });
  expect(await read('a transaction of Arbitrum')).toMatchObject({ blockNumber: 42, value: 0n, nonce: 35n });
  expect(await read('a transaction of Polygon')).toMatchObject({ blockNumber: 447, value: 21n, nonce: 0n });
  expect(await read('a transaction of geth')).toMatchObject({ blockNumber: 27, value: 2n, nonce: 144n });
  expect(await read('a transaction that geth does not have')).toBeNull();
});

test('receipts, with what they cost', async () => {
  const read = async (name: string) => {
    const receipt = receiptOf(await answerTo(name), first(name));
    return receipt && { status: receipt.status, logs: receipt.logs.length, fee: feeOf(receipt) };
  };
  expect(await read('a receipt of Base, with its share of the cost on Ethereum')).toEqual({
    status: '0x1',
    logs: 0,
    fee: 135_551_059_472n,
  });
  expect(await read('a receipt of Base with logs')).toEqual({
    status: '0x1',
    logs: 3,
    fee: 116_924_844_661_152n,
  });
  expect(await read('a receipt of BNB Chain')).toEqual({ status: '0x1', logs: 11, fee: 12_666_953_250_000n });
  expect(await read('a receipt of Ethereum')).toEqual({ status: '0x1', logs: 1, fee: 3_908_243_226_377n });
  // It tells no price of gas.
  expect(await read('a receipt of Optimism before Bedrock')).toEqual({
    status: '0x1',
    logs: 1,
    fee: 97_960_903_705_252n,
  });
  expect(await read('a receipt of a transaction that sets code')).toEqual({
    status: '0x1',
    logs: 0,
    fee: 3_344_026_745_600n,
  });
  expect(await read('a receipt with blobs')).toEqual({ status: '0x1', logs: 1, fee: 7_029_406_889_104n });
  expect(await read('a receipt that geth does not have')).toBeNull();
  expect(await read('a receipt that 1rpc does not have')).toBeNull();
});

test('logs, and what stands with them', async () => {
  const logs = logsOf(await answerTo('logs of a contract, with the time of their blocks'));
  expect(logs.map(({ blockNumber, logIndex }) => [blockNumber, logIndex])).toEqual([
    [2, 10],
    [4, 0],
  ]);
  const [log] = logsOf(await answerTo('logs of a block'));
  expect(log).toEqual({
    address: '0x7dcd17433742f4c0ca53122ab541d0ba67fc27df',
    topics: [
      '0x00000000000000000000000000000000000000000000000000000000656d6974',
      '0x95b7276947f6331672b0c63eca28c1d39f25286d5e2793d6a487837ff1475ba0',
    ],
    data: '0x0000000000000000000000000000000000000000000000000000000000000001',
    blockNumber: 4,
    blockHash: '0x98f797a6af91ea770ab3a99d89c17a3a46d14c76db6bb711b18156a3493d2c94',
    transactionHash: '0xd48ebacfb769b85602310e2e0cf322e19f8cce25ac69cfd52f2d8622e3bbc3c9',
    logIndex: 0,
  });
  expect(logsOf(await answerTo('a range without logs'))).toEqual([]);
});

test('numbers, balances and what a contract returned', async () => {
  expect(countOf(await answerTo('the id of a chain'), 'eth_chainId')).toBe(0xc72dd9d5e883en);
  expect(countOf(await answerTo('a balance'), 'a balance')).toBe(0x76n);
  expect(countOf(await answerTo('a balance of Base'), 'a balance')).toBe(10_000_000_000_000_000n);
  expect(countOf(await answerTo('the number of a sender'), 'a number')).toBe(1n);
  // Two bytes are no word.
  expect(wordOf(await answerTo('what a contract returned'))).toBeNull();
});

test.each([
  ['logs of blocks that are not there yet', -32_602],
  ['logs of a range that ends before it begins', -32_602],
  ['logs by hash and by range', -32_602],
  ['a state that PublicNode no longer has', -32_000],
  ['a state that 1rpc no longer has', -32_002],
  ['a state of before Bedrock', -32_801],
])('a refusal of the question is nothing against the provider: %s', async (name, code) => {
  const { rpc, provider } = answering([named(name)]);
  const record = named(name);
  expect(await failureOf(rpc.call(record.asks, record.params ?? []))).toEqual({ kind: 'rpc', code });
  expect(provider.counters.failures).toBe(0);
});

const headers = Array.from({ length: 22 }, (_, at) => blockCall(at + 1));

/** A reader that begins with more than any of these allows; the last answer is an honest one, made of what is asked. */
function opened(name: string): { asker: Asker; failures: () => number; asked: () => number[] } {
  const { rpc, provider, asked } = answering([named(name), headersOnly]);
  const network = networks.base;
  const host = newHost({ ...network, batch: { ...network.batch, calls: 50 }, range_blocks: 100_000 });
  host.topics = { ...host.topics, value: 5_000, most: 5_000 };
  return {
    asker: { rpc, host, batch_bytes: 1_000_000 },
    failures: () => provider.counters.failures,
    asked: () => asked.map(({ methods }) => methods.length),
  };
}

test.each([
  ['dRPC refuses a batch, call by call', 3, 0],
  ['Base refuses a batch as a whole', 10, 0],
])('a refusal names how many calls a batch may have: %s', async (name, calls, failed) => {
  const { asker, failures } = opened(name);
  expect(await askEach(asker, headers)).toHaveLength(22);
  expect(asker.host.calls.value).toBe(calls);
  expect(failures()).toBe(failed);
});

test('what Base answered of a batch stands, and only the rest is asked again', async () => {
  const { asker, failures, asked } = opened('Base answers part of a batch');
  const answers = (await askEach(asker, headers)) as { number: string }[];
  expect(answers.map(({ number }) => Number(number))).toEqual(headers.map((_, at) => at + 1));
  const [whole, ...rest] = asked();
  expect(whole).toBe(22);
  expect(rest.reduce((sum, count) => sum + count, 0)).toBe(17);
  expect(Math.max(...rest)).toBeLessThan(22);
  expect(failures()).toBe(1);
});

test('a batch of which Base answered nothing is a limit of how often it is asked', async () => {
  const { asker, failures } = opened('Base answers nothing of a batch');
  expect(await askEach(asker, headers)).toHaveLength(22);
  expect(failures()).toBe(1);
});

const LESS = 'less';
test.each([
  ['Base has no backend', LESS],
  ['Base refuses a range', LESS],
  ['dRPC refuses a range', 10_000],
  ['dRPC runs out of time', LESS],
  ['PublicNode refuses a range', 50_000],
  ['Alchemy refuses a range', LESS],
  ['QuickNode refuses a range', 5],
  ['Infura refuses a range', 10_000],
  ['a range that 1rpc does not allow', 1_000],
] as const)('a refusal of a range makes it shorter, to what is named: %s', async (name, blocks) => {
  const { asker, failures } = opened(name);
  const { value } = asker.host.blocks;
  await readLogRange(asker, [{ address: ['0x1'], topics: [] }], 1_001, 101_000);
  if (blocks === LESS) expect(asker.host.blocks.value).toBeLessThan(value);
  else expect(asker.host.blocks.value).toBe(blocks);
  expect(failures()).toBe(0);
});

test('a refusal of topics makes them fewer', async () => {
  const { asker } = opened('geth refuses many topics');
  const values = Array.from({ length: 5_000 }, (_, at) => `0x${String(at).padStart(64, '0')}`);
  await readLogRange(asker, [{ address: ['0x1'], topics: ['0xddf2', null, values] }], 1_001, 1_010);
  expect(asker.host.topics.value).toBeLessThan(5_000);
  expect(asker.host.blocks.value).toBe(100_000);
});

test('every recorded answer of this kind was read', () => {
  expect(records.unread()).toEqual([]);
});
