// `gw account export` as a process: JSON and CSV files that are whole or not there, and no formulas from outside.
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { csvCell } from '../../cli/output/csv.ts';
import { exportTables } from '../../src/api/schemas/merchant.ts';
import { type Home, makeHome } from '../daemon/helpers/process.ts';
import { wallets } from '../helpers/people.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { type Gw, makeGw } from './helpers/gw.ts';

const HOSTILE = '=HYPERLINK("http://bad.example","a, b")';

let home: Home;
let gw: Gw;
let url: string;
beforeAll(async () => {
  home = makeHome();
  url = (await home.start({ env: { GATEWAYD_WALLETS_TON: `0:${'22'.repeat(32)}` } })).url;
  gw = makeGw(url);
  await gw(['signup', '--email', 'exports@example.com', '--password', '-'], {
    stdin: 'correct horse battery',
  });
  await gw(['wallet', 'set', 'ton', wallets.ton ?? '']);
  for (const external_ref of [HOSTILE, '-1', 'plain']) {
    const made = await gw([
      'invoice',
      'create',
      '--chain',
      'ton',
      '--amount',
      '5',
      `--external-ref=${external_ref}`,
      '--json',
    ]);
    await gw(['invoice', 'simulate', made.json.id]);
  }
});
afterAll(async () => {
  gw.remove();
  await home.remove();
});

describe('gw account export', () => {
  it('writes one JSON document with every table, for its owner alone', async () => {
    verifies('account-export');
    const path = join(gw.dir, 'all.json');
    const ran = await gw(['account', 'export', path, '--json']);
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.json).toMatchObject({ path, format: 'json', tables: { invoices: 3, income: 3, account: 1 } });
    const text = readFileSync(path, 'utf8');
    const document = JSON.parse(text);
    expect(document).toMatchObject({ gatewayd_export: 1, service: url });
    expect(Object.keys(document.tables)).toEqual([...exportTables]);
    expect(document.tables.invoices.map((row: { external_ref: string }) => row.external_ref)).toEqual([
      HOSTILE,
      '-1',
      'plain',
    ]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const key = (await gw(['account', 'get', '--json'])).json;
    for (const secret of [key.api_key, key.webhook_secret]) expect(text).not.toContain(secret);
    // What is there is not replaced.
    const again = await gw(['account', 'export', path, '--json']);
    expect([again.code, again.error.error.code]).toEqual([4, 'path_exists']);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('writes a folder of CSV files in which nothing from outside is a formula', async () => {
    verifies('account-export');
    const path = join(gw.dir, 'tables');
    const ran = await gw(['account', 'export', path, '--format', 'csv']);
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr).toContain(path);
    expect(readdirSync(path).sort()).toEqual(exportTables.map((table) => `${table}.csv`).sort());
    const [head, ...lines] = readFileSync(join(path, 'invoices.csv'), 'utf8').trimEnd().split('\r\n');
    expect(head).toContain('external_ref');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain(`"'=HYPERLINK(""http://bad.example"",""a, b"")"`);
    expect(lines[1]).toContain(',-1,');
    for (const name of readdirSync(path))
      for (const cell of readFileSync(join(path, name), 'utf8').matchAll(/(?:^|,|\n)"?[=+@\t]/g))
        expect.fail(`${name} has a formula at ${cell.index}`);
  });

  it('takes no beginning of a formula for text, and every number for one', () => {
    verifies('account-export');
    for (const text of [
      '=1',
      '+1+1',
      '-x',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '\n=1',
      '\uff1d1',
      '\uff0b1',
      '\uff0d1',
      '\uff20A',
    ])
      expect(csvCell(text).replace(/^"/, ''), JSON.stringify(text)).toMatch(/^'/);
    expect(['-1', '-0.5', 7, null, 'a=1'].map(csvCell)).toEqual(['-1', '-0.5', '7', '', 'a=1']);
  });

  it('leaves nothing where it does not come to its end', async () => {
    verifies('account-export');
    const path = join(gw.dir, 'partial.json');
    const ran = await gw(['account', 'export', path, '--json'], { env: { GW_TOKEN: 'no.such.token' } });
    expect(ran.code).toBe(77);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(gw.dir).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it('leaves nothing where a person presses Ctrl-C in the middle of it', async () => {
    verifies('account-export');
    let asked = 0;
    const service = createServer((request, response) => {
      const table = new URL(request.url ?? '', url).searchParams.get('table');
      // The first table comes, the second never does.
      if (asked++ === 0) response.setHeader('content-type', 'application/json');
      if (asked === 1) response.end(JSON.stringify({ table, data: [{ id: 'one' }], next: null }));
    });
    await once(service.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      service.closeAllConnections();
      service.close();
    });
    const GW_URL = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const partial = () => readdirSync(gw.dir).filter((name) => name.startsWith('broken'));
    for (const format of ['json', 'csv']) {
      asked = 0;
      const ran = gw.start(['account', 'export', join(gw.dir, 'broken'), '--format', format], {
        env: { GW_URL, GW_TOKEN: 'a.token.here' },
      });
      await until('the second table is asked for', async () => (asked > 1 ? true : undefined));
      expect(partial()).toHaveLength(1);
      ran.child.kill('SIGINT');
      expect(await ran.ended).toBe(130);
      expect(partial()).toEqual([]);
    }
  });
});

describe('gw account delete', () => {
  it('asks nothing of a program that says --yes, and nothing is done without', async () => {
    verifies('delete-erases');
    const refused = await gw(['account', 'delete', '--json']);
    expect([refused.code, refused.error.error.code]).toEqual([2, 'confirmation_required']);
    const shown = await gw(['account', 'delete', '--dry-run', '--json']);
    expect(shown.json).toMatchObject({ dry_run: true, method: 'DELETE' });
    expect((await gw(['whoami', '--json'])).json.email).toBe('exports@example.com');
  });

  it('offers a person the export, asks for the password, and forgets the credentials', async () => {
    verifies('delete-erases');
    const ask = async (password: string) => {
      const pty = gw.pty(['account', 'delete']);
      await pty.see(/Invoices and ledger stay/);
      await pty.see(/Export everything/);
      pty.write('n\r');
      await pty.see(/Password of this account/);
      pty.write(`${password}\r`);
      return pty;
    };
    const wrong = await ask('another password');
    expect(await wrong.ended).toBe(77);
    expect(wrong.output()).toContain('Incorrect email or password');
    const right = await ask('correct horse battery');
    await right.see(/for good\? Type delete/);
    right.write('delete\r');
    expect(await right.ended).toBe(0);
    expect(right.output()).toContain('User deleted successfully');
    expect((await gw(['whoami', '--json'])).error.error.code).toBe('not_signed_in');
  });
});
