// What a newcomer meets: a slow network that is reported, commands that are found, nouns that say what they can do.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { json, serve } from '../helpers/local-server.ts';
import { verifies } from '../requirements.ts';
import { makeGw } from './helpers/gw.ts';

const gw = makeGw('http://127.0.0.1:9');
afterAll(() => gw.remove());

const GATEWAYS = {
  data: [],
  groups: [],
  count: 0,
  network: 'testnet',
  service_fee_percent: '0',
  default_fiat: 'USD',
  usd_precision: '0.01',
  memo_length: 10,
};

it('a slow network is reported after a moment, and leaves no trace', async () => {
  verifies('gw-progress');
  const slow = await serve((_, response) => void setTimeout(() => json(response, GATEWAYS), 1500));
  const pty = gw.pty(['gateways', '--url', slow.url]);
  const asked = Date.now();
  const seen = await pty.see(/waiting for 127\.0\.0\.1:\d+ …/);
  expect(seen).not.toContain('nothing found');
  expect(Date.now() - asked).toBeLessThan(20_000);
  expect(await pty.ended).toBe(0);
  expect(pty.output()).toContain('…\r\u001b[K');
  // Nothing of it for a program.
  const ran = await gw(['gateways', '--url', slow.url, '--json']);
  expect(ran.stderr).toBe('');
  const quick = await serve((_, response) => json(response, GATEWAYS));
  // A machine under load may be slow itself, but hardly five times.
  const reported: boolean[] = [];
  do {
    const fast = gw.pty(['gateways', '--url', quick.url]);
    await fast.ended;
    reported.push(fast.output().includes('waiting for'));
  } while (reported.at(-1) && reported.length < 5);
  expect(reported).toContain(false);
});

it('the help names signup, and a noun alone says what it can do', async () => {
  verifies('gw-commands');
  expect((await gw(['--help'])).stdout).toMatch(/^ {2}signup +Sign up and sign in$/m);
  for (const noun of ['invoice', 'config', 'admin', 'admin daemon']) {
    const { code, stdout, stderr } = await gw(noun.split(' '));
    expect([code, stderr]).toEqual([0, '']);
    expect(stripVTControlCharacters(stdout)).toContain(`Usage: gw ${noun}`);
  }
  expect((await gw(['invoice'])).stdout).toMatch(/^ {2}create +Create an invoice$/m);
  expect((await gw(['invoice', '--json'])).json.commands.length).toBeGreaterThan(5);
  expect((await gw(['invoice', 'crate'])).code).toBe(2);
});

it('what takes a reference says what that can be, and asks a person for it', async () => {
  verifies('gw-plain-words');
  for (const name of ['explain', 'open']) {
    const { code, stderr } = await gw([name]);
    expect([code, stderr.split('\n')]).toEqual([
      2,
      [
        expect.stringMatching(/^gw: missing: REFERENCE – an id or its last eight characters, an order, /),
        `  → gw ${name} order-1001, or gw ${name} 1a2b3c4d${name === 'open' ? ' --print' : ''}`,
        '',
      ],
    ]);
    expect((await gw([name, '--help'])).stdout).toContain(`Usage: gw ${name} [options] [reference]`);
    expect((await gw([name, '--json'])).error.error).toMatchObject({
      code: 'missing_input',
      missing: ['reference'],
    });
  }
  const pty = gw.pty(['explain']);
  await pty.see(/reference – An id, /);
  pty.write('\u0003');
  expect(await pty.ended).toBe(130);
});

it('a command loads nothing that is slow to load and not used', async () => {
  verifies('gw-start');
  const quick = await serve((_, response) => json(response, GATEWAYS));
  const preload = join(gw.dir, 'loaded.cjs');
  const list = join(gw.dir, 'loaded.json');
  writeFileSync(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync('${list}', JSON.stringify(process.moduleLoadList)));`,
  );
  const loadedBy = async (args: string[]): Promise<string[]> => {
    rmSync(list, { force: true });
    await gw(args, { env: { NODE_OPTIONS: `--require ${preload}` } });
    return JSON.parse(readFileSync(list, 'utf8'));
  };
  const slow = ['internal/deps/undici/undici', 'https', 'tls', 'child_process', 'worker_threads'];
  for (const [args, others] of [
    [['--version'], ['http', 'crypto', 'readline']],
    [['--help'], ['http', 'crypto', 'readline']],
    [
      ['invoice', 'create', '--help'],
      ['http', 'crypto', 'readline'],
    ],
    [
      ['config', 'list'],
      ['http', 'crypto', 'readline'],
    ],
    [
      ['completion', 'bash'],
      ['http', 'crypto', 'readline'],
    ],
    [['gateways', '--url', quick.url], []],
    [['invoice', 'create', '--chain', 'ton', '--amount', '5', '--api-key', 'gw_k', '--url', quick.url], []],
  ] as const) {
    const loaded = await loadedBy([...args]);
    for (const name of [...slow, ...others])
      expect(loaded, args.join(' ')).not.toContain(`NativeModule ${name}`);
  }
  expect(await loadedBy(['gateways', '--url', quick.url])).toContain('NativeModule http');
});

it('wallets of the deployment are set as those of a merchant are', async () => {
  verifies('gw-commands');
  const help = (await gw(['admin', 'refill-wallet', 'set', '--help'])).stdout;
  expect(help).toContain('gw admin refill-wallet set [options] [chain] [address]');
});
