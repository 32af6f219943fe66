// Reads everything a second time, a while later, of another provider too: a node that lagged may have answered first.
import { type Page, ProviderError } from '../family.ts';
import { badAnswer, type Header, type Log } from './answers.ts';
import { type EvmCursor, headOf, withPaid } from './cursor.ts';
import type { Mark } from './memory.ts';
import { readLogRange } from './ranges.ts';
import { askerOf, creditsAt, type Reading, stored } from './reading.ts';

/** Between the two times that a block is read. */
const APART_SECONDS = 60;
/** Where that fails for so long, the provider is given up for another one. */
const OVERDUE_SECONDS = 600;
/** Stretches read a second time in one reading; what is left comes with the next. */
const STRETCHES_PER_READ = 30;
/** Ends of readings held at once. */
const MOST_MARKS = 64;

/** Notes where a reading ended. */
export function markEnd({ cursor, context: { memory, now } }: Reading): void {
  const [height, hash] = headOf(cursor);
  const at = now();
  const marks = memory.marks.filter((mark) => mark.height > cursor.proved && mark.at <= at);
  const last = marks.at(-1);
  if (last?.height !== height || last.hash !== hash) marks.push({ height, hash, at });
  memory.marks = marks.slice(-MOST_MARKS);
}

/**
 * Once a minute, or at once where an invoice is about to end. What fails is tried again with the next reading, and proves
 * nothing until then; only where it fails for long the provider is at fault.
 */
export async function* lookAgain(reading: Reading): AsyncGenerator<Page> {
  const { context, request } = reading;
  const { memory, now } = context;
  const [head] = headOf(reading.cursor);
  const mark = memory.marks.findLast(({ at, height }) => at <= now() - APART_SECONDS && height <= head);
  if (!mark || mark.height <= reading.cursor.proved) return;
  const isDue = now() - memory.second_at >= APART_SECONDS || now() < memory.second_at;
  if (!isDue && (await request.urgent()).length === 0) return;
  try {
    yield* readUpTo(reading, mark);
    memory.failing_since = null;
    // What is left has its turn at once.
    if (reading.cursor.proved === mark.height) memory.second_at = now();
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const since = Math.min(memory.failing_since ?? now(), now());
    memory.failing_since = since;
    if (now() - since < OVERDUE_SECONDS) return;
    const message = `the second reading of blocks fails since ${now() - since} seconds: ${error.message}`;
    throw new ProviderError('bad_answer', message, error.code);
  }
}

/** By ranges, whose last block is one that was read. */
async function* readUpTo(reading: Reading, mark: Mark): AsyncGenerator<Page> {
  const { asker, filters, context } = reading;
  for (let read = 0; read < STRETCHES_PER_READ && reading.cursor.proved < mark.height; read++) {
    const from = reading.cursor.proved + 1;
    const { last, logs } = await readLogRange(asker, filters, from, mark.height);
    if (last.height === mark.height && last.hash !== mark.hash)
      throw badAnswer(`block ${mark.height} is another one than was read`);
    const headers = new Map([[last.height, last]]);
    const creditsOf = (all: readonly Log[]) =>
      creditsAt(reading, reading.cursor, { logs: all, coins: [], headers });
    const { transfers, paid } = await orNull(async () =>
      creditsOf([...logs, ...(await logsOfOther(reading, from, last))]),
    ).then((credits) => credits ?? creditsOf(logs));
    const after: EvmCursor = {
      ...reading.cursor,
      paid: withPaid(reading.cursor.paid, paid),
      proved: last.height,
    };
    const read_through = context.local(last.time).earliest_at;
    yield* stored(reading, { transfers, read_through }, after);
  }
}

/** Null where a provider fails. */
async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProviderError) return null;
    throw error;
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
    const asker = askerOf(network, { ...context, rpc });
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
