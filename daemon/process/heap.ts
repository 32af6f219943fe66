// How much V8 may take: little at rest, where memory that it took would be held unused; at work, what it decides itself.
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';

const SAMPLE_MS = 250;
/** Share of a sample in which the event loop works, from which on it is a busy one. */
const BUSY = 0.25;
/** So many busy ones in a row are work, which what is loaded some time after the start is not … */
const WORK_SAMPLES = 4;
/** … and so many others a rest. */
const REST_SAMPLES = 120;
/**
 * The room for young objects stays as it is, TurboFan compiles nothing once more to be faster (a load below `BUSY` takes some times
 * the processor time for that) …
 */
const SMALL = ['--semi-space-growth-factor=1', '--no-opt'];
/** … and old objects are collected once they are some megabytes more. */
const AT_REST = [...SMALL, '--optimize-for-size', '--heap-growing-percent=5'];
/** V8's own. */
const AT_WORK = [
  '--semi-space-growth-factor=2',
  '--no-optimize-for-size',
  '--heap-growing-percent=0',
  '--opt',
];

/** Who gave Node.js options of its own has decided; with `--jitless` V8 would end by `--opt`. */
const isOurs = process.execArgv.length === 0 && !process.env.NODE_OPTIONS;

function use(flags: readonly string[]): void {
  for (const flag of flags) setFlagsFromString(flag);
}

/** Before anything is loaded. What a start loads stays: to collect more often would find little, and take longer. */
export function startSmall(): void {
  if (isOurs) use(SMALL);
}

/** Watches from now on whether there is work, for as long as the process runs. */
export function watchHeap(): void {
  if (!isOurs) return;
  use(AT_REST);
  let before = performance.eventLoopUtilization();
  let at_work = false;
  /** Samples in a row that say the contrary. */
  let contrary = 0;
  const sample = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    contrary = utilization >= BUSY === at_work ? 0 : contrary + 1;
    if (contrary < (at_work ? REST_SAMPLES : WORK_SAMPLES)) return;
    at_work = !at_work;
    contrary = 0;
    use(at_work ? AT_WORK : AT_REST);
  };
  setInterval(sample, SAMPLE_MS).unref();
}
