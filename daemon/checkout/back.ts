// The way back to the shop from a payment that has ended: where, signed, and whether without a click.
import type { CheckoutRow } from '../../data/views/checkout.ts';
import type { CheckoutState } from '../../src/checkout.ts';
import { returnUrl } from '../../src/return-signature.ts';
import { returnAddress } from '../../src/return-url.ts';
import type { App } from '../context.ts';
import { linkRules } from '../shop/links.ts';
import { webhookSecretsOf } from '../webhooks/signing.ts';

/** How long a page stays before it leads away. */
export const RETURN_SECONDS = 5;
/** Only those are led away who were there when it ended: a page that is opened later is a receipt. */
const RECENT_SECONDS = 600;

export interface Back {
  href: string;
  /** As people read it. */
  host: string;
  automatic: boolean;
}

/** An address is used only while its host is allowed; without one, the site of the shop is. Null where there is neither. */
export async function backOf(
  app: App,
  row: CheckoutRow,
  { state, now }: { state: CheckoutState; now: number },
): Promise<Back | null> {
  const paid = state === 'confirmed' || state === 'overpaid';
  if (row.kind === 'refill' || !(paid || row.status !== 'created')) return null;
  const { shop, profile } = row;
  const wanted = paid ? shop?.success_url : shop?.cancel_url;
  const hosts = row.owner_id === null ? app.config.return_hosts : (profile?.return_hosts ?? []);
  const found = wanted ? returnAddress(wanted, { ...linkRules(app), hosts }) : 'none is set';
  if (typeof found === 'string') return profile?.site_url ? toSite(profile.site_url) : null;
  const ended_at = row.paid_at ?? row.ended_at;
  const recent = ended_at !== null && now - ended_at < RECENT_SECONDS;
  // Others have something to read first: what is missing, what was too much, whom to ask.
  const plain = state === 'confirmed' || state === 'cancelled';
  return {
    href: returnUrl(found.href, { invoice_id: row.id, status: row.status }, await secretsOf(app, row)),
    host: found.host,
    automatic: shop?.return_automatically === true && recent && plain,
  };
}

const toSite = (site_url: string): Back => ({
  href: site_url,
  host: new URL(site_url).host,
  automatic: false,
});

/** Without a secret that can be read the buyer returns all the same, and the shop asks for the invoice. */
async function secretsOf(app: App, { owner_id }: CheckoutRow): Promise<readonly string[]> {
  try {
    return await webhookSecretsOf(app, owner_id);
  } catch (error) {
    app.log.error({ err: error, merchant_id: owner_id }, 'webhook secret cannot be read');
    return [];
  }
}
