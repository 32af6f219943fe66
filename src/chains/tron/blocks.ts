// TRX from the node's own API: in its JSON-RPC a worthless token, a vote and a freeze look exactly like coins.
import * as z from 'zod';
import type { CoinBlock, CoinPayment, CoinSource } from '../evm/networks.ts';
import { type Json, ProviderError, type Rpc } from '../family.ts';

/** The API stands next to the JSON-RPC. */
const API = '../wallet/';
/** Of a node that has no time for a question; anything else it writes there is about the question. */
const OVERLOADED = /lack of computing|resources|frequency|limit|too many/i;
const EXCERPT_CHARS = 200;
/** Amounts beyond what a JSON number holds exactly are read as text; a quote before it would be a text of someone's. */
const LARGE_AMOUNT = /(?<!\\)"(amount)"\s*:\s*(\d{16,19})(?=\s*[,}])/g;

const HEX_32 = /^[0-9a-f]{64}$/;
/** The byte that addresses begin with, then the key. */
const ADDRESS = /^41([0-9a-f]{40})$/;
/** The root of no transactions. */
const NO_TRANSACTIONS = /^0*$/;

const hash = z.string().toLowerCase().regex(HEX_32);
const header = z.object({
  number: z.int().nonnegative().default(0),
  /** Milliseconds. */
  timestamp: z.int().nonnegative().default(0),
  parentHash: hash,
  txTrieRoot: z.string().optional(),
});
const block = z.object({
  blockID: hash,
  block_header: z.object({ raw_data: header }),
  transactions: z.array(z.object({ txID: hash }).loose()).default([]),
});
const blocks = z.object({ block: z.array(block).default([]) });

/** A transfer of coins as a transaction holds it; every other kind of transaction is something else. */
const transfer = z.object({
  ret: z.tuple([z.object({ contractRet: z.literal('SUCCESS') })]),
  raw_data: z.object({
    contract: z.tuple([
      z.object({
        type: z.literal('TransferContract'),
        parameter: z.object({
          value: z.object({
            owner_address: z.string().regex(ADDRESS),
            to_address: z.string().regex(ADDRESS),
            amount: z.union([z.int().positive(), z.string().regex(/^\d{16,19}$/)]),
          }),
        }),
      }),
    ]),
  }),
});

export const trx: CoinSource = { blocks: readBlocks, payment: readPayment };

async function readBlocks(rpc: Rpc, from: number, to: number): Promise<CoinBlock[]> {
  const answer = await ask(rpc, 'getblockbylimitnext', { startNum: from, endNum: to + 1 });
  const result = blocks.safeParse(answer);
  if (!result.success) throw badAnswer(`blocks from ${from}: ${reasonOf(result.error)}`);
  const found = result.data.block.toSorted((a, b) => numberOf(a) - numberOf(b));
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
  if (number !== height || Number.parseInt(blockID.slice(0, 16), 16) !== height)
    throw badAnswer(`block ${height} came as another one`);
  if (txTrieRoot !== undefined && NO_TRANSACTIONS.test(txTrieRoot) !== (transactions.length === 0))
    throw badAnswer(`block ${height} came without its transactions`);
  return {
    height,
    hash: `0x${blockID}`,
    parent: `0x${parentHash}`,
    time: Math.floor(timestamp / 1000),
    payments: transactions.flatMap((each) => paymentIn(each) ?? []),
  };
}

/** Null where a transaction is anything but a transfer of coins that succeeded. */
function paymentIn(transaction: { txID: string }): CoinPayment | null {
  const { data } = transfer.safeParse(transaction);
  if (!data) return null;
  const { owner_address, to_address, amount } = data.raw_data.contract[0].parameter.value;
  return {
    txid: `0x${transaction.txID}`,
    from: keyOf(owner_address),
    to: keyOf(to_address),
    amount: BigInt(amount),
  };
}

const keyOf = (address: string): string => `0x${address.slice(2)}`;

async function readPayment(rpc: Rpc, txid: string): Promise<CoinPayment | null> {
  const answer = await ask(rpc, 'gettransactionbyid', { value: txid.replace(/^0x/, '') });
  const result = z.object({ txID: hash }).loose().safeParse(answer);
  if (!result.success) return null;
  if (`0x${result.data.txID}` !== txid) throw badAnswer(`transaction ${txid} was asked, another came`);
  return paymentIn(result.data);
}

/** An overloaded node answers 200 with a text, here and in place of JSON-RPC. */
async function ask(rpc: Rpc, method: string, body: Json): Promise<unknown> {
  const text = await rpc.text(API + method, { body });
  const answer = parsed(text);
  if (typeof answer !== 'object' || answer === null) throw badAnswer(`${method}: ${excerpt(text)}`);
  if (!('Error' in answer)) return answer;
  const why = excerpt(String(answer.Error));
  throw new ProviderError(OVERLOADED.test(why) ? 'rate_limited' : 'rpc', `${method} is refused: ${why}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(LARGE_AMOUNT, '"$1":"$2"'));
  } catch {
    return null;
  }
}

const badAnswer = (why: string) => new ProviderError('bad_answer', why);
const excerpt = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, EXCERPT_CHARS);

const reasonOf = ({ issues: [issue] }: z.ZodError): string =>
  `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'unreadable'}`;
