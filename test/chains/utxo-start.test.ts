// Where reading begins when there is no cursor, on a chain with a past of half a day; and Litecoin's MWEB blocks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasLitecoind, type Litecoind, startLitecoind } from './utxo-chain.ts';
import { startCoreFront, startEsploraFront, type UtxoFront } from './utxo-fronts.ts';
import { createObserver, freshAddress } from './utxo-observer.ts';

const COIN = 100_000_000n;
const BLOCK_SECONDS = 150;
const PAST_BLOCKS = 300;
const starters = { core: startCoreFront, esplora: startEsploraFront };
const providers = ['core', 'esplora'] as const;

describe.skipIf(!hasLitecoind).each(providers)('the first read through %s', (provider) => {
  let node: Litecoind;
  let front: UtxoFront;
  let now: number;

  beforeAll(async () => {
    node = await startLitecoind({ blocks: 0 });
    front = await starters[provider](node);
    now = Math.floor(Date.now() / 1000);
    for (let block = PAST_BLOCKS; block > 0; block--) {
      await node.rpc('setmocktime', now - block * BLOCK_SECONDS);
      await node.mine(1);
    }
    await node.rpc('setmocktime', now);
  });
  afterAll(async () => {
    await front?.stop();
    await node?.stop();
  });

  test('begins at the tip when no one is watched', async () => {
    const observer = createObserver('litecoin', front);
    await observer.read();
    expect(observer.ranges).toEqual([]);
    expect(observer.tip?.height).toBe(PAST_BLOCKS);
    const script = observer.watch();
    await node.send([{ script, amount: COIN }]);
    const [hash] = await node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ block_hash: hash }]);
  });

  test('goes back far enough for the oldest address, and not much further, in few requests', async () => {
    const observer = createObserver('litecoin', front);
    const tip = await node.height();
    const age = 100;
    observer.watch();
    observer.watch(freshAddress('litecoin'), { since: now - age * BLOCK_SECONDS });
    front.requests.length = 0;
    await observer.read();
    const skewBlocks = 7200 / BLOCK_SECONDS;
    expect(observer.ranges[0]?.from).toBe(PAST_BLOCKS + 1 - age - skewBlocks);
    expect(observer.ranges.at(-1)?.to).toBe(tip);
    const perBlock = provider === 'core' ? /^getblock$/ : /\/raw$/;
    const [blocks, searches] = [perBlock, provider === 'core' ? /^getblockheader$/ : /\/header$/].map(
      (pattern) => front.requests.filter((each) => pattern.test(each)).length,
    );
    expect(blocks).toBe(observer.ranges.length);
    expect(searches).toBeLessThan(20);
  });

  test('reads the whole chain for an address older than it', async () => {
    const observer = createObserver('litecoin', front);
    observer.watch(freshAddress('litecoin'), { since: 0 });
    await observer.read();
    await observer.read();
    expect(observer.ranges[0]?.from).toBe(1);
    expect(observer.ranges.at(-1)?.to).toBe(await node.height());
  });

  test('leaves out payments in blocks that are surely older than the address is watched', async () => {
    const address = freshAddress('litecoin');
    const first = createObserver('litecoin', front);
    const script = first.watch(address);
    await first.read();
    await node.send([{ script, amount: COIN }]);
    await node.mine(1);
    await first.read();
    const made = first.to(script)[0]?.earliest_at as number;
    const hour = 3600;
    for (const [hoursLater, found] of [
      [1, 1],
      [3, 0],
    ] as const) {
      const later = createObserver('litecoin', front);
      later.watch(address, { since: made + hoursLater * hour });
      later.watch(freshAddress('litecoin'), { since: made });
      await later.read();
      expect(later.ranges.at(-1)?.to).toBe(await node.height());
      expect(later.to(script)).toHaveLength(found);
    }
  });

  test('finds its way when the only block it knows leaves the chain', async () => {
    const observer = createObserver('litecoin', front);
    await observer.read();
    expect((observer.cursor as { hashes: string[] }).hashes).toHaveLength(1);
    const script = observer.watch();
    const sent = await node.send([{ script, amount: COIN }]);
    await node.reorg(3, 'mined again');
    await observer.read();
    await observer.recheck();
    expect(observer.to(script)).toMatchObject([{ txid: sent.txid, confirmations: 4 }]);
  });
});

describe.skipIf(!hasLitecoind)('MWEB blocks', () => {
  let node: Litecoind;
  beforeAll(async () => {
    node = await startLitecoind({ mweb: true });
  });
  afterAll(() => node?.stop());

  test.each(providers)(
    'through %s ordinary payments are found alongside peg-ins, hidden transfers and peg-outs',
    async (provider) => {
      const front = await starters[provider](node);
      try {
        const observer = createObserver('litecoin', front);
        await observer.read();
        const script = observer.watch();
        const pegOutAddress = freshAddress('litecoin');
        const pegOutScript = observer.watch(pegOutAddress);
        const hidden = await node.rpc<string>('getnewaddress', '', 'mweb');

        await node.rpc('sendtoaddress', hidden, 3);
        const { txid } = await node.send([{ script, amount: 7n * COIN }]);
        await observer.read();
        expect(observer.to(script)).toMatchObject([{ txid, height: null }]);
        await node.mine(1);
        await observer.read();
        expect(observer.to(script)).toMatchObject([{ txid, confirmations: 1 }]);

        // A wallet whose coins are hidden pays an ordinary address: the credit is an output of the block's HogEx.
        const coins = await node.rpc<{ txid: string; vout: number }[]>('listunspent', 1);
        await node.rpc(
          'lockunspent',
          false,
          coins.filter(({ vout }) => vout !== undefined),
        );
        await node.rpc('sendtoaddress', pegOutAddress, 1);
        await node.rpc('lockunspent', true);
        await observer.read();
        expect(observer.to(pegOutScript)).toEqual([]);
        const [hash] = await node.mine(1);
        const { tx } = await node.rpc<{ tx: string[] }>('getblock', hash);
        await observer.read();
        expect(observer.to(pegOutScript)).toMatchObject([
          { txid: tx.at(-1), amount_atomic: COIN, confirmations: 1 },
        ]);
      } finally {
        await front.stop();
      }
    },
  );
});
