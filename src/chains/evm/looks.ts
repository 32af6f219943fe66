// What watched addresses had at blocks ahead of where coins stand. Nodes forget the state of older blocks, so that who is behind
// asks while they have it: the blocks between two equal looks need not be read, however late that is.
import type { Header } from './answers.ts';
import { type BalancesAt, balancesIfStored } from './balances.ts';
import type { Accounts, Look } from './memory.ts';
import type { Reading } from './reading.ts';

/** So many blocks have their state stored by most nodes, whatever blocks take … */
export const STATE_BLOCKS = 128;
/** … and a few of them are made while it is asked for. */
export const MARGIN_BLOCKS = 8;
/** Without the oldest of more, more blocks are read. */
const MOST_LOOKS = 128;
/** Changes that are narrowed down in one reading. */
const NARROWED_PER_READ = 4;

/** Notes what was seen at the head; what has changed since the look before is narrowed down to `least` blocks. */
export async function noteLook(reading: Reading, seen: BalancesAt, least: number): Promise<void> {
  const { context, cursor } = reading;
  const { memory } = context;
  const { block } = seen;
  const stands = cursor.coin?.height;
  if (!block || stands === undefined) return;
  const last: Look = { block, balances: seen };
  const looks = memory.looks.filter((each) => each.block.height > stands && each.block.height < block.height);
  let before = looks.at(-1);
  for (let change = 0; change < NARROWED_PER_READ && before; change++) {
    const found: Look[] = await narrowed(reading, { before, last, least });
    looks.push(...found);
    before = found.at(-1);
  }
  memory.looks = thinned([...looks, last]);
}

/** The ends of the blocks in which a balance changed first, by halves; none where that is known as well as it can be. */
async function narrowed(
  { asker }: Reading,
  { before, last, least }: { before: Look; last: Look; least: number },
): Promise<Look[]> {
  const keys = [...before.balances.keys()].filter((key) => last.balances.has(key));
  const isSame = (one: Look['balances']) => keys.every((key) => one.get(key) === before.balances.get(key));
  if (isSame(last.balances)) return [];
  let [low, high] = [before, last];
  while (high.block.height - low.block.height > least) {
    const middle = Math.floor((low.block.height + high.block.height) / 2);
    if (last.block.height - middle > STATE_BLOCKS - MARGIN_BLOCKS) break;
    // What has the same in the end may have had another balance in between.
    const balances = await balancesIfStored(asker, keys, [middle, null]);
    if (!balances?.block) break;
    const found = { block: balances.block, balances };
    if (isSame(balances)) low = found;
    else high = found;
  }
  return [low, high].filter((each) => each !== before && each !== last);
}

/** Of equal ones next to each other, the first and the last. */
function thinned(looks: readonly Look[]): Look[] {
  const isEqual = (one: Look | undefined, other: Look | undefined) =>
    one !== undefined &&
    other !== undefined &&
    one.balances.size === other.balances.size &&
    [...one.balances].every(([key, balance]) => other.balances.get(key) === balance);
  return looks
    .filter((look, at) => !isEqual(looks[at - 1], look) || !isEqual(look, looks[at + 1]))
    .slice(-MOST_LOOKS);
}

/** How far no balance has changed, and by which block one has; null where no look tells. */
export function lookAhead(
  { watched, cursor, context: { memory, local } }: Reading,
  accounts: Accounts,
): { same: Look | null; changed: Look | null } {
  const isLater = (key: string, { time }: Header) => local(time).latest_at < (watched.get(key)?.since ?? 0);
  let same: Look | null = null;
  for (const look of memory.looks) {
    if (look.block.height <= (cursor.coin?.height ?? 0)) continue;
    // One that was watched later has nothing to look for in that block.
    const keys = [...accounts.keys()].filter((key) => look.balances.has(key) || !isLater(key, look.block));
    if (keys.some((key) => !look.balances.has(key))) break;
    if (keys.some((key) => look.balances.get(key) !== accounts.get(key)?.balance))
      return { same, changed: look };
    same = look;
  }
  return { same, changed: null };
}

/** As seen at that block, of those that are read now. */
export const seenOf = ({ balances }: Look, accounts: Accounts): Map<string, bigint> =>
  new Map([...balances].filter(([key]) => accounts.has(key)));
