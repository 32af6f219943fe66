// Upgrades of the chains that were announced when this version was made: what it knows, by when, and what they change here.

export interface Upgrade {
  blockchain: string;
  name: string;
  /** When it takes effect on the main network, Unix seconds; null where no date, or only a height, is known. */
  at: number | null;
  /** The block from which on it holds, where that is what was announced. */
  height?: number;
  /** What it changes for a reader, as one sentence without its full stop. */
  changes: string;
}

const utc = (text: string): number => Date.parse(text) / 1000;

/** In the order of their dates; those without one last. */
export const upgrades: readonly Upgrade[] = [
  {
    blockchain: 'bsc',
    name: 'Fermi',
    at: utc('2026-01-14T00:00:00Z'),
    changes: 'a block each 0.45 s',
  },
  {
    blockchain: 'ton',
    name: 'faster blocks',
    at: utc('2026-04-09T00:00:00Z'),
    changes: 'a block each 0.4 s, final after about a second',
  },
  {
    blockchain: 'solana',
    name: 'transaction version 1',
    at: utc('2026-09-15T00:00:00Z'),
    changes: 'transactions of a further version, which nodes give only where it is asked for',
  },
  {
    blockchain: 'solana',
    name: 'Alpenglow',
    at: utc('2026-10-21T00:00:00Z'),
    changes: 'a block is final after about 150 ms; a blockhash lives about 32 s',
  },
  {
    blockchain: 'base',
    name: 'Denim',
    at: utc('2026-11-05T18:00:00Z'),
    changes: 'a block each 0.2 s, five of which share one timestamp',
  },
  {
    blockchain: 'bsc',
    name: 'Jenner',
    at: utc('2026-12-08T02:30:00Z'),
    changes: 'timestamps in milliseconds besides those in seconds; the pace stays',
  },
  {
    blockchain: 'litecoin',
    name: 'first MWEB rules',
    at: null,
    height: 3_154_440,
    changes: 'nodes older than 0.21.5.8 may follow another chain: run a newer one',
  },
  {
    blockchain: 'litecoin',
    name: 'second MWEB rules',
    at: null,
    height: 3_172_640,
    changes: 'nodes older than 0.21.5.8 may follow another chain: run a newer one',
  },
  {
    blockchain: 'ethereum',
    name: 'Glamsterdam',
    at: null,
    changes: 'each transfer of Ether is logged (EIP-7708); whole blocks are read as before',
  },
];
/** When this list was made, Unix seconds: this version was tried with nothing that took effect later. */
export const LISTED_AT = utc('2026-11-26T00:00:00Z');
/** The date of the last upgrade that is known, Unix seconds. */
export const KNOWN_UNTIL = Math.max(LISTED_AT, ...upgrades.flatMap(({ at }) => at ?? []));
/** So long before it an upgrade is warned of. */
const NEAR_SECONDS = 30 * 86_400;

/** Where an upgrade stands: `near` where it comes soon, `newer` where it has come since this version was made. */
export type Standing = 'known' | 'near' | 'newer' | 'later';

/** At this moment, Unix seconds; by its height where the chain's own and its pace are known. */
export function standingOf(
  { at, height }: Upgrade,
  now: number,
  tip: { height: number; block_seconds: number } | null,
): Standing {
  const in_blocks = height === undefined || tip === null ? null : (height - tip.height) * tip.block_seconds;
  const left = at === null ? in_blocks : at - now;
  if (left === null || left > NEAR_SECONDS) return 'later';
  if (left > 0) return 'near';
  return at !== null && at > LISTED_AT ? 'newer' : 'known';
}
