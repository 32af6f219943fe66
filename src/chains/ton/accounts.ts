// Which accounts stand for a watched address, and since when each of them has been read.
import { Address } from '@ton/core';
import { z } from 'zod';
import { type Gateway, type Json, ProviderError, type ReadContext, type WatchedAddress } from '../chain.ts';
import { keyOf } from './address.ts';
import { getJettonWallet } from './toncenter.ts';
import type { TonAccount } from './transfers.ts';

/** Jetton wallets asked for in one read; the rest wait for the next, so that many newcomers delay nobody's payment. */
const RESOLVE_LIMIT = 20;
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
  /** Why some jetton wallets are not among the accounts; they are read from their `since` once they are. */
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
  const accounts: ReadAccount[] = [];
  const dead = new Set<string>();
  let trouble: ProviderError | null = null;
  let asked = 0;
  for (const gateway of context.gateways) {
    const asset = assetOf(gateway);
    for (const { key, since } of addresses) {
      const known = markers.get(key)?.[asset];
      let account = asset === COIN ? key : (known?.account ?? cachedWallet(context, asset, key));
      if (!account && !dead.has(asset) && asked < RESOLVE_LIMIT) {
        asked++;
        try {
          account = await askWallet(context, asset, key, gateway);
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          trouble = error;
          dead.add(asset);
        }
      }
      if (account)
        accounts.push({ account, gateway, address_key: key, asset, since, read_since: known?.since ?? null });
    }
  }
  return {
    accounts,
    assets: context.gateways.map(assetOf),
    trouble,
    markers: (read) => mergeMarkers(markers, read),
  };
}

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

const cacheKey = (master: string, owner: string) => `jetton-wallet ${master} ${owner}`;

function cachedWallet({ cache }: ReadContext, master: string, owner: string): string | undefined {
  const wallet = cache.get(cacheKey(master, owner));
  return typeof wallet === 'string' ? wallet : undefined;
}

async function askWallet(
  context: ReadContext,
  master: string,
  owner: string,
  { network }: Gateway,
): Promise<string> {
  const wallet = await getJettonWallet(
    context.rpc,
    Address.parseRaw(master),
    Address.parseRaw(owner),
    network,
  );
  context.cache.set(cacheKey(master, owner), keyOf(wallet));
  return keyOf(wallet);
}
