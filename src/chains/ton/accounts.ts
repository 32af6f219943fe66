// Which account stands for each watched address and asset: one account is read as exactly one asset.
import { Address } from '@ton/core';
import {
  type AccountRef,
  type Gateway,
  ProviderError,
  type StoredProof,
  type UnreadableAsset,
  type WatchedAddress,
} from '../family.ts';
import { isOfQuestion } from '../or-failed.ts';
import { keyOf, showContract } from './address.ts';
import type { History } from './history.ts';
import { JETTON_WALLET } from './inspect.ts';
import type { AssetMarker, Markers } from './markers.ts';
import type { TonContext } from './memory.ts';
import { getJettonWallet } from './providers/toncenter.ts';
import type { TonAccount } from './transfers.ts';

/** Jetton wallets asked for in one reading; the rest wait for the next, so that many newcomers delay no payment. */
const RESOLVE_LIMIT = 20;
/** How long a master that the network does not know is left alone. */
const MASTER_RETRY_SECONDS = 60;
export const COIN = 'coin';

/** An account to be read, with how far it is read; the history moves as it is. */
export interface ReadAccount extends TonAccount {
  /** `coin` or the jetton master. */
  asset: string;
  /** Nothing older can be a payment. */
  since: number;
  /** Everything from here to the chain's cursor has been read already; null for a newcomer. */
  read_since: number | null;
  history: History;
  /** Why nothing is proved of it, though it is read; null where nothing is wrong. */
  doubt: string | null;
}

/** An asset at an address that cannot be read: its account is not known, or is another's. */
export interface UnreadAccount extends AccountRef {
  account: string;
  trouble: string;
  /** Whether asking again at once is of no use. */
  failed: boolean;
}

/** A jetton wallet whose own word or whose master contradicts what is known of it. */
export interface DoubtedWallet extends AccountRef {
  /** The jetton master. */
  asset: string;
  account: string;
}

export interface Accounts {
  accounts: ReadAccount[];
  unread: UnreadAccount[];
  doubted: DoubtedWallet[];
  /** Assets that are read. */
  assets: string[];
  /** Of all gateways; null where it could not be found out in this reading. */
  unreadable: UnreadableAsset[] | null;
  /** Why jetton wallets could not be asked for; their accounts are read from their `since` once they are known. */
  failure: ProviderError | null;
}

export interface Watching {
  /** Those that are to be read first come first. */
  addresses: readonly WatchedAddress[];
  markers: Markers;
  behind: readonly StoredProof[];
  /** Where the history of an account begins that is watched from `since`. */
  historyOf(marker: AssetMarker | null, since: number, asset: string): History;
}

export const refKey = ({ address_key, chain }: AccountRef): string => `${address_key} ${chain}`;

export const assetOf = ({ token_contract }: Gateway): string =>
  token_contract ? keyOf(Address.parse(token_contract)) : COIN;

/** An asset at a watched address, with its account as far as it is known. */
interface Role {
  gateway: Gateway;
  asset: string;
  address: WatchedAddress;
  account: string | null;
  /** Why the account is not known. */
  trouble: string | null;
}

/** Finds the account of every address for every gateway that is read; asks only for jetton wallets not known yet. */
export async function resolveAccounts(context: TonContext, watching: Watching): Promise<Accounts> {
  const { markers, addresses } = watching;
  const lookup = createLookup(context, watching);
  const roles: Role[] = [];
  for (const gateway of context.gateways) {
    const asset = assetOf(gateway);
    for (const address of addresses) {
      const known = asset === COIN ? address.key : markers.asset(address.key, asset)?.account;
      const found = known ? { account: known, trouble: null } : await lookup.wallet(gateway, address.key);
      roles.push({ gateway, asset, address, ...found });
    }
  }
  const reasonOf = refusals(roles, markers);
  const accounts: ReadAccount[] = [];
  const unread: UnreadAccount[] = [];
  for (const role of roles) {
    const { gateway, asset, address, account, trouble } = role;
    const { chain } = gateway;
    const reason = reasonOf(role);
    const base = { address_key: address.key, chain, account: account ?? address.key };
    if (reason) unread.push({ ...base, trouble: reason, failed: true });
    else if (account) accounts.push(readAccount(watching, role, account));
    else if (!lookup.isMissing(asset))
      unread.push({ ...base, trouble: trouble ?? UNKNOWN_WALLET, failed: trouble !== null });
  }
  const doubted = roles.flatMap(({ address, asset, account, gateway: { chain } }) => {
    const doubt = account && markers.asset(address.key, asset)?.doubt;
    return doubt ? [{ address_key: address.key, chain, asset, account }] : [];
  });
  return {
    accounts,
    unread,
    doubted,
    // One that is not there yet counts as read from the day on which it is.
    assets: context.gateways.map(assetOf).filter((asset) => !lookup.isMissing(asset)),
    unreadable: lookup.unreadable(),
    failure: lookup.failure(),
  };
}

const UNKNOWN_WALLET = 'its jetton wallet is not known yet';

function readAccount({ markers, historyOf }: Watching, role: Role, account: string): ReadAccount {
  const { gateway, asset, address } = role;
  const marker = markers.asset(address.key, asset);
  const { key: address_key, since } = address;
  const history = historyOf(marker, since, asset);
  return {
    account,
    gateway,
    address_key,
    asset,
    since,
    read_since: marker?.since ?? null,
    history,
    doubt: marker?.doubt ?? null,
  };
}

/**
 * Why a role is not read. An account that is a watched owner's jetton wallet is nothing else, whatever address somebody
 * set: the master derives it, so it cannot be a wallet. One whose own code contradicts its master takes from no other.
 */
function refusals(roles: readonly Role[], markers: Markers): (role: Role) => string | null {
  const doubtOf = ({ address, asset }: Role) => markers.asset(address.key, asset)?.doubt ?? null;
  const isWatched = new Set(roles.map(({ address }) => address.key));
  const holders = new Map<string, Role>();
  for (const role of roles)
    if (role.asset !== COIN && role.account && !doubtOf(role) && !holders.has(role.account))
      holders.set(role.account, role);
  return (role) => {
    const { address, account } = role;
    const refused = markers.inspection(address.key)?.refused;
    if (refused) return refused;
    if (holders.has(address.key)) return JETTON_WALLET;
    if (role.asset === COIN || !account) return null;
    const doubt = doubtOf(role);
    if (doubt) return isWatched.has(account) || holders.has(account) ? doubt : null;
    return holders.get(account) === role ? null : 'its account is read as that of another asset';
  };
}

interface Found {
  account: string | null;
  trouble: string | null;
}

const NOT_FOUND: Found = { account: null, trouble: null };

/**
 * Asks for jetton wallets, few in one reading; a failure of the provider ends the asking and is handed on, so that coins are
 * read nevertheless. What a known master is refused for one owner is a trouble of that owner.
 */
function createLookup({ rpc, network, memory, now, gateways }: TonContext, watching: Watching) {
  const { markers } = watching;
  const behind = new Map(watching.behind.map((proof) => [refKey(proof), proof]));
  let requests = 0;
  let failure: ProviderError | null = null;
  /** By master: what was refused for one owner. */
  const refused = new Map<string, ProviderError>();
  /** Masters of which nothing was found out. */
  const unasked = new Set<string>();

  const isKnown = (master: string) => markers.knows(master) || memory.masters.has(master);
  const missing = (master: string) => memory.missing_masters.get(master);
  const isMissing = (master: string) => missing(master) !== undefined && !isKnown(master);

  async function ask(gateway: Gateway, master: string, owner: string): Promise<Found> {
    const wallet = await getJettonWallet(rpc, Address.parseRaw(master), Address.parseRaw(owner));
    const shown = showContract(Address.parseRaw(master), network);
    const account = wallet && keyOf(wallet);
    if (account && account !== owner) {
      memory.masters.add(master);
      memory.missing_masters.delete(master);
      markers.setAsset(owner, master, { account });
      return { account, trouble: null };
    }
    // A master that named a wallet before is there, whatever it answers now.
    if (account || isKnown(master))
      return { account: null, trouble: `${shown} does not name the wallet of ${owner}` };
    const reason = `${gateway.name}: ${shown} is not a jetton master on this network`;
    memory.missing_masters.set(master, { at: now(), reason });
    return NOT_FOUND;
  }

  return {
    failure: () => failure ?? [...refused].find(([master]) => !isKnown(master))?.[1] ?? null,
    isMissing,
    unreadable(): UnreadableAsset[] | null {
      if (unasked.size > 0) return null;
      return gateways.flatMap((gateway) => {
        const asset = assetOf(gateway);
        const reason = isMissing(asset) ? missing(asset)?.reason : undefined;
        return reason ? [{ chain: gateway.chain, reason }] : [];
      });
    },
    async wallet(gateway: Gateway, owner: string): Promise<Found> {
      const master = assetOf(gateway);
      if (markers.inspection(owner)?.refused) return NOT_FOUND;
      const absent = missing(master);
      if (absent && isMissing(master) && now() - absent.at < MASTER_RETRY_SECONDS) return NOT_FOUND;
      const proof = behind.get(refKey({ address_key: owner, chain: gateway.chain }));
      if (proof?.paused) return { account: null, trouble: proof.trouble };
      if (failure || requests >= RESOLVE_LIMIT) {
        if (!isKnown(master) && !isMissing(master)) unasked.add(master);
        return NOT_FOUND;
      }
      requests++;
      try {
        return await ask(gateway, master, owner);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        if (!isKnown(master) && !isMissing(master)) unasked.add(master);
        if (isOfQuestion(error)) {
          refused.set(master, error);
          return { account: null, trouble: error.message };
        }
        failure = error;
        return NOT_FOUND;
      }
    },
  };
}
