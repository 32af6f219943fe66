// Payments on EVM networks from the request to the signed webhook, on a real node.
import { describe } from 'vitest';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import { disabledGatewaysOf } from '../../src/chains/gateways.ts';
import { hasAnvil, startAnvil } from '../chains/evm-chain.ts';
import { freshAddress } from '../chains/evm-observer.ts';
import type { Database } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { gatewaySuite } from './gateway-suite.ts';

const other = hasPostgres ? 'postgres' : 'sqlite';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const LOG_TRANSFER = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';
const topic = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const words = (...amounts: bigint[]) =>
  `0x${amounts.map((each) => each.toString(16).padStart(64, '0')).join('')}`;

const suites: [blockchain: keyof typeof networks, gateways: Record<string, Database>][] = [
  ['ethereum', { ethereum: 'sqlite', 'ethereum-usdc': 'sqlite' }],
  ['base', { 'base-usdc': 'sqlite' }],
  ['polygon', { polygon: 'sqlite', 'polygon-usdc': other }],
  ['bsc', { 'bsc-usdt': 'sqlite', 'bsc-usdc': 'sqlite' }],
  ['arbitrum', { 'arbitrum-usdc': 'sqlite' }],
];

describe.skipIf(!hasAnvil)('EVM networks', () => {
  for (const [blockchain, chains] of suites)
    gatewaySuite(blockchain, chains, async () => {
      const network: EvmNetwork = networks[blockchain];
      const gateways = disabledGatewaysOf('testnet').filter((each) => each.chain in chains);
      const contracts = new Map(gateways.map((each) => [each.chain, each.token_contract?.toLowerCase()]));
      const { testnet: coins } = network.coins;
      const tokens = gateways.flatMap(({ token_contract, decimals }) =>
        token_contract === null ? [] : [{ address: token_contract.toLowerCase(), decimals }],
      );
      const log = coins.found_by === 'log' ? coins.log : null;
      if (log) tokens.push({ address: log.contract, decimals: 18 });
      const start_time = Math.floor(Date.now() / 1000);
      const chain_id = network.chain_ids.testnet;
      const chain = await startAnvil({ chain_id, block_seconds: 1, tokens, start_time });
      /** Blocks of this very second: the daemon holds its clock against them. */
      const mine = async (blocks: number) => {
        for (let mined = 0; mined < blocks; mined++) {
          await chain.ask('evm_setNextBlockTimestamp', `0x${Math.floor(Date.now() / 1000).toString(16)}`);
          await chain.ask('evm_mine');
        }
      };
      await mine(1);
      const wallet = freshAddress();
      /** The network logs what it pays in its own coin. */
      const payCoin = (to: string, amount: bigint) => {
        if (!log) throw new Error(`the coin of ${network.name} is in no log`);
        const parties = [topic(chain.payer), topic(to)];
        return log.layout === 'transfer'
          ? chain.write(log.contract, [TRANSFER, ...parties], words(amount))
          : chain.write(
              log.contract,
              [LOG_TRANSFER, topic(log.contract), ...parties],
              words(amount, 1n, 1n, 1n, 1n),
            );
      };
      return {
        settings: {
          [`blockchains.${blockchain}.url`]: chain.url,
          [`blockchains.${blockchain}.requests_per_second`]: '200',
          ...Object.fromEntries(
            Object.keys(chains).flatMap((id) => [
              [`gateways.${id}.enabled`, 'true'],
              [`gateways.${id}.poll_interval_seconds`, '1'],
            ]),
          ),
          'rates.usd.ETH': '2500',
          'rates.usd.POL': '0.25',
        },
        wallet,
        async pay({ chain: gateway, amount }) {
          const contract = contracts.get(gateway);
          const txid = contract
            ? await chain.payToken(contract, wallet, amount)
            : await payCoin(wallet, amount);
          await mine(1);
          return txid;
        },
        settle: () => mine(130),
        stop: () => chain.stop(),
      };
    });
});
