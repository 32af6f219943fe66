// Where the hints of a blockchain come from: what the settings name, or where a provider is documented to have them.
import type { Family } from '../../../src/chains/family.ts';
import { credentialsOf } from '../providers/credentials.ts';
import type { ProviderConfig } from '../providers/provider.ts';

/** Says in the settings that there are to be none. */
export const NO_HINTS = 'none';

export interface HintSource {
  /** `hints at toncenter.com`: how messages name it. */
  label: string;
  url: URL;
  headers: Record<string, string>;
  /** Takes everything secret out of a text. */
  redact(text: string): string;
}

/**
 * Null where no hints are to be had. A key goes to the host that it was set for: with a URL of the settings, where a provider
 * is at the same host.
 */
export function hintSourceOf(
  { hints: feed, providers: kinds }: Pick<Family, 'hints' | 'providers'>,
  hints_url: string | undefined,
  providers: readonly ProviderConfig[],
): HintSource | null {
  if (!feed || hints_url === NO_HINTS) return null;
  const at = (url: string, provider?: ProviderConfig) =>
    sourceAt(url, provider?.api_key, kinds.find(({ kind }) => kind === provider?.provider)?.key_header);
  if (hints_url !== undefined) {
    const { host } = new URL(hints_url);
    return at(
      hints_url,
      providers.find(({ url }) => new URL(url).host === host),
    );
  }
  for (const provider of providers) {
    const url = feed.urlFor(new URL(provider.url));
    if (url !== null) return at(url, provider);
  }
  return null;
}

function sourceAt(url: string, api_key: string | undefined, key_header: string | undefined): HintSource {
  const { base, headers, redact } = credentialsOf('hints', url.replace(/^ws/, 'http'), {
    api_key,
    key_header,
  });
  base.protocol = base.protocol.replace('http', 'ws');
  return { label: `hints at ${base.host}`, url: base, headers, redact };
}
