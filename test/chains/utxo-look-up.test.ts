// A transaction that somebody names: what it paid an address, in a block that proves that it holds it.
import { expect, onTestFinished, test } from 'vitest';
import { hasLitecoind, startLitecoind } from './utxo-chain.ts';
import { startForger } from './utxo-forger.ts';
import { startCoreFront } from './utxo-fronts.ts';
import { createObserver, freshScript } from './utxo-observer.ts';
import { COIN, onEveryProvider } from './utxo-suite.ts';

onEveryProvider((given) => {
  test('is found unconfirmed, in its block and ever deeper, as reading gives it but for the time', async () => {
    const { observer, script } = await given.caughtUp();
    const elsewhere = freshScript(given.blockchain);
    const outputs = [COIN, 2n * COIN].map((amount) => ({ script, amount }));
    const { txid } = await given.node.send([...outputs, { script: elsewhere, amount: 3n * COIN }]);
    const lookUp = () => observer.lookUp({ txid, address_key: script });
    const asRead = () =>
      observer.to(script).map(({ earliest_at: _, latest_at: __, ...transfer }) => transfer);
    const found = async () =>
      (await lookUp()).map(({ earliest_at: _, latest_at: __, ...transfer }) => transfer);

    await observer.read();
    expect(await found()).toEqual(asRead());
    expect(asRead()).toHaveLength(2);
    await given.node.mine(1);
    await observer.read();
    expect(await found()).toEqual(asRead());
    await given.node.mine(4);
    await observer.read();
    await observer.recheck();
    expect(asRead()).toMatchObject([{ confirmations: 5 }, { confirmations: 5 }]);
    expect(await found()).toEqual(asRead());
    const [{ earliest_at, latest_at } = { earliest_at: 0, latest_at: 0 }] = await lookUp();
    expect(earliest_at).toBeLessThan(latest_at);
    expect(latest_at).toBeLessThanOrEqual(observer.clock.now);
    expect(await observer.lookUp({ txid, address_key: elsewhere })).toMatchObject([{ index: '2' }]);
  });

  test('is nothing where it paid another address, or is not there', async () => {
    const { observer, script } = await given.caughtUp();
    const { txid } = await given.node.send([{ script: freshScript(given.blockchain), amount: COIN }]);
    await given.node.mine(1);
    await observer.read();
    expect(await observer.lookUp({ txid, address_key: script })).toEqual([]);
    expect(await observer.lookUp({ txid: '12'.repeat(32), address_key: script })).toEqual([]);
  });

  test('is unconfirmed again where its block left the chain', async () => {
    const { observer, script } = await given.caughtUp();
    const { txid } = await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(1);
    await observer.read();
    await given.node.reorg(1, 'left out');
    await observer.read();
    expect(await observer.lookUp({ txid, address_key: script })).toMatchObject([
      { height: null, block_hash: null, confirmations: 0 },
    ]);
    await given.node.mine(1);
  });

  test('has no confirmations by blocks that a provider boasts of', async () => {
    const { observer, script } = await given.caughtUp();
    const { txid } = await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(1);
    await observer.read();
    const forger = await startForger(given.front, given.node);
    onTestFinished(() => forger.stop());
    await forger.forge();
    await forger.forge();
    expect(await observer.lookUp({ txid, address_key: script })).toMatchObject([{ confirmations: 1 }]);
  });
});

test.runIf(hasLitecoind)(
  'through a node without an index it is found in the blocks that were read',
  async () => {
    const node = await startLitecoind({ txindex: false });
    onTestFinished(() => node.stop());
    const front = await startCoreFront(node);
    onTestFinished(() => front.stop());
    const observer = createObserver('litecoin', front);
    await observer.read();
    const script = observer.watch();
    await observer.read();
    const { txid } = await node.send([{ script, amount: COIN }]);
    await node.mine(2);
    await observer.read();
    expect(await observer.lookUp({ txid, address_key: script })).toMatchObject([{ txid, confirmations: 2 }]);
    observer.restart();
    expect(await observer.lookUp({ txid, address_key: script })).toEqual([]);
  },
);
