// What others have answered, as a notice may show it: without secrets, and not at length.
import type { CursorRow } from '../../data/schema/tables.ts';
import { looksSecret } from '../../src/secret-text.ts';
import type { ProviderStatus } from '../observer/providers/rpc.ts';

const MAX_FAULT = 160;
/** Providers that a notice names. */
const MAX_NAMED = 3;

/** Words of a provider or a server. What resembles a key is left out: a URL may have one in it. */
export function foreignWords(text: string): string {
  const words = text.replace(/\bbearer\s+\S+/gi, '…').split(/\s+/);
  const shown = words.map((word) => (looksSecret(word) ? '…' : word)).join(' ');
  return shown.length > MAX_FAULT ? `${shown.slice(0, MAX_FAULT)}…` : shown;
}

/**
 * Why a blockchain is not read: what its providers answered this daemon last, or where this one did not ask, what the daemon
 * that did has stored. Empty where nothing is known.
 */
export function readingFault(
  cursor: Pick<CursorRow, 'last_error'> | undefined,
  providers: readonly Pick<ProviderStatus, 'provider' | 'last_error'>[],
): string {
  const errors = providers.flatMap(({ provider, last_error }) =>
    // Most errors begin with the provider.
    last_error === null
      ? []
      : last_error.startsWith(provider)
        ? [last_error]
        : [`${provider}: ${last_error}`],
  );
  const known =
    errors.length > 0 ? errors.slice(0, MAX_NAMED) : [cursor?.last_error].filter((one) => one != null);
  return known.length === 0 ? '' : `: ${known.map(foreignWords).join(', ')}`;
}
