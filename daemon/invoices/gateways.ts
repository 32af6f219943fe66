// Which gateways an account offers, and how names of chains and tickers are understood.

import type { Gateway } from '../../src/chains/family.ts';
import { cleanText } from '../../src/clean.ts';
import { Refusal } from '../../src/errors.ts';

/** Whether an entry of `enabled_currencies` or `currencies` means this gateway: its id or its ticker, in any case. */
const means = (entry: string, gateway: Gateway): boolean => {
  const name = entry.toLowerCase();
  return name === gateway.chain.toLowerCase() || name === gateway.currency.toLowerCase();
};

/** The gateways that entries select; null selects all. */
export const selectGateways = (
  gateways: readonly Gateway[],
  entries: readonly string[] | null,
): readonly Gateway[] =>
  entries === null ? gateways : gateways.filter((gateway) => entries.some((entry) => means(entry, gateway)));

/** The gateways an account enables; `stored` is its `enabled_currencies` column. */
export const enabledGateways = (
  gateways: readonly Gateway[],
  stored: readonly string[] | null,
): readonly Gateway[] => selectGateways(gateways, stored);

/** Refuses with `unknown_chain`, naming what there is. */
export function findGateway(gateways: readonly Gateway[], chain: string): Gateway {
  const found = gateways.find((gateway) => gateway.chain === chain.toLowerCase());
  if (found) return found;
  const known = gateways.map((gateway) => gateway.chain).join(', ');
  throw new Refusal('unknown_chain', {
    detail: known ? `Unknown or disabled chain; use one of ${known}` : 'No chain is enabled',
  });
}

/** The entries, each gateway id or ticker once, spelled as they were sent. Refuses with `unknown_chain`. */
export function checkEntries(gateways: readonly Gateway[], entries: readonly string[]): string[] {
  const checked = new Map<string, string>();
  for (const text of entries) {
    const entry = cleanText(text);
    if (!gateways.some((gateway) => means(entry, gateway))) {
      const known = new Set(gateways.flatMap((gateway) => [gateway.currency, gateway.chain]));
      throw new Refusal('unknown_chain', {
        detail: `Unknown or disabled currency ${JSON.stringify(entry)}; use any of ${[...known].join(', ')}`,
      });
    }
    const name = entry.toLowerCase();
    if (!checked.has(name)) checked.set(name, entry);
  }
  return [...checked.values()];
}
