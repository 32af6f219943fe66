// Reading a real EVM node: coins and tokens, deep and shallow reorganisations, and what every payment is counted by.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../src/chains/evm/networks.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront } from './evm-front.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const network = networks.base;
const usdc = gatewayOf(network, { chain: 'base-usdc', token_contract: USDC });

describe.runIf(hasAnvil)('reading an EVM node', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    chain = await startAnvil({ chain_id: network.chain_ids.testnet, block_seconds: 2, history: 20 });
    await chain.plant(USDC);
  });
  afterAll(() => chain?.stop());

  const open = () => {
    const front = createFront(chain.ask);
    const observer = createEvmObserver({ network, gateways: [usdc], rpc: front.rpc, now: () => chain.now() });
    return { front, observer };
  };

  it('knows its network by the chain id, and refuses any other', async () => {
    const { observer, front } = open();
    expect(await observer.family.identify(front.rpc)).toBe('testnet');
    front.add(async () => '0x1');
    await expect(observer.family.identify(front.rpc)).rejects.toMatchObject({ kind: 'wrong_network' });
    front.add(async () => 84_532);
    await expect(observer.family.identify(front.rpc)).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  it('finds what is paid, once, and counts its confirmations', async () => {
    const { observer } = open();
    const to = observer.watch();
    await observer.read();
    const txid = await chain.payToken(USDC, to, 1_250_000n);
    await chain.mine();
    await observer.read();
    expect(observer.to(to)).toMatchObject([
      { txid, chain: 'base-usdc', amount_atomic: 1_250_000n, confirmations: 1, final: false },
    ]);
    await chain.grow(20);
    await observer.read();
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ txid, confirmations: 21 }]);
    expect(await observer.lookUp(txid, to)).toMatchObject([{ txid, amount_atomic: 1_250_000n }]);
    expect(await observer.lookUp(txid, freshAddress())).toEqual([]);
  });
});
