// Users, merchant accounts and wallets as the wire shows them.
import type { z } from 'zod';
import type { DeploymentWalletRow, MerchantRow, UserRow, WalletRow } from '../../data/schema/tables.ts';
import type { MerchantAccountPublic, UserPublic, WalletPublic } from '../../src/api/schemas/resources.ts';
import type { Source } from '../../src/identity.ts';
import { limitOf, PLATFORM_FEE_BASIS_POINTS, REFILL_CREDIT_MULTIPLIER } from '../../src/ledger.ts';
import { MAX_UNITS, PLAN } from '../../src/limits.ts';
import { formatDecimal, formatUsd } from '../../src/money.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { isHouse } from '../invoices/limit.ts';
import { apiKeyPurpose, webhookSecretPurpose } from '../process/secrets.ts';
import { presentProfile } from '../shop/profile.ts';
import { unprovedEmail } from './email-proof.ts';

/** UserPublic. */
export const presentUser = (row: UserRow): z.input<typeof UserPublic> => ({
  id: row.id,
  email: row.email,
  is_active: row.is_active === 1,
  is_superuser: row.is_superuser === 1,
  full_name: row.full_name,
  created_at: new Date(row.created_at * 1000).toISOString(),
  source: row.source as Source,
  ...pendingOf(row),
});

/** Only where an address waits: the answer is otherwise what the specification says. */
function pendingOf(row: UserRow): { pending_email?: string } {
  const pending_email = unprovedEmail(row);
  return pending_email === null ? {} : { pending_email };
}

/** The fee as a share of one and in percent. */
export const PLATFORM_FEE_RATE = formatDecimal(PLATFORM_FEE_BASIS_POINTS, 4);
export const PLATFORM_FEE_PERCENT = formatDecimal(PLATFORM_FEE_BASIS_POINTS, 2);

/** MerchantAccountPublic: the key and the webhook secret are opened, for their owner only. */
export function presentAccount(app: App, row: MerchantRow): z.input<typeof MerchantAccountPublic> {
  const { secrets, config, gateways } = app;
  const now = seconds(app.clock);
  const sealed = row.webhook_secret_sealed;
  const house = isHouse(row);
  return {
    slug: row.slug,
    api_key: secrets.open(row.api_key_sealed, apiKeyPurpose(row.id)),
    webhook_url: row.webhook_url,
    webhook_secret: sealed === null ? null : secrets.open(sealed, webhookSecretPurpose(row.id)),
    previous_api_key_ends_at: stillValid(row.previous_api_key_ends_at, now),
    previous_webhook_secret_ends_at: stillValid(row.previous_webhook_secret_ends_at, now),
    house,
    webhook_refills: row.webhook_refills === 1,
    // Nothing chosen means all: they are named, because the member is a list in every answer.
    enabled_currencies: row.enabled_currencies ?? gateways.map((gateway) => gateway.chain),
    limit_of_payments: formatUsd(limitOf(row.prepaid_micros)),
    refill_credit_multiplier: REFILL_CREDIT_MULTIPLIER.toString(),
    platform_fee_rate: house ? '0' : PLATFORM_FEE_RATE,
    platform_fee_percent: house ? '0' : PLATFORM_FEE_PERCENT,
    max_payment_units: MAX_UNITS,
    plan: PLAN,
    network: config.network,
    fee_description: house
      ? "This is the operator's own shop: it sells without prepaid limit and without fee."
      : `Each confirmed payment debits ${PLATFORM_FEE_PERCENT} % of its USD volume from your prepaid balance; a refill of S USD raises the limit by S × ${REFILL_CREDIT_MULTIPLIER}.`,
    ...presentProfile(config.public_url, row),
  };
}

const stillValid = (ends_at: number | null, now: number): number | null =>
  ends_at !== null && ends_at > now ? ends_at : null;

/** WalletPublic. */
export function presentWallet(
  app: Pick<App, 'config' | 'gateways'>,
  row: WalletRow | DeploymentWalletRow,
): z.input<typeof WalletPublic> {
  const here = app.gateways.filter((gateway) => gateway.blockchain === row.blockchain);
  return {
    blockchain: row.blockchain,
    blockchain_name: app.config.chains.find(row.blockchain)?.name ?? row.blockchain,
    address: row.address,
    network: app.config.network,
    currencies: [...new Set(here.map((gateway) => gateway.currency))],
    updated_at: row.updated_at,
  };
}

/** BalancePublic of the prepaid balance and of each currency that was earned. */
export const presentBalances = (
  { prepaid_micros }: Pick<MerchantRow, 'prepaid_micros'>,
  income: readonly { currency: string; amount_atomic: string; decimals: number }[],
) => [
  { currency: 'USD', amount: formatUsd(prepaid_micros) },
  ...income.map(({ currency, amount_atomic, decimals }) => ({
    currency,
    amount: formatDecimal(BigInt(amount_atomic), decimals),
  })),
];
