// One suite for every provider of the UTXO family, on a real litecoind: payers, miners and failing hosts.
import { bech32m } from '@scure/base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestRpc } from './rpc.ts';
import { copyBlocks, hasLitecoind, type Litecoind, startLitecoind } from './utxo-chain.ts';
import { startCoreFront, startEsploraFront, type UtxoFront } from './utxo-fronts.ts';
import { createObserver, familyOf, freshAddress, type UtxoBlockchain } from './utxo-observer.ts';

const COIN = 100_000_000n;
const starters = { core: startCoreFront, esplora: startEsploraFront };
const setups = (['bitcoin', 'litecoin'] as const).flatMap((blockchain) =>
  (['core', 'esplora'] as const).map((provider) => ({ blockchain, provider })),
);

describe.skipIf(!hasLitecoind).each(setups)('$blockchain through $provider', ({ blockchain, provider }) => {
  let node: Litecoind;
  let other: Litecoind;
  let front: UtxoFront;
  const blockRequest = provider === 'core' ? /^getblock$/ : /\/raw$/;

  beforeAll(async () => {
    [node, other] = await Promise.all([startLitecoind(), startLitecoind({ blocks: 0 })]);
    front = await starters[provider](node);
  });
  afterAll(async () => {
    await front?.stop();
    await Promise.all([node?.stop(), other?.stop()]);
  });

  /** An observer that has read everything so far, watching one fresh address. */
  async function caughtUp() {
    const observer = createObserver(blockchain, front);
    await observer.read();
    const script = observer.watch();
    await observer.read();
    return { observer, script };
  }

  test('the provider is recognised as a test network', async () => {
    const rpc = createTestRpc({ provider, url: front.url });
    expect(await familyOf(blockchain).identify(rpc)).toBe('testnet');
  });

  test('a payment is seen unconfirmed first, then counts confirmations, and is never called final', async () => {
    const { observer, script } = await caughtUp();
    const { txid } = await node.send([{ script, amount: 123_456_789n }]);
    await observer.read();
    const [seen] = observer.to(script);
    expect(seen).toMatchObject({ chain: blockchain, txid, index: '0', amount_atomic: 123_456_789n });
    expect(seen).toMatchObject({ height: null, block_hash: null, confirmations: 0, final: false });
    expect(seen?.time).toBe(observer.clock.now);
    expect(await observer.recheck()).toMatchObject([{ txid, state: 'pending', height: null }]);

    const [hash] = await node.mine(1);
    await observer.read();
    const height = await node.height();
    expect(observer.to(script)).toMatchObject([{ height, block_hash: hash, confirmations: 1, final: false }]);
    await node.mine(2);
    await observer.read();
    expect(await observer.recheck()).toMatchObject([
      { txid, state: 'pending', confirmations: 3, height, block_hash: hash },
    ]);
    expect(observer.transfers.size).toBe(1);
  });

  test('a payment first met in a block is found without its mempool', async () => {
    const { observer, script } = await caughtUp();
    const { txid } = await node.send([{ script, amount: COIN }]);
    await node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ txid, confirmations: 1 }]);
  });

  test('amounts are exact to the last unit', async () => {
    const { observer, script } = await caughtUp();
    const amounts = [5_460n, 99_999_999n, 100_000_001n, 2_099_999_999n];
    for (const amount of amounts) await node.send([{ script, amount }]);
    await observer.read();
    const seen = () =>
      observer
        .to(script)
        .map(({ amount_atomic }) => amount_atomic)
        .sort((a, b) => Number(a - b));
    expect(seen()).toEqual(amounts);
    await node.mine(1);
    await observer.read();
    expect(seen()).toEqual(amounts);
  });

  test('two outputs of one transaction to one address are two transfers', async () => {
    const { observer, script } = await caughtUp();
    const elsewhere = freshScript(blockchain);
    const { txid } = await node.send([
      { script, amount: COIN },
      { script: elsewhere, amount: COIN },
      { script, amount: COIN },
    ]);
    await observer.read();
    await node.mine(1);
    await observer.read();
    expect(observer.to(script).map(({ txid, index }) => [txid, index])).toEqual([
      [txid, '0'],
      [txid, '2'],
    ]);
    expect(observer.transfers.size).toBe(2);
  });

  test('every kind of address a wallet shows is matched by its script', async () => {
    const { observer } = await caughtUp();
    const { normalizeAddress } = familyOf('litecoin');
    for (const kind of ['legacy', 'p2sh-segwit', 'bech32']) {
      const address = await node.rpc<string>('getnewaddress', '', kind);
      const { scriptPubKey } = await node.rpc<{ scriptPubKey: string }>('getaddressinfo', address);
      expect(normalizeAddress(address, 'testnet')).toEqual({ address, key: scriptPubKey });
    }
    const program = Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex');
    const prefix = blockchain === 'bitcoin' ? 'bcrt' : 'rltc';
    const script = observer.watch(bech32m.encode(prefix, [1, ...bech32m.toWords(program)]));
    const taproot = `5120${program.toString('hex')}`;
    expect(script).toBe(taproot);
    await node.send([{ script, amount: COIN }]);
    await observer.read();
    expect(observer.to(taproot)).toHaveLength(1);
    await node.mine(1);
  });

  test('a block reward to the address is no payment', async () => {
    const { observer, script } = await caughtUp();
    await node.mine(2, script);
    await observer.read();
    expect(observer.transfers.size).toBe(0);
    expect(observer.tip?.height).toBe(await node.height());
  });

  test('a replaced payment is gone at once, and what replaced it is seen', async () => {
    const { observer, script } = await caughtUp();
    const sent = await node.send([{ script, amount: COIN }]);
    await observer.read();
    const elsewhere = freshScript(blockchain);
    await node.replace(sent, [{ script: elsewhere, amount: COIN }]);
    await observer.read();
    expect(await observer.recheck()).toMatchObject([{ txid: sent.txid, index: '0', state: 'gone' }]);

    const second = await node.send([{ script, amount: COIN }]);
    await observer.read();
    const bumped = await node.replace(second, [{ script, amount: COIN }]);
    await observer.read();
    const updates = await observer.recheck();
    expect(updates).toContainEqual(expect.objectContaining({ txid: second.txid, state: 'gone' }));
    expect(updates).toContainEqual(expect.objectContaining({ txid: bumped.txid, state: 'pending' }));
    await node.mine(1);
    await observer.read();
    const mined = observer.to(script).filter(({ height }) => height !== null);
    expect(mined.map(({ txid }) => txid)).toEqual([bumped.txid]);
  });

  test('a payment double-spent by a mined transaction is gone', async () => {
    const { observer, script } = await caughtUp();
    const sent = await node.send([{ script, amount: COIN }]);
    await observer.read();
    const elsewhere = freshScript(blockchain);
    await node.doubleSpend(sent, [{ script: elsewhere, amount: COIN }]);
    // The node is ahead of what was read: the payment might be in the new block, so nothing is said yet.
    expect(await observer.recheck()).toEqual([]);
    await observer.read();
    expect(await observer.recheck()).toMatchObject([{ txid: sent.txid, state: 'gone' }]);
  });

  test('a reorganisation before confirmation returns the payment to seen, then it is mined again', async () => {
    const { observer, script } = await caughtUp();
    const { txid } = await node.send([{ script, amount: COIN }]);
    const [first] = await node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ block_hash: first, confirmations: 1 }]);

    await node.reorg(1, 'left out');
    const pages = await observer.read();
    expect(pages.flatMap((page) => page.orphaned_blocks ?? [])).toEqual([first]);
    expect(observer.to(script)).toMatchObject([{ txid, height: null, block_hash: null }]);
    expect(await observer.recheck()).toMatchObject([{ txid, state: 'pending', height: null }]);

    const [second] = await node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ txid, block_hash: second, confirmations: 1 }]);
    expect(observer.transfers.size).toBe(1);
  });

  test('a deeper reorganisation moves a confirmed payment to its new block', async () => {
    const { observer, script } = await caughtUp();
    await node.send([{ script, amount: COIN }]);
    await node.mine(4);
    await observer.read();
    const before = observer.to(script)[0]?.block_hash;
    await node.reorg(4, 'mined again');
    const pages = await observer.read();
    expect(pages.flatMap((page) => page.orphaned_blocks ?? [])).toHaveLength(4);
    expect(observer.to(script)).toMatchObject([{ confirmations: 5 }]);
    expect(observer.to(script)[0]?.block_hash).not.toBe(before);
    expect(await observer.recheck()).toMatchObject([{ state: 'pending', confirmations: 5 }]);
  });

  test('a payment reorganised away and double-spent is gone', async () => {
    const { observer, script } = await caughtUp();
    const sent = await node.send([{ script, amount: COIN }]);
    await observer.read();
    const [hash] = await node.mine(1);
    await observer.read();
    const elsewhere = freshScript(blockchain);
    await node.rpc('invalidateblock', hash);
    await node.doubleSpend(sent, [{ script: elsewhere, amount: COIN }]);
    await node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ height: null }]);
    expect(await observer.recheck()).toMatchObject([{ txid: sent.txid, state: 'gone' }]);
  });

  test.each(['rate_limited', 'html', 'truncated', 'hang_up', 'unavailable'] as const)(
    'a block whose answer is %s is read again; what came before it is kept',
    async (fault) => {
      const { observer, script } = await caughtUp();
      const from = await node.height();
      for (let i = 0; i < 3; i++) {
        await node.send([{ script, amount: COIN + BigInt(i) }]);
        await node.mine(1);
      }
      let pages = 0;
      const stop = () => {
        if (++pages === 1) front.fail(fault, blockRequest);
      };
      await expect(observer.read(stop)).rejects.toMatchObject({ name: 'ProviderError' });
      expect(observer.ranges.at(-1)).toEqual({ from: from + 1, to: from + 1 });
      expect(observer.to(script)).toHaveLength(1);
      await observer.read();
      expect(observer.to(script)).toHaveLength(3);
      expect(observer.ranges.map((range) => range.to).slice(-3)).toEqual([from + 1, from + 2, from + 3]);
    },
  );

  test('a page that could not be stored is read again, block or mempool', async () => {
    const { observer, script } = await caughtUp();
    const refuse = ({ transfers }: { transfers: unknown[] }) => {
      if (transfers.length > 0) throw new Error('disk full');
    };
    await node.send([{ script, amount: COIN }]);
    await expect(observer.read(refuse)).rejects.toThrow('disk full');
    expect(observer.transfers.size).toBe(0);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ height: null }]);
    await node.mine(1);
    await expect(observer.read(refuse)).rejects.toThrow('disk full');
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ confirmations: 1 }]);
  });

  test('a chain that is reorganised while it is read ends as the node tells it', async () => {
    const { observer, script } = await caughtUp();
    await node.send([{ script, amount: COIN }]);
    await node.mine(4);
    let reorganised = false;
    await observer
      .read(async () => {
        if (reorganised) return;
        reorganised = true;
        await node.reorg(4, 'mined again');
      })
      .catch((error) => expect(error).toMatchObject({ kind: 'bad_answer' }));
    await observer.read();
    const [payment] = observer.to(script);
    expect(observer.transfers.size).toBe(1);
    expect(await node.rpc('getblockhash', payment?.height)).toBe(payment?.block_hash);
    expect(observer.tip?.hash).toBe(await node.rpc('getbestblockhash'));
  });

  test('a restart reads on from the stored cursor, in bounded reads, without a gap', async () => {
    const { observer, script } = await caughtUp();
    const from = await node.height();
    await node.send([{ script, amount: COIN }]);
    await node.mine(130);
    await node.send([{ script, amount: 2n * COIN }]);
    await node.mine(120);
    observer.restart();
    observer.ranges = [];
    await observer.read();
    expect(observer.ranges).toHaveLength(200);
    await observer.read();
    expect(observer.ranges.map((range) => range.to)).toEqual(
      Array.from({ length: 250 }, (_, index) => from + 1 + index),
    );
    expect(observer.to(script).map(({ amount_atomic }) => amount_atomic)).toEqual([COIN, 2n * COIN]);
    expect(observer.to(script)[1]?.confirmations).toBe(120);
    // More than a ring deep, and after another restart: the provider is asked for that one block.
    observer.restart();
    await observer.read();
    const depths = (await observer.recheck()).map(({ confirmations }) => confirmations);
    expect(depths).toEqual([250, 120]);
  });

  test('a node that is behind is waited for, and nothing is gone meanwhile', async () => {
    const { observer, script } = await caughtUp();
    await copyBlocks(node, other, await node.height());
    const { txid } = await node.send([{ script, amount: COIN }]);
    await node.mine(1);
    const late = await node.send([{ script, amount: 2n * COIN }]);
    await observer.read();
    const before = structuredClone([observer.cursor, [...observer.transfers]]);

    front.node = other;
    await expect(observer.read()).rejects.toThrow(/is behind/);
    observer.clock.now += 3600;
    const told = await observer.recheck();
    expect(told.filter(({ state }) => state === 'gone')).toEqual([]);
    expect([observer.cursor, [...observer.transfers]]).toEqual(before);

    front.node = node;
    await observer.read();
    const updates = await observer.recheck();
    expect(updates).toContainEqual(expect.objectContaining({ txid, confirmations: 1, state: 'pending' }));
    expect(updates).toContainEqual(expect.objectContaining({ txid: late.txid, state: 'pending' }));
    await node.mine(1);
  });

  test('of two hosts on different branches the longer one is followed, at equal height the first one', async () => {
    const { observer, script } = await caughtUp();
    const fork = await node.height();
    await copyBlocks(node, other, fork);
    await node.send([{ script, amount: COIN }]);
    const [ours] = await node.mine(1);
    await other.mine(1, freshScript(blockchain));
    await observer.read();
    front.node = other;
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ block_hash: ours, confirmations: 1 }]);

    await other.mine(1, freshScript(blockchain));
    await observer.read();
    expect(observer.tip?.height).toBe(fork + 2);
    expect(observer.to(script)).toMatchObject([{ height: null, block_hash: null }]);

    front.node = node;
    await expect(observer.read()).rejects.toThrow(/shorter branch/);
    await node.mine(2);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ block_hash: ours, confirmations: 3 }]);
    await other.rpc('invalidateblock', await other.rpc('getblockhash', fork + 1));
  });

  test('a host that never heard of a payment does not make it gone for a minute; it is seen again later', async () => {
    const { observer, script } = await caughtUp();
    await node.mine(1);
    await copyBlocks(node, other, await node.height());
    await observer.read();
    const { txid } = await node.send([{ script, amount: COIN }]);
    await observer.read();

    front.node = other;
    await observer.read();
    expect(await observer.recheck()).toEqual([]);
    observer.clock.now += 59;
    expect(await observer.recheck()).toEqual([]);
    observer.clock.now += 1;
    expect(await observer.recheck()).toMatchObject([{ txid, state: 'gone' }]);

    front.node = node;
    await observer.read();
    expect(observer.gone.size).toBe(0);
    expect(await observer.recheck()).toMatchObject([{ txid, state: 'pending' }]);
    await node.mine(1);
  });

  test('a failing provider never makes a payment gone', async () => {
    const { observer, script } = await caughtUp();
    await node.send([{ script, amount: COIN }]);
    await observer.read();
    const statusRequest = provider === 'core' ? /^getmempoolentry/ : /mempool$/;
    for (const fault of ['rate_limited', 'html', 'truncated', 'hang_up', 'unavailable'] as const) {
      front.fail(fault, statusRequest);
      await expect(observer.recheck()).rejects.toMatchObject({ name: 'ProviderError' });
      observer.clock.now += 3600;
    }
    expect(await observer.recheck()).toMatchObject([{ state: 'pending' }]);
    await node.mine(1);
  });

  test('the cost of a read does not grow with the addresses, and all of them get their turn', async () => {
    const { observer, script } = await caughtUp();
    const scripts = [script, ...Array.from({ length: 39 }, () => observer.watch())];
    for (const each of scripts.slice(0, 5)) await node.send([{ script: each, amount: COIN }]);
    await observer.read();
    for (let read = 0; read < 3; read++) {
      front.requests.length = 0;
      await observer.read();
      expect(front.requests.length).toBeLessThanOrEqual(17);
    }
    expect(observer.transfers.size).toBe(5);
    await node.mine(1);
    front.requests.length = 0;
    await observer.read();
    expect(front.requests.filter((each) => blockRequest.test(each))).toHaveLength(1);
  });

  test('many transactions at once in the mempool are all read', async () => {
    const { observer, script } = await caughtUp();
    const { scriptPubKey } = await node.rpc<{ scriptPubKey: string }>(
      'getaddressinfo',
      await node.rpc('getnewaddress', '', 'bech32'),
    );
    const amount = COIN / 10n;
    const { txid } = await node.send(Array.from({ length: 60 }, () => ({ script: scriptPubKey, amount })));
    await node.mine(1);
    for (let vout = 0; vout < 60; vout++)
      await node.send([{ script, amount: 100_000n }], { txid, vout, amount });
    await observer.read();
    // Esplora lists no more than 50 per script; the others are met in their block.
    expect(observer.to(script)).toHaveLength(provider === 'core' ? 60 : 50);
    await node.mine(1);
    await observer.read();
    expect(observer.to(script).filter(({ height }) => height !== null)).toHaveLength(60);
  });
});

const freshScript = (blockchain: UtxoBlockchain) =>
  familyOf(blockchain).normalizeAddress(freshAddress(blockchain), 'testnet').key;
