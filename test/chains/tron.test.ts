// Reading TRON: tokens through its dialect of JSON-RPC, coins from the node's own API, and what poses as either.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createProvider } from '../../daemon/observer/providers/provider.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { showAddress } from '../../src/chains/tron/address.ts';
import { USDT } from '../../src/chains/tron/contracts.ts';
import { tronNetwork } from '../../src/chains/tron/network.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';
import { startTronFront, type TronFront } from './tron-front.ts';
import { contractTransaction, plantedId, tronHex } from './tron-transactions.ts';

const USDT_KEY = tronNetwork.dialect.contractKey(USDT.testnet as string);
const usdt = gatewayOf(tronNetwork, {
  chain: 'tron-usdt',
  token_contract: USDT.testnet as string,
  min_confirmations: 19,
});
const coin = gatewayOf(tronNetwork, { chain: 'tron', min_confirmations: 19 });
const SOLID = 19;

describe.runIf(hasAnvil)('reading TRON', () => {
  let chain: EvmChain;
  let front: TronFront;
  const start = async () => {
    const tokens = [{ address: USDT_KEY }];
    chain = await startAnvil({
      chain_id: tronNetwork.chain_ids.testnet,
      block_seconds: 3,
      tokens,
      history: 40,
    });
    front = await startTronFront(chain.ask);
  };
  const stop = async () => {
    await front?.stop();
    await chain?.stop();
  };
  beforeAll(start);
  afterAll(stop);
  beforeEach(() => {
    Object.assign(front.state, {
      lag: 0,
      faults: [],
      omits: null,
      runs_code: true,
      too_high: 0n,
      solid_at: null,
      ahead: 0,
      requests: [],
    });
  });

  /** The provider as the daemon has it, over HTTP. */
  const open = (gateways = [usdt, coin], network = tronNetwork) => {
    const provider = createProvider(
      { provider: 'tron', url: front.url },
      {
        requests_per_second: 1000,
        limits: { timeout_ms: 10_000, response_bytes: 64_000_000 },
        clock: { ms: () => chain.now() * 1000 },
        random: () => 0,
      },
    );
    onTestFinished(() => provider.close(new ProviderError('unreachable', 'test over')));
    const observer = createEvmObserver({
      network,
      gateways,
      rpc: provider.rpc,
      now: () => chain.now(),
    });
    const watchTron = () => observer.watch(showAddress(freshAddress()));
    return { observer, provider, watchTron };
  };
  /** The API's transactions for the next block. */
  const plantNext = async (...transactions: Parameters<TronFront['plant']>[1][]) =>
    front.plant((await chain.height()) + 1, ...transactions);
  const payer = tronHex(`0x${'77'.repeat(20)}`);

  it('is known by its chain id, over its own path', async () => {
    const { observer, provider } = open();
    expect(await observer.family.identify(provider.rpc)).toBe('testnet');
    expect(front.state.requests).toEqual(['/jsonrpc']);
    const examine = () => observer.family.examine?.(observer.context);
    expect(await examine()).toEqual([]);
    front.state.runs_code = false;
    front.state.omits = 'transactions';
    await chain.payCoin(freshAddress(), 1n);
    await chain.mine(4);
    expect(await examine()).toMatchObject([{ is_needed: true }, { is_needed: false }]);
  });

  it('finds coins and tokens, shows T… senders and plain ids, and takes what is solidified for final', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    const coins = await chain.payCoin(to, 3_000_000n);
    const tokens = await chain.payToken(USDT_KEY, to, 1_250_000n);
    await chain.mine();
    await observer.read();
    const sender = showAddress(chain.payer.toLowerCase());
    expect(observer.to(to)).toMatchObject([
      { chain: 'tron-usdt', txid: tokens.slice(2), amount_atomic: 1_250_000n, sender, confirmations: 1 },
      { chain: 'tron', txid: coins.slice(2), amount_atomic: 3_000_000n, sender, final: false },
    ]);
    await chain.grow(SOLID - 2);
    chain.wait(60);
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ final: false }, { final: false }]);
    await chain.mine(2);
    chain.wait(60);
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ final: true }, { final: true }]);
    expect(await observer.lookUp(coins, to, coin)).toMatchObject([{ amount_atomic: 3_000_000n }]);
    expect(await observer.lookUp(tokens.slice(2), to, usdt)).toMatchObject([{ amount_atomic: 1_250_000n }]);
    expect(await observer.lookUp(tokens, to, coin)).toEqual([]);
  });

  it('asks the API only where coins are read, and as often whether one address is watched or many', async () => {
    const count = async (addresses: number, gateways: (typeof coin)[]) => {
      const { observer, watchTron } = open(gateways);
      for (let at = 0; at < addresses; at++) watchTron();
      // The first balances take two looks.
      for (let look = 0; look < 2; look++) {
        await observer.read();
        await chain.mine(2);
      }
      front.state.requests.length = 0;
      await observer.read();
      return front.state.requests.map((path) => path.replace(/^\/wallet\//, ''));
    };
    expect(await count(1, [usdt])).not.toContain('getblockbylimitnext');
    const one = await count(1, [usdt, coin]);
    expect(one.filter((path) => path === 'getblockbylimitnext')).toHaveLength(1);
    expect(await count(900, [usdt, coin])).toEqual(one);
  });

  it('costs so many requests a minute, with what balances cost, and the same whatever was paid', async () => {
    const minuteOf = async (addresses: number, payments: number) => {
      const { observer, watchTron } = open();
      const watched = Array.from({ length: addresses }, watchTron);
      const tick = async () => {
        await chain.mine(2);
        await observer.read();
      };
      await tick();
      for (const to of watched.slice(0, payments)) await chain.payToken(USDT_KEY, to, 1n);
      for (let ticks = 0; ticks < 21; ticks++) await tick();
      front.state.requests.length = 0;
      for (let ticks = 0; ticks < 10; ticks++) await tick();
      const { requests } = front.state;
      const count = (path: string) => `${path} ${requests.filter((each) => each === path).length}`;
      if (process.env.EVM_COSTS) console.log(addresses, [...new Set(requests)].map(count));
      return front.state.requests.length;
    };
    const [idle, busy] = [await minuteOf(1, 0), await minuteOf(1, 10)];
    const many = await minuteOf(10_000, 0);
    if (process.env.EVM_COSTS) console.log('TRON', idle, busy, await minuteOf(1000, 0), many);
    expect([idle, busy]).toEqual([busy, expect.any(Number)]);
    expect(idle).toBeLessThanOrEqual(40);
    // What a free key allows all day long.
    expect(many).toBeLessThanOrEqual(69);
  }, 600_000);

  it.each([
    ['a worthless token', 'TransferAssetContract', { asset_name: '31303030303031' }],
    ['a freeze', 'FreezeBalanceV2Contract', { frozen_balance: 9_000_000 }],
    ['a vote', 'VoteWitnessContract', { votes: [] }],
    ['a delegation', 'DelegateResourceContract', { receiver_address: payer, balance: 9_000_000 }],
    ['a kind of transaction made later', 'SomethingNewContract', {}],
  ])('does not take %s for coins, though JSON-RPC shows it so', async (_, type, fields) => {
    const { observer, watchTron, provider } = open();
    const to = watchTron();
    await observer.read();
    const value = { owner_address: payer, to_address: tronHex(to), amount: 3_000_000, ...fields };
    const txID = plantedId(`${type} ${to}`);
    await plantNext(contractTransaction(txID, type, value));
    await chain.mine();
    const height = `0x${(await chain.height()).toString(16)}`;
    const { transactions } = (await provider.rpc.call('eth_getBlockByNumber', [height, true])) as {
      transactions: object[];
    };
    expect(transactions.at(-1)).toMatchObject({ to, value: '0x2dc6c0', input: '0x', type: '0x0' });
    await observer.read();
    expect(observer.amounts(to)).toEqual([]);
    expect(await observer.lookUp(txID, to, coin)).toEqual([]);
  });

  it('credits a planted transfer of coins, so that the refusals above are for their kind', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    const value = { owner_address: payer, to_address: tronHex(to), amount: 3_000_000 };
    await plantNext(contractTransaction(plantedId(`coins ${to}`), 'TransferContract', value));
    await chain.mine();
    await observer.read();
    expect(observer.amounts(to)).toEqual([3_000_000n]);
  });

  const good = [{ contractRet: 'SUCCESS' }];
  it.each<[string, (to: string) => object]>([
    ['an empty list of contracts', () => ({ ret: good, raw_data: { contract: [] } })],
    ['no contract at all', () => ({ ret: good, raw_data: {} })],
    ['no raw data', () => ({ ret: good })],
    ['a list that is none', () => ({ ret: good, raw_data: { contract: 'TransferContract' } })],
    ['null in its list', () => ({ ret: good, raw_data: { contract: [null] } })],
  ])('passes over a transaction with %s', async (_, shape) => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    await plantNext({ txID: plantedId(`odd ${to}`), ...shape(to) });
    await chain.payToken(USDT_KEY, to, 7n);
    await chain.mine();
    await observer.read();
    expect(observer.amounts(to)).toEqual([7n]);
  });

  it.each<[string, (transaction: Record<string, never>) => object]>([
    ['without a result', ({ ret: _, ...rest }) => rest],
    ['with an empty result', (rest) => ({ ...rest, ret: [] })],
    ['that ran out of energy', (rest) => ({ ...rest, ret: [{ contractRet: 'OUT_OF_ENERGY' }] })],
    ['that was reverted', (rest) => ({ ...rest, ret: [{ contractRet: 'REVERT' }] })],
    ['with two results', (rest) => ({ ...rest, ret: [...good, ...good] })],
    [
      'with two contracts',
      (rest) => {
        const { contract } = rest.raw_data as unknown as { contract: object[] };
        return { ...rest, raw_data: { contract: [...contract, ...contract] } };
      },
    ],
  ])('does not credit a transfer of coins %s', async (_, change) => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    const value = { owner_address: payer, to_address: tronHex(to), amount: 3_000_000 };
    const txID = plantedId(`failed ${to}`);
    const whole = contractTransaction(txID, 'TransferContract', value) as unknown as Record<string, never>;
    await plantNext({ ...change(whole), txID });
    await chain.mine();
    await observer.read();
    expect(observer.amounts(to)).toEqual([]);
  });

  it.each([0, -1, 1.5, '3000000', null])('does not credit an amount of %j', async (amount) => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    const value = { owner_address: payer, to_address: tronHex(to), amount };
    await plantNext(contractTransaction(plantedId(`amount ${to}`), 'TransferContract', value));
    await chain.mine();
    await observer.read();
    expect(observer.amounts(to)).toEqual([]);
  });

  it('counts an amount that a JSON number cannot hold to the last unit', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    const value = { owner_address: payer, to_address: tronHex(to), amount: 0 };
    const transfer = contractTransaction(plantedId(`large ${to}`), 'TransferContract', value);
    await plantNext(transfer);
    await chain.mine();
    // What a node writes is a number of digits, which no number of ours has.
    front.state.rewrite = (text) => text.replaceAll('"amount":0', '"amount":9007199254740993');
    await observer.read();
    front.state.rewrite = null;
    expect(observer.amounts(to)).toEqual([9_007_199_254_740_993n]);
  });

  it('takes coins that a contract call carries for no payment of coins to us', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    await chain.payCoinByContract(USDT_KEY, to, 5_000_000n);
    await chain.payToken(`0x${'cc'.repeat(20)}`, to, 5n);
    await chain.mine();
    await observer.read();
    expect(observer.amounts(to)).toEqual([]);
  });

  describe('holds balances against what final blocks show', () => {
    /** So many seconds in which everything so far becomes final. */
    const settle = async (observer: { read(): Promise<void> }) => {
      await chain.grow(SOLID + 1);
      for (let look = 0; look < 2; look++) {
        await chain.mine(2);
        chain.wait(55);
        await observer.read();
      }
    };

    it('lists what a contract pays with its blocks, once two looks agree, whatever restarts', async () => {
      verifies('coin-final-balance');
      const { observer, watchTron } = open();
      const [to, other] = [watchTron(), watchTron()];
      await observer.read();
      await settle(observer);
      await chain.payCoinByContract(USDT_KEY, to, 5_000_000n);
      await chain.payCoin(to, 3_000_000n);
      await chain.payCoin(other, 7n);
      await chain.grow(SOLID + 2);
      chain.wait(60);
      await observer.read();
      expect(observer.amounts(to)).toEqual([3_000_000n]);
      observer.restart();
      await settle(observer);
      const listed = { chain: 'tron', index: `coin:${to}:balance`, sender: null, final: true };
      expect(observer.to(to)).toMatchObject([
        { amount_atomic: 3_000_000n },
        { ...listed, amount_atomic: 5_000_000n, ambiguous: expect.stringMatching(/rose by this in block/) },
      ]);
      await settle(observer);
      expect([observer.amounts(to), observer.amounts(other)]).toEqual([[3_000_000n, 5_000_000n], [7n]]);
    });

    it('counts what an address spends and what that costs', async () => {
      const { observer } = open();
      const to = observer.watch(showAddress(chain.freshPayer().toLowerCase()));
      await observer.read();
      await settle(observer);
      await chain.payCoin(freshAddress(), 9_000_000n, to);
      await chain.payCoinByContract(USDT_KEY, to, 1n);
      await settle(observer);
      expect(observer.amounts(to)).toEqual([1n]);
    });

    it('lists nothing that a single look has shown', async () => {
      const { observer, watchTron } = open();
      const to = watchTron();
      await observer.read();
      await settle(observer);
      front.state.too_high = 5n;
      await settle(observer);
      // An account from a server that is behind: the payment that it lacks must not rise out of it a second time.
      await chain.payCoin(to, 9n);
      await settle(observer);
      front.state.too_high = -9n;
      await settle(observer);
      await settle(observer);
      expect([front.state.too_high, observer.amounts(to)]).toEqual([0n, [9n]]);
    });

    it.each([-9n, 5n])('takes the first balance of two looks, the first %i off', async (too_high) => {
      const { observer, watchTron } = open();
      watchTron();
      await observer.read();
      const to = freshAddress();
      await chain.payCoin(to, 9n);
      await chain.grow(SOLID + 1);
      front.state.too_high = too_high;
      observer.watch(showAddress(to));
      for (let look = 0; look < 3; look++) {
        await observer.read();
        await chain.mine(2);
      }
      expect(front.state.too_high).toBe(0n);
      await chain.payCoinByContract(USDT_KEY, to, 5n);
      await settle(observer);
      await settle(observer);
      expect(observer.amounts(to)).toEqual([5n]);
    });

    it('asks for one account after the other where the node runs no code', async () => {
      const { observer, watchTron } = open();
      front.state.runs_code = false;
      const watched = [watchTron(), watchTron()];
      await observer.read();
      await settle(observer);
      for (const to of watched) await chain.payCoinByContract(USDT_KEY, to, 6n);
      await settle(observer);
      await settle(observer);
      expect(watched.map((to) => observer.amounts(to))).toEqual([[6n], [6n]]);
      expect(front.state.requests).toContain('/walletsolidity/getaccount');
    });

    it.each<[string, () => Promise<void>]>([
      [
        'cannot',
        async () => {
          const isSolid = (text: string) => /constant_result|blockID":"\w+","block_header/.test(text);
          front.state.rewrite = (text) => (isSolid(text) ? 'odd' : text);
        },
      ],
      [
        'is given those of blocks that no one made',
        async () => {
          front.state.ahead = 1_000_000;
        },
      ],
      [
        'stands still',
        async () => {
          front.state.solid_at = (await chain.height()) - SOLID;
        },
      ],
    ])('says after a while that it %s, and has missed nothing when it can', async (_, fail) => {
      const { observer, watchTron } = open([usdt, coin], {
        ...tronNetwork,
        final: { depth_seconds: 57, alone_seconds: 60 },
      });
      const to = watchTron();
      await observer.read();
      await settle(observer);
      await fail();
      await chain.payCoinByContract(USDT_KEY, to, 8n);
      await chain.mine();
      await observer.read();
      for (let minute = 0; minute < 11; minute++) {
        await chain.mine();
        chain.wait(60);
        await observer.read();
      }
      expect(observer.unreadable).toMatchObject([{ chain: 'tron' }]);
      Object.assign(front.state, { rewrite: null, ahead: 0, solid_at: null });
      await settle(observer);
      expect([observer.amounts(to), observer.unreadable]).toEqual([[8n], []]);
    });
  });

  it('reads no 41-address of the API as another one, and none that is odd', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    const at = (name: string, to_address: string) =>
      contractTransaction(plantedId(`${name} ${to}`), 'TransferContract', {
        owner_address: payer,
        to_address,
        amount: 1_000_000,
      });
    const bare = to.slice(2);
    await plantNext(
      at('none', bare),
      at('other', `42${bare}`),
      at('0x', `0x41${bare}`),
      at('base58', showAddress(to)),
      at('good', `41${bare}`),
    );
    await chain.mine();
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ txid: plantedId(`good ${to}`) }]);
  });

  it('takes HTTP 200 of an overloaded node for a rate limit, in both of its APIs, and misses nothing', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    await chain.payCoin(to, 11n);
    await chain.payToken(USDT_KEY, to, 12n);
    await chain.mine();
    for (const at of [0, 1, 2, 3]) {
      front.state.faults = [...Array<null>(at).fill(null), ...Array<'overloaded'>(9).fill('overloaded')];
      if (await observer.tryRead()) break;
      expect(observer.errors.at(-1)).toMatchObject({ kind: 'rate_limited' });
      expect(observer.errors.at(-1)?.message).toContain('lack of computing resources');
      expect(observer.amounts(to)).toEqual([]);
    }
    front.state.faults = ['suspended', 'suspended', 'suspended'];
    expect(await observer.tryRead()).toBe(false);
    expect(observer.errors.at(-1)).toMatchObject({ kind: 'rate_limited', code: 403 });
    front.state.faults = [];
    await observer.read();
    expect(observer.amounts(to)).toEqual([11n, 12n]);
  });

  it.each(['blocks', 'transactions'] as const)(
    'does not take an answer of the API without its %s for an empty one',
    async (omits) => {
      const { observer, watchTron } = open();
      const to = watchTron();
      await observer.read();
      await chain.payCoin(to, 21n);
      await chain.mine();
      front.state.omits = omits;
      await observer.read();
      expect(observer.amounts(to)).toEqual([]);
      // Nothing is proved of coins meanwhile: an invoice stays open.
      chain.wait(61);
      await observer.read();
      expect(observer.unreadable).toMatchObject([{ chain: coin.chain }]);
      front.state.omits = null;
      await observer.read();
      expect([observer.amounts(to), observer.unreadable]).toEqual([[21n], []]);
    },
  );

  it('loses time with a node that is behind, and no payment', async () => {
    const { observer, watchTron } = open();
    const to = watchTron();
    await observer.read();
    await chain.payToken(USDT_KEY, to, 31n);
    await chain.payCoin(to, 32n);
    await chain.mine(2);
    front.state.lag = 5;
    expect(await observer.tryRead()).toBe(false);
    front.state.lag = 1;
    await observer.tryRead();
    front.state.lag = 0;
    await observer.read();
    expect(observer.amounts(to)).toEqual([31n, 32n]);
  });

  it.each([1, 3, 70])(
    'follows a reorganisation %i deep: mined again it is one payment, dropped it is none',
    async (depth) => {
      // Of a long chain, anvil loses the contracts below a deep one.
      await stop();
      await start();
      const { observer, watchTron } = open();
      const [again, dropped] = [watchTron(), watchTron()];
      await observer.read();
      const mined_again = await chain.payToken(USDT_KEY, again, 41n);
      const coins = await chain.payCoin(again, 42n);
      await chain.payToken(USDT_KEY, dropped, 43n);
      await chain.payCoin(dropped, 44n);
      await chain.mine(depth);
      await observer.read();
      expect(observer.amounts(dropped)).toEqual([43n, 44n]);
      await chain.reorg(depth, [
        [mined_again, depth - 1],
        [coins, depth - 1],
      ]);
      await observer.read();
      expect(observer.to(again)).toMatchObject([
        { amount_atomic: 41n, confirmations: 2 },
        { amount_atomic: 42n, confirmations: 2 },
      ]);
      for (const transfer of observer.to(dropped))
        expect(transfer).toMatchObject({ height: null, final: false });
    },
  );

  it('takes a payment that no block took again in its time for gone, and none before that', async () => {
    const { observer, watchTron } = open();
    const [dropped, again] = [watchTron(), watchTron()];
    await observer.read();
    const mined_again = await chain.payCoin(again, 47n);
    await chain.payToken(USDT_KEY, dropped, 45n);
    await chain.payCoin(dropped, 46n);
    await chain.mine(3);
    await observer.read();
    await chain.reorg(3, [[mined_again, 2]]);
    await observer.read();
    expect(observer.to(dropped)).toMatchObject([{ height: null }, { height: null }]);
    // Over by the newest block, and not by one that no branch replaces.
    await chain.grow(25);
    await observer.read();
    expect(observer.gone.size).toBe(0);
    await chain.grow(20);
    await observer.read();
    chain.wait(61);
    await chain.grow(SOLID + 1);
    await observer.read();
    expect([...observer.gone.values()]).toEqual(Array(2).fill(expect.stringContaining('the time in which')));
    expect([observer.amounts(dropped), observer.amounts(again)]).toEqual([[], [47n]]);
  });

  it('asks for no more than a node allows, after a long pause and for more than a thousand addresses', async () => {
    const { observer, watchTron } = open([usdt]);
    const watched = Array.from({ length: 1001 }, watchTron);
    await observer.read();
    const [first = '', last = ''] = [watched[0], watched.at(-1)];
    await chain.payToken(USDT_KEY, first, 51n);
    await chain.payToken(USDT_KEY, last, 52n);
    await chain.mine();
    await chain.grow(200);
    await observer.read();
    expect([observer.amounts(first), observer.amounts(last)]).toEqual([[51n], [52n]]);
  });

  it('shares keys with other networks of its family, and none of their payments', async () => {
    const { observer } = open();
    const key = freshAddress();
    expect(observer.family.normalizeAddress(showAddress(key), 'mainnet').key).toBe(key);
    expect(() => observer.family.normalizeAddress(key, 'mainnet')).toThrow('give the T… address');
    const other = await startAnvil({ chain_id: 84_532, block_seconds: 2, tokens: [{ address: USDT_KEY }] });
    onTestFinished(() => other.stop());
    observer.watch(showAddress(key));
    await observer.read();
    await other.payToken(USDT_KEY, key, 61n);
    await other.mine();
    await chain.mine();
    await observer.read();
    expect(observer.amounts(key)).toEqual([]);
  });
});
