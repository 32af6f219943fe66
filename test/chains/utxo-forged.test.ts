// Providers that make blocks up: none of it is believed, nothing moves, and an honest one is read on from where reading stood.
import { expect, test } from 'vitest';
import { type ForgedParts, startForger } from './utxo-forger.ts';
import { COIN, onEveryProvider } from './utxo-suite.ts';

const HOUR = 3600;

onEveryProvider((given) => {
  /** What is forged on top of the real chain is refused; afterwards the real chain is read. */
  async function refuses(parts: ForgedParts[], message: RegExp): Promise<void> {
    const { observer, script } = await given.caughtUp();
    const before = structuredClone([observer.cursor, observer.read_through, [...observer.transfers]]);
    const forger = await startForger(given.front, given.node);
    try {
      for (const each of parts) await forger.forge({ pays: { script, amount: COIN }, ...each });
      observer.clock.now += 60;
      await expect(observer.read()).rejects.toMatchObject({ kind: 'bad_answer', message });
      expect([observer.cursor, observer.read_through, [...observer.transfers]]).toEqual(before);
    } finally {
      await forger.stop();
    }
    const { txid } = await given.node.send([{ script, amount: 2n * COIN }]);
    await given.node.mine(1);
    await observer.read();
    expect(observer.to(script)).toMatchObject([{ txid, confirmations: 1 }]);
  }

  test.each([
    ['without work', { proved: false }, /lacks the proof of work/],
    ['with a negative target', { bits: 0x20ffffff }, /is none/],
    ['with a target that overflows', { bits: 0x23ffffff }, /is none/],
    ['with a target of zero', { bits: 0x20000000 }, /is none/],
    ['with a target easier than allowed', { bits: 0x21008000 }, /easier than the network allows/],
    ['with a target that it does not meet', { bits: 0x1d00ffff }, /lacks the proof of work/],
    ['with a target that does not follow', { bits: 0x207ffffe }, /does not follow/],
    ['that follows no block', { previous: '0'.repeat(64) }, /changed while it was being read/],
    ['of a time to come', { time: Math.floor(Date.now() / 1000) + 3 * HOUR }, /ahead of now/],
  ] as [string, ForgedParts, RegExp][])('a block %s is refused', async (_, parts, message) => {
    await refuses([parts], message);
  });

  test('a longer chain made up without work is refused at its first block', async () => {
    await refuses(
      Array.from({ length: 20 }, () => ({ proved: false })),
      /lacks the proof of work/,
    );
  });

  test('blocks that are boasted of confirm nothing', async () => {
    const { observer, script } = await given.caughtUp();
    const { txid } = await given.node.send([{ script, amount: COIN }]);
    await given.node.mine(1);
    const forger = await startForger(given.front, given.node);
    try {
      forger.boast(6);
      await expect(observer.read()).rejects.toMatchObject({ name: 'ProviderError' });
      await observer.recheck();
      expect(observer.to(script)).toMatchObject([{ txid, confirmations: 1 }]);
      expect(observer.read_through).toBeLessThan(observer.clock.now);
    } finally {
      await forger.stop();
    }
    await given.node.mine(1);
    await observer.read();
    await observer.recheck();
    expect(observer.to(script)).toMatchObject([{ txid, confirmations: 2 }]);
  });
});
