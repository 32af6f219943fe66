// Answers that are far too large, or say that they are: what reading them costs is bounded.
import { expect, onTestFinished, test } from 'vitest';
import { createProvider } from '../../daemon/observer/providers/provider.ts';
import { logsOf } from '../../src/chains/evm/answers.ts';
import { ProviderError, type Rpc } from '../../src/chains/family.ts';
import { parseBody } from '../../src/chains/ton/body.ts';
import { getTransactions } from '../../src/chains/ton/providers/toncenter.ts';
import { parseTransaction } from '../../src/chains/utxo/block.ts';
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
