// The providers of one blockchain: which of them answers now, who is backed off, and which must never be used.
import { type Family, type Network, ProviderError, type Rpc } from '../../../src/chains/family.ts';
import type { HostLimits } from '../../../src/chains/known-hosts.ts';
import type { Clock } from '../../clock.ts';
import type { HttpLimits } from '../../process/network.ts';
import { type Runtime, systemRuntime } from '../../process/runtime.ts';
import { createHealth, type Health } from './health.ts';
import {
  createProvider,
  type Provider,
  type ProviderConfig,
  type ProviderCounters,
  unreadable,
} from './provider.ts';

/** From sending to the last byte: a raw Bitcoin block over a slow line still passes. */
const REQUEST_TIMEOUT_MS = 20_000;
/** Raw blocks alone may be so large; a full Bitcoin block in hexadecimal is an eighth of it. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** What happened to a provider; `message` and `provider` hold no secret. */
export interface ProviderEvent {
  type: 'provider_down' | 'provider_back' | 'wrong_network';
  blockchain: string;
  /** `toncenter at toncenter.com`. */
  provider: string;
  message: string;
  /** Unix milliseconds; null unless down. */
  backoff_until: number | null;
}

/** Times are Unix milliseconds. */
export interface ProviderStatus extends ProviderCounters {
  provider: string;
  state: 'unknown' | 'ok' | 'down' | 'wrong_network';
  /** What it takes now, one request after the other. */
  requests_per_second: number;
  backoff_until: number | null;
}

export interface RpcSource {
  /**
   * Hands `work` the first provider that can be used; everything inside one `use` talks to that one. A ProviderError that
   * leaves `work` backs the provider off and is thrown on: ask again, and the next provider takes over until the first is
   * back. Throws ProviderError at once, without a request, where none can be used before `retryAt()`.
   */
  use<T>(work: (rpc: Rpc, label: string) => Promise<T>): Promise<T>;
  /** The same with a provider other than the one of this label, for a second opinion. */
  askOther<T>(label: string, work: (rpc: Rpc, label: string) => Promise<T>): Promise<T>;
  /** Unix milliseconds when a provider can be used again; not later than now where one can. Infinity: none ever will. */
  retryAt(): number;
  /** In the order of preference. */
  status(): ProviderStatus[];
  /** Aborts requests and waits; `use` throws from now on. */
  close(): Promise<void>;
}

export interface RpcOptions {
  blockchain: string;
  family: Pick<Family, 'identify' | 'providers'>;
  network: Network;
  /** In the order of preference. */
  providers: readonly ProviderConfig[];
  /** For each provider that has none of its own, shared by all callers. */
  requests_per_second: number;
  clock: Clock;
  onEvent?: (event: ProviderEvent) => void;
  /** Closes the source, for shutdown. */
  signal?: AbortSignal;
  limits?: Partial<HttpLimits>;
  /** What the provider with a label was found to take at once. */
  learnt?: (label: string) => HostLimits;
  /** Jitter, 0 to 1. */
  random?: () => number;
  runtime?: Runtime;
}

interface Member extends Provider {
  health: Health;
  /** The one identification under way or done; cleared by a failure. */
  identified: Promise<void> | undefined;
  wrong_network: ProviderError | undefined;
}

export function openRpc(options: RpcOptions): RpcSource {
  const { blockchain, clock, runtime = systemRuntime, random = runtime.random, onEvent = () => {} } = options;
  const limits = { timeout_ms: REQUEST_TIMEOUT_MS, response_bytes: MAX_RESPONSE_BYTES, ...options.limits };
  const members: Member[] = options.providers.map((config) => ({
    ...createProvider(config, {
      requests_per_second: options.requests_per_second,
      key_header: options.family.providers.find(({ kind }) => kind === config.provider)?.key_header,
      limits,
      clock,
      random,
      runtime,
      learnt: options.learnt,
    }),
    health: createHealth(clock, random),
    identified: undefined,
    wrong_network: undefined,
  }));
  let closed: ProviderError | undefined;

  const report = ({ label, health }: Member, type: ProviderEvent['type'], message: string) =>
    onEvent({ type, blockchain, provider: label, message, backoff_until: health.backoffUntil() });

  /** Runs `work` on one provider and records how that went. */
  async function attempt<T>(member: Member, work: (rpc: Rpc, label: string) => Promise<T>): Promise<T> {
    try {
      return await work(member.rpc, member.label);
    } catch (error) {
      const counts = error instanceof ProviderError && !closed && !member.wrong_network;
      if (counts && member.health.failed(error)) report(member, 'provider_down', error.message);
      throw error;
    }
  }

  async function identify(member: Member): Promise<void> {
    const error = await networkMismatch(member, options);
    if (!error) return;
    member.wrong_network = error;
    Object.assign(member.counters, { last_error: error.message, last_error_at: clock.ms() });
    report(member, 'wrong_network', error.message);
    throw error;
  }

  async function askFirst<T>(
    candidates: readonly Member[],
    work: (rpc: Rpc, label: string) => Promise<T>,
  ): Promise<T> {
    for (const member of candidates) {
      if (closed) throw closed;
      if (member.wrong_network || member.health.backoffUntil() !== null) continue;
      try {
        member.identified ??= attempt(member, () => identify(member));
        await member.identified;
      } catch (error) {
        member.identified = undefined;
        if (!(error instanceof ProviderError)) throw error;
        continue;
      }
      const value = await attempt(member, work);
      if (member.health.succeeded()) report(member, 'provider_back', `${member.label}: responds again`);
      return value;
    }
    throw closed ?? noneUsable(blockchain, candidates);
  }

  async function close(): Promise<void> {
    const reason = new ProviderError('unreachable', `${blockchain}: the daemon is stopping`);
    closed ??= reason;
    await Promise.all(members.map((member) => member.close(reason)));
  }

  if (options.signal?.aborted) void close();
  else options.signal?.addEventListener('abort', () => void close(), { once: true });

  return {
    use: (work) => askFirst(members, work),
    askOther: (label, work) =>
      askFirst(
        members.filter((member) => member.label !== label),
        work,
      ),
    close,
    retryAt() {
      if (closed) return Number.POSITIVE_INFINITY;
      const usable = members.filter((member) => !member.wrong_network);
      return Math.min(...usable.map(({ health }) => health.backoffUntil() ?? clock.ms()));
    },
    status: () => members.map(statusOf),
  };
}

async function networkMismatch(
  { rpc, label }: Member,
  { blockchain, family, network }: RpcOptions,
): Promise<ProviderError | undefined> {
  const served = await identified(family, rpc, label);
  if (served === network) return undefined;
  const message = `${blockchain}: ${label} serves ${served}, but ${network} is configured; it is not used`;
  return new ProviderError('wrong_network', message);
}

/** Whatever an answer makes a family throw is a failure of who gave it. */
async function identified(family: RpcOptions['family'], rpc: Rpc, label: string): Promise<Network> {
  try {
    return await family.identify(rpc);
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    throw unreadable(label, error);
  }
}

function noneUsable(blockchain: string, members: readonly Member[]): ProviderError {
  const errors = members.flatMap(({ health, wrong_network }) => health.error() ?? wrong_network ?? []);
  const error = errors.find(({ kind }) => kind !== 'wrong_network') ?? errors[0];
  const { kind, message, code } = error ?? new ProviderError('unreachable', 'none is configured');
  return new ProviderError(kind, `${blockchain}: no provider can be used now: ${message}`, code);
}

const statusOf = (member: Member): ProviderStatus => ({
  provider: member.label,
  state: stateOf(member),
  requests_per_second: member.requestsPerSecond(),
  ...member.counters,
  backoff_until: member.health.backoffUntil(),
});

function stateOf(member: Member): ProviderStatus['state'] {
  if (member.wrong_network) return 'wrong_network';
  if (member.health.down()) return 'down';
  return member.counters.last_ok_at === null ? 'unknown' : 'ok';
}
