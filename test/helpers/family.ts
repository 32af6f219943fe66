// A blockchain whose readings a test makes up: what its family answers is given, all that calls it is real.
import { onTestFinished, vi } from 'vitest';
import type { RpcSource } from '../../daemon/observer/providers/rpc.ts';
import {
  type Family,
  type NamedTransaction,
  type Network,
  type Page,
  type PendingTransfer,
  ProviderError,
  type ReadContext,
  type ReadRequest,
  type Rpc,
  type Transfer,
  type TransferUpdate,
} from '../../src/chains/family.ts';
import { findBlockchain } from '../../src/chains/gateways.ts';
import { sourceOf } from './reading.ts';

export interface FamilyDouble {
  source: RpcSource;
  /** One reading: the pages that it stores, one after the other. */
  read(context: ReadContext, request: ReadRequest): Promise<Page[]>;
  recheck(context: ReadContext, pending: readonly PendingTransfer[]): Promise<TransferUpdate[]>;
  lookUp(context: ReadContext, named: NamedTransaction): Promise<Transfer[]>;
  inspectAddress(rpc: Rpc, address_key: string): Promise<string | null>;
  identify(rpc: Rpc): Promise<Network>;
}

/** A provider that a test never lets be asked. */
export const namedRpc = (provider: string): Rpc => {
  const refuse = async (): Promise<never> => {
    throw new ProviderError('bad_answer', `${provider} is asked nothing in this test`);
  };
  return { provider, json: refuse, text: refuse, bytes: refuse, call: refuse, batch: refuse };
};

/** The latest double of each family: a daemon that opened an earlier one reads through this one from then on. */
const doubles = new Map<Family, FamilyDouble>();

/** Replaces the family of a blockchain until the test ends; what it answers may be changed at any time. */
export function doubleFamily(blockchain: string): FamilyDouble {
  const family = findBlockchain(blockchain)?.family as Family;
  const double: FamilyDouble = {
    source: sourceOf(namedRpc('double')),
    read: async () => [],
    recheck: async () => [],
    lookUp: async () => [],
    inspectAddress: async () => null,
    identify: async () => 'testnet',
  };
  doubles.set(family, double);
  const had = { ...family };
  family.inspectAddress ??= async () => null;
  const spies = [
    vi.spyOn(family, 'open').mockReturnValue({
      async *read(context, request) {
        for (const page of (await doubles.get(family)?.read(context, request)) ?? []) yield page;
      },
      recheck: async (context, pending) => (await doubles.get(family)?.recheck(context, pending)) ?? [],
      lookUp: async (context, named) => (await doubles.get(family)?.lookUp(context, named)) ?? [],
    }),
    vi
      .spyOn(family as Required<Family>, 'inspectAddress')
      .mockImplementation((rpc, address_key) => double.inspectAddress(rpc, address_key)),
    vi.spyOn(family, 'identify').mockImplementation(async (rpc) => double.identify(rpc)),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    Object.assign(family, had);
    if (!had.inspectAddress) delete family.inspectAddress;
  });
  return double;
}
