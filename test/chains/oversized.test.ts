// Answers that are far too large, or say that they are: what reading them costs is bounded.
import { expect, onTestFinished, test } from 'vitest';
import { createProvider } from '../../daemon/observer/providers/provider.ts';
import { logsOf, readFullBlock, readLogs, readReceipt } from '../../src/chains/evm/answers.ts';
import { ProviderError, type Rpc } from '../../src/chains/family.ts';
import { inTurns } from '../../src/chains/steps.ts';
import { parseBody } from '../../src/chains/ton/body.ts';
import { getTransactions } from '../../src/chains/ton/providers/toncenter.ts';
import { ask as askTron } from '../../src/chains/tron/api.ts';
import { parseTransaction, readAlone, readBlock } from '../../src/chains/utxo/block.ts';
import { createMemory } from '../../src/chains/utxo/memory.ts';
import { coreSource } from '../../src/chains/utxo/providers/core.ts';
import { serve } from '../helpers/local-server.ts';
import { verifies } from '../requirements.ts';

/** Processor time of this thread, ms: a busy machine makes it no longer. */
async function costOf(work: () => unknown): Promise<{ ms: number; failure: unknown }> {
  const before = process.cpuUsage();
  let failure: unknown;
  try {
    await work();
  } catch (error) {
    failure = error;
  }
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1000;
  if (process.env.SHOW_COST)
    process.stderr.write(`${expect.getState().currentTestName}: ${Math.round(ms)} ms\n`);
  return { ms, failure };
}

async function against(body: string | Uint8Array): Promise<Rpc> {
  const server = await serve((_, response) => response.end(body));
  const provider = createProvider(
    { provider: 'toncenter', url: server.url },
    {
      requests_per_second: 1_000,
      limits: { timeout_ms: 60_000, response_bytes: 64 * 1024 * 1024 },
      clock: { ms: Date.now },
      random: () => 0,
    },
  );
  onTestFinished(() => provider.close(new ProviderError('unreachable', 'test over')));
  return provider.rpc;
}

test.each([
  ['30 MB', 10_000_000],
  ['12 MB', 4_000_000],
  ['1 MB', 350_000],
])('a page of %s of empty rows is refused before they are read', async (_, count) => {
  verifies('answers-bounded');
  const rpc = await against(`{"transactions":[${Array(count).fill('{}').join(',')}]}`);
  const { ms, failure } = await costOf(() => getTransactions(rpc, { account: ['A'], sort: 'asc' }));
  expect(failure).toMatchObject({ name: 'ProviderError', kind: 'bad_answer' });
  expect(ms).toBeLessThan(1_000);
});

test('a hundred thousand empty logs end at the first', async () => {
  verifies('answers-bounded');
  const logs = Array.from({ length: 100_000 }, () => ({}));
  const { ms, failure } = await costOf(() => logsOf(logs));
  expect(failure).toMatchObject({ kind: 'bad_answer' });
  expect(ms).toBeLessThan(100);
});

test.each([100_000, 340_000])('a megabyte that says it has %i cells is no message', async (cells) => {
  verifies('answers-bounded');
  const bytes = Buffer.alloc(1_000_000);
  bytes.writeUInt32BE(0xb5ee9c72, 0);
  bytes.writeUInt8(3, 4);
  bytes.writeUInt8(3, 5);
  for (const [at, value] of [cells, 1, 0, 999_000, 0].entries()) bytes.writeUIntBE(value, 6 + at * 3, 3);
  const body = bytes.toString('base64');
  const { ms } = await costOf(() => expect(parseBody(body)).toBeNull());
  expect(ms).toBeLessThan(100);
});

test.each([
  ['inputs', 4],
  ['outputs', 4 + 1 + 41],
])('60 MB with a false count of %s are no transaction', async (_, at) => {
  verifies('answers-bounded');
  const bytes = Buffer.alloc(60_000_000);
  bytes.writeUInt8(1, 0);
  if (at > 4) bytes.writeUInt8(1, 4);
  bytes.writeUInt8(0xfe, at);
  bytes.writeUInt32LE(58_000_000, at + 1);
  const { ms, failure } = await costOf(() => parseTransaction(bytes));
  expect(failure).toMatchObject({ name: 'MalformedBytes' });
  expect(ms).toBeLessThan(200);
});

test('an error nested a million times is a failure of who sent it', async () => {
  verifies('answers-bounded');
  const deep = `{"jsonrpc":"2.0","id":1,"error":{"code":1,"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}}`;
  const rpc = await against(deep);
  const { failure } = await costOf(() => rpc.call('eth_chainId', []));
  expect(failure).toMatchObject({ name: 'ProviderError', kind: 'bad_answer' });
});

/** For no longer than this the thread that answers everyone is held by one answer. */
const HELD_AT_MOST_MS = 50;

/** What the machine does besides only adds to it: the best of so many runs counts. */
const RUNS = 12;

/** The longest that others waited for their turn meanwhile, ms. */
async function heldBy(work: () => Promise<unknown>): Promise<{ held_ms: number; value: unknown }> {
  let best = await heldOnce(work);
  for (let run = 1; run < RUNS && best.held_ms >= HELD_AT_MOST_MS; run++) {
    const again = await heldOnce(work);
    if (again.held_ms < best.held_ms) best = again;
  }
  if (process.env.SHOW_COST)
    process.stderr.write(`${expect.getState().currentTestName}: held ${Math.round(best.held_ms)} ms\n`);
  return best;
}

/** No longer than it took, and no longer than all threads of this process have worked. */
async function heldOnce(work: () => Promise<unknown>): Promise<{ held_ms: number; value: unknown }> {
  let held_ms = 0;
  let last = process.cpuUsage();
  let began_at = performance.now();
  let isRunning = true;
  const others = (): void => {
    const { user, system } = process.cpuUsage(last);
    held_ms = Math.max(held_ms, Math.min((user + system) / 1000, performance.now() - began_at));
    last = process.cpuUsage();
    began_at = performance.now();
    if (isRunning) setImmediate(others);
  };
  await new Promise((resolve) => setImmediate(resolve));
  others();
  const value = await work().catch((error: unknown) => error);
  await new Promise((resolve) => setImmediate(resolve));
  isRunning = false;
  return { held_ms, value };
}

const MB = 1024 * 1024;
const hex = (bytes: number) => `0x${'ab'.repeat(bytes)}`;
const fill = (row: unknown, bytes: number): unknown[] =>
  Array<unknown>(Math.floor(bytes / (JSON.stringify(row).length + 1))).fill(row);
const log = {
  ...{ address: hex(20), topics: [hex(32), hex(32), hex(32)], data: hex(32), logIndex: '0x1' },
  ...{ blockNumber: '0x1', blockHash: hex(32), transactionHash: hex(32) },
};
const evmTransaction = {
  ...{ hash: hex(32), from: hex(20), to: hex(20), value: '0x1', nonce: '0x1' },
  ...{ blockHash: hex(32), blockNumber: '0x1' },
};
const header = { number: '0x1', hash: hex(32), parentHash: hex(32), timestamp: '0x1' };
const receipt = {
  ...{ transactionHash: hex(32), blockHash: hex(32), blockNumber: '0x1', status: '0x1' },
  logs: fill(log, 15 * MB).map((each, at) => ({ ...(each as object), logIndex: `0x${at.toString(16)}` })),
};
const row = {
  ...{ account: `0:${'AB'.repeat(32)}`, hash: `${'A'.repeat(43)}=`, lt: '5', prev_trans_lt: '4' },
  ...{ prev_trans_hash: `${'A'.repeat(43)}=`, now: 5, mc_block_seqno: 5, description: {} },
  in_msg: { source: null, value: '1', bounced: false, message_content: { body: 'A'.repeat(15_000) } },
};
const inner = { txID: 'ab'.repeat(32), raw_data: { contract: [] } };
const rpcAnswer = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 1, result });

test.each<[string, () => string, (rpc: Rpc) => Promise<unknown>]>([
  [
    'logs',
    () => rpcAnswer(fill(log, 15 * MB)),
    async (rpc) => inTurns(rpc, readLogs(await rpc.call('x', []))),
  ],
  [
    'a whole block',
    () => rpcAnswer({ ...header, transactions: fill(evmTransaction, 15 * MB) }),
    async (rpc) => inTurns(rpc, readFullBlock(await rpc.call('x', []), 1)),
  ],
  [
    'a receipt',
    () => rpcAnswer(receipt),
    async (rpc) => inTurns(rpc, readReceipt(await rpc.call('x', []), hex(32))),
  ],
  [
    'a page of transactions',
    () => JSON.stringify({ transactions: fill(row, 15 * MB).slice(0, 1_000) }),
    (rpc) => getTransactions(rpc, { account: ['A'], sort: 'asc' }),
  ],
  [
    'a list of everything that is unconfirmed',
    () => JSON.stringify([{ jsonrpc: '2.0', id: 1, result: Array(460_000).fill('ab'.repeat(32)) }]),
    async (rpc) => {
      const lists = coreSource(rpc, createMemory()).list({
        ...{ watched: new Map(), urgent: [], followed: [], paused: new Set(), again: false },
        ...{ listed_at: 0, now: () => 1, spare_requests: 0 },
      });
      return lists.next();
    },
  ],
  [
    'blocks of the own API of a node',
    () => JSON.stringify({ block: fill({ transactions: fill(inner, 100_000) }, 15 * MB) }),
    (rpc) => askTron(rpc, 'wallet', 'getblockbylimitnext', {}),
  ],
  [
    'a raw block in hexadecimal',
    () => rpcAnswer('ab'.repeat(7.9 * MB)),
    (rpc) => rpc.call('x', [], { most_bytes: 16 * MB }),
  ],
])('%s as large as they may be hold up no one else', async (_, body, read) => {
  verifies('answers-held');
  const text = body();
  const rpc = await against(Buffer.from(text));
  const began = performance.now();
  JSON.parse(text);
  const floor_ms = performance.now() - began;
  const { held_ms } = await heldBy(() => read(rpc));
  // On a machine that is busy with other tests, half of what the text takes in one piece, before anything of it is checked.
  expect(held_ms).toBeLessThan(Math.max(HELD_AT_MOST_MS, floor_ms / 2));
});

/** A transaction with so many outputs of so many bytes each. */
function rawTransaction(outputs: number, serial: number): Buffer {
  const head = Buffer.alloc(4 + 1 + 41);
  head.writeUInt32LE(1, 0);
  head.writeUInt8(1, 4);
  head.writeUInt32LE(serial, 5);
  const count = Buffer.alloc(5);
  count.writeUInt8(0xfe, 0);
  count.writeUInt32LE(outputs, 1);
  return Buffer.concat([head, count, Buffer.alloc(9 * outputs), Buffer.alloc(4)]);
}

test.each([
  ['of small transactions', 61_500, 1],
  ['of one transaction', 1, 440_000],
])('a raw block %s holds up no one else', async (_, transactions, outputs) => {
  verifies('answers-held');
  const count = Buffer.alloc(5);
  count.writeUInt8(0xfe, 0);
  count.writeUInt32LE(transactions, 1);
  const parts = Array.from({ length: transactions }, (_, serial) => rawTransaction(outputs, serial));
  const block = Buffer.concat([Buffer.alloc(80), count, ...parts]);
  expect(block.length).toBeGreaterThan(3_900_000);
  const rpc = await against('');
  const { held_ms, value } = await heldBy(() => inTurns(rpc, readBlock(block)));
  // It was read to its end, where its transactions are held against the header.
  expect(value).toMatchObject({ message: expect.stringContaining('not those of the block header') });
  expect(held_ms).toBeLessThan(HELD_AT_MOST_MS);
  const alone = await heldBy(() => inTurns(rpc, readAlone(rawTransaction(outputs, 0))));
  expect(alone.value).toMatchObject({ outputs: { length: outputs } });
  expect(alone.held_ms).toBeLessThan(HELD_AT_MOST_MS);
});

test('bytes that are larger than any block are not read further', async () => {
  verifies('answers-bounded');
  const parts = Array.from({ length: 200_000 }, (_, serial) => rawTransaction(1, serial));
  const count = Buffer.alloc(5);
  count.writeUInt8(0xfe, 0);
  count.writeUInt32LE(parts.length, 1);
  const rpc = await against('');
  const { value } = await heldBy(() =>
    inTurns(rpc, readBlock(Buffer.concat([Buffer.alloc(80), count, ...parts]))),
  );
  expect(value).toMatchObject({ name: 'MalformedBytes', message: 'larger than any block' });
});
