// A night of an operator who sleeps: each fault that deployments have met, on the built program, and what its operator is notified of.
import { randomBytes, randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import { openDb } from '../../data/db/open.ts';
import { changeMeta, LAST_BACKUP_AT } from '../../data/meta.ts';
import { type EvmChain, hasAnvil, startAnvil } from '../chains/evm-chain.ts';
import { startTonChain, type TonChain } from '../chains/ton-chain.ts';
import { type Daemon, type Home, makeHome } from '../daemon/helpers/process.ts';
import { backupAdvice } from '../helpers/backup-advice.ts';
import { type Database, emptyDatabase } from '../helpers/database.ts';
import { type Line, openLine } from '../helpers/line.ts';
import { PASSWORD, shopkeeper } from '../helpers/people.ts';
import { createDatabase, hasPostgres } from '../helpers/postgres.ts';
import { serviceAt } from '../helpers/service.ts';
import { fillLog, hasSmallDisks, openSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';
import { until } from '../helpers/until.ts';
import { type Gate, openGate } from './gate.ts';
import { type Entry, type Fault, type Operator, openOperator, storyOf } from './operator.ts';
import { call, createInvoice, credit, signIn, tonSettings } from './stand.ts';

/** The user without rights, as whom the service runs. */
const SERVICE = { uid: 65_534, gid: 65_534 };
const OPERATOR = 'operator@example.com';
const PASSPHRASE = 'a passphrase of many words';
/** A directory on another disk than that of temporary files. */
const other_disk = ['/dev/shm', '/var/tmp', process.cwd()].find((path) => {
  try {
    return statSync(path).dev !== statSync(tmpdir()).dev;
  } catch {
    return false;
  }
});
const WAIT_MS = 120_000;
/** The second chain turns blind so much later than the first. */
const APART_MS = 20_000;
/** So long PostgreSQL is away, while its daemon is asked again and again. */
const AWAY_MS = 120_000;
const ASKED_MS = 1_000;
/** Of lines of one kind, and of stacks, in that time. */
const LOG_MOST = 3;
/** Longer than a daemon waits for one answer. */
const TOO_SLOW_MS = 30_000;
/** Rows that make a restore long enough to be interrupted. */
const EVENTS = 20_000;
const EVENTS_AT_ONCE = 500;
const EVENT_BYTES = 1_000;
const DISK_MEBIBYTES = 2_048;
const LOW_MEBIBYTES = 64;

const isRoot = process.getuid?.() === 0;
/** What this needs; where something is missing, the run reports it. */
export const hasNight = (database: Database): boolean => {
  const missing = [
    ...(isRoot ? [] : ['root, to be two users']),
    ...(hasSmallDisks ? [] : ['small disks']),
    ...(hasAnvil ? [] : ['anvil']),
    ...(other_disk === undefined ? ['a second disk'] : []),
    ...(database === 'postgres' && !hasPostgres ? ['PostgreSQL'] : []),
  ];
  if (missing.length > 0)
    process.stderr.write(`night of ${database}: SKIPPED, for it needs ${missing.join(', ')}\n`);
  return missing.length === 0;
};

/** A network that the settings add, with a coin of its own. */
const EVM = { id: 'gnosis', name: 'Gnosis', chain_id: 10_200 } as const;
const evmSettings = (url: string): Record<string, string> => ({
  GATEWAYD_CUSTOM_BLOCKCHAINS: JSON.stringify([
    { ...EVM, coin: 'XDAI', block_seconds: 5, min_confirmations: 20 },
  ]),
  GATEWAYD_CUSTOM_GATEWAYS: JSON.stringify([
    { id: EVM.id, blockchain: EVM.id, currency: 'XDAI', priced_as: 'USDC' },
  ]),
  GATEWAYD_GATEWAYS_GNOSIS_ENABLED: 'true',
  GATEWAYD_BLOCKCHAINS_GNOSIS_URL: url,
  GATEWAYD_BLOCKCHAINS_GNOSIS_REQUESTS_PER_SECOND: '500',
});
const others = ['SOLANA', 'SOLANA_USDC', 'SOLANA_USDT', 'BITCOIN', 'LITECOIN'];

interface Chains {
  ton: TonChain;
  evm: EvmChain;
}

async function startChains(): Promise<Chains> {
  const evm = await startAnvil({
    chain_id: EVM.chain_id,
    block_seconds: 1,
    tokens: [],
    start_time: Math.floor(Date.now() / 1000) - 60,
    history: 5,
  });
  onTestFinished(() => evm.stop());
  const ton = await startTonChain();
  onTestFinished(() => ton.stop());
  return { ton, evm };
}

/** The way of one daemon to the two chains. */
interface Gates {
  ton: Gate;
  evm: Gate;
  env: Record<string, string>;
}

async function openGates({ ton, evm }: Chains): Promise<Gates> {
  const gates = { ton: await openGate(ton.url), evm: await openGate(evm.url) };
  onTestFinished(async () => void (await Promise.all([gates.ton.stop(), gates.evm.stop()])));
  return { ...gates, env: { ...tonSettings(gates.ton.url), ...evmSettings(gates.evm.url) } };
}

function newHome(): Home {
  const home = makeHome();
  onTestFinished(() => home.remove());
  return home;
}

/** Where a database is that nothing has been written into; of SQLite, in the data directory. */
async function place(database: Database): Promise<Record<string, string>> {
  if (database === 'sqlite') return {};
  const { url, remove } = await emptyDatabase(database);
  onTestFinished(remove);
  return { GATEWAYD_DATABASE_URL: url };
}

const own = {
  GATEWAYD_DEMO: 'false',
  GATEWAYD_ADMIN_EMAIL: OPERATOR,
  GATEWAYD_ADMIN_PASSWORD: PASSWORD,
  ...Object.fromEntries(others.map((name) => [`GATEWAYD_GATEWAYS_${name}_ENABLED`, 'false'])),
};

async function stop(daemon: Daemon): Promise<void> {
  daemon.signal('SIGTERM');
  const { code, stderr } = await daemon.ended;
  expect(code, stderr).toBe(0);
}

/** Invoices on both chains wait for their payment. */
async function openInvoices({ url }: Daemon, chains: readonly string[]): Promise<void> {
  const wallets = { ton: `0:${'11'.repeat(32)}`, [EVM.id]: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' };
  const shop = await shopkeeper(serviceAt({ base_url: url }), { wallets });
  await credit(url, shop, '1000');
  for (const chain of chains) await createInvoice(url, shop, '1', chain);
}

const statusesOf = async ({ url }: Daemon): Promise<string[]> => {
  const { json } = await call(url, 'GET', '/readyz');
  return (json.blockchains as { status: string }[]).map(({ status }) => status);
};

const isSeen = (daemon: Daemon) =>
  until(
    'no chain is starting, or blind',
    async () =>
      (await statusesOf(daemon)).every((status) => status === 'ok' || status === 'idle') || undefined,
    WAIT_MS,
  );

const turn = (weather: Gate['weather'], ...gates: Gate[]) => {
  for (const gate of gates) gate.weather = weather;
};

const isBlind = (blockchain: string) => (scraped: Awaited<ReturnType<Operator['metrics']>>) =>
  scraped.value('gatewayd_blockchain_blind', { blockchain }) === 1;
const blindness = (name: string) => ({
  title: 'Blockchain cannot be read',
  says: new RegExp(
    `^${name} has not been read since 20\\S+: \\S+ at 127\\.0\\.0\\.1:\\d+: cannot be reached`,
  ),
  command: 'gw admin observers',
  runbook: 'blind',
});
const sight = (name: string) => ({
  title: 'Blockchain is read again',
  says: new RegExp(`^${name} is read again$`),
});

/** Two chains turn blind one after the other, and are back one after the other. */
async function blindChains(
  operator: Operator,
  { gates, inject, name }: { gates: readonly Gates[]; name: string; inject(evm: Gate[]): Promise<number> },
): Promise<void> {
  const [evm, ton] = [gates.map((each) => each.evm), gates.map((each) => each.ton)];
  const first = operator.suffers({
    name,
    expected: blindness('Gnosis'),
    inject: () => inject(evm),
    metrics: isBlind(EVM.id),
    doctor: /provider gnosis/,
  });
  await delay(APART_MS);
  const second = operator.suffers({
    name: `${name}; and then another one`,
    expected: blindness('TON'),
    inject: () => turn('down', ...ton),
    metrics: isBlind('ton'),
    doctor: /provider ton/,
  });
  const [gnosis, other] = await Promise.all([first, second]);
  const back = gnosis.over(() => turn('fair', ...evm), sight('Gnosis'));
  await delay(APART_MS);
  await Promise.all([back, other.over(() => turn('fair', ...ton), sight('TON'))]);
}

/** One daemon, of which a chain cannot be read since it was started. */
async function blindSinceStart(chains: Chains): Promise<Operator> {
  const home = newHome();
  const operator = await openOperator(home);
  const gates = await openGates(chains);
  const env = { ...own, ...gates.env, ...operator.env };
  operator.watch({ env });
  let daemon: Daemon | undefined;
  await blindChains(operator, {
    gates: [gates],
    name: 'a chain cannot be read since the start',
    async inject(evm) {
      turn('down', ...evm);
      daemon = await home.start({ env });
      const since_ms = Date.now();
      operator.watch({ env }, daemon.url);
      await openInvoices(daemon, ['ton']);
      return since_ms;
    },
  });
  await isSeen(daemon as Daemon);
  expect(titlesOf(operator)).toEqual([...blind, ...seenAgain]);
  return operator;
}
const blind = ['Blockchain cannot be read', 'Blockchain cannot be read'];
const seenAgain = blind.map(() => 'Blockchain is read again');
const titlesOf = (operator: Operator): string[] => operator.notices().map(({ title }) => title);

/** Of two daemons with a chain each to read, and what happens to the provider of the one that reads it. */
const routeFaults = [
  { of: 'ton', id: 'ton', name: 'TON', does: 'does not answer', says: /socket|reset|closed|reach/i },
  {
    of: 'evm',
    id: EVM.id,
    name: EVM.name,
    does: 'takes half a minute',
    says: /too long|no (complete )?answer/i,
  },
] as const;

/** The provider of whichever daemon reads a chain fails, and the other daemon reads on. */
async function failRoute(
  operator: Operator,
  { of, id, name, does, says }: (typeof routeFaults)[number],
  machines: readonly { gates: Gates; daemon: Daemon }[],
): Promise<void> {
  const before = machines.map(({ gates }) => gates[of].requests.length);
  const reads = ({ gates }: { gates: Gates }, at: number) => gates[of].requests.length > (before[at] ?? 0);
  const { gates, daemon } = await until(`one reads ${name}`, async () => machines.find(reads), WAIT_MS);
  const gate = gates[of];
  const provider = `127\\.0\\.0\\.1:${new URL(gate.url).port}`;
  const night = await operator.suffers({
    name: `the provider of one of two daemons ${does}`,
    expected: {
      title: 'A daemon cannot reach a provider',
      says: new RegExp(
        `^daemon \\S+ on ${hostname()} cannot read ${name} through \\S+ at ${provider}: .*; another`,
      ),
      command: 'gatewayd doctor',
      runbook: 'route',
    },
    inject() {
      if (of === 'ton') gate.weather = 'down';
      else gate.delay_ms = TOO_SLOW_MS;
    },
    metrics: (scraped) => scraped.value('gatewayd_route_dead', { blockchain: id }) === 1,
    url: daemon.url,
    doctor: new RegExp(`warning +route ${id}: daemon .*${provider}`),
  });
  expect(night.notice.text).toMatch(says);
  await night.over(() => Object.assign(gate, { weather: 'fair', delay_ms: 0 }), {
    title: 'A daemon reaches its provider again',
    says: new RegExp(`^the daemon on ${hostname()} can read ${name} again$`),
  });
}

/** Two daemons: the route of the one that reads each chain fails, and the other reads; then neither can. */
async function twoDaemons(chains: Chains): Promise<Operator> {
  const home = newHome();
  const operator = await openOperator(home);
  const shared = {
    ...own,
    ...(await place('postgres')),
    ...operator.env,
    GATEWAYD_SECRET: 'ab12cd34'.repeat(8),
  };
  const machines: { gates: Gates; daemon: Daemon }[] = [];
  for (const name of ['one', 'other']) {
    const gates = await openGates(chains);
    const env = { ...shared, ...gates.env, GATEWAYD_DATA_DIR: join(home.dir, name) };
    const daemon = await home.start({ env });
    machines.push({ gates, daemon });
    operator.watch({ env }, daemon.url);
  }
  const daemons = machines.map(({ daemon }) => daemon);
  await openInvoices(daemons[0] as Daemon, ['ton', EVM.id]);
  for (const daemon of daemons) await isSeen(daemon);
  await Promise.all(routeFaults.map((fault) => failRoute(operator, fault, machines)));
  const routes = titlesOf(operator);
  const [dead, alive] = ['A daemon cannot reach a provider', 'A daemon reaches its provider again'];
  expect([...routes].sort()).toEqual([dead, dead, alive, alive]);
  await blindChains(operator, {
    gates: machines.map(({ gates }) => gates),
    name: 'neither of two daemons can read a chain',
    async inject(evm) {
      turn('down', ...evm);
      return Date.now();
    },
  });
  for (const daemon of daemons) await isSeen(daemon);
  expect(titlesOf(operator).slice(routes.length)).toEqual([...blind, ...seenAgain]);
  return operator;
}

/** What was logged since it was this long, by what each line says: but for the one line of each request, which is no fault. */
function noiseOf(daemon: Daemon, from: number) {
  const entries = daemon
    .stderr()
    .slice(from)
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
  const kinds = new Map<string, number>();
  for (const { msg } of entries.filter((entry) => entry.msg !== 'request'))
    kinds.set(msg, (kinds.get(msg) ?? 0) + 1);
  return {
    kinds: [...kinds].filter(([, count]) => count > LOG_MOST),
    stacks: entries.filter(({ err }) => err?.stack).length,
  };
}

/** A deployment that has a user of its own, and a small disk. */
interface Deployment {
  home: Home;
  operator: Operator;
  disk: SmallDisk;
  /** To PostgreSQL. */
  line: Line | null;
  database: Database;
  env: Record<string, string>;
}

async function deploy(database: Database, chains: Chains): Promise<Deployment> {
  const home = newHome();
  const operator = await openOperator(home);
  const disk = openSmallDisk(DISK_MEBIBYTES, SERVICE);
  const gates = await openGates(chains);
  const { GATEWAYD_DATABASE_URL: url } = await place(database);
  const line = url === undefined ? null : await openLine(url);
  onTestFinished(() => line?.close());
  chownSync(home.dir, SERVICE.uid, SERVICE.gid);
  const env = {
    ...own,
    ...gates.env,
    ...operator.env,
    ...(line && { GATEWAYD_DATABASE_URL: line.url }),
    GATEWAYD_DATA_DIR: disk.folder,
    XDG_CACHE_HOME: home.dir,
  };
  operator.watch({ env });
  return { home, operator, disk, line, database, env };
}

async function run({ home, env }: Pick<Deployment, 'home' | 'env'>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await home.run(args, { env });
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return stdout;
}

async function startService({ home, operator, env }: Deployment): Promise<Daemon> {
  const daemon = await home.start({ ...SERVICE, env });
  operator.watch({ env }, daemon.url);
  await isSeen(daemon);
  return daemon;
}

const backupAge = async ({ operator }: Deployment) =>
  (await operator.metrics()).value('gatewayd_backup_age_seconds') ?? Number.NaN;

/** What doctor says of backups is done; what comes of it can be checked, and is restored elsewhere. */
async function followAdvice(deployment: Deployment, { url }: Daemon): Promise<Deployment> {
  const { operator, database, env } = deployment;
  const found = await operator.doctor();
  expect(found.filter(({ status }) => status === 'failed')).toEqual([]);
  const advised = found.filter(({ of, status }) => of === 'backup' && status === 'warning');
  const elsewhere = mkdtempSync(join(other_disk ?? '', 'gatewayd-backups-'));
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
  chownSync(elsewhere, SERVICE.uid, SERVICE.gid);
  const fixes = advised.map(({ fix }) => fix ?? '').join('\n');
  const advisedEnv = { ...env, ...backupAdvice(fixes, elsewhere, PASSPHRASE) };
  const after = { ...deployment, env: advisedEnv };
  expect(fixes).toContain('`gatewayd backup`');
  await run(after, 'backup');
  operator.watch({ env: advisedEnv }, url);
  expect((await operator.doctor()).filter(({ of, status }) => of === 'backup' && status !== 'ok')).toEqual(
    [],
  );
  const [name = ''] = readdirSync(elsewhere);
  const file = join(elsewhere, name);
  expect(await run(after, 'backup', 'check', file)).not.toBe('');
  const home = newHome();
  const there = { ...(await place(database)), GATEWAYD_BACKUP_PASSPHRASE: PASSPHRASE };
  await run({ home, env: there }, 'restore', file);
  await run({ home, env: there }, 'verify', '--quiet');
  return after;
}

/** The backup that there is was made days ago. */
async function forgottenBackup(deployment: Deployment): Promise<void> {
  const { operator, env, disk } = deployment;
  const night = await operator.suffers({
    name: 'no backup was made for three days',
    expected: {
      title: 'Backup too old',
      says: /^the last backup was made on 20/,
      command: 'gatewayd backup',
      runbook: 'backup',
    },
    async inject() {
      const db = await openDb(env.GATEWAYD_DATABASE_URL ?? `sqlite:${join(disk.folder, 'gatewayd.db')}`);
      await changeMeta(db.query, LAST_BACKUP_AT, String(Math.floor(Date.now() / 1000) - 3 * 86_400));
      await db.close();
    },
    metrics: (scraped) =>
      (scraped.value('gatewayd_backup_age_seconds') ?? 0) >
      (scraped.value('gatewayd_backup_max_age_seconds') ?? 0),
    doctor: /warning +backup: the last one is 3 days old/,
  });
  await night.over(() => run(deployment, 'backup'), null);
}

const whose = (directory: string): number[] => [
  ...new Set(
    [
      directory,
      ...readdirSync(directory, { recursive: true }).map((name) => join(directory, String(name))),
    ].map((path) => statSync(path).uid),
  ),
];

/** Root works alongside the service, whose daemon is started again. */
async function rootAlongside(deployment: Deployment, daemon: Daemon): Promise<Daemon> {
  const { operator, disk } = deployment;
  await run(deployment, 'secret', 'rotate');
  await run(deployment, 'backup');
  await operator.doctor();
  expect(whose(disk.folder)).toEqual([SERVICE.uid]);
  await stop(daemon);
  return startService(deployment);
}

const back = {
  title: 'Database works again',
  says: /: the database takes writes again; it did not since 20/,
};
const isUnwritable: Fault['metrics'] = (scraped) => scraped.value('gatewayd_database_writable') === 0;

async function isUnhealthy({ url }: Daemon, database: string): Promise<void> {
  const [health, ready] = [await call(url, 'GET', '/health'), await call(url, 'GET', '/readyz')];
  expect([health.status, ready.status, ready.json.database]).toEqual([503, 503, database]);
}

/** The disk is low, and then full. */
async function fullDisk({ operator, disk }: Deployment, daemon: Daemon): Promise<void> {
  const low = await operator.suffers({
    name: 'the disk is low',
    expected: {
      title: 'Disk nearly full',
      says: new RegExp(`: \\d+ MB of disk space are left for ${disk.folder}$`),
      command: 'gatewayd doctor',
      runbook: 'disk',
    },
    inject: () => disk.resize(LOW_MEBIBYTES),
    metrics: (scraped) => (scraped.value('gatewayd_disk_free_bytes') ?? 0) < LOW_MEBIBYTES * 1024 ** 2,
    doctor: /(failed|warning) +disk/,
  });
  const full = await operator.suffers({
    name: 'the disk is full',
    expected: {
      title: 'Database full',
      says: /: the database has no room left on its disk since 20\S+ \(.*full.*\)/,
      command: 'gatewayd doctor',
      runbook: 'database-writes',
    },
    inject() {
      disk.fill();
      for (const row_bytes of [50_000, 1]) fillLog(join(disk.folder, 'gatewayd.db'), row_bytes);
    },
    metrics: isUnwritable,
    doctor: /failed +database: .*it takes no writes/,
  });
  await isUnhealthy(daemon, 'unwritable');
  await full.over(() => {
    disk.empty();
    disk.resize(DISK_MEBIBYTES);
  }, back);
  await low.over(() => undefined, null);
}

/** PostgreSQL is away for two minutes in which the daemon is asked all the time. */
async function serverAway({ operator, line }: Deployment & { line: Line }, daemon: Daemon): Promise<void> {
  let ends_ms = Number.POSITIVE_INFINITY;
  const asking = async () => {
    for (; Date.now() < ends_ms; await delay(ASKED_MS))
      for (const path of ['/health', '/v1/gateways', '/v1/public/invoices/inv_none'])
        await fetch(`${daemon.url}${path}`).then((answer) => answer.text());
  };
  let asked: Promise<void> = Promise.resolve();
  const night = await operator.suffers({
    name: 'PostgreSQL is away',
    expected: {
      title: 'Database away',
      says: /: the database cannot be reached since 20\S+ \(.+\)/,
      command: 'gatewayd doctor',
      runbook: 'database-away',
    },
    inject() {
      line.refusing = true;
      line.cut();
      const since_ms = Date.now();
      ends_ms = since_ms + AWAY_MS;
      asked = asking();
      return since_ms;
    },
    metrics: isUnwritable,
    doctor: /failed +database/,
  });
  await isUnhealthy(daemon, 'unreachable');
  await asked;
  await night.over(() => {
    line.refusing = false;
  }, back);
}

/** From the first start of a deployment on, whose operator does what is advised, until its database cannot be used. */
async function service(database: Database, chains: Chains): Promise<Operator> {
  const fresh = await deploy(database, chains);
  const { operator, line } = fresh;
  let daemon = await startService(fresh);
  expect(await backupAge(fresh)).toBe(Number.POSITIVE_INFINITY);
  await openInvoices(daemon, ['ton', EVM.id]);
  await isSeen(daemon);
  const deployment = await followAdvice(fresh, daemon);
  await forgottenBackup(deployment);
  await stop(daemon);
  daemon = await startService(deployment);
  expect(await backupAge(deployment)).toBeLessThan(WAIT_MS / 1000);
  daemon = await rootAlongside(deployment, daemon);
  const from = daemon.stderr().length;
  if (line === null) await fullDisk(deployment, daemon);
  else await serverAway({ ...deployment, line }, daemon);
  expect(noiseOf(daemon, from)).toEqual({
    kinds: [],
    stacks: expect.toSatisfy((count) => count <= LOG_MOST),
  });
  await isSeen(daemon);
  expect(titlesOf(operator)).toEqual([
    'Backup too old',
    ...(line === null ? ['Disk nearly full', 'Database full'] : ['Database away']),
    'Database works again',
  ]);
  await stop(daemon);
  return operator;
}

/** Fills the database of a new home with books of this operator, and backs it up. */
async function booksOf(email: string, database: Database, events: number): Promise<string> {
  const home = newHome();
  const env: Record<string, string> = {
    ...(await place(database)),
    GATEWAYD_ADMIN_EMAIL: email,
    GATEWAYD_ADMIN_PASSWORD: PASSWORD,
  };
  await stop(await home.start({ env }));
  const db = await openDb(env.GATEWAYD_DATABASE_URL ?? `sqlite:${join(home.dir, 'gatewayd', 'gatewayd.db')}`);
  for (let made = 0; made < events; made += EVENTS_AT_ONCE)
    await db.query
      .insertInto('events')
      .values(
        Array.from({ length: EVENTS_AT_ONCE }, () => ({
          id: randomUUID(),
          type: 'payment.unmatched' as const,
          body: randomBytes(EVENT_BYTES).toString('hex'),
          created_at: 1,
        })) as never,
      )
      .execute();
  await db.close();
  const file = join(home.dir, 'books.backup');
  await run({ home, env: { ...env, GATEWAYD_BACKUP_PASSPHRASE: PASSPHRASE } }, 'backup', file);
  return file;
}

/** What restores that are under way, and those that were killed, have in place: drafts, or sessions that insert. */
async function tracesOf(
  { dir }: Home,
  { GATEWAYD_DATABASE_URL: url }: Record<string, string>,
): Promise<string[]> {
  const state = join(dir, 'gatewayd');
  if (url === undefined)
    return existsSync(state) ? readdirSync(state).filter((name) => name.includes('.restoring')) : [];
  const db = await openDb(url);
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query ilike 'insert into %'`.execute(
    db.query,
  );
  await db.close();
  return rows.map(({ pid }) => String(pid));
}

/** Restores of one backup are ended in the middle; then another one is restored. */
async function interruptedRestores(database: Database): Promise<void> {
  const long = await booksOf('first@example.com', database, EVENTS);
  const other = await booksOf('second@example.com', database, 0);
  const home = newHome();
  const env: Record<string, string> = {
    ...(await place(database)),
    GATEWAYD_BACKUP_PASSPHRASE: PASSPHRASE,
  };
  for (const [signal, code] of [
    ['SIGKILL', 'SIGKILL'],
    ['SIGINT', 130],
    ['SIGKILL', 'SIGKILL'],
  ] as const) {
    const before = await tracesOf(home, env);
    const { ended, signal: send } = home.launch(['restore', long], { env });
    const isUnderWay = async () =>
      (await tracesOf(home, env)).some((trace) => !before.includes(trace)) || undefined;
    await until('the restore is under way', isUnderWay, WAIT_MS);
    send(signal);
    expect((await ended).code).toBe(code);
  }
  await run({ home, env }, 'restore', other);
  await run({ home, env }, 'verify', '--quiet');
  const daemon = await home.start({ env });
  expect(await signIn(daemon.url, 'second@example.com')).not.toBe('');
  await expect(signIn(daemon.url, 'first@example.com')).rejects.toThrow();
  await stop(daemon);
}

/** PostgreSQL is away for longer than a start waits for it, and what is asked for does not exist. */
async function awayAtStart(): Promise<void> {
  const database = await createDatabase();
  const line = await openLine(database.url);
  onTestFinished(() => line.close());
  line.refusing = true;
  const home = newHome();
  const start = (GATEWAYD_DATABASE_URL: string) =>
    home.run(['start', '--port', '0'], { env: { ...own, GATEWAYD_DATABASE_URL } });
  const away = await start(line.url);
  expect([away.code, away.stderr]).toEqual([75, expect.stringContaining('PostgreSQL cannot be reached')]);
  line.refusing = false;
  await stop(await home.start({ env: { ...own, GATEWAYD_DATABASE_URL: line.url } }));
  await database.drop();
  const missing = await start(database.url);
  expect([missing.code, missing.stderr]).toEqual([78, expect.stringContaining('does not exist')]);
}

/** What does not touch each other happens at once. With SHOW_NIGHT it prints what the operator has read. */
export async function spendNight(database: Database): Promise<void> {
  const chains = await startChains();
  const parts = await Promise.allSettled([
    service(database, chains),
    database === 'sqlite' ? blindSinceStart(chains) : twoDaemons(chains),
    interruptedRestores(database),
    ...(database === 'postgres' ? [awayAtStart()] : []),
  ]);
  const failures = parts.flatMap((part) => (part.status === 'rejected' ? [part.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n\n'));
  const operators = parts.flatMap((part) => (part.status === 'fulfilled' && part.value ? [part.value] : []));
  if (process.env.SHOW_NIGHT)
    process.stdout.write(`${operators.map(({ chapters }) => storyOf(chapters)).join('\n\n')}\n`);
}
