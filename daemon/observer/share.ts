// Which blockchains a daemon reads where several share a database: each works the same shares out of the same leases.
import { dropLease, holdLease, leasesNamed } from '../../data/cursors.ts';
import type { Db } from '../../data/db/open.ts';
import type { Clock } from '../clock.ts';
import type { RouteState } from './route.ts';

/** Lease on a blockchain: its holder reads it. */
export const observeLease = (blockchain: string): string => `${OBSERVE}${blockchain}`;
const OBSERVE = 'observe:';
/** Says that a daemon reads, and what it can: `reader:<id>:<blockchain> <blockchain> …`, with a mark before those that it can badly. */
const READER = 'reader:';
const MARKS: Record<RouteState, string> = { ok: '', slow: '~', dead: '!' };

/** How often shares are worked out: those who join or are missed are known within it. */
export const SHARE_MS = 3_000;
/** A daemon that did not say for so long that it reads gets no share. */
const READER_MS = 9_000;

/** A daemon that reads. */
export interface Participant {
  id: string;
  /** Blockchains that are switched on there, and whose providers answer it. */
  can_read: readonly string[];
  /** Those whose providers answer it too slowly, or not at all: it reads them where no one else can. */
  slow?: readonly string[];
  dead?: readonly string[];
}

/**
 * Who reads which of these blockchains: no one two more than another who could read one of them. Who has one stays with it
 * as far as that allows, and gives up the last ones. What someone holds who should not is left to him until he gives it back.
 * Where no one can read one, those who can badly continue to try.
 */
export function shareOut(
  blockchains: readonly string[],
  participants: readonly Participant[],
  holders: ReadonlyMap<string, string>,
): Map<string, string> {
  const shares = new Map<string, string>();
  const known = participants.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const count = ({ id }: Participant) => [...shares.values()].filter((reader) => reader === id).length;
  const fewest = (of: readonly Participant[]) =>
    of.reduce<Participant | undefined>(
      (least, one) => (least && count(least) <= count(one) ? least : one),
      undefined,
    );
  const ableTo = (blockchain: string) =>
    [
      known.filter(({ can_read }) => can_read.includes(blockchain)),
      known.filter(({ slow }) => slow?.includes(blockchain)),
      known.filter(({ dead }) => dead?.includes(blockchain)),
    ].find((able) => able.length > 0) ?? [];
  for (const blockchain of blockchains) {
    const holder = ableTo(blockchain).find(({ id }) => id === holders.get(blockchain));
    if (holder) shares.set(blockchain, holder.id);
  }
  for (const blockchain of blockchains) {
    const reader = holders.has(blockchain) ? undefined : fewest(ableTo(blockchain));
    if (reader) shares.set(blockchain, reader.id);
  }
  // Each hand-over makes two counts more alike, so it ends.
  const handOver = (): boolean =>
    blockchains.toReversed().some((blockchain) => {
      const from = known.find(({ id }) => id === shares.get(blockchain));
      const to = fewest(ableTo(blockchain));
      if (!from || !to || count(from) - count(to) < 2) return false;
      shares.set(blockchain, to.id);
      return true;
    });
  while (handOver());
  return shares;
}

export interface Shares {
  /** Says that this daemon reads, and works the shares out. */
  refresh(): Promise<void>;
  /** Whether it should read this blockchain. */
  includes(blockchain: string): boolean;
  /** Whether another daemon cannot read this blockchain, or not well. */
  isTroubled(blockchain: string): boolean;
  /** Resolves when what was begun writes no more; never rejects. */
  settled(): Promise<void>;
}

export interface SharesOptions {
  db: Pick<Db, 'query'>;
  clock: Clock;
  /** Under which this daemon holds its leases. */
  instance: string;
  blockchains: readonly string[];
  /** Those that are switched on here, and how their providers answer. */
  routes(): readonly { blockchain: string; state: RouteState }[];
}

export function openShares({ db, clock, instance, blockchains, routes }: SharesOptions): Shares {
  let own: readonly string[] = [];
  let others: readonly Participant[] = [];
  let shared: string | null = null;
  let running: Promise<void> = Promise.resolve();

  /** What it stated before is taken back at once, or it would count until it runs out. */
  async function say(now_ms: number): Promise<void> {
    const marked = routes().map(({ blockchain, state }) => MARKS[state] + blockchain);
    const name = `${READER}${instance}:${marked.join(' ')}`;
    await holdLease(db.query, name, instance, now_ms, READER_MS);
    if (shared !== null && shared !== name) await dropLease(db.query, shared, instance);
    shared = name;
  }

  async function workOut(): Promise<void> {
    const now_ms = clock.ms();
    await say(now_ms);
    const leases = await leasesNamed(db.query, [READER, OBSERVE], now_ms);
    const named = (prefix: string) => leases.filter((lease) => lease.name.startsWith(prefix));
    const participants = named(READER).map(({ name, holder }) =>
      participantOf(holder, name.slice(`${READER}${holder}:`.length).split(' ')),
    );
    const holders = new Map(
      named(OBSERVE).map(({ name, holder }): [string, string] => [name.slice(OBSERVE.length), holder]),
    );
    const shares = shareOut(blockchains, participants, holders);
    own = blockchains.filter((blockchain) => shares.get(blockchain) === instance);
    others = participants.filter(({ id }) => id !== instance);
  }

  return {
    refresh() {
      running = workOut();
      return running;
    },
    includes: (blockchain) => own.includes(blockchain),
    isTroubled: (blockchain) =>
      others.some(({ slow, dead }) => slow?.includes(blockchain) || dead?.includes(blockchain)),
    settled: () => running.catch(() => undefined),
  };
}

function participantOf(id: string, marked: readonly string[]): Participant {
  const after = (mark: string) =>
    marked.filter((one) => one.startsWith(mark)).map((one) => one.slice(mark.length));
  const slow = after(MARKS.slow);
  const dead = after(MARKS.dead);
  return { id, can_read: marked, slow, dead };
}
