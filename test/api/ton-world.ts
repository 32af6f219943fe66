// The world of the examples on a real TON test chain, so that what asks a blockchain is answered.
import { openRpc } from '../../daemon/observer/providers/rpc.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { ton } from '../../src/chains/ton/family.ts';
import { startTonChain } from '../chains/ton-chain.ts';
import { testClock } from '../helpers/clock.ts';
import type { Database } from '../helpers/database.ts';
import { openWorld, type World } from './world.ts';

export async function openTonWorld(database: Database): Promise<World> {
  const chain = await startTonChain();
  const usdt = gatewaysOf('testnet').find((gateway) => gateway.chain === 'ton-usdt');
  await chain.deployJetton({ address: usdt?.token_contract ?? undefined });
  const clock = testClock(chain.now());
  const source = openRpc({
    blockchain: 'ton',
    family: ton,
    network: 'testnet',
    providers: [{ provider: 'toncenter', url: chain.url }],
    requests_per_second: 100,
    clock,
  });
  const world = await openWorld({ database, clock, source: (id) => (id === 'ton' ? source : undefined) });
  return {
    ...world,
    async stop() {
      await world.stop();
      await chain.stop();
    },
  };
}
