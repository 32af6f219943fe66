// A copy of a SQLite database as it is at one moment, also while a daemon writes to it: one file, without a log next to it.

import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { driverPath } from './driver.ts';
import { codeOf } from './failures.ts';

/** A writer of another version may hold a file for a moment. */
const BUSY_TIMEOUT_MS = 5_000;
/** More than a file can have: what is copied in one step cannot be overtaken by a writer, which would begin it again. */
const ALL_PAGES = 2 ** 31 - 1;

/** Runs in a thread, because that one step takes as long as it takes; its module is named by path, for it finds none by name. */
const COPY = `
  const { parentPort, workerData } = require('node:worker_threads');
  const SQLite = require(workerData.module);
  const source = new SQLite(workerData.file, { readonly: true, fileMustExist: true, timeout: workerData.timeout });
  source.backup(workerData.target, { progress: () => workerData.pages }).then(() => {
    source.close();
    const copy = new SQLite(workerData.target);
    copy.pragma('journal_mode = delete');
    copy.close();
    parentPort.postMessage({});
  }).catch((error) => parentPort.postMessage({ message: error.message, code: error.code }));
`;

/** Removes a database that no process has open, with whatever SQLite keeps next to it and would replay into another of that name. */
export async function removeSqlite(file: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(`${file}${suffix}`, { force: true });
}

/**
 * Copies `file` to `target`; what an interrupted copy left under that name goes first. Throws what SQLite says, by its code, and where the signal aborts; then
 * `target` may be there in part.
 */
export async function copySqlite(file: string, target: string, signal?: AbortSignal): Promise<void> {
  await removeSqlite(target);
  const worker = new Worker(COPY, {
    eval: true,
    workerData: {
      module: driverPath(),
      file,
      target,
      timeout: BUSY_TIMEOUT_MS,
      pages: ALL_PAGES,
    },
  });
  try {
    const [failure] = (await once(worker, 'message', { signal })) as [{ message?: string; code?: string }];
    if (failure.message !== undefined)
      throw Object.assign(new Error(failure.message), { code: codeOf(failure) });
  } finally {
    await worker.terminate();
  }
}
