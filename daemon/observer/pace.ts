// How fast each chain makes blocks, as it was measured last by any daemon of the database.
import { allCursors } from '../../data/cursors.ts';
import type { Db } from '../../data/db/open.ts';
import type { CursorRow } from '../../data/schema/tables.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import type { Pace } from '../../src/chains/family.ts';
import { offPace, type ShortDepth, shortDepth } from '../../src/chains/usual.ts';
import type { Config } from '../settings/config.ts';

export interface Paces {
  /** Seconds for one block now; the usual ones where nothing was measured. */
  of(blockchain: string): number;
  /** What was measured; null where nothing was. */
  measured(blockchain: string): Pace | null;
  /** What was measured here. */
  note(blockchain: string, pace: Pace): void;
  /** What any daemon has measured. Rejects where the database cannot be read. */
  refresh(): Promise<void>;
}

const MICROS = 1_000_000;
/** What an operator is to know where blocks come faster or more slowly than this version was written for. */
export const PACE_STOPS_NOTHING =
  'payments count by seconds as before; see whether a newer gatewayd knows of it';

export function openPaces({ config, db }: { config: Pick<Config, 'chains'>; db: Pick<Db, 'query'> }): Paces {
  const paces = new Map<string, Pace>();
  return {
    of: (blockchain) =>
      paces.get(blockchain)?.recent_seconds ?? config.chains.find(blockchain)?.block_seconds ?? 1,
    measured: (blockchain) => paces.get(blockchain) ?? null,
    note: (blockchain, pace) => void paces.set(blockchain, pace),
    async refresh() {
      for (const row of await allCursors(db.query)) {
        const pace = storedPace(row);
        if (pace) paces.set(row.blockchain, pace);
      }
    },
  };
}

/** The pace that is stored with a cursor; null where none was measured. */
export function storedPace(
  row: Pick<CursorRow, 'pace_recent_micros' | 'pace_hour_micros'> | undefined,
): Pace | null {
  if (row?.pace_recent_micros == null) return null;
  const { pace_recent_micros: recent, pace_hour_micros: hour } = row;
  const seconds = (micros: bigint) => Number(micros) / MICROS;
  return { recent_seconds: seconds(recent), hour_seconds: hour === null ? null : seconds(hour) };
}

/** The blockchains on offer whose pace is known, with how far off it is; null where it is the usual one. */
export function pacesOnOffer(
  { chains, network, gateways }: Pick<Config, 'chains' | 'network' | 'gateways'>,
  measured: (blockchain: string) => Pace | null,
): { blockchain: Blockchain; says: string | null }[] {
  const offered = new Set(chains.enabled(network, gateways).map(({ blockchain }) => blockchain));
  return chains.blockchains.flatMap((blockchain) => {
    const pace = offered.has(blockchain.id) ? measured(blockchain.id) : null;
    return pace ? [{ blockchain, says: offPace(blockchain, pace) }] : [];
  });
}

/** The gateways on offer whose settings ask for blocks that take less time than is usual on their chain. */
export function shortDepths(
  { chains, network, gateways, blockchains }: Pick<Config, 'chains' | 'network' | 'gateways' | 'blockchains'>,
  measured: (blockchain: string) => Pace | null,
): ({ chain: string; blockchain: string } & ShortDepth)[] {
  return chains.enabled(network, gateways, blockchains).flatMap((gateway) => {
    const { chain, blockchain, block_seconds } = gateway;
    const usual = chains.values.find((value) => value.chain === chain)?.confirm_seconds;
    const pace = measured(blockchain);
    const short = shortDepth(gateway, usual, pace?.hour_seconds ?? pace?.recent_seconds ?? block_seconds);
    return short ? [{ chain, blockchain, ...short }] : [];
  });
}
