// What is stored of each watched address: its accounts, how far each is read, and what its contract was found to be.
import { z } from 'zod';
import type { Json } from '../family.ts';
import { type History, historyFrom, historyJson, historySchema } from './history.ts';

/** One asset at an address. */
export interface AssetMarker {
  /** The account that holds it. */
  account: string;
  /** The time from which it has been read up to the cursor of the chain; null where it was not read to there yet. */
  since: number | null;
  history: History | null;
  /** When a jetton wallet was last held against its master and its own word, Unix seconds. */
  verified_at: number | null;
  /** What the two say differently: nothing is proved of the account meanwhile. */
  doubt: string | null;
}

/** What the contract at an address is. */
export interface Inspection {
  /** Hash of its code: with another code it is another contract. */
  code: string;
  /** Why it cannot be a wallet; null where it can. */
  refused: string | null;
  /** Unix seconds. */
  at: number;
}

const assetSchema = z
  .object({
    account: z.string(),
    since: z.int().nullable(),
    history: historySchema.nullish(),
    verified_at: z.int().nullish(),
    doubt: z.string().nullish(),
  })
  .transform(
    ({ account, since, history, verified_at, doubt }): AssetMarker => ({
      account,
      since,
      history: history ? historyFrom(history) : null,
      verified_at: verified_at ?? null,
      doubt: doubt ?? null,
    }),
  );
const inspectionSchema = z.object({ code: z.string(), refused: z.string().nullable(), at: z.int() });
const markerSchema = z.object({
  assets: z.record(z.string(), assetSchema),
  inspected: inspectionSchema.nullish(),
});
/** As markers were before accounts had a history: assets alone. */
const formerSchema = z.record(z.string(), assetSchema);

interface Marker {
  /** By `coin` or the jetton master. */
  assets: Record<string, AssetMarker>;
  inspected: Inspection | null;
}

export interface Markers {
  asset(address_key: string, asset: string): AssetMarker | null;
  inspection(address_key: string): Inspection | null;
  /** Whether some address has an account of the asset. */
  knows(asset: string): boolean;
  setAsset(address_key: string, asset: string, change: { account: string } & Partial<AssetMarker>): void;
  setInspection(address_key: string, inspection: Inspection): void;
  /** Those that changed since it was last called, to be stored. */
  changes(): [string, Json][];
}

/** The markers of the watched addresses, in either form that was ever stored. */
export function openMarkers(stored: ReadonlyMap<string, Json>): Markers {
  const markers = new Map<string, Marker>();
  const changed = new Set<string>();
  const known = new Set<string>();
  for (const [key, json] of stored) {
    const marker = readMarker(json);
    markers.set(key, marker);
    for (const asset of Object.keys(marker.assets)) known.add(asset);
  }
  const of = (key: string): Marker => markers.get(key) ?? { assets: {}, inspected: null };
  const set = (key: string, marker: Marker) => {
    markers.set(key, marker);
    changed.add(key);
  };
  return {
    asset: (key, asset) => of(key).assets[asset] ?? null,
    inspection: (key) => of(key).inspected,
    knows: (asset) => known.has(asset),
    setAsset(key, asset, change) {
      const marker = of(key);
      const before = marker.assets[asset] ?? { since: null, history: null, verified_at: null, doubt: null };
      known.add(asset);
      set(key, { ...marker, assets: { ...marker.assets, [asset]: { ...before, ...change } } });
    },
    setInspection: (key, inspected) => set(key, { ...of(key), inspected }),
    changes() {
      const keys = [...changed];
      changed.clear();
      return keys.map((key) => [key, markerJson(of(key))]);
    },
  };
}

function readMarker(json: Json): Marker {
  const parsed = markerSchema.safeParse(json);
  if (parsed.success) return { assets: parsed.data.assets, inspected: parsed.data.inspected ?? null };
  const former = formerSchema.safeParse(json);
  return { assets: former.success ? former.data : {}, inspected: null };
}

const markerJson = ({ assets, inspected }: Marker): Json => ({
  assets: Object.fromEntries(
    Object.entries(assets).map(([asset, { history, ...marker }]): [string, Json] => [
      asset,
      { ...marker, history: history && historyJson(history) },
    ]),
  ),
  inspected: inspected && { ...inspected },
});
