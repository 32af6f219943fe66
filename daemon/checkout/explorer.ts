// Links to what a blockchain shows of a transaction or an address.
import { type Explorer, explorerOf } from '../../src/chains/gateways.ts';
import type { App } from '../context.ts';

/** In the settings: no links at all. */
const NO_EXPLORER = 'none';
/** Of a payment that no chain has. */
const SIMULATED = /^simulated-/;

/** The pages of a payment and of where it went; null where the deployment shows none, and of what is on no chain. */
export function explorerLinks(
  { config }: Pick<App, 'config'>,
  { blockchain, txid, address }: { blockchain: string; txid: string | null; address: string },
): Record<keyof Explorer, string | null> {
  const usual = explorerOf(blockchain, config.network);
  const own = config.blockchains[blockchain];
  const link = (pattern: string | undefined, id: string) =>
    pattern === undefined || pattern === NO_EXPLORER
      ? null
      : pattern.replaceAll('{id}', encodeURIComponent(id));
  return {
    transaction:
      txid === null || SIMULATED.test(txid)
        ? null
        : link(own?.explorer_transaction ?? usual?.transaction, txid),
    address: link(own?.explorer_address ?? usual?.address, address),
  };
}
