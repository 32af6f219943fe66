// What anyone may know of a deployment's settings.
import { API_VERSION } from '../../src/api/project/openapi.ts';
import { REFILL_CREDIT_MULTIPLIER } from '../../src/ledger.ts';
import { MAX_UNITS } from '../../src/limits.ts';
import { MEMO_LENGTH } from '../../src/memo.ts';
import { PLATFORM_FEE_PERCENT, PLATFORM_FEE_RATE } from '../accounts/present.ts';
import type { App } from '../context.ts';

/** The smallest USD amount that is distinguished. */
export const USD_PRECISION = '0.000001';

/** The answer of `getPublicConfig`. */
export function presentPublicConfig({ config, rates }: Pick<App, 'config' | 'rates'>) {
  return {
    version: API_VERSION,
    network: config.network,
    demo_mode: config.demo,
    public_base_url: config.public_url,
    default_fiat: 'USD' as const,
    usd_precision: USD_PRECISION,
    memo_length: MEMO_LENGTH,
    service_fee_percent: config.service_fee_percent,
    platform_fee_rate: PLATFORM_FEE_RATE,
    platform_fee_percent: PLATFORM_FEE_PERCENT,
    refill_credit_multiplier: REFILL_CREDIT_MULTIPLIER.toString(),
    max_payment_units: MAX_UNITS,
    rates: rates.status().source,
    signup: config.signup,
    google_login: config.google.client_id !== undefined,
    google_client_id: config.google.client_id ?? null,
    telegram_login: config.telegram.bot_token !== undefined,
  };
}
