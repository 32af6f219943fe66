// The prepaid limit of an invoice's owner: what is missing, and how to refill.
import { deploymentWallets, getMerchant } from '../../data/merchants.ts';
import type { InvoiceRow, MerchantRow } from '../../data/schema/tables.ts';
import { Refusal } from '../../src/errors.ts';
import { limitOf, missingPrepaid } from '../../src/ledger.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';
import { noteShortLimit } from '../settle/settle.ts';

/** Whether it is the operator's own shop, which sells without limit and fee. */
export const isHouse = ({ house_since }: Pick<MerchantRow, 'house_since'>): boolean => house_since !== null;

/** Of a sale: what its merchant's limit is reckoned by, and whether a buyer asks, who reads of no limit. */
export interface Seller {
  merchant: MerchantRow;
  for_buyer: boolean;
}

/**
 * Whether the limit covers a sale of this volume (USD micros). Where it does not and the deployment refuses such sales,
 * the merchant is notified and `limit_exhausted` is thrown.
 */
export async function isCovered(app: App, seller: Seller, volume_micros: bigint): Promise<boolean> {
  const { merchant, for_buyer } = seller;
  if (isHouse(merchant) || missingPrepaid(merchant.prepaid_micros, volume_micros) <= 0n) return true;
  if (app.config.limit_policy === 'hold') return false;
  await noteQuietly(app, merchant, null);
  if (!for_buyer) {
    await refuseLimit(app, merchant.id, volume_micros);
    return true; // It was raised meanwhile.
  }
  throw new Refusal('limit_exhausted', {
    detail: 'This shop cannot take the payment at the moment',
    extra: { hint: 'Try again later, or ask the shop', next: undefined },
  });
}

/** Notifies the merchant of a sale that was made above its limit. In a demo, simulating credits what is missing. */
export async function noteHeld(app: App, { merchant }: Seller, invoice: InvoiceRow): Promise<void> {
  if (!app.config.demo) await noteQuietly(app, merchant, invoice);
}

/** What comes of the sale does not depend on it. */
async function noteQuietly(app: App, merchant: MerchantRow, invoice: InvoiceRow | null): Promise<void> {
  await noteShortLimit(app, merchant, invoice).catch((error: unknown) =>
    app.log.error({ err: error, merchant_id: merchant.id }, 'a merchant could not be notified of its limit'),
  );
}

/** 402 while the owner's remaining limit is below the volume of an open sale. */
export async function refuseShortLimit(app: App, invoice: InvoiceRow): Promise<void> {
  if (invoice.status !== 'created' || invoice.kind !== 'sale' || invoice.owner_id === null) return;
  await refuseLimit(app, invoice.owner_id, invoice.amount_usd_micros);
}

/** Throws `limit_exhausted` with what is missing and how to refill, where the balance does not cover the volume (USD micros). */
export async function refuseLimit(app: App, merchant_id: string, volume_micros: bigint): Promise<void> {
  const merchant = await getMerchant(app.db.query, merchant_id);
  if (merchant && isHouse(merchant)) return;
  const prepaid_micros = merchant?.prepaid_micros ?? 0n;
  const missing = missingPrepaid(prepaid_micros, volume_micros);
  if (missing <= 0n) return;
  const refillable = (await deploymentWallets(app.db.query)).map((wallet) => wallet.blockchain);
  const [required, remaining, amount] = [volume_micros, limitOf(prepaid_micros), missing].map(formatUsd);
  throw new Refusal('limit_exhausted', {
    detail: `The remaining limit of ${remaining} USD is below the volume of ${required} USD; refill at least ${amount} USD`,
    extra: {
      required_usd: required,
      remaining_usd: remaining,
      refill: {
        method: 'POST',
        url: `${app.config.public_url}/api/v1/merchant/refill`,
        chains: app.gateways
          .filter((gateway) => refillable.includes(gateway.blockchain))
          .map((gateway) => gateway.chain),
        amount_usd: amount,
      },
    },
  });
}
