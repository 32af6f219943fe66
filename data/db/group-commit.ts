// SQLite has one writer: those who want to write wait in one line, share commits, and stop no reader.
import type { Kysely } from 'kysely';
import type { Tables } from '../schema/tables.ts';
import type { Batch, Db, Turns, Tx } from './database.ts';
import { isBusy } from './failures.ts';
import type { WritingThread } from './writing-thread.ts';

/** Most transactions that share one commit. */
const GROUP_LIMIT = 64;
/** Turns of the event loop that a commit waits for company; a turn without a newcomer ends the wait. */
const GATHER_TURNS = 4;
/** How often the write lock is asked for while another process has it … */
const LOCK_PAUSE_MS = 20;
/** … and how often for one transaction: 5 s in all. */
const LOCK_TRIES = 250;

/** Begins and ends transactions on the one connection, past the query builder: they are most of its calls. */
export interface Control {
  /** Takes the write lock at once, or throws that it is busy. */
  begin(): void;
  /** Throws where nothing would be stored. */
  assertOurs(): void;
  /** The same, and where nothing may be stored any more. */
  commit(): void;
  is_fenced: boolean;
  run(text: string): void;
  isOpen(): boolean;
  /** How often transactions were committed … */
  changes: number;
  /** … and groups of batches. */
  batches: number;
}

/** One caller's transaction in a group; it hears of its end only when the group has been committed. */
interface Job {
  work(tx: Tx): Promise<unknown>;
  succeed(value: unknown): void;
  fail(error: unknown): void;
  /** How often the lock was asked for since it came. */
  tries: number;
}

/** The line of all who write to a file: transactions here, batches in the thread, never both at once. */
export interface Line {
  transaction: Db['transaction'];
  batch?: NonNullable<Db['batch']>;
}

/**
 * Those that come while a commit is on its way share the next one: the disk is asked once for all of them. Each has
 * a savepoint of its own, so that a failure undoes its own work and no one else's.
 */
export function createLine(
  query: Kysely<Tables>,
  control: Control,
  turns: Turns,
  thread: WritingThread | null,
): Line {
  const waiting: Job[] = [];
  /** Batches that came while transactions had the lock. */
  let held: (() => void)[] = [];
  let running = false;
  /** Batches that the thread has. */
  let sent = 0;
  let onAnswered = () => {};

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      // In turns, so that neither keeps the other waiting.
      if (sent > 0) await new Promise<void>((resolve) => (onAnswered = resolve));
      await gather(waiting, turns);
      const busy = await runGroup(query, waiting, control, turns);
      if (busy !== undefined) {
        for (const job of waiting.splice(0))
          if (++job.tries < LOCK_TRIES) waiting.push(job);
          else job.fail(busy);
        await turns.sleep(LOCK_PAUSE_MS);
        // Nor could the thread have it: each try of a transaction would wait as long as that does.
        if (waiting.length > 0) continue;
      }
      const ready = held;
      held = [];
      for (const resume of ready) resume();
    }
    running = false;
  }

  async function send(thread: WritingThread, batch: Batch): Promise<boolean> {
    if (sent === 0) control.assertOurs();
    sent++;
    try {
      return await thread.write(batch);
    } finally {
      if (--sent === 0) onAnswered();
    }
  }

  return {
    transaction: <T>(work: (tx: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, succeed: (value) => resolve(value as T), fail: reject, tries: 0 });
        if (!running) void run();
      }),
    ...(thread && {
      batch: (batch) =>
        running
          ? new Promise((resolve) => held.push(() => resolve(send(thread, batch))))
          : send(thread, batch),
    }),
  };
}

/** Lets the requests that have arrived already come to their transactions, while more keep coming. */
async function gather(waiting: readonly Job[], turns: Turns): Promise<void> {
  for (let turn = 0; turn < GATHER_TURNS; turn++) {
    const before = waiting.length;
    await turns.turn();
    if (waiting.length === before || waiting.length >= GROUP_LIMIT) return;
  }
}

/** Ends the first that wait, together. Returns why where another process has the lock: then they wait on. */
async function runGroup(
  query: Kysely<Tables>,
  waiting: Job[],
  control: Control,
  turns: Turns,
): Promise<unknown> {
  let group: Job[] = [];
  try {
    const ends = await query.connection().execute(async (connection) => {
      // A transaction that will write takes the write lock before it reads.
      control.begin();
      group = waiting.splice(0, GROUP_LIMIT);
      try {
        const ended: (() => void)[] = [];
        for (const job of group) ended.push(await runJob(connection as Tx, job, control));
        await turns.before?.('commit');
        control.commit();
        await turns.before?.('committed');
        return ended;
      } catch (error) {
        if (control.isOpen()) control.run('rollback');
        throw error;
      }
    });
    for (const end of ends) end();
  } catch (error) {
    if (group.length === 0 && isBusy(error)) return error;
    // Not begun at all, it is the failure of all that wait.
    for (const job of group.length > 0 ? group : waiting.splice(0)) job.fail(error);
  }
  return undefined;
}

/** Throws only where the whole group is lost (SQLite itself has rolled back, as on a full disk). */
async function runJob(tx: Tx, job: Job, control: Control): Promise<() => void> {
  control.run('savepoint job');
  try {
    const value = await job.work(tx);
    control.run('release job');
    return () => job.succeed(value);
  } catch (error) {
    if (!control.isOpen()) throw error;
    control.run('rollback to job');
    control.run('release job');
    return () => job.fail(error);
  }
}
