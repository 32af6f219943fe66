// Coins that are found by balances: what a contract pays is listed, and what fails with coins holds up no token.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import type { RpcCall } from '../../src/chains/family.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type EvmFront, type Fault, refused } from './evm-front.ts';
import { createEvmObserver, type EvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const WALLET = '0x4444444444444444444444444444444444444444';
const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const { base, ethereum } = networks;

const isWhole = ({ method, params }: RpcCall) =>
  method === 'eth_getBlockByNumber' && (params as unknown[])[1] === true;
const wholeOf = (front: EvmFront) => front.requests.flat().filter(isWhole).length;
const noWhole: Fault = async (call, next) => {
  if (isWhole(call)) throw refused('whole blocks are not served here');
  return next(call);
};
/** A node that keeps the state of its newest block alone. */
const noState =
  (chain: EvmChain): Fault =>
  async (call, next) => {
    const [, at] = call.params as [unknown, string];
    const isOld = ['eth_getBalance', 'eth_call'].includes(call.method) && at !== 'latest';
    if (isOld && Number(at) < (await chain.height())) throw refused('missing trie node');
    return next(call);
  };
const noCode: Fault = async (call, next) => {
  const [asked] = call.params as [{ to?: string }];
  if (call.method === 'eth_call' && asked.to === undefined) throw refused('contract creation is not allowed');
  return next(call);
};

describe.runIf(hasAnvil)('coins by balances', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    const tokens = [WALLET, TOKEN].map((address) => ({ address }));
    chain = await startAnvil({ chain_id: 8453, block_seconds: 2, tokens, history: 20 });
  });
  afterAll(() => chain?.stop());

  async function watching(network: EvmNetwork = base, faults: Fault[] = [], others = 0) {
    const [front, second] = [createFront(chain.ask), createFront(chain.ask)];
    for (const fault of faults) front.add(fault);
    const coin = gatewayOf(network, { chain: 'a-coin', decimals: 18 });
    const token = gatewayOf(network, { chain: 'a-token', token_contract: TOKEN });
    const options = { network, gateways: [coin, token], rpc: front.rpc, other: second.rpc };
    const observer = createEvmObserver({ ...options, side: 'mainnet', now: () => chain.now() });
    const to = observer.watch();
    for (let each = 0; each < others; each++) observer.watch();
    await observer.read();
    front.requests.length = 0;
    return { front, second, observer, to };
  }

  const shown = (observer: EvmObserver, to: string) =>
    observer.to(to).map(({ amount_atomic, height, ambiguous }) => ({
      amount: amount_atomic,
      height,
      listed: ambiguous !== undefined,
    }));

  it('are found in whole blocks, which are read only where a balance has changed', async () => {
    verifies('coin-by-balance');
    const { front, observer, to } = await watching(base, [], 20);
    await chain.mine(3);
    await observer.read();
    expect(wholeOf(front)).toBe(0);
    const txid = await chain.payCoin(to, 7n);
    await chain.mine(3);
    await observer.read();
    expect(observer.to(to)).toMatchObject([
      { chain: 'a-coin', amount_atomic: 7n, txid, index: `coin:${to}:0`, confirmations: 3 },
    ]);
    expect(observer.to(to)[0]?.ambiguous).toBeUndefined();
    expect(wholeOf(front)).toBe(3);
    await chain.mine();
    await observer.read();
    expect(wholeOf(front)).toBe(3);
    // The balance of each, and what is known of what it passes on.
    expect(observer.accounts.size).toBe(42);
  });

  it('that came and left while another was paid are those of their transaction, and no increase besides', async () => {
    verifies('coin-by-balance');
    const { observer, to } = await watching();
    const wallet = observer.watch(chain.accounts[31] as string);
    await chain.mine(2);
    await observer.read();
    const gas_price = 10n ** 11n;
    const [spent, fee] = [7_000n, 21_000n * gas_price];
    const txid = await chain.payCoin(wallet, spent + fee);
    await chain.mine(70);
    await chain.payCoin(to, 9n);
    await chain.mine(20);
    const away = { from: wallet, to: freshAddress(), gas: '0x5208' };
    const value = `0x${spent.toString(16)}`;
    await chain.ask('eth_sendTransaction', { ...away, value, gasPrice: `0x${gas_price.toString(16)}` });
    await chain.mine();
    await chain.payCoin(to, 10n);
    await chain.mine(10);
    for (let reading = 0; reading < 6; reading++) await observer.read();
    expect(observer.amounts(to)).toEqual([9n, 10n]);
    expect(observer.to(wallet)).toMatchObject([{ txid, amount_atomic: spent + fee }]);
    expect(shown(observer, wallet)).toMatchObject([{ listed: false }]);
  });

  it('are read of a provider that refuses two calls with one error, where it does not serve one of them', async () => {
    verifies('coin-by-balance');
    const { front, second, observer, to } = await watching(base, [], 20);
    for (const each of [front, second]) {
      each.add(noCode);
      Object.assign(each, {
        batch_calls: 2,
        onBatch: (calls: readonly RpcCall[]) => {
          if (calls.some(({ method }) => method === 'eth_call')) throw refused('the method is not available');
        },
      });
    }
    await chain.payCoin(to, 7n);
    await chain.mine(2);
    for (let reading = 0; reading < 8; reading++) {
      await chain.mine();
      await observer.tryRead();
    }
    expect(observer.amounts(to)).toEqual([7n]);
    expect(observer.unreadable).toEqual([]);
  });

  it('that contracts pay are listed by their blocks to the last unit, whatever else moved there', async () => {
    const { observer } = await watching();
    const from = chain.accounts[30] as string;
    const to = observer.watch(from);
    await chain.mine();
    await observer.read();
    const first = await chain.height();
    const spend = (value: string, target: string) =>
      chain.ask('eth_sendTransaction', { from, to: target, value, gas: '0x30d40', gasPrice: '0x3b9aca00' });
    await chain.payCoinByContract(WALLET, to, 100n);
    await chain.payCoin(to, 11n);
    await chain.mine();
    await spend('0x5', freshAddress());
    await spend('0x6', from);
    await chain.mine(2);
    await chain.payCoinByContract(WALLET, to, 300n);
    await chain.payCoinByContract(WALLET, to, 4000n);
    await spend('0x7', WALLET);
    await chain.mine(2);
    await observer.read();
    expect(shown(observer, to)).toEqual([
      { amount: 11n, height: first + 1, listed: false },
      { amount: 100n, height: first + 1, listed: true },
      { amount: 4300n, height: first + 4, listed: true },
    ]);
    observer.restart();
    await chain.mine();
    await observer.read();
    expect(observer.to(to)).toHaveLength(3);
  });

  it('are counted from the block before an address was watched, and after a pause from where they were', async () => {
    const { front, observer } = await watching();
    const [early, late] = [freshAddress(), freshAddress()];
    await chain.payCoinByContract(WALLET, early, 5n);
    await chain.mine();
    await observer.read();
    const to = [observer.watch(early), observer.watch(late)];
    await chain.payCoinByContract(WALLET, late, 6n);
    await chain.mine();
    await observer.read();
    expect(to.map((key) => shown(observer, key).map(({ amount }) => amount))).toEqual([[], [6n]]);
    observer.unwatch(late);
    await chain.payCoinByContract(WALLET, late, 7n);
    await chain.mine();
    await observer.read();
    observer.restart();
    chain.wait(30);
    observer.watch(late);
    await chain.mine();
    await observer.read();
    expect(shown(observer, late)).toHaveLength(1);
    front.requests.length = 0;
    for (let piece = 0; piece < 3; piece++) {
      await chain.payCoinByContract(WALLET, late, 8n);
      await chain.payCoin(late, 9n);
      await chain.mine(9);
    }
    observer.restart();
    await observer.read();
    expect(shown(observer, late).map(({ amount }) => amount)).toEqual([6n, 8n, 8n, 8n, 9n, 9n, 9n]);
    // The first change is found by halves, then the blocks up to the last one are read.
    expect(wholeOf(front)).toBe(21);
  });

  it('are found where a node keeps no state of older blocks, and an increase is listed with the blocks it may be in', async () => {
    const { front, observer, to } = await watching(base, [noState(chain)]);
    const fresh = observer.watch();
    await chain.payCoin(fresh, 1n);
    await chain.mine(2);
    await observer.read();
    expect(shown(observer, fresh)).toMatchObject([{ amount: 1n, listed: false }]);
    const first = await chain.height();
    await chain.payCoinByContract(WALLET, fresh, 2n);
    await chain.payCoin(to, 3n);
    await chain.mine(25);
    await observer.read();
    expect(shown(observer, fresh)).toEqual([
      { amount: 1n, height: first - 1, listed: false },
      { amount: 2n, height: first + 25, listed: true },
    ]);
    expect(observer.to(fresh)[1]?.ambiguous).toContain(`in blocks ${first + 1} to ${first + 25},`);
    expect(shown(observer, to)).toMatchObject([{ amount: 3n, height: first + 1 }]);
    expect(front.requests.flat().some(({ method }) => method === 'eth_call')).toBe(false);
  });

  it('cost one call for hundreds of addresses, and one each where the provider runs no code', async () => {
    const asked = (front: EvmFront) =>
      front.requests.flat().filter(({ method }) => ['eth_call', 'eth_getBalance'].includes(method)).length;
    for (const [fault, calls] of [
      [undefined, 2],
      [noCode, 801],
    ] as const) {
      const { front, observer } = await watching(base, [], 800);
      const heal = fault && front.add(fault);
      const to = observer.watch();
      await chain.payCoin(to, 5n);
      await chain.mine();
      await observer.read();
      expect(observer.amounts(to)).toEqual([5n]);
      front.requests.length = 0;
      await chain.mine();
      await observer.read();
      expect(asked(front)).toBeLessThanOrEqual(calls + 1);
      if (!heal) continue;
      // A single refusal is not for ever.
      heal();
      chain.wait(600);
      await chain.mine();
      await observer.read();
      front.requests.length = 0;
      await chain.mine();
      await observer.read();
      expect(asked(front)).toBeLessThanOrEqual(3);
    }
  });

  it('that left the chain with their block are gone, and listed again by the block that has them now', async () => {
    const { observer, to } = await watching();
    const txid = await chain.payCoinByContract(WALLET, to, 40n);
    const direct = await chain.payCoin(to, 2n, chain.freshPayer());
    await chain.mine(2);
    await observer.read();
    const [first = 0, second] = observer.to(to).map(({ height }) => height as number);
    expect(second).toBe(first);
    await chain.reorg(2, [
      [txid, 1],
      [direct, 0],
    ]);
    await observer.read();
    expect(shown(observer, to)).toEqual([
      { amount: 2n, height: first, listed: false },
      { amount: 40n, height: first + 1, listed: true },
    ]);
    expect([...observer.gone.values()]).toEqual([expect.stringContaining('its block left the chain')]);
    await chain.reorg(3);
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ amount_atomic: 2n, height: null }]);
    expect(observer.gone.size).toBe(2);
  });

  describe.each([base, ethereum])('of $name that cannot be read', (network) => {
    it('hold up no token, count as unreadable, and are caught up with in pieces', async () => {
      verifies('coin-apart');
      const { front, second, observer, to } = await watching(network);
      await observer.read();
      const heal = [front.add(noWhole), second.add(noWhole)];
      await chain.payCoin(to, 1n);
      await chain.payToken(TOKEN, to, 2n);
      await chain.mine();
      const paid_at = chain.now();
      await observer.read();
      expect([observer.amounts(to), observer.unreadable]).toEqual([[2n], []]);
      for (let each = 0; each < 3; each++) {
        await chain.grow(13, 31);
        await observer.read();
      }
      expect(observer.unreadable).toEqual([
        { chain: 'a-coin', reason: expect.stringMatching(/read up to block \d+ of \d+: .*not served here/) },
      ]);
      expect(observer.read_through).toBeGreaterThanOrEqual(paid_at);
      // A restart changes nothing of that.
      observer.restart();
      await observer.read();
      expect(observer.unreadable).toHaveLength(1);
      for (const each of heal) each();
      await observer.read();
      expect([observer.amounts(to), observer.unreadable]).toEqual([[1n, 2n], []]);
      expect(observer.errors).toEqual([]);
    });

    it('are read of another provider where the first has no whole blocks', async () => {
      const { observer, to, second } = await watching(network, [noWhole]);
      await chain.payCoin(to, 3n);
      await chain.mine();
      await observer.read();
      expect(observer.amounts(to)).toEqual([3n]);
      expect(wholeOf(second)).toBeGreaterThan(0);
    });
  });

  it('switched off and on again are counted from where logs are proved to', async () => {
    const { observer, to } = await watching();
    const gateways = observer.context.gateways.filter(({ is_token }) => is_token);
    await chain.mine();
    await observer.read({ gateways });
    await chain.payCoin(to, 3n);
    await chain.mine();
    await observer.read({ gateways });
    chain.wait(70);
    await chain.mine();
    await observer.read({ gateways });
    // Another daemon may have read this a moment ago, by settings without the coin.
    await chain.payCoin(to, 5n);
    await chain.mine();
    await observer.read({ gateways });
    await observer.read();
    await chain.payCoinByContract(WALLET, to, 4n);
    await chain.mine();
    await observer.read();
    expect(observer.amounts(to)).toEqual([4n, 5n]);
  });
});
