// What a new family costs: a folder and values in src/chains. A copy of the tree gets one, compiles, and takes a payment by it.
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { json, serve } from '../helpers/local-server.ts';
import { until } from '../helpers/until.ts';
import { toy } from './toy/family.ts';
import { createToyModel } from './toy/model.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = [
  'bin',
  'src',
  'cli',
  'daemon',
  'data',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const PLATFORM_KEY = `gw_${'toy'.repeat(12)}`;
const COMPILE_MS = 240_000;
const READY_MS = 60_000;

const ASSET = `  TOY: {
    currency: 'TOY',
    symbols: ['TOY'],
    coingecko_id: 'toy',
    stable: false,
    demo_usd: '2',
    logo: PLAIN_LOGO,
  },
`;
const BLOCKCHAIN = `  {
    id: 'toy',
    name: 'Toy',
    family: toy,
    coin: 'TOY',
    requests_per_second: 50,
    providers: { mainnet: [], testnet: [] },
    address_hint: { mainnet: 'toy1…', testnet: 'toy1…' },
  },
`;
const GATEWAY = `  {
    chain: 'toy',
    asset: assets.TOY,
    name: 'Toy',
    blockchain: 'toy',
    decimals: 6,
    payable_decimals: 6,
    min_confirmations: 1,
    payment_ttl_seconds: 300,
    poll_interval_seconds: 1,
    supports_memo: true,
    exits: ['wallet', 'web'],
  },
`;

/** The tree with a toy family: its folder, and values before the end of three lists in src/chains. */
function copyWithToy(): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatewayd-toy-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const each of COPIED) cpSync(join(ROOT, each), join(dir, each), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(dir, path), change(readFileSync(join(dir, path), 'utf8')));
  const insert = (text: string, before: string, added: string): string => {
    expect(text, `a place to add to: ${before}`).toContain(before);
    return text.replace(before, added + before);
  };
  mkdirSync(join(dir, 'src/chains/toy'));
  cpSync(join(ROOT, 'test/chains/toy/family.ts'), join(dir, 'src/chains/toy/family.ts'));
  edit('src/chains/toy/family.ts', (text) => text.replaceAll('../../../src/chains/', '../'));
  edit('src/chains/assets.ts', (text) => insert(text, '} satisfies Record<string, Asset>;', ASSET));
  edit('src/chains/gateways.ts', (text) => {
    const imported = insert(
      text,
      "import { utxo } from './utxo/family.ts';",
      "import { toy } from './toy/family.ts';\n",
    );
    const listed = insert(imported, '];\n\nconst gatewayValues', BLOCKCHAIN);
    return insert(listed, '];\n\n/** What the configuration may change of a gateway', GATEWAY);
  });
  return dir;
}

/** Starts the copy's daemon; resolves with its URL once it is ready. */
async function startDaemon(dir: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, ['bin/gatewayd.js', 'start', '--port', '0'], {
    cwd: dir,
    env: { PATH: process.env.PATH, XDG_STATE_HOME: dir, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  const ready = () => /^gatewayd ready on (\S+)/m.exec(printed)?.[1];
  for (const end = Date.now() + READY_MS; !ready() && child.exitCode === null && Date.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 50));
  const url = ready();
  if (!url) throw new Error(`the daemon did not start: ${printed}`);
  return url;
}

test('a family is one folder and its values: the tree compiles, and a payment arrives by it', async () => {
  const dir = copyWithToy();
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: dir,
    timeout: COMPILE_MS,
  });
  const model = createToyModel(() => Math.floor(Date.now() / 1000));
  const server = await serve(({ path, headers }, response) => {
    expect(headers['toy-key']).toBe('sesame');
    const { pathname, searchParams } = new URL(path, 'http://toy.example');
    const answer = model.front({ method: 'GET', path: pathname, query: searchParams, body: null });
    json(response, JSON.parse(String(answer.body)), answer.status);
  });
  const url = await startDaemon(dir, {
    GATEWAYD_PLATFORM_KEY: PLATFORM_KEY,
    GATEWAYD_WALLETS_TOY: model.address(),
    GATEWAYD_RATES_SOURCE: 'fixed',
    GATEWAYD_RATES_USD_TOY: '2',
    GATEWAYD_BLOCKCHAINS_TOY_PROVIDER: 'toy',
    GATEWAYD_BLOCKCHAINS_TOY_URL: server.url,
    GATEWAYD_BLOCKCHAINS_TOY_API_KEY: 'sesame',
  });
  const call = async (method: string, path: string, body?: object) => {
    const headers = { 'x-api-key': PLATFORM_KEY, 'content-type': 'application/json' };
    const sent = body && JSON.stringify(body);
    const response = await fetch(url + path, { method, headers, ...(sent ? { body: sent } : {}) });
    const text = await response.text();
    expect(response.status, `${method} ${path}: ${text}`).toBe(200);
    return JSON.parse(text) as Record<string, string>;
  };
  const invoice = await call('POST', '/v1/invoices', { chain: 'toy', amount: '10' });
  expect(invoice).toMatchObject({ chain: 'toy', currency: 'TOY', amount: '5' });
  const { id = '', address = '', memo = '' } = invoice;
  const page = await (await fetch(`${url}/pay/${id}`)).text();
  expect(page).toContain('Toy Box');
  expect(page).toContain(`${toy.uri_schemes[0]}:${address}`);
  expect((await fetch(`${url}/logos/plain.svg`)).status).toBe(200);
  const { txid } = model.pay({ to: address, amount: 5_000_000n, memo });
  const paid = await until('the payment', async () => {
    const shown = await call('GET', `/v1/invoices/${id}`);
    return shown.status === 'confirmed' ? shown : undefined;
  });
  expect(paid).toMatchObject({ status: 'confirmed', txid });
}, 400_000);
