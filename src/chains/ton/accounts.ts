// Which accounts stand for a watched address, and since when each of them has been read.
import { Address } from '@ton/core';
import { z } from 'zod';
import { type Gateway, type Json, ProviderError, type ReadContext, type WatchedAddress } from '../chain.ts';
import { keyOf, showContract } from './address.ts';
import { getJettonWallet } from './toncenter.ts';
import type { TonAccount } from './transfers.ts';

/** Jetton wallets asked for in one read; the rest wait for the next, so that many newcomers delay nobody's payment. */
const RESOLVE_LIMIT = 20;
/** How long a master that the network does not know is left alone. */
const MASTER_RETRY_SECONDS = 300;
const COIN = 'coin';

const markerSchema = z.record(z.string(), z.object({ account: z.string(), since: z.int() }));
/** Per asset (`coin` or the jetton master): its account, and the time from which it has been read. */
type Marker = z.infer<typeof markerSchema>;

/** An account to be read, with what its own cursor says. */
export interface ReadAccount extends TonAccount {
  asset: string;
  /** Nothing older can be a payment. */
  since: number;
  /** Everything from here to the chain's cursor has been read already; null for a newcomer. */
  read_since: number | null;
}

export interface Accounts {
  accounts: ReadAccount[];
  assets: string[];
  /** The markers after these accounts were read. */
  markers(read: readonly ReadAccount[]): [string, Json][];
  /** The earliest `since` of accounts that are not known yet and so not read; null where all are. */
  unresolved_since: number | null;
  /** Why jetton wallets could not be asked for; their accounts are read from their `since` once they are known. */
  trouble: ProviderError | null;
}

const assetOf = ({ token_contract }: Gateway): string =>
  token_contract ? keyOf(Address.parse(token_contract)) : COIN;

/** Resolves the accounts of every address for every enabled gateway; asks only for jetton wallets not known yet. */
export async function resolveAccounts(
  context: ReadContext,
  addresses: readonly WatchedAddress[],
  stored: Map<string, Json>,
): Promise<Accounts> {
  const markers = new Map(addresses.map(({ key }) => [key, readMarker(stored.get(key))]));
  const lookup = createLookup(context, markers);
  const accounts: ReadAccount[] = [];
  let unresolved_since: number | null = null;
  for (const gateway of context.gateways) {
    const asset = assetOf(gateway);
    if (lookup.isMissing(asset)) continue;
    for (const { key, since } of addresses) {
      const known = markers.get(key)?.[asset];
      const account = asset === COIN ? key : (known?.account ?? (await lookup.wallet(asset, key)));
      if (account)
        accounts.push({ account, gateway, address_key: key, asset, since, read_since: known?.since ?? null });
      else unresolved_since = Math.min(unresolved_since ?? since, since);
    }
  }
  return {
    accounts,
    // One that is not there yet counts as read from the day on which it is.
    assets: context.gateways.map(assetOf).filter((asset) => !lookup.isMissing(asset)),
    unresolved_since,
    trouble: lookup.trouble(),
    markers: (read) => mergeMarkers(markers, read),
  };
}

/** Asks for jetton wallets, few in one read; a failure ends the asking and is kept, so that coins are read nevertheless. */
function createLookup({ rpc, network, cache, now }: ReadContext, markers: Map<string, Marker>) {
  let asked = 0;
  let trouble: ProviderError | null = null;

  async function ask(master: string, owner: string): Promise<string | null> {
    const wallet = await getJettonWallet(rpc, Address.parseRaw(master), Address.parseRaw(owner));
    const shown = showContract(Address.parseRaw(master), network);
    if (wallet) {
      cache.set(existsKey(master), true);
      return keyOf(wallet);
    }
    // A master that told a wallet before is there, whatever is said now.
    if (cache.get(existsKey(master)) || [...markers.values()].some((marker) => marker[master] !== undefined))
      throw new ProviderError('bad_answer', `${shown} does not tell the wallet of ${owner}`);
    cache.set(missingKey(master), now());
    throw new ProviderError('bad_answer', `${shown} is not a jetton master on this network`);
  }

  return {
    trouble: () => trouble,
    /** No such jetton exists there, so nobody can pay with it; said once and then asked again from time to time. */
    isMissing(master: string): boolean {
      const missing_at = cache.get(missingKey(master));
      return typeof missing_at === 'number' && now() - missing_at < MASTER_RETRY_SECONDS;
    },
    /** Null: not known in this read. */
    async wallet(master: string, owner: string): Promise<string | null> {
      const cached = cache.get(walletKey(master, owner));
      if (typeof cached === 'string') return cached;
      if (trouble || asked >= RESOLVE_LIMIT) return null;
      asked++;
      try {
        const wallet = await ask(master, owner);
        cache.set(walletKey(master, owner), wallet);
        return wallet;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        trouble = error;
        return null;
      }
    },
  };
}

const walletKey = (master: string, owner: string) => `jetton-wallet ${master} ${owner}`;
const existsKey = (master: string) => `jetton ${master}`;
const missingKey = (master: string) => `no-jetton ${master}`;

function readMarker(stored: Json | undefined): Marker {
  const parsed = markerSchema.safeParse(stored ?? {});
  return parsed.success ? parsed.data : {};
}

function mergeMarkers(before: Map<string, Marker>, read: readonly ReadAccount[]): [string, Json][] {
  const changed = new Map<string, Marker>();
  for (const { address_key, asset, account, since } of read) {
    const marker = changed.get(address_key) ?? { ...before.get(address_key) };
    changed.set(address_key, { ...marker, [asset]: { account, since } });
  }
  return [...changed];
}
