// What a move leaves in both databases, so that no more than one of them is ever sold from.
import type { Executor } from '../../data/db/open.ts';
import { changeMeta, findMeta, renameMeta } from '../../data/meta.ts';
import { ConfigError } from '../settings/config.ts';

/** Names in `meta`: in the old database; in the new one until the old one has its mark; and after that. */
export const MOVED_TO = 'moved_to';
export const MOVING_FROM = 'moving_from';
export const MOVED_FROM = 'moved_from';

export interface Mark {
  /** Of the move: the same in both databases. */
  id: string;
  /** The other database, without its password. */
  place: string;
  /** Unix seconds. */
  at: number;
}

export async function findMark(query: Executor, name: string): Promise<Mark | undefined> {
  const text = await findMeta(query, name);
  return text === undefined ? undefined : (JSON.parse(text) as Mark);
}

const textOf = ({ id, place, at }: Mark): string => JSON.stringify({ id, place, at });

export async function putMark(query: Executor, name: string, mark: Mark): Promise<void> {
  await changeMeta(query, name, textOf(mark));
}

/** Frees the database that a move has filled. Throws ConfigError where another move has begun there since. */
export async function endMove(query: Executor, mark: Mark): Promise<void> {
  if (await renameMeta(query, { name: MOVING_FROM, value: textOf(mark) }, MOVED_FROM)) return;
  throw new ConfigError(
    'another move has begun in the same database meanwhile: `gatewayd move --back` puts this one in use again',
  );
}

/** Why a database must not be sold from; null where nothing was moved out of it, and nothing is on its way into it. */
export async function whyOutOfUse(query: Executor): Promise<string | null> {
  const moved = await findMark(query, MOVED_TO);
  if (moved) return `it was moved to ${moved.place} at ${timeOf(moved)}, and that one is in use now`;
  const moving = await findMark(query, MOVING_FROM);
  if (moving) return `the move from ${moving.place} to it did not come to its end`;
  return null;
}

export const WAY_OUT =
  'set database_url to the database that is in use; `gatewayd move --to` again ends a move that was interrupted, and `gatewayd move --back` takes one back';

/** Throws ConfigError for a database that a gateway was moved out of, and for one that is half of a move. */
export async function assertInUse(query: Executor): Promise<void> {
  const reason = await whyOutOfUse(query);
  if (reason !== null) throw new ConfigError(`this database is out of use: ${reason}; ${WAY_OUT}`);
}

export const timeOf = ({ at }: Pick<Mark, 'at'>): string =>
  new Date(at * 1000).toISOString().replace('.000', '');
