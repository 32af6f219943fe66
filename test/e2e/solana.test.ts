// Payments on Solana from the request to the signed webhook, against a real validator.
import { describe } from 'vitest';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { hasSurfpool, startSolanaChain } from '../chains/solana-chain.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { gatewaySuite } from './gateway-suite.ts';

const mintOf = (chain: string) =>
  gatewaysOf('testnet').find((gateway) => gateway.chain === chain)?.token_contract ?? '';
const other = hasPostgres ? 'postgres' : 'sqlite';

describe.skipIf(!hasSurfpool)('Solana', () => {
  gatewaySuite('solana', { solana: other, 'solana-usdc': other, 'solana-usdt': other }, async () => {
    const chain = await startSolanaChain();
    const merchant = chain.wallet();
    const buyer = chain.wallet();
    const mints = new Map(
      ['solana-usdc', 'solana-usdt'].map((name) => [
        name,
        chain.createMint({ address: mintOf(name), decimals: 6 }),
      ]),
    );
    for (const mint of mints.values()) await chain.mint(mint, buyer.address, 1_000_000_000_000n);
    return {
      settings: {
        'blockchains.solana.url': chain.url,
        'blockchains.solana.requests_per_second': '200',
        'gateways.solana.poll_interval_seconds': '1',
      },
      wallet: merchant.address,
      async pay({ chain: name, amount, memo }) {
        const mint = mints.get(name);
        const options = { memo: memo ?? undefined, from: buyer };
        return mint
          ? chain.sendToken(mint, merchant.address, amount, options)
          : chain.sendSol(merchant.address, amount, options);
      },
      wallet_of_buyer: {
        account: buyer.address,
        async sign(composed) {
          if (composed.kind !== 'transaction') throw new Error('not a transaction');
          return chain.signAndSend(composed.transaction, buyer);
        },
      },
      settle: async () => {},
      stop: () => chain.stop(),
    };
  });
});
