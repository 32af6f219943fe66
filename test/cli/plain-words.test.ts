// What people read when something is wrong: commands in place of calls, no validator's language, and no slip in a password.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { type Gw, makeGw } from './helpers/gw.ts';
import { openStage, type Stage } from './helpers/stage.ts';

const ENTER = '\r';

let stage: Stage;
let gw: Gw;
beforeAll(async () => {
  stage = await openStage('plain@example.com');
  ({ gw } = stage);
});
afterAll(() => stage.close());

it.each([
  [['invoice', 'create', '--chain', 'bitcoin', '--amount', '5'], 'gw wallet set'],
  [['refill', 'create', '--chain', 'ton', '--amount', '5'], 'gw refill wallets'],
])('gw %j is refused with the command that helps, not with a call', async (args, command) => {
  verifies('gw-plain-words');
  const { code, stderr } = await gw(args);
  expect(code).toBe(2);
  expect(stderr).toContain(command);
  expect(stderr).not.toMatch(/\/api\/|\/v1\/|`/);
});

it('says what is wrong with a value in plain words', async () => {
  verifies('gw-plain-words');
  const faults: [string[], string][] = [
    [['invoice', 'create', '--chain', 'ton', '--amount', 'abc'], '--amount: must be a number such as 12.50'],
    [['invoice', 'list', '--limit', 'many'], '--limit: must be a whole number'],
    [['invoice', 'list', '--limit', '0'], '--limit: must be greater than or equal to 1'],
    [
      ['wallet', 'set', 'solana', 'foo'],
      '--address: is no address on Solana; expected 32 to 44 base58 characters',
    ],
    [['wallet', 'set', 'ton', 'foo'], '--address: is no address on TON; expected UQ… or EQ…'],
    [['income', '--from-date', 'yesterday'], '--from-date: must be a day such as 2026-01-31'],
  ];
  for (const [args, fault] of faults) {
    const { code, stderr } = await gw(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(fault)]);
    expect(stderr).not.toMatch(/parse|Input should/);
  }
});

it('takes a refill by its worth in USD alone', async () => {
  const { json } = await gw([
    'refill',
    'create',
    '--chain',
    'ton',
    '--amount-usd',
    '5',
    '--dry-run',
    '--json',
  ]);
  expect(json.body).toMatchObject({ chain: 'ton', amount_usd: '5' });
  const neither = await gw(['refill', 'create', '--chain', 'ton', '--json']);
  expect(neither).toMatchObject({ code: 2, error: { error: { missing: ['amount'] } } });
});

it('asks for a new password twice', async () => {
  verifies('gw-plain-words');
  const other = makeGw(stage.daemon_url);
  const pty = other.pty(['signup', '--email', 'twice@example.com']);
  await pty.see(/password/);
  pty.write(`correct horse battery${ENTER}`);
  await pty.see(/once more/);
  pty.write(`correct hoarse battery${ENTER}`);
  await pty.see(/not the same/);
  pty.write(`${'\u007f'.repeat(30)}correct horse battery${ENTER}`);
  expect(await pty.ended).toBe(0);
  const login = await other(['login', 'twice@example.com', '--password-stdin'], {
    stdin: 'correct horse battery',
  });
  expect(login.code).toBe(0);
  other.remove();
});
