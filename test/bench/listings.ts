// p99 of the operator's payments and the merchant's income at a million invoices, against a thousand.

import { openDb } from '../../data/db/open.ts';
import { median, p99, say } from './measure.ts';
import { fillInvoices, startWorld } from './world.ts';

const COUNTS = [1_000, 1_000_000];
const CALLS = 1_000;
const ROUNDS = 3;

export async function benchListings(): Promise<void> {
  const figures: Record<string, number[]> = {};
  for (const count of COUNTS) {
    const { home, daemon, token, merchant_id } = await startWorld();
    const db = await openDb(`sqlite:${home.dir}/gatewayd/gatewayd.db`);
    await fillInvoices(db, {
      owner_id: merchant_id,
      count,
      status: 'confirmed',
      address_key: `0:${'11'.repeat(32)}`,
      created_at: 1_700_000_000,
      expires_at: 1_700_000_300,
    });
    await db.query.updateTable('users').set({ is_superuser: 1 }).where('id', '=', merchant_id).execute();
    await db.close();
    const headers = { authorization: `Bearer ${token}` };
    for (const path of paths(merchant_id)) {
      const rounds: number[] = [];
      for (let round = 0; round < ROUNDS; round++) rounds.push(await tail(`${daemon.url}${path}`, headers));
      const name = path.replace(merchant_id, '{id}');
      figures[name] = [...(figures[name] ?? []), median(rounds)];
      say(`${count} invoices, ${name}: p99 ${median(rounds).toFixed(2)} ms`);
    }
    await home.remove();
  }
  for (const [name, [few = 1, many = 1]] of Object.entries(figures))
    say(`${name}: p99 × ${(many / few).toFixed(2)}`);
}

const paths = (merchant_id: string): string[] => [
  '/api/v1/merchant/income',
  '/api/v1/merchant/income?from_date=2023-11-20&to_date=2023-11-21',
  '/api/v1/admin/payments',
  '/api/v1/admin/payments?status=confirmed&chain=ton',
  `/api/v1/admin/payments?owner_id=${merchant_id}&kind=sale`,
];

async function tail(url: string, headers: Record<string, string>): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const started = performance.now();
    const reply = await fetch(url, { headers });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${url}: ${reply.status} ${text}`);
    times.push(performance.now() - started);
  }
  return p99(times);
}
