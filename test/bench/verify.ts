// How long `gatewayd verify` takes for a million invoices, on both databases, and which laws take longest.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertSecretMatches } from '../../daemon/process/data-dir.ts';
import { ledgerKey, openLedger } from '../../daemon/process/ledger-key.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import { openDb } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { LawResult } from '../../data/verify/verify.ts';
import { account } from '../helpers/people.ts';
import { postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import { fillBooks } from './books.ts';
import { say } from './measure.ts';

const COUNT = 1_000_000;
const MERCHANTS = 20;
const SECRET = 'a secret for benches only';
const SLOWEST = 5;
const BIN = new URL('../../bin/gatewayd.js', import.meta.url).pathname;

export async function benchVerify(count = COUNT): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-bench-'));
  try {
    await measure(`sqlite:${join(directory, 'books.db')}`, directory, count);
    const binaries = postgresBinaries();
    if (!binaries) return say('no PostgreSQL on this platform');
    const server = await startPostgres(binaries);
    try {
      await measure(server.url, directory, count);
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(url: string, directory: string, count: number): Promise<void> {
  const began = performance.now();
  await makeBooks(url, directory, count);
  const made_ms = performance.now() - began;
  const started = performance.now();
  const text = execFileSync(process.execPath, [BIN, 'verify', '--json', '--quiet'], {
    cwd: directory,
    env: {
      ...process.env,
      GATEWAYD_DATABASE_URL: url,
      GATEWAYD_SECRET: SECRET,
      GATEWAYD_DATA_DIR: directory,
    },
    maxBuffer: 64 * 1024 * 1024,
    encoding: 'utf8',
  });
  const took_ms = performance.now() - started;
  const { laws } = JSON.parse(text) as { laws: LawResult[] };
  const slowest = laws.toSorted((one, other) => other.took_ms - one.took_ms).slice(0, SLOWEST);
  const name = url.startsWith('sqlite:') ? 'SQLite' : 'PostgreSQL';
  say(`${name}, ${count} invoices: verified in ${seconds(took_ms)} s (written in ${seconds(made_ms)} s)`);
  say(`slowest: ${slowest.map(({ law, took_ms }) => `law ${law} ${seconds(took_ms)} s`).join(', ')}`);
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

async function makeBooks(url: string, data_dir: string, count: number): Promise<void> {
  const db = await openDb(url);
  await migrate(db);
  const secrets = createSecrets(SECRET);
  await assertSecretMatches(db, secrets, data_dir);
  await openLedger(db, secrets);
  const now = Math.floor(Date.now() / 1000);
  const clock = { ms: () => now * 1000, monotonic_ms: () => now * 1000 };
  const merchant_ids: string[] = [];
  for (let at = 0; at < MERCHANTS; at++) {
    const { id } = await account({ db, clock, secrets });
    merchant_ids.push(id);
  }
  const ledger_key = await ledgerKey(db.query, secrets);
  if (!ledger_key) throw new Error('the ledger has no key');
  await fillBooks(db, { merchant_ids, count, ledger_key, now });
  await db.close();
}
