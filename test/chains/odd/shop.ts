// A daemon whose chains answer oddly: every invoice is paid in full, and checked on request.
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { create, credit } from '../../helpers/payments.ts';
import { setWallet } from '../../helpers/people.ts';
import { sourceOf } from '../../helpers/reading.ts';
import type { OddChain } from './chain.ts';

const CREDIT_MICROS = 10_000_000_000_000n;
const SECONDS_BETWEEN_CHECKS = 8;

export interface Shop {
  test: TestApp;
  merchant: TestMerchant;
  invoice(gateway: string, amount: string): Promise<InvoiceRow>;
  /** Time passes, and the merchant asks for a check. */
  check(invoice: InvoiceRow): Promise<{ status: number; json: Record<string, unknown>; text: string }>;
}

export async function openShop(chain: OddChain): Promise<Shop> {
  const source = { ...sourceOf(chain.rpc), retryAt: () => Number.POSITIVE_INFINITY };
  const test = await startApp({
    settings: chain.settings ?? {},
    source: (id) => (id === chain.blockchain ? source : undefined),
  });
  test.clock.set(chain.now);
  const merchant = await test.merchant();
  await credit(test, merchant.id, CREDIT_MICROS);
  if (chain.wallet) await setWallet(test.app, merchant.id, chain.blockchain, chain.wallet);
  const advance = () => {
    chain.now += SECONDS_BETWEEN_CHECKS;
    test.clock.set(chain.now);
  };
  return {
    test,
    merchant,
    invoice: (gateway, amount) => create(test, merchant, gateway, { amount }),
    async check({ id }) {
      advance();
      return test.fetch('POST', `/v1/invoices/${id}/check`, { key: merchant.key });
    },
  };
}
