// What providers refuse, each in its own words, and what is made of it: from HTTP to the limits that reading goes by.
import { expect, onTestFinished, test } from 'vitest';
import { createProvider } from '../../../daemon/observer/providers/provider.ts';
import { type Asker, askEach, newHost } from '../../../src/chains/evm/hosts.ts';
import { networks } from '../../../src/chains/evm/networks.ts';
import { readLogRange } from '../../../src/chains/evm/ranges.ts';
import { ProviderError } from '../../../src/chains/family.ts';
import { knownHost } from '../../../src/chains/known-hosts.ts';
import { json, serve } from '../../helpers/local-server.ts';
import { verifies } from '../../requirements.ts';

interface Call {
  id: number;
  method: string;
  params: [unknown, unknown];
}
type Answer = { status?: number; body: unknown } | undefined;

const hashOf = (height: number) => `0x${height.toString(16).padStart(64, 'a')}`;
const headerAt = (height: number) => ({
  number: `0x${height.toString(16)}`,
  hash: hashOf(height),
  parentHash: hashOf(height - 1),
  timestamp: '0x65000000',
});

/** A chain without a payment, whose answers may be others; null in a body's id is left as it is. */
const honest = ({ id, method, params: [first] }: Call) => ({
  jsonrpc: '2.0',
  id,
  result: method === 'eth_getLogs' ? [] : headerAt(Number(first)),
});

async function open(answer: (calls: Call[], index: number) => Answer) {
  const asked: Call[][] = [];
  const server = await serve(({ body, index }, response) => {
    const sent = JSON.parse(body) as Call | Call[];
    const calls = [sent].flat();
    asked.push(calls);
    const refused = answer(calls, index);
    if (refused) return json(response, refused.body, refused.status);
    return json(response, Array.isArray(sent) ? calls.map(honest) : honest(sent));
  });
  const provider = createProvider(
    { provider: 'evm', url: server.url },
    {
      requests_per_second: 10_000,
      limits: { timeout_ms: 5_000, response_bytes: 1_000_000 },
      clock: { ms: Date.now },
      random: () => 0,
    },
  );
  onTestFinished(() => provider.close(new ProviderError('unreachable', 'test over')));
  const network = networks.base;
  const host = newHost({ ...network, batch: { ...network.batch, calls: 50 }, range_blocks: 100_000 });
  host.topics = { ...host.topics, value: 5_000, most: 5_000 };
  const asker: Asker = { rpc: provider.rpc, host, batch_bytes: 1_000_000 };
  return { asker, asked, provider };
}

const values = (count: number) =>
  Array.from({ length: count }, (_, at) => `0x${String(at).padStart(64, '0')}`);
const filter = (count: number) => ({ address: ['0x1'], topics: ['0xddf2', null, values(count)] });

const whole = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } });
const each = (code: number, message: string) => (calls: Call[]) =>
  calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code, message } }));
const ofLogs = (code: number, message: string) => (calls: Call[]) =>
  calls.map((call) =>
    call.method === 'eth_getLogs' ? { jsonrpc: '2.0', id: call.id, error: { code, message } } : honest(call),
  );

const DRPC_BATCH =
  'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at drpc.org';

/** Host, status, body, and which limit is learnt of it: the value where it is named, else that it is less than before. */
const refusals: [string, number, (calls: Call[]) => unknown, Partial<Record<string, number | 'less'>>][] = [
  ['drpc.org', 500, each(31, DRPC_BATCH), { calls: 3 }],
  ['drpc.org', 200, each(31, DRPC_BATCH), { calls: 3 }],
  ['drpc.org', 500, () => whole(31, DRPC_BATCH), { calls: 3 }],
  ['public.1rpc.io', 400, each(31, DRPC_BATCH), { calls: 3 }],
  ['mainnet.base.org', 200, () => whole(-32_014, 'maximum 10 calls in 1 batch'), { calls: 10 }],
  ['mainnet.base.org', 200, () => [whole(-32_014, 'maximum 10 calls in 1 batch')], { calls: 10 }],
  ['java-tron', 200, () => whole(-32_005, 'Batch size 22 exceeds the limit of 20'), { calls: 20 }],
  ['geth', 200, () => whole(-32_600, 'batch too large'), { calls: 'less' }],
  ['geth', 200, () => whole(-32_003, 'response too large'), { calls: 'less' }],
  ['onfinality.io', 500, each(-32_000, 'internal error'), { calls: 'less' }],
  ['drpc.org', 200, ofLogs(35, 'ranges over 10000 blocks are not supported on freetier'), { blocks: 10_000 }],
  ['drpc.org', 200, ofLogs(30, 'Request timeout on the free tier, please upgrade'), { blocks: 'less' }],
  ['1rpc.io', 200, ofLogs(-32_000, 'eth_getLogs is limited to 0 - 10000 blocks range'), { blocks: 10_000 }],
  ['mainnet.base.org', 200, ofLogs(-32_614, 'block range too large'), { blocks: 'less' }],
  [
    'mainnet.base.org',
    200,
    ofLogs(-32_011, 'no backend is currently healthy to serve traffic'),
    { blocks: 'less' },
  ],
  ['publicnode.com', 200, ofLogs(-32_701, 'exceed maximum block range: 50000'), { blocks: 50_000 }],
  ['alchemy.com', 200, ofLogs(-32_600, 'this block range should work: [0x1, 0xa]'), { blocks: 'less' }],
  ['quiknode.pro', 200, ofLogs(-32_614, 'eth_getLogs is limited to a 5 range'), { blocks: 5 }],
  ['quiknode.pro', 200, ofLogs(-32_614, 'eth_getLogs is limited to a 10,000 range'), { blocks: 10_000 }],
  ['infura.io', 200, ofLogs(-32_602, 'range 100000 exceeds limit of 10000'), { blocks: 10_000 }],
  ['infura.io', 200, ofLogs(-32_005, 'query returned more than 10000 results'), { blocks: 'less' }],
  [
    'cloudflare-eth.com',
    200,
    ofLogs(-32_047, 'Invalid eth_getLogs request. Max range: 800'),
    { blocks: 800 },
  ],
  ['blockpi.network', 200, ofLogs(-32_000, 'eth_getLogs requests limited to 1024 blocks'), { blocks: 1_024 }],
  ['ankr.com', 200, ofLogs(-32_600, 'block range is too wide'), { blocks: 'less' }],
  ['merkle.io', 200, ofLogs(-32_600, 'eth_getLogs is limited to a 10k range'), { blocks: 10_000 }],
  ['coinbase.com', 200, ofLogs(-32_600, 'please limit the query to at most 1000 blocks'), { blocks: 1_000 }],
  [
    'chainstack.com',
    200,
    ofLogs(-32_000, 'Block range limit exceeded. See more details'),
    { blocks: 'less' },
  ],
  [
    'blast.io',
    200,
    ofLogs(-32_600, 'response size should not greater than 10000000 bytes'),
    { blocks: 'less' },
  ],
  ['blast.io', 200, ofLogs(-32_600, 'backend response too large'), { blocks: 'less' }],
  ['arbitrum.io', 200, ofLogs(-32_000, 'logs matched by query exceeds limit of 10000'), { blocks: 'less' }],
  ['geth', 200, ofLogs(-32_602, 'query exceeds range: block range greater than 2000 max'), { blocks: 2_000 }],
  ['java-tron', 200, ofLogs(-32_005, 'exceed max block range: 5000'), { blocks: 5_000 }],
  ['geth', 200, ofLogs(-32_602, 'exceed max addresses or topics per search position'), { values: 'less' }],
  ['java-tron', 200, ofLogs(-32_005, 'exceed max topics: 1000'), { values: 1_000 }],
  ['mainnet.base.org', 200, each(-32_016, 'over rate limit'), { pauses: 1 }],
  ['mainnet.base.org', 429, () => whole(-32_016, 'over rate limit'), { pauses: 1 }],
  ['drpc.org', 200, each(15, 'Too many requests, try again later'), { pauses: 1 }],
  [
    'alchemy.com',
    429,
    each(429, 'Your app has exceeded its compute units per second capacity'),
    { pauses: 1 },
  ],
  [
    'quiknode.pro',
    200,
    each(-32_007, '15/second request limit reached - reduce calls per second'),
    { pauses: 1 },
  ],
  ['infura.io', 200, each(-32_005, 'daily request count exceeded, request rate limited'), { pauses: 1 }],
  [
    'java-tron',
    200,
    () => ({ Error: 'class java.lang.Exception : lack of computing resources' }),
    { pauses: 1 },
  ],
  [
    'trongrid.io',
    403,
    () => ({ Error: 'The key exceeds the frequency limit(3), and the query server is suspended for 30s' }),
    { pauses: 1, wait_ms: 30_000 },
  ],
];

test.each(
  refusals.map((row, at) => [`${at} ${row[0]}, ${row[1]}: ${JSON.stringify(row[2]([]))}`, row] as const),
)('a refusal is what it speaks of: %s', async (_, [host, status, body, expected]) => {
  verifies('refusals-known');
  const { asker, provider } = await open((calls, index) =>
    index === 0 ? { status, body: body(calls) } : undefined,
  );
  // As many calls as the refusal is about: the values of a topic make filters, filters make calls.
  if ('calls' in expected) {
    const calls = Array.from({ length: 22 }, (_, at) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${(at + 1).toString(16)}`, false],
    }));
    expect(await askEach(asker, calls)).toHaveLength(22);
  } else {
    const count = 'values' in expected ? 5_000 : 10;
    const read = readLogRange(asker, [filter(count)], 1_001, 101_000);
    // For as long as that another provider is asked.
    if ('wait_ms' in expected)
      await expect(read).rejects.toMatchObject({ kind: 'rate_limited', retry_after_ms: expected.wait_ms });
    else await read;
  }
  const { calls, blocks, topics } = asker.host;
  const before = { calls: 50, blocks: 100_000, values: 5_000, pauses: 0 };
  const after = {
    calls: calls.value,
    blocks: blocks.value,
    values: topics.value,
    pauses: provider.counters.failures,
  };
  for (const [name, was] of Object.entries(before)) {
    const is = after[name as keyof typeof after];
    const wanted = expected[name] ?? was;
    if (wanted === 'less') expect([name, is < was && is > 1]).toEqual([name, true]);
    else expect([host, name, is]).toEqual([host, name, wanted]);
  }
});

test('what was answered of a batch stands, and the rest asked again later in smaller pieces', async () => {
  verifies('refusals-known');
  let left = 5;
  const { asker, asked, provider } = await open((calls) => {
    const answers = calls.map((call) =>
      left-- > 0 ? honest(call) : { id: call.id, error: { code: -32_016, message: 'over rate limit' } },
    );
    left = Math.max(left, 0) + 2;
    return { body: Array.isArray(calls) && calls.length > 1 ? answers : answers[0] };
  });
  const calls = Array.from({ length: 12 }, (_, at) => ({
    method: 'eth_getBlockByNumber',
    params: [`0x${(at + 1).toString(16)}`, false],
  }));
  const answers = (await askEach(asker, calls)) as { number: string }[];
  expect(answers.map(({ number }) => Number(number))).toEqual(calls.map((_, at) => at + 1));
  const heights = asked.slice(1).flatMap((group) => group.map(({ params }) => Number(params[0])));
  expect(heights.filter((height) => height <= 5)).toEqual([]);
  expect(Math.max(...asked.slice(1).map(({ length }) => length))).toBeLessThan(12);
  expect(provider.counters.failures).toBeGreaterThan(0);
});

test('a range of logs is read by one host, though its answer came in parts', async () => {
  const { asker, asked } = await open((calls, index) => {
    if (index > 0) return undefined;
    const answers = calls.map((call, at) =>
      at < 2 ? honest(call) : { id: call.id, error: { code: -32_016, message: 'over rate limit' } },
    );
    return { body: answers };
  });
  asker.host.blocks.value = 10;
  await readLogRange(asker, [filter(1)], 1_001, 1_100);
  const [, ...again] = asked;
  // Each request with logs in it asks for the last block after them, or alone and between two others that do.
  const last = (group: Call[]) => group.at(-1)?.method === 'eth_getBlockByNumber';
  expect(again.every((group) => group.length === 1 || last(group))).toBe(true);
  const isFirst = again[0]?.[0]?.method === 'eth_getBlockByNumber';
  expect(isFirst).toBe(true);
});

test.each([
  ['eth.drpc.org', { batch_calls: 3 }, true],
  ['base-sepolia.drpc.org:443', { batch_calls: 3 }, true],
  ['public.1rpc.io', { batch_calls: 3 }, undefined],
  ['mainnet.base.org', { log_blocks: 2_000 }, true],
  ['base-rpc.publicnode.com', { log_blocks: 50_000 }, undefined],
  ['eth-mainnet.g.alchemy.com', {}, true],
  ['fragrant-name.base-mainnet.quiknode.pro', {}, true],
  ['api.mainnet.solana.com', {}, true],
])('of %s is known what it takes at first', (host, begins, counts_calls) => {
  expect(knownHost(host)).toMatchObject({ begins });
  expect(knownHost(host)?.counts_calls).toBe(counts_calls);
});

test('of hosts with other names nothing is known', () => {
  for (const host of ['127.0.0.1:8545', 'notdrpc.org', 'drpc.org.example.com'])
    expect(knownHost(host)).toBeUndefined();
});
