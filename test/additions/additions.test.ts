// What additions cost: an endpoint, a flag, a language and a family are made in one copy, counted, compiled and used.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toy } from '../chains/toy/family.ts';
import { createToyModel } from '../chains/toy/model.ts';
import { type Addition, type Copy, copyRooms } from '../helpers/copy.ts';
import { json, serve } from '../helpers/local-server.ts';
import { until } from '../helpers/until.ts';

/** A busy machine compiles slowly. */
const LIMIT_MS = 300_000;
const READY_MS = 60_000;
const PLATFORM_KEY = `gw_${'toy'.repeat(12)}`;

const ENDPOINTS = 'src/api/endpoints/merchant.ts';
const ROUTES = 'daemon/routes/merchant.ts';
const GLOBALS = 'cli/engine/globals.ts';
const TEXTS = 'daemon/checkout/texts';
const FAMILY = 'src/chains/toy/family.ts';

const description = `export const getToyIncome = endpoint({
  id: 'getToyIncome',
  method: 'GET',
  path: '/api/v1/merchant/income/toy',
  auth: 'jwt',
  tag: 'merchant',
  summary: 'List your largest sales',
  gw: 'income toy {size}',
  effect: 'read',
  keywords: 'best customers, biggest payments',
  description: 'Confirmed sales, largest first.',
  query: { size: int({ gte: 1, lte: 100 }).describe('How many') },
  response: IncomeHistoryPublic,
  example: { query: { size: '10' } },
});

`;

/** Prints what the modules of the copy derive from the description. */
const derived = `
import { keywords } from './src/api/project/keywords.js';
import { catalog } from './src/api/project/catalog.js';
import { openapi } from './src/api/project/openapi.js';
import { toolsOf } from './src/api/project/tools.js';
import { createClient } from './src/api/client/client.js';
import { routes } from './daemon/routes/routes.js';
const base_url = 'http://127.0.0.1:4020';
const id = 'getToyIncome';
const tool = toolsOf().find(({ name }) => name === id);
console.log(JSON.stringify({
  routed: routes.some(({ endpoint }) => endpoint.id === id),
  document: openapi({ base_url }).paths['/api/v1/merchant/income/toy']?.get?.operationId,
  call: catalog({ base_url, network: 'testnet' }).find((entry) => entry.id === id)?.call.gw,
  read_only: tool?.annotations.readOnlyHint,
  keywords: keywords[id],
  client: typeof createClient({ base_url, fetch })[id],
}));
`;

/** Prints what the reader of flags makes of an option and of its variable. */
const readFlags = `
import { readGlobals } from './cli/engine/globals.js';
const read = (options, env) => readGlobals(options, [], env).text('proxy');
console.log(JSON.stringify([read({ proxy: 'a' }, { GW_PROXY: 'b' }), read({}, { GW_PROXY: 'b' }), read({}, {}) ?? null]));
`;

const asset = `  TOY: {
    currency: 'TOY',
    title: 'Toy',
    unit: 'TOY',
    symbols: ['TOY'],
    coingecko_id: 'toy',
    stable: false,
    demo_usd: '2',
    logo: PLAIN_LOGO,
  },
`;
const blockchain = `  {
    id: 'toy',
    name: 'Toy',
    family: toy,
    coin: 'TOY',
    block_seconds: 1,
    requests_per_second: 50,
    providers: { mainnet: [], testnet: [] },
    address_hint: { mainnet: 'toy1…', testnet: 'toy1…' },
  },
`;
const gateway = `  {
    chain: 'toy',
    asset: assets.TOY,
    name: 'Toy',
    blockchain: 'toy',
    decimals: 6,
    payable_decimals: 6,
    min_confirmations: 1,
    payment_ttl_seconds: 300,
    poll_interval_seconds: 1,
    usual_fee_usd: '0.01',
    supports_memo: true,
    exits: ['wallet', 'web'],
  },
`;

let copy: Copy;
/** Adds a text before the one place that reads so. */
const insert = (path: string, before: string, text: string): void => copy.edit(path, before, text + before);

function addEndpoint(): void {
  insert(ENDPOINTS, 'export const listEvents = endpoint({', description);
  const list = 'export const merchant = [\n';
  copy.edit(ENDPOINTS, list, `${list}  getToyIncome,\n`);
}

function addHandler(): void {
  const list = 'export const merchant: Handlers<typeof list> = {';
  const handler = '\n  getToyIncome: () => ({ data: [], count: 0, skip: 0, limit: 0 }),\n';
  copy.edit(ROUTES, list, list + handler);
}

const addFlag = (): void =>
  insert(
    GLOBALS,
    "  { name: 'yes', short: 'y',",
    "  { name: 'proxy', value: 'address', help: 'send requests through it', variable: 'GW_PROXY' },\n",
  );

function addLanguage(texts: string): void {
  copy.write(`${TEXTS}/he.ts`, texts);
  const list = `${TEXTS}/languages.ts`;
  copy.write(list, `${copy.read(list)}export { he } from './he.ts';\n`);
}

function addFamily(): void {
  const source = readFileSync(fileURLToPath(new URL('../chains/toy/family.ts', import.meta.url)), 'utf8');
  copy.write(FAMILY, source.replaceAll('../../../src/chains/', '../'));
  insert('src/chains/assets.ts', '} satisfies Record<string, Asset>;', asset);
  const list = 'src/chains/gateways.ts';
  insert(list, "import { utxo } from './utxo/family.ts';", "import { toy } from './toy/family.ts';\n");
  insert(list, '];\n\nconst gatewayValues', blockchain);
  insert(list, '];\n\n/** What every daemon knows, whatever', gateway);
}

/** What each addition touched, and what the compiler says while two of them lack something. */
let touched: Record<'description' | 'handler' | 'flag' | 'language' | 'family', Addition>;
let incomplete: string[];

beforeAll(async () => {
  copy = copyRooms();
  const english = copy.read(`${TEXTS}/en.ts`);
  const hebrew = english.replace('const en:', 'const he:').replace("amount: 'Amount'", "amount: 'סכום'");
  const described = copy.add(addEndpoint);
  const flag = copy.add(addFlag);
  const family = copy.add(addFamily);
  const language = copy.add(() => addLanguage(hebrew.replace(/^ {2}offline: .*\n/m, '')));
  incomplete = await copy.compile();
  copy.write(`${TEXTS}/he.ts`, hebrew);
  const handler = copy.add(addHandler);
  touched = { description: described, handler, flag, language, family };
  expect(await copy.compile()).toEqual([]);
  await copy.run('dist/cli/write-commands.js');
}, LIMIT_MS);
afterAll(() => copy.remove());

describe('an endpoint', () => {
  test('is two edits: its description, and a handler that the compiler asks for', () => {
    expect(touched.description).toEqual({ edited: [ENDPOINTS], added: [] });
    expect(touched.handler).toEqual({ edited: [ROUTES], added: [] });
    expect(incomplete.filter((message) => message.startsWith(ROUTES)).join('\n')).toContain('getToyIncome');
  });

  test('is a command', async () => {
    const help = await copy.run('bin/gw.js', ['income', 'toy', '--help']);
    expect(help.stdout).toContain('Usage: gw income toy [options] [size]');
    expect(help.stdout).toContain('List your largest sales.');
    expect(help.stdout).toContain('gw income toy 10 --json');
    const group = await copy.run('bin/gw.js', ['income', '--help']);
    expect(group.stdout).toContain('List your largest sales');
  });

  test('is routed, documented, found, a tool and a method of the client', async () => {
    copy.write('dist/derived.mjs', derived);
    const { stdout, stderr } = await copy.run('dist/derived.mjs');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      routed: true,
      document: 'getToyIncome',
      call: 'gw income toy --size 10',
      read_only: true,
      keywords: 'best customers, biggest payments',
      client: 'function',
    });
  });
});

describe('a flag that every command has', () => {
  test('is one row', () => {
    expect(touched.flag).toEqual({ edited: [GLOBALS], added: [] });
  });

  test('is in the help of every command, in completion and in the tree for programs', async () => {
    const help = await copy.run('bin/gw.js', ['invoice', 'get', '--help']);
    expect(help.stdout.replaceAll(/\s+/g, ' ')).toContain(
      '--proxy <address> send requests through it [env: GW_PROXY]',
    );
    const script = (await copy.run('bin/gw.js', ['completion', 'bash'])).stdout;
    expect(script.match(/"invoice get"\) found="([^"]*)"/)?.[1]).toContain('--proxy');
    const tree = JSON.parse((await copy.run('bin/gw.js', ['--help', '--json'])).stdout);
    expect(tree.global_flags).toContain('--proxy');
    expect(tree.environment.GW_PROXY).toBe('send requests through it');
  });

  test('takes its value before the command as well, and is read with its variable', async () => {
    const before = await copy.run('bin/gw.js', ['--proxy', 'invoice', 'config', 'path'], {
      GW_CONFIG_DIR: copy.root,
    });
    expect(before.stdout).toContain(copy.root);
    copy.write('dist/read-flags.mjs', readFlags);
    expect(JSON.parse((await copy.run('dist/read-flags.mjs')).stdout)).toEqual(['a', 'b', null]);
  });
});

describe('a language', () => {
  test('is one file and one line', () => {
    expect(touched.language).toEqual({ edited: [`${TEXTS}/languages.ts`], added: [`${TEXTS}/he.ts`] });
  });

  test('does not compile while it leaves a text out', () => {
    const [message = ''] = incomplete.filter((one) => one.startsWith(`${TEXTS}/he.ts`));
    expect(message).toContain("'offline' is missing");
  });
});

/** Starts the copy's daemon; resolves with its URL once it is ready. */
async function startDaemon(env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [join(copy.root, 'bin/gatewayd.js'), 'start', '--port', '0'], {
    cwd: copy.root,
    env: { PATH: process.env.PATH, XDG_STATE_HOME: copy.root, ...env },
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

describe('a family', () => {
  test('is one folder, and values in two files', () => {
    const edited = ['src/chains/assets.ts', 'src/chains/gateways.ts'];
    expect(touched.family).toEqual({ edited, added: [FAMILY] });
  });

  test('takes a payment, on a page in the new language', async () => {
    const model = createToyModel(() => Math.floor(Date.now() / 1000));
    const server = await serve(({ path, headers }, response) => {
      expect(headers['toy-key']).toBe('sesame');
      const { pathname, searchParams } = new URL(path, 'http://toy.example');
      const answer = model.front({ method: 'GET', path: pathname, query: searchParams, body: null });
      json(response, JSON.parse(String(answer.body)), answer.status);
    });
    const url = await startDaemon({
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
    const headers = { 'accept-language': 'he-IL,en;q=0.5' };
    const page = await (await fetch(`${url}/pay/${id}`, { headers })).text();
    expect(page).toMatch(/<html[^>]* lang="he" dir="rtl"/);
    expect(page).toContain('סכום');
    expect(page).toContain('Toy Box');
    expect(page).toContain(`${toy.uri_schemes[0]}:${address}`);
    expect((await fetch(`${url}/logos/plain.svg`)).status).toBe(200);
    const { txid } = model.pay({ to: address, amount: 5_000_000n, memo });
    const paid = await until('the payment', async () => {
      const shown = await call('GET', `/v1/invoices/${id}`);
      return shown.status === 'confirmed' ? shown : undefined;
    });
    expect(paid).toMatchObject({ status: 'confirmed', txid });
  });
});
