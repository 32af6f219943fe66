// TRX from the node's own API: in its JSON-RPC a worthless token, a vote and a freeze look exactly like coins.
import * as z from 'zod';
import type { CoinBlock, CoinPayment, CoinSpending } from '../evm/networks.ts';
import type { Rpc } from '../family.ts';
import { address, ask, badAnswer, check, hash, keyOf, sun } from './api.ts';

/** The root of no transactions. */
const NO_TRANSACTIONS = /^0*$/;
const SUCCESS = 'SUCCESS';

const header = z.object({
  number: z.int().nonnegative().default(0),
  /** Milliseconds. */
  timestamp: z.int().nonnegative().default(0),
  parentHash: hash,
  txTrieRoot: z.string().optional(),
});
export const bareBlock = z.object({ blockID: hash, block_header: z.object({ raw_data: header }) });
const block = bareBlock.extend({ transactions: z.array(z.object({ txID: hash }).loose()).default([]) });
const blocks = z.object({ block: z.array(block).default([]) });

/** A transfer of coins as a transaction holds it; every other kind of transaction is something else. */
const transfer = z.object({
  ret: z.tuple([z.object({ contractRet: z.literal(SUCCESS) })]),
  raw_data: z.object({
    contract: z.tuple([
      z.object({
        type: z.literal('TransferContract'),
        parameter: z.object({
          value: z.object({ owner_address: address, to_address: address, amount: sun }),
        }),
      }),
    ]),
  }),
});

/** Any transaction, by what it takes of the one who made it. */
const spending = z.object({
  ret: z.array(z.object({ contractRet: z.string().optional() })).default([]),
  raw_data: z.object({
    contract: z.tuple([
      z.object({
        type: z.string(),
        parameter: z.object({ value: z.looseObject({ owner_address: address }) }),
      }),
    ]),
  }),
});
/** Where each kind says how many coins it takes; a token's amount has the same name. */
const TAKES: Record<string, string> = {
  TransferContract: 'amount',
  ParticipateAssetIssueContract: 'amount',
  TriggerSmartContract: 'call_value',
  FreezeBalanceContract: 'frozen_balance',
  FreezeBalanceV2Contract: 'frozen_balance',
};

export async function readBlocks(rpc: Rpc, from: number, to: number): Promise<CoinBlock[]> {
  const answer = await ask(rpc, 'wallet', 'getblockbylimitnext', { startNum: from, endNum: to + 1 });
  const result = check(blocks, answer, `blocks from ${from}`);
  const found = result.block.toSorted((a, b) => numberOf(a) - numberOf(b));
  const { length } = found;
  if (length === 0 || length > to - from + 1) throw badAnswer(`of blocks ${from} to ${to} it has ${length}`);
  return found.map((each, at) => coinBlock(each, from + at));
}

const numberOf = ({ block_header }: z.output<typeof block>): number => block_header.raw_data.number;

function coinBlock(
  { blockID, block_header: { raw_data }, transactions }: z.output<typeof block>,
  height: number,
): CoinBlock {
  const { number, parentHash, timestamp, txTrieRoot } = raw_data;
  // A hash begins with the height of its block.
  if (number !== height || heightIn(blockID) !== height)
    throw badAnswer(`block ${height} came as another one`);
  if (txTrieRoot !== undefined && NO_TRANSACTIONS.test(txTrieRoot) !== (transactions.length === 0))
    throw badAnswer(`block ${height} came without its transactions`);
  return {
    height,
    hash: `0x${blockID}`,
    parent: `0x${parentHash}`,
    time: Math.floor(timestamp / 1000),
    payments: transactions.flatMap((each) => paymentIn(each) ?? []),
    spendings: transactions.flatMap((each) => spendingIn(each) ?? []),
  };
}

export const heightIn = (id: string): number => Number.parseInt(id.slice(0, 16), 16);

/** Null where a transaction is anything but a transfer of coins that succeeded. */
function paymentIn(transaction: { txID: string }): CoinPayment | null {
  const { data } = transfer.safeParse(transaction);
  if (!data) return null;
  const { owner_address, to_address, amount } = data.raw_data.contract[0].parameter.value;
  if (amount === 0n) return null;
  return { txid: `0x${transaction.txID}`, from: keyOf(owner_address), to: keyOf(to_address), amount };
}

/** Null where it does not say who made it. */
function spendingIn(transaction: { txID: string }): CoinSpending | null {
  const { data } = spending.safeParse(transaction);
  if (!data) return null;
  const [{ type, parameter }] = data.raw_data.contract;
  const has_failed = data.ret.some(({ contractRet = SUCCESS }) => contractRet !== SUCCESS);
  const taken = sun.safeParse(parameter.value[TAKES[type] ?? '']);
  return {
    txid: `0x${transaction.txID}`,
    from: keyOf(parameter.value.owner_address),
    amount: has_failed ? 0n : (taken.data ?? 0n),
  };
}

export async function readPayment(rpc: Rpc, txid: string): Promise<CoinPayment | null> {
  const answer = await ask(rpc, 'wallet', 'gettransactionbyid', { value: txid.replace(/^0x/, '') });
  const result = z.object({ txID: hash }).loose().safeParse(answer);
  if (!result.success) return null;
  if (`0x${result.data.txID}` !== txid) throw badAnswer(`transaction ${txid} was asked, another came`);
  return paymentIn(result.data);
}
