// One page of dust to one address: what storing it costs for each row, and how long the thread that answers is held meanwhile.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { openApp, type RunningApp } from '../../daemon/process/app.ts';
import { openLedger } from '../../daemon/process/ledger-key.ts';
import { createLog } from '../../daemon/process/log.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import { loadConfig } from '../../daemon/settings/config.ts';
import { recordPage } from '../../daemon/settle/settle.ts';
import { ROWS_PER_SLICE } from '../../daemon/settle/slices.ts';
import { ensureCursor, getCursor } from '../../data/cursors.ts';
import { sqlite } from '../../data/db/driver.ts';
import { openDb } from '../../data/db/open.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { Transfer } from '../../src/chains/family.ts';
import { merchantOf, wallets } from '../helpers/people.ts';
import { atMost, say } from './measure.ts';

const SECRET = 'a secret for benches only';
const BLOCKCHAIN = 'solana';
const CHAIN = 'solana-usdc';
/** Rows of one page: what is settled is linear in them. */
const PAGE_ROWS = [1_000, 5_000, 20_000, 40_000];
/** For no longer than this the thread that answers is held while a page is stored. */
const HELD_AT_MOST_MS = 50;
/** What the histogram of the event loop counts in. */
const RESOLUTION_MS = 1;
const HELD_PERCENTILE = 99;
/** Of each row of the floor, in bytes: what a transfer takes with its indexes. */
const FLOOR_ROW_BYTES = 500;

export async function benchDustStored(): Promise<void> {
  const kinds = { 'dust (0.000001)': 1n, 'unmatched (0.50)': 500_000n };
  for (const [name, amount] of Object.entries(kinds)) {
    let first = Number.NaN;
    for (const rows of PAGE_ROWS) {
      const floor = await watched(() => storeBare(rows));
      const page = await storePage(rows, amount);
      if (Number.isNaN(first)) first = page.seconds / rows;
      say(
        `${rows} transfers in one page, ${name}: ${page.seconds.toFixed(1)} s, ${(page.seconds / floor.seconds).toFixed(1)} of the floor; for each row ${(page.seconds / rows / first).toFixed(2)} of what it is with ${PAGE_ROWS[0]}`,
      );
      say(
        `  held ${page.held_ms.toFixed(0)} ms at most, ${page.usual_ms.toFixed(0)} ms in ${HELD_PERCENTILE} of 100 turns; the floor ${floor.held_ms.toFixed(0)} ms and ${floor.usual_ms.toFixed(0)} ms`,
      );
      // What else the machine does delays a turn, and is in no one's processor time.
      atMost(
        `processor time of a slice, ms, of ${HELD_PERCENTILE} of 100`,
        [page.cpu_ms],
        HELD_AT_MOST_MS,
        0,
      );
    }
  }
}

/** How long `work` took, and how long it held the thread at most. */
async function watched(work: () => Promise<void>) {
  const held = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  held.enable();
  await setTimeout(HELD_AT_MOST_MS);
  held.reset();
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1000;
  await setTimeout(RESOLUTION_MS);
  held.disable();
  return { seconds, held_ms: held.max / 1e6, usual_ms: held.percentile(HELD_PERCENTILE) / 1e6 };
}

/** As many rows of the same length, in as many bare durable transactions, each in a turn of its own. */
async function storeBare(rows: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-floor-'));
  const database = new (sqlite())(join(directory, 'floor.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('create table inserted (id text primary key, body text not null)');
  const insert = database.prepare('insert into inserted values (?, ?)');
  const body = 'x'.repeat(FLOOR_ROW_BYTES);
  const store = database.transaction((from: number) => {
    for (let row = from; row < Math.min(rows, from + ROWS_PER_SLICE); row++) insert.run(randomUUID(), body);
  });
  for (let from = 0; from < rows; from += ROWS_PER_SLICE) {
    store.immediate(from);
    await setImmediate();
  }
  database.close();
  rmSync(directory, { recursive: true, force: true });
}

async function storePage(rows: number, amount_atomic: bigint) {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-dust-'));
  const db = await openDb(`sqlite:${join(directory, 'dust.db')}`);
  const app = await openBenchApp(db, directory);
  await merchantOf(app, `dust${rows}-${amount_atomic}@example.com`);
  await ensureCursor(db.query, BLOCKCHAIN);
  const { version } = (await getCursor(db.query, BLOCKCHAIN)) ?? { version: 0 };
  const now = Math.floor(Date.now() / 1000);
  const gateways = app.gateways.filter(({ blockchain }) => blockchain === BLOCKCHAIN);
  const transfers = Array.from({ length: rows }, (_, at) =>
    dustAt(`${now} ${rows} ${at} ${amount_atomic}`, amount_atomic, now),
  );
  const spent: number[] = [];
  const transaction: typeof db.transaction = async (work) => {
    const before = process.cpuUsage();
    const value = await db.transaction(work);
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
    return value;
  };
  const stored = await watched(async () => {
    await recordPage(
      { ...app, db: { ...db, transaction } },
      { blockchain: BLOCKCHAIN, gateways, now },
      version,
      {
        transfers,
        cursor: { rows },
        tip: { height: 100, hash: 'block-100', time: now },
      },
    );
  });
  await app.stop();
  await db.close();
  rmSync(directory, { recursive: true, force: true });
  spent.sort((one, other) => one - other);
  return { ...stored, cpu_ms: spent[Math.floor((spent.length * HELD_PERCENTILE) / 100)] ?? Number.NaN };
}

async function openBenchApp(db: Awaited<ReturnType<typeof openDb>>, data_dir: string): Promise<RunningApp> {
  await migrate(db);
  const secrets = createSecrets(SECRET);
  const { config } = loadConfig({
    flags: { data_dir, secret: SECRET, 'rates.source': 'fixed', 'rates.usd.SOL': '200' },
    env: {},
    cwd: '/',
  });
  return openApp({
    config,
    db,
    ledger: await openLedger(db, secrets),
    secrets,
    log: createLog({ level: 'silent' }),
    clock: { ms: Date.now, monotonic_ms: () => performance.now() },
  });
}

const dustAt = (txid: string, amount_atomic: bigint, now: number): Transfer => ({
  chain: CHAIN,
  address_key: wallets.solana ?? '',
  txid,
  index: '0',
  amount_atomic,
  memo: null,
  references: [],
  sender: 'someone',
  height: 100,
  block_hash: 'block-100',
  earliest_at: now,
  latest_at: now,
  inputs: [],
  confirmations: 64,
  final: true,
});
