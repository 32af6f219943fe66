// `gw export` and `gw apply` as processes: a shop as a file, shown, asked about, made, and made again without a change.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wallets } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { type Gw, linesLeft } from './helpers/gw.ts';
import { openStage, type Stage } from './helpers/stage.ts';

let stage: Stage;
let gw: Gw;
beforeAll(async () => {
  stage = await openStage('apply@example.com');
  ({ gw } = stage);
});
afterAll(() => stage.close());

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const write = (text: string): string => {
  const path = join(gw.dir, 'shop.yaml');
  writeFileSync(path, text);
  return path;
};
const paths = (changes: { path: string }[]) => changes.map(({ path }) => path);

const SHOP = `account:
  display_name: Tea House
  logo_url: ${PIXEL}
  support_email: help@tea.example
  site_url: https://tea.example
  webhook_url: https://tea.example/hook
  return_hosts: [Tea.example]
wallets:
  ton: ${wallets.ton}   # as no wallet shows it
  bitcoin: ${wallets.bitcoin}
units:
  - title: Green tea
    amount_usd: 4.50
    currencies: [TON, btc]
    success_url: https://tea.example
  - title: Black tea
    amount_usd: 3
    currencies: [TON]
    active: false
`;

it('shows what it would change, makes it, and then there is nothing to change', async () => {
  verifies('gw-apply');
  const path = write(SHOP);
  const planned = await gw(['apply', '-f', path, '--dry-run', '--json']);
  expect(planned.code, planned.stderr).toBe(0);
  expect(planned.json.dry_run).toBe(true);
  expect(paths(planned.json.changes)).toEqual([
    ...['display_name', 'logo_url', 'support_email', 'site_url', 'webhook_url', 'return_hosts'].map(
      (name) => `account.${name}`,
    ),
    'wallets.bitcoin',
    'units.Green tea',
    'units.Black tea',
  ]);
  const made = await gw(['apply', '-f', path]);
  expect(made.code, made.stderr).toBe(0);
  expect(made.stdout).toContain('+ account.display_name: Tea House\n');
  expect(made.stdout).toContain('+ account.logo_url: data:image/png;base64,…\n');
  expect(made.stdout).toContain('+ units.Green tea: Green tea, 4.50 USD, TON, btc\n');
  expect(made.stderr).toContain('9 changes made');
  const again = await gw(['apply', '-f', path, '--json']);
  expect([again.code, again.json]).toEqual([0, { dry_run: false, changes: [] }]);
  expect((await gw(['units', '--json', 'slug,active'])).json).toEqual([
    { slug: 'green-tea', active: true },
    { slug: 'black-tea', active: false },
  ]);
});

it('writes what it reads, without a secret, and to apply that changes nothing', async () => {
  verifies('gw-export', 'gw-apply');
  const { json: account } = await gw(['account', 'get', '--json']);
  const { stdout } = await gw(['export']);
  expect(stdout).toMatch(/^# The shop \S+ at http.* \(testnet\), for gw apply -f/);
  expect(stdout).toMatch(/slug: green-tea\n +title: Green tea\n/);
  expect(stdout).toContain('amount_usd: "4.5');
  for (const secret of [account.api_key, account.webhook_secret])
    if (secret) expect(stdout).not.toContain(secret);
  expect(stdout).not.toMatch(/api_key|secret:|enabled_currencies/);
  const applied = await gw(['apply', '-f', '-'], { stdin: stdout });
  expect([applied.code, applied.stdout, applied.stderr]).toEqual([0, '', 'Nothing to change\n']);
});

it('takes nothing away and replaces no wallet without agreement', async () => {
  verifies('gw-apply');
  const shop = (await gw(['export'])).stdout;
  const other = `0:${'77'.repeat(32)}`;
  const path = write(
    shop
      .replace(/ {2}support_email: .*\n/, '  support_email:\n')
      .replace(/( {2}ton: ).*\n/, `$1${other}\n`)
      .replace(/ {2}- slug: black-tea\n[\s\S]*$/, ''),
  );
  const refused = await gw(['apply', '-f', path, '--json']);
  expect(refused).toMatchObject({ code: 2, stdout: '', error: { error: { code: 'confirmation_required' } } });
  for (const part of [
    'account.support_email is removed',
    'the wallet on ton is replaced',
    'black-tea (Black tea) is deleted',
  ])
    expect(refused.error.error.message).toContain(part);
  const pty = gw.pty(['apply', '-f', path], { columns: 200 });
  await pty.see(/Continue\?/);
  pty.write('n\r');
  expect(await pty.ended).toBe(1);
  expect(pty.output()).toMatch(/-.*units\.black-tea: Black tea, 3\S* USD, TON/);
  expect((await gw(['export'])).stdout).toBe(shop);
  const agreed = gw.pty(['apply', '-f', path], { columns: 200 });
  await agreed.see(/Continue\?/);
  agreed.write('y\r');
  await agreed.see(/3 changes made/);
  expect((await gw(['units', '--json', 'slug'])).json).toEqual([{ slug: 'green-tea' }]);
  expect((await gw(['apply', '-f', path, '--json', 'changes'])).json).toEqual({ changes: [] });
});

it('says what was done and what was not, and does the rest when it is repeated', async () => {
  verifies('gw-apply');
  const text = `account:
  legal_line: Tea House Ltd
units:
  - slug: green-tea
    cancel_url: https://elsewhere.example
  - title: White tea
    amount_usd: 7
    currencies: [TON]
`;
  const path = write(text);
  const ran = await gw(['apply', '-f', path, '--json']);
  expect(ran).toMatchObject({ code: 2, stdout: '', error: { error: { code: 'url_not_allowed' } } });
  const { message, hint, changes } = ran.error.error;
  expect(message).toMatch(/^units\.green-tea\.cancel_url: .*\(1 of 3 changes are made\)$/);
  expect(hint).toContain('the same command again does what is left');
  expect(changes.map(({ path, done }: { path: string; done: boolean }) => [path, done])).toEqual([
    ['account.legal_line', true],
    ['units.green-tea.cancel_url', false],
    ['units.White tea', false],
  ]);
  writeFileSync(path, readFileSync(path, 'utf8').replace('elsewhere', 'tea'));
  const rest = await gw(['apply', '-f', path, '--json']);
  expect(paths(rest.json.changes)).toEqual(['units.green-tea.cancel_url', 'units.White tea']);
});

it('refuses what the service does not have before anything is sent', async () => {
  verifies('gw-apply');
  for (const [text, message] of [
    [
      'account:\n  legal_line: New\nwallets:\n  bitcion: x1234567',
      'line 4: there is no blockchain “bitcion” here',
    ],
    ['account:\n  legal_line: New\nunits:\n- slug: nope\n  title: Nope', 'line 4: amount_usd is missing'],
  ] as const) {
    const ran = await gw(['apply', '-f', '-', '--yes', '--json'], { stdin: text });
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.error.error.message).toContain(`stdin, ${message}`);
  }
  // All of it at once, for people and for programs.
  const path = write(
    'account:\n  legal_line: New\nwallets:\n  bitcion: x1234567\n  ton: x1234567\nunits:\n- slug: nope\n  title: Nope\n',
  );
  const lines = [4, 5, 7, 7];
  const { code, error } = await gw(['apply', '-f', path, '--yes', '--json']);
  expect([code, error.error.errors.map(({ line }: { line: number }) => line)]).toEqual([2, lines]);
  const pty = gw.pty(['apply', '-f', path], { columns: 120 });
  expect(await pty.ended).toBe(2);
  const shown = linesLeft(pty.output());
  expect(shown.flatMap((line) => /shop\.yaml, line (\d+): /.exec(line)?.[1] ?? []).map(Number)).toEqual(
    lines,
  );
  expect(shown.join('\n')).toContain('there is no blockchain “bitcion” here; did you mean bitcoin?');
  expect(shown.join('\n')).toMatch(/gw: 4 things are wrong with .*shop\.yaml: nothing was changed/);
  expect((await gw(['account', 'get', '--json', 'legal_line'])).json.legal_line).toBe('Tea House Ltd');
  expect(await gw(['apply', '--json'])).toMatchObject({
    code: 2,
    error: { error: { code: 'missing_input' } },
  });
});
