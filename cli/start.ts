// What main loads for all but the quickest answers, in one.
export { openRegistry } from './commands.ts';
export { run } from './engine/run.ts';
