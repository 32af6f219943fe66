// `gatewayd doctor` of the built program: what it finds, what it advises, and how it exits.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openDb } from '../../../data/db/open.ts';
import { noteProviderLimit } from '../../../data/provider-limits.ts';
import { gatewayIds } from '../../../src/chains/gateways.ts';
import { hasLitecoind, startLitecoind } from '../../chains/utxo-chain.ts';
import { json, serve } from '../../helpers/local-server.ts';
import { verifies } from '../../requirements.ts';
import { type Home, makeHome } from '../helpers/process.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

interface Line {
  of: string;
  status: string;
  says: string;
  fix: string | null;
}

const examined = async (env: Record<string, string>, args: string[] = []) => {
  const { code, stdout } = await home.run(['doctor', '--json', ...args], { env });
  const findings = JSON.parse(stdout).findings as Line[];
  const line = (of: string) => findings.find((one) => one.of === of) ?? expect.fail(`nothing of ${of}`);
  return { code, findings, line };
};

/** Reads nothing but Litecoin. */
const onlyLitecoin = Object.fromEntries(
  gatewayIds
    .filter((id) => id !== 'litecoin')
    .map((id) => [`GATEWAYD_GATEWAYS_${id.toUpperCase().replaceAll('-', '_')}_ENABLED`, 'false']),
);

async function timeServer(ahead_seconds: number): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (_, from) => {
    const answer = Buffer.alloc(48);
    answer.writeUInt32BE(Math.floor(Date.now() / 1000) + 2_208_988_800 + ahead_seconds, 40);
    socket.send(answer, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

test('settings that cannot be read are exit code 2', async () => {
  verifies('command-doctor');
  const { code, stdout, stderr } = await home.run(['doctor', '--json', '--log-level', 'loud']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('log_level')]);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: expect.stringContaining('log_level') });
});

test('what is wrong is a line that failed, with what to do, and exit code 1', async () => {
  verifies('command-doctor');
  await home.run(['migrate']);
  chmodSync(join(home.dir, 'gatewayd'), 0o755);
  const env = { GATEWAYD_SECRET: 'aaaaaaaaaaaaaaaaaaaa', GATEWAYD_SMTP_URL: 'smtp://user:pass@127.0.0.1:9' };
  const { code, line, findings } = await examined(env, ['--ntp', await timeServer(100)]);
  expect(code).toBe(1);
  expect(line('files')).toMatchObject({ status: 'failed', fix: expect.stringContaining('chmod go=') });
  expect(line('mail')).toMatchObject({ status: 'failed', says: expect.stringContaining('ECONNREFUSED') });
  expect(line('provider ton')).toMatchObject({ status: 'failed' });
  expect(line('secret')).toMatchObject({ status: 'warning' });
  expect(findings.filter(({ of }) => of === 'clock').map(({ status }) => status)).toContain('failed');
  expect(JSON.stringify(findings)).not.toMatch(/user:pass|aaaaaaaa/);
  for (const { status, fix } of findings) expect(fix === null).toBe(status === 'ok');
});

test('what providers were found to take at once is a line for each of them', async () => {
  verifies('command-doctor', 'refusals-known');
  await home.run(['migrate']);
  const file = join(home.dir, 'gatewayd', 'gatewayd.db');
  const books = await openDb(`sqlite:${file}`);
  for (const [provider, name, value] of [
    ['evm at base.drpc.org', 'calls', 3],
    ['evm at base.drpc.org', 'blocks', 10_000],
    ['evm at mainnet.base.org', 'calls', 10],
  ] as const)
    await noteProviderLimit(books.query, {
      blockchain: 'base',
      provider,
      name,
      value,
      learnt_at: 1_800_000_000,
    });
  await books.close();
  const { findings } = await examined({ GATEWAYD_SECRET: 'aaaaaaaaaaaaaaaaaaaa' });
  const lines = findings.filter(({ of, says }) => of === 'provider base' && says.includes(' takes '));
  expect(lines.map(({ says, status, fix }) => [says, status, fix])).toEqual([
    ['evm at base.drpc.org takes blocks 10000, calls 3', 'ok', null],
    ['evm at mainnet.base.org takes calls 10', 'ok', null],
  ]);
});

test.skipIf(!hasLitecoind)('warnings alone are exit code 0, with the daemon running or stopped', async () => {
  verifies('command-doctor');
  const node = await startLitecoind();
  onTestFinished(() => node.stop());
  await node.mine(1);
  const env = {
    ...onlyLitecoin,
    GATEWAYD_BLOCKCHAINS_LITECOIN_PROVIDER: 'core',
    GATEWAYD_BLOCKCHAINS_LITECOIN_URL: node.url,
    GATEWAYD_RATES_USD_LTC: '100',
  };
  const daemon = await home.start({ env });
  const port = new URL(daemon.url).port;
  const running = await examined({ ...env, GATEWAYD_PORT: port });
  expect([running.code, running.findings.filter(({ status }) => status === 'failed')]).toEqual([0, []]);
  expect(running.line('public url')).toMatchObject({ status: 'ok' });
  expect(running.line('provider litecoin')).toMatchObject({
    status: 'ok',
    says: expect.stringMatching(/right network, at \d+/),
  });
  expect(running.line('backup')).toMatchObject({ status: 'warning' });
  daemon.signal('SIGTERM');
  await daemon.ended;
  const stopped = await examined({ ...env, GATEWAYD_PORT: port });
  expect(stopped.code).toBe(0);
  expect(stopped.line('public url')).toMatchObject({ status: 'warning', fix: 'gatewayd start' });
  const wrong = await examined({ ...env, GATEWAYD_NETWORK: 'mainnet', GATEWAYD_PORT: port });
  expect(wrong.code).toBe(1);
  expect(wrong.findings).toContainEqual(
    expect.objectContaining({ of: 'database', status: 'failed', says: 'it is of network testnet' }),
  );
  expect(wrong.line('provider litecoin')).toMatchObject({ status: 'failed' });
});

test('targets of notify are asked without a message to anyone, and what is wrong with one is a line of its own', async () => {
  verifies('command-doctor', 'notify');
  const telegram = await serve(({ body }, response) =>
    json(response, {}, JSON.parse(body).chat_id === '-1001' ? 200 : 400),
  );
  const receiver = await serve((_request, response) => json(response, {}, 405));
  const gone = await serve((_request, response) => json(response, {}));
  await gone.close();
  const { code, findings } = await examined({
    ...onlyLitecoin,
    GATEWAYD_WEBHOOK_ALLOW_PRIVATE: 'true',
    GATEWAYD_TELEGRAM_BOT_TOKEN: '12345:a-token-of-a-bot',
    GATEWAYD_TELEGRAM_API_URL: telegram.url,
    GATEWAYD_NOTIFY: JSON.stringify([
      { to: 'mailto:boss@example.com' },
      { to: 'telegram:-1001' },
      { to: 'telegram:-1002' },
      { to: `${receiver.url}/a-key-in-a-path` },
      { to: `${gone.url}/a-key-in-a-path` },
    ]),
  });
  expect(code).toBe(1);
  const own = findings.filter(({ of }) => of === 'notify');
  expect(own.map(({ status, says, fix }) => [status, says, fix])).toEqual([
    ['ok', 'mailto:boss@example.com is sent to as mail is', null],
    ['ok', 'telegram:-1001 can be reached', null],
    ['failed', expect.stringContaining('the bot does not know this chat'), 'gatewayd notify test'],
    ['ok', `${receiver.url}/… can be reached`, null],
    ['failed', `${gone.url}/…: ECONNREFUSED`, 'gatewayd notify test'],
  ]);
  expect(telegram.requests.map(({ path }) => path.split('/').at(-1))).toEqual(['getChat', 'getChat']);
});
