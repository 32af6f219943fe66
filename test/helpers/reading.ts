// What a family is handed to read with, for tests that talk to one family: a right clock, and nothing that is asked for.
import type { RpcSource } from '../../daemon/observer/rpc.ts';
import type { AccountRef, Interval, PendingTransfer, Rpc, StoredProof } from '../../src/chains/chain.ts';

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
