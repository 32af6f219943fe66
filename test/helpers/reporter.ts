// What vitest's own reporter leaves out: how far a run is where no terminal shows it, and at the end what was skipped and why, and
// which files did not come to their end.
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { missingSoftware } from './software.ts';

/** A line of progress after this long, where the output is a file or a pipe. */
const PROGRESS_MS = 15_000;
/** Of a file whose process ended before it. */
const UNFINISHED = ['queued', 'pending'];
/** Skipped tests that are named. */
const MAX_NAMED = 12;

export default class RunReporter implements Reporter {
  readonly #started_at = Date.now();
  #vitest: Vitest | undefined;
  #total = 0;
  #done = 0;
  #printed_at = Date.now();

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunStart(specifications: readonly unknown[]): void {
    this.#total = specifications.length;
    this.#done = 0;
  }

  onTestModuleEnd(): void {
    this.#done++;
    const now = Date.now();
    if (process.stdout.isTTY || now - this.#printed_at < PROGRESS_MS) return;
    this.#printed_at = now;
    const minutes = ((now - this.#started_at) / 60_000).toFixed(1);
    this.#print(` --- ${this.#done} of ${this.#total} files after ${minutes} minutes`);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules)
      if (UNFINISHED.includes(module.state())) this.#print(` !!! Not finished: ${module.relativeModuleId}`);
    // Of a few files, or tests that were chosen by name, the rest is left out on purpose.
    if (this.#vitest?.config.testNamePattern) return;
    const names = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map((test) => `${module.relativeModuleId}: ${test.fullName}`),
    );
    if (names.length === 0) return;
    const missing = missingSoftware();
    if (missing.length > 0) {
      this.#print(loud(names.length, missing));
      return;
    }
    // With everything installed these are tests of one database only: a list, not an alarm.
    const more = names.length > MAX_NAMED ? [` - and ${names.length - MAX_NAMED} more`] : [];
    const lines = names.slice(0, MAX_NAMED).map((name) => ` - ${name}`);
    this.#print([` Skipped, with everything installed: ${names.length}`, ...lines, ...more, ''].join('\n'));
  }

  #print(text: string): void {
    if (this.#vitest) this.#vitest.logger.log(text);
  }
}

function loud(count: number, missing: readonly string[]): string {
  const rule = '!'.repeat(80);
  const lines = missing.map((line) => `!!! - ${line}`);
  return ['', rule, `!!! ${count} tests were SKIPPED:`, ...lines, rule, ''].join('\n');
}
