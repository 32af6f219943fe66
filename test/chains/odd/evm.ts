// An EVM chain as a node tells it, with a token that invoices are paid in.
import { ProviderError } from '../../../src/chains/family.ts';
import { EvmChain } from '../../simulator/chains/evm.ts';
import { evmMethods } from '../../simulator/chains/evm-node.ts';
import { RpcFault } from '../../simulator/chains/front.ts';
import { Random } from '../../simulator/random.ts';
import { addTo, type OddChain } from './chain.ts';
import { createOddRpc } from './rpc.ts';

export interface OddToken {
  chain: string;
  blockchain: string;
  chain_id: number;
  contract: string;
  decimals: number;
}

/** Blocks come with time, two seconds apart. */
export function evmChain(
  { chain: gateway, blockchain, chain_id, contract, decimals }: OddToken,
  start: number,
): OddChain {
  let now = start;
  const model = new EvmChain({
    random: new Random(blockchain),
    now: () => now * 1000,
    block_seconds: 2,
    history: 100,
  });
  const methods = evmMethods({
    chain: model,
    chain_id,
    decimals: new Map([[contract, decimals]]),
    seen: () => now,
    final_blocks: 20,
  });
  const chain: OddChain = {
    blockchain,
    received: new Map(),
    wallet: model.address(),
    settings: { [`gateways.${gateway}.enabled`]: 'true' },
    get now() {
      return now;
    },
    set now(time) {
      now = time;
      model.catchUp();
    },
    rpc: createOddRpc('evm', (name, params) => {
      try {
        return methods[name]?.(params as unknown[]) ?? null;
      } catch (error) {
        throw error instanceof RpcFault ? new ProviderError('rpc', error.message, error.code) : error;
      }
    }),
    pay(invoice) {
      const { hash } = model.payToken(contract, invoice.address_key, BigInt(invoice.amount_atomic));
      addTo(chain.received, invoice);
      return hash;
    },
  };
  return chain;
}
