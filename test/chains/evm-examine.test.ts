// What an examination finds that a provider of an EVM network does not serve.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type EvmFront, type Fault, rangeCap, refused } from './evm-front.ts';
import { createEvmObserver, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const { base, ethereum, polygon } = networks;

const without =
  (isRefused: (method: string, params: unknown) => boolean): Fault =>
  async (call, next) => {
    if (isRefused(call.method, call.params)) throw refused('the method is not available', -32_601);
    return next(call);
  };
const isWhole = (method: string, params: unknown) =>
  method === 'eth_getBlockByNumber' && (params as unknown[])[1] === true;
/** Code in place of a contract. */
const isCode = (method: string, params: unknown) =>
  method === 'eth_call' && !('to' in ((params as object[])[0] as object));

describe.runIf(hasAnvil)('an EVM provider that is examined', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    const tokens = [{ address: TOKEN }];
    chain = await startAnvil({ chain_id: base.chain_ids.testnet, block_seconds: 2, tokens, history: 20 });
  });
  afterAll(() => chain?.stop());

  const lacksOf = async (network: EvmNetwork, change: (front: EvmFront) => void = () => {}) => {
    const front = createFront(chain.ask);
    change(front);
    const coin = gatewayOf(network, { chain: 'a-coin', decimals: 18 });
    const token = gatewayOf(network, { chain: 'a-usdc', token_contract: TOKEN });
    const options = { network, gateways: [coin, token], rpc: front.rpc, now: () => chain.now() };
    const { family, context } = createEvmObserver({ ...options, side: 'mainnet' });
    return (await family.examine?.(context))?.map(({ is_needed, says }) => [is_needed, says]);
  };

  it.each([base, ethereum, polygon])('lacks nothing where it serves all ($name)', async (network) => {
    verifies('command-doctor');
    expect(await lacksOf(network)).toEqual([]);
    expect(await lacksOf(network, (front) => front.add(rangeCap(5, 'limited to a 5 range')))).toEqual([]);
  });

  it.each<[string, boolean, RegExp, (front: EvmFront) => void]>([
    [
      'logs',
      true,
      /serves no logs.*: .*not available/,
      (front) => front.add(without((m) => m === 'eth_getLogs')),
    ],
    ['whole blocks', true, /serves no whole blocks/, (front) => front.add(without(isWhole))],
    [
      'balances',
      true,
      /tells no balances/,
      (front) => front.add(without((m, params) => m === 'eth_getBalance' || isCode(m, params))),
    ],
    ['code', false, /runs no code/, (front) => front.add(without(isCode))],
    [
      'batches',
      false,
      /takes no batches/,
      (front) => {
        front.batch_calls = 0;
      },
    ],
  ])('lacks %s, and says so', async (_, is_needed, says, change) => {
    expect(await lacksOf(base, change)).toContainEqual([is_needed, expect.stringMatching(says)]);
  });
});
