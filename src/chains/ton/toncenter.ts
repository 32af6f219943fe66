// The toncenter v3 requests that reading needs, each with the shape that is relied on.
import { type Address, beginCell, Cell } from '@ton/core';
import { z } from 'zod';
import { type Network, ProviderError, type Rpc, type Tip } from '../chain.ts';

/** The most rows toncenter gives at once. */
const PAGE_LIMIT = 1000;
/** Providers may cap pages lower than asked; a page with fewer rows than this is the last one under any cap known. */
const PAGE_LEAST_CAP = 100;
/** Pages of one time window and batch of accounts; more means a provider that ignores the offset. */
const PAGES_LIMIT = 1000;

const MAINNET_GLOBAL_ID = -239;
/** A block of the main network. Local networks are often made with its id too, but are younger and shorter. */
const MAINNET_LANDMARK = { seqno: 43_264_868, time: 1_735_057_940 };

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
const masterchainInfo = z.object({
  last: z.object({ seqno, gen_utime: unixSeconds, global_id: z.int().nullish() }),
});

/** What decides whether money came is always told, null where there is none: an answer without it is no empty one. */
const message = z.object({
  source: z.string().nullable(),
  value: z.string().regex(/^\d+$/).nullable(),
  bounced: z.boolean().nullable(),
  message_content: z.object({ body: z.string().nullish() }).nullable(),
});
const transaction = z.object({
  account: z.string(),
  hash: z.base64().length(44),
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
const transactions = z.object({ transactions: z.array(transaction) });
export type TonTransaction = z.infer<typeof transaction>;

const getMethodResult = z.object({
  exit_code: z.int(),
  stack: z.array(z.object({ type: z.string(), value: z.unknown() })),
});

function check<T>(schema: z.ZodType<T>, answer: unknown, path: string): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue ? `${issue.path.join('.') || 'answer'}: ${issue.message}` : 'unexpected answer';
  throw new ProviderError('bad_answer', `toncenter ${path}: ${where}`);
}

async function getLastBlock(rpc: Rpc) {
  const path = '/masterchainInfo';
  return check(masterchainInfo, await rpc.json(path), path).last;
}

/** The last masterchain block that the indexer knows. */
export async function getTip(rpc: Rpc): Promise<Tip> {
  const { seqno, gen_utime } = await getLastBlock(rpc);
  return { height: seqno, hash: null, time: gen_utime };
}

/** The main network by its global id; anything else, and a local network that borrowed the id, is a test network. */
export async function identifyNetwork(rpc: Rpc): Promise<Network> {
  const { seqno, gen_utime, global_id } = await getLastBlock(rpc);
  if (typeof global_id !== 'number') {
    throw new ProviderError(
      'bad_answer',
      'toncenter /masterchainInfo: no global_id, the network cannot be told',
    );
  }
  if (global_id !== MAINNET_GLOBAL_ID) return 'testnet';
  const young = gen_utime >= MAINNET_LANDMARK.time && seqno < MAINNET_LANDMARK.seqno;
  return young ? 'testnet' : 'mainnet';
}

/** Transactions of the accounts (raw form) in the window, both ends included, oldest first, page by page. */
export async function* getTransactions(
  rpc: Rpc,
  accounts: readonly string[],
  from: number,
  to: number | undefined,
): AsyncGenerator<TonTransaction[]> {
  const path = '/transactions';
  let offset = 0;
  let first: string | undefined;
  for (let page = 0; page < PAGES_LIMIT; page++) {
    const query = {
      account: accounts,
      start_utime: from,
      end_utime: to,
      sort: 'asc',
      limit: PAGE_LIMIT,
      offset,
    };
    const rows = check(transactions, await rpc.json(path, { query }), path).transactions;
    if (first !== undefined && rows[0]?.hash === first)
      throw new ProviderError('bad_answer', `toncenter ${path}: gives the same page again`);
    first = rows[0]?.hash;
    yield rows;
    if (rows.length < PAGE_LEAST_CAP) return;
    offset += rows.length;
  }
  throw new ProviderError('bad_answer', `toncenter ${path}: more than ${PAGES_LIMIT} pages`);
}

/** The owner's wallet of a jetton, by the word of the jetton master; null where the master has no such method. */
export async function getJettonWallet(rpc: Rpc, master: Address, owner: Address): Promise<Address | null> {
  const path = '/runGetMethod';
  const value = beginCell().storeAddress(owner).endCell().toBoc().toString('base64');
  const stack = [{ type: 'slice', value }];
  const body = { address: master.toRawString(), method: 'get_wallet_address', stack };
  const answer = check(getMethodResult, await rpc.json(path, { body }), path);
  if (answer.exit_code !== 0) return null;
  const wallet = readStackAddress(answer.stack[0]?.value);
  if (!wallet) throw new ProviderError('bad_answer', `toncenter ${path}: no address was answered`);
  return wallet;
}

function readStackAddress(value: unknown): Address | null {
  if (typeof value !== 'string') return null;
  try {
    return Cell.fromBase64(value).beginParse().loadAddress();
  } catch {
    return null;
  }
}
