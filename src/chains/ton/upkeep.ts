// What is held against the contracts now and then: whether wallets are wallets, and jetton wallets those of their owners.
import { COIN, type ReadAccount } from './accounts.ts';
import { inspectAddress, verifyJettonWallet } from './inspect.ts';
import { type Proving, storedOf } from './proofs.ts';
import { type Reading, spend } from './reading.ts';
import type { Target } from './states.ts';

/** Jetton wallets, and addresses that were refused, are asked about again after this long. */
const AGAIN_SECONDS = 86_400;

/** Requests of one question about a contract, as a rule. */
const REQUESTS_EACH = 2;

/**
 * Asks about the contracts of accounts whose turn it is, and of those in doubt, with at most half of the requests that
 * are left; the rest wait for their next turn. Throws ProviderError.
 */
export async function keepUp(
  reading: Reading,
  proving: Proving,
  turn: readonly ReadAccount[],
): Promise<void> {
  const { accounts, unread } = proving.accounts;
  const until = Math.ceil(reading.spare / 2);
  const mayAsk = (): boolean => reading.spare - REQUESTS_EACH >= until && spend(reading) && spend(reading);
  const watched = new Set([...accounts, ...unread].map(({ address_key }) => address_key));
  for (const read of accounts) {
    const isNamedTwice = read.account !== read.address_key && watched.has(read.account);
    const isDoubted = read.doubt !== null && !storedOf(proving, read)?.paused;
    const isDue = isDoubted || (isNamedTwice && verifiedAt(reading, read) === null);
    if (isDue && mayAsk()) await verify(reading, read, undefined);
  }
  for (const key of new Set(unread.map(({ address_key }) => address_key))) {
    const known = reading.markers.inspection(key);
    if (known?.refused && isOver(reading, known.at) && mayAsk()) await inspect(reading, key, known.code);
  }
  for (const read of turn) {
    const target = proving.targets?.get(read.account);
    const code = stateOf(target)?.code_hash;
    if (read.asset !== COIN) {
      if (isOver(reading, verifiedAt(reading, read)) && mayAsk()) await verify(reading, read, target);
    } else if (code && reading.markers.inspection(read.address_key)?.code !== code && mayAsk())
      await inspect(reading, read.address_key, code);
  }
}

const isOver = ({ context }: Reading, asked_at: number | null): boolean =>
  asked_at === null || context.now() - asked_at >= AGAIN_SECONDS;

const verifiedAt = ({ markers }: Reading, { address_key, asset }: ReadAccount): number | null =>
  markers.asset(address_key, asset)?.verified_at ?? null;

const stateOf = (target: Target | undefined) => (typeof target?.state === 'object' ? target.state : null);

async function verify({ context, markers }: Reading, read: ReadAccount, target: Target | undefined) {
  const { account, address_key: owner, asset: master } = read;
  const isDeployed = stateOf(target)?.status === 'active';
  const doubt = await verifyJettonWallet(context.rpc, { account, owner, master }, isDeployed);
  read.doubt = doubt;
  markers.setAsset(owner, master, { account, verified_at: context.now(), doubt });
}

async function inspect({ context, markers }: Reading, address_key: string, code: string): Promise<void> {
  const refused = await inspectAddress(context.rpc, address_key);
  markers.setInspection(address_key, { code, refused, at: context.now() });
}
