// What is held against the contracts now and then: whether wallets are wallets, and jetton wallets those of their owners.
import { isOfQuestion } from '../or-failed.ts';
import { COIN, type ReadAccount, refKey } from './accounts.ts';
import type { History } from './history.ts';
import { inspectAddress, verifyJettonWallet } from './inspect.ts';
import type { Proving } from './proofs.ts';
import { type Reading, spend } from './reading.ts';
import type { Target } from './states.ts';

/** Jetton wallets, and addresses that were refused, are asked about again after this long. */
const AGAIN_SECONDS = 86_400;

/** Requests of one question about a contract, as a rule. */
const REQUESTS_EACH = 2;

/**
 * Asks about the contracts of accounts whose turn it is, and of those in doubt, with at most half of the requests that
 * are left; the rest wait for their next turn. Throws ProviderError where the provider is away.
 */
export async function keepUp(
  reading: Reading,
  proving: Proving,
  turn: readonly ReadAccount[],
): Promise<void> {
  const { accounts, unread, doubted } = proving.accounts;
  // At least one question, or none would ever be asked.
  const until = Math.max(0, Math.min(Math.ceil(reading.spare / 2), reading.spare - REQUESTS_EACH));
  const mayAsk = (): boolean => reading.spare - REQUESTS_EACH >= until && spend(reading) && spend(reading);
  const verify = (wallet: Named, isDeployed: boolean) =>
    orLater(verifyWallet(reading, proving, wallet, isDeployed));
  const inspect = (key: string, code: string) => orLater(inspectWallet(reading, key, code));
  for (const wallet of doubted)
    if (!proving.behind.get(refKey(wallet))?.paused && mayAsk()) await verify(wallet, false);
  const watched = new Set([...accounts, ...unread].map(({ address_key }) => address_key));
  for (const read of accounts) {
    // Whose account somebody else has set as his wallet.
    const isNamedTwice = read.asset !== COIN && watched.has(read.account);
    if (isNamedTwice && verifiedAt(reading, read) === null && mayAsk()) await verify(read, false);
  }
  for (const key of new Set(unread.map(({ address_key }) => address_key))) {
    const known = reading.markers.inspection(key);
    if (known?.refused && isOver(reading, known.at) && mayAsk()) await inspect(key, known.code);
  }
  for (const read of turn) {
    const state = stateOf(proving.targets?.get(read.account));
    if (read.asset !== COIN) {
      if (isOver(reading, verifiedAt(reading, read)) && mayAsk())
        await verify(read, state?.status === 'active');
      continue;
    }
    const code = state?.code_hash;
    if (code && reading.markers.inspection(read.address_key)?.code !== code && mayAsk())
      await inspect(read.address_key, code);
  }
}

const isOver = ({ context }: Reading, asked_at: number | null): boolean =>
  asked_at === null || context.now() - asked_at >= AGAIN_SECONDS;

const verifiedAt = ({ markers }: Reading, { address_key, asset }: ReadAccount): number | null =>
  markers.asset(address_key, asset)?.verified_at ?? null;

const stateOf = (target: Target | undefined) => (typeof target?.state === 'object' ? target.state : null);

/** What one contract cannot be asked, it is asked in its next turn: who made it keeps no other from theirs. */
async function orLater(answer: Promise<void>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!isOfQuestion(error)) throw error;
  }
}

type Named = Pick<ReadAccount, 'address_key' | 'asset' | 'account'>;

async function verifyWallet(
  { context, markers }: Reading,
  { accounts: { accounts } }: Proving,
  { address_key: owner, asset: master, account }: Named,
  isDeployed: boolean,
): Promise<void> {
  const verdict = await verifyJettonWallet(context.rpc, { account, owner, master }, isDeployed);
  const { doubt, replaced_by } = verdict;
  const read = accounts.find((each) => each.address_key === owner && each.asset === master);
  const verified_at = context.now();
  if (read) read.doubt = doubt;
  if (replaced_by === null) return markers.setAsset(owner, master, { account, verified_at, doubt });
  // The other one is read from the beginning, by the next reading.
  const from_start = { account: replaced_by, since: null, history: null, doubt: null };
  markers.setAsset(owner, master, { ...from_start, verified_at });
  if (read) Object.assign(read, { account: replaced_by, read_since: null, history: beginningAt(read.since) });
}

const beginningAt = (since: number): History => ({ since, last: null, front: null });

async function inspectWallet(
  { context, markers }: Reading,
  address_key: string,
  code: string,
): Promise<void> {
  const refused = await inspectAddress(context.rpc, address_key);
  markers.setInspection(address_key, { code, refused, at: context.now() });
}
