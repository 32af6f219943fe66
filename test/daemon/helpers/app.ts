// A daemon's App on a real database in memory, with a clock that the test sets and fixed rates; nothing runs on its own.
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { openApp, type RunningApp } from '../../../daemon/process/app.ts';
import { openLedger } from '../../../daemon/process/ledger-key.ts';
import { createLog } from '../../../daemon/process/log.ts';
import { apiKeyPurpose, createSecrets } from '../../../daemon/process/secrets.ts';
import { type Config, loadConfig } from '../../../daemon/settings/config.ts';
import { openDb } from '../../../data/db/open.ts';
import { insertMerchant } from '../../../data/merchants.ts';
import { migrate } from '../../../data/migrations/migrate.ts';
import type { UserRow } from '../../../data/schema/tables.ts';
import { insertUser, type NewUser } from '../../../data/users.ts';
import { formatKey, hashKey, KEY_BYTES } from '../../../src/keys.ts';
import { GENESIS_HASH } from '../../../src/ledger.ts';

export interface TestClock {
  ms(): number;
  monotonic_ms(): number;
  now_ms: number;
}

export interface TestApp extends RunningApp {
  clock: TestClock;
  /** Every line that was logged, parsed. */
  lines: Record<string, unknown>[];
  close(): Promise<void>;
}

const START_MS = Date.UTC(2026, 0, 1);

/** `flags` are settings by dotted path. */
export async function openTestApp(
  options: { flags?: Record<string, string | boolean>; database_url?: string; log?: Logger } = {},
): Promise<TestApp> {
  const config: Config = loadConfig({
    env: {},
    cwd: '/nowhere',
    flags: {
      'rates.source': 'fixed',
      'rates.usd.TON': '2',
      'rates.usd.BTC': '50000',
      'rates.usd.SOL': '100',
      ...options.flags,
    },
  }).config;
  const db = await openDb(options.database_url ?? 'sqlite::memory:');
  await migrate(db);
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', sink: { write: (line) => lines.push(JSON.parse(line)) } });
  const clock: TestClock = { now_ms: START_MS, ms: () => clock.now_ms, monotonic_ms: () => clock.now_ms };
  const secrets = createSecrets('a secret for tests only');
  const ledger = await openLedger(db, secrets);
  const app = openApp({ config, db, ledger, secrets, log: options.log ?? log, clock });
  return {
    ...app,
    clock,
    lines,
    async close() {
      await app.stop();
      await db.close();
    },
  };
}

/** A user that may sign in, changed by `values`. */
export async function addUser(app: TestApp, values: Partial<NewUser> = {}): Promise<UserRow> {
  const email = values.email ?? `user-${randomBytes(4).toString('hex')}@example.com`;
  const user = await app.db.transaction((tx) =>
    insertUser(tx, {
      email,
      source: 'email',
      subject: email,
      password_hash: null,
      full_name: null,
      is_active: true,
      is_superuser: false,
      now: Math.floor(app.clock.ms() / 1000),
      ...values,
    }),
  );
  if (!user) throw new Error(`the identity ${email} is taken`);
  return user;
}

/** A merchant account for the user; its key. */
export async function addMerchant(app: TestApp, user: UserRow): Promise<string> {
  const key = formatKey(randomBytes(KEY_BYTES));
  const made = await app.db.transaction((tx) =>
    insertMerchant(tx, {
      id: user.id,
      slug: `shop-${user.id.slice(-12)}`,
      api_key_hash: hashKey(key),
      api_key_sealed: app.secrets.seal(key, apiKeyPurpose(user.id)),
      webhook_url: null,
      webhook_secret_sealed: null,
      enabled_currencies: null,
      prepaid_micros: 0n,
      ledger_seq: 0,
      ledger_hash: GENESIS_HASH,
      created_at: user.created_at,
    }),
  );
  if (!made) throw new Error('slug or key is taken');
  return key;
}
