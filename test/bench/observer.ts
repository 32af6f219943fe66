// What observing costs with 100, 10,000 and 1,000,000 open invoices: requests and CPU per transfer read.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openApp } from '../../daemon/process/app.ts';
import { openLedger } from '../../daemon/process/ledger-key.ts';
import { createSecrets } from '../../daemon/process/secrets.ts';
import { loadConfig } from '../../daemon/settings/config.ts';
import { openDb } from '../../data/db/open.ts';
import { watchAddress } from '../../data/invoices.ts';
import { migrate } from '../../data/migrations/migrate.ts';
import type { Json, Rpc } from '../../src/chains/family.ts';
import { account } from '../helpers/people.ts';
import { sourceOf } from '../helpers/reading.ts';
import { createToncenter } from '../helpers/toncenter.ts';
import { median, say } from './measure.ts';
import { fillInvoices } from './world.ts';

const COUNTS = [100, 10_000, 1_000_000];
/** Transfers that each read finds. */
const TRANSFERS = 200;
const READS = 15;
const NOW = 1_800_000_000;
const OWNER = `0:${'11'.repeat(32)}`;

export async function benchObserver(): Promise<void> {
  const figures: { requests: number; cpu_us: number }[] = [];
  for (const count of COUNTS) {
    const figure = await observe(count);
    figures.push(figure);
    say(
      `${count} open invoices: ${figure.requests.toFixed(3)} requests and ${figure.cpu_us.toFixed(0)} µs of CPU per transfer`,
    );
  }
  const [least] = figures;
  const most = figures.at(-1);
  if (!least || !most) return;
  say(
    `growth from ${COUNTS[0]} to ${COUNTS.at(-1)}: requests × ${(most.requests / least.requests).toFixed(2)}, CPU × ${(most.cpu_us / least.cpu_us).toFixed(2)}`,
  );
}

async function observe(count: number): Promise<{ requests: number; cpu_us: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-bench-'));
  const { config } = loadConfig({
    flags: {
      data_dir: directory,
      'rates.source': 'fixed',
      'rates.usd.TON': '4',
      'gateways.ton-usdt.enabled': false,
    },
    env: {},
    cwd: directory,
  });
  const db = await openDb(config.database_url);
  await migrate(db);
  const clock = { at: NOW, ms: () => clock.at * 1000, monotonic_ms: () => clock.at * 1000 };
  const provider = createProvider();
  const secrets = createSecrets('a secret for benches only');
  const app = openApp({
    config,
    db,
    ledger: await openLedger(db, secrets),
    secrets,
    log: pino({ level: 'silent' }),
    clock,
    source: () => provider.source,
  });
  const merchant = await account(app);
  const watch = { blockchain: 'ton', address_key: OWNER, address: OWNER, since: NOW - 60 };
  await watchAddress(db.query, { ...watch, open_until: NOW + 10_000_000, watch_until: NOW + 10_000_000 });
  await fillInvoices(db, {
    owner_id: merchant.id,
    count,
    status: 'created',
    address_key: OWNER,
    created_at: NOW - 60,
    expires_at: NOW + 5_000_000,
  });
  const cpu: number[] = [];
  let requests = 0;
  for (let read = 0; read <= READS; read++) {
    clock.at += 4;
    provider.next(clock.at);
    const before = provider.requests();
    const started = process.cpuUsage();
    await app.observer.poll('ton');
    await app.observer.tick();
    const used = process.cpuUsage(started);
    // The first read warms up.
    if (read === 0) continue;
    cpu.push((used.user + used.system) / TRANSFERS);
    requests += provider.requests() - before;
  }
  await app.stop();
  await db.close();
  rmSync(directory, { recursive: true, force: true });
  return { requests: requests / READS / TRANSFERS, cpu_us: median(cpu) };
}

/** A toncenter that has new payments, none of which any invoice asks for, at every read. */
function createProvider() {
  let asked = 0;
  let now = NOW;
  const toncenter = createToncenter(() => ({ seqno: now - NOW + 40_000_000, now }));
  const json: Rpc['json'] = async (path, { query } = {}) => {
    asked++;
    return (
      toncenter.answer(path, (query ?? {}) as Record<string, Json>) ?? {
        exit_code: -13,
        gas_used: 0,
        stack: [],
      }
    );
  };
  const unused = () => {
    throw new Error('not asked by this family');
  };
  const rpc: Rpc = { provider: 'toncenter', json, text: unused, bytes: unused, call: unused, batch: unused };
  return {
    source: sourceOf(rpc),
    requests: () => asked,
    next(at: number) {
      now = at;
      for (let each = 0; each < TRANSFERS; each++) toncenter.add(transaction(at - 1));
    },
  };
}

const transaction = (now: number) => ({
  account: OWNER.toUpperCase(),
  now,
  mc_block_seqno: now - NOW + 40_000_000 - 1,
  orig_status: 'active',
  end_status: 'active',
  description: { type: 'ord', aborted: false, compute_ph: { skipped: true, reason: 'no_state' } },
  in_msg: {
    hash: 'AAAA',
    source: `0:${'22'.repeat(32)}`.toUpperCase(),
    destination: OWNER.toUpperCase(),
    value: '1000000',
    opcode: null,
    bounce: false,
    bounced: false,
    created_lt: '1',
    message_content: { hash: 'AAAA', body: 'te6cckEBAQEAAgAAAEysuc0=', decoded: null },
  },
  out_msgs: [],
});
