// gw doctor says what is true, and nothing waits for ever at a service that never answers.
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../helpers/local-server.ts';
import { ABSENT_ID } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { GW, type Gw, makeGw } from './helpers/gw.ts';
import { logInOperator, openStage, type Stage } from './helpers/stage.ts';

interface Check {
  name: string;
  ok: boolean;
  detail: string;
  fix: string | null;
}

describe('gw doctor', () => {
  let stage: Stage;
  let gw: Gw;
  beforeAll(async () => {
    // Its providers cannot be reached.
    stage = await openStage('doctor@example.com');
    ({ gw } = stage);
  });
  afterAll(() => stage.close());

  it('calls a chain bad that no payment can be seen on, where the merchant is paid, and no other', async () => {
    verifies('gw-doctor');
    const { code, json } = await gw(['doctor', '--json']);
    expect([code, json.ok]).toEqual([1, false]);
    const chains = json.checks.filter(({ name }: Check) => name === 'blockchain') as Check[];
    const of = (blockchain: string) => chains.find(({ detail }) => detail.startsWith(blockchain));
    expect(of('ton')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('no payment on it can be seen'),
    });
    expect(of('bitcoin')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('you are not paid on it'),
    });
    expect(chains.filter(({ ok }) => !ok)).toHaveLength(1);
    // Only TON has a wallet, and no currency was chosen: that is no fault.
    expect(json.checks).toContainEqual(expect.objectContaining({ name: 'wallets', ok: true }));
  });

  it('misses the wallet of a currency that was chosen', async () => {
    verifies('gw-doctor');
    await gw(['account', 'update', '--enabled-currencies', 'TON,BTC']);
    const { json } = await gw(['doctor', '--json']);
    expect(json.checks).toContainEqual(
      expect.objectContaining({ name: 'wallets', ok: false, detail: 'no wallet for bitcoin' }),
    );
  });

  it('says who does not know that no chain is read', async () => {
    verifies('gw-doctor');
    const { json: account } = await gw(['account', 'get', '--json', 'api_key']);
    const env = { GW_API_KEY: account.api_key };
    const { json } = await stage.other(['doctor', '--json'], { env });
    const bad = json.checks.filter(({ ok }: Check) => !ok) as Check[];
    expect(bad.length).toBeGreaterThan(1);
    expect(new Set(bad.map(({ name }) => name))).toEqual(new Set(['blockchain']));
  });

  it('judges wallets and limit only of an account that sells', async () => {
    verifies('gw-doctor');
    const operator = makeGw(stage.daemon_url);
    onTestFinished(() => operator.remove());
    await logInOperator(operator);
    const { json } = await operator(['doctor', '--json']);
    const names = json.checks.map(({ name }: Check) => name);
    expect(names).not.toContain('wallets');
    expect(names).not.toContain('limit');
    expect(json.checks).toContainEqual(
      expect.objectContaining({
        name: 'account',
        ok: true,
        detail: expect.stringContaining('sells nothing'),
      }),
    );
    await operator(['unit', 'create', '--title', 'Tea', '--amount-usd', '3', '--currencies', 'TON']);
    const selling = (await operator(['doctor', '--json'])).json;
    expect(selling.checks).toContainEqual(expect.objectContaining({ name: 'wallets', ok: false }));
  });
});

/** Processes at once, and rounds of them. */
const AT_ONCE = 6;
const ROUNDS = 9;

it('a service that accepts and never answers is given up with 69 after the timeout, every time', async () => {
  verifies('gw-exit-codes');
  const silent = await serve(() => {});
  // Half of an answer is none.
  const half = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"data":');
  });
  const commands = [
    ['gateways'],
    ['invoice', 'list'],
    ['invoice', 'watch', ABSENT_ID],
    ['listen'],
    ['event', 'list', '--follow'],
    ['whoami'],
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { url } = round % 3 === 2 ? half : silent;
    const ran = await Promise.all(
      commands.slice(0, AT_ONCE).map((args) =>
        // Collecting often is what once lost the timer.
        execa(process.execPath, ['--gc-interval=300', GW, ...args, '--timeout', '1s', '--url', url], {
          env: { GW_API_KEY: 'gw_k', GW_TOKEN: 't', GW_CONFIG_DIR: '/nonexistent' },
          reject: false,
          timeout: 30_000,
          stdin: 'ignore',
        }),
      ),
    );
    expect(ran.map(({ exitCode }) => exitCode)).toEqual(commands.map(() => 69));
  }
  const rpc = (id: number, method: string, params: object) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const client = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const asked = [rpc(1, 'initialize', client), rpc(2, 'tools/call', { name: 'listGateways', arguments: {} })];
  const mcp = execa(
    process.execPath,
    ['--gc-interval=300', GW, 'mcp', '--timeout', '1s', '--url', silent.url],
    {
      env: { GW_CONFIG_DIR: '/nonexistent' },
      timeout: 30_000,
    },
  );
  mcp.stdin.write(`${asked.join('\n')}\n`);
  mcp.stdout.on('data', (text: Buffer) => {
    if (text.includes('"id":2')) mcp.stdin.end();
  });
  expect((await mcp).stdout).toContain('did not answer in time');
}, 180_000);
