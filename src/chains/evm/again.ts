// Reads everything a second time, a while later, of another provider too: a node that lagged may have answered first.
import { type Page, ProviderError, type Transfer } from '../family.ts';
import { orFailed } from '../or-failed.ts';
import { badAnswer, type Header, type Log } from './answers.ts';
import { isMadeUp, Refuted, Unasked } from './credits.ts';
import { type EvmCursor, type Held, hashAt, headOf, withPaid } from './cursor.ts';
import { placeIn } from './depth.ts';
import { type Asker, readHeaders, takesPairs } from './hosts.ts';
import { absentOf, type Mark } from './memory.ts';
import { fitting, readLogRange, spansAtOnce } from './ranges.ts';
import { askerOf, creditsAt, type Reading, stored } from './reading.ts';

/** Between the two times that a block is read … */
const APART_SECONDS = 60;
/** … where each call is a request of its own, so that of several hosts one that is behind may answer as if blocks were empty. */
const APART_ALONE_SECONDS = 300;
/** Where that fails for so long, the provider is given up for another one. */
const OVERDUE_SECONDS = 600;
/** Stretches read a second time in one reading; what is left comes with the next. */
const STRETCHES_PER_READ = 30;
/** Ends of readings held at once, and the least time between two of them: the oldest is always old enough. */
const MOST_MARKS = 192;
const MARKS_APART_SECONDS = 2;

/** Notes where a reading ended; where readings follow each other closely, not of each. */
export function markEnd({ cursor, context: { memory, now } }: Reading): void {
  const [height, hash] = headOf(cursor);
  const at = now();
  const marks = memory.marks.filter((mark) => mark.height > cursor.proved && mark.at <= at);
  const last = marks.at(-1);
  const is_new = last?.height !== height || last.hash !== hash;
  if (is_new && (last === undefined || last.at <= at - MARKS_APART_SECONDS)) marks.push({ height, hash, at });
  memory.marks = marks.slice(-MOST_MARKS);
}

const apartOf = ({ host }: Asker): number => (takesPairs(host) ? APART_SECONDS : APART_ALONE_SECONDS);

/**
 * Once a minute, or at once where an invoice is about to end. What fails is tried again with the next reading, and proves
 * nothing until then; only where it fails for long the provider is at fault.
 */
export async function* lookAgain(reading: Reading): AsyncGenerator<Page> {
  const { context, request } = reading;
  const { memory, now } = context;
  const [head] = headOf(reading.cursor);
  const apart = apartOf(reading.asker);
  const mark = memory.marks.findLast(({ at, height }) => at <= now() - apart && height <= head);
  if (!mark || mark.height <= reading.cursor.proved) return;
  const isDue = now() - memory.second_at >= APART_SECONDS || now() < memory.second_at;
  if (!isDue && (await request.urgent()).length === 0) return;
  absentOf(context).asked = 0;
  const before = reading.cursor.proved;
  try {
    yield* readUpTo(reading, mark);
    memory.failing_since = null;
    // What is left has its turn at once.
    if (reading.cursor.proved === mark.height) memory.second_at = now();
    else if (reading.cursor.proved > before) reading.is_unfinished = true;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error instanceof Unasked) {
      reading.is_unfinished = true;
      return;
    }
    const since = Math.min(memory.failing_since ?? now(), now());
    memory.failing_since = since;
    if (now() - since < OVERDUE_SECONDS) return;
    const message = `the second reading of blocks has failed for ${now() - since} seconds: ${error.message}`;
    throw new ProviderError('bad_answer', message, error.code);
  }
}

/** What the ranges since the last block that is known to be ours have shown; it counts once the next such block is reached. */
interface Run {
  from: number;
  /** The last block of them, and its hash; undefined where that is not known. */
  end: number;
  hash: string | undefined;
  logs: Log[];
  headers: Map<number, Header>;
}

const runAfter = (end: number, hash: string | undefined): Run => ({
  from: end + 1,
  end,
  hash,
  logs: [],
  headers: new Map(),
});

/**
 * By ranges, each of which begins where the one before it ended. What they show is stored where they end at a block that was
 * read the first time: a node on another branch has other payments, and so has one that changes its branch in between.
 */
async function* readUpTo(reading: Reading, mark: Mark): AsyncGenerator<Page> {
  const { asker, filters, context } = reading;
  let run = runAfter(reading.cursor.proved, knownAt(reading, reading.cursor.proved));
  for (let read = 0; read < STRETCHES_PER_READ && reading.cursor.proved < mark.height; read++) {
    const to = nextEnd(reading, { from: run.end, mark });
    const apart = apartOf(asker);
    const { before, last, logs } = await readLogRange(asker, filters, run.end + 1, to);
    // Meanwhile the provider may have refused to be asked two questions at once.
    if (mark.at > context.now() - Math.max(apart, apartOf(asker))) return;
    const known = last.height === mark.height ? mark.hash : knownAt(reading, last.height);
    if ((run.hash ?? before.hash) !== before.hash || (known ?? last.hash) !== last.hash)
      throw badAnswer(`block ${last.height} is another one than was read`);
    run = { ...run, hash: last.hash, end: last.height, logs: [...run.logs, ...logs] };
    run.headers.set(last.height, last);
    if (known === undefined && !isDeep(reading, last.height)) continue;
    const { transfers, paid } = await creditsOfRun(reading, run, last);
    const after: EvmCursor = {
      ...reading.cursor,
      paid: withPaid(reading.cursor.paid, paid),
      proved: last.height,
    };
    // A chain whose clock is ahead of ours proves nothing of what is still to come.
    const read_through = Math.min(context.local(last.time).earliest_at, context.now());
    yield* stored(reading, { transfers, read_through }, after);
    context.memory.absent = new WeakMap();
    run = runAfter(last.height, last.hash);
  }
}

/** The hash of a block as it was read the first time; undefined where that is not held. */
const knownAt = ({ cursor, context: { memory } }: Reading, height: number): string | undefined =>
  hashAt(cursor, height) ?? memory.marks.find((mark) => mark.height === height)?.hash;

/** What no branch replaces any more needs no comparison. */
const isDeep = ({ network, cursor }: Reading, height: number): boolean =>
  placeIn(network, cursor, height).final;

/** The furthest block within a range that is known to be ours; else the next one, or as far as the range goes. */
function nextEnd(
  { cursor, context: { memory }, asker, filters }: Reading,
  { from, mark }: { from: number; mark: Mark },
): number {
  const most = from + asker.host.blocks.value * spansAtOnce(asker, fitting(asker, filters));
  if (mark.height <= most) return mark.height;
  const heights = [...cursor.held.map(([height]) => height), ...memory.marks.map(({ height }) => height)];
  const ahead = heights.filter((height) => height > from && height < mark.height);
  const within = ahead.filter((height) => height <= most);
  return within.length > 0 ? Math.max(...within) : Math.min(mark.height, ...ahead);
}

/** Of what the provider lists, and of what another one lists as well. */
async function creditsOfRun(
  reading: Reading,
  { from, logs, headers }: Run,
  last: Header,
): Promise<{ transfers: Transfer[]; paid: Held[] }> {
  const seen = { logs, coins: [], headers };
  const own = await creditsAt({ ...reading, is_second: true }, reading.cursor, seen);
  const nameOf = ({ transactionHash, logIndex }: Log) => `${transactionHash} ${logIndex}`;
  const listed = new Set(logs.map(nameOf));
  // One that makes up so much is asked no more for these blocks.
  const is_asked = !isMadeUp(absentOf(reading.context), 'others');
  const others = (is_asked && (await orFailed(logsOfOther(reading, from, last)))) || [];
  const more = await leftOut(
    reading,
    others.filter((log) => !listed.has(nameOf(log))),
    headers,
  );
  return {
    transfers: [...own.transfers, ...(more?.transfers ?? [])],
    paid: [...own.paid, ...(more?.paid ?? [])],
  };
}

/**
 * What only another provider lists, as far as it is true. Throws ProviderError where that is not known now: the provider that
 * is read is behind, or fails; what the other one makes up holds up nothing.
 */
async function leftOut(
  reading: Reading,
  logs: readonly Log[],
  known: ReadonlyMap<number, Header>,
): Promise<{ transfers: Transfer[]; paid: Held[] } | undefined> {
  if (logs.length === 0) return undefined;
  const unknown = [...new Set(logs.map(({ blockNumber }) => blockNumber))].filter((at) => !known.has(at));
  const found = await readHeaders(reading.asker, unknown);
  const headers = new Map(known);
  for (const [at, header] of found.entries()) {
    if (!header)
      throw badAnswer(`block ${unknown[at]} cannot be read, and another provider lists payments in it`);
    headers.set(header.height, header);
  }
  const here = logs.filter(({ blockNumber, blockHash }) => headers.get(blockNumber)?.hash === blockHash);
  try {
    const held = { ...reading, is_second: true, is_others: true };
    return await creditsAt(held, reading.cursor, { logs: here, coins: [], headers });
  } catch (error) {
    if (!(error instanceof Refuted)) throw error;
    return undefined;
  }
}

/**
 * What another provider has in the same blocks: one whose index has holes leaves out the same each time. Its word alone
 * books nothing, the receipts are of the provider that is read.
 */
async function logsOfOther(
  { network, context, filters }: Reading,
  from: number,
  last: Header,
): Promise<Log[]> {
  const { askOther } = context;
  if (!askOther) return [];
  return askOther(async (rpc) => {
    const asker: Asker = askerOf(network, { ...context, rpc });
    const logs: Log[] = [];
    for (let next = from; next <= last.height; ) {
      const range = await readLogRange(asker, filters, next, last.height);
      logs.push(...range.logs);
      next = range.last.height + 1;
      if (next > last.height && range.last.hash !== last.hash)
        throw badAnswer(`block ${last.height} is another one than was read`);
    }
    return logs;
  });
}
