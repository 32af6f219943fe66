// What a family is handed to read with, for tests that talk to one family: a right clock, and nothing that is asked for.
import type { RpcSource } from '../../daemon/observer/rpc.ts';
import type { AccountRef, Interval, Rpc, StoredProof } from '../../src/chains/chain.ts';

/** A clock that agrees with the chain's to the second. */
export const rightClock = {
  local: (chain_time: number): Interval => ({ earliest_at: chain_time, latest_at: chain_time }),
  spare_requests: 8,
};

/** Nobody asks for an account, and none is in trouble. */
export const unasked = {
  urgent: async (): Promise<readonly AccountRef[]> => [],
  behind: async (): Promise<readonly StoredProof[]> => [],
};

/** One provider that is always there. */
export const sourceOf = (rpc: Rpc, label = 'provider'): RpcSource => ({
  use: (work) => work(rpc, label),
  askOther: (_, work) => work(rpc, `another ${label}`),
  retryAt: () => 0,
  status: () => [],
  close: async () => {},
});
