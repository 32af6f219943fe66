// What an answer says of the question that was asked never counts against the provider, its pace, or anyone else's questions.
import { expect, onTestFinished, test } from 'vitest';
import { openRpc } from '../../../daemon/observer/providers/rpc.ts';
import { type Family, ProviderError, type Rpc } from '../../../src/chains/family.ts';
import { isOfQuestion } from '../../../src/chains/or-failed.ts';
import { ask as askTron } from '../../../src/chains/tron/api.ts';
import { createMemory } from '../../../src/chains/utxo/memory.ts';
import { coreSource } from '../../../src/chains/utxo/providers/core.ts';
import { esploraSource } from '../../../src/chains/utxo/providers/esplora.ts';
import { serve } from '../../helpers/local-server.ts';
import { verifies } from '../../requirements.ts';

const NOW_MS = 1_800_000_000_000;
const PER_SECOND = 200;

/** A provider that answers everything so, its source, and how often it was asked. */
async function against(status: number, body: string) {
  const server = await serve((_, response) => response.writeHead(status).end(body));
  const family: Pick<Family, 'identify' | 'providers'> = {
    identify: async () => 'mainnet',
    providers: [{ kind: 'any', needs_url: true, key_header: 'x-api-key' }],
  };
  const source = openRpc({
    blockchain: 'any',
    family,
    network: 'mainnet',
    providers: [{ provider: 'any', url: server.url, adapts: true }],
    requests_per_second: PER_SECOND,
    clock: { ms: () => NOW_MS },
    random: () => 0,
  });
  onTestFinished(() => source.close());
  return { source, server };
}

const body = (code: number, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } });
const json = (rpc: Rpc) => rpc.json('/x');
const text = (rpc: Rpc) => rpc.text('/x');
const call = (rpc: Rpc) => rpc.call('x', []);
const tron = (rpc: Rpc) => askTron(rpc, 'wallet', 'getaccount', {});

type Ask = (rpc: Rpc) => Promise<unknown>;

test.each<[string, number, string, Ask]>([
  [
    'toncenter: a contract that returns null',
    501,
    '{"error":"failed to decode api/v2 stack: unsupported stack entry type: unsupported"}',
    json,
  ],
  [
    'toncenter: a query that took too long for one account',
    500,
    '{"error":"timeout: context deadline exceeded"}',
    json,
  ],
  [
    'toncenter: states of an account that took too long',
    422,
    '{"error":"timeout: context deadline exceeded"}',
    json,
  ],
  ['toncenter: an error of a contract', 533, '{"error":"LITE_SERVER_UNKNOWN: contract state"}', json],
  ['Esplora: no such transaction', 404, 'Transaction not found', text],
  ['Esplora: an address with too many outputs', 400, 'Too many unspent transaction outputs (>500)', json],
  ['Esplora: a history too long to be listed', 500, 'too many txs', json],
  ['Core before 28: no such transaction', 500, body(-5, 'No such mempool or blockchain transaction'), call],
  ['Core from 28 on: no such transaction', 200, body(-5, 'No such mempool or blockchain transaction'), call],
  ['Core: a block that it has removed', 500, body(-1, 'Block not available (pruned data)'), call],
  ['Core: a bad parameter', 500, body(-8, 'parameter 1 must be of length 64'), call],
  ['Solana: a skipped slot', 200, body(-32_007, 'Slot 5 was skipped, or missing due to ledger jump'), call],
  [
    'Solana: no history of a slot',
    200,
    body(-32_009, 'Slot 5 was skipped, or missing in long-term storage'),
    call,
  ],
  [
    'Solana: a key that is not indexed',
    200,
    body(-32_010, 'Key excluded from account secondary indexes'),
    call,
  ],
  [
    'Solana: a version it was not asked for',
    200,
    body(-32_015, 'Transaction version (1) is not supported'),
    call,
  ],
  ['Solana: no public key', 200, body(-32_602, 'Invalid param: WrongSize'), call],
  ['EVM: a contract that reverts', 200, body(3, 'execution reverted'), call],
  [
    'EVM: a contract that speaks of limits',
    200,
    body(3, 'execution reverted: rate limit, too many requests'),
    call,
  ],
  [
    'EVM: the same with another code',
    200,
    body(-32_000, 'execution reverted: quota of requests per second'),
    call,
  ],
  [
    'EVM: the same as a status',
    400,
    body(-32_000, 'VM Exception: revert too many requests per second'),
    call,
  ],
  ['EVM: out of gas', 200, body(-32_000, 'out of gas: gas required exceeds: 50000000'), call],
  [
    'TRON: no such account',
    200,
    '{"Error":"class org.tron.core.exception.BadItemException : account is over the fee limit"}',
    tron,
  ],
])('%s', async (_, status, answer, ask) => {
  verifies('question-no-outage');
  const { source, server } = await against(status, answer);
  const failure = await source.use((rpc) => ask(rpc).catch((error: unknown) => error));
  expect(failure).toBeInstanceOf(ProviderError);
  expect(isOfQuestion(failure)).toBe(true);
  // Asked once, at the full pace, and as well as before.
  expect(server.requests).toHaveLength(1);
  expect(source.status()).toMatchObject([
    { state: 'ok', failures: 0, backoff_until: null, requests_per_second: expect.any(Number) },
  ]);
});

test.each<[string, number, string, number | null, Ask]>([
  ['toncenter', 429, '{"ok":false,"result":"Ratelimit exceed","code":429}', null, json],
  [
    'TronGrid, JSON-RPC',
    403,
    '{"Success":false,"Error":"The key exceeds the frequency limit(15), and the query server is suspended for 30s"}',
    30_000,
    call,
  ],
  [
    'TronGrid, its status 503',
    503,
    '{"Error":"The key exceeds the frequency limit(3), and the query server is suspended for 30s"}',
    30_000,
    json,
  ],
  [
    'TronGrid, its status 429',
    429,
    '{"Error":"The key exceeds the frequency limit(3), and the query server is suspended for 30 seconds"}',
    30_000,
    json,
  ],
  [
    'TronGrid behind HTTP 200',
    200,
    '{"Error":"The key exceeds the frequency limit(15), and the query server is suspended for 30s"}',
    30_000,
    call,
  ],
  ['a host that names minutes', 429, 'slow down, try again in 2 minutes', 120_000, json],
  ['a host that names a day', 429, 'retry after 90000 seconds', 900_000, json],
])('%s asks to be left alone, and is for as long as it says', async (_, status, answer, wait_ms, ask) => {
  verifies('refusals-known');
  const { source } = await against(status, answer);
  await expect(source.use(ask)).rejects.toMatchObject({ kind: 'rate_limited', retry_after_ms: wait_ms });
  const [{ backoff_until } = { backoff_until: null }] = source.status();
  expect(backoff_until).toBeGreaterThanOrEqual(NOW_MS + (wait_ms ?? 1));
});

const TXID = 'ab'.repeat(32);
const BLOCK = 'cd'.repeat(32);

test('a transaction whose block a pruned node no longer has is not known, which is no failure', async () => {
  verifies('question-no-outage');
  const pruned = new ProviderError('rpc', 'core: getrawtransaction: Block not available (pruned data)', -1);
  const other = new ProviderError('rpc', 'core: getrawtransaction: an internal error', -1);
  let answer: ProviderError = pruned;
  const refuse = async () => {
    throw answer;
  };
  const rpc: Rpc = {
    provider: 'core',
    json: refuse,
    text: refuse,
    bytes: refuse,
    call: refuse,
    batch: refuse,
  };
  const memory = createMemory();
  memory.mined.set(TXID, BLOCK);
  expect(await coreSource(rpc, memory).locate(TXID)).toBeNull();
  answer = other;
  await expect(coreSource(rpc, memory).locate(TXID)).rejects.toBe(other);
});

test('where an explorer refuses the lists of all that are asked for, the list of no one shows whether it is for what is in them', async () => {
  verifies('question-no-outage');
  const scripts = [1, 2, 3].map((at) => `0014${String(at).repeat(40)}`);
  for (const isOfThese of [true, false]) {
    let asked = 0;
    const refuse = async () => {
      // The list of no one is asked for last.
      if (isOfThese && ++asked > scripts.length) return [];
      throw new ProviderError('rpc', 'esplora: HTTP 400: too many', 400);
    };
    const rpc = { provider: 'esplora', json: refuse } as unknown as Rpc;
    const lists = esploraSource(rpc, createMemory()).list({
      watched: new Map(scripts.map((key) => [key, { key, address: key, since: 0, open: true }])),
      urgent: [],
      followed: [],
      paused: new Set(),
      again: false,
      listed_at: 0,
      now: () => NOW_MS / 1000,
      spare_requests: 8,
    });
    const listed = lists.next();
    if (!isOfThese) await expect(listed).rejects.toMatchObject({ kind: 'rpc' });
    else expect((await listed).value).toMatchObject(scripts.map(() => ({ complete: false, failed: true })));
  }
});

test('an explorer that has moved is named as such, and the next one is asked', async () => {
  verifies('urls-failover');
  const family: Pick<Family, 'identify' | 'providers'> = {
    identify: async () => 'mainnet',
    providers: [{ kind: 'any', needs_url: true, key_header: 'x-api-key' }],
  };
  const here = await serve((_, response) => response.end('800000'));
  const moved = await serve((_, response) =>
    response.writeHead(301, { location: `${here.url}/blocks/tip/height` }).end('Moved Permanently'),
  );
  const source = openRpc({
    blockchain: 'any',
    family,
    network: 'mainnet',
    providers: [moved, here].map(({ url }) => ({ provider: 'any', url })),
    requests_per_second: PER_SECOND,
    clock: { ms: () => NOW_MS },
    random: () => 0,
  });
  onTestFinished(() => source.close());
  const height = () => source.use((rpc) => rpc.text('/blocks/tip/height'));
  await expect(height()).rejects.toMatchObject({
    kind: 'bad_answer',
    message: expect.stringContaining('redirects: its URL has changed'),
  });
  expect(here.requests).toHaveLength(0);
  expect(await height()).toBe('800000');
  expect([moved.requests.length, here.requests.length]).toEqual([1, 1]);
});
