// Several providers of one blockchain: fail-over and return, back-off, the network check and shutdown, over real HTTP.
import { expect, onTestFinished, test, vi } from 'vitest';
import { openRpc, type ProviderEvent, type RpcOptions } from '../../../daemon/observer/providers/rpc.ts';
import { createQuorum, loneOperator, providersOf } from '../../../daemon/observer/quorum.ts';
import type { Blockchain } from '../../../src/chains/catalogue.ts';
import { type Network, ProviderError, type Rpc } from '../../../src/chains/family.ts';
import { builtIn } from '../../../src/chains/gateways.ts';
import { type AnswerRequest, json, type LocalServer, serve } from '../../helpers/local-server.ts';
import { verifies } from '../../requirements.ts';

const START = Date.UTC(2026, 10, 20, 12);

/** Asks the provider itself which network it serves, as families do. */
const family = {
  identify: async (rpc: Rpc) => (await rpc.json('/network')) as Network,
  providers: [],
};

/** A server that knows its network and otherwise answers its name. */
const node = (name: string, network: Network = 'testnet', answer?: AnswerRequest): Promise<LocalServer> =>
  serve((request, response) => {
    if (request.path === '/network') json(response, network);
    else if (answer) answer(request, response);
    else json(response, name);
  });

function open(urls: readonly string[], options: Partial<RpcOptions> = {}) {
  const clock = { now: START, ms: () => clock.now };
  const events: ProviderEvent[] = [];
  const source = openRpc({
    blockchain: 'ton',
    family,
    network: 'testnet',
    providers: urls.map((url) => ({ provider: 'toncenter', url })),
    requests_per_second: 1000,
    clock,
    onEvent: (event) => events.push(event),
    random: () => 1,
    ...options,
  });
  onTestFinished(() => source.close());
  return { source, clock, events };
}

const whoAnswers = (rpc: Rpc) => rpc.json('/x');
const paths = (server: LocalServer) => server.requests.map(({ path }) => path);

test('the first provider is used, and its network is asked for once', async () => {
  const [first, second] = [await node('first'), await node('second')];
  const { source } = open([first.url, second.url]);
  const answers = await Promise.all([source.use(whoAnswers), source.use(whoAnswers), source.use(whoAnswers)]);
  expect(answers).toEqual(['first', 'first', 'first']);
  expect(paths(first).filter((path) => path === '/network')).toHaveLength(1);
  expect(second.requests).toHaveLength(0);
});

test('a provider that went down is replaced by the next, and used again when it is back', async () => {
  const [first, second] = [await node('first'), await node('second')];
  const { source, clock, events } = open([first.url, second.url]);
  expect(await source.use(whoAnswers)).toBe('first');
  await first.close();
  await expect(source.use(whoAnswers)).rejects.toMatchObject({ kind: 'unreachable' });
  expect(await source.use(whoAnswers)).toBe('second');
  expect(source.status()).toMatchObject([{ state: 'down', backoff_until: START + 1000 }, { state: 'ok' }]);

  await serve(
    ({ path }, response) => json(response, path === '/network' ? 'testnet' : 'first again'),
    Number(new URL(first.url).port),
  );
  expect(await source.use(whoAnswers)).toBe('second');
  clock.now += 1000;
  expect(await source.use(whoAnswers)).toBe('first again');
  expect(events.map(({ type }) => type)).toEqual(['provider_down', 'provider_back']);
});

test('a provider that is down at the start costs no read: the next one is asked in the same use', async () => {
  const [gone, second] = [await node('gone'), await node('second')];
  await gone.close();
  const { source } = open([gone.url, second.url]);
  expect(await source.use(whoAnswers)).toBe('second');
});

test('an error nested a million times is a failure of its provider, and the next one takes over', async () => {
  verifies('answers-bounded', 'urls-failover');
  const deep = `{"error":{"code":1,"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}}`;
  const first = await node('first', 'testnet', (_, response) => response.end(deep));
  const second = await node('second', 'testnet', ({ body }, response) =>
    json(response, { id: (JSON.parse(body) as { id: number }).id, result: 7 }),
  );
  const { source } = open([first.url, second.url]);
  const ask = () => source.use((rpc) => rpc.call('eth_blockNumber', []));
  await expect(ask()).rejects.toMatchObject({ name: 'ProviderError', kind: 'bad_answer' });
  expect(await ask()).toBe(7);
  expect(source.status()).toMatchObject([{ state: 'down', failures: 1 }, { state: 'ok' }]);
});

test('a family that an answer makes throw does not know its network, and the next provider is asked', async () => {
  verifies('answers-bounded');
  const [first, second] = [await node('first'), await node('second')];
  const odd = {
    providers: [],
    identify: async (rpc: Rpc): Promise<Network> => {
      if ((await rpc.json('/x')) === 'first') throw new RangeError('Maximum call stack size exceeded');
      return 'testnet';
    },
  };
  const { source, events } = open([first.url, second.url], { family: odd });
  expect(await source.use(whoAnswers)).toBe('second');
  expect(events).toMatchObject([{ type: 'provider_down', message: expect.stringContaining('RangeError') }]);
});

test('everything inside one use talks to one provider, though another one is better meanwhile', async () => {
  let limited = true;
  const first = await node('first', 'testnet', (_, response) =>
    limited ? response.writeHead(429, { 'retry-after': '60' }).end() : json(response, 'first'),
  );
  const second = await node('second');
  const { source, clock } = open([first.url, second.url]);
  await expect(source.use(whoAnswers)).rejects.toMatchObject({ kind: 'rate_limited' });
  const answers = await source.use(async (rpc) => {
    const before = await rpc.json('/x');
    limited = false;
    clock.now += 60_000;
    return [before, await rpc.json('/x')];
  });
  expect(answers).toEqual(['second', 'second']);
  expect(await source.use(whoAnswers)).toBe('first');
});

test('Retry-After is honoured, and where no one can be asked the refusal comes without a request', async () => {
  const only = await node('only', 'testnet', ({ index }, response) =>
    index === 1 ? response.writeHead(429, { 'retry-after': '30' }).end() : json(response, 'only'),
  );
  const { source, clock } = open([only.url]);
  await expect(source.use(whoAnswers)).rejects.toMatchObject({ kind: 'rate_limited' });
  expect(source.retryAt()).toBe(START + 30_000);
  clock.now += 29_999;
  await expect(source.use(whoAnswers)).rejects.toThrow(/^ton: no provider can be used now: .*rate limited/);
  expect(only.requests).toHaveLength(2);
  clock.now += 1;
  expect(source.retryAt()).toBe(clock.now);
  expect(await source.use(whoAnswers)).toBe('only');
});

test('the back-off doubles up to a minute, counts one outage once, and a success resets it', async () => {
  let healthy = false;
  const flaky = await node('flaky', 'testnet', (_, response) =>
    healthy ? json(response, 'flaky') : response.end('<html>'),
  );
  const { source, clock } = open([flaky.url]);
  const waits: number[] = [];
  for (let outage = 0; outage < 9; outage++) {
    await Promise.allSettled([source.use(whoAnswers), source.use(whoAnswers), source.use(whoAnswers)]);
    waits.push(source.retryAt() - clock.now);
    clock.now = source.retryAt();
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  healthy = true;
  expect(await source.use(whoAnswers)).toBe('flaky');
  healthy = false;
  await expect(source.use(whoAnswers)).rejects.toMatchObject({ kind: 'bad_answer' });
  expect(source.retryAt() - clock.now).toBe(1000);
});

test('a wall clock that is set back does not prolong a back-off', async () => {
  const only = await node('only', 'testnet', ({ index }, response) =>
    index === 1 ? response.end('<html>') : json(response, 'only'),
  );
  const { source, clock } = open([only.url]);
  await expect(source.use(whoAnswers)).rejects.toMatchObject({ kind: 'bad_answer' });
  clock.now -= 3_600_000;
  expect(await source.use(whoAnswers)).toBe('only');
});

test("an error that is not the provider's backs no one off", async () => {
  const only = await node('only');
  const { source } = open([only.url]);
  await expect(
    source.use(() => {
      throw new RangeError('database is full');
    }),
  ).rejects.toThrow('database is full');
  expect(source.status()).toMatchObject([{ state: 'ok', backoff_until: null }]);
  expect(await source.use(whoAnswers)).toBe('only');
});

test('a provider of another network is never used: the next one is', async () => {
  verifies('provider-network');
  const [wrong, right] = [await node('wrong', 'mainnet'), await node('right')];
  const { source, clock, events } = open([wrong.url, right.url]);
  expect(await source.use(whoAnswers)).toBe('right');
  clock.now += 86_400_000;
  expect(await source.use(whoAnswers)).toBe('right');
  expect(paths(wrong)).toEqual(['/network']);
  expect(source.status()[0]).toMatchObject({ state: 'wrong_network', last_error: events[0]?.message });
  expect(events.map(({ type }) => type)).toEqual(['wrong_network']);
});

test('where only another network is served the refusal names both networks, for good', async () => {
  verifies('provider-network');
  const wrong = await node('wrong', 'mainnet');
  const { source } = open([wrong.url]);
  for (let time = 0; time < 2; time++) {
    await expect(source.use(whoAnswers)).rejects.toMatchObject({
      kind: 'wrong_network',
      message: expect.stringMatching(/serves mainnet, but testnet is configured/),
    });
  }
  expect(source.retryAt()).toBe(Number.POSITIVE_INFINITY);
  expect(paths(wrong)).toEqual(['/network']);
});

test('events and status hold no credentials', async () => {
  const node_ = await node('x', 'testnet', ({ headers }, response) =>
    response.writeHead(401).end(`who is ${headers.authorization} ${headers['x-api-key']} sesame-1?`),
  );
  const url = node_.url.replace('//', '//operator:sesame-1@');
  const { source, events } = open([], { providers: [{ provider: 'core', url, api_key: 'sesame-2' }] });
  const error = await source.use(whoAnswers).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ kind: 'unreachable', code: 401 });
  const reported = JSON.stringify([events, source.status(), (error as ProviderError).message]);
  expect(reported).toContain('who is');
  expect(reported).not.toMatch(/sesame|operator|b3BlcmF0b3I/);
});

test('a key is sent in the header that the family names for the kind of provider', async () => {
  const server = await node('x');
  const providers = [{ kind: 'gridded', needs_url: false, key_header: 'grid-api-key' }];
  const { source } = open([], {
    family: { ...family, providers },
    providers: [{ provider: 'gridded', url: server.url, api_key: 'sesame-3' }],
  });
  await source.use(whoAnswers);
  for (const { headers } of server.requests) {
    expect(headers['grid-api-key']).toBe('sesame-3');
    expect(headers['x-api-key']).toBeUndefined();
  }
});

test('shutdown ends what is under way and what waits for its turn, and makes no provider back off', async () => {
  const hanging = await node('hanging', 'testnet', () => {});
  const shutdown = new AbortController();
  const { source, events } = open([hanging.url], { requests_per_second: 1, signal: shutdown.signal });
  const under_way = source.use(whoAnswers);
  const waiting = source.use(whoAnswers);
  await vi.waitFor(() => expect(paths(hanging)).toContain('/x'), { timeout: 5000, interval: 10 });
  shutdown.abort();
  const started = performance.now();
  const results = await Promise.allSettled([under_way, waiting, source.use(whoAnswers)]);
  expect(performance.now() - started).toBeLessThan(500);
  for (const result of results) {
    expect(result).toMatchObject({
      status: 'rejected',
      reason: { kind: 'unreachable', message: 'ton: the daemon is stopping' },
    });
    expect((result as PromiseRejectedResult).reason).toBeInstanceOf(ProviderError);
  }
  expect(events).toEqual([]);
});

test('a configured provider stands alone; a key without a URL goes to the first public one only', () => {
  const providers = {
    mainnet: ['a', 'b'].map((name) => ({ provider: 'esplora' as const, url: `https://${name}.example` })),
    testnet: [],
  };
  const of = (network: Network, configured?: object) =>
    providersOf({ family, providers }, network, configured);
  expect(of('mainnet')).toMatchObject(providers.mainnet);
  expect(of('mainnet', { api_key: 'secret' }).map(({ api_key }) => api_key)).toEqual(['secret', undefined]);
  const own = { provider: 'core', url: 'http://127.0.0.1:8332', api_key: 'secret' };
  expect(of('mainnet', own)).toEqual([{ ...own, requests_per_second: 50, adapts: true }]);
  expect(of('testnet')).toEqual([]);
});

test('the public providers keep their pace, own ones begin at 50 requests per second, or at what is set', () => {
  verifies('pace-own-url');
  const providers = { mainnet: [{ provider: 'esplora', url: 'https://a.example' }], testnet: [] };
  const of = (configured: object) => providersOf({ family, providers }, 'mainnet', configured);
  expect(of({})).toEqual(providers.mainnet);
  expect(of({ url: 'https://own.example' })).toMatchObject([{ requests_per_second: 50, adapts: true }]);
  const set = { urls: ['https://own.example', 'https://more.example'], requests_per_second: 7 };
  expect(of(set).map(({ requests_per_second }) => requests_per_second)).toEqual([7, 7]);
});

test('several configured providers are asked in their order; a key goes to the host of the first one only', () => {
  verifies('urls-failover');
  const [first, alongside, other] = [
    'https://own.example/a',
    'https://own.example/b',
    'https://other.example',
  ];
  const providers = { mainnet: [{ provider: 'esplora', url: 'https://public.example' }], testnet: [] };
  const of = (configured: object) =>
    providersOf({ family, providers }, 'mainnet', configured).map(({ url, api_key }) => [url, api_key]);
  expect(of({ urls: [first, other, alongside], api_key: 'secret' })).toEqual([
    [first, 'secret'],
    [other, undefined],
    [alongside, 'secret'],
  ]);
  expect(of({ url: other, urls: [first, other] })).toEqual([
    [other, undefined],
    [first, undefined],
  ]);
});

test('the start names a blockchain whose public providers are of one operator, unless the settings name others', () => {
  verifies('lone-operator');
  const of = (id: string, network: Network, configured?: object) =>
    loneOperator(builtIn.find(id) as Blockchain, network, configured);
  expect(of('ton', 'mainnet')).toBe(
    'TON is read from toncenter.com alone, and no second public provider is known that needs no key',
  );
  expect(of('ton', 'mainnet', { urls: ['http://10.0.0.1:8081/api/v3'] })).toBeNull();
  const alone = builtIn.blockchains.filter(({ id }) => of(id, 'mainnet') !== null).map(({ id }) => id);
  expect(alone).toEqual(['ton', 'litecoin']);
});

test('two URLs of one host are no two providers that could agree', () => {
  verifies('quorum');
  const several = (urls: string[]) =>
    createQuorum({
      network: 'testnet',
      quorum_above_usd: '100',
      blockchains: { bitcoin: { urls } },
      chains: builtIn,
    }).several('bitcoin');
  expect(several(['https://a.example', 'https://b.example'])).toBe(true);
  expect(several(['https://a.example/1', 'https://a.example/2'])).toBe(false);
  expect(several(['https://a.example'])).toBe(false);
});

test('what a provider takes is shown: its own pace, or less where its answers take longer', async () => {
  const slow = await node('slow', 'testnet', (_, response) => void setTimeout(() => json(response, 1), 60));
  const { source } = open([slow.url]);
  expect(source.status()).toMatchObject([{ requests_per_second: 1000 }]);
  await source.use(async (rpc) => {
    for (let request = 0; request < 10; request++) await rpc.json('/x');
  });
  const [{ requests_per_second } = expect.fail()] = source.status();
  expect(requests_per_second).toBeLessThan(1000 / 50);
  expect(requests_per_second).toBeGreaterThan(1);
});
