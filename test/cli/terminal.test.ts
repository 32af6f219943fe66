// gw on a terminal: QR codes that scan, questions, screens, and nothing that text from outside could do.

import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import jsqr from 'jsqr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import { cleanText } from '../../src/clean.ts';
import { moreWallets, wallets } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';
import { foreignControls, GW, type Gw, linesLeft, type Pty } from './helpers/gw.ts';
import { logInOperator, openStage, type Stage } from './helpers/stage.ts';

/** Clipboard, title, link, cursor, colours, a C1 sequence, a turned reading order, and hidden characters. */
const HOSTILE =
  'a\u001b]52;c;ZXZpbA==\u0007b\u001b]0;owned\u001b\\c\u001b[2Jd\u009b31me\u202ef\u200bg\u2066h\r\ni';
const LEAVES_SCREEN = '\u001b[?1049l';
const SHOWS_CURSOR = '\u001b[?25h';
const CTRL_C = '\u0003';
const ROWS = 10_000;
const ENTER = '\r';

let stage: Stage;
let gw: Gw;
let operator: Gw;

beforeAll(async () => {
  stage = await openStage('person@example.com', { GATEWAYD_GATEWAYS_BASE_USDC_ENABLED: 'true' });
  ({ gw, other: operator } = stage);
  await logInOperator(operator);
});
afterAll(() => stage.close());

const MODULE = 4;

/** What a scanner reads in lines of half blocks, on a dark terminal. */
function scan(lines: readonly string[]): string | undefined {
  const margin = 2;
  const columns = Math.max(...lines.map((line) => [...line].length)) + 2 * margin;
  const rows = lines.length * 2 + 2 * margin;
  const pixels = new Uint8ClampedArray(columns * rows * MODULE * MODULE * 4);
  const light = (column: number, row: number): boolean => {
    const character = [...(lines[Math.floor((row - margin) / 2)] ?? '')][column - margin];
    return character === '█' || character === ((row - margin) % 2 === 0 ? '▀' : '▄');
  };
  for (let y = 0; y < rows * MODULE; y += 1)
    for (let x = 0; x < columns * MODULE; x += 1) {
      const shade = light(Math.floor(x / MODULE), Math.floor(y / MODULE)) ? 255 : 0;
      pixels.set([shade, shade, shade, 255], (y * columns * MODULE + x) * 4);
    }
  const read = (jsqr as unknown as typeof jsqr.default)(pixels, columns * MODULE, rows * MODULE);
  return read?.data;
}

/** The block characters that a line begins with. */
const codeOf = (output: string): string[] =>
  linesLeft(output)
    .map((line) => /^[█▀▄ ]*[█▀▄]/.exec(line)?.[0] ?? '')
    .filter((line) => line.length > 20);

it('shows keys and secrets of the account in part, and says how to have them whole', async () => {
  const { json } = await gw(['account', 'get', '--json', 'api_key,webhook_secret']);
  const terminal = gw.pty(['account', 'get'], { columns: 120 });
  expect(await terminal.ended).toBe(0);
  const shown = terminal.output();
  for (const secret of [json.api_key, json.webhook_secret]) {
    expect(shown).not.toContain(secret);
    expect(shown).toContain(`…${secret.slice(-4)}`);
  }
  expect(shown).toContain('--json api_key,webhook_secret');
});

describe('the QR code', () => {
  it('of a new invoice scans in 80×24, alongside address, amount and memo', async () => {
    const pty = gw.pty([
      'invoice',
      'create',
      '--chain',
      'ton',
      '--amount',
      '12.50',
      '--external-ref',
      'order-9',
    ]);
    expect(await pty.ended).toBe(0);
    const output = pty.output();
    const lines = linesLeft(output).filter((line) => line !== '');
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(80);
    const payload = scan(codeOf(output));
    const { json } = await gw(['invoice', 'list', '--external-ref', 'order-9', '--json']);
    expect(payload).toBe(json.data[0].qr_payload);
    expect(output).toContain(json.data[0].memo);
  });

  it('of gw invoice qr scans without colours too', async () => {
    verifies('gw-qr');
    const { json } = await gw(['invoice', 'create', '--chain', 'ton', '--amount', '2', '--json']);
    const plain = await gw(['invoice', 'qr', json.id]);
    expect(plain.stdout).not.toContain('\u001b');
    expect(scan(codeOf(plain.stdout))).toBe(json.qr_payload);
    const page = await gw(['invoice', 'qr', json.id, '--page']);
    expect(scan(codeOf(page.stdout))).toBe(json.pay_url);
  });
});

describe('a code of the address alone', () => {
  it('is called so, with amount and chain, by gw invoice qr and next to the code of gw invoice create', async () => {
    verifies('code-address');
    await gw(['wallet', 'set', 'base', moreWallets.base ?? '']);
    const { json } = await gw(['invoice', 'create', '--chain', 'base-usdc', '--amount', '2', '--json']);
    expect(json.qr_payload).toBe(json.address);
    const note = `The code holds only the address: send ${json.amount} USDC on base-usdc`;
    const plain = await gw(['invoice', 'qr', json.id]);
    expect(scan(codeOf(plain.stdout))).toBe(json.address);
    expect(plain.stderr).toContain(note);
    expect((await gw(['invoice', 'qr', json.id, '--page'])).stderr).not.toContain('only the address');
    const pty = gw.pty([
      'invoice',
      'create',
      '--chain',
      'base-usdc',
      '--amount',
      '2',
      '--external-ref',
      'bare',
    ]);
    expect(await pty.ended).toBe(0);
    const lines = linesLeft(pty.output());
    expect(scan(codeOf(pty.output()))).toBe(json.address);
    const text = lines.map((line) => line.replace(/^[█▀▄ ]*/, '')).join('');
    expect(text).toContain('The code holds only the address');
    expect(text).toMatch(/chain +base-usdc/);
    const ton = await gw(['invoice', 'create', '--chain', 'ton', '--amount', '2', '--json']);
    expect((await gw(['invoice', 'qr', ton.json.id])).stderr).not.toContain('only the address');
  });
});

describe('questions', () => {
  it('ask for what is missing, on stderr, and continue with the answers', async () => {
    const pty = gw.pty(['wallet', 'set']);
    await pty.see(/blockchain/);
    pty.write(ENTER);
    await pty.see(/address/);
    pty.write(`${wallets.ton}${ENTER}`);
    expect(await pty.ended).toBe(0);
    expect(pty.output()).toContain('TON');
  });

  it('are not asked with --no-input', async () => {
    const pty = gw.pty(['wallet', 'set', '--no-input']);
    expect(await pty.ended).toBe(2);
    expect(pty.output()).toContain('--address');
  });

  it('end with 130 on Ctrl-C', async () => {
    verifies('gw-exit-codes');
    const pty = gw.pty(['unit', 'create']);
    await pty.see(/title/);
    pty.write(CTRL_C);
    expect(await pty.ended).toBe(130);
  });

  it('want the very word before money is booked by hand', async () => {
    const { json } = await gw(['invoice', 'create', '--chain', 'ton', '--amount', '3', '--json']);
    const pty = operator.pty(['admin', 'resolve', json.id, 'fail']);
    await pty.see(/to continue/);
    pty.write(`yes${ENTER}`);
    expect(await pty.ended).toBe(1);
    expect((await gw(['invoice', 'get', json.id, '--json', 'status'])).json.status).toBe('created');
  });
});

describe('text from outside', () => {
  it('reaches no terminal as anything but text', async () => {
    const body = JSON.stringify({ chain: 'ton', amount: '5', external_ref: HOSTILE });
    const { json } = await gw(['invoice', 'create', '-f', '-', '--json'], { stdin: body });
    expect(json.external_ref).toBe(cleanText(HOSTILE));
    // As versions that cleaned no reference have stored it.
    const books = new (sqlite())(join(stage.home.dir, 'gatewayd', 'gatewayd.db'), { timeout: 5_000 });
    books.prepare('update invoices set external_ref = ? where id = ?').run(HOSTILE, json.id);
    books.close();
    const outputs: string[] = [];
    for (const args of [
      ['invoice', 'list'],
      ['invoice', 'get', json.id],
      ['invoice', 'list', '--json'],
      ['invoice', 'watch', json.id, '--json'],
    ]) {
      const pty = gw.pty(args);
      if (args[1] === 'watch') {
        await pty.see(/created/);
        pty.write(CTRL_C);
      }
      await pty.ended;
      outputs.push(pty.output());
    }
    const screen = operator.pty(['admin', 'payments'], { columns: 200, rows: 60 });
    await screen.see(/REFERENCE/);
    await screen.see(/abc/);
    screen.write(CTRL_C);
    await screen.ended;
    outputs.push(screen.output());
    for (const output of outputs) {
      expect(foreignControls(output)).toEqual([]);
      expect(output).not.toContain('\u001b[31m');
    }
    // The value is whole for programs.
    expect((await gw(['invoice', 'get', json.id, '--json'])).json.external_ref).toBe(HOSTILE);
  });
});

/** Whether the terminal is as it was: main screen, visible cursor. */
function expectRestored(output: string): void {
  expect(output.lastIndexOf(LEAVES_SCREEN)).toBeGreaterThan(output.lastIndexOf('\u001b[?1049h'));
  expect(output.lastIndexOf(SHOWS_CURSOR)).toBeGreaterThan(output.lastIndexOf('\u001b[?25l'));
}

describe('screens', () => {
  const open = async (args: string[], sign: RegExp): Promise<Pty> => {
    const pty = operator.pty(args);
    await pty.see(sign);
    return pty;
  };

  it('give the terminal back on q, on Ctrl-C with 130, and when they are ended', async () => {
    const [quit, interrupted, ended] = await Promise.all([
      open(['admin', 'observers'], /BLOCKCHAIN/),
      open(['admin', 'dashboard'], /volume/),
      open(['admin', 'payments'], /STATUS/),
    ]);
    quit.write('q');
    interrupted.write(CTRL_C);
    ended.kill('SIGTERM');
    expect(await Promise.all([quit.ended, interrupted.ended, ended.ended])).toEqual([0, 130, 143]);
    for (const pty of [quit, interrupted, ended]) expectRestored(pty.output());
  });

  it('print once where there is no terminal', async () => {
    for (const name of ['dashboard', 'observers', 'payments']) {
      const ran = await operator(['admin', name]);
      expect(ran, name).toMatchObject({ code: 0, stderr: '' });
      expect(ran.stdout, name).not.toContain('\u001b');
    }
  });

  it('follow an invoice to its end', async () => {
    verifies('gw-watch');
    const { json } = await gw(['invoice', 'create', '--chain', 'ton', '--amount', '4', '--json']);
    const pty = gw.pty(['invoice', 'watch', json.id, '--interval', '300ms']);
    await pty.see(/waiting for the payment/);
    await gw(['invoice', 'simulate', json.id]);
    expect(await pty.ended).toBe(0);
    expectRestored(pty.output());
    expect(stripVTControlCharacters(pty.output().slice(pty.output().lastIndexOf(LEAVES_SCREEN)))).toContain(
      'confirmed',
    );
  });

  it('resolve a payment after its id was typed, and never with --readonly', async () => {
    const { json } = await gw(['invoice', 'create', '--chain', 'ton', '--amount', '6', '--json']);
    const reader = await open(['admin', 'payments', '--readonly'], new RegExp(json.id.slice(-8)));
    reader.write(ENTER);
    await reader.see(/received/);
    expect(reader.frame()).not.toContain('r resolve');
    reader.write('q');
    await reader.ended;
    const pty = await open(['admin', 'payments'], new RegExp(json.id.slice(-8)));
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes('r resolve'));
    pty.write('r');
    await pty.seeFrame((frame) => frame.includes('c confirm'));
    pty.write('f');
    await pty.see(/then enter/);
    pty.write(json.id.slice(-8));
    await pty.see(new RegExp(`${json.id.slice(-8)}█`));
    pty.write(ENTER);
    await pty.see(/now failed/);
    pty.write('q');
    expect(await pty.ended).toBe(0);
    expect((await gw(['invoice', 'get', json.id, '--json', 'status'])).json.status).toBe('failed');
  });
});

describe('with ten thousand invoices', () => {
  beforeAll(async () => {
    await gw(['invoice', 'create', '--chain', 'ton', '--amount', '8']);
    const db = new (sqlite())(join(stage.home.dir, 'gatewayd', 'gatewayd.db'));
    db.pragma('busy_timeout = 10000');
    const columns = (db.pragma('table_info(invoices)') as { name: string }[]).map(({ name }) => name);
    const replaced: Record<string, string> = {
      id: "lower(hex(randomblob(4))||'-'||hex(randomblob(2))||'-4'||substr(hex(randomblob(2)),2)||'-8'||substr(hex(randomblob(2)),2)||'-'||hex(randomblob(6)))",
      memo: 'null',
      reference: 'null',
      reserved: 'null',
      due_at: 'null',
      status: "'expired'",
      paid_at: 'null',
      payment_id: 'null',
      external_ref: "'bulk-'||n",
      created_at: 'created_at - n',
    };
    const values = columns.map((name) => replaced[name] ?? name).join(', ');
    db.exec(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${ROWS})
      insert into invoices (${columns.join(', ')}) select ${values}
      from numbers, (select * from invoices where status = 'created' limit 1)`);
    db.close();
  });

  it('lists them all, and is quiet when its reader has enough', async () => {
    const all = await gw(['invoice', 'list', '--all', '--json', 'id']);
    expect(all.json.length).toBeGreaterThanOrEqual(ROWS);
    const { stdout, stderr } = await execa(
      'bash',
      ['-c', `"${process.execPath}" "${GW}" invoice list --all | head -1; echo "\${PIPESTATUS[0]}"`],
      { env: { GW_CONFIG_DIR: gw.dir } },
    );
    expect(stderr).toBe('');
    expect(stdout.split('\n').at(-1)).toBe('0');
  });

  it('scrolls, filters, and reaches rows beyond those it holds', async () => {
    verifies('gw-cockpit-beyond');
    const pty = operator.pty(['admin', 'payments', '--refresh', '60s'], { columns: 120 });
    await pty.seeFrame((frame) => frame.includes('10000 of the newest 10000'));
    pty.write('/bulk-4321');
    await pty.seeFrame((frame) => frame.includes('1 of the newest 10000') && frame.includes('bulk-4321'));
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes('q quit'));
    pty.write('\u001b');
    await pty.seeFrame((frame) => frame.includes('10000 of the newest 10000'));
    // What lies behind them comes when their end is reached, and what lies before goes.
    pty.write('G');
    await pty.seeFrame((frame) => /rows \d+ to 100\d\d/.test(frame));
    pty.write('G');
    await pty.seeFrame((frame) => frame.includes(`bulk-${ROWS}`));
    pty.write('g');
    await pty.seeFrame((frame) => frame.includes('of the newest 10000') && /^› \w{8}/m.test(frame));
    pty.write(CTRL_C);
    expect(await pty.ended).toBe(130);
    expectRestored(pty.output());
  });
});
