// One chain per coin and provider of the UTXO family, for the suites that hold for all of them.
import { afterAll, beforeAll, describe } from 'vitest';
import { hasLitecoind, type Litecoind, startLitecoind } from './utxo-chain.ts';
import { startCoreFront, startEsploraFront, type UtxoFront } from './utxo-fronts.ts';
import { createObserver, type UtxoBlockchain } from './utxo-observer.ts';

export const COIN = 100_000_000n;
const starters = { core: startCoreFront, esplora: startEsploraFront };
const setups = (['bitcoin', 'litecoin'] as const).flatMap((blockchain) =>
  (['core', 'esplora'] as const).map((provider) => ({ blockchain, provider })),
);

interface Given {
  blockchain: UtxoBlockchain;
  provider: 'core' | 'esplora';
  node: Litecoind;
  /** A second host: its chain is empty, and it hears nothing of the first. */
  other: Litecoind;
  front: UtxoFront;
  /** What a request for a block's contents is called. */
  blockRequest: RegExp;
  /** An observer that has read everything so far, watching one fresh address. */
  caughtUp(): Promise<{ observer: ReturnType<typeof createObserver>; script: string }>;
}

/** Nodes and front are there once the tests run. */
export function onEveryProvider(tests: (given: Given) => void): void {
  describe.skipIf(!hasLitecoind).each(setups)('$blockchain through $provider', ({ blockchain, provider }) => {
    const given = { blockchain, provider } as Given;
    given.blockRequest = provider === 'core' ? /^getblock$/ : /\/raw$/;
    given.caughtUp = async () => {
      const observer = createObserver(blockchain, given.front);
      await observer.read();
      const script = observer.watch();
      await observer.read();
      return { observer, script };
    };
    beforeAll(async () => {
      [given.node, given.other] = await Promise.all([startLitecoind(), startLitecoind({ blocks: 0 })]);
      given.front = await starters[provider](given.node);
    });
    afterAll(async () => {
      await given.front?.stop();
      await Promise.all([given.node?.stop(), given.other?.stop()]);
    });
    tests(given);
  });
}
