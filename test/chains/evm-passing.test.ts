// Wallets that pass on what they get: a contract that forwards at once, a key that sweeps in the next block.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networks } from '../../src/chains/evm/networks.ts';
import type { RpcCall } from '../../src/chains/family.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, type Fault, refused } from './evm-front.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const WALLET = '0x4444444444444444444444444444444444444444';
const POLL_SECONDS = 6;
/** Invoices are open for so long. */
const OPEN_SECONDS = 40;

/** Sends on all that comes: CALL(gas, to, value, 0, 0, 0, 0). */
const forwarderTo = (to: string): string => `0x60006000600060003473${to.slice(2)}5af100`;

const isWhole = ({ method, params }: RpcCall) =>
  method === 'eth_getBlockByNumber' && (params as unknown[])[1] === true;
const noWhole: Fault = async (call, next) => {
  if (isWhole(call)) throw refused('whole blocks are not served here');
  return next(call);
};

describe.runIf(hasAnvil)('a wallet that passes on what it gets', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    const tokens = [TOKEN, WALLET].map((address) => ({ address }));
    chain = await startAnvil({ chain_id: 8453, block_seconds: 0.2, tokens, history: 30 });
  });
  afterAll(() => chain?.stop());

  function watching(
    network: (typeof networks)['base' | 'bsc' | 'arbitrum'],
    own?: string,
    faults: Fault[] = [],
  ) {
    const [front, second] = [createFront(chain.ask), createFront(chain.ask)];
    for (const fault of faults) for (const each of [front, second]) each.add(fault);
    const coin = gatewayOf(network, { chain: 'a-coin', decimals: 18 });
    const token = gatewayOf(network, { chain: 'a-token', token_contract: TOKEN });
    const options = { network, gateways: [coin, token], rpc: front.rpc, other: second.rpc };
    const observer = createEvmObserver({ ...options, side: 'mainnet', now: () => chain.now() });
    const to = observer.watch(own);
    const made_at = chain.now();
    const poll = async () => {
      const blocks = Math.max(1, Math.round(POLL_SECONDS / network.block_seconds));
      await chain.grow(blocks, POLL_SECONDS);
      observer.urgent = chain.now() >= made_at + OPEN_SECONDS ? [{ address_key: to, chain: 'a-coin' }] : [];
      await observer.read();
    };
    /** Reads until the invoice may end, and says whether it did within so many polls. */
    const end = async (polls = 45): Promise<boolean> => {
      for (let each = 0; each < polls; each++) {
        await poll();
        if (observer.provedThrough(to) >= made_at + OPEN_SECONDS) return true;
      }
      return false;
    };
    return { observer, front, second, to, poll, end };
  }

  const pass = {
    'a contract that forwards at once': async () => {
      const wallet = freshAddress();
      await chain.ask('anvil_setCode', wallet, forwarderTo(freshAddress()));
      return { wallet, after: async () => {} };
    },
    'a key that sweeps in the next block': async () => {
      const wallet = chain.freshPayer();
      await chain.ask('anvil_setBalance', wallet, '0x0');
      await chain.ask('anvil_impersonateAccount', wallet);
      const after = async () => {
        await chain.mine(1);
        const value = await chain.ask<string>('eth_getBalance', wallet, 'latest');
        await chain.ask('eth_sendTransaction', {
          from: wallet,
          to: freshAddress(),
          value,
          gas: '0x5208',
          gasPrice: '0x0',
        });
        await chain.mine(1);
        expect(Number(await chain.ask('eth_getBalance', wallet, 'latest'))).toBe(0);
      };
      return { wallet: wallet.toLowerCase(), after };
    },
  };

  describe.each(['base', 'bsc', 'arbitrum'] as const)('on %s', (id) => {
    it.each(Object.entries(pass))(
      '%s: what was paid in time is stored before anything is proved',
      async (_, make) => {
        verifies('coin-passing');
        const { wallet, after } = await make();
        const { observer, to, poll, end } = watching(networks[id], wallet);
        await observer.read();
        for (let each = 0; each < 3; each++) await poll();
        const txid = await chain.payCoin(to, 12_345n);
        await after();
        expect(await end()).toBe(true);
        expect(observer.to(to)).toMatchObject([{ txid, amount_atomic: 12_345n, index: `coin:${to}:0` }]);
      },
    );
  });

  it('waits where no provider gives the blocks, and has missed nothing when one does', async () => {
    const { wallet, after } = await pass['a key that sweeps in the next block']();
    const { observer, front, second, to, poll, end } = watching(networks.base, wallet);
    await observer.read();
    for (let each = 0; each < 3; each++) await poll();
    const heal = [front.add(noWhole), second.add(noWhole)];
    const txid = await chain.payCoin(to, 777n);
    await after();
    expect(await end(25)).toBe(false);
    expect(observer.proofs.get(to)?.trouble).toMatch(/passes on what it gets.*not served here/);
    for (const each of heal) each();
    expect(await end()).toBe(true);
    expect(observer.to(to)).toMatchObject([{ txid, amount_atomic: 777n }]);
  });

  it('lists what a contract paid to a key that swept it in the next block', async () => {
    const { wallet, after } = await pass['a key that sweeps in the next block']();
    const { observer, to, poll, end } = watching(networks.base, wallet);
    await observer.read();
    for (let each = 0; each < 3; each++) await poll();
    await chain.payCoinByContract(WALLET, to, 4_000n);
    await after();
    expect(await end()).toBe(true);
    expect(observer.to(to)).toMatchObject([
      { amount_atomic: 4_000n, ambiguous: expect.stringContaining('left again') },
    ]);
  });

  it('costs two calls a minute where nothing leaves the address, and no whole block', async () => {
    const { observer, front, poll, end } = watching(networks.base);
    await observer.read();
    for (let each = 0; each < 5; each++) await poll();
    front.requests.length = 0;
    for (let each = 0; each < 10; each++) await poll();
    const calls = front.requests.flat();
    expect(calls.filter(({ method }) => /TransactionCount|getCode/.test(method))).toHaveLength(2);
    expect(await end()).toBe(true);
    expect(front.requests.flat().filter(isWhole)).toEqual([]);
  });

  it('keeps over a restart what it has to read', async () => {
    const { wallet, after } = await pass['a key that sweeps in the next block']();
    const { observer, front, second, to, poll, end } = watching(networks.base, wallet);
    await observer.read();
    const heal = [front.add(noWhole), second.add(noWhole)];
    const txid = await chain.payCoin(to, 99n);
    await after();
    for (let each = 0; each < 12; each++) await poll();
    observer.restart();
    for (const each of heal) each();
    expect(await end()).toBe(true);
    expect(observer.to(to)).toMatchObject([{ txid, amount_atomic: 99n }]);
  });

  it.each(['a restart', 'another daemon'] as const)(
    'lists once what a contract paid before %s',
    async (what) => {
      verifies('coin-passing');
      const { wallet, after } = await pass['a key that sweeps in the next block']();
      const { observer, to, poll, end } = watching(networks.base, wallet);
      await observer.read();
      for (let each = 0; each < 2; each++) await poll();
      if (what === 'another daemon') observer.change();
      for (let each = 0; each < 2; each++) await poll();
      if (what === 'another daemon') observer.change();
      await chain.payCoinByContract(WALLET, to, 5_000n);
      await poll();
      const listed = [{ amount_atomic: 5_000n, ambiguous: expect.stringContaining('the balance rose') }];
      expect(observer.to(to)).toMatchObject(listed);
      if (what === 'another daemon') observer.change();
      else observer.restart();
      await after();
      expect(await end()).toBe(true);
      expect(observer.to(to)).toMatchObject(listed);
    },
  );

  it('does not take for its branch what was seen on another one, where it dies as soon as coins are read', async () => {
    verifies('coin-passing');
    const { wallet, after } = await pass['a key that sweeps in the next block']();
    const { observer, to, poll, end } = watching(networks.base, wallet);
    await observer.read();
    const seen = () => JSON.stringify(observer.accounts.get(`passing:${to}`));
    const idle = () => chain.send({ from: wallet, to: freshAddress() });
    await idle();
    for (let each = 0; each < 12; each++) await poll();
    expect(seen()).toMatch(/"nonce":1.*"next":null/);
    // On one branch it makes the transaction that has the number of its sweep on the other.
    await idle();
    for (let each = 0; each < 2; each++) await poll();
    expect(seen()).toMatch(/"nonce":2.*"next":null/);
    await chain.reorg(100);
    const head = await chain.height();
    observer.dies_after = ({ cursor }) => (cursor as { coin?: { height: number } })?.coin?.height === head;
    await expect(observer.read()).rejects.toThrow('killed');
    observer.dies_after = null;
    observer.restart();
    const txid = await chain.payCoin(to, 31_000n);
    await after();
    expect(await end()).toBe(true);
    expect(observer.to(to)).toMatchObject([{ txid, amount_atomic: 31_000n }]);
  });
});
