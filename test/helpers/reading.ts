// What a family is handed to read with, for tests that talk to one family: a right clock, and nothing that is asked for.
import type { ProviderStatus, RpcSource } from '../../daemon/observer/providers/rpc.ts';
import {
  type AccountRef,
  type Interval,
  type PendingTransfer,
  ProviderError,
  type Rpc,
  type StoredProof,
} from '../../src/chains/family.ts';

/** A clock that agrees with the chain's to the second. */
export const rightClock = {
  local: (chain_time: number): Interval => ({ earliest_at: chain_time, latest_at: chain_time }),
  spare_requests: 8,
};

/** No one asks for an account, none is in trouble, nothing is pending, and nothing was read before. */
export const unasked = {
  urgent: async (): Promise<readonly AccountRef[]> => [],
  behind: async (): Promise<readonly StoredProof[]> => [],
  pending: async (): Promise<readonly PendingTransfer[]> => [],
  read_through: null,
};

/** One provider that is always there. */
export const sourceOf = (rpc: Rpc, label = 'provider'): RpcSource => ({
  use: (work) => work(rpc, label),
  askOther: (_, work) => work(rpc, `another ${label}`),
  retryAt: () => 0,
  status: () => [],
  close: async () => {},
});

export const unasked_provider: ProviderStatus = {
  provider: 'none in this test',
  state: 'unknown',
  requests_per_second: 1,
  backoff_until: null,
  requests: 0,
  failures: 0,
  last_error: null,
  last_error_at: null,
  last_ok_at: null,
};

const refuse = async (): Promise<never> => {
  throw new ProviderError('unreachable', 'no provider in this test');
};

/** A provider that is there, of chains of which nothing is watched. */
export const silent: RpcSource = {
  use: async () => undefined as never,
  askOther: async () => undefined as never,
  retryAt: () => 0,
  status: () => [],
  close: async () => {},
};

/** Refuses at once, as providers that are down do: no test waits for a network that it did not ask for. */
export const unreachable: RpcSource = {
  use: refuse,
  askOther: refuse,
  retryAt: () => Number.POSITIVE_INFINITY,
  status: () => [unasked_provider],
  close: async () => {},
};
