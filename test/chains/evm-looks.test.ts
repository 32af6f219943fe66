// Balances seen ahead of where coins stand: what one host has of another branch holds up no coin.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../src/chains/evm/networks.ts';
import type { RpcCall } from '../../src/chains/family.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type Fault, refused } from './evm-front.ts';
import { createEvmObserver, gatewayOf } from './evm-observer.ts';

const { base } = networks;

const isWhole = ({ method, params }: RpcCall) =>
  method === 'eth_getBlockByNumber' && (params as unknown[])[1] === true;
const noWhole: Fault = async (call, next) => {
  if (isWhole(call)) throw refused('whole blocks are not served here');
  return next(call);
};

describe.runIf(hasAnvil)('coins that are behind', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    chain = await startAnvil({ chain_id: 8453, block_seconds: 2, tokens: [], history: 20 });
  });
  afterAll(() => chain?.stop());

  it('are read on where a host had balances of a block that is not on the chain', async () => {
    const [front, second] = [createFront(chain.ask), createFront(chain.ask)];
    const observer = createEvmObserver({
      network: base,
      gateways: [gatewayOf(base, { chain: 'a-coin', decimals: 18 })],
      rpc: front.rpc,
      other: second.rpc,
      side: 'mainnet',
      now: () => chain.now(),
    });
    const to = observer.watch();
    await observer.read();
    const heals = [front.add(noWhole), second.add(noWhole)];
    await chain.payCoin(to, 5n);
    await chain.mine(2);
    await observer.read();
    await chain.mine(50);
    await chain.payCoin(to, 6n);
    await chain.mine(50);
    const head = await chain.height();
    let wrong = 0;
    const isState = ({ method }: RpcCall) => method === 'eth_getBalance' || method === 'eth_call';
    const heal = front.add(async (call, next) => {
      const answer = (await next(call)) as { hash?: string };
      const is_look = call.method === 'eth_getBlockByNumber' && front.requests.at(-1)?.some(isState);
      if (!is_look || Number((call.params as unknown[])[0]) === head) return answer;
      wrong++;
      return { ...answer, hash: `0x${'e'.repeat(64)}` };
    });
    await observer.read();
    expect(wrong).toBeGreaterThan(0);
    for (const each of [...heals, heal]) each();
    for (let reading = 0; reading < 6; reading++) {
      await chain.mine(1);
      await observer.read();
    }
    expect(observer.amounts(to)).toEqual([5n, 6n]);
    expect(observer.is_unfinished).toBe(false);
  });
});
