// gw as a program drives it: no terminal, every step by --json, every failure by its exit code.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../helpers/local-server.ts';
import { ABSENT_ID, PASSWORD, wallets } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { type Gw, makeGw } from './helpers/gw.ts';
import { openStage, type Stage } from './helpers/stage.ts';

const EMAIL = 'agent@example.com';
const create = ['invoice', 'create', '--chain', 'ton', '--amount', '12.50'];

let stage: Stage;
let gw: Gw;
let other: Gw;
let invoice_id = '';

beforeAll(async () => {
  stage = await openStage(EMAIL);
  ({ gw, other } = stage);
  invoice_id = (await gw([...create, '--json'])).json.id;
});
afterAll(() => stage.close());

describe('the whole way without a person', () => {
  it('signs up, sets a wallet, makes a unit, sells it, settles it and sees the income', async () => {
    const me = makeGw(String((await gw(['config', 'get', 'url'])).stdout.trim()));
    const user = await me(['signup', '--email', 'way@example.com', '--password', '-', '--json'], {
      stdin: PASSWORD,
    });
    expect(user).toMatchObject({ code: 0, json: { email: 'way@example.com' } });
    expect((await me(['wallet', 'set', 'ton', wallets.ton ?? '', '--json'])).json.blockchain).toBe('ton');
    const body = JSON.stringify({ title: 'Coffee', amount_usd: '4.50', currencies: ['TON'] });
    const unit = await me(['unit', 'create', '-f', '-', '--json'], { stdin: body });
    expect(unit.json).toMatchObject({ title: 'Coffee', amount_usd: '4.5' });
    const sold = await me(['unit', 'checkout', unit.json.id, '--chain', 'ton', '--json']);
    expect(sold.json.status).toBe('created');
    expect((await me(['invoice', 'simulate', sold.json.id, '--json', 'status'])).json).toEqual({
      status: 'confirmed',
    });
    const income = await me(['income', '--json']);
    expect(income.json.data).toMatchObject([{ invoice_id: sold.json.id, chain: 'ton' }]);
    const waited = await me([
      'invoice',
      'wait',
      sold.json.id,
      '--for',
      'status=confirmed',
      '--json',
      'status',
    ]);
    expect(waited).toMatchObject({ code: 0, json: { status: 'confirmed' } });
    me.remove();
  });

  it('gives exactly the object of the interface on stdout, and nothing else', async () => {
    verifies('gw-json', 'gw-api');
    const [command, raw] = await Promise.all([
      gw(['invoice', 'get', invoice_id, '--json']),
      gw(['api', 'GET', `/v1/invoices/${invoice_id}`, '--json']),
    ]);
    expect(command.json).toEqual(raw.json);
    expect(command.stderr).toBe('');
  });

  it('takes input from flags, the environment and a file, flags first', async () => {
    const dry = await gw(['unit', 'create', '-f', '-', '--amount-usd', '7', '--dry-run', '--json'], {
      stdin: JSON.stringify({ title: 'From file', amount_usd: '1', currencies: ['TON'] }),
      env: { GW_LANGUAGE: 'de', GW_TITLE: 'From environment' },
    });
    expect(dry.json).toMatchObject({
      dry_run: true,
      method: 'POST',
      body: { title: 'From file', amount_usd: '7', language: 'de' },
    });
    expect((await gw(['units', '--json'])).json.units).toEqual([]);
  });

  it('changes nothing because of a variable that was set for something else', async () => {
    const env = { GW_PASSWORD: 'another password', GW_EMAIL: 'another@example.com', GW_FULL_NAME: 'Another' };
    const dry = await gw(['user', 'update-me', '--full-name', 'Ada', '--dry-run', '--json'], { env });
    expect(dry.json.body).toEqual({ full_name: 'Ada' });
  });

  it('repeats a call under one idempotency key without a second invoice', async () => {
    const once = [...create, '--idempotency-key', 'order-77', '--json', 'id'];
    const [first, second] = [await gw(once), await gw(once)];
    expect(second.json).toEqual(first.json);
  });
});

describe('exit codes', () => {
  it('2 for a missing value, at once and naming the flag', async () => {
    verifies('gw-exit-codes');
    const ran = await gw(['wallet', 'set', '--json']);
    expect(ran).toMatchObject({
      code: 2,
      stdout: '',
      error: { error: { code: 'missing_input', kind: 'usage' } },
    });
    expect(ran.error.error.message).toContain('--address');
  });

  it('2 for input that does not fit, in the words of the interface', async () => {
    const ran = await gw(['invoice', 'create', '--chain', 'ton', '--amount', '1e3', '--json']);
    expect(ran.code).toBe(2);
    expect(ran.error.error.errors[0].loc).toEqual(['body', 'amount']);
  });

  it('2 for an unknown command or flag, with the nearest one', async () => {
    const [command, flag] = [
      await gw(['invioce', 'list']),
      await gw(['invoice', 'list', '--statsu', 'created']),
    ];
    expect([command.code, flag.code]).toEqual([2, 2]);
    expect(command.stderr).toContain('did you mean gw invoice?');
    expect(flag.stderr).toContain('did you mean --status?');
  });

  it('2 for an unknown member of --json, with the known ones', async () => {
    const ran = await gw(['invoice', 'get', invoice_id, '--json', 'nope']);
    expect(ran.code).toBe(2);
    expect(ran.error.error.hint).toContain('qr_payload');
  });

  it('2 for what destroys, unless --yes agrees', async () => {
    const { json: unit } = await gw([
      'unit',
      'create',
      '--title',
      'Tea',
      '--amount-usd',
      '3',
      '--currencies',
      'TON',
      '--json',
    ]);
    const refused = await gw(['unit', 'delete', unit.id, '--json']);
    expect(refused).toMatchObject({ code: 2, error: { error: { code: 'confirmation_required' } } });
    expect((await gw(['units', '--json'])).json.units).toHaveLength(1);
    expect((await gw(['unit', 'delete', unit.id, '--yes', '--json'])).json.deleted).toBe(true);
  });

  it('3 for what does not exist', async () => {
    verifies('gw-exit-codes');
    const ran = await gw(['invoice', 'get', ABSENT_ID, '--json']);
    expect(ran).toMatchObject({
      code: 3,
      stdout: '',
      error: { error: { code: 'invoice_not_found', kind: 'not_found', status: 404 } },
    });
    expect(ran.error.error.request_id).toMatch(/[0-9a-f-]{36}/);
  });

  it('4 for a conflict, 6 for an invoice that ended unpaid, 124 when time runs out', async () => {
    verifies('gw-exit-codes', 'gw-watch');
    const { json } = await gw([...create, '--json']);
    const late = await gw(['invoice', 'wait', json.id, '--timeout', '1s', '--interval', '200ms', '--json']);
    expect(late).toMatchObject({ code: 124, stdout: '', error: { error: { code: 'wait_timeout' } } });
    await gw(['invoice', 'cancel', json.id]);
    const ended = await gw(['invoice', 'wait', json.id, '--json', 'status']);
    expect(ended).toMatchObject({ code: 6, json: { status: 'cancelled' } });
    expect((await gw(['invoice', 'simulate', json.id, '--json'])).code).toBe(4);
  });

  it('69 where nothing answers, within the timeout', async () => {
    verifies('gw-exit-codes');
    const silent = await serve(() => {});
    const closed = await gw(['gateways', '--url', 'http://127.0.0.1:9', '--json']);
    expect([closed.code, closed.error.error.kind]).toEqual([69, 'unreachable']);
    // Again and again: whether a timer was lost depended on what the process had in memory.
    for (let time = 0; time < 4; time++) {
      const mute = await gw(['gateways', '--url', silent.url, '--timeout', '500ms', '--json']);
      expect(mute.code).toBe(69);
      expect(mute.error.error.message).toBe('the service did not answer in time');
    }
  });

  it('75 for a service that asks to come back later, 5 for a limit, with the remedy', async () => {
    verifies('gw-exit-codes');
    const answers: Record<string, [number, object]> = {
      '/v1/gateways': [503, { detail: 'The database is busy', code: 'database_busy' }],
      [`/v1/invoices/${ABSENT_ID}/check`]: [
        402,
        { detail: 'limit', code: 'limit_exhausted', required_usd: '5' },
      ],
    };
    const fake = await serve((request, response) => {
      const [status, body] = answers[request.path] ?? [404, {}];
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' });
      response.end(JSON.stringify(body));
    });
    const busy = await gw(['gateways', '--url', fake.url, '--json']);
    expect(busy).toMatchObject({ code: 75, error: { error: { retry_after: 7 } } });
    const limit = await gw(['invoice', 'check', ABSENT_ID, '--url', fake.url, '--api-key', 'gw_k', '--json']);
    expect(limit).toMatchObject({
      code: 5,
      error: { error: { code: 'limit_exhausted', required_usd: '5' } },
    });
    expect(limit.error.error.hint).toContain('gw refill create');
  });

  it('77 without sign-in, with a bad password and for what only operators may', async () => {
    verifies('gw-exit-codes');
    expect((await other(['whoami', '--json'])).error.error).toMatchObject({
      code: 'not_signed_in',
      exit_code: 77,
    });
    const wrong = await other(['login', EMAIL, '--password-stdin', '--json'], { stdin: 'wrong password' });
    expect(wrong).toMatchObject({ code: 77, error: { error: { code: 'invalid_login' } } });
    expect((await gw(['admin', 'dashboard', '--json'])).error.error).toMatchObject({
      code: 'not_superuser',
      exit_code: 77,
    });
  });

  it('78 for settings that cannot be used', async () => {
    verifies('gw-exit-codes');
    expect((await gw(['gateways', '--url', 'ftp://x', '--json'])).code).toBe(78);
  });

  it('are listed by gw help exit-codes', async () => {
    const { json } = await gw(['help', 'exit-codes', '--json']);
    expect(json.map(({ code }: { code: number }) => code)).toContain(124);
  });
});

describe('profiles', () => {
  it('keep secrets in a file that only the owner reads, and mask them', async () => {
    verifies('gw-profiles');
    const { statSync } = await import('node:fs');
    const path = (await gw(['config', 'path'])).stdout.trim();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { json } = await gw(['config', 'list', '--json']);
    const key = json.find(({ key }: { key: string }) => key === 'api_key');
    expect(key.value).toMatch(/^gw_….{4}$/);
  });

  it('say where a value is from: flag over environment over profile', async () => {
    verifies('gw-precedence');
    const ask = (args: string[], env: Record<string, string>) =>
      gw(['config', 'get', 'url', '--show-origin', ...args], { env });
    expect((await ask(['--url', 'http://a'], { GW_URL: 'http://b' })).stdout).toBe('http://a (flag)\n');
    expect((await ask([], { GW_URL: 'http://b' })).stdout).toBe('http://b (environment)\n');
    expect((await ask([], { GW_URL: '' })).stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+ \(profile\)\n$/);
  });

  it('hold a key alone, read from stdin, which is enough for invoices', async () => {
    const { json } = await gw(['account', 'get', '--json', 'api_key']);
    const login = await other(['login', '--api-key-stdin', '--profile', 'key'], { stdin: json.api_key });
    expect(login.code).toBe(0);
    expect(login.stderr).not.toContain(json.api_key);
    expect((await other(['invoice', 'get', invoice_id, '--profile', 'key', '--json', 'id'])).json.id).toBe(
      invoice_id,
    );
    expect((await other(['login', '--api-key-stdin'], { stdin: 'gw_wrong' })).code).toBe(77);
  });

  it('are diagnosed by doctor, which names the command', async () => {
    verifies('gw-doctor');
    const { code, json } = await gw(['doctor', '--json']);
    expect(code).toBe(1);
    expect(json.checks.find(({ name }: { name: string }) => name === 'limit')).toMatchObject({
      ok: false,
      fix: 'gw refill create --chain CHAIN --amount USD',
    });
  });
});

describe('what is documented of the commands', () => {
  it('is one JSON document for programs', async () => {
    const { json } = await gw(['--help', '--json']);
    const found = json.commands.find(({ command }: { command: string }) => command === 'gw invoice create');
    expect(found.flags).toContainEqual(
      expect.objectContaining({ flag: '--chain', env: 'GW_CHAIN', required: true }),
    );
  });

  it('has a JSON Schema of input and output', async () => {
    const { json } = await gw(['schema', 'invoice', 'create']);
    expect(json.input.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(json.output.properties.qr_payload).toBeDefined();
  });

  it('completes nouns, verbs and flags in bash', async () => {
    verifies('gw-completion');
    const { execa } = await import('execa');
    const { stdout: script } = await gw(['completion', 'bash']);
    const complete = async (...words: string[]) => {
      const line = `COMP_WORDS=(gw ${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length}; _gw; echo "\${COMPREPLY[@]}"`;
      return (await execa('bash', ['-c', `${script}\n${line}`])).stdout.split(' ');
    };
    expect(await complete('inv')).toEqual(['invoice', 'invoices']);
    for (const noun of ['invoice', 'invoices']) expect(await complete(noun, 'w')).toEqual(['watch', 'wait']);
    expect(await complete('invoice', 'create', '--ch')).toEqual(['--chain']);
    for (const shell of ['zsh', 'fish', 'pwsh'])
      expect((await gw(['completion', shell])).stdout).toContain('rotate-key');
  });
});
