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

/** Of a command, against Node.js that does nothing; of one that asks the service, against Node.js that makes its request. */
const START_RATIO = 1.6;
const COMMANDS = [
  ['--version'],
  ['--help'],
  ['invoice', '--help'],
  ['invoice', 'create', '--help'],
  ['completion', 'bash'],
  ['config', 'list'],
];
/** Commands that ask the service, with the request that each cannot do without. */
const ASKING: { words: string[]; path: string; body?: object }[] = [
  { words: ['gateways', '--json'], path: '/v1/gateways' },
  { words: ['system', 'health'], path: '/health' },
  { words: ['invoice', 'list', '--json'], path: '/v1/invoices' },
  { words: ['inbox', '--json'], path: '/v1/inbox' },
  {
    words: ['invoice', 'create', '--chain', 'ton', '--amount', '5', '--json'],
    path: '/v1/invoices',
    body: { chain: 'ton', amount: '5' },
  },
  {
    words: ['unit', 'create', '--title', 'Tea', '--amount-usd', '4', '--json'],
    path: '/api/v1/merchant/units',
    body: { title: 'Tea', amount_usd: '4' },
  },
];
/** It is made by the quickest that Node.js has. */
const request = (url: string, headers: object, body?: object) =>
  `require('node:http').request('${url}', ${JSON.stringify({ method: body ? 'POST' : 'GET', headers })},
    (reply) => reply.setEncoding('utf8').on('data', () => {})).end(${JSON.stringify(body && JSON.stringify(body))})`;

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
          const daemon = await home.start({ env: { XDG_CACHE_HOME: home.dir } });
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
  say(`first start to ready (schema, superuser, compiler): ${spread(first)} ms`);
  atMost('later start to ready, ms', again, READY_MS, 0);
  await benchCommands();
}

/** In turns, so that what else the machine does falls on both. */
async function benchCommands(): Promise<void> {
  const home = makeHome();
  const { url, signal, ended } = await home.start();
  const { key, token } = await shopkeeper(serviceAt({ base_url: url }), { wallets });
  const env = { ...process.env, GW_CONFIG_DIR: home.dir, GW_API_KEY: key, GW_TOKEN: token };
  const headers = {
    'x-api-key': key,
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  };
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
  for (const { words, path, body } of ASKING)
    await against(['-e', request(`${url}${path}`, headers, body)], [...words, '--url', url]);
  signal('SIGTERM');
  await ended;
  await home.remove();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
