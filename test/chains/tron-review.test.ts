// Faults of reading TRON that a review found: each test is named by the fault, and holds once that is repaired.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createProvider } from '../../daemon/observer/providers/provider.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { showAddress } from '../../src/chains/tron/address.ts';
import { USDT } from '../../src/chains/tron/contracts.ts';
import { tronNetwork } from '../../src/chains/tron/network.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';
import { startTronFront, type TronFront } from './tron-front.ts';

const USDT_KEY = tronNetwork.dialect.contractKey(USDT.testnet as string);
const usdt = gatewayOf(tronNetwork, {
  chain: 'tron-usdt',
  token_contract: USDT.testnet as string,
  min_confirmations: 19,
});
const coin = gatewayOf(tronNetwork, { chain: 'tron', min_confirmations: 19 });

describe.runIf(hasAnvil)('a TRON review', () => {
  let chain: EvmChain;
  let front: TronFront;
  beforeAll(async () => {
    const tokens = [{ address: USDT_KEY }];
    chain = await startAnvil({
      chain_id: tronNetwork.chain_ids.testnet,
      block_seconds: 3,
      tokens,
      history: 40,
    });
    front = await startTronFront(chain.ask);
  });
  afterAll(async () => {
    await front?.stop();
    await chain?.stop();
  });
  beforeEach(() => {
    Object.assign(front.state, { lag: 0, faults: [], omits: null, rewrite: null, requests: [] });
  });

  const open = (gateways = [usdt, coin]) => {
    const provider = createProvider(
      { provider: 'tron', url: front.url },
      {
        requests_per_second: 1000,
        limits: { timeout_ms: 10_000, response_bytes: 200_000 },
        clock: { ms: () => chain.now() * 1000 },
        random: () => 0,
      },
    );
    onTestFinished(() => provider.close(new ProviderError('unreachable', 'test over')));
    const observer = createEvmObserver({
      network: tronNetwork,
      gateways,
      rpc: provider.rpc,
      now: () => chain.now(),
    });
    return { observer, watchTron: () => observer.watch(showAddress(freshAddress())) };
  };

  it('NEVER CATCHES UP: a hundred blocks at once are more than an answer may hold, and fewer are never asked for', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    await chain.payToken(USDT_KEY, to, 1n);
    await chain.payCoin(to, 2n);
    await chain.mine();
    await chain.grow(150);
    // Each block is a third of a percent of what an answer may hold on the real chain; here a fiftieth.
    front.state.rewrite = (text) =>
      text.replaceAll('"blockID"', `"padding":"${'0'.repeat(4_000)}","blockID"`);
    for (let reading = 0; reading < 8; reading++) await observer.tryRead();
    expect(observer.amounts(to)).toEqual([1n, 2n]);
  });

  it('HELD: where the API is always one block behind the JSON-RPC, no reading ends well and nothing is ever proved', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    let head = 0;
    front.state.rewrite = (text) => {
      const answer = JSON.parse(text) as { block?: { block_header: { raw_data: { number: number } } }[] };
      if (!answer.block) return text;
      const block = answer.block.filter(({ block_header }) => block_header.raw_data.number < head);
      return JSON.stringify(block.length > 0 ? { block } : {});
    };
    await chain.payToken(USDT_KEY, to, 3n);
    await chain.mine();
    const at = chain.now();
    let failed = 0;
    for (let reading = 0; reading < 40; reading++) {
      await chain.mine(2, 3);
      head = await chain.height();
      if (!(await observer.tryRead())) failed++;
    }
    expect({ failed, proved: (observer.read_through ?? 0) > at, amounts: observer.amounts(to) }).toEqual({
      failed: 0,
      proved: true,
      amounts: [3n],
    });
  });

  it('STOPPED: where the API for blocks is away (an own node has it at another port), USDT is not read either', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    front.state.rewrite = (text) => (text.startsWith('{"block"') ? 'Not Found' : text);
    await chain.payToken(USDT_KEY, to, 4n);
    for (let reading = 0; reading < 10; reading++) {
      await chain.mine(5);
      await observer.tryRead();
    }
    expect(observer.amounts(to)).toEqual([4n]);
  });
});
