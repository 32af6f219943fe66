// Google's published keys, by which its tokens are verified.
import { createRemoteJWKSet, customFetch } from 'jose';
import { openSender, readAnswer } from '../process/outgoing.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';

const KEYS_TIMEOUT_MS = 5_000;

export type GoogleKeys = ReturnType<typeof createRemoteJWKSet>;

/** Fetched when first needed and again when a token names an unknown key. */
export function openGoogleKeys(
  { google }: Pick<Config, 'google'>,
  { proxyOf }: Pick<Runtime, 'proxyOf'> = {},
): GoogleKeys {
  const sender = openSender({ connect_ms: KEYS_TIMEOUT_MS, proxyOf });
  return createRemoteJWKSet(new URL(google.jwks_url), {
    timeoutDuration: KEYS_TIMEOUT_MS,
    [customFetch]: (url, { headers, signal }) =>
      readAnswer(sender, new URL(url), {
        method: 'GET',
        headers: Object.fromEntries(headers),
        signal: signal ?? AbortSignal.timeout(KEYS_TIMEOUT_MS),
      }),
  });
}
