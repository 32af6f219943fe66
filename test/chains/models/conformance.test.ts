// Every family against the one suite, where its providers have the manners of hosts, and are asked as the product asks them.
import { expect, test, vi } from 'vitest';
import { RateLimited } from '../../../daemon/observer/providers/http.ts';
import { createProvider } from '../../../daemon/observer/providers/provider.ts';
import type { Transport } from '../../../daemon/process/network.ts';
import { ProviderError } from '../../../src/chains/family.ts';
import type { Front } from '../../simulator/chains/front.ts';
import type { FrontRpc } from '../front-rpc.ts';
import { runtimeOf } from '../recorded/recorded.ts';
import { asHost, type Host, hosts, takesCalls } from './manners.ts';

/** Hosts that were asked, and those that refused something. */
const asked = new Set<string>();
const refusing = new Set<string>();
const REFUSAL = /"error":\{|"error":"|"Error":/;
/** Each world has the next host of its kind. */
const turns = new Map<string, number>();

function nextHost(kind: string): Host {
  const all = hosts[kind] ?? [{ name: kind, manners: [] }];
  const turn = turns.get(kind) ?? 0;
  turns.set(kind, turn + 1);
  return all[turn % all.length] as Host;
}

/** The network, as far as this model is it. */
function transportTo(front: () => Front, host: Host): Transport {
  // A model that is behind is another front: each has the manners.
  const known = new Map<Front, Front>();
  return {
    async request(url, { method, body }) {
      asked.add(host.name);
      const model = front();
      const answers = known.get(model) ?? asHost(model, host);
      known.set(model, answers);
      const path = url.pathname.replace(/^\/jsonrpc/, '');
      const { status, headers = {}, body: given } = answers({ method, path, query: url.searchParams, body });
      if (status >= 400 || REFUSAL.test(String(given))) refusing.add(host.name);
      const bytes = typeof given === 'string' ? Buffer.from(given) : given;
      return { statusCode: status, headers, body: { bytes: async () => bytes } };
    },
    close: async () => {},
  };
}

function hostRpc(provider: string, front: () => Front, most_calls = Number.POSITIVE_INFINITY): FrontRpc {
  const { rpc } = createProvider(
    { provider, url: 'https://provider.example/jsonrpc' },
    {
      requests_per_second: 1e6,
      limits: { timeout_ms: 5_000, response_bytes: 64 * 1024 * 1024 },
      clock: { ms: Date.now },
      random: () => 0,
      runtime: runtimeOf(transportTo(front, takesCalls(most_calls, nextHost(provider)))),
    },
  );
  let fails_at: number | null = null;
  const counted =
    <A extends unknown[], T>(ask: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      counting.asked++;
      if (fails_at !== null && --fails_at === 0)
        throw new ProviderError('unreachable', `${provider} is away`);
      return ask(...given).catch((error: unknown) => {
        // This world has no time: once what it named is over, a daemon asks again.
        if (error instanceof RateLimited && error.retry_after_ms !== null) return ask(...given);
        throw error;
      });
    };
  const counting: FrontRpc = {
    ...rpc,
    asked: 0,
    failAt: (request) => {
      fails_at = request;
    },
    json: counted(rpc.json),
    text: counted(rpc.text),
    bytes: counted(rpc.bytes),
    call: counted(rpc.call),
    batch: counted(rpc.batch),
  };
  return counting;
}

vi.mock('../front-rpc.ts', () => ({ frontRpc: hostRpc }));
// Each request passes a whole provider here, which takes many minutes at every pace: PACES=all asks for that.
vi.mock('../paces.ts', () => ({ PACES: process.env.PACES === 'all' ? [0.1, 1, 10] : [1] }));

await import('../conformance.test.ts');

test('each host of the table was asked, and has refused what it refuses', () => {
  const all = Object.values(hosts).flat();
  expect(all.filter(({ name }) => !asked.has(name))).toEqual([]);
  expect(all.filter(({ name, refuses = true }) => refuses && !refusing.has(name))).toEqual([]);
});
