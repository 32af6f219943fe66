// One pass over the watched Solana accounts: a balance that changed, or a turn in the sweep, makes it read.
import {
  type Page,
  ProviderError,
  type ReadContext,
  type ReadRequest,
  type WatchedAddress,
} from '../chain.ts';
import { refuseFuture } from '../future.ts';
import { type Pass, readAccount, type SolanaLimits, type WatchedAccount } from './account.ts';
import { associatedTokenAccount, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './address.ts';
import { parseCursor } from './cursor.ts';
import { ACCOUNTS_PER_CALL, badAnswer, readAccounts, readTip, type SolanaAccount } from './rpc.ts';
import type { Asset } from './transfers.ts';

/** Kept in the context's cache. */
interface Memory {
  /** The token program of each mint. */
  programs: Map<string, string>;
  /** Token account by `owner:mint`. */
  token_accounts: Map<string, string>;
  tick: number;
  /** The tick in which an account was listed last. */
  swept: Map<string, number>;
}

/**
 * Reads every watched account that may have received something. Costs one request for the tip and one per
 * hundred accounts; only accounts whose balance changed, or whose turn it is to be swept, cost more. A payment
 * that came and left between two passes shows in the sweep. One unreadable account does not keep the others from
 * being read, but then no tip is reported.
 */
export async function* readSolana(
  context: ReadContext,
  request: ReadRequest,
  limits: SolanaLimits,
): AsyncGenerator<Page> {
  const memory = memoryOf(context);
  memory.tick++;
  const { tip, assets } = await readTipAndAssets(context, memory);
  refuseFuture('the finalized slot', tip.time, context.now());
  const accounts = accountsOf(await request.addresses(), assets, memory);
  const due = dueForSweep(accounts, memory, limits);
  const pass: Pass = { context, limits, tip, assets, transactions: new Map() };
  let read_through = tip.time;
  let failure: ProviderError | undefined;
  for (let start = 0; start < accounts.length; start += ACCOUNTS_PER_CALL) {
    const batch = accounts.slice(start, start + ACCOUNTS_PER_CALL);
    const keys = batch.map((account) => account.key);
    const { slot, found } = await readAccounts(context.rpc, keys, tip.height);
    const cursors = await request.accounts(keys);
    for (const [position, account] of batch.entries()) {
      const state = found[position] ?? null;
      const cursor = parseCursor(cursors.get(account.key));
      try {
        const amount = account.mint === null ? String(state?.lamports ?? 0) : tokenAmount(state, account.key);
        // An account that was never read and does not exist yet waits for its turn in the sweep.
        const isQuiet = cursor ? cursor.amount === amount : state === null;
        if (isQuiet && !due.has(account.key)) continue;
        const through = yield* readAccount(pass, account, cursor, { amount, slot });
        read_through = Math.min(read_through, through);
        memory.swept.set(account.key, memory.tick);
      } catch (error) {
        if (!isOfOneAccount(error)) throw error;
        failure ??= error;
      }
    }
  }
  if (failure) throw failure;
  yield { transfers: [], tip, read_through };
}

/** Whether asking the same provider about another account makes sense. */
const isOfOneAccount = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.kind === 'bad_answer' || error.kind === 'rpc');

function memoryOf({ cache }: ReadContext): Memory {
  const kept = cache.get('memory') as Memory | undefined;
  const memory = kept ?? { programs: new Map(), token_accounts: new Map(), tick: 0, swept: new Map() };
  cache.set('memory', memory);
  return memory;
}

/** The tip, and in the same request the mints not met yet. A mint that does not exist cannot be paid in. */
async function readTipAndAssets({ rpc, gateways }: ReadContext, { programs }: Memory) {
  const unknown = gateways.filter(
    ({ token_contract }) => token_contract !== null && !programs.has(token_contract),
  );
  const mints = unknown.map((gateway) => gateway.token_contract ?? '');
  const { tip, found } = await readTip(rpc, mints);
  for (const [position, gateway] of unknown.entries()) {
    const mint = found[position];
    if (mint) programs.set(gateway.token_contract ?? '', tokenProgramOf(mint, gateway));
  }
  const assets = gateways.flatMap((gateway): Asset[] => {
    const mint = gateway.token_contract;
    const program = mint === null ? SYSTEM_PROGRAM : programs.get(mint);
    return program ? [{ gateway, mint, program }] : [];
  });
  return { tip, assets };
}

function tokenProgramOf(
  mint: SolanaAccount & object,
  { chain, decimals, token_contract }: Asset['gateway'],
): string {
  const parsed = parsedOf(mint);
  if (!isTokenProgram(mint.owner) || parsed?.type !== 'mint')
    throw badAnswer(`${chain}: ${token_contract} is not a mint`);
  if (parsed.info?.decimals !== decimals) {
    throw badAnswer(
      `${chain}: the mint has ${JSON.stringify(parsed.info?.decimals)} decimals, the gateway ${decimals}`,
    );
  }
  return mint.owner;
}

interface Parsed {
  type?: string;
  info?: { decimals?: number; tokenAmount?: { amount?: string } };
}

const parsedOf = (account: SolanaAccount) => (account?.data as { parsed?: Parsed } | undefined)?.parsed;

/** What a token account holds; nothing where it does not exist or is not one. Throws where one is not told. */
function tokenAmount(account: SolanaAccount, key: string): string {
  if (!account || !isTokenProgram(account.owner)) return '0';
  const amount = parsedOf(account)?.info?.tokenAmount?.amount;
  if (typeof amount !== 'string') throw badAnswer(`what the token account ${key} holds is not told`);
  return amount;
}

const isTokenProgram = (owner: string) => owner === TOKEN_PROGRAM || owner === TOKEN_2022_PROGRAM;

function accountsOf(
  addresses: readonly WatchedAddress[],
  assets: readonly Asset[],
  { token_accounts }: Memory,
): WatchedAccount[] {
  return addresses.flatMap((owner) =>
    assets.map(({ mint, program }): WatchedAccount => {
      if (mint === null) return { key: owner.key, owner, mint };
      const id = `${owner.key}:${mint}`;
      const key = token_accounts.get(id) ?? associatedTokenAccount(owner.key, program, mint);
      token_accounts.set(id, key);
      return { key, owner, mint };
    }),
  );
}

/** The accounts longest not listed, those of before this process first. */
function dueForSweep(accounts: readonly WatchedAccount[], memory: Memory, limits: SolanaLimits): Set<string> {
  const last = new Map(accounts.map(({ key }) => [key, memory.swept.get(key) ?? Number.NEGATIVE_INFINITY]));
  const due = [...last].filter(([, tick]) => memory.tick - tick >= limits.sweep_ticks);
  for (const key of memory.swept.keys()) if (!last.has(key)) memory.swept.delete(key);
  due.sort(([, a], [, b]) => (a === b ? 0 : a - b));
  return new Set(due.slice(0, limits.sweeps_per_tick).map(([key]) => key));
}
