// What JSON-RPC answers of blocks, logs and receipts must be like; anything else is a bad answer.
import * as z from 'zod';
import { ProviderError } from '../family.ts';
import { atOnce, mapInSteps, type Steps } from '../steps.ts';

/** Logs in one answer: more than any provider gives at once. */
const MOST_LOGS = 50_000;
/** Transactions in one block: more than the largest ever had. */
const MOST_TRANSACTIONS = 50_000;

/** 32 bytes, in lower case. */
const word = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .toLowerCase();
const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/i)
  .toLowerCase();
/** A quantity that is counted: exact as a number. */
const count = z
  .string()
  .regex(/^0x(0|[1-9a-f][0-9a-f]{0,11})$/i)
  .transform(Number);
const quantity = z
  .string()
  .regex(/^0x(0|[1-9a-f][0-9a-f]{0,63})$/i)
  .transform(BigInt);
const bytes = z
  .string()
  .regex(/^0x(?:[0-9a-f]{2})*$/i)
  .toLowerCase();

/** A part of what a transaction cost; null where the node does not tell it. */
const charge = quantity.nullish().catch(null);

const header = z.object({ number: count, hash: word, parentHash: word, timestamp: count });
const log = z
  .object({
    address,
    topics: z.array(word).max(4),
    data: bytes,
    blockNumber: count,
    blockHash: word,
    transactionHash: word,
    logIndex: count,
    removed: z.literal(false).nullish(),
  })
  .transform(({ removed: _, ...rest }) => rest);
const receipt = z.object({
  transactionHash: word,
  blockHash: word,
  blockNumber: count,
  status: z.enum(['0x0', '0x1']),
  logs: z.unknown(),
  gasUsed: charge,
  effectiveGasPrice: charge,
  blobGasUsed: charge,
  blobGasPrice: charge,
  /** On networks that settle on another one. */
  l1Fee: charge,
});
const transaction = z.object({
  hash: word,
  from: address,
  to: address.nullish(),
  value: quantity,
  nonce: quantity.nullish(),
  blockHash: word.nullish(),
  blockNumber: count.nullish(),
  transactionIndex: count.nullish(),
});
const block = header.extend({
  transactionsRoot: word.nullish(),
  transactions: z.unknown(),
});

export interface Header {
  height: number;
  hash: string;
  parent: string;
  /** Unix seconds, by the chain's clock. */
  time: number;
}
export type Log = z.infer<typeof log>;
export type Receipt = Omit<z.infer<typeof receipt>, 'logs'> & { logs: Log[] };
export type Transaction = z.infer<typeof transaction>;
export type FullBlock = Header & { transactions: Transaction[] };

/** The root of no transactions. */
const NO_TRANSACTIONS = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

export const badAnswer = (what: string) => new ProviderError('bad_answer', what);

function check<T>(schema: z.ZodType<T, unknown>, answer: unknown, what: string): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw badAnswer(`${what}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'unreadable'}`);
}

/** Rows of a list, none of which is read where there are too many; the first fault ends it. */
function* readRows<T>(row: z.ZodType<T, unknown>, most: number, answer: unknown, what: string): Steps<T[]> {
  if (!Array.isArray(answer)) throw badAnswer(`${what}: not a list`);
  if (answer.length > most) throw badAnswer(`${what}: ${answer.length} rows, of which ${most} are allowed`);
  return yield* mapInSteps(answer, (each, at) => check(row, each, `${what}: ${at}`));
}

const shortened = ({ number, hash, parentHash, timestamp }: z.infer<typeof header>): Header => ({
  height: number,
  hash,
  parent: parentHash,
  time: timestamp,
});

/** The header of a height or a tag; null where the node has none. */
export function headerOf(answer: unknown, asked: number | string): Header | null {
  if (answer === null) return null;
  const found = shortened(check(header, answer, `block ${asked}`));
  if (typeof asked === 'number' && found.height !== asked)
    throw badAnswer(`block ${asked} was asked, ${found.height} came`);
  return found;
}

/**
 * A block with its transactions; one of bare hashes, or of another block's transactions, is none. `counted`: how many it
 * has by another answer, where that was asked for.
 */
export const fullBlockOf = (answer: unknown, asked: number | string, counted?: unknown): FullBlock | null =>
  atOnce(readFullBlock(answer, asked, counted));

/** The same, in steps. */
export function* readFullBlock(
  answer: unknown,
  asked: number | string,
  counted?: unknown,
): Steps<FullBlock | null> {
  if (answer === null) return null;
  const found = headerOf(answer, asked) as Header;
  const what = `the transactions of block ${asked}`;
  const { transactionsRoot, transactions: listed } = check(block, answer, what);
  const transactions = yield* readRows(transaction, MOST_TRANSACTIONS, listed, what);
  const isWhole = transactions.every(
    (each, at) =>
      each.blockHash === found.hash &&
      each.blockNumber === found.height &&
      (each.transactionIndex ?? at) === at,
  );
  const { length } = transactions;
  const isEmpty = transactionsRoot == null ? length === 0 : transactionsRoot === NO_TRANSACTIONS;
  const isAll = counted === undefined || check(count, counted, `the size of block ${asked}`) === length;
  if (!isWhole || !isAll || isEmpty !== (length === 0))
    throw badAnswer(`block ${asked} came without its transactions`);
  return { ...found, transactions };
}

export const logsOf = (answer: unknown): Log[] => atOnce(readLogs(answer));

/** The same, in steps. */
export const readLogs = (answer: unknown): Steps<Log[]> => readRows(log, MOST_LOGS, answer, 'eth_getLogs');

/** Null where the node has none. Its logs are of this transaction and in their order, each once. */
export const receiptOf = (answer: unknown, txid: string): Receipt | null => atOnce(readReceipt(answer, txid));

/** The same, in steps. */
export function* readReceipt(answer: unknown, txid: string): Steps<Receipt | null> {
  if (answer === null) return null;
  const what = `the receipt of ${txid}`;
  const read = check(receipt, answer, what);
  const found = { ...read, logs: yield* readRows(log, MOST_LOGS, read.logs, what) };
  let last = -1;
  for (const each of found.logs) {
    const isOwn = each.transactionHash === found.transactionHash && each.blockHash === found.blockHash;
    if (!isOwn || each.logIndex <= last) throw badAnswer(`the receipt of ${txid} has logs of others`);
    last = each.logIndex;
  }
  if (found.transactionHash !== txid) throw badAnswer(`the receipt of ${txid} is of another transaction`);
  return found;
}

export function transactionOf(answer: unknown, txid: string): Transaction | null {
  if (answer === null) return null;
  const found = check(transaction, answer, `transaction ${txid}`);
  if (found.hash !== txid) throw badAnswer(`transaction ${txid} was asked, another came`);
  return found;
}

/** What a transaction cost its sender beyond its value, as far as the node tells. */
export const feeOf = (receipt: Receipt): bigint =>
  (receipt.gasUsed ?? 0n) * (receipt.effectiveGasPrice ?? 0n) +
  (receipt.blobGasUsed ?? 0n) * (receipt.blobGasPrice ?? 0n) +
  (receipt.l1Fee ?? 0n);

/** Code as the node has it; `0x` where there is none. */
export const codeOf = (answer: unknown, of: string): string => check(bytes, answer, `the code of ${of}`);

export const countOf = (answer: unknown, what: string): bigint => check(quantity, answer, what);

/** The words that a call returned; null where it returned anything else than so many. */
export function wordsOf(answer: unknown, count: number): bigint[] | null {
  const { data } = bytes.safeParse(answer);
  if (data?.length !== 2 + count * 64) return null;
  return Array.from({ length: count }, (_, at) => BigInt(`0x${data.slice(2 + at * 64, 66 + at * 64)}`));
}

/** The one word that a call of a contract returned; null where it returned anything else. */
export function wordOf(answer: unknown): bigint | null {
  const { data } = word.safeParse(answer);
  return data === undefined ? null : BigInt(data);
}
