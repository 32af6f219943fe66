// The network between daemons, providers and receivers of webhooks: latency, outages, and answers that are none.

import type { HttpLimits, OpenHintSocket, OutClient, Transport } from '../../daemon/process/network.ts';
import type { Runtime } from '../../daemon/process/runtime.ts';
import type { Front, ModelAnswer } from './chains/front.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** What may go wrong with one request, as probabilities. */
export interface NetworkFaults {
  timeout: number;
  refused: number;
  rate_limited: number;
  server_error: number;
  /** A page instead of an answer, with status 200. */
  html: number;
  /** The body breaks off. */
  broken: number;
  /** Half of a JSON text, as a whole body. */
  half: number;
}

export const NO_FAULTS: NetworkFaults = {
  timeout: 0,
  refused: 0,
  rate_limited: 0,
  server_error: 0,
  html: 0,
  broken: 0,
  half: 0,
};

export interface Provider {
  front: Front;
  faults: NetworkFaults;
  /** Unix milliseconds of true time until which nothing answers; 0: it answers. */
  down_until_ms: number;
}

/** What a receiver of webhooks does with one. */
export type Receive = (webhook: {
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}) => 'refuse' | 'hang' | number;

type Crossing = (boundary: 'request' | 'answer') => Promise<never> | undefined;

const LATENCY_MS = { least: 2, mean: 40, most: 3_000 };
/** A promise of its own each time, so that what waits for it can be forgotten. */
const never = (): Promise<never> => new Promise(() => {});

export class Network {
  readonly #world: World;
  readonly #random: Random;
  readonly providers = new Map<string, Provider>();
  receive: Receive = () => 'refuse';
  requests = 0;
  /** Sockets of hints, as one daemon opens them. */
  hints: ((alive: () => boolean) => OpenHintSocket) | undefined;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  addProvider(host: string, front: Front): Provider {
    const provider = { front, faults: NO_FAULTS, down_until_ms: 0 };
    this.providers.set(host, provider);
    return provider;
  }

  /** The network as one daemon has it; nothing reaches one that is dead. */
  openFor(alive: () => boolean, crossing: Crossing): Runtime['network'] {
    return {
      ...(this.hints && { toHints: this.hints(alive) }),
      toProvider: (limits) => this.#transport(limits, alive, crossing),
      toReceiver: (origin) => this.#client(origin, alive, crossing),
    };
  }

  #latency(): number {
    return Math.min(LATENCY_MS.most, LATENCY_MS.least + this.#random.exponential(LATENCY_MS.mean));
  }

  async #wait(ms: number, alive: () => boolean): Promise<void> {
    await this.#world.sleep(ms);
    if (!alive()) await never();
  }

  #transport(limits: HttpLimits, alive: () => boolean, crossing: Crossing): Transport {
    let closed = false;
    return {
      request: async (url, { method, body }) => {
        await crossing('request');
        this.requests++;
        const provider = this.providers.get(url.host);
        const fault = this.#fault(provider);
        if (fault === 'refused') {
          await this.#wait(this.#latency(), alive);
          throw Object.assign(new Error(`connect ECONNREFUSED ${url.host}`), { code: 'ECONNREFUSED' });
        }
        if (fault === 'timeout') {
          await this.#wait(limits.timeout_ms, alive);
          throw Object.assign(new Error('The operation was aborted due to timeout'), {
            name: 'TimeoutError',
          });
        }
        // What is answered is what was so when the request came; on its way back it grows older.
        const honest = (provider as Provider).front({
          method,
          path: url.pathname,
          query: url.searchParams,
          body,
        });
        const answer = spoiled(honest, fault, this.#random);
        this.#world.note(`${url.host} ${answer.status}`, () => shown(url, body, answer, fault));
        await this.#wait(this.#latency(), alive);
        await crossing('answer');
        if (closed) throw new Error('The client is destroyed');
        return {
          statusCode: answer.status,
          headers: answer.headers ?? {},
          body: {
            bytes: async () => {
              if (fault === 'broken') throw new Error('other side closed');
              return typeof answer.body === 'string' ? new TextEncoder().encode(answer.body) : answer.body;
            },
          },
        };
      },
      close: async () => {
        closed = true;
      },
    };
  }

  #fault(provider: Provider | undefined): keyof NetworkFaults | null {
    if (!provider) return 'refused';
    if (provider.down_until_ms > this.#world.now_ms) return this.#random.chance(0.5) ? 'refused' : 'timeout';
    let at = this.#random.unit();
    for (const [name, probability] of Object.entries(provider.faults) as [keyof NetworkFaults, number][]) {
      at -= probability;
      if (at < 0) return name;
    }
    return null;
  }

  #client(origin: string, alive: () => boolean, crossing: Crossing): OutClient {
    let destroyed: (() => void) | undefined;
    const gone = new Promise<never>((_, reject) => {
      destroyed = () =>
        reject(Object.assign(new Error('The client is destroyed'), { code: 'UND_ERR_DESTROYED' }));
    });
    gone.catch(() => undefined);
    const request = async ({
      path,
      headers,
      body,
    }: {
      path: string;
      headers: Record<string, string>;
      body: string;
    }) => {
      await crossing('request');
      await this.#wait(this.#latency(), alive);
      const outcome = this.receive({ origin, path, headers, body });
      this.#world.note(
        `webhook ${outcome}`,
        () => `webhook ${headers['webhook-id']} to ${origin}: ${outcome}`,
      );
      if (outcome === 'hang') await never();
      await this.#wait(this.#latency(), alive);
      await crossing('answer');
      if (outcome === 'refuse') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      return { statusCode: outcome as number, body: nothing() };
    };
    return {
      request: (options) => Promise.race([request(options), gone]),
      destroy: async () => destroyed?.(),
    };
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function spoiled(honest: ModelAnswer, fault: keyof NetworkFaults | null, random: Random): ModelAnswer {
  if (fault === 'rate_limited') {
    const headers: Record<string, string> = random.chance(0.5)
      ? { 'retry-after': String(random.int(0, 8)) }
      : {};
    return { status: 429, body: 'Too Many Requests', headers };
  }
  if (fault === 'server_error')
    return { status: random.pick([500, 502, 503]), body: '<html>Bad Gateway</html>' };
  if (fault === 'html') return { status: 200, body: '<!doctype html><title>Just a moment</title>' };
  if (fault === 'half') return { ...honest, body: honest.body.slice(0, honest.body.length / 2) };
  return honest;
}

const SHOWN_CHARS = 20_000;

function shown(url: URL, body: string | null, answer: ModelAnswer, fault: string | null): string {
  const asked = body === null ? `${url.pathname}${url.search}` : body;
  const answered = typeof answer.body === 'string' ? answer.body : `${answer.body.length} bytes`;
  return `${url.host} ${asked.slice(0, SHOWN_CHARS)} → ${fault ?? ''} ${answer.status} ${answered.slice(0, SHOWN_CHARS)}`;
}
