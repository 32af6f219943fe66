// Whether a value of a file is the one that the service has, in whatever spelling.

import { AddressError, type Network } from '../../../src/chains/family.ts';
import { findBlockchain } from '../../../src/chains/gateways.ts';
import { cleanText } from '../../../src/clean.ts';
import { clampWait } from '../../../src/limits.ts';
import { parseDecimal, USD_DECIMALS } from '../../../src/money.ts';
import { PICTURE_ID } from '../../../src/picture.ts';
import { hostEntry } from '../../../src/return-url.ts';
import type { Context } from '../../engine/command.ts';
import { timeoutAfter } from '../../engine/timeout.ts';
import { fetchService } from '../../engine/transport.ts';

export const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** Entries of a list in the form in which they are compared. */
export const entriesOf = (value: unknown): ReadonlySet<string> =>
  new Set(
    (Array.isArray(value) ? value : []).map(
      (one) => hostEntry(cleanText(String(one))) ?? cleanText(String(one)).toLowerCase(),
    ),
  );

/** A member of the account or of a unit. */
export async function isSame(
  context: Context,
  name: string,
  wanted: unknown,
  have: unknown,
): Promise<boolean> {
  if (typeof wanted === 'boolean') return wanted === (have ?? false);
  if (isEmpty(wanted) || isEmpty(have)) return isEmpty(wanted) === isEmpty(have);
  if (Array.isArray(wanted)) {
    const [asked, there] = [entriesOf(wanted), entriesOf(have)];
    return asked.size === there.size && [...asked].every((one) => there.has(one));
  }
  if (name === 'wait_seconds') return clampWait(wanted as number) === have;
  const [text, there] = [String(wanted).trim(), String(have).trim()];
  if (name === 'amount_usd') return parseDecimal(text, USD_DECIMALS) === parseDecimal(there, USD_DECIMALS);
  if (text.startsWith('data:')) return text.endsWith(`,${await pictureAt(context, there)}`);
  return text === there || (name.endsWith('_url') && hrefOf(text) === hrefOf(there));
}

const hrefOf = (text: string): string => (URL.canParse(text) ? new URL(text).href : text);

/** A picture that the service serves, in base64; empty where it cannot be had. */
async function pictureAt({ settings, timeout_ms }: Context, url: string): Promise<string> {
  const id = url.split('/').at(-1) ?? '';
  if (!PICTURE_ID.test(id)) return '';
  const { url: base } = await settings();
  const response = await fetchService(`${base}/pictures/${id}`, { signal: timeoutAfter(timeout_ms) });
  return response.ok ? Buffer.from(await response.arrayBuffer()).toString('base64') : '';
}

/** What is wrong with an address; undefined where nothing is, or where only the service knows the blockchain. */
export function addressFault(blockchain: string, address: string, network: Network): string | undefined {
  try {
    findBlockchain(blockchain)?.family.normalizeAddress(address, network);
    return undefined;
  } catch (error) {
    if (error instanceof AddressError) return error.message;
    throw error;
  }
}

export function isSameAddress(blockchain: string, one: string, other: string, network: Network): boolean {
  const family = findBlockchain(blockchain)?.family;
  const keyOf = (text: string) => family?.normalizeAddress(text, network).key ?? cleanText(text);
  return keyOf(one) === keyOf(other);
}
