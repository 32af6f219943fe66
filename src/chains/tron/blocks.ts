// TRX from the node's own API: in its JSON-RPC a worthless token, a vote and a freeze look exactly like coins.
import * as z from 'zod';
import type { CoinBlock, CoinPayment, CoinSpending } from '../evm/networks.ts';
import type { Rpc } from '../family.ts';
import { rows } from '../rows.ts';
import { inTurns, mapInSteps, type Steps } from '../steps.ts';
import { address, ask, badAnswer, check, hash, keyOf, sun } from './api.ts';

/** Blocks of one answer, and transactions of one block: more than a node gives, and than a block has. */
export const MOST_BLOCKS = 100;
const MOST_TRANSACTIONS = 50_000;
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
const block = bareBlock.extend({
  transactions: rows(z.object({ txID: hash }).loose(), MOST_TRANSACTIONS).default([]),
});
const blocks = z.object({ block: rows(block, MOST_BLOCKS).default([]) });

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
type Fields = Readonly<Record<string, unknown>>;

/** As exchanges between tokens name the coin: `_`. */
const COIN_ID = '5f';
const coins = (value: unknown): bigint => sun.safeParse(value).data ?? 0n;
/** What is given of one side of an exchange, where that is the coin. */
const side =
  (id: string, quantity: string) =>
  (value: Fields): bigint =>
    value[id] === COIN_ID ? coins(value[quantity]) : 0n;
/**
 * How many coins each kind takes; a token's amount has the same name. What kinds give back stands with their cost; what
 * nothing tells shows in the balance.
 */
const TAKES: Readonly<Record<string, (value: Fields) => bigint>> = {
  TransferContract: ({ amount }) => coins(amount),
  ParticipateAssetIssueContract: ({ amount }) => coins(amount),
  TriggerSmartContract: ({ call_value }) => coins(call_value),
  CreateSmartContract: ({ new_contract }) => coins((new_contract as Fields | undefined)?.call_value),
  FreezeBalanceContract: ({ frozen_balance }) => coins(frozen_balance),
  FreezeBalanceV2Contract: ({ frozen_balance }) => coins(frozen_balance),
  ExchangeCreateContract: (value) =>
    side('first_token_id', 'first_token_balance')(value) +
    side('second_token_id', 'second_token_balance')(value),
  ExchangeInjectContract: side('token_id', 'quant'),
  ExchangeTransactionContract: side('token_id', 'quant'),
  MarketSellAssetContract: side('sell_token_id', 'sell_token_quantity'),
};

export async function readBlocks(rpc: Rpc, from: number, to: number): Promise<CoinBlock[]> {
  const answer = await ask(rpc, 'wallet', 'getblockbylimitnext', { startNum: from, endNum: to + 1 });
  const result = check(blocks, answer, `blocks from ${from}`);
  const found = result.block.toSorted((a, b) => numberOf(a) - numberOf(b));
  const { length } = found;
  if (length === 0 || length > to - from + 1) throw badAnswer(`of blocks ${from} to ${to} it has ${length}`);
  const read: CoinBlock[] = [];
  for (const [at, each] of found.entries()) read.push(await inTurns(rpc, coinBlock(each, from + at)));
  return read;
}

const numberOf = ({ block_header }: z.output<typeof block>): number => block_header.raw_data.number;

function* coinBlock(
  { blockID, block_header: { raw_data }, transactions }: z.output<typeof block>,
  height: number,
): Steps<CoinBlock> {
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
    payments: (yield* mapInSteps(transactions, paymentIn)).flatMap((each) => each ?? []),
    spendings: (yield* mapInSteps(transactions, spendingIn)).flatMap((each) => each ?? []),
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
  const { value } = parameter;
  const takes = Object.hasOwn(TAKES, type) ? TAKES[type] : undefined;
  const has_failed = data.ret.some(({ contractRet = SUCCESS }) => contractRet !== SUCCESS);
  return {
    txid: `0x${transaction.txID}`,
    from: keyOf(value.owner_address),
    amount: has_failed ? 0n : (takes?.(value) ?? 0n),
  };
}

const dated = z.object({ txID: hash, raw_data: z.object({ expiration: z.int().positive() }) });
const held = z.object({ blockID: hash, transactions: z.array(z.unknown()).default([]) });

/** A node has the blocks of a branch that it left for about a minute. */
export async function readExpiries(rpc: Rpc, block_hash: string): Promise<ReadonlyMap<string, number>> {
  const id = block_hash.slice(2);
  const { blockID, transactions } = check(
    held,
    await ask(rpc, 'wallet', 'getblockbyid', { value: id }),
    `block ${id}`,
  );
  if (blockID !== id) throw badAnswer(`block ${id} was asked, another came`);
  return new Map(
    transactions.flatMap((each): [string, number][] => {
      const { data } = dated.safeParse(each);
      return data ? [[data.txID, Math.ceil(data.raw_data.expiration / 1000)]] : [];
    }),
  );
}

export async function readPayment(rpc: Rpc, txid: string): Promise<CoinPayment | null> {
  const answer = await ask(rpc, 'wallet', 'gettransactionbyid', { value: txid.replace(/^0x/, '') });
  const result = z.object({ txID: hash }).loose().safeParse(answer);
  if (!result.success) return null;
  if (`0x${result.data.txID}` !== txid) throw badAnswer(`transaction ${txid} was asked, another came`);
  return paymentIn(result.data);
}
