// What several callers want at the same time is done by one statement: on PostgreSQL each then costs a fraction of one alone.
import type { Db } from './database.ts';
import { isBusy, isUnusable } from './failures.ts';

/** A statement that takes longer holds up no other: it may wait for a lock, or be on a connection that is gone. */
const HOLDS_UP_MS = 50;

interface Job<Item, Result> {
  item: Item;
  succeed(result: Result): void;
  fail(error: unknown): void;
}

interface Line<Item, Result> {
  waiting: Job<Item, Result>[];
  /** Whether one is under way that the next one waits for. */
  is_taken: boolean;
}

/**
 * `work` for one item, which is begun after the call: at once where none is under way, and else, with all that came
 * meanwhile, when that ends. So no one waits without need, and the more there is to do, the more of it is done together. `work`
 * gives a result for each item, in their order, and writes nothing where it fails; then each item is tried alone, and one that
 * fails fails no other. Items of different keys have nothing to do with each other.
 */
export function gathered<Item, Result>(
  most: number,
  work: (db: Db, items: readonly Item[]) => Promise<readonly Result[]>,
  keyOf: (item: Item) => string = () => '',
): (db: Db, item: Item) => Promise<Result> {
  const all = new WeakMap<Db, Map<string, Line<Item, Result>>>();

  async function run(db: Db, jobs: readonly Job<Item, Result>[]): Promise<void> {
    try {
      const results = await work(
        db,
        jobs.map(({ item }) => item),
      );
      for (const [at, job] of jobs.entries()) job.succeed(results[at] as Result);
    } catch (error) {
      // What became of a statement whose connection broke is not known, and a busy database is not asked again and again.
      if (jobs.length > 1 && !isBusy(error) && !isUnusable(error))
        await Promise.all(jobs.map((job) => run(db, [job])));
      else for (const job of jobs) job.fail(error);
    }
  }

  return (db, item) => {
    const lines = all.get(db) ?? new Map<string, Line<Item, Result>>();
    all.set(db, lines);
    const key = keyOf(item);
    const line = lines.get(key) ?? { waiting: [], is_taken: false };
    lines.set(key, line);
    const next = () => {
      if (line.is_taken) return;
      if (line.waiting.length === 0) {
        lines.delete(key);
        return;
      }
      line.is_taken = true;
      let is_over = false;
      const end = () => {
        if (is_over) return;
        is_over = true;
        line.is_taken = false;
        next();
      };
      void run(db, line.waiting.splice(0, most)).then(end);
      void db.sleep?.(HOLDS_UP_MS).then(end);
    };
    return new Promise((succeed, fail) => {
      line.waiting.push({ item, succeed, fail });
      next();
    });
  };
}
