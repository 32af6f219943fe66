// Hosts that fail, lag or disagree, restarts and many addresses: the same for every provider of the UTXO family.
import { expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { copyBlocks } from './utxo-chain.ts';
import { COIN, onEveryProvider } from './utxo-suite.ts';

onEveryProvider((given) => {
  const { provider } = given;

  test.each(['rate_limited', 'html', 'truncated', 'hang_up', 'unavailable'] as const)(
    'a block whose answer is %s is read again; what came before it stays',
    async (fault) => {
      const { observer, script } = await given.caughtUp();
      const from = await given.node.height();
      for (let i = 0; i < 3; i++) {
        await given.node.send([{ script, amount: COIN + BigInt(i) }]);
        await given.node.mine(1);
      }
      let pages = 0;
      const stop = () => {
        if (++pages === 1) given.front.fail(fault, given.blockRequest);
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
    verifies('read-again');
    const { observer, script } = await given.caughtUp();
    const refuse = ({ transfers }: { transfers: unknown[] }) => {
      if (transfers.length > 0) throw new Error('disk full');
    };
    await given.node.send([{ script, amount: COIN }]);
    await expect(observer.read(refuse)).rejects.toThrow('disk full');
    expect(observer.transfers.size).toBe(0);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ height: null }]);
    await given.node.mine(1);
    await expect(observer.read(refuse)).rejects.toThrow('disk full');
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ confirmations: 1 }]);
  });

  test('a chain that is reorganised while it is read ends as the node tells it', async () => {
    const { observer, script } = await given.caughtUp();
    await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(4);
    let reorganised = false;
    await observer
      .read(async () => {
        if (reorganised) return;
        reorganised = true;
        await given.node.reorg(4, 'mined again');
      })
      .catch((error) => expect(error).toMatchObject({ kind: 'bad_answer' }));
    await observer.read();
    const [payment] = observer.to(script);
    expect(observer.transfers.size).toBe(1);
    expect(await given.node.rpc('getblockhash', payment?.height)).toBe(payment?.block_hash);
    expect(observer.tip?.hash).toBe(await given.node.rpc('getbestblockhash'));
  });

  test('a restart reads on from the stored cursor, in bounded reads, without a gap', async () => {
    verifies('read-ranges');
    const { observer, script } = await given.caughtUp();
    const from = await given.node.height();
    await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(130);
    await given.node.send([{ script, amount: 2n * COIN }]);
    await given.node.mine(120);
    observer.restart();
    observer.ranges = [];
    await observer.read();
    expect(observer.ranges).toHaveLength(200);
    await observer.read();
    expect(observer.ranges.map((range) => range.to)).toEqual(
      Array.from({ length: 250 }, (_, index) => from + 1 + index),
    );
    expect(observer.to(script).map(({ amount_atomic }) => amount_atomic)).toEqual([COIN, 2n * COIN]);
    await observer.recheck();
    expect(observer.to(script)[1]?.confirmations).toBe(120);
    // More than a ring deep, and after another restart: the provider is asked for that one block.
    observer.restart();
    await observer.read();
    const depths = (await observer.recheck()).map(({ confirmations }) => confirmations);
    expect(depths).toEqual([250, 120]);
  });

  test('a node that is behind is waited for, and nothing is gone meanwhile', async () => {
    const { observer, script } = await given.caughtUp();
    await copyBlocks(given.node, given.other, await given.node.height());
    const { txid } = await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(1);
    const late = await given.node.send([{ script, amount: 2n * COIN }]);
    await observer.read();
    const before = structuredClone([observer.cursor, [...observer.transfers]]);

    given.front.node = given.other;
    await expect(observer.read()).rejects.toThrow(/is behind/);
    observer.clock.now += 3600;
    const meanwhile = await observer.recheck();
    expect(meanwhile.filter(({ state }) => state === 'gone')).toEqual([]);
    expect([observer.cursor, [...observer.transfers]]).toEqual(before);

    given.front.node = given.node;
    await observer.read();
    const updates = await observer.recheck();
    expect(updates).toContainEqual(expect.objectContaining({ txid, confirmations: 1, state: 'pending' }));
    expect(updates).toContainEqual(expect.objectContaining({ txid: late.txid, state: 'pending' }));
    await given.node.mine(1);
  });

  test('of two hosts on different branches the longer one is followed, at equal height the first one', async () => {
    const { observer, script } = await given.caughtUp();
    const fork = await given.node.height();
    await copyBlocks(given.node, given.other, fork);
    const { hex } = await given.node.send([{ script, amount: COIN }]);
    const [ours] = await given.node.mine(1);
    // There it is still unconfirmed: no reason to forget that it was mined here.
    await given.other.rpc('sendrawtransaction', hex);
    await given.other.mineOnly([]);
    await observer.read();
    given.front.node = given.other;
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ block_hash: ours, confirmations: 1 }]);

    await given.other.mineOnly([]);
    await observer.read();
    expect(observer.tip?.height).toBe(fork + 2);
    expect(observer.to(script)).toMatchObject([{ height: null, block_hash: null }]);

    given.front.node = given.node;
    await expect(observer.read()).rejects.toThrow(/shorter branch/);
    await given.node.mine(2);
    await observer.read();
    await observer.recheck();
    expect(observer.to(script)).toMatchObject([{ block_hash: ours, confirmations: 3 }]);
    await given.other.rpc('invalidateblock', await given.other.rpc('getblockhash', fork + 1));
  });

  test('a host that never heard of a payment does not make it gone; it is seen again later', async () => {
    verifies('gone-needs-proof');
    const { observer, script } = await given.caughtUp();
    await given.node.mine(1);
    await copyBlocks(given.node, given.other, await given.node.height());
    await observer.read();
    const { txid } = await given.node.send([{ script, amount: COIN }]);
    await observer.read();

    given.front.node = given.other;
    for (const seconds of [0, 59, 1, 3600, 20 * 3600]) {
      observer.clock.now += seconds;
      await observer.read();
      expect((await observer.recheck()).filter(({ state }) => state === 'gone')).toEqual([]);
    }

    given.front.node = given.node;
    await observer.read();
    expect(observer.gone.size).toBe(0);
    expect(await observer.recheck()).toMatchObject([{ txid, state: 'pending' }]);
    await given.node.mine(1);
  });

  test('what no host has had for a day after the time of its invoice is given up, and taken back where it returns', async () => {
    verifies('gone-needs-proof');
    const { observer, script } = await given.caughtUp();
    await given.node.mine(1);
    await copyBlocks(given.node, given.other, await given.node.height());
    await observer.read();
    const { txid } = await given.node.send([{ script, amount: COIN }]);
    await observer.read();

    given.front.node = given.other;
    observer.clock.now += 60;
    await observer.read();
    // The time of an invoice is an hour: a day after it is 25 hours after the payment was missing first.
    observer.clock.now += 25 * 3600 - 1;
    await observer.read();
    await observer.recheck();
    expect(observer.gone.size).toBe(0);
    observer.clock.now += 1;
    await observer.recheck();
    expect([...observer.reasons]).toEqual([[`${txid}:0`, 'no provider has had it for a day']]);

    given.front.node = given.node;
    await observer.read();
    expect(observer.gone.size).toBe(0);
    await given.node.mine(1);
  });

  test('a failing provider never makes a payment gone', async () => {
    const { observer, script } = await given.caughtUp();
    await given.node.send([{ script, amount: COIN }]);
    await observer.read();
    const listRequest = provider === 'core' ? /^getrawmempool/ : /mempool$/;
    for (const fault of ['rate_limited', 'html', 'truncated', 'hang_up', 'unavailable'] as const) {
      // Longer than a node is asked in smaller pieces.
      given.front.fail(fault, listRequest, 10);
      await expect(observer.read()).rejects.toMatchObject({ name: 'ProviderError' });
      given.front.heal();
      expect((await observer.recheck()).filter(({ state }) => state === 'gone')).toEqual([]);
      observer.clock.now += 3600;
    }
    expect(await observer.recheck()).toMatchObject([{ state: 'pending' }]);
    await given.node.mine(1);
  });

  test('confirmations are counted though no list can be had', async () => {
    verifies('account-own-trouble');
    const { observer, script } = await given.caughtUp();
    await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(1);
    await observer.read();
    await given.node.mine(2);
    given.front.fail('unavailable', provider === 'core' ? /^getrawmempool/ : /mempool$/, 10);
    const before = observer.read_through;
    await expect(observer.read()).rejects.toMatchObject({ name: 'ProviderError' });
    expect(observer.to(script)).toMatchObject([{ confirmations: 3 }]);
    expect(observer.read_through).toBe(before);
    given.front.heal();
    await observer.read();
  });

  test('the cost of a read does not grow with the addresses, and all of them get their turn', async () => {
    verifies('read-per-batch');
    /** The bytes of a new payment are asked for once. */
    const bytes = /^\/tx\/\w+\/hex$/;
    const from = given.front.requests.length;
    const { observer, script } = await given.caughtUp();
    const scripts = [script, ...Array.from({ length: 39 }, () => observer.watch())];
    for (const each of scripts.slice(0, 5)) await given.node.send([{ script: each, amount: COIN }]);
    await observer.read();
    for (let read = 0; read < 3; read++) {
      const before = given.front.requests.length;
      await observer.read();
      const asked = given.front.requests.slice(before);
      expect(asked.filter((each) => !bytes.test(each)).length).toBeLessThanOrEqual(17);
      expect(asked.join()).not.toContain('getrawtransaction');
    }
    expect(observer.transfers.size).toBe(5);
    const fetched = given.front.requests.slice(from).filter((each) => bytes.test(each));
    expect(new Set(fetched).size).toBe(fetched.length);
    await given.node.mine(1);
    given.front.requests.length = 0;
    await observer.read();
    expect(given.front.requests.filter((each) => given.blockRequest.test(each))).toHaveLength(1);
  });

  test('many transactions at once in the mempool are all read', async () => {
    const { observer, script } = await given.caughtUp();
    const { scriptPubKey } = await given.node.rpc<{ scriptPubKey: string }>(
      'getaddressinfo',
      await given.node.rpc('getnewaddress', '', 'bech32'),
    );
    const amount = COIN / 10n;
    const { txid } = await given.node.send(
      Array.from({ length: 60 }, () => ({ script: scriptPubKey, amount })),
    );
    await given.node.mine(1);
    for (let vout = 0; vout < 60; vout++)
      await given.node.send([{ script, amount: 100_000n }], { txid, vout, amount });
    // Through Esplora some of them in each read, so that no other address waits; beyond 50 by their unspent outputs.
    for (let read = 0; read < 8; read++) await observer.read();
    expect(observer.to(script)).toHaveLength(60);
    await given.node.mine(1);
    await observer.read();
    expect(observer.to(script).filter(({ height }) => height !== null)).toHaveLength(60);
  });
});
