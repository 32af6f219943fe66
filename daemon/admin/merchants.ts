// Merchants for the operator: the list, and one with what belongs to it. Never a key, never a webhook secret.
import type { z } from 'zod';
import { balancesOf } from '../../data/income.ts';
import { getMerchant, walletsOf } from '../../data/merchants.ts';
import { unitsOf } from '../../data/units.ts';
import { latestEntries } from '../../data/views/admin-detail.ts';
import { listEntries } from '../../data/views/admin-list.ts';
import { figuresOf, listMerchants } from '../../data/views/merchants.ts';
import type { AdminMerchantDetail, AdminMerchants } from '../../src/api/schemas/admin.ts';
import { Refusal } from '../../src/errors.ts';
import { presentBalances, presentWallet } from '../accounts/present.ts';
import type { App } from '../context.ts';
import { payableGateways, presentUnit } from '../units/present.ts';
import { presentEntry, presentLedgerEntry, presentMerchant } from './present.ts';

/** Ledger entries and invoices that the detail shows. */
const LATEST = 20;

/** AdminMerchants. */
export async function merchantPage(
  app: App,
  { q, skip, limit }: { q?: string | undefined; skip: number; limit: number },
): Promise<z.output<typeof AdminMerchants>> {
  const filter = { q: q === '' ? undefined : q, skip, limit };
  const { rows, count } = await app.db.readList(({ query }) => listMerchants(query, filter));
  return { data: rows.map(presentMerchant), count, skip, limit };
}

/** AdminMerchantDetail. Refuses with `merchant_not_found`. */
export async function merchantDetail(app: App, id: string): Promise<z.input<typeof AdminMerchantDetail>> {
  const { query } = app.db;
  const merchant = await getMerchant(query, id);
  const [figures] = await figuresOf(query, [id]);
  if (!merchant || !figures) throw new Refusal('merchant_not_found');
  const payable = await payableGateways(app, merchant);
  return {
    merchant: presentMerchant(figures),
    webhook_url: merchant.webhook_url,
    webhook_refills: merchant.webhook_refills === 1,
    enabled_currencies: merchant.enabled_currencies,
    balances: presentBalances(merchant, await balancesOf(query, id)),
    wallets: (await walletsOf(query, id)).map((wallet) => presentWallet(app, wallet)),
    units: (await unitsOf(query, id)).map((unit) => presentUnit(app, unit, merchant, payable)),
    ledger: (await latestEntries(query, id, LATEST)).map(presentLedgerEntry),
    payments: (await listEntries(app.db, { owner_id: id, skip: 0, limit: LATEST })).map(presentEntry),
  };
}
