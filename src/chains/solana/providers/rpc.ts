// The Solana JSON-RPC calls that reading needs, their answers checked.
import { base58 } from '@scure/base';
import * as z from 'zod';
import { type Network, ProviderError, type ProviderKind, type Rpc, type Tip } from '../../family.ts';
import type { HostLimits, LimitName } from '../../known-hosts.ts';
import { rows } from '../../rows.ts';
import { CLOCK_SYSVAR, MEMO_PROGRAMS } from '../address.ts';

export const solanaRpc: ProviderKind = { kind: 'solana', needs_url: false, key_header: 'x-api-key' };

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
/** The protocol's own limits. */
export const ACCOUNTS_PER_CALL = 100;
export const STATUSES_PER_CALL = 256;

/** The methods that take many at once. */
export const ACCOUNTS = 'getMultipleAccounts';
const STATUSES = 'getSignatureStatuses';
type Many = typeof ACCOUNTS | typeof STATUSES;
const limitOf: Readonly<Record<Many, LimitName>> = {
  [ACCOUNTS]: 'accounts',
  [STATUSES]: 'signature_statuses',
};

/** What a provider has shown of itself by its refusals. */
export interface Learnt {
  /** The newest version of transactions that it can be asked for. */
  version: number;
  /** By method: how many accounts or signatures it takes at once … */
  at_once: Map<Many, number>;
  /** … and what of that is stored over restarts. Absent where nothing is. */
  stored?: HostLimits | undefined;
}

/** Nothing so far, but for what was stored. */
export const nothingLearnt = (stored?: HostLimits): Learnt => ({
  version: NEWEST_VERSION,
  at_once: new Map(),
  stored,
});

/** What the calls need of a provider. */
export interface Caller extends Pick<Rpc, 'call'> {
  /** Absent where a single question is asked. */
  learnt?: Learnt;
}

/** The only commitment that is asked for: `confirmed` is documented for removal, and what is merely processed may vanish. */
const FINALIZED = { commitment: 'finalized' } as const;

/** The error of a node asked for a transaction newer than the version the caller named … */
const UNSUPPORTED_VERSION = -32015;
/** … whose message names the version that is needed; and of one that does not know the version at all. */
const NAMED_VERSION = /maxSupportedTransactionVersion\D{1,8}(\d{1,3})/;
const INVALID_PARAMS = -32602;
/** Since 2026-09-15 every second transaction is of version 1. */
const NEWEST_VERSION = 1;
/** The version that every node knows. */
const OLDEST_VERSION = 0;
/** Versions that one transaction is asked for in: the newest, and what the node says to that. */
const VERSION_TRIES = 3;
/** How a refusal of too much at once speaks … */
const TOO_MANY = /too many|limit|max|exceed|at most|up to/i;
/** … unlike one of too many requests … */
const TOO_OFTEN = /request|rate|second|minute/i;
/** … and of how much it takes. */
const NUMBERS = /\d+/g;
/** Refusals of what was asked: parameters that are not valid, and HTTP 413. */
const SIZE_CODES: ReadonlySet<number | null> = new Set([INVALID_PARAMS, 413]);
/** Where it does not say: one part in so many is tried next. */
const SHRINK = 2;
/** Of a node, or one replica of several behind a name, that has not reached the slot that an answer must be of. */
const BEHIND = -32016;
/**
 * Errors that say something of the node and nothing of the account or transaction that was asked for: not healthy,
 * no history at all, behind, no such method.
 */
const NODE_ERRORS: ReadonlySet<number | null> = new Set([-32005, -32011, BEHIND, -32601]);

/** More than any list that a node gives at once has. */
const MOST_ROWS = 1_000;
const list = <T>(row: z.ZodType<T, unknown>) => rows(row, MOST_ROWS);

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
const accounts = z.object({ context: z.object({ slot }), value: list(account) });
const clock = z.object({
  data: z.object({ parsed: z.object({ info: z.object({ unixTimestamp: z.int().positive() }) }) }),
});
const signatures = list(
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
      preBalances: list(lamports),
      postBalances: list(lamports),
      preTokenBalances: list(tokenBalance).nullish(),
      postTokenBalances: list(tokenBalance).nullish(),
      innerInstructions: list(z.object({ index: z.int(), instructions: list(instruction) })).nullish(),
    }),
    transaction: z.object({
      message: z.object({
        accountKeys: list(z.object({ pubkey: key, signer: z.boolean(), writable: z.boolean() })),
        instructions: list(instruction),
        recentBlockhash: key,
      }),
    }),
  })
  .refine(isWhole, 'balances are missing or listed twice');
const statuses = z.object({
  context: z.object({ slot }),
  value: list(
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
/** Each is about a minute of the node's own counting. */
const counting = z.array(
  z.object({ numSlots: z.int().nonnegative(), samplePeriodSecs: z.int().nonnegative() }),
);
const PERFORMANCE_SAMPLES = 3;
const validity = z.object({ context: z.object({ slot }), value: z.boolean() });

/** Whether a text has the form of a transaction's name. */
export const isSignature = (text: string): boolean => signature.safeParse(text).success;

export type SolanaAccount = z.infer<typeof account>;
export type SignatureInfo = z.infer<typeof signatures>[number];
export type SolanaTransaction = z.infer<typeof transaction>;
export type SolanaInstruction = z.infer<typeof instruction>;
export type TokenBalance = z.infer<typeof tokenBalance>;
export interface StatusAt {
  slot: number;
  status: z.infer<typeof statuses>['value'][number];
}

/** The finalized tip, and the state of some more accounts as of it, in one request. */
export async function readTip(
  rpc: Caller,
  keys: readonly string[],
): Promise<{ tip: Tip; found: SolanaAccount[] }> {
  const { context, value } = check(
    accounts,
    await rpc.call(ACCOUNTS, [[CLOCK_SYSVAR, ...keys], { encoding: 'jsonParsed', ...FINALIZED }]),
    ACCOUNTS,
  );
  const { unixTimestamp } = check(clock, value[0], 'the clock').data.parsed.info;
  if (value.length !== keys.length + 1) throw badAnswer(`${ACCOUNTS}: accounts are missing`);
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
    await rpc.call(ACCOUNTS, [[...keys], { encoding: 'jsonParsed', ...FINALIZED, minContextSlot: minSlot }]),
    ACCOUNTS,
  );
  if (value.length !== keys.length) throw badAnswer(`${ACCOUNTS}: accounts are missing`);
  if (context.slot < minSlot) throw badAnswer(`the node is behind: slot ${context.slot} of ${minSlot}`);
  return { slot: context.slot, found: value };
}

/**
 * One page of an account's signatures, newest first, without those that no vote has confirmed yet, should a node list some.
 * `last`: the oldest one on the page, undefined where it is empty. A page shorter than asked is not always the last one.
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
        ...FINALIZED,
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
  const learnt = rpc.learnt ?? nothingLearnt();
  let version = learnt.version;
  for (let tries = 1; ; tries++) {
    try {
      const answer = await rpc.call('getTransaction', [
        signature,
        { encoding: 'jsonParsed', ...FINALIZED, maxSupportedTransactionVersion: version },
      ]);
      return answer === null ? null : check(transaction, answer, `transaction ${signature}`);
    } catch (error) {
      const other = otherVersion(error, version);
      if (other === version || tries === VERSION_TRIES) throw error;
      // A node that does not know a version will not know it for the next transaction either.
      if (other < version) learnt.version = other;
      version = other;
    }
  }
}

/** The version to ask for after this failure: the one that the node names, or the oldest. The same where it is another failure. */
function otherVersion(error: unknown, version: number): number {
  if (!(error instanceof ProviderError)) return version;
  if (error.code === UNSUPPORTED_VERSION) {
    const named = NAMED_VERSION.exec(error.message)?.[1];
    return named === undefined ? Math.max(version, NEWEST_VERSION) : Number(named);
  }
  return error.code === INVALID_PARAMS ? OLDEST_VERSION : version;
}

/** One transaction that is listed: not to be delivered is the same as unreadable. */
export async function readTransaction(rpc: Caller, signature: string): Promise<SolanaTransaction> {
  const found = await findTransaction(rpc, signature);
  if (!found) throw badAnswer(`transaction ${signature} is listed, but not delivered`);
  return found;
}

/** How many of `most` the provider takes at once, as far as it has shown. */
export const atOnce = ({ learnt }: Caller, method: Many, most: number): number =>
  Math.min(most, learnt?.at_once.get(method) ?? learnt?.stored?.get(limitOf[method]) ?? most);

/**
 * Whether a provider refused so many at once because they are too many, which is recorded: as the number that the refusal
 * names, else as half of what was asked.
 */
export function learnLimit(
  { learnt }: Caller,
  error: unknown,
  { method, count }: { method: Many; count: number },
): error is ProviderError {
  if (!(error instanceof ProviderError) || count <= 1) return false;
  const text = error.message.replaceAll(method, '');
  const is_size = TOO_MANY.test(text) && !TOO_OFTEN.test(text);
  if (!isRefusal(error) || !(is_size || SIZE_CODES.has(error.code))) return false;
  const named = (text.match(NUMBERS) ?? []).map(Number).filter((each) => each >= 1 && each < count);
  const is_named = is_size && named.length > 0;
  const takes = is_named ? Math.max(...named) : Math.ceil(count / SHRINK);
  learnt?.at_once.set(method, takes);
  // What says nothing of a number may have been for something else: it is tried again after a restart.
  if (is_size) learnt?.stored?.learn(limitOf[method], takes);
  return true;
}

/** What the provider answered, and not that it is away, asked too often, or unable to answer at all. */
const isRefusal = ({ kind, code }: ProviderError): boolean =>
  (kind === 'rpc' && !NODE_ERRORS.has(code)) || kind === 'bad_answer';

/**
 * The status of each, in the order asked, with the newest slot that the node had for it, finalized or not. Asked for in as
 * many requests as the provider takes them in.
 */
export async function readStatuses(rpc: Caller, keys: readonly string[]): Promise<StatusAt[]> {
  const asker: Caller = { learnt: nothingLearnt(), ...rpc };
  const found: StatusAt[] = [];
  while (found.length < keys.length) {
    const count = atOnce(asker, STATUSES, STATUSES_PER_CALL);
    const some = keys.slice(found.length, found.length + count);
    try {
      const params = [some, { searchTransactionHistory: true }];
      const { context, value } = check(statuses, await rpc.call(STATUSES, params), STATUSES);
      if (value.length !== some.length) throw badAnswer(`${STATUSES}: statuses are missing`);
      found.push(...value.map((status) => ({ slot: context.slot, status })));
    } catch (error) {
      if (!learnLimit(asker, error, { method: STATUSES, count: some.length })) throw error;
    }
  }
  return found;
}

/** The newest slot that the node has, whether or not it is final: no commitment decides what statuses are answered from. */
export async function readNewestSlot(rpc: Caller): Promise<number> {
  return check(statuses, await rpc.call(STATUSES, [[]]), STATUSES).context.slot;
}

/** Whether a transaction of this blockhash can still be included, by the newest finalized block, and the slot of that. */
export async function readBlockhashValid(
  rpc: Caller,
  blockhash: string,
): Promise<{ slot: number; is_valid: boolean }> {
  const params = [blockhash, FINALIZED];
  const { context, value } = check(validity, await rpc.call('isBlockhashValid', params), 'isBlockhashValid');
  return { slot: context.slot, is_valid: value };
}

/** A blockhash that a transaction made now can name. */
export async function readLatestBlockhash(rpc: Caller): Promise<string> {
  const answer = await rpc.call('getLatestBlockhash', [FINALIZED]);
  return check(latest, answer, 'getLatestBlockhash').value.blockhash;
}

/** How long a slot takes by what the node counted over the last minutes. */
export async function readSlotSeconds(rpc: Caller): Promise<number> {
  const method = 'getRecentPerformanceSamples';
  const counted = check(counting, await rpc.call(method, [PERFORMANCE_SAMPLES]), method);
  const slots = counted.reduce((sum, { numSlots }) => sum + numSlots, 0);
  const seconds = counted.reduce((sum, { samplePeriodSecs }) => sum + samplePeriodSecs, 0);
  if (slots === 0 || seconds === 0) throw badAnswer(`${method}: nothing was counted`);
  return seconds / slots;
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

/** Whether who answered is behind: the next request may be another replica's. */
export const isBehind = (error: unknown): boolean => error instanceof ProviderError && error.code === BEHIND;

function check<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw badAnswer(`${what}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'unreadable'}`);
}
