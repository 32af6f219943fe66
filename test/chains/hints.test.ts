// Hints of real nodes: a payment is found because the node says so, by a daemon that would read an hour later without them.
import { afterEach, describe, it } from 'vitest';
import { networks } from '../../src/chains/evm/networks.ts';
import { builtIn } from '../../src/chains/gateways.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { systemClock, type TestClock, testClock } from '../helpers/clock.ts';
import { create, fundedMerchant, invoiceRow } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { hasAnvil, startAnvil } from './evm-chain.ts';
import { freshAddress } from './evm-observer.ts';
import { hasSurfpool, startSolanaChain } from './solana-chain.ts';

/** No test waits for it. */
const POLL_SECONDS = '3600';
/** Deep enough on Ethereum, in blocks and in seconds. */
const DEEP_BLOCKS = 40;
const LIMIT_MS = 60_000;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const contractOf = (chain: string): string =>
  builtIn.values.find((value) => value.chain === chain)?.token_contract?.testnet as string;

/** A daemon that reads a blockchain each hour, and a merchant there. */
async function open(
  chain: string,
  { url, hints_url, wallet, clock }: { url: string; hints_url: string; wallet: string; clock: TestClock },
) {
  const blockchain = chain.replace(/-.*/, '');
  const polled = builtIn.values
    .filter((value) => value.blockchain === blockchain)
    .map((value) => [`gateways.${value.chain}.poll_interval_seconds`, POLL_SECONDS]);
  const test = await startApp({
    single: true,
    clock,
    start: true,
    settings: {
      'rates.usd.SOL': '200',
      [`gateways.${chain}.enabled`]: 'true',
      ...Object.fromEntries(polled),
      [`blockchains.${blockchain}.url`]: url,
      [`blockchains.${blockchain}.hints_url`]: hints_url,
      [`blockchains.${blockchain}.requests_per_second`]: '1000',
    },
  });
  stops.push(() => test.stop());
  const merchant = await fundedMerchant(test);
  await setWallet(test.app, merchant.id, blockchain, wallet);
  return { test, merchant, blockchain };
}

/** An open invoice whose address the node was asked to report on. */
async function sell(test: TestApp, merchant: TestMerchant, chain: string, blockchain: string) {
  const invoice = await create(test, merchant, chain);
  await test.app.observer.poll(blockchain);
  await until('hints', async () => {
    const status = test.app.observer.status().find((each) => each.blockchain === blockchain);
    return (status?.hints?.connected_since ?? null) === null ? undefined : true;
  });
  return invoice;
}

describe.runIf(hasSurfpool)('a payment on Solana that its node reports', () => {
  it.each(['solana', 'solana-usdc'])(
    'in %s is confirmed though no reading is due',
    async (chain) => {
      verifies('hints-forward');
      const node = await startSolanaChain();
      stops.push(() => node.stop());
      const wallet = node.wallet().address;
      const mints = ['solana-usdc', 'solana-usdt'].map((each) =>
        node.createMint({ address: contractOf(each) }),
      );
      const [usdc] = mints as [(typeof mints)[0], ...typeof mints];
      await node.mint(usdc, node.payer.address, 1_000_000_000n);
      const at = { url: node.url, hints_url: node.hints_url, wallet, clock: systemClock };
      const { test, merchant, blockchain } = await open(chain, at);
      const invoice = await sell(test, merchant, chain, blockchain);
      const memo = invoice.memo ?? '';
      const amount = BigInt(invoice.amount_atomic);
      if (chain === 'solana') await node.sendSol(wallet, amount, { memo });
      else await node.sendToken(usdc, wallet, amount, { memo });
      // The subscription may not have stood yet: what moves next is reported.
      await until(
        'the invoice is confirmed',
        async () => {
          if ((await invoiceRow(test, invoice.id)).status === 'confirmed') return true;
          if (chain === 'solana') await node.sendSol(wallet, 1_000_000n);
          else await node.sendToken(usdc, wallet, 1n);
          return undefined;
        },
        LIMIT_MS,
      );
    },
    2 * LIMIT_MS,
  );
});

describe.runIf(hasAnvil)('a payment on a network like Ethereum that its node reports', () => {
  it.each([
    ['base-usdc', networks.base, false],
    ['ethereum-usdc', networks.ethereum, true],
  ])(
    'in %s is seen though no reading is due, and confirmed by blocks where they come slowly',
    async (chain, network, is_slow) => {
      verifies('hints-forward');
      const address = contractOf(chain);
      const { block_seconds, chain_ids } = network;
      const node = await startAnvil({
        chain_id: chain_ids.testnet,
        block_seconds,
        tokens: [{ address }],
        history: 100,
      });
      stops.push(() => node.stop());
      const clock = testClock(node.now());
      const wallet = freshAddress();
      const at = { url: node.url, hints_url: node.url.replace('http', 'ws'), wallet, clock };
      const { test, merchant, blockchain } = await open(chain, at);
      const invoice = await sell(test, merchant, chain, blockchain);
      const grow = async (blocks: number) => {
        await node.mine(blocks);
        clock.set(node.now());
      };
      const pay = (amount: bigint) => node.payToken(address, invoice.address_key, amount, node.freshPayer());
      const txid = await pay(BigInt(invoice.amount_atomic));
      await grow(1);
      await until(
        'the payment is seen',
        async () => {
          const seen = await test.app.db.query.selectFrom('transfers').select('txid').execute();
          if (seen.some((each) => each.txid === txid)) return true;
          await node.payToken(address, invoice.address_key, 1n);
          await grow(1);
          return undefined;
        },
        LIMIT_MS,
      );
      if (!is_slow) return;
      await grow(DEEP_BLOCKS);
      await until(
        'the invoice is confirmed',
        async () => {
          if ((await invoiceRow(test, invoice.id)).status === 'confirmed') return true;
          await grow(1);
          return undefined;
        },
        LIMIT_MS,
      );
    },
    3 * LIMIT_MS,
  );
});
