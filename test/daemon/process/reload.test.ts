// Settings read again at SIGHUP by the built daemon: what it takes over, what waits for a restart, and what changes nothing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { sqlite } from '../../../data/db/driver.ts';
import { findBlockchain } from '../../../src/chains/gateways.ts';
import { hasLitecoind, type Litecoind, startLitecoind } from '../../chains/utxo-chain.ts';
import { freshAddress } from '../../chains/utxo-observer.ts';
import { json, type LocalServer, serve } from '../../helpers/local-server.ts';
import { serviceAt } from '../../helpers/service.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { type Daemon, type Home, makeHome } from '../helpers/process.ts';

const BIN = fileURLToPath(new URL('../../../bin/gatewayd.js', import.meta.url));
const PLATFORM_KEY = `gw_${'k'.repeat(24)}`;
const OLD_EVENTS = 50;
const PATIENT_MS = 100_000;
/** Gives a program a terminal; comes with util-linux. */
const hasScript = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0;

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const file = () => join(home.dir, 'gatewayd.config.json');
const write = (settings: object) => writeFileSync(file(), JSON.stringify(settings));
/** What the tests set by variables for all daemons stands in the file here. */
const env = { GATEWAYD_BLOCKCHAINS_LITECOIN_URL: '', GATEWAYD_RATES_SOURCE: '', GATEWAYD_RATES_USD_TON: '' };

interface Line {
  level: string;
  msg: string;
  reason?: string;
  taken_over?: string[];
  need_restart?: string[];
}
const linesOf = (daemon: Daemon): Line[] =>
  daemon
    .stderr()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));

/** Sends the signal, and waits for the line that says what came of it. */
async function reload(daemon: Daemon): Promise<Line> {
  const before = linesOf(daemon).length;
  daemon.signal('SIGHUP');
  return until('the line of a reload', async () =>
    linesOf(daemon)
      .slice(before)
      .find(({ msg }) => /^settings reloaded|^the settings were not reloaded/.test(msg)),
  );
}

/** Hands what it gets to a node, as a provider of its own. */
const forwarder = (node: Litecoind): Promise<LocalServer> => {
  const { origin, username, password } = new URL(node.url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return serve(({ body }, response) => {
    fetch(origin, { method: 'POST', body, headers: { authorization } })
      .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
      .catch(() => response.destroy());
  });
};

test.skipIf(!hasLitecoind)(
  'log level, notify, rates, retention and providers are taken over while an invoice is open, which is paid and confirmed',
  async () => {
    verifies('settings-reload');
    const node = await startLitecoind();
    onTestFinished(() => node.stop());
    const [first, second] = [await forwarder(node), await forwarder(node)];
    const notified = await serve((_, response) => json(response, {}));
    const address = freshAddress('litecoin');
    const script = findBlockchain('litecoin')?.family.normalizeAddress(address, 'testnet').key ?? '';
    const settings = (url: string, more: object = {}) => ({
      platform_key: PLATFORM_KEY,
      wallets: { litecoin: address },
      gateways: { litecoin: { poll_interval_seconds: 1 } },
      blockchains: { litecoin: { provider: 'core', url } },
      rates: { source: 'fixed', usd: { LTC: '100', TON: '2' } },
      ...more,
    });
    write(settings(first.url));
    expect((await home.run(['migrate'], { env })).code).toBe(0);
    const database = new (sqlite())(join(home.dir, 'gatewayd', 'gatewayd.db'));
    onTestFinished(() => void database.close());
    database
      .prepare(
        `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
         insert into events (id, type, body, created_at) select 'event' || i, 'payment.unmatched', '{}', 1 from n`,
      )
      .run(OLD_EVENTS);
    const oldEvents = () =>
      (
        database.prepare('select count(*) as count from events where created_at = 1').get() as {
          count: number;
        }
      ).count;

    const daemon = await home.start({ env });
    const shop = serviceAt({ base_url: daemon.url });
    const sell = async () => {
      const body = { chain: 'litecoin', amount: '5' };
      const { status, text, json } = await shop.fetch('POST', '/v1/invoices', { key: PLATFORM_KEY, body });
      expect(status, text).toBe(200);
      const [whole = '', part = ''] = String(json.amount).split('.');
      return {
        id: json.id as string,
        amount: BigInt(whole + part.padEnd(8, '0')),
        text: String(json.amount),
      };
    };
    const untilStatus = (id: string, wanted: string) =>
      until(
        `the invoice is ${wanted}`,
        async () =>
          (await shop.fetch('GET', `/v1/public/invoices/${id}`)).json.status === wanted || undefined,
        PATIENT_MS,
      );
    const open = await sell();
    await until('it is read', async () => first.requests.length > 0 || undefined, PATIENT_MS);
    expect(linesOf(daemon).some(({ level }) => level === 'debug')).toBe(false);

    write(
      settings(second.url, {
        log_level: 'debug',
        notify: [{ to: notified.url, secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` }],
        retention: { events: 30 },
        rates: { source: 'fixed', usd: { LTC: '50', TON: '2' } },
        port: 4021,
        operator_name: 'Another Shop',
      }),
    );
    const says = await reload(daemon);
    expect(says.taken_over?.sort()).toEqual(
      ['blockchains.litecoin.url', 'log_level', 'notify', 'rates.usd.LTC', 'retention.events'].sort(),
    );
    expect(says.need_restart?.sort()).toEqual(['operator_name']);
    expect(daemon.stderr()).not.toContain('whsec_');

    // The other provider alone is asked from now on, what had begun aside.
    await until(
      'the second provider is asked',
      async () => second.requests.length > 2 || undefined,
      PATIENT_MS,
    );
    const { length: asked } = first.requests;
    await node.send([{ script, amount: open.amount }]);
    await node.mine(3);
    await untilStatus(open.id, 'confirmed');
    expect(first.requests.length).toBe(asked);

    // Twice as many coins for the same sum.
    expect(Number((await sell()).text)).toBeCloseTo(2 * Number(open.text), 1);
    await until(
      'debug lines',
      async () => linesOf(daemon).some(({ level }) => level === 'debug') || undefined,
    );
    await until('old events are gone', async () => oldEvents() <= 1 || undefined, PATIENT_MS);
    // The blockchains that no test reaches are reported, in time.
    await until('an operator is notified', async () => notified.requests.length > 0 || undefined, PATIENT_MS);

    // What waits is named again until it is in force, and what is in force is no news.
    expect(await reload(daemon)).toMatchObject({ taken_over: [], need_restart: ['operator_name'] });
    write({ ...settings(second.url), log_level: 'debug' });
    expect(await reload(daemon)).toMatchObject({ need_restart: [] });
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  },
  3 * PATIENT_MS,
);

test('a provider that is away and left to its back-off is left for another one at once', async () => {
  verifies('settings-reload');
  const answers = await serve((_, response) => json(response, { jsonrpc: '2.0', id: 1, result: {} }));
  const chain = (url: string) => ({ blockchains: { litecoin: { provider: 'core', url } } });
  write(chain('http://127.0.0.1:9'));
  const daemon = await home.start({ env });
  await until(
    'it is known to be away',
    async () => /litecoin.*ECONNREFUSED/.test(daemon.stderr()) || undefined,
  );
  write(chain(answers.url));
  await reload(daemon);
  await until('the other one is asked', async () => answers.requests.length > 0 || undefined, PATIENT_MS);
});

test('a file that cannot be used, or is gone, leaves the settings in force, with one line that says why', async () => {
  verifies('settings-reload');
  write({ log_level: 'info', operator_name: 'Shop' });
  const daemon = await home.start({ env });
  for (const [fault, change] of [
    [/log_level/, () => write({ log_level: 'loud', notify: [{ to: 'nowhere' }] })],
    [/is no JSON|JSON/, () => writeFileSync(file(), '{')],
    [/is gone/, () => rmSync(file())],
  ] as const) {
    change();
    const line = await reload(daemon);
    expect(line).toMatchObject({ level: 'error', reason: expect.stringMatching(fault) });
    expect(line.reason).not.toContain('\n');
    expect((await fetch(`${daemon.url}/health`)).status).toBe(200);
  }
  write({ log_level: 'info', operator_name: 'Shop' });
  expect(await reload(daemon)).toMatchObject({ level: 'info', taken_over: [], need_restart: [] });
  // Another network is another deployment: nothing of it is mixed into this one.
  write({ log_level: 'warn', operator_name: 'Shop', network: 'mainnet' });
  expect(await reload(daemon)).toMatchObject({
    taken_over: [],
    need_restart: expect.arrayContaining(['network', 'log_level']),
  });
});

/** Ids of the processes below one. */
const below = (pid: number): number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return children.map(Number).flatMap((child) => [child, ...below(child)]);
};

test.skipIf(!hasScript)(
  'a daemon in a terminal ends when that is closed, and reloads while it is open',
  async () => {
    verifies('settings-reload');
    write({ operator_name: 'Shop' });
    const command = `exec '${process.execPath}' '${BIN}' start --port 0`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: home.dir,
      env: {
        PATH: process.env.PATH,
        XDG_STATE_HOME: home.dir,
        HTTPS_PROXY: 'http://127.0.0.1:9',
      },
    });
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    await until('the daemon is ready', async () => /gatewayd ready/.test(shown) || undefined, PATIENT_MS);
    const [pid = 0] = below(terminal.pid ?? 0);
    write({ operator_name: 'Another' });
    process.kill(pid, 'SIGHUP');
    await until('it reloads', async () => /need_restart=\["operator_name"\]/.test(shown) || undefined);
    terminal.kill('SIGKILL');
    await once(terminal, 'close');
    await until('the daemon has ended', async () => !existsSync(`/proc/${pid}`) || undefined, PATIENT_MS);
    // It ended as it does at SIGTERM: the next one takes the database over.
    expect(readdirSync(join(home.dir, 'gatewayd'))).toContain('secret');
    const next = await home.start({ env: { GATEWAYD_BLOCKCHAINS_LITECOIN_URL: '' } });
    expect((await fetch(`${next.url}/health`)).status).toBe(200);
  },
);
