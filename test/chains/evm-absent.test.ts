// What one provider lists and has no receipt of is held against that provider alone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../src/chains/evm/networks.ts';
import type { RpcCall } from '../../src/chains/family.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type EvmFront } from './evm-front.ts';
import { createEvmObserver, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const { base, bsc } = networks;

const isReceiptOf =
  (txid: string) =>
  ({ method, params }: RpcCall): boolean =>
    method === 'eth_getTransactionReceipt' && (params as unknown[])[0] === txid;

describe.runIf(hasAnvil)('a transaction that one provider has no receipt of', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    chain = await startAnvil({
      chain_id: base.chain_ids.testnet,
      block_seconds: 2,
      tokens: [{ address: TOKEN }],
      history: 50,
    });
  });
  afterAll(() => chain?.stop());

  async function twoOf() {
    const gateways = [gatewayOf(bsc, { chain: 'a-usdc', token_contract: TOKEN })];
    const front = createFront(chain.ask);
    const other = createFront(chain.ask);
    const now = () => chain.now();
    const observer = createEvmObserver({ network: bsc, gateways, rpc: front.rpc, other: other.rpc, now });
    const to = observer.watch();
    await observer.read();
    const pay = async (amount: bigint) => {
      const txid = await chain.payToken(TOKEN, to, amount);
      await chain.mine(1);
      return { txid, height: await chain.height() };
    };
    /** The other one is read, and asks the first one for a second opinion. */
    const swapped = {
      rpc: other.rpc,
      askOther: <T>(work: (rpc: EvmFront['rpc']) => Promise<T>) => work(front.rpc),
    };
    return { front, other, observer, to, pay, swapped };
  }

  it('is credited as the next provider has it, which is read in its place', async () => {
    const { front, observer, to, pay, swapped } = await twoOf();
    const lost = await pay(5n);
    const behind = await pay(6n);
    // It has neither receipt, and where it is asked once more for the second one it is behind.
    const isLost = isReceiptOf(lost.txid);
    const isBehind = isReceiptOf(behind.txid);
    front.add(async (call, next) => {
      const asked = front.requests.at(-1) ?? [];
      const is_pair = asked.length === 2 && asked.some(isBehind);
      if (isLost(call) || isBehind(call) || (is_pair && call.method === 'eth_getBlockByNumber')) return null;
      return next(call);
    });
    for (let reading = 0; reading < 4; reading++) {
      await observer.tryRead();
      await chain.mine(1, 40);
    }
    for (let reading = 0; reading < 4; reading++) {
      await observer.read(swapped);
      await chain.mine(1, 40);
    }
    expect(observer.amounts(to)).toEqual([5n, 6n]);
    expect(observer.to(to).map(({ ambiguous }) => ambiguous)).toEqual([undefined, undefined]);
  });
});
