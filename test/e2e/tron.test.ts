// Payments on TRON from the request to the signed webhook, against its dialect over a real node.
import { describe } from 'vitest';
import { showAddress } from '../../src/chains/tron/address.ts';
import { USDT } from '../../src/chains/tron/contracts.ts';
import { tronNetwork } from '../../src/chains/tron/network.ts';
import { hasAnvil, startAnvil } from '../chains/evm-chain.ts';
import { freshAddress } from '../chains/evm-observer.ts';
import { startTronFront } from '../chains/tron-front.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { gatewaySuite } from './gateway-suite.ts';

const other = hasPostgres ? 'postgres' : 'sqlite';
/** Until the network calls a block solidified. */
const SOLID_BLOCKS = 19;

describe.skipIf(!hasAnvil)('TRON', () => {
  gatewaySuite('tron', { tron: 'sqlite', 'tron-usdt': other }, async () => {
    const start_time = Math.floor(Date.now() / 1000);
    const token = tronNetwork.dialect.contractKey(USDT.testnet as string);
    const tokens = [{ address: token }];
    const { testnet: chain_id } = tronNetwork.chain_ids;
    const chain = await startAnvil({ chain_id, block_seconds: 3, tokens, start_time });
    const front = await startTronFront(chain.ask);
    const wallet = showAddress(freshAddress());
    const to = tronNetwork.dialect.contractKey(wallet);
    /** Blocks of this very second: the daemon holds its clock against them. */
    const mine = async (blocks: number) => {
      for (let mined = 0; mined < blocks; mined++) {
        await chain.ask('evm_setNextBlockTimestamp', `0x${Math.floor(Date.now() / 1000).toString(16)}`);
        await chain.ask('evm_mine');
      }
    };
    await mine(1);
    return {
      settings: {
        'blockchains.tron.url': front.url,
        'blockchains.tron.requests_per_second': '200',
        'gateways.tron.enabled': 'true',
        'gateways.tron.poll_interval_seconds': '1',
        'gateways.tron-usdt.enabled': 'true',
        'gateways.tron-usdt.poll_interval_seconds': '1',
        'rates.usd.TRX': '0.25',
      },
      wallet,
      async pay({ chain: gateway, amount }) {
        const txid =
          gateway === 'tron' ? await chain.payCoin(to, amount) : await chain.payToken(token, to, amount);
        await mine(1);
        return txid.slice(2);
      },
      settle: () => mine(SOLID_BLOCKS),
      async stop() {
        await front.stop();
        await chain.stop();
      },
    };
  });
});
