// What a reading proves of single accounts, and what it could not read of them.
import type { AccountProof, StoredProof } from '../family.ts';
import { type Accounts, type ReadAccount, refKey, type UnreadAccount } from './accounts.ts';
import type { Problem, Reading } from './reading.ts';
import { MISSING, NOT_THERE_YET } from './single.ts';
import { isReached, provedByReading, type Target } from './states.ts';

const UNDATED = 'the provider does not show as of when it answers';

/** What a reading was asked to prove, and what it has found out. */
export interface Proving {
  accounts: Accounts;
  /** Accounts with invoices about to end, or that somebody asks for; by `refKey`. */
  urgent: ReadonlySet<string>;
  /** Accounts with a trouble that is stored, by `refKey`. */
  behind: ReadonlyMap<string, StoredProof>;
  /** What the provider says of accounts; null where it has no such request. */
  targets: ReadonlyMap<string, Target> | null;
}

const refOf = ({ address_key, gateway: { chain } }: ReadAccount) => ({ address_key, chain });

export const storedOf = ({ behind }: Proving, read: ReadAccount): StoredProof | undefined =>
  behind.get(refKey(refOf(read)));

export const isUrgent = ({ urgent }: Proving, read: ReadAccount): boolean => urgent.has(refKey(refOf(read)));

const proofOf = (read: ReadAccount, proof: Pick<AccountProof, 'read_through' | 'trouble' | 'failed'>) => ({
  ...refOf(read),
  account: read.account,
  ...proof,
});

/** Why the account is not proved; null where nothing is wrong, `unknown` where this reading cannot tell. */
function troubleOf(reading: Reading, proving: Proving, read: ReadAccount): Problem | 'unknown' | null {
  const { account, doubt } = read;
  if (doubt) return { trouble: doubt, failed: true };
  const problem = reading.problems.get(account);
  if (problem) return problem;
  if (reading.broken.has(account)) return { trouble: MISSING, failed: false };
  if (proving.targets === null) return null;
  const target = proving.targets.get(account);
  if (!target) return 'unknown';
  if (!isReached(reading, read, target)) {
    const isFirstAbsence = target.state === 'absent' && read.history.last === null;
    return isFirstAbsence ? 'unknown' : { trouble: NOT_THERE_YET, failed: false };
  }
  return target.through === null && isUrgent(proving, read) ? { trouble: UNDATED, failed: false } : null;
}

/** The proof of an account after this reading; null where what is stored stays. */
export function proofAfter(reading: Reading, proving: Proving, read: ReadAccount): AccountProof | null {
  const stored = storedOf(proving, read);
  const trouble = troubleOf(reading, proving, read);
  if (trouble === 'unknown') return null;
  // Trying again what was left alone would only make the pause longer.
  if (trouble) return stored?.paused ? null : proofOf(read, { read_through: null, ...trouble });
  const through = proving.targets?.get(read.account)?.through ?? null;
  const read_through = proving.targets === null ? provedByReading(reading) : through;
  return proofOf(read, { read_through, trouble: null, failed: false });
}

/** The proof of an asset that is not read at all; null where it is stored already. */
export function proofOfUnread(proving: Proving, unread: UnreadAccount): AccountProof | null {
  const { failed, trouble } = unread;
  const stored = proving.behind.get(refKey(unread));
  if (stored?.paused || (stored?.trouble === trouble && !failed)) return null;
  if (!failed && !proving.urgent.has(refKey(unread))) return null;
  return { ...unread, read_through: null };
}
