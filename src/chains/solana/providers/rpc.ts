// The Solana JSON-RPC calls that reading needs, their answers checked.
import { base58 } from '@scure/base';
import * as z from 'zod';
import { type Network, ProviderError, type ProviderKind, type Rpc, type Tip } from '../../family.ts';
import { CLOCK_SYSVAR, MEMO_PROGRAMS } from '../address.ts';

export const solanaRpc: ProviderKind = { kind: 'solana', needs_url: false, key_header: 'x-api-key' };

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
/** The protocol's own limits. */
export const ACCOUNTS_PER_CALL = 100;
export const STATUSES_PER_CALL = 256;

/** What the calls need of a provider. */
export type Caller = Pick<Rpc, 'call'>;

/** The error of a node asked for a transaction newer than the version the caller named. */
const UNSUPPORTED_VERSION = -32015;
/** Version 0 is all there is on most nodes; a later one is asked for only when a node says that it met one. */
const TRANSACTION_VERSIONS = [0, 1] as const;
/**
 * Errors that say something of the node and nothing of the account or transaction that was asked for: not healthy,
 * no history at all, no such method.
 */
const NODE_ERRORS: ReadonlySet<number | null> = new Set([-32005, -32011, -32601]);

/** A public key or a blockhash; nothing else may get into a row or a message. */
const key = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);
const signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
const slot = z.int().nonnegative();
/** Whole, but beyond 2^53 not exact. */
const lamports = z.number().nonnegative().refine(Number.isInteger, 'not a whole number');
/** Null where the transaction succeeded; a failure has a name, or names one instruction's. */
const failure = z.union([
  z.null(),
  z.string().regex(/^[A-Za-z]+$/),
  z.record(z.string(), z.unknown()).refine((named) => Object.keys(named).length === 1, 'not an error'),
]);
const account = z.object({ owner: key, lamports: z.number(), data: z.unknown() }).nullable();
const accounts = z.object({ context: z.object({ slot }), value: z.array(account) });
const clock = z.object({
  data: z.object({ parsed: z.object({ info: z.object({ unixTimestamp: z.int().positive() }) }) }),
});
const signatures = z.array(
  z.object({
    signature,
    slot,
    err: failure,
    blockTime: z.int().positive().nullish(),
    confirmationStatus: z.string().nullish(),
  }),
);
const instruction = z
  .object({ programId: key, parsed: z.unknown().optional(), data: z.string().optional() })
  .refine(isReadable, 'an instruction without its data');
const tokenBalance = z.object({
  accountIndex: z.int(),
  mint: key,
  owner: key.optional(),
  programId: key.optional(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d{1,20}$/) }),
});
const transaction = z
  .object({
    slot,
    blockTime: z.int().positive().nullish(),
    meta: z.object({
      err: failure,
      preBalances: z.array(lamports),
      postBalances: z.array(lamports),
      preTokenBalances: z.array(tokenBalance).nullish(),
      postTokenBalances: z.array(tokenBalance).nullish(),
      innerInstructions: z.array(z.object({ index: z.int(), instructions: z.array(instruction) })).nullish(),
    }),
    transaction: z.object({
      message: z.object({
        accountKeys: z.array(z.object({ pubkey: key, signer: z.boolean(), writable: z.boolean() })),
        instructions: z.array(instruction),
        recentBlockhash: key,
      }),
    }),
  })
  .refine(isWhole, 'balances are missing or listed twice');
const statuses = z.object({
  context: z.object({ slot }),
  value: z.array(
    z
      .object({
        slot,
        confirmations: z.int().nullable(),
        err: failure,
        confirmationStatus: z.string().nullish(),
      })
      .nullable(),
  ),
});

const BLOCKHASH_BYTES = 32;
/** It gets into what a payer signs, where any other length would move all that follows it. */
const blockhash = key.refine((text) => base58.decode(text).length === BLOCKHASH_BYTES, 'not 32 bytes');
const latest = z.object({ value: z.object({ blockhash }) });
const validity = z.object({ context: z.object({ slot }), value: z.boolean() });

/** Whether a text has the form of a transaction's name. */
export const isSignature = (text: string): boolean => signature.safeParse(text).success;

export type SolanaAccount = z.infer<typeof account>;
export type SignatureInfo = z.infer<typeof signatures>[number];
export type SolanaTransaction = z.infer<typeof transaction>;
export type SolanaInstruction = z.infer<typeof instruction>;
export type TokenBalance = z.infer<typeof tokenBalance>;
export type SignatureStatuses = z.infer<typeof statuses>;

/**
 * The finalized tip, and the finalized state of some more accounts, in one request. Finalized, because every
 * node behind a load balancer has reached that slot, where the newest confirmed slot is often ahead of some.
 */
export async function readTip(
  rpc: Caller,
  keys: readonly string[],
): Promise<{ tip: Tip; found: SolanaAccount[] }> {
  const { context, value } = check(
    accounts,
    await rpc.call('getMultipleAccounts', [
      [CLOCK_SYSVAR, ...keys],
      { encoding: 'jsonParsed', commitment: 'finalized' },
    ]),
    'getMultipleAccounts',
  );
  const { unixTimestamp } = check(clock, value[0], 'the clock').data.parsed.info;
  if (value.length !== keys.length + 1) throw badAnswer('getMultipleAccounts: accounts are missing');
  return { tip: { height: context.slot, hash: null, time: unixTimestamp }, found: value.slice(1) };
}

/** At most ACCOUNTS_PER_CALL accounts as of `minSlot` or later, in the order asked; null where there is none. */
export async function readAccounts(
  rpc: Caller,
  keys: readonly string[],
  minSlot: number,
): Promise<{ slot: number; found: SolanaAccount[] }> {
  const { context, value } = check(
    accounts,
    await rpc.call('getMultipleAccounts', [
      [...keys],
      { encoding: 'jsonParsed', commitment: 'confirmed', minContextSlot: minSlot },
    ]),
    'getMultipleAccounts',
  );
  if (value.length !== keys.length) throw badAnswer('getMultipleAccounts: accounts are missing');
  if (context.slot < minSlot) throw badAnswer(`the node is behind: slot ${context.slot} of ${minSlot}`);
  return { slot: context.slot, found: value };
}

/**
 * One page of an account's signatures, newest first, without those that are not confirmed yet. `last`: the oldest one on
 * the page, undefined where it is empty. A page shorter than asked is not always the last one.
 */
export async function readSignatures(
  rpc: Caller,
  key: string,
  page: { limit: number; minSlot: number; before?: string | undefined; until?: string | undefined },
): Promise<{ entries: SignatureInfo[]; last: SignatureInfo | undefined; is_full: boolean }> {
  const listed = check(
    signatures,
    await rpc.call('getSignaturesForAddress', [
      key,
      {
        limit: page.limit,
        commitment: 'confirmed',
        minContextSlot: page.minSlot,
        ...(page.before ? { before: page.before } : {}),
        ...(page.until ? { until: page.until } : {}),
      },
    ]),
    'getSignaturesForAddress',
  );
  return {
    entries: listed.filter((entry) => entry.confirmationStatus !== 'processed'),
    last: listed.at(-1),
    is_full: listed.length >= page.limit,
  };
}

/** One transaction; null where the node has no such transaction, or has not got it yet. */
export async function findTransaction(rpc: Caller, signature: string): Promise<SolanaTransaction | null> {
  let failure: unknown;
  for (const maxSupportedTransactionVersion of TRANSACTION_VERSIONS) {
    try {
      const answer = await rpc.call('getTransaction', [
        signature,
        { encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion },
      ]);
      return answer === null ? null : check(transaction, answer, `transaction ${signature}`);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.code !== UNSUPPORTED_VERSION) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** One transaction that is listed: not to be delivered is the same as unreadable. */
export async function readTransaction(rpc: Caller, signature: string): Promise<SolanaTransaction> {
  const found = await findTransaction(rpc, signature);
  if (!found) throw badAnswer(`transaction ${signature} is listed, but not delivered`);
  return found;
}

/** At most STATUSES_PER_CALL statuses, in the order asked. */
export async function readStatuses(rpc: Caller, keys: readonly string[]): Promise<SignatureStatuses> {
  const params = [[...keys], { searchTransactionHistory: true }];
  const answer = check(statuses, await rpc.call('getSignatureStatuses', params), 'getSignatureStatuses');
  if (answer.value.length !== keys.length) throw badAnswer('getSignatureStatuses: statuses are missing');
  return answer;
}

/** Whether a transaction of this blockhash can still be included, by the newest finalized block, and the slot of that. */
export async function readBlockhashValid(
  rpc: Caller,
  blockhash: string,
): Promise<{ slot: number; is_valid: boolean }> {
  const params = [blockhash, { commitment: 'finalized' }];
  const { context, value } = check(validity, await rpc.call('isBlockhashValid', params), 'isBlockhashValid');
  return { slot: context.slot, is_valid: value };
}

/** A blockhash that a transaction made now can name: it can be included for a minute or so. */
export async function readLatestBlockhash(rpc: Caller): Promise<string> {
  const answer = await rpc.call('getLatestBlockhash', [{ commitment: 'confirmed' }]);
  return check(latest, answer, 'getLatestBlockhash').value.blockhash;
}

/** The oldest slot whose transactions the node still has. */
export async function readFirstSlot(rpc: Caller): Promise<number> {
  return check(slot, await rpc.call('getFirstAvailableBlock', []), 'getFirstAvailableBlock');
}

export async function identifyNetwork(rpc: Caller): Promise<Network> {
  const genesis = check(key, await rpc.call('getGenesisHash', []), 'getGenesisHash');
  return genesis === MAINNET_GENESIS ? 'mainnet' : 'testnet';
}

/** A memo is its text or its bytes, anything else is parsed or bytes. */
function isReadable({ programId, parsed, data }: { programId: string; parsed?: unknown; data?: string }) {
  if (data !== undefined) return true;
  return MEMO_PROGRAMS.includes(programId)
    ? typeof parsed === 'string'
    : isRecord(parsed) || typeof parsed === 'string';
}

interface Balances {
  meta: {
    preBalances: unknown[];
    postBalances: unknown[];
    preTokenBalances?: z.infer<typeof tokenBalance>[] | null | undefined;
    postTokenBalances?: z.infer<typeof tokenBalance>[] | null | undefined;
  };
  transaction: { message: { accountKeys: unknown[] } };
}

/** Amounts are differences of balances: one that is left out, or there twice, would be money that no one sent. */
function isWhole({ meta, transaction }: Balances): boolean {
  const { length } = transaction.message.accountKeys;
  const { preTokenBalances: before, postTokenBalances: after } = meta;
  return (
    meta.preBalances.length === length &&
    meta.postBalances.length === length &&
    before !== undefined &&
    after !== undefined &&
    [before ?? [], after ?? []].every(
      (listed) =>
        new Set(listed.map(({ accountIndex }) => accountIndex)).size === listed.length &&
        listed.every(({ owner, programId, accountIndex }) => owner && programId && accountIndex < length),
    )
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An answer that arrived whole and makes no sense: asking the same provider about another account may well do. */
export class UnusableAnswer extends ProviderError {
  override name = 'UnusableAnswer';
}

export const badAnswer = (message: string) => new UnusableAnswer('bad_answer', message);

/** Whether a failure is about the one account or transaction that was asked for, and not about the provider. */
export const isOfOneAccount = (error: unknown): error is ProviderError =>
  error instanceof UnusableAnswer ||
  (error instanceof ProviderError && error.kind === 'rpc' && !NODE_ERRORS.has(error.code));

function check<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw badAnswer(`${what}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'unreadable'}`);
}
