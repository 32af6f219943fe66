// What nodes of TRON and TronGrid really answer, read as the product reads it.
import { expect, test } from 'vitest';
import { headerOf, logsOf, receiptOf, wordsOf } from '../../../src/chains/evm/answers.ts';
import { type Asker, askEach, blockCall, newHost } from '../../../src/chains/evm/hosts.ts';
import { readLogRange } from '../../../src/chains/evm/ranges.ts';
import type { Json } from '../../../src/chains/family.ts';
import { ask } from '../../../src/chains/tron/api.ts';
import { readBlocks, readExpiries, readPayment } from '../../../src/chains/tron/blocks.ts';
import { tronNetwork } from '../../../src/chains/tron/network.ts';
import { solidCoins } from '../../../src/chains/tron/solid.ts';
import { answering, failureOf, headersOnly, openRecords } from './recorded.ts';

const records = openRecords('tron');
const open = (...names: string[]) =>
  answering(
    names.map((name) => records.named(name)),
    'tron',
  );
const rpcOf = (...names: string[]) => open(...names).rpc;
const askedIn = (name: string) => (records.named(name).params as { value: string }).value;

test('whole blocks, most of them empty', async () => {
  const blocks = await readBlocks(rpcOf('blocks, most of them empty'), 33_801_077, 33_801_079);
  expect(blocks).toMatchObject([
    {
      height: 33_801_077,
      hash: '0x000000000203c375c7521ef953106e9a112e1902664a91becc5f40371a7397d7',
      parent: '0x000000000203c3741f9a08f594934bd26df95cc6c49b475d118e3a87aed5a4a4',
      time: 1_684_509_309,
      payments: [],
      spendings: [{ from: '0xfcf7ab2a2fb29362babd41647a22b223f7fbedec', amount: 0n }],
    },
    { height: 33_801_078, time: 1_684_509_312, payments: [], spendings: [] },
    { height: 33_801_079, time: 1_684_509_315, payments: [], spendings: [] },
  ]);
});

test('a block shows its payments, and until when its transactions could be put into one', async () => {
  const record = records.named('a block with payments');
  const within = answering([{ ...record, body: { block: [record.body] } }], 'tron');
  const [block] = await readBlocks(within.rpc, 46_929_239, 46_929_239);
  expect(block?.payments.map(({ to, amount }) => [to, amount])).toEqual([
    ['0x37a9511e294f1757678f366ad3b6102d35ebd4dc', 1_000n],
    ['0x37a9511e294f1757678f366ad3b6102d35ebd4dc', 1_000n],
    ['0x37a9511e294f1757678f366ad3b6102d35ebd4dc', 1_000n],
    ['0x4206ac4a5fe33602dc557b1352675d2ff1456222', 100_000n],
  ]);
  const expiries = await readExpiries(
    rpcOf('a block with payments'),
    `0x${askedIn('a block with payments')}`,
  );
  expect(expiries.get('68bc1244da2dbcde50954c4b250d07a258eb02fbb228681d600dfac27b44d145')).toBe(
    1_724_396_064,
  );
  expect(expiries.size).toBe(5);
});

test('a transaction is a payment in coins, or it is none', async () => {
  const read = (name: string) => readPayment(rpcOf(name), `0x${askedIn(name)}`);
  expect(await read('a payment')).toEqual({
    txid: '0x68bc1244da2dbcde50954c4b250d07a258eb02fbb228681d600dfac27b44d145',
    from: '0xbc649db213a41a11aac2d3186e832fa9fc84c030',
    to: '0x4206ac4a5fe33602dc557b1352675d2ff1456222',
    amount: 100_000n,
  });
  expect(await read('a transaction that calls a contract')).toBeNull();
  expect(await readPayment(rpcOf('a transaction that is not there'), `0x${'0'.repeat(64)}`)).toBeNull();
});

test('balances as of the newest block, and what a transaction cost', async () => {
  const newest = [66_987_627, '0x0000000003fe266bf6b6d392f654dc2e5011601546ed04623d9fcc4e9d439a25'];
  expect(await solidCoins.newest(rpcOf('the newest block'))).toEqual(newest);
  const rpc = rpcOf('the newest block', 'an account', 'an account that is none', 'the newest block');
  const keys = ['0xdd791d6b49e190062d650e6a23c575510d35f2f9', `0x${'1'.repeat(40)}`];
  expect(await solidCoins.balances(rpc, keys, false)).toEqual({
    height: 66_987_627,
    balances: [1_793_227_200n, 0n],
  });
  const name = 'what a transaction cost';
  expect(await solidCoins.change(rpcOf(name), `0x${askedIn(name)}`)).toBe(-5_254_500n);
});

test('what code returned, and where it was not run', async () => {
  const answer = (await ask(
    rpcOf('what a contract returned'),
    'walletsolidity',
    'triggerconstantcontract',
    {},
  )) as {
    constant_result: [string];
  };
  expect(wordsOf(`0x${answer.constant_result[0]}`, 1)).toEqual([1_087_360_000n]);
  // One word is no balances and their block.
  for (const name of ['what a contract returned', 'a contract that is not there'])
    expect(await failureOf(solidCoins.balances(rpcOf(name), [`0x${'1'.repeat(40)}`], true))).toEqual({
      kind: 'rpc',
      code: null,
    });
});

test('headers, logs and receipts by JSON-RPC', async () => {
  const result = (name: string) => rpcOf(name).call(records.named(name).asks, []);
  expect(headerOf(await result('a header by JSON-RPC'), 0x3fe1c00)).toMatchObject({
    hash: '0x0000000003fe1c00462b498ddae67717e96c785078adb5ccb7279148916e6f97',
    time: 0x69f18a5c,
  });
  const [log] = logsOf(await result('logs by JSON-RPC'));
  expect(log).toMatchObject({ blockNumber: 0x3fe1ca0, logIndex: 0, data: `0x${'7'.padStart(64, '0')}` });
  const txid = '0x01b4cde4197b9d1a1ff09ef5d2b1d939d3ec2401b3f002ebd0802c0f30a6e4ca';
  expect(receiptOf(await result('a receipt by JSON-RPC'), txid)).toMatchObject({
    status: '0x1',
    logs: [log],
  });
});

/** What an answer of the node's own API in place of blocks is taken for. */
test.each([
  ['an overloaded node', 'rate_limited', null],
  ['TronGrid is asked too often, HTTP 403', 'rate_limited', 403],
  ['TronGrid is asked too often, HTTP 429', 'rate_limited', 429],
  ['TronGrid is asked too often, HTTP 503', 'rate_limited', 503],
  ['TronGrid without a key is asked too often, HTTP 403', 'rate_limited', 403],
  ['TronGrid without a key is asked too often, HTTP 429', 'rate_limited', 429],
  ['a node without history', 'bad_answer', null],
  ['blocks that are not there', 'bad_answer', null],
  ['a hash that is none', 'rpc', null],
])('it may refuse: %s', async (name, kind, code) => {
  expect(await failureOf(readBlocks(rpcOf(name), 1, 3))).toEqual({ kind, code });
});

function opened(name: string): Asker {
  const { rpc } = answering([records.named(name), headersOnly], 'tron');
  const network = { ...tronNetwork, range_blocks: 100_000 };
  const host = newHost({ ...network, batch: { ...network.batch, calls: 1_000 } });
  host.topics = { ...host.topics, value: 5_000, most: 5_000 };
  return { rpc, host, batch_bytes: 1_000_000 };
}

test('java-tron names what it allows of blocks, topics and calls', async () => {
  const blocks = opened('a range that java-tron does not allow');
  await readLogRange(blocks, [{ address: ['0x1'], topics: [] }], 1_001, 101_000);
  expect(blocks.host.blocks.value).toBe(5_000);
  const topics = opened('topics that java-tron does not allow');
  const values: Json[] = Array.from({ length: 5_000 }, (_, at) => `0x${String(at).padStart(64, '0')}`);
  await readLogRange(topics, [{ address: ['0x1'], topics: ['0xddf2', null, values] }], 1_001, 1_010);
  expect(topics.host.topics.value).toBe(1_000);
  const calls = opened('a batch that java-tron does not allow');
  const asked = Array.from({ length: 120 }, (_, at) => blockCall(at + 1));
  expect(await askEach(calls, asked)).toHaveLength(120);
  expect(calls.host.calls.value).toBe(100);
});

test('every recorded answer of this kind was read', () => {
  expect(records.unread()).toEqual([]);
});
