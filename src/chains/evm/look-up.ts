// What a transaction that somebody names has paid, proved as far as reading proves it.
import type { NamedTransaction, Transfer } from '../family.ts';
import { inTurns } from '../steps.ts';
import { hexHash } from '../txid.ts';
import { badAnswer, type Header, headerOf, readReceipt, transactionOf } from './answers.ts';
import { assetsOf, coinIndex } from './assets.ts';
import { creditsIn, transfersOf } from './credits.ts';
import { type EvmCursor, hashAt, headOf } from './cursor.ts';
import { type Depth, placeIn } from './depth.ts';
import { askAll, blockCall, receiptCall, transactionCall } from './hosts.ts';
import type { EvmContext } from './memory.ts';
import type { CoinPayment, EvmNetwork } from './networks.ts';
import { askerOf } from './reading.ts';

/** The same transfers as reading gives, of a transaction that stands in a block; what waits for one is not found. */
export async function lookUpEvm(
  network: EvmNetwork,
  context: EvmContext,
  { txid, address_key, gateway }: NamedTransaction,
): Promise<Transfer[]> {
  const hash = hexHash(txid);
  if (hash === null) return [];
  const asker = askerOf(network, context);
  const { has_nonces } = network.dialect;
  const asked = `0x${hash}`;
  const calls = [receiptCall(asked), ...(has_nonces ? [transactionCall(asked)] : [])];
  const answers = await askAll(asker, calls);
  const receipt = await inTurns(asker.rpc, readReceipt(answers[0], asked));
  const transaction = has_nonces ? transactionOf(answers[1], asked) : null;
  if (receipt?.status !== '0x1' || (has_nonces && !transaction)) return [];
  const [newest, answer] = await askAll(asker, [blockCall('latest'), blockCall(receipt.blockNumber)]);
  const tip = headerOf(newest, 'latest');
  const header = headerOf(answer, receipt.blockNumber);
  if (header?.hash !== receipt.blockHash) throw badAnswer(`transaction ${txid} is in a block of no chain`);
  const assets = assetsOf(network, { ...context, gateways: [gateway] });
  const coins: CoinPayment[] =
    assets.coin?.by.found_by === 'source'
      ? [await assets.coin.by.source.payment(asker.rpc, asked)].flatMap((each) => each ?? [])
      : assets.coin && transaction?.to != null
        ? [{ txid: asked, from: transaction.from, to: transaction.to, amount: transaction.value }]
        : [];
  const paid = coins
    .filter(({ amount, from, to }) => amount > 0n && from !== to)
    .map(({ from, to, amount }) => ({ chain: gateway.chain, index: coinIndex(to), from, to, amount }));
  const credits = [...paid, ...creditsIn(assets.logs, receipt.logs)].filter(({ to }) => to === address_key);
  return transfersOf(
    {
      network,
      watched: new Map(),
      displaced: new Set(),
      local: context.local,
      place: () => placeOf(network, context.memory.cursor, { header, tip }),
    },
    credits,
    { txid: receipt.transactionHash, transaction, header },
  );
}

/** Blocks that no reading has reached, and blocks of a branch that it did not follow, confirm nothing. */
function placeOf(
  network: EvmNetwork,
  cursor: EvmCursor | null,
  { header: { height, hash, time }, tip }: { header: Header; tip: Header | null },
): Depth {
  const proved = Math.min(tip?.height ?? 0, cursor ? headOf(cursor)[0] : 0);
  if (!cursor || height > proved || (hashAt(cursor, height) ?? hash) !== hash)
    return { confirmations: 0, depth_seconds: null, final: false };
  // The earlier of both heads, and no later time than either has.
  const now = Math.min(tip?.time ?? 0, headOf(cursor)[2] ?? 0);
  return placeIn(network, { ...cursor, held: [[proved, '', now]] }, height, time);
}
