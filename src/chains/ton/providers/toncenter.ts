// The toncenter v3 requests that reading needs, each with the shape that is relied on.
import { type Address, beginCell } from '@ton/core';
import { z } from 'zod';
import { type Network, ProviderError, type ProviderKind, type Rpc, type Tip } from '../../family.ts';
import { rows } from '../../rows.ts';
import { inTurns, mapInSteps } from '../../steps.ts';
import { cellIn } from '../body.ts';

export const toncenter: ProviderKind = { kind: 'toncenter', needs_url: false, key_header: 'x-api-key' };

/** The most rows toncenter gives at once. */
export const PAGE_LIMIT = 1000;
/** Providers may cap pages lower than asked; a page with fewer rows than this is the last one under any cap known. */
const PAGE_LEAST_CAP = 100;

/** Entries of a contract's answer; what is asked here has five at most. */
const MOST_STACK = 255;
/** More digits than any amount on the chain has. */
const AMOUNT = /^\d{1,39}$/;

const MAINNET_GLOBAL_ID = -239;
/** A block of the main network. Local networks are often made with its id too, but are younger and shorter. */
const MAINNET_LANDMARK = { seqno: 43_264_868, time: 1_735_057_940 };

/** Has a transaction in every masterchain block: its state dates the answer that it stands in. */
export const BEACON = `-1:${'3'.repeat(64)}`;

const unixSeconds = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,12}$/)
      .transform(Number),
  ])
  .pipe(z.int());
/** The protocol counts blocks in 32 bits, the indexer in 31 of them. */
const seqno = z
  .int()
  .nonnegative()
  .max(2 ** 31 - 1);
/** Logical time, 64 bits: beyond what JSON numbers hold. */
const logicalTime = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);
const hash = z.base64().length(44);
const masterchainInfo = z.object({
  last: z.object({
    seqno,
    gen_utime: unixSeconds,
    global_id: z.int().nullish(),
    start_lt: logicalTime.nullish(),
  }),
});

/** What decides whether money came is always there, null where there is none: an answer without it is no empty one. */
const message = z.object({
  source: z.string().nullable(),
  value: z.string().regex(AMOUNT).nullable(),
  bounced: z.boolean().nullable(),
  message_content: z.object({ body: z.string().nullish() }).nullable(),
});
const transaction = z.object({
  account: z.string(),
  hash,
  lt: logicalTime,
  prev_trans_lt: logicalTime,
  prev_trans_hash: hash,
  now: z.int().positive(),
  mc_block_seqno: seqno.nullable(),
  emulated: z.boolean().nullish(),
  description: z.object({
    aborted: z.boolean().nullish(),
    compute_ph: z.object({ success: z.boolean().nullish() }).nullish(),
    bounce: z.object({ type: z.string().nullish() }).nullish(),
  }),
  in_msg: message.nullable(),
});
const transactions = z.object({
  transactions: rows(z.looseObject({ account: z.string() }), PAGE_LIMIT),
});
export type TonTransaction = z.infer<typeof transaction>;

/** One row of an answer: what an account did, or why that cannot be read. */
export interface TransactionRow {
  /** Raw form with upper-case hex. */
  account: string;
  /** As the answer has it; null where it has none. */
  hash: string | null;
  transaction: TonTransaction | null;
  reason: string | null;
}

const accountStates = z.object({ accounts: rows(z.looseObject({ address: z.string() }), PAGE_LIMIT) });
const accountState = z.object({
  status: z.string().nullish(),
  last_transaction_lt: logicalTime.nullable(),
  last_transaction_hash: hash.nullable(),
  code_hash: z.string().nullish(),
});

/** What an account was as of the moment of the answer; null where its row cannot be read. */
export type AccountState = z.infer<typeof accountState>;

const getMethodResult = z.object({
  exit_code: z.int(),
  stack: rows(z.object({ type: z.string(), value: z.unknown() }), MOST_STACK),
});

const issueOf = ({ issues }: z.ZodError): string =>
  issues[0] ? `${issues[0].path.join('.') || 'answer'}: ${issues[0].message}` : 'unexpected answer';

function check<T>(schema: z.ZodType<T>, answer: unknown, path: string): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new ProviderError('bad_answer', `toncenter ${path}: ${issueOf(parsed.error)}`);
}

async function getLastBlock(rpc: Rpc) {
  const path = '/masterchainInfo';
  return check(masterchainInfo, await rpc.json(path), path).last;
}

/** The last masterchain block that the indexer knows, and the logical time at which it begins. */
export async function getTip(rpc: Rpc): Promise<{ tip: Tip; start_lt: bigint | null }> {
  const { seqno, gen_utime, start_lt } = await getLastBlock(rpc);
  return { tip: { height: seqno, hash: null, time: gen_utime }, start_lt: start_lt ?? null };
}

/** The main network by its global id; anything else, and a local network that borrowed the id, is a test network. */
export async function identifyNetwork(rpc: Rpc): Promise<Network> {
  const { seqno, gen_utime, global_id } = await getLastBlock(rpc);
  if (typeof global_id !== 'number') {
    throw new ProviderError(
      'bad_answer',
      'toncenter /masterchainInfo: no global_id, so the network is unknown',
    );
  }
  if (global_id !== MAINNET_GLOBAL_ID) return 'testnet';
  const young = gen_utime >= MAINNET_LANDMARK.time && seqno < MAINNET_LANDMARK.seqno;
  return young ? 'testnet' : 'mainnet';
}

export interface TransactionsQuery {
  /** Raw form, each. */
  account?: readonly string[];
  /** Base64, each. */
  hash?: readonly string[];
  /** Unix seconds and logical times; both ends are included. */
  start_utime?: number;
  end_utime?: number;
  start_lt?: bigint;
  end_lt?: bigint;
  sort: 'asc' | 'desc';
  limit?: number;
  offset?: number;
}

/** One page of transactions, by time where a time is asked for, else by logical time. */
export async function getTransactions(rpc: Rpc, query: TransactionsQuery): Promise<TransactionRow[]> {
  const path = '/transactions';
  const { start_lt, end_lt, limit = PAGE_LIMIT, ...rest } = query;
  const text = (lt: bigint | undefined) => lt?.toString();
  const parameters = { ...rest, start_lt: text(start_lt), end_lt: text(end_lt), limit };
  const listed = check(transactions, await rpc.json(path, { query: parameters }), path).transactions;
  const rowOf = (row: (typeof listed)[number]): TransactionRow => {
    const parsed = transaction.safeParse(row);
    const account = row.account.toUpperCase();
    const hash = typeof row.hash === 'string' ? row.hash : null;
    if (parsed.success) return { account, hash, transaction: parsed.data, reason: null };
    return { account, hash, transaction: null, reason: `toncenter ${path}: ${issueOf(parsed.error)}` };
  };
  return inTurns(rpc, mapInSteps(listed, rowOf));
}

/** Whether more rows may follow a page. */
export const isFull = (rows: readonly TransactionRow[]): boolean => rows.length >= PAGE_LEAST_CAP;

/**
 * States of accounts (raw form), all as of one moment: those without one are left out. Null where this indexer has no
 * such request at all.
 */
export async function getAccountStates(
  rpc: Rpc,
  accounts: readonly string[],
): Promise<Map<string, AccountState | null> | null> {
  const path = '/accountStates';
  let answer: unknown;
  try {
    answer = await rpc.json(path, { query: { address: accounts, include_boc: false } });
  } catch (error) {
    if (error instanceof ProviderError && (error.code === 404 || error.code === 405)) return null;
    throw error;
  }
  const found = new Map<string, AccountState | null>();
  for (const row of check(accountStates, answer, path).accounts) {
    const account = row.address.toUpperCase();
    const parsed = accountState.safeParse(row);
    const state = parsed.success ? parsed.data : null;
    const known = found.get(account);
    // Of two rows the newer one decides: more of it has to be read.
    const isOlder = known && state && (state.last_transaction_lt ?? 0n) < (known.last_transaction_lt ?? 0n);
    if (!isOlder && known !== null) found.set(account, state);
  }
  return found;
}

/** The indexer has no form for something that the contract returned, as for null: no method asked here returns such. */
const NOT_SHOWN = 501;
/** An exit code that contracts use where they have no such method. */
const NO_METHOD = 11;

/**
 * A get-method's result; `exit_code` is 0 where it ran, negative where the account has no code to run. What the indexer
 * cannot show is as if the contract had no such method: any stranger can deploy one.
 */
async function runGetMethod(
  rpc: Rpc,
  address: Address,
  method: string,
  argument?: Address,
): Promise<z.infer<typeof getMethodResult>> {
  const path = '/runGetMethod';
  const value = argument && beginCell().storeAddress(argument).endCell().toBoc().toString('base64');
  const stack = value === undefined ? [] : [{ type: 'slice', value }];
  const body = { address: address.toRawString(), method, stack };
  try {
    return check(getMethodResult, await rpc.json(path, { body }), path);
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== NOT_SHOWN) throw error;
    return { exit_code: NO_METHOD, stack: [] };
  }
}

/** The owner's wallet of a jetton, by the word of the jetton master; null where the master has no such method. */
export async function getJettonWallet(rpc: Rpc, master: Address, owner: Address): Promise<Address | null> {
  const { exit_code, stack } = await runGetMethod(rpc, master, 'get_wallet_address', owner);
  if (exit_code !== 0) return null;
  const wallet = readStackAddress(stack[0]);
  if (!wallet) throw new ProviderError('bad_answer', 'toncenter /runGetMethod: no address was answered');
  return wallet;
}

/** Whose wallet of which jetton a contract is by its own word: `none` if it is no such contract, `no_code` if it is not deployed. */
export type WalletData = { owner: Address; master: Address } | 'none' | 'no_code';

export async function getWalletData(rpc: Rpc, wallet: Address): Promise<WalletData> {
  const { exit_code, stack } = await runGetMethod(rpc, wallet, 'get_wallet_data');
  if (exit_code < 0) return 'no_code';
  const [balance, first, second, code] = stack;
  if (exit_code !== 0 || stack.length !== 4 || balance?.type !== 'num' || code?.type !== 'cell')
    return 'none';
  const [owner, master] = [readStackAddress(first), readStackAddress(second)];
  return owner && master ? { owner, master } : 'none';
}

/** Whether a contract answers as a jetton master does: supply, mintable, admin, content and the wallets' code. */
export async function isJettonMaster(rpc: Rpc, address: Address): Promise<boolean> {
  const { exit_code, stack } = await runGetMethod(rpc, address, 'get_jetton_data');
  const kinds = stack.map(({ type }) => (type === 'slice' ? 'cell' : type)).join(' ');
  return exit_code === 0 && kinds === 'num num cell cell cell';
}

function readStackAddress(entry: { type: string; value?: unknown } | undefined): Address | null {
  if (!entry || typeof entry.value !== 'string') return null;
  try {
    return cellIn(entry.value).beginParse().loadAddress();
  } catch {
    return null;
  }
}
