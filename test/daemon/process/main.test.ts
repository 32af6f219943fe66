// The built process: how it starts, how it refuses to, what it says, and how it ends.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sqlite } from '../../../data/db/driver.ts';
import { signIn } from '../../helpers/people.ts';
import { createDatabase, hasPostgres } from '../../helpers/postgres.ts';
import { serviceAt } from '../../helpers/service.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { type Daemon, firstPassword, type Home, makeHome } from '../helpers/process.ts';

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const BIN = fileURLToPath(new URL('../../../bin/gatewayd.js', import.meta.url));
/** Gives a program a terminal; comes with util-linux. */
const hasScript = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0;
const state = (name = '') => join(home.dir, 'gatewayd', name);
const checksum = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

async function stop(daemon: Daemon): Promise<void> {
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
}

test('a reader that has enough of the output ends it without a failure', () => {
  const script = `'${process.execPath}' '${BIN}' config --all | head -1; echo "\${PIPESTATUS[0]}"`;
  const output = execFileSync('bash', ['-c', `(${script}) 2>&1`], { encoding: 'utf8' });
  expect(output).toMatch(/^network .*\n0\n$/);
});

describe('a first start', () => {
  test('says one line on stdout when it is ready, answers, and keeps its state to its user', async () => {
    verifies('ready-line', 'command-start', 'data-dir');
    const daemon = await home.start();
    expect(await (await fetch(`${daemon.url}/health`)).json()).toEqual({ message: 'ok' });
    await stop(daemon);
    expect(daemon.stdout()).toBe(`gatewayd ready on ${daemon.url} (testnet, demo)\n`);
    const modes = ['', 'gatewayd.db', 'gatewayd.db.lock', 'secret'].map(
      (name) => statSync(state(name)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600]);
  });

  test('without a terminal puts the password of the first superuser into a file, until it signs in', async () => {
    verifies('first-superuser', 'first-password-file');
    const file = state('first-password');
    const first = await home.start();
    const { email, password } = firstPassword(home);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.stderr()).toContain(`"file":${JSON.stringify(file)}`);
    expect(first.stderr()).not.toContain(password);
    // What does not sign in is no use of it, nor is a start.
    expect((await signIn(serviceAt({ base_url: first.url }), email, 'another one')).status).toBe(400);
    await stop(first);
    const second = await home.start();
    expect(firstPassword(home)).toEqual({ email, password });
    expect((await signIn(serviceAt({ base_url: second.url }), email, password)).status).toBe(200);
    expect(existsSync(file)).toBe(false);
    expect((await signIn(serviceAt({ base_url: second.url }), email, password)).status).toBe(200);
    await stop(second);
    // What a backup of the machine brings back goes with the next start.
    writeFileSync(file, 'superuser a\npassword  b\n');
    const third = await home.start();
    expect(existsSync(file)).toBe(false);
    await stop(third);
    expect(second.stderr() + third.stderr()).not.toContain(password);
  });

  test.skipIf(!hasScript)('on a terminal shows it there, and in no file', async () => {
    verifies('first-superuser');
    const command = `exec '${process.execPath}' '${BIN}' start --port 0`;
    const env = {
      PATH: process.env.PATH,
      XDG_STATE_HOME: home.dir,
      GATEWAYD_RATES_SOURCE: 'fixed',
      GATEWAYD_RATES_USD_TON: '2',
      HTTPS_PROXY: 'http://127.0.0.1:9',
    };
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, cwd: home.dir });
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    await until('the daemon is ready', async () => /gatewayd ready/.test(shown) || undefined);
    expect(shown).toMatch(/superuser admin@gatewayd.local, password [0-9a-f]{24}/);
    expect(existsSync(state('first-password'))).toBe(false);
    terminal.stdin.write('\u0003');
    await once(terminal, 'close');
  });

  test('a new password of `admin create` leaves nothing of the first one', async () => {
    verifies('first-password-file');
    const daemon = await home.start();
    const { email } = firstPassword(home);
    expect((await home.run(['admin', 'create', '--email', email, '--yes'])).code).toBe(0);
    await until('the file is gone', async () => !existsSync(state('first-password')) || undefined);
    await stop(daemon);
  });

  test('shows no password where the configuration has one', async () => {
    verifies('first-superuser');
    const admin = { GATEWAYD_ADMIN_EMAIL: 'boss@example.com', GATEWAYD_ADMIN_PASSWORD: 'correct horse' };
    const daemon = await home.start({ env: admin });
    expect(
      (await signIn(serviceAt({ base_url: daemon.url }), 'boss@example.com', 'correct horse')).status,
    ).toBe(200);
    await stop(daemon);
    expect(daemon.stderr()).not.toMatch(/correct horse|First start/);
  });

  test.each(['boss@gmail.com', 'Boss@GoogleMail.com'])(
    'makes no superuser that could not sign in with its password: %s',
    async (email) => {
      verifies('first-superuser', 'auth-password-custom-only');
      const admin = { GATEWAYD_ADMIN_EMAIL: email, GATEWAYD_ADMIN_PASSWORD: 'correct horse' };
      const { code, stderr } = await home.run(['start', '--port', '0'], { env: admin });
      expect([code, stderr]).toEqual([78, expect.stringContaining('sign in with Google')]);
    },
  );

  test.skipIf(!hasPostgres)('serves several daemons from one PostgreSQL database', async () => {
    verifies('both-databases');
    const database = await createDatabase();
    const env = { GATEWAYD_DATABASE_URL: database.url };
    const daemons = [await home.start({ env }), await home.start({ env })];
    for (const daemon of daemons) expect((await fetch(`${daemon.url}/health`)).status).toBe(200);
    for (const daemon of daemons) await stop(daemon);
    await database.drop();
  });
});

describe('a start is refused with 78', () => {
  const refused = async (args: string[], env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await home.run(['start', ...args], { env });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).not.toMatch(/\n\s+at /);
    return stderr;
  };

  test('for a data directory that cannot be made, at once', async () => {
    const { stderr, code } = await home.run(['start', '--data-dir', '/proc/none/of/these']);
    expect([code, stderr]).toEqual([78, expect.stringContaining('/proc/none/of/these cannot be created')]);
  });

  test('on a busy port, which is named, before a database is made', async () => {
    verifies('exit-78');
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    expect(await refused(['--port', String(port)])).toContain(
      `port ${port} on 127.0.0.1 cannot be used: another process`,
    );
    expect(existsSync(state('gatewayd.db'))).toBe(false);
    other.close();
  });

  test('on a port that browsers refuse', async () => {
    expect(await refused(['--port', '6667'])).toContain('port 6667 on 127.0.0.1 cannot be used');
  });

  test('on an address that is not of this machine', async () => {
    expect(await refused(['--host', '192.0.2.1', '--port', '0'])).toContain('192.0.2.1 cannot be used');
    // Nor is a port to blame that was named.
    expect(await refused(['--host', '192.0.2.1', '--port', '4020'])).toContain('no such address; check host');
  });

  test('alongside another daemon on the same file, which continues', async () => {
    verifies('exit-78');
    const daemon = await home.start();
    expect(await refused(['--port', '0'])).toContain('another gatewayd is running on sqlite:');
    expect((await fetch(`${daemon.url}/health`)).status).toBe(200);
    daemon.signal('SIGKILL');
    expect((await daemon.ended).code).toBe('SIGKILL');
    await stop(await home.start());
  });

  test('on a damaged database, which is left as it is', async () => {
    verifies('exit-78');
    await home.run(['migrate']);
    const file = state('gatewayd.db');
    const bytes = readFileSync(file);
    bytes.fill(0xaa, 4096, 4096 * 3);
    writeFileSync(file, bytes);
    const before = checksum(file);
    expect(await refused(['--port', '0'])).toContain('cannot be used');
    expect(checksum(file)).toBe(before);
    writeFileSync(file, 'this is no database at all, but a text of some length\n'.repeat(100));
    const text = checksum(file);
    expect(await refused(['--port', '0'])).toContain('cannot be used');
    expect(checksum(file)).toBe(text);
  });

  test('on a schema that is newer, which is left as it is', async () => {
    verifies('exit-78');
    await home.run(['migrate']);
    const database = new (sqlite())(state('gatewayd.db'));
    database.prepare("insert into kysely_migration (name, timestamp) values ('9999-future', '')").run();
    const dump = () => JSON.stringify(database.prepare('select * from sqlite_schema').all());
    const before = dump();
    expect(await refused(['--port', '0'])).toContain('newer gatewayd (schema 9999-future)');
    expect(dump()).toBe(before);
    database.close();
  });

  test('with another secret than the database was made with', async () => {
    await stop(await home.start());
    expect(await refused(['--port', '0'], { GATEWAYD_SECRET: 'quite another secret' })).toContain(
      'the secret is not the one',
    );
  });

  test('on the network that the database was not made for', async () => {
    await stop(await home.start());
    expect(await refused(['--port', '0', '--network', 'mainnet'])).toContain('created with network testnet');
  });

  test('with another network under the id of one that the settings added before', async () => {
    const added = (chain_id: number) => ({
      custom_blockchains: [
        { id: 'gnosis', name: 'Gnosis', chain_id, coin: 'XDAI', block_seconds: 5, min_confirmations: 20 },
      ],
      custom_gateways: [{ id: 'gnosis', blockchain: 'gnosis', currency: 'XDAI', priced_as: 'USDC' }],
      blockchains: { gnosis: { url: 'http://127.0.0.1:9' } },
    });
    const write = (settings: object) =>
      writeFileSync(join(home.dir, 'gatewayd.config.json'), JSON.stringify(settings));
    write(added(10_200));
    await stop(await home.start());
    write(added(10_201));
    expect(await refused(['--port', '0'])).toContain('gnosis is chain 10200 in this database, not 10201');
  });

  test('with an unknown setting, naming the nearest known one', async () => {
    verifies('settings-unknown');
    writeFileSync(join(home.dir, 'gatewayd.config.json'), '{"prot": 1}');
    expect(await refused([])).toContain('unknown setting prot: did you mean port?');
  });

  test('with demo on mainnet', async () => {
    expect(await refused(['--network', 'mainnet', '--demo'])).toContain('refused with network mainnet');
  });
});

describe('at SIGTERM', () => {
  /** A sign-in whose body is not complete yet, and what comes back of it. */
  const halfRequest = (url: string) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (text) => {
      received += text;
    });
    const closed = new Promise<string>((resolve) => {
      socket.on('close', () => resolve(received));
    });
    socket.write(
      'POST /api/v1/login/access-token HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n' +
        'content-type: application/x-www-form-urlencoded\r\ncontent-length: 22\r\n\r\n',
    );
    const begun = () => expect.poll(() => received).toContain('100 Continue');
    return { begun, finish: () => socket.write('username=a&password=bc'), closed };
  };
  const refusesConnections = (url: string) =>
    expect
      .poll(
        () =>
          fetch(url).then(
            () => 'open',
            () => 'closed',
          ),
        { timeout: 5000 },
      )
      .toBe('closed');

  test('it accepts no more, finishes what is in flight, and ends with 0', async () => {
    verifies('sigterm');
    const daemon = await home.start();
    const request = halfRequest(daemon.url);
    await request.begun();
    daemon.signal('SIGTERM');
    await refusesConnections(daemon.url);
    request.finish();
    expect(await request.closed).toMatch(
      /HTTP\/1.1 400 [\s\S]*connection: close[\s\S]*Incorrect email or password/i,
    );
    expect((await daemon.ended).code).toBe(0);
  });

  test('a second signal ends it at once', async () => {
    const daemon = await home.start();
    const request = halfRequest(daemon.url);
    await request.begun();
    daemon.signal('SIGTERM');
    await refusesConnections(daemon.url);
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(143);
  });
});

test('the log of a request holds no key, token or password', async () => {
  const daemon = await home.start({ env: { GATEWAYD_LOG_LEVEL: 'debug' } });
  const key = 'gw_secretSECRETsecretSECRETsecret';
  await fetch(`${daemon.url}/v1/invoices?api_key=${key}`, { method: 'POST', body: '{}' });
  await fetch(`${daemon.url}/nowhere/${key}?api_key=${key}`, {
    headers: { 'x-api-key': key, 'user-agent': key },
  });
  await fetch(`${daemon.url}/api/v1/users/me`, { headers: { authorization: `Bearer ${key}` } });
  await signIn(serviceAt({ base_url: daemon.url }), 'someone@example.com', 'my own password');
  await stop(daemon);
  const lines = daemon
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  expect(lines.filter((line) => JSON.parse(line).msg === 'request')).toHaveLength(4);
  expect(daemon.stderr()).not.toMatch(/SECRET|my own password/);
});

test('config shows what is in force and where it is from, without secrets', async () => {
  verifies('command-config');
  const env = { GATEWAYD_SECRET: 'sixteen characters', GATEWAYD_DATABASE_URL: 'postgres://me:pass@db/x' };
  const { stdout, code } = await home.run(['config', '--json', '--port', '4999'], { env });
  expect(code).toBe(0);
  const shown = JSON.parse(stdout);
  expect(shown.port).toEqual({ value: 4999, origin: '--port', env: 'GATEWAYD_PORT' });
  expect(shown.secret).toMatchObject({ value: '(hidden)', origin: 'GATEWAYD_SECRET' });
  expect(shown.database_url.value).toBe('postgres://me:(hidden)@db/x');
  expect(shown.network).toMatchObject({ value: 'testnet', origin: 'default' });
  const table = await home.run(['config'], { env });
  expect(table.stdout).toContain('"(hidden)"  (from the variable GATEWAYD_SECRET)');
  expect(table.stdout).not.toMatch(/sixteen|pass@/);
});

test('config shows the webhook secret of the deployment where it is asked for, and only then', async () => {
  verifies('webhook-platform-signed');
  const env = { GATEWAYD_SECRET: 'sixteen characters' };
  const { stdout, code } = await home.run(['config', '--show-webhook-secret'], { env });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^whsec_[\w+/]{43}=\n$/)]);
  const set = { ...env, GATEWAYD_WEBHOOK_SECRET: 'chosen by the operator' };
  expect(
    JSON.parse((await home.run(['config', '--show-webhook-secret', '--json'], { env: set })).stdout),
  ).toEqual({ webhook_secret: 'chosen by the operator' });
  const shown = await home.run(['config', '--json'], { env: set });
  expect(JSON.parse(shown.stdout).webhook_secret.value).toBe('(hidden)');
  expect(await home.run(['config', '--show-webhook-secret'])).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('there is no secret yet'),
  });
});

test('migrate says what it does, and nothing when it is done', async () => {
  verifies('command-migrate');
  expect((await home.run(['migrate', '--dry-run'])).stdout).toMatch(/^would apply 0001-/);
  expect(existsSync(state(''))).toBe(false);
  expect((await home.run(['migrate'])).stdout).toMatch(/^applied 0001-/);
  expect((await home.run(['migrate'])).stdout).toBe('the schema is up to date\n');
});

test('admin create makes a superuser while the daemon runs, and gives a known one a new password', async () => {
  verifies('command-admin-create');
  const daemon = await home.start();
  const args = ['admin', 'create', '--email', 'Ops@Example.com', '--json'];
  const made = JSON.parse((await home.run(args)).stdout);
  expect(made).toEqual({ email: 'ops@example.com', password: expect.stringMatching(/^[0-9a-f]{24}$/) });
  expect((await signIn(serviceAt({ base_url: daemon.url }), made.email, made.password)).status).toBe(200);
  const refused = await home.run([...args, '--password-stdin'], { stdin: 'a better password\n' });
  expect([refused.code, refused.stderr]).toEqual([
    78,
    expect.stringContaining('is already a superuser: this sets a new password'),
  ]);
  expect((await signIn(serviceAt({ base_url: daemon.url }), made.email, made.password)).status).toBe(200);
  const changed = await home.run([...args, '--password-stdin', '--yes'], { stdin: 'a better password\n' });
  expect(JSON.parse(changed.stdout)).toEqual({ email: 'ops@example.com', password: null });
  expect((await signIn(serviceAt({ base_url: daemon.url }), made.email, made.password)).status).toBe(400);
  expect((await signIn(serviceAt({ base_url: daemon.url }), made.email, 'a better password')).status).toBe(
    200,
  );
  expect((await home.run([...args, '--password-stdin'], { stdin: 'short' })).code).toBe(78);
  for (const email of ['ops@gmail.com', '123456789'])
    expect(await home.run(['admin', 'create', '--email', email])).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(/sign in with (Google|Telegram)/),
    });
  await stop(daemon);
});

test('admin create asks on a terminal before it makes an operator of a merchant', async () => {
  verifies('command-admin-create');
  const daemon = await home.start();
  const service = serviceAt({ base_url: daemon.url });
  const [email, password] = ['raised@example.com', 'a long password'];
  await service.fetch('POST', '/api/v1/users/signup', { body: { email, password } });
  const create = async (answer: string) => {
    const command = `'${process.execPath}' '${BIN}' admin create --email ${email}`;
    const env = { PATH: process.env.PATH ?? '', XDG_STATE_HOME: home.dir };
    const child = spawn('script', ['-qefc', command, '/dev/null'], { env });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!output.includes('Do it?') && (output + text).includes('Do it?')) child.stdin.write(`${answer}\n`);
      output += text;
    });
    const [code] = await once(child, 'close');
    return { code, output };
  };
  const declined = await create('n');
  expect(declined).toMatchObject({
    code: 78,
    output: expect.stringContaining('is a merchant: this makes it an operator'),
  });
  expect((await signIn(service, email, password)).status).toBe(200);
  expect((await create('y')).output).toContain(`superuser ${email}`);
  expect((await signIn(service, email, password)).status).toBe(400);
  await stop(daemon);
});

test('doctor shows its own flags first, and config where each value is from', async () => {
  const { code, stdout } = await home.run(['doctor', '--help']);
  expect(code).toBe(0);
  expect(stdout.indexOf('--ntp')).toBeGreaterThan(0);
  expect(stdout.indexOf('--ntp')).toBeLessThan(stdout.indexOf('--network'));
  const all = (await home.run(['config', '--all', '--port', '4999'], { env: { GATEWAYD_SIGNUP: 'closed' } }))
    .stdout;
  expect(all).toMatch(/^port +4999 {2}\(from the flag --port\)$/m);
  expect(all).toMatch(/^signup +"closed" {2}\(from the variable GATEWAYD_SIGNUP\)$/m);
  expect(all).toMatch(/^limit_policy +"hold" {2}\(default; the variable GATEWAYD_LIMIT_POLICY sets it\)$/m);
});

test('admin house marks a merchant while the daemon runs, and books what its limit held', async () => {
  verifies('house-operator-only');
  const daemon = await home.start();
  const service = serviceAt({ base_url: daemon.url });
  const email = 'shop@example.com';
  const password = 'a long password';
  const user = await service.fetch('POST', '/api/v1/users/signup', { body: { email, password } });
  const { access_token: token } = (await signIn(service, email, password)).json;
  const isHouse = async () => (await service.fetch('GET', '/api/v1/merchant/account', { token })).json.house;
  expect(await isHouse()).toBe(false);
  const made = await home.run(['admin', 'house', 'Shop@Example.com']);
  expect([made.code, made.stdout]).toEqual([
    0,
    `shop (${email}, ${user.json.id}) is now of the house: its sales have neither limit nor fee\n`,
  ]);
  expect(await isHouse()).toBe(true);
  expect((await home.run(['admin', 'house', email])).stdout).toContain('is already of the house');
  const off = JSON.parse((await home.run(['admin', 'house', user.json.id, '--off', '--json'])).stdout);
  expect(off).toMatchObject({ email, slug: 'shop', house: false, house_since: null, changed: true });
  expect(await isHouse()).toBe(false);
  expect(await home.run(['admin', 'house', 'no-one@example.com'])).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('there is no user no-one@example.com'),
  });
  await stop(daemon);
});

test('an unknown command or flag is a usage error that suggests the right one', async () => {
  expect(await home.run(['strat'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean start?'),
  });
  expect(await home.run(['start', '--prot', '1'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--port'),
  });
});

test('both programs have the version of package.json', async () => {
  const root = new URL('../../../', import.meta.url);
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  expect((await home.run(['--version'])).stdout).toBe(`${version}\n`);
  const gw = fileURLToPath(new URL('bin/gw.js', root));
  expect(execFileSync(process.execPath, [gw, '--version'], { encoding: 'utf8' })).toBe(`${version}\n`);
});

test('a start takes the code that the one before has compiled, and stores none where it may not', async () => {
  const file = join(home.dir, 'cache/gatewayd/start');
  const run = async (env: Record<string, string>) => {
    const daemon = await home.start({ env: { XDG_CACHE_HOME: join(home.dir, 'cache'), ...env } });
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  };
  await run({ NODE_DISABLE_COMPILE_CACHE: '1' });
  await run({ XDG_CACHE_HOME: '' });
  expect(existsSync(file)).toBe(false);
  await run({});
  const { ino } = statSync(file);
  await run({});
  // It would have been replaced where V8 had refused any of it.
  expect(statSync(file).ino).toBe(ino);
});

test('an old Node.js is refused by name', async () => {
  const old = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "18.20.0" })';
  const { code, stderr } = await home.run(['--version'], { node: ['--import', old] });
  expect([code, stderr]).toEqual([
    78,
    'gatewayd needs Node.js 20.19 or newer of 20, or 22.14 or newer; this is 18.20.0\n',
  ]);
});

test('a SQLite that is not installed is named, with what to do, and no lock is blamed', async () => {
  // Each Node.js has the driver of its own; by what this one takes itself for, it wants the other.
  const napi = Number(process.versions.napi) >= 10 ? '9' : '10';
  const other = `data:text/javascript,Object.defineProperty(process.versions, "napi", { value: "${napi}" })`;
  const { code, stderr } = await home.run(['start', '--port', '0'], { node: ['--import', other] });
  expect(code).toBe(78);
  expect(stderr).toMatch(
    /SQLite cannot be loaded on Node\.js .*Cannot find module.*install.*set database_url/,
  );
  expect(stderr).not.toContain('lock');
});
