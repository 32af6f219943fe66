// The deployment at a glance, from running sums: its cost does not grow with the number of invoices.
import type { z } from 'zod';
import { sharedAddresses } from '../../data/addresses.ts';
import { countContradictions } from '../../data/contradictions.ts';
import { countTroubled, unreadableAssets } from '../../data/proofs.ts';
import { merchantsNearLimit } from '../../data/views/merchants.ts';
import { rollupsSince } from '../../data/views/rollups.ts';
import { API_VERSION } from '../../src/api/project/openapi.ts';
import type { AdminDashboard } from '../../src/api/schemas/admin.ts';
import { limitOf, REFILL_CREDIT_MULTIPLIER } from '../../src/ledger.ts';
import { formatUsd } from '../../src/money.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { observerStates, presentClock, unappliedRollups } from './observers.ts';

const DAY_SECONDS = 86_400;
/** Today and so many days before it. */
const PERIODS = { day: 0, week: 6, month: 29 } as const;
/** A remaining limit below this counts as nearly used up, USD micros. */
const NEAR_LIMIT_MICROS = 100_000_000n;
const NEAR_LIMIT_SHOWN = 20;
/** Accounts in trouble are counted up to this. */
const BEHIND_COUNTED = 1000;

const names = [
  'users',
  'merchants',
  'units',
  'invoices',
  'sales',
  'ledger',
  'webhooks',
  ...Object.values(unappliedRollups),
];

/** AdminDashboard. */
export async function dashboard(app: App): Promise<z.output<typeof AdminDashboard>> {
  const { query } = app.db;
  const now = seconds(app.clock);
  const today = Math.floor(now / DAY_SECONDS);
  const since = Object.values(PERIODS).map((days) => today - days);
  const sums = createSums(await app.db.readList((on) => rollupsSince(on.query, names, since)));
  const observers = await observerStates(app);
  const blockchains = observers.map(({ blockchain }) => blockchain);
  const contradictions = await countContradictions(query, blockchains);
  return {
    version: API_VERSION,
    network: app.config.network,
    demo_mode: app.config.demo,
    generated_at: now,
    users: sums.count('users'),
    merchants: sums.count('merchants'),
    units: sums.count('units'),
    invoices: {
      created: sums.count('invoices', 'created'),
      confirmed: sums.count('invoices', 'confirmed'),
      expired: sums.count('invoices', 'expired'),
      cancelled: sums.count('invoices', 'cancelled'),
      failed: sums.count('invoices', 'failed'),
    },
    volume_usd: sums.periods('sales'),
    fees_usd: sums.periods('ledger', 'fee'),
    refills_usd: sums.periods('ledger', 'refill'),
    prepaid_usd: formatUsd(sums.amount('ledger') - 2n * sums.amount('ledger', 'fee')),
    income: sums.of('sales').map(({ key, count, amount_micros }) => ({
      currency: key,
      count,
      volume_usd: formatUsd(amount_micros),
    })),
    attention: {
      held: sums.count(unappliedRollups.held),
      late: sums.count(unappliedRollups.late),
      unmatched: sums.count(unappliedRollups.unmatched),
      orphaned: sums.count(unappliedRollups.orphaned),
      webhooks_failed: sums.count('webhooks', 'failed'),
      webhooks_unknown: sums.count('webhooks', 'unknown'),
      contradictions: [...contradictions.values()].reduce((sum, count) => sum + count, 0),
      accounts_behind: await countTroubled(query, blockchains, BEHIND_COUNTED),
      unreadable_assets: (await unreadableAssets(query)).length,
    },
    near_limit: await nearLimit(app),
    rates: rates(app),
    clock: presentClock(app),
    shared_addresses: (await sharedAddresses(query)).length,
    observers: observers.map(({ blockchain, status, lag_seconds }) => ({
      blockchain,
      status,
      lag_seconds,
      unavailable_since: app.blindness.of(blockchain),
    })),
  };
}

type Sum = Awaited<ReturnType<typeof rollupsSince>>[number];

/** Sums by name, and by key where one is given. */
function createSums(rows: readonly Sum[]) {
  const of = (name: string, key?: string) =>
    rows.filter((row) => row.name === name && (key === undefined || row.key === key));
  const total = (found: readonly Sum[], value: (row: Sum) => bigint) =>
    found.reduce((sum, row) => sum + value(row), 0n);
  return {
    of,
    count: (name: string, key?: string) => Number(total(of(name, key), (row) => BigInt(row.count))),
    /** USD micros. */
    amount: (name: string, key?: string) => total(of(name, key), (row) => row.amount_micros),
    periods(name: string, key?: string) {
      const found = of(name, key);
      const since = (at: number) => formatUsd(total(found, (row) => row.since_micros[at] ?? 0n));
      return {
        day: since(0),
        week: since(1),
        month: since(2),
        total: formatUsd(total(found, (row) => row.amount_micros)),
      };
    },
  };
}

async function nearLimit(app: App) {
  const below_micros = NEAR_LIMIT_MICROS / REFILL_CREDIT_MULTIPLIER;
  const { rows, count } = await app.db.readList(({ query }) =>
    merchantsNearLimit(query, below_micros, NEAR_LIMIT_SHOWN),
  );
  return {
    below_usd: formatUsd(NEAR_LIMIT_MICROS),
    count,
    merchants: rows.map(({ id, slug, prepaid_micros }) => ({
      user_id: id,
      slug,
      prepaid_usd: formatUsd(prepaid_micros),
      limit_of_payments: formatUsd(limitOf(prepaid_micros)),
    })),
  };
}

function rates({ rates }: App) {
  const { source, updated_at, stale, currencies } = rates.status();
  return {
    source,
    updated_at,
    stale,
    currencies: Object.entries(currencies).map(([currency, of]) => ({
      currency,
      usd: of.usd,
      updated_at: of.updated_at,
      stale: of.stale,
    })),
  };
}
