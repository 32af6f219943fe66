// gw where things are not as they should be: broken settings, silent services, small and plain terminals.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import { serve } from '../helpers/local-server.ts';
import { ABSENT_ID } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { GW, type Gw, linesLeft } from './helpers/gw.ts';
import { logInOperator, openStage, type Stage } from './helpers/stage.ts';

const ENTER = '\r';
/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let stage: Stage;
let gw: Gw;
let operator: Gw;
let invoice_id = '';

beforeAll(async () => {
  stage = await openStage('edge@example.com');
  ({ gw, other: operator } = stage);
  invoice_id = (await gw(['invoice', 'create', '--chain', 'ton', '--amount', '12.50', '--json'])).json.id;
  await logInOperator(operator);
});
afterAll(() => stage.close());

describe('settings', () => {
  it('that cannot be read are named with their file, by doctor too', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-broken-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const file = join(dir, 'gw.json');
    writeFileSync(file, '{nope');
    const env = { GW_CONFIG_DIR: dir };
    const ran = await gw(['whoami', '--json'], { env });
    expect(ran).toMatchObject({ code: 78, error: { error: { hint: `correct or remove ${file}` } } });
    const doctor = await gw(['doctor', '--json'], { env });
    expect(doctor).toMatchObject({
      code: 1,
      json: { ok: false, checks: [{ name: 'profile', ok: false, fix: `correct or remove ${file}` }] },
    });
  });

  it('that no request can carry are refused with what they are', async () => {
    const key = await gw(['invoice', 'list', '--api-key', 'ключ', '--json']);
    expect(key).toMatchObject({ code: 78, error: { error: { kind: 'config' } } });
    const { json } = await gw(['doctor', '--url', 'ftp://x', '--json']);
    expect(json.checks[0]).toMatchObject({ ok: false, fix: expect.stringContaining('gw config set url') });
  });

  it('have the names that exist, with or without their flag', async () => {
    const set = await gw(['config', 'set', 'colour', 'red', '--json']);
    expect(set).toMatchObject({ code: 2, stdout: '' });
    expect(set.error.error.message).toContain('listen_secret');
    expect((await gw(['completion', 'tcsh'])).code).toBe(2);
  });

  it('make no profile of a name that is mistyped', async () => {
    const ran = await gw(['config', 'use', 'defualt', '--json']);
    expect(ran).toMatchObject({
      code: 3,
      error: { error: { hint: 'did you mean default? gw login --profile defualt makes one' } },
    });
    expect(ran.error.error.message).toContain('there are: default');
    expect((await gw(['config', 'get', 'profile', '--json', 'value'])).json).toEqual({ value: 'default' });
  });

  it('of a profile that is not there are obeyed by no command, and made by signing in and setting only', async () => {
    verifies('gw-profile-known');
    const lost = { code: 78, error: { error: { code: 'unknown_profile', kind: 'config' } } };
    for (const args of [['logout'], ['whoami'], ['invoice', 'list'], ['config', 'unset', 'url'], ['mcp']]) {
      const ran = await gw([...args, '--profile', 'defualt', '--json']);
      expect(ran).toMatchObject(lost);
      expect(ran.error.error.message).toBe('there is no profile defualt; there are: default');
      expect(ran.error.error.hint).toBe('did you mean default? gw login --profile defualt makes one');
    }
    expect(await gw(['account', 'get', '--json'], { env: { GW_PROFILE: 'prdo' } })).toMatchObject(lost);
    expect((await gw(['config', 'set', 'email', 'ada@example.com', '--profile', 'prod'])).code).toBe(0);
    const named = await gw(['config', 'get', 'email', '--json', 'value'], { env: { GW_PROFILE: 'prod' } });
    expect(named.json).toEqual({ value: 'ada@example.com' });
    const typo = await gw(['whoami', '--json'], { env: { GW_PROFILE: 'prdo' } });
    expect(typo.error.error.message).toContain('there are: default, prod');
    expect(typo.error.error.hint).toContain('did you mean prod?');
  });

  it('call no word a member of JSON that does not stand behind --json', async () => {
    expect((await gw(['invoice', 'list', 'extra'])).stderr).toContain('unexpected “extra”');
    expect((await gw(['invoice', 'list', '--json', 'extra'])).error.error.message).toBe(
      'unknown member extra',
    );
  });

  it('answer the members asked for, and no other', async () => {
    expect(Object.keys((await gw(['config', 'path', '--json', 'path'])).json)).toEqual(['path']);
    expect((await gw(['doctor', '--json', 'ok'])).json).toEqual({ ok: false });
    expect((await gw(['config', 'get', 'profile', '--json', 'value'])).json).toEqual({ value: 'default' });
  });
});

describe('gw api', () => {
  it('shows a write with --dry-run and sends nothing', async () => {
    const silent = await serve(() => {});
    const ran = await gw([
      ...['api', 'POST', '/v1/invoices', '--field', 'chain=ton', '--field', 'amount:=3'],
      ...['--dry-run', '--json', '--url', silent.url],
    ]);
    expect(ran.json).toEqual({
      dry_run: true,
      method: 'POST',
      url: `${silent.url}/v1/invoices`,
      body: { chain: 'ton', amount: 3 },
    });
    expect(silent.requests).toEqual([]);
  });

  it('refuses a body where none can be sent', async () => {
    const ran = await gw(['api', 'GET', '/v1/gateways', '--field', 'a=b', '--json']);
    expect(ran).toMatchObject({ code: 2, error: { error: { message: 'GET has no body' } } });
  });
});

describe('what the service ignores', () => {
  it('is reported on stderr, of a file and of any call, and as JSON with --json', async () => {
    const file = join(gw.dir, 'invoice.json');
    writeFileSync(file, '{"chain":"ton","amount":3,"titel":"Coffee"}');
    const ran = await gw(['invoice', 'create', '--file', file]);
    expect(ran).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('gw: the service ignored: titel\n'),
    });
    const api = await gw(['api', 'GET', '/v1/gateways?colour=red', '--json']);
    expect(api).toMatchObject({ code: 0, error: { ignored: ['colour'] } });
    expect(api.json.data).not.toEqual([]);
  });
});

describe('what the service warns of', () => {
  it('is written to stderr by whatever command called, as JSON with --json, and not at all with --quiet', async () => {
    verifies('wallet-warned');
    const warning = 'On Base this address is a contract.';
    const wallet = {
      ...{
        blockchain: 'base',
        blockchain_name: 'Base',
        address: '0x00000000000000000000000000000000000a11ce',
      },
      ...{ network: 'testnet', currencies: ['ETH'], updated_at: 1_800_000_000, also: [], warning },
    };
    const service = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wallet));
    });
    const set = ['wallet', 'set', 'base', wallet.address, '--yes', '--url', service.url];
    const env = { GW_TOKEN: 'token' };
    const ran = await gw(set, { env });
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining(`gw: ${warning}\n`) });
    expect(ran.stdout).toContain(wallet.address);
    expect(ran.stdout).not.toContain(warning);
    expect(await gw([...set, '--json'], { env })).toMatchObject({
      code: 0,
      json: { warning },
      error: { warning },
    });
    expect((await gw([...set, '--quiet'], { env })).stderr).toBe('');
    const setup = await gw(['setup', '--wallet', `base=${wallet.address}`, '--url', service.url], { env });
    expect(setup.stderr).toContain(`gw: ${warning}\n`);
  });
});

describe('a picture in a file', () => {
  it('is sent as data; one that the service would refuse is refused unsent', async () => {
    const [png, text, large] = ['a.png', 'b.png', 'c.png'].map((name) => join(gw.dir, name));
    writeFileSync(String(png), Buffer.from(PIXEL, 'base64'));
    writeFileSync(String(text), 'no picture');
    writeFileSync(String(large), Buffer.alloc(65 * 1024));
    const create = ['invoice', 'create', '--chain', 'ton', '--amount', '3', '--dry-run', '--json'];
    const { json } = await gw([...create, '--image-url', `@${png}`]);
    expect(json.body.image_url).toBe(`data:image/png;base64,${PIXEL}`);
    for (const [path, why] of [
      [text, 'it is no PNG, JPEG or WebP'],
      [large, 'it is larger than 64 kB'],
    ]) {
      const { code, error } = await gw([...create, '--image-url', `@${path}`]);
      expect([code, error.error.message]).toEqual([2, `--image-url @${path}: ${why}`]);
    }
  });
});

describe('a value that the service does not take', () => {
  it('is reported by flag once it was refused; before a question, and before it is only shown', async () => {
    const service = await serve((_, response) => {
      response.writeHead(422, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ detail: [{ type: 'x', loc: ['body', 'amount'], msg: 'Wrong' }] }));
    });
    const more = ['--json', '--url', service.url];
    const create = ['invoice', 'create', '--chain', 'ton', '--amount', 'much', ...more];
    const message = '--amount: must be a number such as 12.50';
    const asked = await gw(create, { env: { GW_API_KEY: 'gw_key' } });
    expect(asked).toMatchObject({ code: 2, error: { error: { code: 'validation', message } } });
    expect(service.requests.map(({ path }) => path)).toEqual(['/v1/invoices']);
    expect((await gw([...create, '--dry-run'])).error.error).toMatchObject({ code: 'validation', message });
    const odd = await serve((_, response) => {
      response.writeHead(422, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ detail: [null, 'text', { loc: null, msg: 'no place' }, { loc: 'x' }] }));
    });
    const good = ['invoice', 'create', '--chain', 'ton', '--amount', '1', '--json', '--url', odd.url];
    expect(await gw(good, { env: { GW_API_KEY: 'gw_key' } })).toMatchObject({
      code: 2,
      error: { error: { message: 'null; text; no place; {"loc":"x"}' } },
    });
    const credit = ['admin', 'credit', ABSENT_ID, '--prepaid-usd', 'much', ...more];
    expect((await gw(credit)).error.error.code).toBe('validation');
    expect(service.requests).toHaveLength(1);
  });
});

describe('waiting', () => {
  it('ends when its time is over, though the service is silent', async () => {
    const silent = await serve(() => {});
    const ran = await gw(['invoice', 'wait', ABSENT_ID, '--timeout', '1s', '--url', silent.url, '--json']);
    expect(ran).toMatchObject({ code: 124, error: { error: { code: 'wait_timeout' } } });
  });

  it('of gw mcp ends with a stdin that is a file', async () => {
    const env = { GW_CONFIG_DIR: gw.dir };
    const { exitCode } = await execa('bash', ['-c', `"${process.execPath}" "${GW}" mcp < /dev/null`], {
      env,
      reject: false,
    });
    expect(exitCode).toBe(0);
  });
});

describe('an answer that cannot be written', () => {
  it('is reported on stderr', async () => {
    const command = `"${process.execPath}" "${GW}" config path > /dev/full`;
    const env = { GW_CONFIG_DIR: gw.dir };
    const { exitCode, stderr } = await execa('bash', ['-c', command], { env, reject: false });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('cannot be written: ENOSPC');
  });
});

describe('questions', () => {
  it('come again until the answer fits', async () => {
    const pty = gw.pty(['unit', 'create', '--currencies', 'TON']);
    await pty.see(/title/);
    pty.write(`Tea${ENTER}`);
    await pty.see(/amount usd/);
    pty.write(`abc${ENTER}`);
    await pty.see(/must be a number such as 12\.50/);
    pty.write('\u007f\u007f\u007f');
    pty.write(`4.50${ENTER}`);
    expect(await pty.ended).toBe(0);
    expect((await gw(['unit', 'list', '--json'])).json.units).toMatchObject([
      { title: 'Tea', amount_usd: '4.5' },
    ]);
  });
});

describe('terminals', () => {
  it('without a size are taken for 80 columns wide', async () => {
    const pty = gw.pty(['invoice', 'list'], { columns: 0, rows: 0 });
    expect(await pty.ended).toBe(0);
    expect(pty.output()).toContain(invoice_id.slice(-8));
    for (const line of linesLeft(pty.output())) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it('that draw no screens get lines', async () => {
    const { json } = await gw(['invoice', 'create', '--chain', 'ton', '--amount', '4', '--json']);
    const pty = gw.pty(['invoice', 'watch', json.id, '--interval', '300ms'], { env: { TERM: 'dumb' } });
    await pty.see(/created/);
    await gw(['invoice', 'simulate', json.id]);
    expect(await pty.ended).toBe(0);
    expect(pty.output()).not.toContain('\u001b');
  });

  it('that are small lose lines, and no line lies over another', async () => {
    const pty = gw.pty(['invoice', 'watch', invoice_id], { columns: 30, rows: 8 });
    await pty.see(/q quit/);
    pty.write('q');
    expect(await pty.ended).toBe(0);
    const lines = linesLeft(pty.output());
    expect(lines).toContain('waiting for the payment');
    expect(lines.some((line) => /^worth {3}\$12\.50$/.test(line.trimEnd()))).toBe(true);
  });

  it('without colours still show which row is marked', async () => {
    for (const args of [[], ['--color', 'never']]) {
      const env: Record<string, string> = args.length === 0 ? { NO_COLOR: '1' } : {};
      const pty = operator.pty(['admin', 'observers', ...args], { env });
      await pty.see(/› ton/);
      pty.write('q');
      expect(await pty.ended).toBe(0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
      expect(pty.output().match(/\u001b\[[0-9;]*m/g)).toBeNull();
    }
  });
});

describe('operator screens', () => {
  it('are refused with 77 to others, without taking the terminal', async () => {
    const pty = gw.pty(['admin', 'dashboard']);
    expect(await pty.ended).toBe(77);
    expect(pty.output()).not.toContain('\u001b[?1049h');
    expect(pty.output()).toContain('gw login');
  });

  it('stay read-only from view to view, and say which view may be meant', async () => {
    const pty = operator.pty(['admin', 'dashboard', '--readonly']);
    await pty.see(/volume/);
    pty.write(`:zz${ENTER}`);
    await pty.see(/no view “zz”: did you mean \w+\?/);
    pty.write(`:payments${ENTER}`);
    await pty.see(new RegExp(invoice_id.slice(-8)));
    pty.write(`G${ENTER}`);
    await pty.see(/received/);
    pty.write('r');
    pty.write('q');
    expect(await pty.ended).toBe(0);
    expect(pty.output()).not.toContain('recheck');
  });

  it('keep their filter behind the help', async () => {
    const pty = operator.pty(['admin', 'payments']);
    await pty.see(new RegExp(invoice_id.slice(-8)));
    pty.write(`/zzz${ENTER}`);
    await pty.seeFrame((frame) => /0 of \d+ {3}filter zzz/.test(frame));
    pty.write('?');
    await pty.see(/this help/);
    pty.write('?s');
    await pty.seeFrame((frame) => frame.includes('ID↓') && frame.includes('filter zzz'));
    pty.write('q');
    expect(await pty.ended).toBe(0);
  });

  it('show what an unmatched payment could pay, and book it for that invoice where it is shown', async () => {
    const { json: me } = await gw(['whoami', '--json', 'id']);
    await operator(['admin', 'credit', me.id, '25', '--yes']);
    const made = ['invoice', 'create', '--chain', 'ton', '--amount', '9', '--external-ref', 'lone-9'];
    const { json: invoice } = await gw([...made, '--json']);
    const { txid, payment_id } = insertUnmatched(invoice.id);
    const screen = operator.pty(['admin', 'payments', '--status', 'unmatched'], { columns: 130 });
    await screen.see(new RegExp(payment_id.slice(-8)));
    screen.write(ENTER);
    await screen.see(/could pay \(all \d+\)/);
    screen.write('r');
    await screen.seeFrame((frame) => /b book it for one of \d+ open invoices/.test(frame));
    screen.write('b');
    await screen.seeFrame((frame) => frame.includes('could pay (all '));
    // The nearest amount comes first.
    await screen.seeFrame((frame) => new RegExp(`› ${invoice.id.slice(-8)} .*\\(exact\\)`).test(frame));
    screen.write(ENTER);
    await screen.see(/paid 4\.5 of 4\.5 TON \(exact\)/);
    await screen.see(new RegExp(`type ${invoice.id.slice(-8)}, then enter: █`));
    screen.write(invoice.id.slice(-8) + ENTER);
    await screen.see(/now confirmed/);
    screen.write('\u0003');
    expect(await screen.ended).toBe(130);
    expect(screen.output()).not.toContain('refused');
    const { json: now } = await gw(['invoice', 'get', invoice.id, '--json', 'status,txid']);
    expect(now).toEqual({ status: 'confirmed', txid });
  });
});

/** A final transfer of an invoice's amount without its memo, as the observer would have stored it. */
function insertUnmatched(invoice_id: string): { txid: string; payment_id: string } {
  const db = new (sqlite())(join(stage.home.dir, 'gatewayd', 'gatewayd.db'));
  db.pragma('busy_timeout = 10000');
  const txid = 'ab'.repeat(32);
  const payment_id = '01a1f900-0000-7000-8000-0123456789ab';
  db.prepare(`insert into payments (id, owner_id, chain, blockchain, currency, decimals, status, txid, received_atomic,
      amount_match, confirmations, listed_as, listed_at, created_at, updated_at)
    select ?, owner_id, chain, blockchain, 'TON', 9, 'unmatched', ?, amount_atomic, 'none', 1, 'unapplied', created_at,
      created_at, created_at from invoices where id = ?`).run(payment_id, txid, invoice_id);
  db.prepare(`insert into transfers (id, blockchain, txid, idx, chain, address_key, amount_atomic, reference_keys,
      earliest_at, latest_at, confirmations, state, disposition, payment_id, first_seen_at, updated_at)
    select ?, blockchain, ?, 0, chain, address_key, amount_atomic, '[]', created_at, created_at, 1, 'final', 'unmatched', ?,
      created_at, created_at from invoices where id = ?`).run(ABSENT_ID, txid, payment_id, invoice_id);
  db.close();
  return { txid, payment_id };
}
