// A thread that writes to a SQLite file for the daemon: statements that need no answer in between, many of them with one commit,
// so that no one else waits while they are run and while the disk stores them.
import { Worker } from 'node:worker_threads';
import type { Batch } from './database.ts';
import { driverPath, sqlite } from './driver.ts';

/** It only runs statements: more memory than this is no use to it. */
const LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 };

/** What the thread is sent: the texts that are new to it, and of each batch which of them with which values. */
interface Order {
  texts: string[];
  batches: [number, Batch[number]['values']][][];
}

/** What became of a batch: whether its first statement wrote a row, or why nothing was written. */
export type Written = boolean | { message: string; code: string };

/** Alone in the line of writers while it works. Where a row is refused, each is tried again without the others. */
const WRITE = `
  const { parentPort, workerData } = require('node:worker_threads');
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
      const statement = statements[batch[at][0]];
      const changes = statement.reader ? statement.all(batch[at][1]).length : statement.run(batch[at][1]).changes;
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
  const apart = (batch) => {
    try {
      return together([batch])[0];
    } catch (error) {
      return failure(error);
    }
  };
  parentPort.on('message', (order) => {
    if (order === null) {
      database.close();
      return parentPort.close();
    }
    // What cannot be prepared ends the thread: its numbers would mean other texts from then on.
    for (const text of order.texts) statements.push(database.prepare(text));
    let written;
    try {
      written = together(order.batches);
    } catch (error) {
      const is_of_one = String(error.code).startsWith('SQLITE_CONSTRAINT') && order.batches.length > 1;
      written = order.batches.map(is_of_one ? apart : () => failure(error));
    }
    parentPort.postMessage(written);
  });
`;

export interface WritingThread {
  /** Writes each, or tells why not. One call at a time. Rejects where the thread ended: then nothing is known of them. */
  write(batches: readonly Batch[]): Promise<Written[]>;
  close(): Promise<void>;
}

interface Running {
  worker: Worker;
  /** Texts that it has, by their number. */
  known: Map<string, number>;
  /** Who waits for what it was sent. */
  answer: { resolve(written: Written[]): void; reject(error: Error): void } | undefined;
}

/** The thread starts with the first batch. */
export function openWritingThread(options: {
  file: string;
  timeout: number;
  checkpoint_pages: number;
}): WritingThread {
  let running: Running | undefined;

  function start(): Running {
    const worker = new Worker(WRITE, {
      eval: true,
      workerData: { ...options, module: driverPath() },
      resourceLimits: LIMITS,
    });
    const made: Running = { worker, known: new Map(), answer: undefined };
    const ended = (error: Error) => {
      if (running === made) running = undefined;
      made.answer?.reject(
        new (sqlite().SqliteError)(`the thread that writes ended: ${error.message}`, 'SQLITE_IOERR'),
      );
      made.answer = undefined;
    };
    worker.on('message', (written: Written[]) => {
      const { answer } = made;
      made.answer = undefined;
      answer?.resolve(written);
    });
    worker.on('error', ended);
    worker.on('exit', () => ended(new Error('it stopped')));
    return made;
  }

  return {
    write(batches) {
      running ??= start();
      const made = running;
      const { worker, known } = made;
      const texts: string[] = [];
      const numberOf = (text: string) => {
        const number = known.get(text) ?? known.size;
        if (number === known.size) {
          known.set(text, number);
          texts.push(text);
        }
        return number;
      };
      const order: Order = {
        batches: batches.map((batch) => batch.map(({ text, values }) => [numberOf(text), values])),
        texts,
      };
      return new Promise((resolve, reject) => {
        made.answer = { resolve, reject };
        worker.postMessage(order);
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
export const failureOf = ({ message, code }: Exclude<Written, boolean>): Error =>
  code.startsWith('SQLITE_') ? new (sqlite().SqliteError)(message, code) : new Error(message);
