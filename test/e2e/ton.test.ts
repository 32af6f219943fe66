// Payments on TON from the request to the signed webhook, against the real executor.
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { recordOn } from '../chains/ton/jetton.ts';
import { startTonChain } from '../chains/ton-chain.ts';
import { gatewaySuite } from './gateway-suite.ts';

const master = gatewaysOf('testnet').find((gateway) => gateway.chain === 'ton-usdt')?.token_contract ?? '';

gatewaySuite('ton', { ton: 'sqlite', 'ton-usdt': 'sqlite' }, async () => {
  const chain = await startTonChain();
  const jetton = await chain.deployJetton({ address: master });
  const buyer = await chain.createWallet();
  const merchant = await chain.createWallet();
  await chain.mintTo({ jetton, to: buyer, amount: 1_000_000_000_000n });
  return {
    settings: {
      'blockchains.ton.url': chain.url,
      'blockchains.ton.requests_per_second': '100',
      'gateways.ton.poll_interval_seconds': '1',
    },
    wallet: merchant.at.toString({ testOnly: true, bounceable: false }),
    async pay({ chain: name, amount, memo }) {
      const comment = memo ?? undefined;
      const sent =
        name === 'ton'
          ? await chain.sendTon({ from: buyer, to: merchant, amount, comment })
          : await chain.sendJetton({ jetton, from: buyer, to: merchant, amount, comment });
      return sent.txid;
    },
    wallet_of_buyer: {
      account: buyer.at.toRawString(),
      async sign(composed, name) {
        if (composed.kind !== 'messages') throw new Error('not messages');
        const records = await chain.signAndSend(buyer, composed.messages);
        const account = name === 'ton' ? merchant.at : await chain.jettonWallet(jetton, merchant);
        return recordOn(records, account).txid;
      },
    },
    async settle() {
      chain.mineBlocks(1);
    },
    stop: () => chain.stop(),
  };
});
