// From the start of the process to ready, on an empty directory and on one that was used before; and of commands of gw to their end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { GW } from '../cli/helpers/gw.ts';
import { makeHome } from '../daemon/helpers/process.ts';
import { shopkeeper, wallets } from '../helpers/people.ts';
import { serviceAt } from '../helpers/service.ts';
import { atMost, say, spread } from './measure.ts';

const RUNS = 7;
/** Of a command and its floor: they are short, and what else the machine does is not. */
const TURNS = 15;
/** From the start of the process to ready. */
const READY_MS = 500;

/** Of a command, against Node.js that does nothing; of one that asks the service, against Node.js that makes one request. */
const START_RATIO = 1.6;
const COMMANDS = [
  ['--version'],
  ['--help'],
  ['invoice', '--help'],
  ['invoice', 'create', '--help'],
  ['completion', 'bash'],
  ['config', 'list'],
];
const ASKING = [
  ['gateways', '--json'],
  ['system', 'health'],
  ['invoice', 'list', '--json'],
  ['invoice', 'create', '--chain', 'ton', '--amount', '5', '--json'],
];
/** The request that cannot be done without, by the quickest that Node.js has. */
const request = (url: string) =>
  `require('node:http').get('${url}/v1/gateways', (reply) => reply.setEncoding('utf8').on('data', () => {}))`;

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
  const { key } = await shopkeeper(serviceAt({ base_url: url }), { wallets });
  const env = { ...process.env, GW_CONFIG_DIR: home.dir, GW_API_KEY: key };
  const run = (words: string[]) =>
    timed(() => once(spawn(process.execPath, words, { stdio: 'ignore', env }), 'exit'));
  const against = async (floor: string[], words: string[]) => {
    const ratios: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const bare = await run(floor);
      ratios.push((await run([GW, ...words])) / bare);
    }
    atMost(`gw ${words.join(' ')}, times Node.js`, ratios, START_RATIO);
  };
  for (const words of COMMANDS) await against(['-e', '0'], words);
  for (const words of ASKING) await against(['-e', request(url)], [...words, '--url', url]);
  signal('SIGTERM');
  await ended;
  await home.remove();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
