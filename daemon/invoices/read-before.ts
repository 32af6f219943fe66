// Reads an address before an invoice to it exists, where the chain's own time does not tell older payments apart.
import { watchAddress } from '../../data/invoices.ts';
import { findProof, provedThrough } from '../../data/proofs.ts';
import { type Gateway, ProviderError } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import { GRACE_SECONDS } from '../../src/invoice.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';

/** A list that was begun now proves nothing younger than this … */
const PROPAGATION_SECONDS = 30;
/** … so the watch begins before: it must not count as proved because nothing was asked of it. */
const WATCHED_BEFORE_SECONDS = 60;
/** When what could not be read is worth another try. */
const RETRY_SECONDS = 30;

export interface Payee {
  gateway: Gateway;
  wallet: { address: string; address_key: string };
  ttl_seconds: number;
}

/**
 * What is pending at the address is on record when the promise resolves, as a payment of no invoice: someone who sees it
 * on its way cannot have an invoice made that it then pays. Refuses with `provider_unavailable` where the address cannot
 * be read; in demo mode, where nothing real moves, it continues. Nothing is read of chains that keep time:
 * what stands in a block there is distinguished by that time, and what does not, by an amount that no one could foresee.
 */
export async function readBefore(app: App, { gateway, wallet, ttl_seconds }: Payee): Promise<void> {
  const { blockchain, blockchain_name, chain } = gateway;
  if (gateway.family.keeps_time) return;
  const { address, address_key } = wallet;
  const began_at = seconds(app.clock);
  const open_until = began_at + ttl_seconds + GRACE_SECONDS;
  const watch_until = open_until + GRACE_SECONDS;
  const since = began_at - WATCHED_BEFORE_SECONDS;
  const watch = { blockchain, address, address_key, since, open_until, watch_until };
  await watchAddress(app.db.query, watch);
  const isRead = await app.observer.poll(blockchain, [{ address_key, chain }]).then(
    async () => {
      const account = { address_key, chain };
      const own = await findProof(app.db.query, blockchain, account);
      const proved = await provedThrough(app.db.query, { blockchain, ...account });
      return !own?.trouble && proved >= began_at - PROPAGATION_SECONDS;
    },
    (error: unknown) => {
      if (error instanceof ProviderError) return false;
      throw error;
    },
  );
  if (isRead || app.config.demo) return;
  throw new Refusal('provider_unavailable', {
    detail: `What is pending at the refill wallet on ${blockchain_name} cannot be read at the moment`,
    retry_after: RETRY_SECONDS,
  });
}
