// What the benches run against: the floor, the built daemon, a merchant, and a database full of invoices.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import type { Db } from '../../data/db/open.ts';
import { type Daemon, type Home, makeHome } from '../daemon/helpers/process.ts';
import { shopkeeper, wallets } from '../helpers/people.ts';
import { ask, serviceAt } from '../helpers/service.ts';

const HOOKS = new URL('../helpers/typescript-hooks.mjs', import.meta.url).href;
const FLOOR = fileURLToPath(new URL('./floor.ts', import.meta.url));

/** The floor, listening; `stop` removes its file. */
export async function startFloor(): Promise<{ url: string; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-floor-'));
  const child = spawn(process.execPath, ['--import', HOOKS, FLOOR, join(directory, 'floor.db')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(child.stdout, 'data');
  return {
    url: `http://127.0.0.1:${String(port).trim()}`,
    async stop() {
      child.kill();
      await once(child, 'exit');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface World {
  home: Home;
  daemon: Daemon;
  token: string;
  key: string;
  merchant_id: string;
}

/**
 * The built daemon with one merchant that has wallets. It logs to a file, as under a service manager: the process
 * that makes the load must not be busy with reading lines. `env` is of the daemon.
 */
export async function startWorld(env: Record<string, string> = {}): Promise<World> {
  const home = makeHome();
  const daemon = await home.start({ log_file: join(home.dir, 'gatewayd.log'), env });
  const { id, token, key } = await shopkeeper(serviceAt({ base_url: daemon.url }), { wallets });
  return { home, daemon, token, key, merchant_id: id };
}

/** An open invoice of the world's merchant. */
export const createBenchInvoice = ({ daemon, key }: World): Promise<{ id: string }> =>
  ask(serviceAt({ base_url: daemon.url }), 'POST', '/v1/invoices', {
    key,
    body: { chain: 'ton', amount: '12.50' },
  });

/** Invoices written at once; larger fills are done in several. */
const FILL_STEP = 50_000;

export interface Fill {
  owner_id: string;
  /** Serial number of the first, 0 by default: ids and memos are made of it. */
  first?: number;
  count: number;
  status: 'created' | 'confirmed';
  address_key: string;
  /** Unix seconds of the first; each next is one later. */
  created_at: number;
  expires_at: number;
}

/** Fills the table with invoices of one owner, as the database itself can do it fastest (SQLite). */
export async function fillInvoices(db: Db, fill: Fill): Promise<void> {
  const { first = 0 } = fill;
  const end = first + fill.count;
  for (let from = first; from < end; from += FILL_STEP) {
    const to = Math.min(end, from + FILL_STEP);
    await db.transaction(async (tx) => {
      await sql`
        with recursive n(i) as (select ${from} union all select i + 1 from n where i + 1 < ${to})
        insert into invoices (id, owner_id, kind, chain, blockchain, currency, network, decimals, min_confirmations,
          amount_usd_micros, amount_usd_fee_micros, rate_usd_nanos, amount_merchant_atomic, amount_fee_atomic,
          amount_atomic, address, address_key, memo, qr_payload, exits, status, amount_match, confirmations,
          created_at, expires_at, paid_at, due_at, watch_until)
        select printf('%08x-0000-4000-8000-%012x', i, i), ${fill.owner_id}, 'sale', 'ton', 'ton', 'TON', 'testnet', 9, 1,
          10000000, 0, '4000000000', '2500000000', '0', '2500000000', ${fill.address_key}, ${fill.address_key},
          printf('M%09X', i), 'ton://transfer', '{}', ${fill.status}, 'none', 0,
          ${fill.created_at} + i, ${fill.expires_at} + i,
          ${fill.status === 'confirmed' ? fill.created_at : null},
          ${fill.status === 'created' ? sql`${fill.expires_at} + i` : null}, ${fill.expires_at} + 172800
        from n`.execute(tx);
      if (fill.status === 'confirmed')
        await sql`
          with recursive n(i) as (select ${from} union all select i + 1 from n where i + 1 < ${to})
          insert into income (id, merchant_id, invoice_id, chain, currency, amount_atomic, decimals, amount_usd_micros,
            fee_charged_micros, txid, webhook_status, created_at)
          select printf('%08x-0000-4000-9000-%012x', i, i), ${fill.owner_id}, printf('%08x-0000-4000-8000-%012x', i, i),
            'ton', 'TON', '2500000000', 9, 10000000, 100000, printf('%064x', i), 'none', ${fill.created_at} + i
          from n`.execute(tx);
    });
  }
}
