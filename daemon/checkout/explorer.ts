// Links to what a blockchain shows of a transaction or an address.
import { type Explorer, explorerOf } from '../../src/chains/explorers.ts';
import type { App } from '../context.ts';

/** In the settings: no links at all. */
export const NO_EXPLORER = 'none';
/** Of a payment that no chain has. */
const SIMULATED = /^simulated-/;

/** The page of it; null where the deployment shows none, and of what is on no chain. */
export function explorerLink(
  { config }: Pick<App, 'config'>,
  blockchain: string,
  kind: keyof Explorer,
  id: string | null,
): string | null {
  if (id === null || SIMULATED.test(id)) return null;
  const own = config.blockchains[blockchain]?.[`explorer_${kind}`];
  const pattern = own ?? explorerOf(blockchain, config.network)?.[kind];
  return pattern === undefined || pattern === NO_EXPLORER
    ? null
    : pattern.replaceAll('{id}', encodeURIComponent(id));
}
