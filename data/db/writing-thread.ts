// A thread that writes to a SQLite file for the daemon: statements that need no answer in between, many of them with one commit,
// so that no one else waits while they are run and while the disk stores them.
import { Worker } from 'node:worker_threads';
import type { Batch } from './database.ts';
import { driverPath, sqlite } from './driver.ts';

/** Most batches that share one commit. */
const GROUP_LIMIT = 64;
/** It only runs statements: more memory than this is no use to it. */
const LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 };

/** What the thread is sent of a batch: texts that are new to it, and which of all it knows with which values. */
type Order = [texts: string[], batch: [number, Batch[number]['values']][]];

/** What became of a batch: whether its first statement wrote a row, or why nothing was written. */
type Written = boolean | { message: string; code: string };

/**
 * Alone in the line of writers while it works. What came while it wrote shares the next commit; where a row is refused, each is tried
 * again without the others.
 */
const WRITE = `
  const { parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads');
  const SQLite = require(workerData.module);
  const database = new SQLite(workerData.file, { fileMustExist: true, timeout: workerData.timeout });
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  // What a statement may have to undo is not written to a file that is made for it.
  database.pragma('temp_store = MEMORY');
  database.pragma('wal_autocheckpoint = ' + workerData.checkpoint_pages);
  const begin = database.prepare('begin immediate');
  const commit = database.prepare('commit');
  const rollback = database.prepare('rollback');
  const statements = [];
  const failure = ({ message, code }) => ({ message, code: typeof code === 'string' ? code : '' });
  const write = (batch) => {
    for (let at = 0; at < batch.length; at++) {
      const { changes } = statements[batch[at][0]].run(batch[at][1]);
      if (at === 0 && changes === 0) return false;
    }
    return true;
  };
  const together = (batches) => {
    begin.run();
    try {
      const written = batches.map(write);
      commit.run();
      return written;
    } finally {
      if (database.inTransaction) rollback.run();
    }
  };
  const written = (batches) => {
    try {
      return together(batches);
    } catch (error) {
      const is_of_one = String(error.code).startsWith('SQLITE_CONSTRAINT') && batches.length > 1;
      return batches.map(is_of_one ? apart : () => failure(error));
    }
  };
  const apart = (batch) => {
    try {
      return together([batch])[0];
    } catch (error) {
      return failure(error);
    }
  };
  parentPort.on('message', (first) => {
    const batches = [];
    let order = first;
    for (; order; order = batches.length < workerData.group_limit && receiveMessageOnPort(parentPort)?.message) {
      // What cannot be prepared ends the thread: its numbers would mean other texts from then on.
      for (const text of order[0]) statements.push(database.prepare(text));
      batches.push(order[1]);
    }
    if (batches.length > 0) parentPort.postMessage(written(batches));
    if (order !== null) return;
    database.close();
    parentPort.close();
  });
`;

export interface WritingThread {
  /** Writes it with those that wait for the same commit: whether its first statement wrote a row. Rejects also where nothing is known of it. */
  write(batch: Batch): Promise<boolean>;
  close(): Promise<void>;
}

interface Running {
  worker: Worker;
  /** Texts that it has, by their number. */
  known: Map<string, number>;
  /** Who waits for what became of theirs, in the order in which they were sent. */
  waiting: { succeed(written: boolean): void; fail(error: unknown): void }[];
}

/**
 * The thread starts with the first batch. `onCommit` is called after each commit, before anyone hears of it; what it throws is the
 * failure of all that it wrote.
 */
export function openWritingThread({
  onCommit,
  ...options
}: {
  file: string;
  timeout: number;
  checkpoint_pages: number;
  onCommit(): void;
}): WritingThread {
  let running: Running | undefined;

  function start(): Running {
    const worker = new Worker(WRITE, {
      eval: true,
      workerData: { ...options, group_limit: GROUP_LIMIT, module: driverPath() },
      resourceLimits: LIMITS,
    });
    const made: Running = { worker, known: new Map(), waiting: [] };
    const ended = (error: Error) => {
      if (running === made) running = undefined;
      for (const { fail } of made.waiting.splice(0))
        fail(new (sqlite().SqliteError)(`the thread that writes ended: ${error.message}`, 'SQLITE_IOERR'));
    };
    worker.on('message', (group: Written[]) => {
      const heard = made.waiting.splice(0, group.length);
      try {
        onCommit();
      } catch (error) {
        for (const { fail } of heard) fail(error);
        return;
      }
      for (const [at, { succeed, fail }] of heard.entries()) {
        const written = group[at] as Written;
        if (typeof written === 'boolean') succeed(written);
        else fail(failureOf(written));
      }
    });
    worker.on('error', ended);
    worker.on('exit', () => ended(new Error('it stopped')));
    return made;
  }

  return {
    write(batch) {
      running ??= start();
      const { worker, known, waiting } = running;
      const texts: string[] = [];
      const numberOf = (text: string) => {
        const number = known.get(text) ?? known.size;
        if (number === known.size) {
          known.set(text, number);
          texts.push(text);
        }
        return number;
      };
      const order: Order = [texts, batch.map(({ text, values }) => [numberOf(text), values])];
      return new Promise((succeed, fail) => {
        try {
          worker.postMessage(order);
        } catch (error) {
          // What cannot be sent, the thread does not know.
          for (const text of texts) known.delete(text);
          throw error;
        }
        waiting.push({ succeed, fail });
      });
    },
    async close() {
      const { worker } = running ?? {};
      if (!worker) return;
      const gone = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage(null);
      await gone;
    },
  };
}

/** What a thread says of a failure, as the driver would throw it. */
const failureOf = ({ message, code }: Exclude<Written, boolean>): Error =>
  code.startsWith('SQLITE_') ? new (sqlite().SqliteError)(message, code) : new Error(message);
