// From the start of the process to ready, on an empty directory and on one that was used before.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { makeHome } from '../daemon/helpers/process.ts';
import { atMost, say, spread } from './measure.ts';

const RUNS = 7;
/** From the start of the process to ready. */
const READY_MS = 500;

export async function benchStart(): Promise<void> {
  const first: number[] = [];
  const again: number[] = [];
  const bare: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    bare.push(await timed(() => once(spawn(process.execPath, ['-e', '0']), 'exit')));
    const home = makeHome();
    for (const times of [first, again]) {
      let stop = async () => {};
      times.push(
        await timed(async () => {
          const daemon = await home.start();
          stop = async () => {
            daemon.signal('SIGTERM');
            await daemon.ended;
          };
        }),
      );
      await stop();
    }
    await home.remove();
  }
  say(`node that does nothing: ${spread(bare)} ms`);
  say(`first start to ready (schema, superuser): ${spread(first)} ms`);
  atMost('later start to ready, ms', again, READY_MS, 0);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
