// Google's published keys, by which its tokens are verified.
import { createRemoteJWKSet } from 'jose';
import type { Config } from '../settings/config.ts';

const KEYS_TIMEOUT_MS = 5_000;

export type GoogleKeys = ReturnType<typeof createRemoteJWKSet>;

/** Fetched when first needed and again when a token names an unknown key. */
export const openGoogleKeys = ({ google }: Pick<Config, 'google'>): GoogleKeys =>
  createRemoteJWKSet(new URL(google.jwks_url), { timeoutDuration: KEYS_TIMEOUT_MS });
