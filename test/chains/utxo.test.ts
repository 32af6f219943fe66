// Payers and miners, the same for every provider of the UTXO family, on a real litecoind.
import { bech32m } from '@scure/base';
import { expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { createTestRpc } from './rpc.ts';
import { familyOf, freshScript } from './utxo-observer.ts';
import { COIN, onEveryProvider } from './utxo-suite.ts';

onEveryProvider((given) => {
  const { blockchain, provider } = given;

  test('the provider is recognised as a test network', async () => {
    const rpc = createTestRpc({ provider, url: given.front.url });
    expect(await familyOf(blockchain).identify(rpc)).toBe('testnet');
  });

  test('a payment is seen unconfirmed first, then counts confirmations, and is never called final', async () => {
    const { observer, script } = await given.caughtUp();
    const { txid } = await given.node.send([{ script, amount: 123_456_789n }]);
    await observer.read();
    const [seen] = observer.to(script);
    expect(seen).toMatchObject({ chain: blockchain, txid, index: '0', amount_atomic: 123_456_789n });
    expect(seen).toMatchObject({ height: null, block_hash: null, confirmations: 0, final: false });
    expect(seen?.latest_at).toBe(observer.clock.now);
    expect(await observer.recheck()).toMatchObject([{ txid, state: 'pending', height: null }]);

    const [hash] = await given.node.mine(1);
    await observer.read();
    const height = await given.node.height();
    expect(observer.to(script)).toMatchObject([{ height, block_hash: hash, confirmations: 1, final: false }]);
    await given.node.mine(2);
    await observer.read();
    expect(await observer.recheck()).toMatchObject([
      { txid, state: 'pending', confirmations: 3, height, block_hash: hash },
    ]);
    expect(observer.transfers.size).toBe(1);
  });

  test('a payment first met in a block is found without its mempool', async () => {
    const { observer, script } = await given.caughtUp();
    const { txid } = await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ txid, confirmations: 1 }]);
  });

  test('amounts are exact to the last unit', async () => {
    const { observer, script } = await given.caughtUp();
    const amounts = [5_460n, 99_999_999n, 100_000_001n, 2_099_999_999n];
    for (const amount of amounts) await given.node.send([{ script, amount }]);
    await observer.read();
    const seen = () =>
      observer
        .to(script)
        .map(({ amount_atomic }) => amount_atomic)
        .sort((a, b) => Number(a - b));
    expect(seen()).toEqual(amounts);
    await given.node.mine(1);
    await observer.read();
    expect(seen()).toEqual(amounts);
  });

  test('two outputs of one transaction to one address are two transfers', async () => {
    verifies('assets-utxo');
    const { observer, script } = await given.caughtUp();
    const elsewhere = freshScript(blockchain);
    const { txid } = await given.node.send([
      { script, amount: COIN },
      { script: elsewhere, amount: COIN },
      { script, amount: COIN },
    ]);
    await observer.read();
    await given.node.mine(1);
    await observer.read();
    expect(observer.to(script).map(({ txid, index }) => [txid, index])).toEqual([
      [txid, '0'],
      [txid, '2'],
    ]);
    expect(observer.transfers.size).toBe(2);
  });

  test('every kind of address a wallet shows is matched by its script', async () => {
    const { observer } = await given.caughtUp();
    const { normalizeAddress } = familyOf('litecoin');
    for (const kind of ['legacy', 'p2sh-segwit', 'bech32']) {
      const address = await given.node.rpc<string>('getnewaddress', '', kind);
      const { scriptPubKey } = await given.node.rpc<{ scriptPubKey: string }>('getaddressinfo', address);
      expect(normalizeAddress(address, 'testnet')).toEqual({ address, key: scriptPubKey });
    }
    const program = Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex');
    const prefix = blockchain === 'bitcoin' ? 'bcrt' : 'rltc';
    const script = observer.watch(bech32m.encode(prefix, [1, ...bech32m.toWords(program)]));
    const taproot = `5120${program.toString('hex')}`;
    expect(script).toBe(taproot);
    await given.node.send([{ script, amount: COIN }]);
    await observer.read();
    expect(observer.to(taproot)).toHaveLength(1);
    await given.node.mine(1);
  });

  test('a block reward to the address is no payment', async () => {
    verifies('assets-utxo');
    const { observer, script } = await given.caughtUp();
    await given.node.mine(2, script);
    await observer.read();
    expect(observer.transfers.size).toBe(0);
    expect(observer.tip?.height).toBe(await given.node.height());
  });

  test('a replaced payment is gone at once, and what replaced it is seen', async () => {
    verifies('assets-utxo');
    const { observer, script } = await given.caughtUp();
    const sent = await given.node.send([{ script, amount: COIN }]);
    await observer.read();
    const elsewhere = freshScript(blockchain);
    const other = await given.node.replace(sent, [{ script: elsewhere, amount: COIN }]);
    await observer.read();
    await observer.recheck();
    expect([...observer.reasons]).toEqual([[`${sent.txid}:0`, `transaction ${other.txid} spends the same`]]);

    const second = await given.node.send([{ script, amount: COIN }]);
    await observer.read();
    const bumped = await given.node.replace(second, [{ script, amount: COIN }]);
    const pages = await observer.read();
    // What replaces a payment to the same address is stored in the page that says that it is gone.
    expect(observer.reasons.get(`${second.txid}:0`)).toBe(`transaction ${bumped.txid} spends the same`);
    expect(pages.find(({ transfers }) => transfers.length > 0)?.updates).toMatchObject([{ state: 'gone' }]);
    const updates = await observer.recheck();
    expect(updates).toContainEqual(expect.objectContaining({ txid: bumped.txid, state: 'pending' }));
    await given.node.mine(1);
    await observer.read();
    const mined = observer.to(script).filter(({ height }) => height !== null);
    expect(mined.map(({ txid }) => txid)).toEqual([bumped.txid]);
  });

  test('a payment double-spent by a mined transaction is gone', async () => {
    verifies('assets-utxo');
    const { observer, script } = await given.caughtUp();
    const sent = await given.node.send([{ script, amount: COIN }]);
    await observer.read();
    const elsewhere = freshScript(blockchain);
    const other = await given.node.doubleSpend(sent, [{ script: elsewhere, amount: COIN }]);
    // The node is ahead of what was read: the payment might be in the new block, so nothing is known yet.
    expect(await observer.recheck()).toMatchObject([{ txid: sent.txid, state: 'pending' }]);
    await observer.read();
    await observer.recheck();
    expect([...observer.reasons]).toEqual([[`${sent.txid}:0`, `transaction ${other.txid} spends the same`]]);
  });

  test('a reorganisation before confirmation returns the payment to seen, then it is mined again', async () => {
    const { observer, script } = await given.caughtUp();
    const { txid } = await given.node.send([{ script, amount: COIN }]);
    const [first] = await given.node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ block_hash: first, confirmations: 1 }]);

    await given.node.reorg(1, 'left out');
    const pages = await observer.read();
    expect(pages.flatMap((page) => page.orphaned_blocks ?? [])).toEqual([first]);
    expect(observer.to(script)).toMatchObject([{ txid, height: null, block_hash: null }]);
    expect(await observer.recheck()).toMatchObject([{ txid, state: 'pending', height: null }]);

    const [second] = await given.node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ txid, block_hash: second, confirmations: 1 }]);
    expect(observer.transfers.size).toBe(1);
  });

  test('a deeper reorganisation moves a confirmed payment to its new block', async () => {
    const { observer, script } = await given.caughtUp();
    await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(4);
    await observer.read();
    const before = observer.to(script)[0]?.block_hash;
    await given.node.reorg(4, 'mined again');
    const pages = await observer.read();
    expect(pages.flatMap((page) => page.orphaned_blocks ?? [])).toHaveLength(4);
    expect(observer.to(script)[0]?.block_hash).not.toBe(before);
    expect(await observer.recheck()).toMatchObject([{ state: 'pending', confirmations: 5 }]);
    expect(observer.to(script)).toMatchObject([{ confirmations: 5 }]);
  });

  test('a payment reorganised away and double-spent is gone', async () => {
    verifies('assets-utxo');
    const { observer, script } = await given.caughtUp();
    const sent = await given.node.send([{ script, amount: COIN }]);
    await observer.read();
    const [hash] = await given.node.mine(1);
    await observer.read();
    const elsewhere = freshScript(blockchain);
    await given.node.rpc('invalidateblock', hash);
    const other = await given.node.doubleSpend(sent, [{ script: elsewhere, amount: COIN }]);
    await given.node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ height: null }]);
    expect([...observer.reasons]).toEqual([[`${sent.txid}:0`, `transaction ${other.txid} spends the same`]]);
  });
});
