// From the start of the process to ready, on an empty directory and on one that was used before; and of commands of gw to their end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { GW } from '../cli/helpers/gw.ts';
import { makeHome } from '../daemon/helpers/process.ts';
import { atMost, say, spread } from './measure.ts';

const RUNS = 7;
/** From the start of the process to ready. */
const READY_MS = 500;

/** Of a command that asks no one, against Node.js that does nothing; of one that asks the service, against Node.js that does. */
const START_RATIO = 1.6;
const COMMANDS = [['--version'], ['--help'], ['invoice', '--help'], ['completion', 'bash']];

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
  await benchCommands();
}

/** In turns, so that what else the machine does falls on both. */
async function benchCommands(): Promise<void> {
  const home = makeHome();
  const { url, signal, ended } = await home.start();
  const asks = `fetch('${url}/v1/gateways').then((reply) => reply.text())`;
  const run = (words: string[]) =>
    timed(() =>
      once(
        spawn(process.execPath, words, { stdio: 'ignore', env: { ...process.env, GW_CONFIG_DIR: home.dir } }),
        'exit',
      ),
    );
  const against = async (floor: string[], words: string[]) => {
    const ratios: number[] = [];
    for (let turn = 0; turn < RUNS; turn++) {
      const bare = await run(floor);
      ratios.push((await run([GW, ...words])) / bare);
    }
    atMost(`gw ${words.slice(0, 2).join(' ')}, times Node.js`, ratios, START_RATIO);
  };
  for (const words of COMMANDS) await against(['-e', '0'], words);
  await against(['-e', asks], ['gateways', '--json', '--url', url]);
  signal('SIGTERM');
  await ended;
  await home.remove();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
