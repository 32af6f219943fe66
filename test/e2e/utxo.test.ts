// Payments on a UTXO chain from the request to the signed webhook, against a real node.
import { describe } from 'vitest';
import { hasLitecoind, startLitecoind } from '../chains/utxo-chain.ts';
import { startEsploraFront } from '../chains/utxo-fronts.ts';
import { freshAddress } from '../chains/utxo-observer.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { gatewaySuite, walletOf } from './gateway-suite.ts';

const other = hasPostgres ? 'postgres' : 'sqlite';

describe.skipIf(!hasLitecoind)('UTXO', () => {
  gatewaySuite('bitcoin', { bitcoin: other }, async () => {
    const node = await startLitecoind();
    const front = await startEsploraFront(node);
    const wallet = freshAddress('bitcoin');
    return {
      settings: {
        'blockchains.bitcoin.url': front.url,
        'blockchains.bitcoin.requests_per_second': '200',
        'gateways.bitcoin.poll_interval_seconds': '1',
      },
      wallet,
      pay: async ({ amount }) =>
        (await node.send([{ script: walletOf('bitcoin', wallet).key, amount }])).txid,
      settle: async () => void (await node.mine(1)),
      async stop() {
        await front.stop();
        await node.stop();
      },
    };
  });

  gatewaySuite('litecoin', { litecoin: 'sqlite' }, async () => {
    const node = await startLitecoind();
    const wallet = freshAddress('litecoin');
    return {
      settings: {
        'blockchains.litecoin.provider': 'core',
        'blockchains.litecoin.url': node.url,
        'blockchains.litecoin.requests_per_second': '200',
        'gateways.litecoin.poll_interval_seconds': '1',
      },
      wallet,
      pay: async ({ amount }) =>
        (await node.send([{ script: walletOf('litecoin', wallet).key, amount }])).txid,
      settle: async () => void (await node.mine(3)),
      stop: () => node.stop(),
    };
  });
});
