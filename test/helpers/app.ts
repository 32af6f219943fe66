// One daemon in this process: real database, real handlers, a clock that the test moves; no socket of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../../daemon/accounts/create.ts';
import { createHttp } from '../../daemon/http/mount.ts';
import { issueAccessToken } from '../../daemon/http/tokens.ts';
import type { RpcSource } from '../../daemon/observer/providers/rpc.ts';
import { openApp, type RunningApp, seedDeploymentWallets } from '../../daemon/process/app.ts';
import { openLedger } from '../../daemon/process/ledger-key.ts';
import { createLog } from '../../daemon/process/log.ts';
import { apiKeyPurpose, createSecrets } from '../../daemon/process/secrets.ts';
import { routes } from '../../daemon/routes/routes.ts';
import { type Config, loadConfig } from '../../daemon/settings/config.ts';
import { openDb } from '../../data/db/open.ts';
import { getMerchant, putWallet } from '../../data/merchants.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { UserRow } from '../../data/schema/tables.ts';
import { findBlockchain } from '../../src/chains/gateways.ts';
import { assertContract } from './contract.ts';
import { type Database, databasesOfRun } from './databases.ts';
import { createDatabase, hasPostgres } from './postgres.ts';
import { unreachable } from './reading.ts';

export type { Database };

/** The databases that every test of data and money runs on. */
export const databases: readonly Database[] = databasesOfRun().filter(
  (name) => name !== 'postgres' || hasPostgres,
);

export interface TestClock {
  ms(): number;
  monotonic_ms(): number;
  /** Unix seconds. */
  now(): number;
  set(seconds: number): void;
  advance(seconds: number): void;
  /** Sets the machine's clock by so much, while time passes as before. */
  step(seconds: number): void;
  /** Time that passes while all processes are stopped. */
  freeze(seconds: number): void;
  /** Called again and again as time passes, as a process that runs would be. */
  whileRunning(beat: () => void): void;
}

/** A daemon that runs is heard of this often at least. */
const BEAT_MS = 60_000;

/** Stands still until it is moved. */
export function testClock(start = 1_800_000_000): TestClock {
  let at = start * 1000;
  let stepped = 0;
  const beats: (() => void)[] = [];
  const moveTo = (end: number) => {
    for (; at + BEAT_MS < end; ) {
      at += BEAT_MS;
      for (const beat of beats) beat();
    }
    at = end;
  };
  return {
    ms: () => at,
    monotonic_ms: () => at - stepped,
    now: () => Math.floor(at / 1000),
    set: (seconds) => moveTo(seconds * 1000),
    advance: (seconds) => moveTo(at + seconds * 1000),
    step: (seconds) => {
      at += seconds * 1000;
      stepped += seconds * 1000;
    },
    freeze: (seconds) => {
      at += seconds * 1000;
    },
    whileRunning: (beat) => void beats.push(beat),
  };
}

export interface Call {
  token?: string;
  key?: string;
  /** Texts and bytes go as they are, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the wire carries
  json: any;
}

export interface TestMerchant {
  id: string;
  user: UserRow;
  token: string;
  key: string;
}

export interface TestApp {
  app: RunningApp;
  clock: TestClock;
  /** Log lines written so far. */
  log: string[];
  /** Throws where the answer is not what its endpoint describes. Of a stream, the first piece is the text. */
  fetch(method: string, path: string, call?: Call): Promise<Reply>;
  /** A signed-up merchant with a wallet on every blockchain. */
  merchant(email?: string): Promise<TestMerchant>;
  superuser(): Promise<{ id: string; token: string }>;
  stop(): Promise<void>;
}

export interface TestAppOptions {
  database?: Database;
  /** Settings by dotted path, as flags are typed. */
  settings?: Record<string, string | boolean>;
  clock?: TestClock;
  source?: (blockchain: string) => RpcSource | undefined;
  /** Runs rates, observer and webhooks; off by default. */
  start?: boolean;
  /** An open database of an earlier app, for restarts. */
  database_url?: string;
}

/** Receive addresses of the tests, valid on testnet. */
export const wallets: Record<string, string> = {
  ton: `0:${'11'.repeat(32)}`,
  solana: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  bitcoin: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  litecoin: 'tltc1qw508d6qejxtdg4y5r3zarvary0c5xw7klfsuq0',
};

const fixedRates = {
  'rates.source': 'fixed',
  'rates.usd.TON': '4',
  'rates.usd.SOL': '200',
  'rates.usd.BTC': '100000',
  'rates.usd.LTC': '100',
};

export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { database = 'sqlite', clock = testClock() } = options;
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-test-'));
  const server = database === 'postgres' && !options.database_url ? await createDatabase() : undefined;
  const url = options.database_url ?? server?.url ?? `sqlite:${join(directory, 'gatewayd.db')}`;
  const config = configFor(directory, url, options.settings ?? {});
  const log: string[] = [];
  const db = await openDb(url);
  await migrate(db);
  const secrets = createSecrets(config.secret ?? '');
  const app = openApp({
    config,
    db,
    ledger: await openLedger(db, secrets),
    secrets,
    log: createLog({ level: 'debug', sink: { write: (line) => log.push(line) } }),
    clock,
    // Unless a test says where its chains are, none can be asked: no test reaches a public provider.
    source: (id) => options.source?.(id) ?? (hasProvider(config, id) ? undefined : unreachable),
  });
  clock.whileRunning(() => app.clock_check.report(app.log));
  await seedDeploymentWallets(app);
  const http = createHttp(app, routes);
  if (options.start) app.start();
  let accounts = 0;
  return {
    app,
    clock,
    log,
    fetch: (method, path, call = {}) => send({ http, config, log }, method, path, call),
    async merchant(email = `merchant${++accounts}-${clock.now()}@example.com`) {
      const user = await account(app, email, false);
      await setWallets(app, user.id);
      return { id: user.id, user, token: await issueAccessToken(app, user), key: await keyOf(app, user.id) };
    },
    async superuser() {
      const user = await account(app, `operator${++accounts}@example.com`, true);
      return { id: user.id, token: await issueAccessToken(app, user) };
    },
    async stop() {
      http.stop();
      await app.stop();
      await db.close();
      await server?.drop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const configFor = (
  data_dir: string,
  database_url: string,
  settings: Record<string, string | boolean>,
): Config =>
  loadConfig({
    flags: {
      data_dir,
      database_url,
      secret: 'a secret for tests only',
      ...fixedRates,
      ...settings,
    },
    env: {},
    cwd: data_dir,
  }).config;

/** Lines of the log that a failure of the daemon's own is reported with. */
const LINES_SHOWN = 3;

const hasProvider = ({ blockchains }: Config, id: string) =>
  (blockchains[id]?.url ?? blockchains[id]?.urls) !== undefined;

async function send(
  { http, config, log }: { http: ReturnType<typeof createHttp>; config: Config; log: string[] },
  method: string,
  path: string,
  { token, key, body, headers = {} }: Call,
): Promise<Reply> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await http.h3.fetch(
    new Request(`${config.public_url}${path}`, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(key ? { 'x-api-key': key } : {}),
        ...(body === undefined || raw ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
    }),
  );
  const text = await textOf(response);
  const { status } = response;
  assertContract({ method, path, status, headers: response.headers, text, log: log.slice(-LINES_SHOWN) });
  let json: { value: unknown } | undefined;
  return {
    status,
    headers: response.headers,
    text,
    get json() {
      json ??= { value: parse(text) };
      return json.value;
    },
  };
}

/** The whole text; of a stream without an end, what comes first. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function account(app: RunningApp, email: string, is_superuser: boolean): Promise<UserRow> {
  const user = await createAccount(app, {
    email,
    source: 'email',
    subject: email,
    password_hash: null,
    full_name: null,
    is_active: true,
    is_superuser,
  });
  if (!user) throw new Error(`${email} is taken`);
  return user;
}

async function setWallets(app: RunningApp, merchant_id: string): Promise<void> {
  for (const [blockchain, text] of Object.entries(wallets)) {
    const found = findBlockchain(blockchain);
    if (!found) continue;
    const { address, key } = found.family.normalizeAddress(text, app.config.network);
    await putWallet(app.db.query, { merchant_id, blockchain, address, address_key: key, updated_at: 0 });
  }
}

async function keyOf(app: RunningApp, merchant_id: string): Promise<string> {
  const merchant = await getMerchant(app.db.query, merchant_id);
  return app.secrets.open(merchant?.api_key_sealed ?? '', apiKeyPurpose(merchant_id));
}
